/* bounds.h - what each resource could do alone: the bottleneck in closed form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_BOUNDS_H
#define WR_PLAN_BOUNDS_H

#include "plan/plan.h"

enum wr_plan_resource {
    WR_PLAN_ACCELERATORS,
    WR_PLAN_BANDWIDTH, /* of the storage */
    WR_PLAN_REQUESTS,  /* latency, seeks, channels of the storage */
    WR_PLAN_OPENS,     /* metadata, of all nodes */
    WR_PLAN_CLIENT,    /* network or client of a node */
    WR_PLAN_IN_FLIGHT, /* the loader asks for too little at once */
    WR_PLAN_CORES,
    WR_PLAN_RESOURCES
};

const char *wr_plan_resource_name(enum wr_plan_resource r); /* "cores" */

struct wr_plan_limit {
    enum wr_plan_resource resource;
    double samples_per_s; /* of all nodes; INFINITY: none */
};

struct wr_plan_bounds {
    struct wr_plan_limit limits[WR_PLAN_RESOURCES]; /* the tightest first */
    double samples_per_s; /* at most; without prefetch, loading and computing
                             follow each other */
    double step_s;        /* from step to step */
    double utilization;   /* of the accelerators, without saves */
    double load_s;        /* a node's batches of one step, alone */
    /* What accelerators that never wait ask for. */
    double need_samples_per_s, need_bytes_per_s, need_opens_per_s;
    double need_cores; /* of all nodes */
};

/* What is asked of storage at once. */
struct wr_plan_request {
    double samples, bytes; /* that come with it */
    bool opens;            /* a file is opened for it */
    bool sequential;       /* it follows the one before */
};

struct wr_plan_request wr_plan_request_of(const struct wr_plan *p);

/* Of the first epoch; `cached`: of later ones. The plan was checked. */
void wr_plan_bounds(const struct wr_plan *p, bool cached,
                    struct wr_plan_bounds *ret);

/* Requests per second that the device answers at most with so many in flight,
 * each of `bytes`, opened for it or not, following each other or not. */
double wr_plan_device_rate(const struct wr_device_profile *d, double bytes,
                           bool opens, bool sequential, double in_flight);

#endif
