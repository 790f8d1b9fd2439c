/* share.h - jobs that divide a capacity: evenly, or as flows of two kinds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cores among threads, bandwidth among readers. All jobs go at the same rate, so
 * what is kept is the work that one job would have got since the beginning: a job
 * ends when that has grown by its own work. Each call costs O(log jobs). */
#ifndef WR_PLAN_SHARE_H
#define WR_PLAN_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Things by a rising number: what comes first, first. Times are in nanoseconds: a
 * double holds them exactly for 104 days, and to a few nanoseconds for years. */
struct wr_plan_item {
    double key;
    uint64_t order; /* of equal keys, that of their coming */
    uint32_t id, kind;
};

struct wr_plan_heap {
    struct wr_plan_item *at; /* owned; at[0] is the first */
    size_t count, cap;
    uint64_t added;
};

/* A zeroed heap is empty. False: no memory. */
bool wr_plan_heap_add(struct wr_plan_heap *h, double key, uint32_t kind,
                      uint32_t id);
/* Takes the first; there must be one. */
struct wr_plan_item wr_plan_heap_pop(struct wr_plan_heap *h);
void wr_plan_heap_done(struct wr_plan_heap *h);

/* Jobs that all go at the same rate. */
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

/* Reads and writes that share a device, as fluids. Its time is divided evenly among
 * all flows; what a flow cannot use, because of a limit of its own, the others get
 * (max-min fairness). Flows of one kind are alike and so go at the same rate. */
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
