/* array_scalars.h - arrays of one number per sample, and which is the label.
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are read while the data set is indexed, and become scalars of the
 * index once all files are known: then it is sure what the labels are. */
#ifndef WR_FORMAT_ARRAY_SCALARS_H
#define WR_FORMAT_ARRAY_SCALARS_H

#include "format/npz.h"
#include "format/index.h"

struct wr_array_scalar {
    char name[WR_FIELD_NAME];
    enum weir_dtype dtype; /* I64, F32 or F64 */
    bool label;
    bool dim;      /* not read: a dimension that varies, */
    size_t dim_at; /* number so and so of each sample's */
};

struct wr_array_scalars {
    char label[WR_ARRAY_NAME];    /* declared; "": by its name */
    struct wr_array_scalar *list; /* owned */
    size_t count, cap;
    union wr_scalar *rows; /* owned: of sample 0, of sample 1, ... */
    size_t row_values, row_cap;
    bool wide; /* a label that is no class number */
};

/* Zeroed memory; what was declared of the data set may be NULL. */
int wr_array_scalars_init(struct wr_array_scalars *s, const char *schema,
                          weir_err *err);
void wr_array_scalars_done(struct wr_array_scalars *s);

/* The array that is the label; NULL: there is none. */
const struct wr_npz_array *
wr_array_scalars_label(const struct wr_array_scalars *s,
                       const struct wr_npz *a);

/* Which arrays of the first file are scalars; one array is left to be a
 * tensor. With `file` each file is one sample. */
int wr_array_scalars_choose(struct wr_array_scalars *s, const struct wr_npz *a,
                            bool file, weir_err *err);
bool wr_array_scalars_has(const struct wr_array_scalars *s, const char *name);

/* Reads those of one file. Labels that are class numbers come out in fresh
 * memory, too; *ret_labels stays NULL where there are none. */
int wr_array_scalars_read(struct wr_array_scalars *s, struct wr_object *o,
                          const struct wr_npz *a, uint64_t samples,
                          uint32_t **ret_labels, weir_err *err);

/* One more: dimension `k` of array `name`, number `at` of each sample's. */
int wr_array_scalars_add_dim(struct wr_array_scalars *s, const char *name,
                             uint32_t k, size_t at, weir_err *err);

/* Adds the fields and their values; `dims` has `per_sample` of each. */
int wr_array_scalars_finish(const struct wr_array_scalars *s,
                            struct wr_index *ix, const uint64_t *dims,
                            size_t per_sample, weir_err *err);

#endif
