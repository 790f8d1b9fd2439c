/* array_files.h - the files of arrays that a data set is: one, or a folder's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_ARRAY_FILES_H
#define WR_FORMAT_ARRAY_FILES_H

#include "format/format.h"

struct wr_array_files {
    bool (*is_name)(const char *name); /* of such files */
    /* Adds the samples of one; *ret_skip tells whether a failure is the file's
     * own, so that others may still be added. */
    int (*add)(void *arg, const char *name, bool *ret_skip, weir_err *err);
    void *arg;
};

/* The file that was named, or those of the folder in the order of their names;
 * bad ones are problems of the data set. */
int wr_array_files_add(struct wr_index_job *job, const struct wr_array_files *f,
                       weir_err *err);

/* For probes of a folder: 90 if it holds such files and no pictures before
 * them, 0 if not; negative when resources lacked. */
int wr_array_files_probe(struct wr_store *st,
                         bool (*is_name)(const char *name));

#endif
