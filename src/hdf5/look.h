/* look.h - what datasets a file has, and how each is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_HDF5_LOOK_H
#define WR_HDF5_LOOK_H

#include "hdf5/driver.h"
#include "hdf5/wire.h"

/* Fills all but the name; what weir cannot read is WR_H5_REFUSED and says
 * why. */
void h5_look(struct h5_file *f, hid_t dataset, struct wr_h5_dataset *ret);

#endif
