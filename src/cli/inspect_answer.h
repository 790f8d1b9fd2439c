/* inspect_answer.h - what weir inspect found out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_ANSWER_H
#define WR_CLI_INSPECT_ANSWER_H

#include "cli/command.h"
#include "cli/inspect_scan.h"
#include "cli/inspect_stats.h"
#include "report/columns.h"

struct wr_inspect_report {
    const char *url;        /* borrowed */
    const weir_dataset *ds; /* borrowed */
    struct wr_inspect_stats stats;
    struct wr_inspect_scan scan; /* count 0: nothing was looked at */
    double index_seconds;
    bool verified;    /* each sample was read and decoded */
    bool all_classes; /* each is wanted */
    unsigned columns; /* for bars on the screen */
    bool utf8;

    /* What follows from these. */
    const char *format, *picked;
    uint64_t objects, links, ignored, issues, issues_more, broken_more;
    const char *index_file; /* NULL: it was built */
    uint64_t index_memory;
    double index_per_sample;
    int index_reused;
    struct wr_inspect_pictures pictures;
    uint64_t classes, labels_of, unlabelled; /* of so many samples */
    bool even, one_size;                     /* classes, and sizes of samples */
};

/* What the columns of its tables mean. */
extern const struct wr_columns wr_inspect_columns[];

/* Did the user say which fields there are, behind '#'? */
bool wr_inspect_is_chosen(const struct wr_inspect_report *r);

#endif
