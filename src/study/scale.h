/* scale.h - how much of the paper's study is run: quick, default or full.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STUDY_SCALE_H
#define WR_STUDY_SCALE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_study_mode {
    WR_STUDY_DEFAULT, /* fewer pictures and iterations than the paper */
    WR_STUDY_QUICK,   /* below five minutes */
    WR_STUDY_FULL,    /* to the letter */
};

#define WR_SCALE_LIST 8

struct wr_scale_list {
    size_t count;
    unsigned v[WR_SCALE_LIST];
};

struct wr_scale {
    const char *mode;     /* static: "quick" */
    char note[400];       /* what is less than in the paper; "": nothing */
    unsigned rounds;      /* runs of each cell, the warm-up included */
    unsigned save_rounds; /* the same of Fig. 9 */
    struct wr_scale_list threads;       /* Fig. 4 and 5 */
    uint64_t images;                    /* of the micro-benchmark */
    unsigned batch;                     /* of the micro-benchmark */
    struct wr_scale_list train_threads; /* Fig. 6 */
    unsigned train_batch, train_iterations;
    const char *accelerator;      /* static: of Fig. 6, 8, 9 and 10 */
    struct wr_scale_list batches; /* Fig. 7 */
    unsigned batch_images;        /* the same number for each of them */
    unsigned save_every, saves;   /* Fig. 9 */
    unsigned save_lanes;          /* runs with checkpoints at once */
    double width;                 /* of the network that is saved */
    uint64_t probe_bytes;         /* Table I */
    double probe_s;
    uint64_t format_images;
};

/* What was asked for on top of a mode; 0: as the mode has it. */
struct wr_scale_wish {
    uint64_t images, rounds, iterations;
    struct wr_scale_list threads;
    double width;
};

void wr_scale_of(enum wr_study_mode mode, const struct wr_scale_wish *wish,
                 struct wr_scale *ret);

#endif
