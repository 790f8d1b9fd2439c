/* tensor.h - a file of equal samples: what its header says, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TENSOR_H
#define WR_FORMAT_TENSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "format/format.h"
#include "weir/pipeline.h"

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

/* --- the header of .wt files: docs/formats/wt.md --- */

#define WR_WT_HEADER  128u
#define WR_WT_ALIGN   4096u
#define WR_WT_MAGIC   "WEIRTNS1"
#define WR_WT_VERSION 1u
#define WR_WT_LABELS  1u /* flag: labels are present */

/* Parses the header at the start of a file of `file_size` bytes. */
int wr_wt_parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                struct wr_tensor_file *ret, weir_err *err);

/* --- the headers of .wt and .npy tensor files --- */

/* docs/formats/wt.md says what the bytes mean. */

#define WR_TENSOR_DIMS_MAX 7

struct wr_gen_shape {
    enum weir_dtype dtype;
    uint32_t ndim;
    uint64_t dims[WR_TENSOR_DIMS_MAX]; /* of one sample, outermost first */
};

/* "224x224x3" -> dims. */
int wr_gen_shape_parse(const char *text, struct wr_gen_shape *ret,
                       weir_err *err);

/* Bytes to be written, in fresh memory: free(bytes). */
struct wr_tensor_bytes {
    uint8_t *bytes; /* owned by whoever asked */
    size_t len;
};

/* Elements of one sample. The shape came from wr_gen_shape_parse. */
uint64_t wr_gen_shape_elements(const struct wr_gen_shape *s);

/* The part of a .wt file in front of its samples. `labels` may be NULL. */
int wr_tensor_wt_header(const struct wr_gen_shape *s, uint64_t count,
                        const uint32_t *labels, struct wr_tensor_bytes *ret,
                        weir_err *err);

/* The same of a .npy file: shape (count, dims...). */
int wr_tensor_npy_header(const struct wr_gen_shape *s, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err);

/* A whole .npy file of labels: <u4, shape (count,). */
int wr_tensor_npy_labels(const uint32_t *labels, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err);

#endif
