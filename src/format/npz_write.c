/* npz_write.c - writes a .npz file: a member for each field.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stored members have their places before the first sample comes. How long a
 * deflated one will be is not known: the largest goes into the file as it
 * grows, the others wait in memory for its end.
 *
 * A .npy header tells the number of samples, and fewer may come than were
 * announced. So it is written again at the end, as long as it was; a deflated
 * member has it in a block that is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/inflate.h"
#include "format/schema.h"
#include "format/tensor.h"
#include "format/writer.h"
#include "format/zip.h"

#define PIECE      (256u << 10) /* bytes written at once */
#define BLOCK_HEAD 5            /* bytes before what a stored block holds */
#define NPY_PREFIX 10

/* One field. */
struct npz_array {
    struct wr_zip_member m; /* m.name is owned */
    struct wr_gen_shape shape;
    size_t sample; /* bytes */
    struct wr_tensor_bytes head;
    uint64_t at;           /* where its next bytes go in the file */
    struct wr_bytes ahead; /* bytes that are not written yet */
    struct wr_deflate *z;  /* owned; NULL: stored */
};

struct wr_array_out {
    struct wr_object *object; /* borrowed */
    unsigned count, largest;
    uint64_t announced, samples;
    bool packed;
    struct npz_array of[];
};

static void npz_free(struct wr_array_out *w)
{
    for (unsigned k = 0; w && k < w->count; k++) {
        struct npz_array *a = &w->of[k];

        free((void *)(uintptr_t)a->m.name);
        free(a->head.bytes);
        free(a->ahead.bytes);
        wr_deflate_free(a->z);
    }
    free(w);
}

/* --- bytes on their way --- */

static int flush(struct wr_array_out *w, struct npz_array *a, weir_err *err)
{
    int r = a->ahead.len ? w->object->ops->write(w->object, a->ahead.bytes,
                                                 a->ahead.len, a->at, err)
                         : 0;

    if (r < 0)
        return r;
    a->at += a->ahead.len;
    a->ahead.len = 0;
    return 0;
}

static bool waits(const struct wr_array_out *w, const struct npz_array *a)
{
    return w->packed && a != &w->of[w->largest];
}

/* Bytes as they will lie in the file; many are not copied first. */
static int append(struct wr_array_out *w, struct npz_array *a,
                  const void *bytes, size_t len, weir_err *err)
{
    uint8_t *room;
    int r = 0;

    a->m.stored += len;
    if (!waits(w, a) && a->ahead.len + len > PIECE)
        r = flush(w, a, err);
    if (r == 0 && len > PIECE && !waits(w, a)) {
        r = w->object->ops->write(w->object, bytes, len, a->at, err);
        a->at += len;
        return r;
    }
    room = r == 0 ? wr_bytes_room(&a->ahead, len) : NULL;
    if (!room)
        return r < 0 ? r : wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, bytes, len);
    a->ahead.len += len;
    return 0;
}

static int pack(struct wr_array_out *w, struct npz_array *a, const void *bytes,
                size_t len, bool last, weir_err *err)
{
    uint8_t piece[4096];
    int r = 0;
    size_t n;

    wr_deflate_feed(a->z, bytes, len, last);
    while (r == 0 && (n = wr_deflate_read(a->z, piece, sizeof(piece))) > 0)
        r = append(w, a, piece, n, err);
    return r;
}

static int put(struct wr_array_out *w, struct npz_array *a, const uint8_t *p,
               size_t len, weir_err *err)
{
    int r = 0;

    a->m.crc = wr_crc32(a->m.crc, p, len);
    a->m.inflated += len;
    if (!a->z)
        return append(w, a, p, len, err);
    while (len && r == 0) { /* ISA-L counts in 32 bits */
        size_t some = WR_MIN(len, (size_t)1 << 30);

        r = pack(w, a, p, some, /* last= */ false, err);
        p += some;
        len -= some;
    }
    return r;
}

/* --- heads --- */

/* A header for so many samples, of `len` bytes (0: as long as it is). */
static int make_head(const struct npz_array *a, uint64_t count, size_t len,
                     struct wr_tensor_bytes *ret, weir_err *err)
{
    struct wr_tensor_bytes h;
    int r = wr_tensor_npy_header(&a->shape, count, &h, err);
    uint8_t *longer;

    if (r < 0)
        return r;
    if (h.len < len) {
        longer = realloc(h.bytes, len);
        if (!longer) {
            free(h.bytes);
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        }
        memset(longer + h.len - 1, ' ', len - h.len);
        longer[len - 1] = '\n';
        wr_le_put(longer + 8, len - NPY_PREFIX, 2);
        h = (struct wr_tensor_bytes){longer, len};
    }
    *ret = h;
    return 0;
}

/* Its header, as the beginning of the member. */
static int put_head(struct wr_array_out *w, struct npz_array *a, weir_err *err)
{
    uint8_t block[BLOCK_HEAD] = {0}; /* stored, and not the last one */
    int r;

    if (!a->z)
        return put(w, a, a->head.bytes, a->head.len, err);
    wr_le_put(block + 1, a->head.len, 2);
    wr_le_put(block + 3, ~(uint64_t)a->head.len, 2);
    a->m.crc = wr_crc32(0, a->head.bytes, a->head.len);
    a->m.inflated = a->head.len;
    r = append(w, a, block, sizeof(block), err);
    return r < 0 ? r : append(w, a, a->head.bytes, a->head.len, err);
}

/* The checksum of a member whose beginning is another one: what differs there
 * goes through as many zeros as bytes follow. */
