/* array_sides.c - files that belong beside a file of arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "format/array_writer.h"

static int put_file(struct wr_store *store, const char *path,
                    const struct wr_bytes *b, weir_err *err)
{
    struct wr_object *o = NULL;
    int r = wr_store_change(store, WR_REMOVE, path, NULL, err), closed;

    /* One may be left of a run that was broken off. */
    if (r == 0 || r == WEIR_ENOENT)
        r = store->ops->object_open(store, path, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    if (b->len)
        r = wr_object_write(o, b->bytes, b->len, 0, err);
    closed = o->ops->close(o, /* sync= */ r == 0, r == 0 ? err : NULL);
    return r < 0 ? r : closed;
}

int wr_array_writer_put_sides(const struct wr_array_writer_ops *ops,
                              const struct wr_array_out *w,
                              struct wr_store *store, const char *path,
                              weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; ops->sides && ops->sides[k] && r == 0; k++) {
        struct wr_bytes b = {0};
        char name[4096];

        if (snprintf(name, sizeof(name), "%s%s", path, ops->sides[k]) >=
            (int)sizeof(name))
            return wr_fail(err, WEIR_ELIMIT, "'%s': its name is too long",
                           path);
        r = ops->side(w, k, &b, err);
        if (r == 0)
            r = put_file(store, name, &b, err);
        free(b.bytes);
    }
    return r;
}
