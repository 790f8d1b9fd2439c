/* tensorfile.c - the headers of .wt and .npy files, read and written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tensorfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "format/npy.h"

/* --- the header of .wt files: docs/formats/wt.md --- */

/* Offsets of the fields. */
enum {
    AT_VERSION = 8,
    AT_DTYPE = 12,
    AT_NDIM = 16,
    AT_FLAGS = 20,
    AT_COUNT = 24,
    AT_DIMS = 64,
};

static int check_fields(const uint8_t *h, weir_err *err)
{
    uint32_t ndim = wr_le32(h + AT_NDIM);

    if (memcmp(h, WR_WT_MAGIC, 8) != 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a .wt file: it does not begin with " WR_WT_MAGIC);
    if (wr_le32(h + AT_VERSION) != WR_WT_VERSION)
        return wr_fail(err, WEIR_ENOTSUP, ".wt version %" PRIu32 ", not 1",
                       wr_le32(h + AT_VERSION));
    if (wr_le32(h + AT_DTYPE) > 2)
        return wr_fail(err, WEIR_EFORMAT, "unknown dtype %" PRIu32,
                       wr_le32(h + AT_DTYPE));
    if (ndim > 7)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu32 " dimensions, at most 7 are allowed", ndim);
    if (wr_le32(h + AT_FLAGS) & ~WR_WT_LABELS)
        return wr_fail(err, WEIR_EFORMAT, "unknown flags 0x%" PRIx32,
                       wr_le32(h + AT_FLAGS));
    for (uint32_t k = 0; k < 7; k++)
        if ((wr_le64(h + AT_DIMS + 8 * k) != 0) != (k < ndim))
            return wr_fail(err, WEIR_EFORMAT, "dimension %" PRIu32 " is %s", k,
                           k < ndim ? "zero" : "not zero");
    return 0;
}

int wr_wt_parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                struct wr_tensor_file *ret, weir_err *err)
{
    static const enum weir_dtype elems[] = {WEIR_F32, WEIR_F16, WEIR_U8};
    struct wr_tensor_file t = {.data_offset = WR_WT_HEADER};
    size_t labels = 0;
    int r;

    if (len < WR_WT_HEADER)
        return wr_fail(err, WEIR_EFORMAT,
                       "%zu bytes are too few for a .wt header", len);
    r = check_fields(bytes, err);
    if (r < 0)
        return r;
    t.shape.dtype = elems[wr_le32(bytes + AT_DTYPE)];
    t.shape.ndim = wr_le32(bytes + AT_NDIM);
    t.count = wr_le64(bytes + AT_COUNT);
    for (uint32_t k = 0; k < t.shape.ndim; k++)
        t.shape.dims[k] = wr_le64(bytes + AT_DIMS + 8 * k);
    if (wr_le32(bytes + AT_FLAGS) & WR_WT_LABELS) {
        if (!wr_mul_ok(t.count, 4, &labels) || labels > file_size)
            return wr_fail(err, WEIR_EFORMAT,
                           "%" PRIu64 " labels do not fit into the file",
                           t.count);
        t.labels_offset = WR_WT_HEADER;
    }
    /* No overflow: labels <= file_size, which is an offset. */
    if (file_size > INT64_MAX)
        return wr_fail(err, WEIR_ELIMIT, "larger than 2^63 bytes");
    t.data_offset = WR_ALIGN_UP(WR_WT_HEADER + (uint64_t)labels,
                                (uint64_t)WR_WT_ALIGN);
    r = wr_tensor_file_settle(&t, file_size, /* exact= */ true, err);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

/* --- the headers of .wt and .npy tensor files --- */

#define NPY_ALIGN  64
#define NPY_PREFIX 10 /* magic, version, length */
#define DIM_MAX    (UINT64_C(1) << 30)

uint64_t wr_gen_shape_elements(const struct wr_gen_shape *s)
{
    uint64_t n = 1;

    for (uint32_t k = 0; k < s->ndim; k++)
        n *= s->dims[k];
    return n;
}

int wr_gen_shape_parse(const char *text, struct wr_gen_shape *ret,
                       weir_err *err)
{
    struct wr_gen_shape s = {.dtype = ret->dtype};
    uint64_t bytes = 4; /* of the widest type that pictures have */
    const char *p = text;

    for (;;) {
        char *end;
        uint64_t dim;

        if (*p < '0' || *p > '9')
            return wr_fail(err, WEIR_EINVAL,
                           "shape '%s' is not of the form 224x224x3", text);
        dim = strtoull(p, &end, 10);
        if (s.ndim == WR_TENSOR_DIMS_MAX || dim < 1 || dim > DIM_MAX ||
            bytes * dim > WR_TENSOR_MAX_SAMPLE)
            return wr_fail(err, WEIR_ELIMIT,
                           "shape '%s': at most %d dimensions of at least 1 "
                           "and 1 GiB per sample",
                           text, WR_TENSOR_DIMS_MAX);
        bytes *= dim;
        s.dims[s.ndim++] = dim;
        if (!*end)
            break;
        if (*end != 'x' && *end != ',')
            return wr_fail(err, WEIR_EINVAL,
                           "shape '%s' is not of the form 224x224x3", text);
        p = end + 1;
    }
    *ret = s;
    return 0;
}

int wr_tensor_wt_header(const struct wr_gen_shape *s, uint64_t count,
                        const uint32_t *labels, struct wr_tensor_bytes *ret,
                        weir_err *err)
{
    size_t len = WR_ALIGN_UP(WR_WT_HEADER + (labels ? (size_t)count * 4 : 0),
                             (size_t)WR_WT_ALIGN);
    uint8_t *head = calloc(1, len);

    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes of header",
                       len);
    memcpy(head, WR_WT_MAGIC, 8);
    wr_le_put(head + 8, WR_WT_VERSION, 4);
    wr_le_put(head + 12, (uint64_t)s->dtype, 4);
    wr_le_put(head + 16, s->ndim, 4);
    wr_le_put(head + 20, labels ? WR_WT_LABELS : 0, 4);
    wr_le_put(head + 24, count, 8);
    for (uint32_t k = 0; k < s->ndim; k++)
        wr_le_put(head + 64 + 8 * k, s->dims[k], 8);
    for (uint64_t k = 0; labels && k < count; k++)
        wr_le_put(head + WR_WT_HEADER + 4 * k, labels[k], 4);
    *ret = (struct wr_tensor_bytes){head, len};
    return 0;
}

