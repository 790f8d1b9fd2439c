/* writer.c - the registry of shard writers, and their buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include "base/mem.h"
#include "base/named.h"

static const struct wr_writer_ops *const writers[] = {
#define WRITER(name, help)       &wr_writer_##name,
#define FIELD_WRITER(name, help) WRITER(name, help)
#include "format/formats.def"
};

const struct wr_writer_ops *wr_writer_find(const char *name)
{
    return wr_named_ops(writers, WR_ARRAY_LEN(writers), name);
}

uint8_t *wr_bytes_room(struct wr_bytes *b, size_t n)
{
    size_t need;

    if (!wr_add_ok(b->len, n, &need) || !wr_grow(&b->bytes, &b->cap, need, 1))
        return NULL;
    return b->bytes + b->len;
}
