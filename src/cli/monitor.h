/* monitor.h - watching the machine while a command measures.
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

/* That remark, of a monitor that was started otherwise. */
void wr_monitor_note(const struct wr_cli *cli, const weir_err *why);

#endif
