/* convert.h - a data set in another form, whole or not at all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What comes out is a function of the source and the settings: not of the
 * number of threads, and not of how often the work was interrupted. It is
 * written into `.NAME.part` beside the folder NAME; shards that are complete
 * there are kept when a run ends early, and the next one goes on behind them.
 */
#ifndef WR_CONVERT_CONVERT_H
#define WR_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/pipeline.h"

#define WR_CONVERT_THREADS_MAX 256
#define WR_CONVERT_BAD_KEPT    1000 /* bad samples whose text is kept */

struct wr_convert_config {
    const weir_dataset *ds; /* borrowed */
    const char *target;     /* borrowed: URL of the folder to be made */
    const char *to;         /* borrowed: name of a kind (kind.h) */
    const char *name;       /* borrowed: of the shards; NULL: the source's */
    uint64_t shard_bytes;   /* of the source, or of tensors; 0: one shard */
    uint32_t max_side;      /* longest side of pictures; 0: as they are */
    unsigned quality;       /* 1 to 100; 0: not asked for */
    bool check;             /* decode pictures that keep their bytes, too */
    weir_pipeline_config tensor; /* size, type, layout, crop of tensors, and
                                    the fields of arrays; orient: also of
                                    pictures encoded anew */
    bool packed;                 /* deflated, by a writer of arrays that can */
    bool shuffle;                /* by a fixed permutation of `seed` */
    uint64_t seed;
    unsigned threads; /* 0: one per core */
    bool fail_on_bad; /* else bad samples are named and left out */
    bool force;       /* replace a folder that an earlier run made */
    bool restart;     /* drop what an interrupted run left */

    /* Called from the calling thread about ten times a second with bytes of
     * the source; a return other than 0 cancels (WEIR_ECANCELED). May be
     * NULL. */
    int (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;

    /* For tests: called before each change of the target, from any thread; a
     * return other than 0 is what the change fails with. May be NULL. */
    int (*step)(void *arg);
    void *step_arg;
};

/* What decoding costs, by the processor's clock, on a few of the samples. */
struct wr_convert_saving {
    uint64_t samples;
    uint64_t before_ns, after_ns; /* sums */
};

struct wr_convert_result {
    uint64_t samples;   /* that are in the result */
    uint64_t bad;       /* left out */
    uint64_t shards;    /* of the tree: pictures */
    uint64_t kept;      /* shards that an earlier run had made */
    uint64_t bytes_in;  /* of the source's samples */
    uint64_t bytes_out; /* of the files made */
    uint64_t read;      /* bytes of samples that this run has read */
    uint64_t elapsed_ns;
    unsigned threads;
    struct wr_convert_saving saving;
    char **bad_text; /* owned: the first ones, in the order of the shards */
    size_t bad_count;
    /* Fields of bytes that were not asked for by name and are in no array or
     * row: "a, b", cut to fit. */
    char left_out[256];
};

/* Fills `cfg` with defaults; the caller sets ds, target and to. */
void wr_convert_defaults(struct wr_convert_config *cfg);

/* On failure *ret tells how much is kept for the next run (shards, kept), and
 * is to be ended all the same. */
int wr_convert_run(const struct wr_convert_config *cfg,
                   struct wr_convert_result *ret, weir_err *err);

void wr_convert_result_done(struct wr_convert_result *res);

#endif
