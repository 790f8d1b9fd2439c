/* hdf5_write.c - samples of several fields -> a dataset for each.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The helper lays out the file: where each dataset lies, and what the metadata
 * are. The data are written from here, sample by sample; the metadata last, so
 * that a file that was not finished is none. */
#include <inttypes.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "format/chunks.h"
#include "format/hdf5_helper.h"
#include "format/schema.h"
#include "format/writer.h"

#define PIECE    ((size_t)1 << 20) /* bytes of a dataset that are moved at once */
#define META_MAX ((size_t)64 << 20)

/* Metadata, in the order in which they were written. */
struct meta {
    uint64_t offset;
    size_t at, len; /* in the bytes */
};

/* A file that is written: what a wr_array_out is here. */
struct hdf5_out {
    struct wr_object *object;    /* borrowed */
    struct wr_h5_helper *helper; /* owned */
    struct wr_h5_dataset *list;  /* owned: one per field */
    uint64_t *sizes;             /* owned: bytes of a sample of each */
    struct wr_chunk_write *cut;  /* owned: of those in chunks, else zeros */
    unsigned count;
    uint64_t planned, added; /* samples */
    struct meta *meta;       /* owned */
    size_t meta_count, meta_cap;
    uint8_t *bytes; /* owned: of the metadata */
    size_t bytes_len, bytes_cap;
    uint64_t size; /* of the file */
};

static void hdf5_free(struct wr_array_out *out)
{
    struct hdf5_out *w = (struct hdf5_out *)out;

    if (!w)
        return;
    for (unsigned k = 0; k < w->count && w->cut; k++)
        wr_chunk_write_done(&w->cut[k]);
    free(w->cut);
    wr_h5_helper_free(w->helper);
    free(w->list);
    free(w->sizes);
    free(w->meta);
    free(w->bytes);
    free(w);
}

/* --- the layout --- */

static int set_type(enum weir_dtype dtype, struct wr_h5_dataset *d)
{
    switch (dtype) {
    case WEIR_U8:
    case WEIR_U16:
    case WEIR_U32:
    case WEIR_U64:
        d->type = WR_H5_UNSIGNED;
        break;
    case WEIR_I8:
    case WEIR_I16:
    case WEIR_I32:
    case WEIR_I64:
        d->type = WR_H5_SIGNED;
        break;
    case WEIR_F16:
    case WEIR_F32:
    case WEIR_F64:
        d->type = WR_H5_FLOAT;
        break;
    case WEIR_BOOL:
        d->type = WR_H5_BOOL;
        break;
    default:
        return WEIR_ENOTSUP;
    }
    d->size = (uint32_t)wr_dtype_bytes(dtype);
    d->big_endian = d->size > 1 && htole16(1) != 1;
    return 0;
}

static int describe(const weir_field *f, uint64_t samples,
                    struct wr_h5_dataset *d, weir_err *err)
{
    if (set_type(f->dtype, d) < 0)
        return wr_fail(err, WEIR_ENOTSUP,
                       "field '%s': HDF5 files have no %s here",
                       wr_show(f->name).text, wr_dtype_text(f->dtype));
    if (strlen(f->name) >= sizeof(d->name) || f->ndim + 1 > WR_H5_DIMS)
        return wr_fail(err, WEIR_ELIMIT,
                       "field '%s': its name is too long for a dataset, or it "
                       "has too many dimensions",
                       wr_show(f->name).text);
    snprintf(d->name, sizeof(d->name), "%s", f->name);
    d->layout = WR_H5_CONTIGUOUS;
    d->ndim = f->ndim + 1;
    d->dims[0] = samples;
    memcpy(d->dims + 1, f->dims, f->ndim * sizeof(d->dims[0]));
    return 0;
}

/* libhdf5 has no chunks larger than an array that does not grow: the first
 * side is that of the samples there are. */
static int set_chunk(const struct wr_chunk_dims *c, struct wr_h5_dataset *d,
                     weir_err *err)
{
    size_t bytes = d->size;

    if (c->ndim != d->ndim)
        return wr_fail(err, WEIR_EINVAL,
                       "field '%s': chunks of %u dimensions, not %u (samples "
                       "first)",
                       wr_show(d->name).text, (unsigned)c->ndim,
                       (unsigned)d->ndim);
    for (uint32_t k = 0; k < c->ndim; k++) {
        if (!c->dims[k] || (k && c->dims[k] > d->dims[k]))
            return wr_fail(err, WEIR_EINVAL,
                           "field '%s': side %u of a chunk is %" PRIu64
                           ", not 1 to %" PRIu64,
                           wr_show(d->name).text, (unsigned)k + 1, c->dims[k],
                           d->dims[k]);
        d->chunk[k] = k ? c->dims[k] : WR_MIN(c->dims[k], d->dims[k]);
        if (!wr_mul_ok(bytes, d->chunk[k], &bytes) || bytes > UINT32_MAX)
            return wr_fail(err, WEIR_ELIMIT,
                           "field '%s': HDF5 has no chunks of 4 GiB or more",
                           wr_show(d->name).text);
    }
    if (d->dims[0]) /* else there is nothing to cut */
        d->layout = WR_H5_CHUNKED;
    return 0;
}

