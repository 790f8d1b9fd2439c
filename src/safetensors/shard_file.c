/* shard_file.c - the file that a shard is written into.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/shard_file.h"

#include "base/error.h"

/* A recycled file is the rule: it is looked for first. One that must not be
 * written (somebody made a hard link of it to keep it, or put a link there)
 * loses its name here, and nothing else. */
static int open_object(const struct wr_shard_at *to, struct wr_object **ret,
                       weir_err *err)
{
    const struct wr_storage_ops *ops = to->store->ops;
    weir_err why = {0};
    int r = ops->object_open(to->store, to->path, WR_OPEN_WRITE, ret, &why);

    if (r == WEIR_EACCES && ops->change)
        r = ops->change(to->store, WR_REMOVE, to->path, NULL, NULL) == 0
                ? WEIR_ENOENT
                : r;
    if (r == WEIR_ENOENT)
        return ops->object_open(to->store, to->path, WR_OPEN_CREATE, ret, err);
    return wr_fail_as(err, r, &why);
}

int wr_shard_file_open(const struct wr_shard_at *to, uint64_t size,
                       unsigned depth, struct wr_shard_file *ret, weir_err *err)
{
    struct wr_queue_config cfg = {.depth = depth, .direct = true};
    struct wr_shard_file t = {.to = to};
    int r = open_object(to, &t.object, err);

    if (r < 0)
        return r;
    if (!t.object->ops->resize || !t.object->ops->sync)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': read-only storage", to->path);
    else
        r = t.object->ops->resize(t.object, size, err);
    if (r == 0)
        r = to->store->ops->queue_open(to->store, &cfg, &t.queue, err);
    if (r < 0) {
        wr_shard_file_drop(&t);
        return r;
    }
    *ret = t;
    return 0;
}

void wr_shard_file_drop(struct wr_shard_file *t)
{
    if (t->queue)
        t->queue->ops->close(t->queue);
    if (t->object)
        t->object->ops->close(t->object, /* sync= */ false, NULL);
    t->queue = NULL;
    t->object = NULL;
}

int wr_shard_file_settle(struct wr_shard_file *t, bool *ret_again,
                         weir_err *err)
{
    struct wr_object *o = t->object;
    const struct wr_shard_at *at = t->to;
    int r = o->ops->sync(o, err);

    if (r == 0) {
        t->queue->ops->close(t->queue);
        t->queue = NULL;
        t->object = NULL;
        return o->ops->close(o, /* sync= */ false, err);
    }
    wr_shard_file_drop(t);
    *ret_again = r != WEIR_ENOSPC && at->store->ops->change &&
                 at->store->ops->change(at->store, WR_REMOVE, at->path, NULL,
                                        NULL) == 0;
    return r;
}
