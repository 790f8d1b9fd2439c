/* hdf5_choose.h - which datasets of a file are the fields of its samples.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_HDF5_CHOOSE_H
#define WR_FORMAT_HDF5_CHOOSE_H

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

/* Whether a dataset of the file that `c` was detected in is none of its fields;
 * then *err says why. */
bool wr_h5_choice_omits(const struct wr_h5_choice *c,
                        const struct wr_h5_array *a, weir_err *err);

/* The paths, each with its NUL, into `buf`; returns their bytes. */
size_t wr_h5_choice_paths(const struct wr_h5_choice *c, char *buf, size_t cap);

#endif