/* How a sample is cut, for a dataset in chunks. */
static int open_cut(const struct wr_h5_dataset *d, struct wr_chunk_write *ret,
                    weir_err *err)
{
    /* A number is an array of one. */
    struct wr_tiles t = {.ndim = 1, .elem = d->size, .dims = {1}, .tile = {1}};

    if (d->layout != WR_H5_CHUNKED)
        return 0;
    for (uint32_t k = 1; k < d->ndim; k++) {
        t.dims[k - 1] = d->dims[k];
        t.tile[k - 1] = d->chunk[k];
        t.ndim = k;
    }
    return wr_chunk_write_init(ret, &t, d->chunk[0], err);
}

static int keep_meta(void *arg, const void *bytes, size_t len, uint64_t offset,
                     weir_err *err)
{
    struct hdf5_out *w = arg;

    if (len > META_MAX - w->bytes_len)
        return wr_fail(err, WEIR_ELIMIT, "too much metadata");
    if (!wr_grow(&w->bytes, &w->bytes_cap, w->bytes_len + len + 1, 1) ||
        !wr_grow(&w->meta, &w->meta_cap, w->meta_count + 1, sizeof(*w->meta)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(w->bytes + w->bytes_len, bytes, len);
    w->meta[w->meta_count++] = (struct meta){offset, w->bytes_len, len};
    w->bytes_len += len;
    return 0;
}

/* Where everything will lie. */
static int lay_out(struct hdf5_out *w, weir_err *err)
{
    const struct wr_h5_create c = {w->list, w->count, keep_meta, w};

    w->meta_count = w->bytes_len = 0;
    return wr_h5_create(w->helper, &c, &w->size, err);
}

static int hdf5_open(struct wr_object *o, const struct wr_array_layout *l,
                     struct wr_array_out **ret, weir_err *err)
{
    struct hdf5_out *w;
    int r;

    if (l->packed)
        return wr_fail(err, WEIR_ENOTSUP,
                       "hdf5: packed data are not written, npz "
                       "packs");
    w = calloc(1, sizeof(*w));
    if (w) {
        w->cut = calloc(l->count + 1, sizeof(*w->cut));
        w->count = l->count;
        w->list = calloc(l->count + 1, sizeof(*w->list));
        w->sizes = calloc(l->count + 1, sizeof(*w->sizes));
    }
    r = w && w->list && w->sizes && w->cut
            ? wr_h5_helper_new(&w->helper, err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; k < l->count && r == 0; k++) {
        weir_field f = l->fields[k];

        r = describe(&f, l->samples, &w->list[k], err);
        if (r == 0 && l->chunks && l->chunks[k].ndim)
            r = set_chunk(&l->chunks[k], &w->list[k], err);
        if (r == 0)
            r = open_cut(&w->list[k], &w->cut[k], err);
        f.kind = WEIR_FIELD_TENSOR;
        w->sizes[k] = wr_field_bytes(&f);
    }
    if (r == 0) {
        w->object = o;
        w->planned = l->samples;
        r = lay_out(w, err);
    }
    if (r < 0)
        hdf5_free((struct wr_array_out *)w);
    else
        *ret = (struct wr_array_out *)w;
    return r;
}

/* --- data --- */

static int add_field(struct hdf5_out *w, unsigned k, const struct wr_slice *v,
                     weir_err *err)
{
    const uint64_t address = w->list[k].address;

    if (w->list[k].layout == WR_H5_CHUNKED)
        return wr_chunk_write_add(&w->cut[k], v->bytes, w->object, address,
                                  err);
    return w->object->ops->write(w->object, v->bytes, v->len,
                                 address + w->added * w->sizes[k], err);
}

static int hdf5_add(struct wr_array_out *out, const struct wr_slice *fields,
                    weir_err *err)
{
    struct hdf5_out *w = (struct hdf5_out *)out;
    int r = 0;

    if (w->added == w->planned)
        return wr_fail(err, WEIR_EINVAL, "more samples than were planned");
    for (unsigned k = 0; k < w->count && r == 0; k++) {
        if (fields[k].len != w->sizes[k])
            return wr_fail(
                err, WEIR_EINVAL, "field '%s': %zu bytes, not %" PRIu64,
                wr_show(w->list[k].name).text, fields[k].len, w->sizes[k]);
        r = add_field(w, k, &fields[k], err);
    }
    w->added += r == 0;
    return r;
}

/* What was not written of the file reads as zeros from then on. */
static int set_size(struct hdf5_out *w, weir_err *err)
{
    if (!w->object->ops->resize)
        return wr_fail(err, WEIR_ENOTSUP, "this storage cannot set sizes");
    return w->object->ops->resize(w->object, w->size, err);
}

/* The samples that chunks still gather. */
static int flush_cuts(struct hdf5_out *w, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < w->count && r == 0; k++)
        if (w->list[k].layout == WR_H5_CHUNKED)
            r = wr_chunk_write_flush(&w->cut[k], w->object, w->list[k].address,
                                     err);
    return r;
}

/* Moves bytes towards the front. */
static int move(struct hdf5_out *w, uint64_t from, uint64_t to, uint64_t len,
                weir_err *err)
{
    uint8_t *piece = from == to ? NULL : malloc(PIECE);
    int r = 0;

    if (from == to)
        return 0;
    if (!piece)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    while (len && r == 0) {
        size_t n = (size_t)WR_MIN(len, (uint64_t)PIECE);

        r = wr_object_read_fully(w->object, piece, n, from, err);
        if (r == 0)
            r = w->object->ops->write(w->object, piece, n, to, err);
        from += n;
        to += n;
        len -= n;
    }
    free(piece);
    return r;
}

static uint64_t chunk_bytes(const struct wr_h5_dataset *d)
{
    uint64_t bytes = d->size;

    for (uint32_t k = 0; k < d->ndim; k++)
        bytes *= d->chunk[k];
    return bytes;
}

/* Moves up what dataset `k` has, which was laid out as `old`. Chunks that became
 * shorter are one row of them, so that each keeps its first bytes. */
static int move_up(struct hdf5_out *w, unsigned k,
                   const struct wr_h5_dataset *old, weir_err *err)
{
    const struct wr_h5_dataset *d = &w->list[k];
    uint64_t from, to, rows, each = w->cut[k].count;
    int r = 0;

    if (d->address > old->address)
        return wr_fail(err, WEIR_ENOTSUP,
                       "a shorter file would need more space");
    if (d->layout != WR_H5_CHUNKED)
        return move(w, old->address, d->address, w->added * w->sizes[k], err);
    from = chunk_bytes(old);
    to = chunk_bytes(d);
    rows = d->dims[0] / d->chunk[0] + !!(d->dims[0] % d->chunk[0]);
    if (from == to)
        return move(w, old->address, d->address, rows * each * to, err);
    for (uint64_t c = 0; c < each && r == 0; c++)
        r = move(w, old->address + c * from, d->address + c * to, to, err);
    return r;
}

static void shorten_dataset(struct wr_h5_dataset *d, uint64_t samples)
{
    d->dims[0] = samples;
    d->chunk[0] = WR_MIN(d->chunk[0], samples);
    if (!samples)
        d->layout = WR_H5_CONTIGUOUS;
}

/* Fewer samples came: what lies behind them moves up. */
static int shorten(struct hdf5_out *w, weir_err *err)
{
    struct wr_h5_dataset *old = malloc((w->count + 1) * sizeof(*old));
    int r = old ? set_size(w, err) : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (unsigned k = 0; k < w->count && r == 0; k++) {
        old[k] = w->list[k];
        shorten_dataset(&w->list[k], w->added);
    }
    if (r == 0)
        r = lay_out(w, err);
    for (unsigned k = 0; k < w->count && r == 0 && w->added; k++)
        r = move_up(w, k, &old[k], err);
    free(old);
    return r;
}

static int write_meta(struct hdf5_out *w, weir_err *err)
{
    int r = set_size(w, err);

    for (size_t k = 0; k < w->meta_count && r == 0; k++) {
        const struct meta *m = &w->meta[k];

        if (m->offset > w->size || m->len > w->size - m->offset)
            r = wr_fail(err, WEIR_EFORMAT, "metadata behind the end of a file");
        else
            r = w->object->ops->write(w->object, w->bytes + m->at, m->len,
                                      m->offset, err);
    }
    return r;
}

static int hdf5_finish(struct wr_array_out *out, uint64_t *ret_size,
                       weir_err *err)
{
    struct hdf5_out *w = (struct hdf5_out *)out;
    int r = flush_cuts(w, err);

    if (r == 0 && w->added < w->planned)
        r = shorten(w, err);
    if (r == 0)
        r = write_meta(w, err);
    if (r == 0)
        *ret_size = w->size;
    return r;
}

const struct wr_array_writer_ops wr_array_writer_hdf5 = {
    .name = "hdf5",
    .ext = ".h5",
    .chunks = true,
    .open = hdf5_open,
    .add = hdf5_add,
    .finish = hdf5_finish,
    .free = hdf5_free,
};
