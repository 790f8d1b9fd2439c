/* array_set.h - the arrays of many files -> samples of one data set.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each array is a field, and all have as many samples, along their first or
 * their last axis, or one each per file (docs/formats/npz.md says which).
 * Arrays of one number per sample are scalars of the index. */
#ifndef WR_FORMAT_ARRAY_SET_H
#define WR_FORMAT_ARRAY_SET_H

#include "format/npz.h"
#include "format/format.h"

struct wr_array_set;

/* A file and its arrays. */
struct wr_array_file {
    const char *name; /* borrowed: path below the store */
    uint64_t size;
    struct wr_object *object;    /* borrowed */
    const struct wr_npz *arrays; /* borrowed */
    const uint32_t *labels;      /* borrowed: of its samples; NULL: none */
    /* Adds the samples of one `placed` array, from column run->column on: `run`
     * has no offset. NULL where no array is so. */
    int (*place)(void *arg, size_t array, const struct wr_run *run,
                 unsigned tiles, weir_err *err);
    void *arg;
};

/* `job` is borrowed; its schema may say which axis. */
int wr_array_set_new(struct wr_index_job *job, struct wr_array_set **ret,
                     weir_err *err);
void wr_array_set_free(struct wr_array_set *s); /* takes NULL */

/* The array called so is the label, whatever its name. */
void wr_array_set_label(struct wr_array_set *s, const char *name);

/* How many samples a file has, before it is added. */
int wr_array_set_count(const struct wr_array_set *s, const struct wr_npz *a,
                       uint64_t *ret, weir_err *err);

/* Adds the samples of one file. On failure *ret_skip tells whether that is the
 * file's own, and nothing was added. */
int wr_array_set_add(struct wr_array_set *s, const struct wr_array_file *f,
                     bool *ret_skip, weir_err *err);

/* After the last file. */
int wr_array_set_finish(struct wr_array_set *s, weir_err *err);

#endif
