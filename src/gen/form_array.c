/* form_array.c - files of arrays: .npz, .npy, .wt and indexed binary.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's files are as DLIO writes them: the samples lie along the last axis. As
 * all of an array is noise, it is written from its first byte to the last. */
#include "gen/form.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/inflate.h"
#include "format/indexed_binary.h"
#include "format/npz.h"
#include "format/tensor.h"
#include "format/zip.h"

#define HEADS     1024u /* room for headers, in what size() says */
#define INDEX_ROW 8u    /* bytes of an index file per sample */

static uint64_t array_bytes(const struct wr_gen_spec *s)
{
    return s->sample_bytes * s->samples;
}

static uint64_t array_size(const struct wr_gen_spec *s)
{
    return array_bytes(s) + s->samples * sizeof(int64_t) + HEADS;
}

static int check_types(const struct wr_workload *w, const char *what,
                       weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;

    if (d->count > WR_TENSOR_DIMS_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "record_dims: %s files have at most %d dimensions per "
                       "sample here",
                       what, WR_TENSOR_DIMS_MAX);
    return 0;
}

static int numpy_check(const struct wr_workload *w, weir_err *err)
{
    return check_types(w, "NumPy", err);
}

/* The header for the samples of a file: shape (dims..., samples). */
static int samples_head(const struct wr_gen_spec *s,
                        struct wr_tensor_bytes *ret, weir_err *err)
{
    struct wr_gen_shape shape = {.dtype = s->dtype, .ndim = s->dims.count};

    for (unsigned k = 1; k < s->dims.count; k++)
        shape.dims[k - 1] = s->dims.dim[k];
    shape.dims[s->dims.count - 1] = s->samples;
    return wr_tensor_npy_header(&shape, s->dims.dim[0], ret, err);
}

static int labels_head(const struct wr_gen_spec *s, struct wr_tensor_bytes *ret,
                       weir_err *err)
{
    struct wr_gen_shape shape = {.dtype = WEIR_I64, .ndim = 0};

    return wr_tensor_npy_header(&shape, s->samples, ret, err);
}

static int put_head(struct wr_pen *p, struct wr_tensor_bytes *head,
                    weir_err *err)
{
    int r = wr_pen_put(p, head->bytes, head->len, err);

    free(head->bytes);
    return r;
}

static int put_samples(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       weir_err *err)
{
    struct wr_tensor_bytes head;
    struct wr_noise n;
    int r = samples_head(s, &head, err);

    if (r == 0)
        r = put_head(&m->pen, &head, err);
    wr_gen_spec_noise(s, 0, &n);
    return r < 0 ? r : wr_pen_noise(&m->pen, &n, 0, array_bytes(s), err);
}

/* All labels are 0, as DLIO has them. */
static int put_labels(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    struct wr_tensor_bytes head;
    int r = labels_head(s, &head, err);

    if (r == 0)
        r = put_head(&m->pen, &head, err);
    return r < 0 ? r : wr_pen_zeros(&m->pen, s->samples * sizeof(int64_t), err);
}

/* A member of the archive. The checksum in its header is known at the end. */
static int put_member(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      struct wr_zip_member *z,
                      int (*put)(struct wr_gen_maker *,
                                 const struct wr_gen_spec *, weir_err *),
                      weir_err *err)
{
    struct wr_pen *p = &m->pen;
    uint64_t data;
    int r;

    z->head = wr_pen_tell(p);
    r = wr_pen_skip(p, wr_zip_local_len(z->name), err);
    data = wr_pen_tell(p);
    p->sum = wr_crc32;
    p->crc = 0;
    if (r == 0)
        r = put(m, s, err);
    p->sum = NULL;
    z->crc = p->crc;
    z->stored = z->inflated = wr_pen_tell(p) - data;
    m->scratch.len = 0;
    if (r == 0)
        r = wr_zip_put_local(&m->scratch, z, err);
    if (r == 0)
        r = wr_pen_patch(p, z->head, m->scratch.bytes, m->scratch.len, err);
    return r;
}

static int npz_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    struct wr_zip_member z[2] = {{.name = "x.npy"}, {.name = "y.npy"}};
    uint64_t at;
    int r = put_member(m, s, &z[0], put_samples, err);

    if (r == 0)
        r = put_member(m, s, &z[1], put_labels, err);
    at = wr_pen_tell(&m->pen);
    m->scratch.len = 0;
    if (r == 0)
        r = wr_zip_put_directory(&m->scratch, z, WR_ARRAY_LEN(z), at, err);
    return r < 0 ? r
                 : wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len, err);
}

static int tensor_check(const struct wr_workload *w, weir_err *err)
{
    const char *type = w->dataset.element_type;

    if (strcmp(type, "uint8") && strcmp(type, "float32") &&
        strcmp(type, "float16"))
        return wr_fail(err, WEIR_ENOTSUP,
                       "record_element_type %s: .wt files have uint8, float16 "
                       "and float32",
                       type);
    return check_types(w, ".wt", err);
}

static int tensor_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       weir_err *err)
{
    struct wr_gen_shape shape = {.dtype = s->dtype, .ndim = s->dims.count};
    uint32_t *labels = calloc(s->samples + 1, sizeof(*labels));
    struct wr_tensor_bytes head;
    struct wr_noise n;
    int r;

    if (!labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(shape.dims, s->dims.dim, s->dims.count * sizeof(shape.dims[0]));
    r = wr_tensor_wt_header(&shape, s->samples, labels, &head, err);
    free(labels);
    if (r == 0)
        r = put_head(&m->pen, &head, err);
    wr_gen_spec_noise(s, 0, &n);
    return r < 0 ? r : wr_pen_noise(&m->pen, &n, 0, array_bytes(s), err);
}

static int indexed_binary_make(struct wr_gen_maker *m,
                               const struct wr_gen_spec *s, weir_err *err)
{
    struct wr_noise n;

    wr_gen_spec_noise(s, 0, &n);
    return wr_pen_noise(&m->pen, &n, 0, array_bytes(s), err);
}

static int indexed_binary_side(const struct wr_gen_spec *s, unsigned k,
                               struct wr_bytes *to, weir_err *err)
{
    uint8_t *p = wr_bytes_room(to, (size_t)s->samples * INDEX_ROW);

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < s->samples; i++, p += INDEX_ROW)
        wr_le_put(p, k ? s->sample_bytes : i * s->sample_bytes, INDEX_ROW);
    to->len += (size_t)s->samples * INDEX_ROW;
    return 0;
}

static uint64_t indexed_binary_size(const struct wr_gen_spec *s)
{
    return array_bytes(s) + s->samples * 2 * INDEX_ROW;
}

static const char *const index_endings[] = {WR_INDEXED_BINARY_OFFSETS,
                                            WR_INDEXED_BINARY_SIZES, NULL};

const struct wr_gen_form wr_gen_form_npz = {
    .size = array_size, .check = numpy_check, .make = npz_make};
const struct wr_gen_form wr_gen_form_npy = {
    .size = array_size, .check = numpy_check, .make = put_samples};
const struct wr_gen_form wr_gen_form_tensor = {
    .size = array_size, .check = tensor_check, .make = tensor_make};
const struct wr_gen_form wr_gen_form_indexed_binary = {
    .size = indexed_binary_size,
    .make = indexed_binary_make,
    .sides = index_endings,
    .side = indexed_binary_side,
};
