/* hdf5_answer.h - what the HDF5 helper says, checked.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The helper parses files that may be made to take it over: nothing that it
 * says is used before it was looked at here. */
#ifndef WR_FORMAT_HDF5_ANSWER_H
#define WR_FORMAT_HDF5_ANSWER_H

#include <stdbool.h>

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

#endif
