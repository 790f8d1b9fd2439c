/* grown.h - an object in memory that grows as it is written.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_GROWN_H
#define WR_TEST_GROWN_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "storage/storage.h"

struct grown {
    struct wr_object base;
    uint8_t *bytes; /* owned */
    size_t len, cap;
    unsigned writes;
    bool full; /* fails instead */
};

static int64_t grown_read(struct wr_object *o, void *buf, size_t len,
                          uint64_t offset, weir_err *err)
{
    struct grown *g = (struct grown *)o;
    size_t n;

    (void)err;
    if (offset >= g->len)
        return 0;
    n = WR_MIN(len, g->len - (size_t)offset);
    memcpy(buf, g->bytes + offset, n);
    return (int64_t)n;
}

static int grown_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct grown *g = (struct grown *)o;

    (void)err;
    if (!wr_grow(&g->bytes, &g->cap, (size_t)size + 1, 1))
        return WEIR_ENOMEM;
    if (size > g->len)
        memset(g->bytes + g->len, 0, (size_t)size - g->len);
    g->len = (size_t)size;
    return 0;
}

static int grown_write(struct wr_object *o, const void *bytes, size_t len,
                       uint64_t offset, weir_err *err)
{
    struct grown *g = (struct grown *)o;

    g->writes++;
    if (g->full)
        return WEIR_ENOSPC;
    if (offset + len > g->len && grown_resize(o, offset + len, err) < 0)
        return WEIR_ENOMEM;
    memcpy(g->bytes + offset, bytes, len);
    return 0;
}

static int grown_close(struct wr_object *o, bool sync, weir_err *err)
{
    (void)o;
    (void)sync;
    (void)err;
    return 0;
}

static const struct wr_object_ops grown_ops = {.read = grown_read,
                                               .write = grown_write,
                                               .resize = grown_resize,
                                               .close = grown_close};

static inline void grown_init(struct grown *g)
{
    *g = (struct grown){.base = {&grown_ops}};
}

static inline void grown_done(struct grown *g)
{
    free(g->bytes);
    *g = (struct grown){.base = {&grown_ops}};
}

#endif
