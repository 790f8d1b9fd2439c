/* hdf5_data.h - where the elements of a dataset lie, and all of a short one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_HDF5_DATA_H
#define WR_FORMAT_HDF5_DATA_H

#include "format/hdf5_helper.h"
#include "format/index.h"

/* A dataset that is read. */
struct wr_h5_data {
    const struct wr_h5_array *array; /* borrowed */
    struct wr_h5_place *places; /* owned: of its chunks; NULL: not chunked */
};

/* All elements of a dataset of one dimension, as they are stored, in fresh
 * memory. */
int wr_h5_values(const struct wr_h5_data *d, struct wr_object *o, void **ret,
                 weir_err *err);

/* Adds samples to `ix`, in the object added last: run->count of run->length
 * bytes, or as many from each of `tiles` tiles. With `file` all of it is one
 * sample. */
int wr_h5_add(const struct wr_h5_data *d, struct wr_index *ix,
              const struct wr_run *run, unsigned tiles, bool file,
              weir_err *err);

#endif
