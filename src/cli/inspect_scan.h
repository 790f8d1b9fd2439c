/* inspect_scan.h - looks into the samples of a data set, with many threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_SCAN_H
#define WR_CLI_INSPECT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/inspect_stats.h"
#include "cli/progress.h"
#include "format/format.h"
#include "format/intern.h"

#define WR_INSPECT_MAX_BROKEN 1000 /* that are kept with their reason */

struct wr_inspect_broken {
    uint64_t id;
    int code;
    char reason[500]; /* as long as weir_err.msg */
};

struct wr_inspect_scan {
    uint64_t count;                 /* samples looked at */
    bool all;                       /* these are all there are */
    bool first;                     /* the first; else they are random ones */
    struct wr_inspect_found *found; /* owned: [count] */
    uint64_t broken_count;
    struct wr_inspect_broken *broken; /* owned: the first by number */
    size_t broken_kept;
    uint64_t misnamed;
    bool has_labels; /* the index has none, the samples may have */
    struct wr_inspect_labels labels;
    struct wr_intern left; /* owned: what they have and no field delivers */
};

struct wr_inspect_scan_spec {
    const weir_dataset *ds;       /* borrowed */
    uint64_t samples;             /* so many at random, or the first where
                                     gzip is to be inflated; 0: all */
    unsigned threads;             /* 0: as many as help */
    bool verify;                  /* read and decode all of each */
    bool chosen;                  /* the user said which fields: nothing that is
                                     left out is named */
    struct wr_progress *progress; /* borrowed */
};

/* WEIR_ECANCELED after Ctrl-C. End with wr_inspect_scan_done. */
int wr_inspect_scan(const struct wr_inspect_scan_spec *spec,
                    struct wr_inspect_scan *ret, weir_err *err);
void wr_inspect_scan_done(struct wr_inspect_scan *s);

#endif