static uint32_t change_crc(const struct npz_array *a,
                           const struct wr_tensor_bytes *head)
{
    static const uint8_t zeros[4096];
    uint32_t was = wr_crc32(0, a->head.bytes, a->head.len);
    uint32_t is = wr_crc32(0, head->bytes, head->len);

    for (uint64_t left = a->m.inflated - head->len; left;) {
        size_t n = (size_t)WR_MIN(left, (uint64_t)sizeof(zeros));

        was = wr_crc32(was, zeros, n);
        is = wr_crc32(is, zeros, n);
        left -= n;
    }
    return a->m.crc ^ was ^ is;
}

/* Fewer samples came than were announced. */
static int mend_head(struct wr_array_out *w, struct npz_array *a, weir_err *err)
{
    uint64_t at = a->m.head + wr_zip_local_len(a->m.name) +
                  (a->z ? BLOCK_HEAD : 0);
    struct wr_tensor_bytes head;
    int r = make_head(a, w->samples, a->head.len, &head, err);

    if (r < 0)
        return r;
    a->m.crc = change_crc(a, &head);
    r = w->object->ops->write(w->object, head.bytes, head.len, at, err);
    free(head.bytes);
    return r;
}

static int put_local(struct wr_array_out *w, const struct npz_array *a,
                     weir_err *err)
{
    struct wr_bytes head = {0};
    int r = wr_zip_put_local(&head, &a->m, err);

    if (r == 0)
        r = w->object->ops->write(w->object, head.bytes, head.len, a->m.head,
                                  err);
    free(head.bytes);
    return r;
}

/* --- the writer --- */

static int init_array(struct npz_array *a, const weir_field *f,
                      const struct wr_array_layout *l, weir_err *err)
{
    char *name;
    int r;

    a->shape = (struct wr_gen_shape){.dtype = f->dtype, .ndim = f->ndim};
    memcpy(a->shape.dims, f->dims, sizeof(a->shape.dims));
    a->sample = wr_field_bytes(f);
    a->m.deflated = l->packed;
    r = make_head(a, l->samples, 0, &a->head, err);
    if (r < 0) {
        wr_fail_prefix(err, r, "field '%s'", f->name);
        return r;
    }
    if (asprintf(&name, "%s.npy", f->name) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    a->m.name = name;
    return l->packed ? wr_deflate_new(&a->z, err) : 0;
}

/* Where the arrays begin; of packed ones, the largest. */
static void place(struct wr_array_out *w)
{
    uint64_t at = 0;

    for (unsigned k = 0; k < w->count; k++) {
        struct npz_array *a = &w->of[k];

        if (w->packed && k != w->largest)
            continue;
        a->m.head = at;
        a->at = at + wr_zip_local_len(a->m.name);
        at = a->at + a->head.len + w->announced * a->sample;
    }
}

static int npz_open(struct wr_object *o, const struct wr_array_layout *l,
                    struct wr_array_out **ret, weir_err *err)
{
    struct wr_array_out *w;
    int r = 0;

    if (l->chunks)
        return wr_fail(err, WEIR_ENOTSUP, "npz has no chunks");
    w = calloc(1, sizeof(*w) + l->count * sizeof(w->of[0]));
    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->object = o;
    w->packed = l->packed;
    w->announced = l->samples;
    for (; w->count < l->count && r == 0; w->count++) {
        r = init_array(&w->of[w->count], &l->fields[w->count], l, err);
        if (w->of[w->count].sample > w->of[w->largest].sample)
            w->largest = w->count;
    }
    place(w);
    for (unsigned k = 0; k < w->count && r == 0; k++)
        r = put_head(w, &w->of[k], err);
    if (r < 0) {
        npz_free(w);
        return r;
    }
    *ret = w;
    return 0;
}

static int npz_add(struct wr_array_out *w, const struct wr_slice *fields,
                   weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < w->count && r == 0; k++)
        r = put(w, &w->of[k], fields[k].bytes, fields[k].len, err);
    w->samples += r == 0;
    return r;
}

/* What waited goes to its place, which is known now. */
static int end_array(struct wr_array_out *w, struct npz_array *a, uint64_t *end,
                     weir_err *err)
{
    int r = 0;

    if (waits(w, a)) {
        a->m.head = *end;
        a->at = *end + wr_zip_local_len(a->m.name);
    }
    r = flush(w, a, err);
    if (r == 0 && w->samples < w->announced)
        r = mend_head(w, a, err);
    *end = a->at;
    return r < 0 ? r : put_local(w, a, err);
}

static int npz_finish(struct wr_array_out *w, uint64_t *ret_size, weir_err *err)
{
    struct wr_zip_member *members = calloc(w->count + 1, sizeof(*members));
    struct wr_bytes tail = {0};
    uint64_t end = 0;
    int r = members ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (unsigned k = 0; k < w->count && r == 0 && w->packed; k++)
        r = pack(w, &w->of[k], "", 0, /* last= */ true, err);
    if (r == 0 && w->packed) /* the others come behind it */
        r = end_array(w, &w->of[w->largest], &end, err);
    for (unsigned k = 0; k < w->count && r == 0; k++) {
        if (!w->packed || k != w->largest)
            r = end_array(w, &w->of[k], &end, err);
        members[k] = w->of[k].m;
    }
    if (r == 0)
        r = wr_zip_put_directory(&tail, members, w->count, end, err);
    if (r == 0)
        r = w->object->ops->write(w->object, tail.bytes, tail.len, end, err);
    if (r == 0)
        *ret_size = end + tail.len;
    free(tail.bytes);
    free(members);
    return r;
}

const struct wr_array_writer_ops wr_array_writer_npz = {
    .name = "npz",
    .ext = ".npz",
    .packs = true,
    .open = npz_open,
    .add = npz_add,
    .finish = npz_finish,
    .free = npz_free,
};
