/* form_array.c - files of arrays: .npz, .npy, .wt, indexed binary and HDF5.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's files are as DLIO writes them: the samples lie along the last axis. As
 * all of an array is noise, it is written from its first byte to the last. HDF5
 * files have DLIO's names: records_0, ..., labels. The datasets of records are
 * contiguous or in chunks, which lie in C order; labels are contiguous. Packed
 * ones are not written: libhdf5 would have to, at its speed. */
#include "gen/form.h"

#include <inttypes.h>
#include <stdio.h>
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

#define HEADS        1024u /* room for headers, in what size() says */
#define INDEX_ROW    8u    /* bytes of an index file per sample */
#define DATASETS_MAX 62u   /* and one for labels: what a data set of weir has */
#define META         8192u

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

static void put_head(struct wr_pen *p, struct wr_tensor_bytes *head)
{
    wr_pen_put(p, head->bytes, head->len);
    free(head->bytes);
}

static int put_noise(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     weir_err *err)
{
    struct wr_noise n;

    (void)err;
    wr_gen_spec_noise(s, 0, &n);
    wr_pen_noise(&m->pen, &n, 0, array_bytes(s));
    return 0;
}

static int put_samples(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       weir_err *err)
{
    struct wr_tensor_bytes head;
    int r = samples_head(s, &head, err);

    if (r < 0)
        return r;
    put_head(&m->pen, &head);
    return put_noise(m, s, err);
}

/* All labels are 0, as DLIO has them. */
static int put_labels(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    struct wr_tensor_bytes head;
    int r = labels_head(s, &head, err);

    if (r < 0)
        return r;
    put_head(&m->pen, &head);
    wr_pen_zeros(&m->pen, s->samples * sizeof(int64_t));
    return 0;
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
    wr_pen_skip(p, wr_zip_local_len(z->name));
    data = wr_pen_tell(p);
    p->sum = wr_crc32;
    p->crc = 0;
    r = put(m, s, err);
    p->sum = NULL;
    z->crc = p->crc;
    z->stored = z->inflated = wr_pen_tell(p) - data;
    m->scratch.len = 0;
    if (r == 0)
        r = wr_zip_put_local(&m->scratch, z, err);
    if (r == 0)
        wr_pen_patch(p, z->head, m->scratch.bytes, m->scratch.len);
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
    if (r == 0)
        wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len);
    return r;
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
    int r;

    if (!labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(shape.dims, s->dims.dim, s->dims.count * sizeof(shape.dims[0]));
    r = wr_tensor_wt_header(&shape, s->samples, labels, &head, err);
    free(labels);
    if (r < 0)
        return r;
    put_head(&m->pen, &head);
    return put_noise(m, s, err);
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
    .make = put_noise,
    .sides = index_endings,
    .side = indexed_binary_side,
};

/* --- HDF5 --- */

/* DLIO hands chunk_dims to h5py: one side for the samples, then those of a
 * dataset's part of a record. More samples than a file has are as many as it
 * has, so that a smaller data set can be made of the same description. */
static int check_chunks(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *c = &w->dataset.chunk_dims;
    struct wr_gen_spec s;
    int r = c->count ? wr_gen_spec_init(&s, w, 0, 0, err) : 0;

    if (r < 0 || !c->count)
        return r;
    if (c->count != s.dims.count + 1)
        return wr_fail(err, WEIR_EINVAL,
                       "hdf5.chunk_dims: %u sides, not %u: samples first, then "
                       "those of a record",
                       c->count, s.dims.count + 1);
    s.dims.dim[0] = WR_MAX(1, s.dims.dim[0] / w->dataset.datasets);
    for (unsigned k = 0; k < c->count; k++)
        if (!c->dim[k] || (k && c->dim[k] > s.dims.dim[k - 1]))
            return wr_fail(err, WEIR_EINVAL,
                           "hdf5.chunk_dims: side %u is 0, or larger than a "
                           "dataset of records",
                           k + 1);
    return 0;
}

static int hdf5_check(const struct wr_workload *w, weir_err *err)
{
    uint64_t n = w->dataset.datasets;
    const struct wr_wl_dims *d = &w->dataset.record_dims;

    if (n < 1 || n > DATASETS_MAX)
        return wr_fail(err, WEIR_ELIMIT, "hdf5.num_dset_per_record: 1 to %u",
                       DATASETS_MAX);
    if (d->count && d->dim[0] % n)
        return wr_fail(err, WEIR_EINVAL,
                       "hdf5.num_dset_per_record: the first of record_dims is "
                       "no multiple of it");
    return check_chunks(w, err);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return to ? (n / to + !!(n % to)) * to : n;
}

