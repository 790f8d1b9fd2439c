/* monitor.h - what the machine did while something was measured.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     struct wr_monitor m;
 *
 *     wr_monitor_start(&m, &(struct wr_monitor_spec){.hz = 10, .store = st},
 *                      &err);
 *     ... measure ...
 *     wr_monitor_stop(&m);
 *     wr_monitor_record(&m, record);
 *     wr_monitor_free(&m); */
#ifndef WR_MEASURE_MONITOR_H
#define WR_MEASURE_MONITOR_H

#include <jansson.h>

#include "monitor/cores.h"
#include "monitor/sampler.h"
#include "storage/storage.h"

struct wr_monitor_spec {
    double hz; /* 0: off */
    /* The disks behind these are watched; where nothing is given, or nothing
     * that the kernel knows a path of, all disks are. */
    struct wr_store *store;   /* borrowed during the call; may be NULL */
    const char *const *paths; /* borrowed during the call */
    size_t path_count;
};

struct wr_monitor {
    struct wr_sampler *sampler; /* owned; NULL: it is off */
    double hz;
    uint64_t start_ns; /* 0 of the time axis, wr_clock_ns */
    struct wr_cores from;
    struct wr_cores_use cores; /* who had them; also when it is off */
    bool starved;
};

/* On failure the machine is not watched, and the rest works all the same. */
int wr_monitor_start(struct wr_monitor *m, const struct wr_monitor_spec *spec,
                     weir_err *err);
void wr_monitor_stop(struct wr_monitor *m);
void wr_monitor_free(struct wr_monitor *m); /* stops it */

/* A moment of wr_clock_ns on the time axis, in seconds; also when it is off. */
double wr_monitor_at(const struct wr_monitor *m, uint64_t clock_ns);

/* Puts `cores`, and `monitor` if there is any, into a record; -1 when memory
 * is short. */
int wr_monitor_record(const struct wr_monitor *m, json_t *record);

#endif
