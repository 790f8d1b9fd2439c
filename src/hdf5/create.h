/* create.h - the metadata of a new file whose data weir writes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_HDF5_CREATE_H
#define WR_HDF5_CREATE_H

#include "hdf5/driver.h"
#include "hdf5/wire.h"

/* Answers WR_H5_CREATE: the metadata (WRITE), the datasets with their addresses,
 * and the size of the file. */
void h5_create(struct h5_file *f, struct wr_h5_dataset *list, size_t count);

#endif
