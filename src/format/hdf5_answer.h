/* hdf5_answer.h - what the HDF5 helper says, checked.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The helper parses files that may be made to take it over: nothing that it
 * says is used before it was looked at here. */
#ifndef WR_FORMAT_HDF5_ANSWER_H
#define WR_FORMAT_HDF5_ANSWER_H

#include <stdbool.h>

#include "format/npz.h"
#include "hdf5/wire.h"
#include "weir/dtype.h"
#include "weir/error.h"

/* A dataset of a file. */
struct wr_h5_array {
    struct wr_h5_dataset said; /* its texts end, its numbers are checked */
    int code;                  /* not 0: it cannot be read, and said.why */
    enum weir_dtype dtype;
    bool swap;            /* in the other byte order than the processor's */
    uint64_t bytes;       /* of all elements */
    uint64_t chunk_bytes; /* inflated */
    uint64_t chunks;
};

/* Checks texts and numbers against each other and a file of `size` bytes. Fails
 * for what no helper says; a dataset that cannot be read has its code. */
int wr_h5_check(const struct wr_h5_dataset *d, uint64_t size,
                struct wr_h5_array *ret, weir_err *err);

/* Chunks that may be in files of so many bytes together. */
uint64_t wr_h5_chunks_max(uint64_t size);

/* Is this where a chunk of `a` may lie? */
int wr_h5_check_place(const struct wr_h5_array *a, const struct wr_h5_place *p,
                      uint64_t size, weir_err *err);

/* How a chunk is packed, as units say it (codec/filters.h): those of the
 * filters that `mask` leaves. */
uint32_t wr_h5_filters(const struct wr_h5_array *a, uint32_t mask);

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
