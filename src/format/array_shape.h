/* array_shape.h - where the samples of one array lie in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_ARRAY_SHAPE_H
#define WR_FORMAT_ARRAY_SHAPE_H

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

#endif