/* Header for `descr` and the text inside shape's brackets, and room behind it
 * for `extra` bytes. */
static int npy_header(const char *descr, const char *shape, size_t extra,
                      struct wr_tensor_bytes *ret, weir_err *err)
{
    char dict[512];
    int n = snprintf(dict, sizeof(dict),
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                     descr, shape);
    size_t len = WR_ALIGN_UP(NPY_PREFIX + (size_t)n + 1, (size_t)NPY_ALIGN);
    uint8_t *head = malloc(len + extra);

    if (!head)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a header");
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    wr_le_put(head + 8, len - NPY_PREFIX, 2);
    memset(head + NPY_PREFIX, ' ', len - NPY_PREFIX);
    memcpy(head + NPY_PREFIX, dict, (size_t)n);
    head[len - 1] = '\n';
    *ret = (struct wr_tensor_bytes){head, len};
    return 0;
}

int wr_tensor_npy_header(const struct wr_gen_shape *s, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err)
{
    const char *type = wr_npy_type(s->dtype);
    char descr[8];
    char shape[256];
    size_t n = (size_t)snprintf(shape, sizeof(shape), "%" PRIu64 ",", count);

    for (uint32_t k = 0; k < s->ndim; k++)
        n += (size_t)snprintf(shape + n, sizeof(shape) - n, " %" PRIu64 "%s",
                              s->dims[k], k + 1 < s->ndim ? "," : "");
    if (!type)
        return wr_fail(err, WEIR_ENOTSUP, "NumPy has no type %s",
                       wr_dtype_text(s->dtype));
    snprintf(descr, sizeof(descr), "%s%s",
             wr_dtype_bytes(s->dtype) > 1 ? "<" : "|", type);
    return npy_header(descr, shape, 0, ret, err);
}

int wr_tensor_npy_labels(const uint32_t *labels, uint64_t count,
                         struct wr_tensor_bytes *ret, weir_err *err)
{
    char shape[32];
    struct wr_tensor_bytes file;
    int r;

    snprintf(shape, sizeof(shape), "%" PRIu64 ",", count);
    r = npy_header("<u4", shape, (size_t)count * 4, &file, err);
    if (r < 0)
        return r;
    for (uint64_t k = 0; k < count; k++)
        wr_le_put(file.bytes + file.len + 4 * k, labels[k], 4);
    file.len += (size_t)count * 4;
    *ret = file;
    return 0;
}
