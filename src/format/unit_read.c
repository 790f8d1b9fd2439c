/* unit_read.c - all of a unit at once, outside of a pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/unit_read.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "codec/filters.h"

bool wr_unit_is_stream(const struct wr_unit *u)
{
    return u->filters == WR_FILTERS(WR_FILTER_GZIP, 0, 0, 0);
}

static int read_stored(const weir_dataset *ds, const struct wr_unit *u,
                       uint8_t *buf, weir_err *err)
{
    struct wr_store *st = ds->store;
    struct wr_object *o;
    char path[PATH_MAX];
    int r;

    if (wr_index_object_path(ds->index, u->object, path, sizeof(path)) >=
        sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "path too long");
    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = wr_object_read_fully(o, buf, u->stored, u->offset, err);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

int wr_unit_read(const weir_dataset *ds, uint64_t k, uint8_t **ret,
                 weir_err *err)
{
    const struct wr_unit *u = wr_index_unit(ds->index, k);
    const struct wr_packing packing = {.filters = u->filters,
                                       .argument = u->argument,
                                       .stored = u->stored,
                                       .inflated = u->inflated};
    uint8_t *stored = malloc(u->stored + 1);
    uint8_t *out = u->filters ? malloc(u->inflated + 1) : stored;
    int r = 0;

    if (!stored || !out)
        r = wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " bytes",
                    u->inflated);
    if (r == 0)
        r = read_stored(ds, u, stored, err);
    if (r == 0 && u->filters)
        r = wr_filters_undo(&packing, stored, out, err);
    if (out != stored)
        free(stored);
    if (r < 0) {
        free(out);
        return r;
    }
    *ret = out;
    return 0;
}
