/* npy.h - the header of NumPy's .npy files, versions 1 to 3.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_NPY_H
#define WR_FORMAT_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/dtype.h"
#include "weir/error.h"

#define WR_NPY_PREFIX     12u    /* bytes that tell the header's length */
#define WR_NPY_MAX_HEADER 65536u /* bytes of the header's text */
#define WR_NPY_MAX_DIMS   8u

/* What the header says; nothing in it is checked against the file. */
struct wr_npy {
    char descr[16]; /* "<f4" */
    enum weir_dtype dtype;
    bool swap;    /* in the other byte order than the processor's */
    bool fortran; /* the first dimension's elements lie next to each other */
    uint32_t ndim;
    uint64_t shape[WR_NPY_MAX_DIMS];
    uint64_t data_offset;
};

/* Where the data start, from the file's first WR_NPY_PREFIX bytes. */
int wr_npy_data_offset(const uint8_t *bytes, size_t len, uint64_t *ret,
                       weir_err *err);

/* Parses the header; `bytes` must reach up to the data. Refuses types that are
 * no numbers, structured ones, and more dimensions than WR_NPY_MAX_DIMS. */
int wr_npy_parse(const uint8_t *bytes, size_t len, struct wr_npy *ret,
                 weir_err *err);

/* "f4"; NULL for types that NumPy has not. */
const char *wr_npy_type(enum weir_dtype dtype);

#endif
