/* decode.c - what comes out of a field, and the decoder that makes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/pictures.h"
#include "format/tensor_decode.h"

/* Bytes that come out as they lie. */
struct plain_decoder {
    struct wr_decoder base;
    uint64_t bytes; /* 0: any */
};

static int plain_decode(struct wr_decoder *d, const struct wr_sample *s,
                        void *slot, struct wr_picture_times *times,
                        weir_err *err)
{
    struct plain_decoder *pd = (struct plain_decoder *)d;

    if (pd->bytes && s->len != pd->bytes)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes, not %zu", s->len,
                       (size_t)pd->bytes);
    if (slot)
        memcpy(slot, s->bytes, s->len);
    return 0;
}

static void plain_free(struct wr_decoder *d)
{
    free(d);
}

static const struct wr_decoder_ops plain_decoder_ops = {
    .decode = plain_decode,
    .free = plain_free,
};

static bool is_plain(const struct wr_field *f)
{
    return f->pub.kind == WEIR_FIELD_BYTES ||
           f->pub.kind == WEIR_FIELD_SCALAR ||
           (f->pub.kind == WEIR_FIELD_TENSOR && !wr_field_bytes(&f->pub));
}

int wr_field_shape(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_tensor_shape *ret, weir_err *err)
{
    if (f->pub.kind == WEIR_FIELD_PICTURE)
        return wr_pictures_shape(want, ret, err);
    if (!is_plain(f))
        return wr_tensor_shape(f, want, ret, err);
    if (want->convert && want->dtype != f->pub.dtype)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' is not converted: only tensors of equal samples "
                       "are",
                       f->name);
    *ret = (struct wr_tensor_shape){.dtype = f->pub.dtype,
                                    .ndim = f->pub.ndim,
                                    .bytes = wr_field_bytes(&f->pub),
                                    .direct = true};
    memcpy(ret->dims, f->pub.dims, sizeof(ret->dims));
    return 0;
}

int wr_decoder_new(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_decoder **ret, weir_err *err)
{
    struct plain_decoder *pd;

    if (f->pub.kind == WEIR_FIELD_PICTURE)
        return wr_pictures_decoder_new(want, ret, err);
    if (!is_plain(f))
        return wr_tensor_decoder_new(f, want, ret, err);
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pd->base.ops = &plain_decoder_ops;
    pd->bytes = wr_field_bytes(&f->pub);
    *ret = &pd->base;
    return 0;
}

/* --- samples that are unpacked --- */

int wr_unpack_init(struct wr_unpack *u, const struct wr_schema *s,
                   weir_err *err)
{
    *u = (struct wr_unpack){
        .fields = calloc((size_t)s->count + 1, sizeof(*u->fields)),
        .wanted = calloc((size_t)s->count + 1, sizeof(*u->wanted)),
    };
    if (u->fields && u->wanted)
        return 0;
    wr_unpack_done(u);
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

void wr_unpack_done(struct wr_unpack *u)
{
    free(u->fields);
    free(u->wanted);
    free(u->scratch);
    *u = (struct wr_unpack){0};
}

uint32_t wr_label_of(const struct wr_slice *s)
{
    int64_t value = -1;

    if (s->bytes && s->len == sizeof(value))
        memcpy(&value, s->bytes, sizeof(value));
    return value >= 0 && value < WEIR_NO_LABEL ? (uint32_t)value
                                               : WEIR_NO_LABEL;
}

void wr_left_out_add(struct wr_left_out *l, const char *name, size_t len)
{
    pthread_mutex_lock(&l->lock);
    wr_intern_add(&l->names, name, strnlen(name, len));
    pthread_mutex_unlock(&l->lock);
}

/* --- the first tensor or picture alone --- */

static const struct wr_field *first_field(const struct wr_index *ix,
                                          weir_err *err)
{
    const struct wr_field *f = wr_schema_first(wr_index_schema(ix));

    if (!f)
        wr_fail(err, WEIR_ENOTSUP, "the samples have no picture and no tensor");
    return f;
}

int wr_first_shape(const struct wr_index *ix, const weir_pipeline_config *cfg,
                   struct wr_tensor_shape *ret, weir_err *err)
{
    const struct wr_field *f = first_field(ix, err);
    const struct wr_field_want want = wr_want_of(cfg);

    return f ? wr_field_shape(f, &want, ret, err) : WEIR_ENOTSUP;
}

int wr_first_decoder(const struct wr_index *ix, const weir_pipeline_config *cfg,
                     struct wr_decoder **ret, weir_err *err)
{
    const struct wr_field *f = first_field(ix, err);
    const struct wr_field_want want = wr_want_of(cfg);

    return f ? wr_decoder_new(f, &want, ret, err) : WEIR_ENOTSUP;
}

int wr_first_unpack(const weir_dataset *ds, struct wr_unpack *u,
                    struct wr_sample *io, weir_err *err)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    const struct wr_field *f;
    int r = 0;

    if (!ds->format->unpack)
        return 0;
    if (!u->fields)
        r = wr_unpack_init(u, s, err);
    f = r < 0 ? NULL : first_field(ds->index, err);
    if (!f)
        return r < 0 ? r : WEIR_ENOTSUP;
    u->wanted[f - s->fields] = true;
    r = ds->format->unpack(ds->index, 0, io, u, err);
    if (r < 0)
        return r;
    io->bytes = u->fields[f - s->fields].bytes;
    io->len = u->fields[f - s->fields].len;
    return 0;
}
