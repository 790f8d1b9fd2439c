/* monitor.c - watching the machine while a command measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor.h"

void wr_monitor_note(const struct wr_cli *cli, const weir_err *why)
{
    wr_cli_note(cli, "the machine is not watched: %s", why->msg);
}

void wr_monitor_watch(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec)
{
    weir_err err;

    if (wr_monitor_start(m, spec, &err) < 0)
        wr_monitor_note(cli, &err);
}
