/* shard_write.c - writes an image while it is being filled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The writer follows the copy, a chunk behind it: a chunk that is there goes to
 * the queue, and its checksum is computed while it is under way. */
#include "safetensors/shard_write.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/crc32c.h"
#include "safetensors/shard.h"

/* --- the file that a shard is written into --- */

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

/* Chunks in flight. Chosen, not tuned: more than keep a disk busy, so that this
 * thread may wait for a core now and then. */
#define DEPTH 16u

struct writer {
    const struct wr_shard_at *to;
    struct wr_image *img;
    uint64_t size, data_offset;
    uint32_t *crcs; /* owned */
    size_t chunks;
    bool summed; /* the checksums are there */

    struct wr_shard_file out;
    struct wr_io ios[DEPTH];
    struct wr_io *free[DEPTH];
    unsigned free_count;
};

/* Takes back what is done; with `all` until nothing is in flight. */
static int reap(struct writer *w, bool wait, bool all, weir_err *err)
{
    struct wr_queue *q = w->out.queue;
    struct wr_io *done[DEPTH];
    int r = 0;

    do {
        unsigned n = w->free_count < DEPTH ? q->ops->reap(q, done, DEPTH, wait)
                                           : 0;

        for (unsigned i = 0; i < n; i++) {
            w->free[w->free_count++] = done[i];
            if (done[i]->result < 0 && r == 0)
                r = wr_io_error(done[i], w->to->path, err);
        }
    } while (r == 0 && all && w->free_count < DEPTH);
    return r;
}

static int put(struct writer *w, uint64_t offset, const uint8_t *bytes,
               uint64_t len, weir_err *err)
{
    struct wr_queue *q = w->out.queue;
    struct wr_io *io;
    int r = 0;

    while (r == 0 && !w->free_count)
        r = reap(w, /* wait= */ true, /* all= */ false, err);
    if (r < 0)
        return r;
    io = w->free[--w->free_count];
    *io = (struct wr_io){.op = WR_IO_WRITE,
                         .object = w->out.object,
                         .offset = offset,
                         .len = (size_t)len,
                         .buf = (void *)(uintptr_t)bytes, /* only read */
                         .cap = (size_t)len};
    if (q->ops->submit(q, &io, 1) != 1)
        return wr_fail(err, WEIR_EIO, "'%s': the queue takes no write",
                       w->to->path);
    return 0;
}

/* What lies in one in memory; the end that fills no block goes by itself. */
static int put_part(struct writer *w, uint64_t offset, const uint8_t *bytes,
                    uint64_t len, weir_err *err)
{
    uint64_t whole = len & ~(uint64_t)(WR_DIRECT_ALIGN - 1);
    int r = 0;

    if (whole)
        r = put(w, offset, bytes, whole, err);
    if (r == 0 && len > whole)
        r = put(w, offset + whole, bytes + whole, len - whole, err);
    return r;
}

/* A range of the file; *crc, if any, is continued over it while it is under
 * way. */
static int put_range(struct writer *w, uint64_t begin, uint64_t end,
                     uint32_t *crc, weir_err *err)
{
    int r = 0;

    for (uint64_t at = begin, n; r == 0 && at < end; at += n) {
        const uint8_t *bytes;

        n = end - at;
        bytes = wr_image_part(w->img, at, &n);
        r = put_part(w, at, bytes, n, err);
        if (r == 0 && crc)
            *crc = wr_crc32c(*crc, bytes, (size_t)n);
    }
    return r;
}

static int write_data(struct writer *w, weir_err *err)
{
    for (size_t k = 0; k < w->chunks; k++) {
        uint64_t begin = w->data_offset + (uint64_t)k * WR_CHUNK;
        uint64_t end = WR_MIN(begin + WR_CHUNK, w->size);
        int r;

        wr_image_wait(w->img, end - w->data_offset);
        r = put_range(w, begin, end, w->summed ? NULL : &w->crcs[k], err);
        if (r < 0)
            return r;
        r = reap(w, /* wait= */ false, /* all= */ false, err);
        if (r < 0)
            return r;
    }
    return reap(w, /* wait= */ true, /* all= */ true, err);
}

/* The whole file into an open one. */
static int write_all(struct writer *w, weir_err *err)
{
    uint64_t at = 0;
    int r = write_data(w, err);

    if (r == 0 && !w->summed)
        r = wr_image_finish(w->img, w->crcs, w->chunks, err);
    if (r < 0)
        return r;
    w->summed = true;
    for (; r == 0 && at < w->data_offset; at += WR_CHUNK)
        r = put_range(w, at, WR_MIN(at + WR_CHUNK, w->data_offset), NULL, err);
    return r < 0 ? r : reap(w, /* wait= */ true, /* all= */ true, err);
}

static int write_file(struct writer *w, bool *ret_again, weir_err *err)
{
    int r = wr_shard_file_open(w->to, w->size, DEPTH, &w->out, err);

    if (r < 0)
        return r;
    for (w->free_count = 0; w->free_count < DEPTH; w->free_count++)
        w->free[w->free_count] = &w->ios[w->free_count];
    r = write_all(w, err);
    if (r < 0) {
        wr_shard_file_drop(&w->out);
        return r;
    }
    return wr_shard_file_settle(&w->out, ret_again, err);
}

int wr_shard_write(const struct wr_shard_at *to, struct wr_image *img,
                   struct wr_st_shard *ret, uint64_t *ret_retried,
                   weir_err *err)
{
    struct writer w = {
        .to = to,
        .img = img,
        .size = wr_image_size(img),
        .data_offset = wr_image_data_offset(img),
    };
    bool again = false;
    int r;

    w.chunks = (size_t)((w.size - w.data_offset + WR_CHUNK - 1) / WR_CHUNK);
    w.crcs = calloc(w.chunks + 1, sizeof(*w.crcs));
    if (!w.crcs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = write_file(&w, &again, err);
    if (r < 0 && again) {
        if (ret_retried)
            ++*ret_retried;
        r = write_file(&w, &again, err);
    }
    if (r < 0) {
        free(w.crcs);
        return r;
    }
    ret->size = w.size;
    ret->data_offset = w.data_offset;
    ret->head_crc = wr_crc32c(0, wr_image_bytes(img), (size_t)w.data_offset);
    ret->crcs = w.crcs;
    return 0;
}
