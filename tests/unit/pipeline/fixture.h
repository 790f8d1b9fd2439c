/* fixture.h - small data sets to feed from, and a record of what came out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PIPELINE_FIXTURE_H
#define TEST_PIPELINE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/weir.h"

#define FX_SIDE  4 /* tensors are 4 x 4 x 3 of u8 */
#define FX_BYTES (FX_SIDE * FX_SIDE * 3)

enum fx_kind {
    FX_TENSORS, /* .wt files of `per_file` samples each, with labels */
    FX_JPEGS,   /* class folders a and b of 8x8 JPEGs */
    FX_BLOBS,   /* the same tree, but no pictures: for reading only */
};

struct fx {
    char dir[256];
    enum fx_kind kind;
    uint32_t n, per_file;
};

/* Makes a data set of n samples (sample i is id i); aborts on failure. */
void fx_make(struct fx *fx, enum fx_kind kind, uint32_t n, uint32_t per_file);
void fx_done(struct fx *fx);

enum fx_harm {
    FX_REMOVE,
    FX_CUT,
    FX_GROW,
    FX_GARBAGE,
    FX_HARMS,
    FX_PIPE, /* takes a while to be noticed, so not among the usual ones */
};

/* Damages the file of sample i, and writes it anew as it was. */
void fx_spoil(const struct fx *fx, uint32_t i, enum fx_harm how);
void fx_mend(const struct fx *fx, uint32_t i);
/* Writes it anew with `size` bytes, zeros behind it; 0: as it was. */
void fx_write(const struct fx *fx, uint32_t i, size_t size);

/* Puts members that inflate to nothing in front of every gzip file of `dir`: it
 * is read in several pieces. */
void fx_lengthen(const char *dir);

/* Opens it; `prefix` ("" or "fault:...:") stands in front of the path. */
weir_dataset *fx_open(const struct fx *fx, const char *prefix);

/* Defaults for these data sets: batch 4, 2 threads, depth 4, u8. */
void fx_config(const struct fx *fx, weir_pipeline_config *cfg);

weir_pipeline *fx_start(const weir_dataset *ds,
                        const weir_pipeline_config *cfg);

uint8_t fx_byte(uint64_t id, size_t at); /* of a tensor */
uint32_t fx_label(const struct fx *fx, uint64_t id);

struct fx_batch {
    uint64_t epoch, index;
    uint32_t count, unique;
    size_t first; /* of its ids in the log */
};

struct fx_log {
    struct fx_batch *batches; /* owned */
    size_t batch_count, batch_cap;
    uint64_t *ids; /* owned */
    size_t id_count, id_cap;
    uint64_t hash; /* of everything delivered */
};

void fx_log_done(struct fx_log *log);

/* Takes at most `max` batches, checks each and appends it to the log; returns
 * what weir_pipeline_next said last. */
int fx_take(const struct fx *fx, weir_pipeline *p, size_t max,
            struct fx_log *log, weir_err *err);

/* Opens, takes everything, closes. */
int fx_run(const struct fx *fx, const weir_dataset *ds,
           const weir_pipeline_config *cfg, struct fx_log *log);

/* Fails unless `ids` holds each sample that is not bad exactly once. */
void fx_assert_once(const uint64_t *ids, size_t count, const bool *bad,
                    uint32_t n);

#endif
