/* adder.h - kinds that make bytes of each sample, in the pipeline's threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_ADDER_H
#define WR_CONVERT_ADDER_H

#include <pthread.h>

#include "convert/kind.h"
#include "pipeline/custom.h"

/* A part on its way from a worker to its shard, or spare. */
struct wr_adder_part {
    struct wr_convert_part made;
    struct wr_adder_part *next;  /* spare */
    struct wr_adder_part *older; /* all there are */
};

struct wr_adder {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_sink *sink;               /* borrowed */
    uint64_t stride;      /* every so manieth sample is timed; 0: none */
    pthread_mutex_t lock; /* guards the rest; a leaf lock */
    struct wr_adder_part *spare;
    struct wr_adder_part *all; /* owned */
    size_t spare_bytes;
    struct wr_convert_saving saving; /* once the pipeline is closed */
    weir_err failed; /* code: what no sample is to blame for, the first */
};

void wr_adder_init(struct wr_adder *a, const struct wr_convert_plan *plan,
                   struct wr_sink *sink);
/* After the pipeline is closed. */
void wr_adder_done(struct wr_adder *a);

/* Sets the decoder of `c`, whose arg is the adder: entries are pointers to
 * parts, which are given back. */
int wr_adder_decoder(struct wr_adder *a, struct wr_decoder **ret,
                     weir_err *err);
void wr_adder_give(struct wr_adder *a, struct wr_adder_part *part);

/* 0, or the failure of which no sample is to blame. */
int wr_adder_failed(struct wr_adder *a, weir_err *err);

#endif
