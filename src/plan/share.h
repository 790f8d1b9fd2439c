/* share.h - jobs that divide a capacity evenly, none beyond its own limit.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cores among threads, bandwidth among readers. All jobs go at the same rate, so
 * what is kept is the work that one job would have got since the beginning: a job
 * ends when that has grown by its own work. Each call costs O(log jobs). */
#ifndef WR_PLAN_SHARE_H
#define WR_PLAN_SHARE_H

#include "plan/heap.h"

struct wr_plan_share {
    double capacity;          /* work per nanosecond of all jobs */
    double limit;             /* of one job */
    double got;               /* work that a job of the beginning would have */
    double now_ns;            /* until when `got` is */
    double done;              /* work of all jobs until now */
    struct wr_plan_heap jobs; /* by the `got` at which they end */
};

void wr_plan_share_init(struct wr_plan_share *s, double capacity, double limit);
void wr_plan_share_done(struct wr_plan_share *s);

/* A job of so much work that begins now; false: no memory. Times never go
 * back. */
bool wr_plan_share_add(struct wr_plan_share *s, double now_ns, double work,
                       uint32_t id);

/* When the first job ends if none comes before; INFINITY: there is none. */
double wr_plan_share_next(const struct wr_plan_share *s);

/* That moment has come: the id of the job. Of those that end together, the one
 * that came first. */
uint32_t wr_plan_share_pop(struct wr_plan_share *s);

/* Brings `got` and `done` up to now. */
void wr_plan_share_advance(struct wr_plan_share *s, double now_ns);

#endif
