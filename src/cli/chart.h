/* chart.h - horizontal bars on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_CHART_H
#define WR_CLI_CHART_H

#include "cli/command.h"

struct wr_chart_bar {
    const char *label; /* borrowed: "64-128 KB" */
    double value;      /* length of the bar; below 0 counts as 0 */
    const char *note;  /* borrowed, may be NULL: text after the bar */
};

/* One line a bar on cli->out: label, bar, note. The longest bar ends where
 * the terminal (at most 100 columns) does. Block characters with an eighth of
 * a column's resolution, or '#' where the locale is not UTF-8. */
void wr_chart_bars(const struct wr_cli *cli, const struct wr_chart_bar *bars,
                   size_t count, unsigned indent);

#endif
