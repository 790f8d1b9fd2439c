/* array_writer.c - the registry of writers of arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"

/* --- the registry of writers of arrays --- */

static const struct wr_array_writer_ops *const writers[] = {
#define ARRAY_WRITER(name, help) &wr_array_writer_##name,
#include "format/formats.def"
};

const struct wr_array_writer_ops *wr_array_writer_at(unsigned k)
{
    return k < WR_ARRAY_LEN(writers) ? writers[k] : NULL;
}

const struct wr_array_writer_ops *wr_array_writer_find(const char *name)
{
    return wr_named_ops(writers, WR_ARRAY_LEN(writers), name);
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
