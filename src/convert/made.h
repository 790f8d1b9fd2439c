/* made.h - what a conversion has made, so that only that is replaced.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The job file of a finished folder ends in a line that says how many files and
 * folders there are, and a sum over their paths and sizes. What was added or
 * changed since is not weir's to remove. */
#ifndef WR_CONVERT_MADE_H
#define WR_CONVERT_MADE_H

#include <stdbool.h>

#include "storage/storage.h"

#define WR_MADE_LINE "made " /* how that line begins */
#define WR_MADE_MAX  64      /* bytes of it, its end included */

/* The line for all that is in the folder now, but the job file. */
int wr_made_note(struct wr_store *st, const char *folder, char buf[WR_MADE_MAX],
                 weir_err *err);

/* Fails with WEIR_EEXIST unless the folder holds what was made and nothing
 * else; with `partly` some of it may be gone. `shown` is the folder's name in
 * messages. */
int wr_made_check(struct wr_store *st, const char *folder, const char *shown,
                  bool partly, weir_err *err);

#endif
