/* limits.h - what this machine can do at best: decode only, read only.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The decode limit: the samples lie in memory and are decoded by so many
 * threads, nothing else; tensors are converted. The read limit: the same ranges
 * by plain pread (open, pread, close) in so many threads, nothing else. A
 * pipeline is judged by how near it comes to the lower one. */
#ifndef WR_MEASURE_LIMITS_H
#define WR_MEASURE_LIMITS_H

#include "format/format.h"

/* At most so much of the data set is held in memory for the decode limit. */
#define WR_LIMIT_DECODE_BYTES ((uint64_t)512 << 20)

struct wr_limit {
    double samples_per_s;
    uint64_t samples; /* that it was measured on */
};

/* What is measured: the samples that cfg orders, `samples` of them (0: all). */
struct wr_limit_job {
    const weir_dataset *ds;          /* borrowed */
    const weir_pipeline_config *cfg; /* borrowed */
    uint64_t samples;
    unsigned threads;
    unsigned slots;        /* read: fill so many places in turn, as batches have
                       them; 0: each thread reads into one buffer of its own,
                       which stays in the processor's cache */
    uint32_t rank, world;  /* every world-th sample only; 0 of 0: all */
    bool (*stopped)(void); /* polled; may be NULL: WEIR_ECANCELED */
    /* Called once all is ready, before the clock starts; may be NULL. After a
     * failure it may not have been called. */
    int (*begin)(void *arg, weir_err *err);
    void *begin_arg;
};

int wr_limit_decode(const struct wr_limit_job *job, struct wr_limit *ret,
                    weir_err *err);
int wr_limit_read(const struct wr_limit_job *job, struct wr_limit *ret,
                  weir_err *err);

/* Whether samples are decoded at all (not: tensors that are read in place). */
bool wr_limit_has_decode(const weir_dataset *ds,
                         const weir_pipeline_config *cfg);

#endif
