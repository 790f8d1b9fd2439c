/* monitor.h - what the machine did while a command measured, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_MONITOR_H
#define WR_CLI_MONITOR_H

#include "cli/command.h"
#include "measure/monitor.h"

/* The row of an option table; the struct has a `double monitor_hz`. */
#define WR_MONITOR_OPTION(args)                                                \
    {                                                                          \
        .name = "monitor", WR_OPT_DOUBLE(args, monitor_hz), .arg = "HZ",       \
        .max = 1000, .def = "10",                                              \
        .help = "samples per second of disk, CPU and memory activity; "        \
                "0: none"                                                      \
    }

/* Starts it. It never fails a command: what cannot be watched is noted. */
void wr_monitor_watch(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec);

/* "Starved: other programs had 1.1 of 2 cores ...", before any result; nothing
 * when it was not. */
void wr_monitor_print_starved(const struct wr_monitor *m,
                              const struct wr_cli *cli);

/* "Meanwhile: disk vda read 410 MB/s, 63 % busy; CPU 1.9 of 2 cores; ..." of
 * the time between; nothing when it was too short to tell. */
void wr_monitor_print(const struct wr_monitor *m, const struct wr_cli *cli,
                      double from_s, double to_s);

#endif
