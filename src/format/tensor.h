/* tensor.h - a file of equal samples: what its header says, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TENSOR_H
#define WR_FORMAT_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/* A sample is read at once: larger ones are refused. */
#define WR_TENSOR_MAX_SAMPLE WR_FIELD_MAX_BYTES

struct wr_tensor_file {
    weir_field shape; /* of one sample; only type and dimensions count */
    uint64_t count;   /* samples */
    uint64_t data_offset;
    uint64_t labels_offset; /* u32 each; 0: there are none inside */
    uint64_t sample_bytes;  /* wr_tensor_file_settle computes it */
};

/* Computes sample_bytes and checks that the samples fit the file: its size
 * must be that of header and samples, or more unless `exact`. */
int wr_tensor_file_settle(struct wr_tensor_file *t, uint64_t file_size,
                          bool exact, weir_err *err);

#endif
