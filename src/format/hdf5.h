/* hdf5.h - HDF5 files: datasets whose first axis counts samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libhdf5 parses the files, in another process (hdf5_helper.h): from here on a
 * dataset is byte ranges and packed chunks, like any other. */
#ifndef WR_FORMAT_HDF5_H
#define WR_FORMAT_HDF5_H

#include "format/hdf5_answer.h"
#include "format/npz.h"

/* Names of fields and the datasets they are. */
struct wr_h5_choice {
    struct {
        char field[WR_ARRAY_NAME];
        char path[WR_H5_NAME];
    } list[WR_NPZ_MAX];
    size_t count;
    char label[WR_ARRAY_NAME]; /* the field that is the label, if its name does
                                  not say so; "" */
};

/* "image=/a,label=/y", as a URL has it behind '#'. */
int wr_h5_choice_parse(const char *fragment, struct wr_h5_choice *ret,
                       weir_err *err);

/* From all datasets of a file: the one that has several dimensions, or those
 * called records_0, records_1..., with the numbers of one dimension that are as
 * many. Fails where one of these has bytes that cannot be had. */
int wr_h5_choice_detect(const struct wr_h5_array *list, size_t count,
                        struct wr_h5_choice *ret, weir_err *err);

#endif
