/* array_shape.h - arrays as fields: where samples lie, numbers per sample.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_ARRAY_SHAPE_H
#define WR_FORMAT_ARRAY_SHAPE_H

#include "format/index.h"
#include "format/npz.h"
#include "format/schema.h"

/* AUTO: the first or the last, whichever is as long as the labels or as it is
 * said, else the first. */
enum wr_axis { WR_AXIS_AUTO, WR_AXIS_FIRST, WR_AXIS_LAST, WR_AXIS_FILE };

/* The samples of an array. */
struct wr_array_shape {
    uint64_t count;
    uint64_t length; /* bytes from a sample's first to behind its last one */
    uint64_t step;   /* bytes from one sample to the next */
    bool mixed;      /* other samples lie between a sample's elements */
    unsigned tiles;  /* that each sample is cut into; length: of one */
    struct wr_field field; /* type, dimensions and strides of one sample */
};

/* "axis=last" in what was declared of a data set (may be NULL). "axis=auto:4" is
 * AUTO where files are said to have 4 samples each; 0: nothing is said. */
int wr_axis_parse(const char *schema, enum wr_axis *ret, uint64_t *ret_each,
                  weir_err *err);

/* Length of the array along the axis; 1 for WR_AXIS_FILE. */
uint64_t wr_axis_length(const struct wr_npy *npy, enum wr_axis axis);

/* Looks at `a` along an axis that is not AUTO. Fails for samples of no bytes,
 * and for those over the limit. */
int wr_array_shape(const struct wr_npz_array *a, enum wr_axis axis,
                   struct wr_array_shape *ret, weir_err *err);

/* --- arrays of one number per sample, and which is the label --- */

/* They are read while the data set is indexed, and become scalars of the
 * index once all files are known: then it is sure what the labels are. */

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
