/* period.h - how many batches lie between stalls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_PERIOD_H
#define WR_PLAN_PERIOD_H

#include "plan/stalls.h"

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
