/* indexed_binary_write.c - writes DLIO's indexed binary files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples are all of one size, so that the index files follow from their
 * number. */
#include "format/array_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "format/indexed_binary.h"
#include "format/schema.h"

#define PIECE (256u << 10) /* bytes written at once */

/* A file that is written: what a wr_array_out is here. */
struct ib_out {
    struct wr_object *object; /* borrowed */
    uint64_t sample;          /* bytes of each */
    uint64_t samples, announced;
    uint64_t at;           /* where the next bytes go */
    struct wr_bytes ahead; /* bytes that are not written yet */
};

static const char *const sides[] = {WR_INDEXED_BINARY_OFFSETS,
                                    WR_INDEXED_BINARY_SIZES, NULL};

static int ib_open(struct wr_object *o, const struct wr_array_layout *l,
                   struct wr_array_out **ret, weir_err *err)
{
    struct ib_out *w;

    if (l->packed)
        return wr_fail(err, WEIR_ENOTSUP, "indexed_binary does not deflate");
    if (l->chunks)
        return wr_fail(err, WEIR_ENOTSUP, "indexed_binary has no chunks");
    if (l->count != 1)
        return wr_fail(err, WEIR_ENOTSUP,
                       "indexed_binary holds one field and no labels, not %u "
                       "fields: name the one to be written",
                       l->count);
    w = calloc(1, sizeof(*w));
    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->object = o;
    w->announced = l->samples;
    w->sample = wr_field_bytes(&l->fields[0]);
    *ret = (struct wr_array_out *)w;
    return 0;
}

static int flush(struct ib_out *w, weir_err *err)
{
    int r = w->ahead.len ? wr_object_write(w->object, w->ahead.bytes,
                                           w->ahead.len, w->at, err)
                         : 0;

    if (r < 0)
        return r;
    w->at += w->ahead.len;
    w->ahead.len = 0;
    return 0;
}

/* Large samples are not copied first. */
static int append(struct ib_out *w, const struct wr_slice *s, weir_err *err)
{
    uint8_t *room;
    int r = 0;

    if (w->ahead.len + s->len > PIECE)
        r = flush(w, err);
    if (r == 0 && s->len > PIECE) {
        r = wr_object_write(w->object, s->bytes, s->len, w->at, err);
        w->at += s->len;
        return r;
    }
    room = r == 0 ? wr_bytes_room(&w->ahead, s->len) : NULL;
    if (!room)
        return r < 0 ? r : wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, s->bytes, s->len);
    w->ahead.len += s->len;
    return 0;
}

static int ib_add(struct wr_array_out *out, const struct wr_slice *fields,
                  weir_err *err)
{
    struct ib_out *w = (struct ib_out *)out;

    if (fields[0].len != w->sample || w->samples == w->announced)
        return wr_fail(err, WEIR_EINVAL,
                       "a sample of %zu bytes that was not announced",
                       fields[0].len);
    w->samples++;
    return append(w, &fields[0], err);
}

static int ib_finish(struct wr_array_out *out, uint64_t *ret_size,
                     weir_err *err)
{
    struct ib_out *w = (struct ib_out *)out;
    int r = flush(w, err);

    if (r == 0)
        *ret_size = w->at;
    return r;
}

/* Offsets count from the beginning of the file: DLIO's own begin at 0 again
 * after each buffer that it writes, and are wrong then. */
static int ib_side(const struct wr_array_out *out, unsigned k,
                   struct wr_bytes *to, weir_err *err)
{
    const struct ib_out *w = (const struct ib_out *)out;
    size_t bytes = 0;
    uint8_t *p;

    p = wr_mul_ok(w->samples, 8, &bytes) ? wr_bytes_room(to, bytes) : NULL;
    if (!p && w->samples)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < w->samples; i++)
        wr_le_put(p + 8 * i, k ? w->sample : i * w->sample, 8);
    to->len += bytes;
    return 0;
}

static void ib_free(struct wr_array_out *out)
{
    struct ib_out *w = (struct ib_out *)out;

    if (w)
        free(w->ahead.bytes);
    free(w);
}

const struct wr_array_writer_ops wr_array_writer_indexed_binary = {
    .name = "indexed_binary",
    .single = true,
    .ext = WR_INDEXED_BINARY_EXT,
    .open = ib_open,
    .add = ib_add,
    .finish = ib_finish,
    .sides = sides,
    .side = ib_side,
    .free = ib_free,
};
