/* explain.h - why batches take the time they took.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Given the times between batches of a training, of weir or of any other
 * program: the period of its stalls, and the cause that fits. */
#ifndef WR_PLAN_EXPLAIN_H
#define WR_PLAN_EXPLAIN_H

#include <stdint.h>

#include "plan/times.h"

enum wr_plan_cause {
    WR_PLAN_STEADY,       /* nothing to explain */
    WR_PLAN_TURNS,        /* as many workers as the period take turns */
    WR_PLAN_SHALLOW,      /* the queue runs dry: too small a prefetch */
    WR_PLAN_STRAGGLER,    /* one worker of several is slow */
    WR_PLAN_SAVING,       /* checkpoints */
    WR_PLAN_EPOCH_STARTS, /* workers or pipeline start anew */
    WR_PLAN_INPUT_BOUND,  /* all batches wait alike */
    WR_PLAN_IRREGULAR,    /* stalls without a period */
    WR_PLAN_CAUSES
};

/* What is known besides the times; 0 or NaN: not known. */
struct wr_plan_hints {
    uint32_t workers, prefetch;
    double step_ms; /* that the accelerator takes alone */
    uint64_t epoch_batches, save_every;
};

struct wr_plan_explained {
    enum wr_plan_cause cause;
    uint64_t period;   /* batches from stall to stall; 0: none */
    uint64_t phase;    /* batch number modulo the period that stalls */
    double usual_ms;   /* median of the others */
    double stall_ms;   /* median of those that stall, above the usual one */
    double lost_share; /* of all time */
    double sure;       /* 0..1 */
    double load_ms;    /* a batch takes a worker so long; NaN: not known */
    uint32_t workers_needed; /* so that nothing stalls; 0: not known */
    char what[300];          /* "Every 4th batch waits about 1.0 s ..." */
    char why[400];           /* the cause, in words that users have for it */
    char change[400];        /* what would remove it: settings and commands */
};

const char *wr_plan_cause_name(enum wr_plan_cause cause);

/* WEIR_EINVAL when there are too few batches to say anything. */
int wr_plan_explain(const struct wr_plan_times *t,
                    const struct wr_plan_hints *hints,
                    struct wr_plan_explained *ret, weir_err *err);

#endif