/* Chunks that stick out are stored whole. */
static uint64_t hdf5_size(const struct wr_gen_spec *s)
{
    const struct wr_wl_dims *c = &s->w->dataset.chunk_dims;
    const uint64_t n = s->w->dataset.datasets;
    uint64_t bytes;

    if (!c->count)
        return s->samples * (s->sample_bytes + sizeof(int64_t)) + META;
    bytes = wr_dtype_bytes(s->dtype) * n *
            round_up(s->samples, WR_MIN(c->dim[0], s->samples)) *
            round_up(WR_MAX(1, s->dims.dim[0] / n), c->dim[1]);
    for (unsigned k = 1; k < s->dims.count; k++)
        bytes *= round_up(s->dims.dim[k], c->dim[k + 1]);
    return bytes + s->samples * sizeof(int64_t) + META;
}

/* A share of the first dimension each; what cannot be shared out is left out,
 * as DLIO does. */
static void set_fields(const struct wr_gen_spec *s, weir_field *f, unsigned n,
                       char (*names)[20])
{
    for (unsigned k = 0; k < n; k++) {
        snprintf(names[k], sizeof(names[k]), "records_%u", k);
        f[k] = (weir_field){.name = names[k],
                            .kind = WEIR_FIELD_TENSOR,
                            .dtype = s->dtype,
                            .ndim = s->dims.count};
        memcpy(f[k].dims, s->dims.dim, s->dims.count * sizeof(f[k].dims[0]));
        f[k].dims[0] = WR_MAX(1, s->dims.dim[0] / n);
    }
    f[n] = (weir_field){.name = "labels",
                        .kind = WEIR_FIELD_SCALAR,
                        .dtype = WEIR_I64,
                        .is_label = true};
}

/* The same for each dataset of records; false: they are in one piece. */
static bool set_chunks(const struct wr_wl_dims *from, struct wr_chunk_dims *to,
                       unsigned n)
{
    struct wr_chunk_dims c = {.ndim = from->count};

    memcpy(c.dims, from->dim, from->count * sizeof(c.dims[0]));
    for (unsigned k = 0; k < n; k++)
        to[k] = c;
    to[n] = (struct wr_chunk_dims){0};
    return from->count != 0;
}

static uint64_t field_bytes(const weir_field *f, const struct wr_gen_spec *s)
{
    uint64_t bytes = s->sample_bytes / s->dims.dim[0] * f->dims[0];

    return bytes;
}

static int add_samples(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       const weir_field *f, struct wr_array_out *out,
                       weir_err *err)
{
    const unsigned n = (unsigned)s->w->dataset.datasets;
    const uint64_t each = field_bytes(&f[0], s);
    const int64_t label = 0;
    struct wr_slice v[DATASETS_MAX + 1];
    struct wr_noise noise;
    int r = 0;

    m->scratch.len = 0;
    if (!wr_bytes_room(&m->scratch, (size_t)(each * n)))
        return wr_fail(err, WEIR_ENOMEM, "no memory for a sample");
    for (unsigned k = 0; k < n; k++)
        v[k] = (struct wr_slice){m->scratch.bytes + k * each, (size_t)each};
    v[n] = (struct wr_slice){(const uint8_t *)&label, sizeof(label)};
    for (uint64_t i = 0; i < s->samples && r == 0; i++) {
        for (unsigned k = 0; k < n; k++) {
            wr_gen_spec_noise(s, k, &noise);
            wr_noise_fill(&noise, i * each, m->scratch.bytes + k * each,
                          (size_t)each);
        }
        r = wr_array_writer_hdf5.add(out, v, err);
    }
    return r;
}

static int hdf5_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     weir_err *err)
{
    const unsigned n = (unsigned)s->w->dataset.datasets;
    weir_field fields[DATASETS_MAX + 1];
    char names[DATASETS_MAX][20];
    struct wr_chunk_dims chunks[DATASETS_MAX + 1];
    struct wr_array_layout layout = {
        .fields = fields, .count = n + 1, .samples = s->samples};
    const struct wr_array_writer_ops *ops = &wr_array_writer_hdf5;
    struct wr_array_out *out = NULL;
    uint64_t size;
    int r;

    set_fields(s, fields, n, names);
    if (set_chunks(&s->w->dataset.chunk_dims, chunks, n))
        layout.chunks = chunks;
    r = ops->open(m->pen.object, &layout, &out, err);
    if (r < 0)
        return r;
    r = add_samples(m, s, fields, out, err);
    if (r == 0)
        r = ops->finish(out, &size, err);
    ops->free(out);
    return r;
}

const struct wr_gen_form wr_gen_form_hdf5 = {
    .size = hdf5_size, .check = hdf5_check, .make = hdf5_make};
