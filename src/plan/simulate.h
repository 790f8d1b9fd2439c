/* simulate.h - one answer for any plan, by the engine that fits it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_SIMULATE_H
#define WR_PLAN_SIMULATE_H

#include "plan/node.h"

/* Simulates a node sample by sample, or the steps of several nodes. */
int wr_plan_simulate(const struct wr_plan *p, const struct wr_plan_how *how,
                     struct wr_plan_result *ret, weir_err *err);

/* Steps that take a moment to simulate (`samples` of them are drawn at most), but
 * enough for the queues to settle and for some saves; 0: all. */
uint64_t wr_plan_enough_steps(const struct wr_plan *p, uint64_t samples);

/* Samples per second in the long run: of the last epoch without its start, if it
 * is much longer than what is loaded ahead; else of all of it. Never more than
 * the bounds allow: what was loaded ahead runs out. */
double wr_plan_rate(const struct wr_plan *p, const struct wr_plan_result *r);

/* The part of the time that accelerators compute at that rate. */
double wr_plan_steady_use(const struct wr_plan *p,
                          const struct wr_plan_result *r);

/* Seconds of a whole epoch at that rate, evaluation included. */
double wr_plan_epoch_s(const struct wr_plan *p, const struct wr_plan_result *r);

#endif
