/* tensorfile.c - the headers of .wt and .npy tensor files.
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
#include "format/wt.h"

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
