/* node.h - one node, sample by sample, in virtual time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Storage that nodes share is divided evenly among them here: this node has its
 * part of the bandwidth, the channels and the opens. cluster.h has the rest. */
#ifndef WR_PLAN_NODE_H
#define WR_PLAN_NODE_H

#include "plan/plan.h"

struct wr_plan_how {
    uint64_t steps;        /* simulate so many at most; 0: all */
    uint32_t life;         /* batches whose spans are kept; 0: none */
    bool (*stopped)(void); /* polled; may be NULL */
};

/* WEIR_ECANCELED when it was stopped. *ret is to be released by
 * wr_plan_result_done. The plan was checked. */
int wr_plan_node(const struct wr_plan *p, const struct wr_plan_how *how,
                 struct wr_plan_result *ret, weir_err *err);

#endif
