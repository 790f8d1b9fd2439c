/* whatif.h - what would change, and by how much: one row a change.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_WHATIF_H
#define WR_PLAN_WHATIF_H

#include "plan/node.h"

struct wr_plan_change {
    const char *name; /* "prefetch": one word */
    const char *what; /* "keep two batches ahead" */
    const char *how;  /* a command or a line to do it; may be NULL */
    /* Makes the change to *p; false: it does not apply (it is so already, or
     * what it needs is not known). */
    bool (*apply)(struct wr_plan *p);
};

/* The table: NULL past the end. */
const struct wr_plan_change *wr_plan_change_at(size_t k);

struct wr_plan_outcome {
    const struct wr_plan_change *change; /* NULL: the plan as it is */
    double samples_per_s, utilization, epoch_s;
    double gain; /* samples/s over those of the plan as it is; 1: none */
};

/* Simulates each change that applies, and the plan itself first; the best
 * gains next. Fresh memory (free). */
int wr_plan_what_if(const struct wr_plan *p, const struct wr_plan_how *how,
                    struct wr_plan_outcome **ret, size_t *ret_count,
                    weir_err *err);

/* The largest number of accelerators per node that keeps the utilization at or
 * above `target`, and the utilization of each number that was tried, rising. */
struct wr_plan_capacity {
    uint32_t accelerators; /* 0: not even one */
    bool unlimited;        /* as many as were tried */
    struct wr_plan_capacity_point {
        uint32_t accelerators;
        double samples_per_s, utilization;
    } * points; /* owned */
    size_t count;
};

int wr_plan_capacity(const struct wr_plan *p, double target, uint32_t most,
                     const struct wr_plan_how *how,
                     struct wr_plan_capacity *ret, weir_err *err);
void wr_plan_capacity_done(struct wr_plan_capacity *c);

#endif
