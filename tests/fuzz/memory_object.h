/* memory_object.h - an object whose bytes lie in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TESTS_MEMORY_OBJECT_H
#define WR_TESTS_MEMORY_OBJECT_H

#include <string.h>

#include "base/mem.h"
#include "storage/storage.h"

struct memory_object {
    struct wr_object base;
    const uint8_t *bytes; /* borrowed */
    size_t len;
};

static int64_t memory_read(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    const struct memory_object *m = (const struct memory_object *)o;
    size_t n;

    (void)err;
    if (offset >= m->len)
        return 0;
    n = WR_MIN(len, m->len - (size_t)offset);
    memcpy(buf, m->bytes + offset, n);
    return (int64_t)n;
}

static const struct wr_object_ops memory_ops = {.read = memory_read};

static inline struct memory_object memory_object(const uint8_t *bytes,
                                                 size_t len)
{
    return (struct memory_object){{&memory_ops}, bytes, len};
}

#endif
