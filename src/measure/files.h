/* files.h - the files of a data set in or out of the page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_FILES_H
#define WR_MEASURE_FILES_H

#include "base/value.h"
#include "format/format.h"
#include "monitor/pagecache.h"

enum wr_cache_state {
    WR_CACHE_COLD, /* not one page of it resident before each run */
    WR_CACHE_WARM, /* all of it resident */
    WR_CACHE_ASIS, /* as it happens to be */
};

extern const struct wr_choice wr_cache_state_choices[]; /* their names */

/* The paths of a data set's files that the kernel knows. */
struct wr_file_list {
    char **paths; /* owned, as is each */
    size_t count;
};

int wr_files_init(struct wr_file_list *f, const weir_dataset *ds,
                  weir_err *err);
void wr_files_done(struct wr_file_list *f);

/* Brings them into `state` and tells what part is resident then (0..1; -1
 * when it could not be found out). `stopped` (may be NULL) is polled:
 * WEIR_ECANCELED. */
int wr_files_prepare(const struct wr_file_list *f, enum wr_cache_state state,
                     bool (*stopped)(void), double *ret_resident,
                     weir_err *err);

#endif
