/* made.h - what the maker of a data set has made, so that only that is replaced.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The job file of a finished folder ends in a line that says how many files and
 * folders there are, and a sum over their paths and sizes. What was added or
 * changed since is not weir's to remove. */
#ifndef WR_DATASET_MADE_H
#define WR_DATASET_MADE_H

#include <stdbool.h>

#include "storage/storage.h"

#define WR_MADE_MAX     80 /* bytes of that line, its end included */
#define WR_MADE_JOB_MAX ((size_t)1 << 20) /* of a job file */

struct wr_sink_maker;

/* A folder that may be the maker's. */
struct wr_made_place {
    const struct wr_sink_maker *maker;
    struct wr_store *store; /* borrowed */
    const char *folder;     /* in it */
    const char *shown;      /* what messages call the folder */
};

/* The line for all that is in the folder now, but the job file. */
int wr_made_note(const struct wr_made_place *p, char buf[WR_MADE_MAX],
                 weir_err *err);

/* Whether the text of a job file is that of the job, with that line or without:
 * a run may have been killed when all was made. */
bool wr_made_is_same(const struct wr_sink_maker *m, const char *text,
                     const char *job);

/* Fails with WEIR_EEXIST unless the folder holds what was made and nothing
 * else; with `partly` some of it may be gone. */
int wr_made_check(const struct wr_made_place *p, bool partly, weir_err *err);

#endif
