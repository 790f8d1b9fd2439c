/* stress_sets.h - the data sets of the engine's stress test.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PIPELINE_STRESS_SETS_H
#define TEST_PIPELINE_STRESS_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "fixture.h"
#include "threekit.h"

#define MOST_N 240
#define SHARD  24

/* A data set and what its samples are. */
struct set {
    const char *name;
    char dir[300];
    uint32_t n;
    bool checked;               /* its records carry checksums: bits may flip */
    bool several;               /* fields that can be bad */
    const struct tk *kit;       /* borrowed: its index is made there, or NULL */
    uint64_t hash[MOST_N];      /* of all fields but the label */
    uint32_t labels[2][MOST_N]; /* by whether only reading */
};

enum {
    TENSORS,
    JPEGS,
    RECORDS,
    GZIPPED,
    PIECES,
    NPZ,
    DEFLATED,                 /* NPZ too */
    THREE,                    /* as many as threekit.h has kinds */
    TILES = THREE + TK_KINDS, /* HDF5, if it was built */
    SETS = TILES + WEIR_TEST_HDF5,
};

struct place {
    char root[256], tier[300];
    struct fx tensors, jpegs;
    struct tk three[TK_KINDS];
    struct set sets[TILES + 1];
};

/* Makes all of them and reads each sample once. */
struct place *ss_make(void);
void ss_done(struct place *pl);

/* NULL: a fault of the prefix hit the indexer. */
weir_dataset *ss_open(const struct set *s, const char *prefix);

/* One sample after another, small u8 pictures. */
void ss_config(weir_pipeline_config *cfg);

/* A command of the shell that must work. */
void ss_run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
