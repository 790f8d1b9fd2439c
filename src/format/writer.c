/* writer.c - the registries of writers, and their buffer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
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

/* --- the registry of writers of arrays --- */

static const struct wr_array_writer_ops *const array_writers[] = {
#define ARRAY_WRITER(name, help) &wr_array_writer_##name,
#include "format/formats.def"
};

const struct wr_array_writer_ops *wr_array_writer_at(unsigned k)
{
    return k < WR_ARRAY_LEN(array_writers) ? array_writers[k] : NULL;
}

const struct wr_array_writer_ops *wr_array_writer_find(const char *name)
{
    return wr_named_ops(array_writers, WR_ARRAY_LEN(array_writers), name);
}

/* --- files that belong beside a file of arrays --- */

int wr_array_writer_sides(const struct wr_array_writer_ops *ops,
                          const struct wr_array_out *w,
                          const struct wr_side_sink *to, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; ops->sides && ops->sides[k] && r == 0; k++) {
        struct wr_bytes b = {0};
        char name[4096];

        if (snprintf(name, sizeof(name), "%s%s", to->path, ops->sides[k]) >=
            (int)sizeof(name))
            return wr_fail(err, WEIR_ELIMIT, "'%s': its name is too long",
                           to->path);
        r = ops->side(w, k, &b, err);
        if (r == 0)
            r = to->put(to->arg, name, b.bytes, b.len, err);
        free(b.bytes);
    }
    return r;
}
