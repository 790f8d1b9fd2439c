/* times_line.h - the batch and the time in one line of a log.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_TIMES_LINE_H
#define WR_PLAN_TIMES_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* What the heading says. */
struct wr_times_heading {
    char separator;             /* 0: there is none */
    unsigned batch_at, time_at; /* columns; of use if `columns` */
    unsigned columns;           /* how many; 0: they are not known */
    double unit_ms;             /* of times without a unit; 0: not said */
};

struct wr_times_pair {
    double batch, ms; /* any numbers, infinity too; never NaN */
};

/* False: the line has not both. */
bool wr_times_line(const char *line, size_t len,
                   const struct wr_times_heading *h, struct wr_times_pair *ret);

/* Takes what a line without numbers says of columns and units; false: it says
 * nothing, and *h is as it was. */
bool wr_times_heading(const char *line, size_t len, struct wr_times_heading *h);

#endif
