/* fluid.h - reads and writes that share a device, as fluids.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The device's time is divided evenly among all flows; what a flow cannot use,
 * because of a limit of its own, the others get (max-min fairness). Flows of one
 * kind are alike and so go at the same rate: what is kept is the work that one of
 * them would have got since the beginning, and a flow ends when that has grown by
 * its own work. Each call costs O(log flows). */
#ifndef WR_PLAN_FLUID_H
#define WR_PLAN_FLUID_H

#include "plan/heap.h"

enum wr_plan_fluid_kind {
    WR_PLAN_FLUID_READS,
    WR_PLAN_FLUID_WRITES,
    WR_PLAN_FLUID_KINDS
};

/* Work is in any unit; INFINITY: no limit. */
struct wr_plan_flows {
    double alone;  /* work per second of one flow at most */
    double most;   /* of all flows of this kind, whatever the device could */
    double full;   /* so much takes the whole device */
    double weight; /* flows that one stands for */
    double rate;   /* of one flow, now */
    double got;    /* work that a flow of the beginning would have */
    double done;   /* by all flows until now */
    struct wr_plan_heap heap; /* by the `got` at which they end */
};

struct wr_plan_fluid {
    struct wr_plan_flows kinds[WR_PLAN_FLUID_KINDS];
    double now_s;
    double busy_s; /* the time of the device that was used until now */
};

/* No limits, weights of 1: the fields above `rate` are then to be set. */
void wr_plan_fluid_init(struct wr_plan_fluid *f);
void wr_plan_fluid_done(struct wr_plan_fluid *f);

/* A flow of so much work begins now; false: no memory. Times never go back. */
bool wr_plan_fluid_add(struct wr_plan_fluid *f, enum wr_plan_fluid_kind kind,
                       double now_s, double work, uint32_t id);

/* When the first flow ends if nothing changes before, and of which kind it is;
 * INFINITY: there is none. */
double wr_plan_fluid_next(const struct wr_plan_fluid *f,
                          enum wr_plan_fluid_kind *ret_kind);

/* That moment has come: the id of the flow. Of those that end together, the one
 * that came first. */
uint32_t wr_plan_fluid_pop(struct wr_plan_fluid *f);

/* Brings `done` and `busy_s` up to now. */
void wr_plan_fluid_advance(struct wr_plan_fluid *f, double now_s);

/* All flows of a kind end, wherever they are. */
void wr_plan_fluid_stop(struct wr_plan_fluid *f, enum wr_plan_fluid_kind kind);

#endif
