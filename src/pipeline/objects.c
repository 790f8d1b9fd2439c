/* objects.c - objects that hold many samples, opened once and kept open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/objects.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/shares.h"

#define EACH 2u /* descriptors of an object that is open */

int wr_objects_init(struct wr_objects *o, const weir_dataset *ds, bool cached,
                    weir_err *err)
{
    *o = (struct wr_objects){.ds = ds};
    pthread_mutex_init(&o->lock, NULL);
    if (cached) {
        o->looked = calloc(wr_index_object_count(ds->index),
                           sizeof(*o->looked));
        if (!o->looked)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    /* Where every sample is an object of its own, nothing is kept open. */
    if (wr_index_object_count(ds->index) == wr_index_count(ds->index))
        return 0;
    o->count = wr_index_object_count(ds->index);
    o->open = calloc(o->count, sizeof(struct wr_object *));
    if (!o->open)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

void wr_objects_done(struct wr_objects *o)
{
    for (uint64_t i = 0; o->open && i < o->count; i++)
        if (o->open[i]) {
            o->open[i]->ops->close(o->open[i], /* sync= */ false, NULL);
            wr_share_give(WR_SHARE_FILES, EACH);
        }
    free(o->open);
    free(o->looked);
    pthread_mutex_destroy(&o->lock);
}

enum { NOT_YET, SAME, OTHER };

bool wr_objects_same(struct wr_objects *o, uint64_t object, const char *path)
{
    struct wr_store *st = o->ds->store;
    uint64_t indexed = wr_index_object_identity(o->ds->index, object);
    struct wr_stat sb;

    if (!indexed) /* nothing is known to compare */
        return true;
    if (o->looked[object] == NOT_YET)
        o->looked[object] = st->ops->stat(st, path, &sb, NULL) == 0 &&
                                    sb.identity == indexed
                                ? SAME
                                : OTHER;
    return o->looked[object] == SAME;
}

/* Opens it to be kept, while the process has descriptors for that. */
static void keep(struct wr_objects *o, uint64_t object, const char *path)
{
    struct wr_store *st = o->ds->store;
    int r;

    if (o->full || !wr_share_take(WR_SHARE_FILES, EACH))
        return;
    r = st->ops->object_open(st, path, WR_OPEN_READ, &o->open[object], NULL);
    if (r == 0)
        return;
    wr_share_give(WR_SHARE_FILES, EACH);
    o->full = wr_err_is_lack(r); /* they are needed elsewhere */
}

struct wr_object *wr_objects_get(struct wr_objects *o, uint64_t object,
                                 const char *path)
{
    struct wr_object *found;

    if (!o->open)
        return NULL;
    pthread_mutex_lock(&o->lock);
    if (!o->open[object])
        keep(o, object, path);
    found = o->open[object];
    pthread_mutex_unlock(&o->lock);
    return found;
}
