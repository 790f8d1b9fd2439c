/* inspect_report.h - what weir inspect found out, and showing it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_REPORT_H
#define WR_CLI_INSPECT_REPORT_H

#include "cli/inspect_scan.h"
#include "cli/inspect_stats.h"
#include "cli/table.h"

struct wr_inspect_report {
    const char *url;        /* borrowed */
    const weir_dataset *ds; /* borrowed */
    struct wr_inspect_stats stats;
    struct wr_inspect_scan scan; /* count 0: nothing was looked at */
    double index_seconds;
    bool verified;    /* each sample was read and decoded */
    bool all_classes; /* show each */
};

/* How many of the scan's pictures are what; widths and heights. */
struct wr_inspect_pictures {
    uint64_t of_kind[WR_PICTURE_KINDS];
    uint64_t gray, colour, four; /* four: CMYK or RGBA */
    uint64_t good, turned;       /* turned: not upright, as EXIF says */
    uint32_t min_width, max_width, min_height, max_height;
};
void wr_inspect_count_pictures(const struct wr_inspect_scan *s,
                               struct wr_inspect_pictures *ret);

/* What the columns of its tables mean. */
extern const struct wr_columns wr_inspect_columns[];

/* Did the user say which fields there are, behind '#'? */
bool wr_inspect_is_chosen(const struct wr_inspect_report *r);

/* Each remark in turn, of the data set and of what was looked at; k is counted
 * from 0. False: there are no more. */
bool wr_inspect_remark_at(const struct wr_inspect_report *r, unsigned k,
                          char *buf, size_t cap);

/* Prints it for a person. */
void wr_inspect_print(const struct wr_cli *cli,
                      const struct wr_inspect_report *r);

#endif
