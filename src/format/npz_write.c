/* npz_write.c - writes a .npz file, array by array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/npz_write.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/deflate.h"

#define MEMBERS 8
#define PIECE   (256u << 10) /* deflated bytes written at once */

struct wr_npz_out {
    struct wr_object *object; /* borrowed */
    bool deflate;
    uint64_t end;                          /* bytes written */
    struct wr_zip_member members[MEMBERS]; /* names are owned */
    size_t count;
    struct wr_deflate *z; /* owned: of the last member */
    uint8_t piece[PIECE];
};

int wr_npz_out_new(struct wr_object *o, bool deflate, struct wr_npz_out **ret,
                   weir_err *err)
{
    struct wr_npz_out *w = calloc(1, sizeof(*w));

    if (!w)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->object = o;
    w->deflate = deflate;
    *ret = w;
    return 0;
}

void wr_npz_out_free(struct wr_npz_out *w)
{
    if (!w)
        return;
    for (size_t k = 0; k < w->count; k++)
        free((void *)(uintptr_t)w->members[k].name);
    wr_deflate_free(w->z);
    free(w);
}

static int append(struct wr_npz_out *w, const void *bytes, size_t len,
                  weir_err *err)
{
    int r = w->object->ops->write(w->object, bytes, len, w->end, err);

    w->end += r < 0 ? 0 : len;
    return r;
}

static int deflate(struct wr_npz_out *w, const void *bytes, size_t len,
                   bool last, weir_err *err)
{
    struct wr_zip_member *m = &w->members[w->count - 1];
    int r = 0;
    size_t n;

    wr_deflate_feed(w->z, bytes, len, last);
    while (r == 0 && (n = wr_deflate_read(w->z, w->piece, PIECE)) > 0) {
        r = append(w, w->piece, n, err);
        m->stored += n;
    }
    return r;
}

/* The local header, once with sizes of 0 to hold its place. */
static int put_head(struct wr_npz_out *w, const struct wr_zip_member *m,
                    weir_err *err)
{
    struct wr_bytes head = {0};
    int r = wr_zip_put_local(&head, m, err);

    if (r == 0)
        r = w->object->ops->write(w->object, head.bytes, head.len, m->head,
                                  err);
    free(head.bytes);
    return r;
}

static int end_member(struct wr_npz_out *w, weir_err *err)
{
    int r = 0;

    if (!w->count)
        return 0;
    if (w->z)
        r = deflate(w, "", 0, /* last= */ true, err);
    wr_deflate_free(w->z);
    w->z = NULL;
    return r < 0 ? r : put_head(w, &w->members[w->count - 1], err);
}

int wr_npz_out_member(struct wr_npz_out *w, const char *name, weir_err *err)
{
    struct wr_zip_member m = {.deflated = w->deflate};
    int r = end_member(w, err);

    m.head = w->end;
    if (r < 0)
        return r;
    if (w->count == MEMBERS)
        return wr_fail(err, WEIR_ELIMIT, "more than %d arrays", MEMBERS);
    m.name = strdup(name);
    if (!m.name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->members[w->count++] = m;
    r = put_head(w, &m, err);
    if (r < 0)
        return r;
    w->end += wr_zip_local_len(name);
    return w->deflate ? wr_deflate_new(&w->z, err) : 0;
}

int wr_npz_out_put(struct wr_npz_out *w, const void *bytes, size_t len,
                   weir_err *err)
{
    struct wr_zip_member *m = &w->members[w->count - 1];
    const uint8_t *p = bytes;
    int r = 0;

    m->crc = wr_crc32(m->crc, bytes, len);
    m->inflated += len;
    if (!w->z) {
        m->stored += len;
        return append(w, bytes, len, err);
    }
    while (len && r == 0) { /* ISA-L counts in 32 bits */
        size_t some = WR_MIN(len, (size_t)1 << 30);

        r = deflate(w, p, some, /* last= */ false, err);
        p += some;
        len -= some;
    }
    return r;
}

int wr_npz_out_finish(struct wr_npz_out *w, uint64_t *ret_size, weir_err *err)
{
    struct wr_bytes tail = {0};
    int r = end_member(w, err);

    if (r == 0)
        r = wr_zip_put_directory(&tail, w->members, w->count, w->end, err);
    if (r == 0)
        r = append(w, tail.bytes, tail.len, err);
    free(tail.bytes);
    if (r == 0)
        *ret_size = w->end;
    return r;
}
