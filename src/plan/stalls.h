/* stalls.h - which batches waited: times in two classes, if they have them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_STALLS_H
#define WR_PLAN_STALLS_H

#include <stdbool.h>

#include "plan/times.h"

struct wr_plan_stalls {
    bool *stalled; /* owned: each batch */
    float *level;  /* owned: 0 usual .. 1 stalled, between them by logarithms */
    size_t count;  /* that stalled */
    size_t lead;   /* of these, at the very beginning: starting up */
    double usual_ms;   /* median of the others */
    double stall_ms;   /* median of those that stalled, above the usual */
    double stall_vary; /* spread of their times over the median */
    double usual_vary; /* how far the slowest tenth of the others is above */
    double median_ms;  /* of all */
    double total_ms;   /* all */
    double lost_ms;    /* above the usual, of those that stalled */
};

/* There may be none. */
int wr_plan_stalls_find(const struct wr_plan_times *t,
                        struct wr_plan_stalls *ret, weir_err *err);
void wr_plan_stalls_done(struct wr_plan_stalls *s);

#define WR_PLAN_SHORT_PERIOD 64 /* the longest that workers in turns make */

struct wr_plan_period {
    uint64_t period; /* in batch numbers; 0: none */
    uint64_t phase;  /* batch number modulo the period that stalls */
    double sure;     /* 1 less the probability that chance made it */
    double kept;     /* part of the places of the phase that stall */
    double share;    /* part of the lost time that lies there */
    double run;      /* stalls in a row at one place, mean */
};

/* The best period that is found. `known` are two that others named (0: none):
 * these need less evidence. */
int wr_plan_period_find(const struct wr_plan_times *t,
                        const struct wr_plan_stalls *s, const uint64_t known[2],
                        struct wr_plan_period *ret, weir_err *err);

/* From number to number, of logs that have not each batch. */
uint64_t wr_plan_period_stride(const struct wr_plan_times *t);

#endif
