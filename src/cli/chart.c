/* chart.c - horizontal bars on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/chart.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define CHART_WIDTH   100 /* wider charts are hard to follow */
#define BAR_MIN       10
#define BYTES_A_BLOCK 3

void wr_chart_bars(const struct wr_cli *cli, const struct wr_chart_bar *bars,
                   size_t count, unsigned indent)
{
    size_t width = WR_MIN(cli->width, CHART_WIDTH) - 1;
    size_t labels = 0, notes = 0, rest;
    char bar[CHART_WIDTH * BYTES_A_BLOCK + 1];
    double max = 0;

    for (size_t i = 0; i < count; i++) {
        labels = WR_MAX(labels, wr_text_width(bars[i].label));
        notes = WR_MAX(notes, wr_text_width(bars[i].note ? bars[i].note : ""));
        max = WR_MAX(max, bars[i].value);
    }
    rest = indent + labels + 1 + 1 + notes;
    rest = width > rest + BAR_MIN ? width - rest : BAR_MIN;
    for (size_t i = 0; i < count; i++) {
        size_t pad = labels - wr_text_width(bars[i].label);

        wr_text_bar(bars[i].value, max, (unsigned)rest, cli->utf8, bar);
        wr_cli_put(cli, "%*s%s %s%s%s\n", (int)(indent + pad), "",
                   bars[i].label, bar, bars[i].note ? " " : "",
                   bars[i].note ? bars[i].note : "");
    }
}
