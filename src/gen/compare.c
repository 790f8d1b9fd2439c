/* compare.c - an object that compares what is written with what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/compare.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static int64_t compare_read(struct wr_object *o, void *buf, size_t len,
                            uint64_t offset, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;

    return c->file->ops->read(c->file, buf, len, offset, err);
}

/* The first byte in which they differ; `len` if none. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t len)
{
    size_t k = 0;

    if (!memcmp(a, b, len))
        return len;
    while (a[k] == b[k])
        k++;
    return k;
}

static int compare_write(struct wr_object *o, const void *bytes, size_t len,
                         uint64_t offset, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;
    const uint8_t *want = bytes;

    c->end = WR_MAX(c->end, offset + len);
    while (len) {
        size_t some = WR_MIN(len, WR_COMPARE_BYTES), same;
        int64_t got = wr_object_read_all(c->file, c->buf, some, offset, err);

        if (got < 0)
            return (int)got;
        same = first_difference(want, c->buf, (size_t)got);
        c->bytes += same;
        if (same < some) {
            c->wrong = WR_MIN(c->wrong, offset + same);
            return 0; /* what follows is no better */
        }
        want += some;
        offset += some;
        len -= some;
    }
    return 0;
}

static int compare_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct wr_compare *c = (struct wr_compare *)o;

    (void)err;
    c->end = size;
    return 0;
}

static int compare_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops compare_ops = {
    .read = compare_read,
    .write = compare_write,
    .resize = compare_resize,
    .close = compare_close,
};

void wr_compare_init(struct wr_compare *c, struct wr_object *file, uint8_t *buf)
{
    *c = (struct wr_compare){.object = {&compare_ops},
                             .file = file,
                             .buf = buf,
                             .wrong = UINT64_MAX};
}
