/* monitor.h - what the machine did while a command measured.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every measuring command has it on:
 *
 *     struct wr_monitor m;
 *
 *     wr_monitor_start(&m, cli, &(struct wr_monitor_spec){.hz = a->monitor_hz,
 *                                                         .store = st});
 *     ... measure ...
 *     wr_monitor_stop(&m);
 *     wr_monitor_record(&m, record);
 *     wr_monitor_free(&m);
 *
 * It never fails a command: what cannot be watched is noted. */
#ifndef WR_CLI_MONITOR_H
#define WR_CLI_MONITOR_H

#include <jansson.h>

#include "base/series.h"
#include "cli/command.h"
#include "monitor/cores.h"
#include "monitor/sampler.h"
#include "storage/storage.h"

/* The row of an option table; the struct has a `double monitor_hz`. */
#define WR_MONITOR_OPTION(args)                                                \
    {                                                                          \
        .name = "monitor", WR_OPT_DOUBLE(args, monitor_hz), .arg = "HZ",       \
        .max = 1000, .def = "10",                                              \
        .help = "samples per second of disk, CPU and memory activity; "        \
                "0: none"                                                      \
    }

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

void wr_monitor_start(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec);
void wr_monitor_stop(struct wr_monitor *m);
void wr_monitor_free(struct wr_monitor *m); /* stops it */

/* A moment of wr_clock_ns on the time axis, in seconds; also when it is off. */
double wr_monitor_at(const struct wr_monitor *m, uint64_t clock_ns);

/* "Starved: other programs had 1.1 of 2 cores ...", before any result; nothing
 * when it was not. */
void wr_monitor_print_starved(const struct wr_monitor *m,
                              const struct wr_cli *cli);

/* Puts `cores`, and `monitor` if there is any, into a record; -1 when memory
 * is short. */
int wr_monitor_record(const struct wr_monitor *m, json_t *record);

/* "Meanwhile: disk vda read 410 MB/s, 63 % busy; CPU 1.9 of 2 cores; ..." of
 * the time between; nothing when it was too short to tell. */
void wr_monitor_print(const struct wr_monitor *m, const struct wr_cli *cli,
                      double from_s, double to_s);

/* One column of a series as a list, rounded to `decimals` (at most 6); NaN
 * becomes null. `column` -1 is the time. */
json_t *wr_series_json(const struct wr_series *s, int column,
                       unsigned decimals);

#endif
