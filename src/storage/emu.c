/* emu.c - another store, as slow as a device that is emulated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * emu:PROFILE:URL, or emu:PROFILE,trace=FILE:URL (moved.h). All is done at once
 * on the store inside and handed over when the device (device.h) would have been
 * done with it, which must be later: the place inside has to be faster than the
 * device that is played. Stores of one profile and place share one device. */
#include "storage/wrap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/emu_url.h"
#include "base/error.h"
#include "storage/device.h"
#include "storage/moved.h"

struct emu_store {
    struct wr_wrap_store wrap;       /* first */
    struct wr_device *device;        /* ref: one per profile and place */
    struct wr_moved *moved;          /* owned; NULL: none */
    struct wr_clock_sleeper sleeper; /* shared by all threads */
};

struct emu_object {
    struct wr_wrap_object wrap; /* first */
    uint64_t id;
};

static struct emu_store *to_store(struct wr_store *st)
{
    return (struct emu_store *)st;
}

/* Tells objects apart: FNV-1a. */
static uint64_t path_id(const char *path)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return h;
}

/* When the device is done with what it is asked for now. */
static uint64_t due_of(struct emu_store *es, const struct wr_device_request *rq,
                       uint64_t now_ns)
{
    uint64_t due = wr_device_submit(es->device, rq, now_ns);

    if (rq->op == WR_DEVICE_READ)
        wr_moved_read(es->moved, rq->len, due);
    else if (rq->op == WR_DEVICE_WRITE)
        wr_moved_written(es->moved, rq->len, due);
    return due;
}

/* The device was asked at `since_ns` for this: waits until it is done. */
static void wait_for(struct emu_store *es, const struct wr_device_request *rq,
                     uint64_t since_ns)
{
    uint64_t due = due_of(es, rq, since_ns);

    if (due > since_ns)
        wr_clock_sleep_exactly(&es->sleeper, due);
}

/* --- the queue --- */

static bool ask_device(struct wr_store *st, struct wr_wrap_io *wio,
                       uint64_t now_ns)
{
    const struct wr_io *io = wio->outer;
    const struct emu_object *eo = (const struct emu_object *)io->object;
    struct wr_device_request rq = {
        .op = io->op == WR_IO_WRITE ? WR_DEVICE_WRITE : WR_DEVICE_READ,
        .object = eo ? eo->id : path_id(io->path ? io->path : ""),
        .offset = io->offset,
        .len = io->len,
        .opens = !eo,
    };

    wio->due.at_ns = due_of(to_store(st), &rq, now_ns);
    return true;
}

/* --- calls --- */

/* What the device is asked for by a call with that result; false: the file
 * system answers by itself, as it does when there is no more to read. */
static bool asks_device(const struct wr_wrap_call *c, int64_t result,
                        struct wr_device_request *ret)
{
    const struct emu_object *eo = (const struct emu_object *)c->o;

    switch (c->op) {
    case WR_WRAP_READ:
        *ret = (struct wr_device_request){.op = WR_DEVICE_READ,
                                          .object = eo->id,
                                          .offset = c->offset,
                                          .len = (uint64_t)result};
        return result > 0;
    case WR_WRAP_WRITE:
        *ret = (struct wr_device_request){.op = WR_DEVICE_WRITE,
                                          .object = eo->id,
                                          .offset = c->offset,
                                          .len = c->len};
        return result == 0;
    case WR_WRAP_STAT:
    case WR_WRAP_LIST:
    case WR_WRAP_OPEN:
    case WR_WRAP_RESIZE:
        ret->op = WR_DEVICE_META;
        return true;
    case WR_WRAP_CHANGE:
        ret->op = c->change == WR_SYNC_DIR ? WR_DEVICE_SYNC : WR_DEVICE_META;
        return true;
    case WR_WRAP_SYNC:
        ret->op = WR_DEVICE_SYNC;
        return true;
    case WR_WRAP_CLOSE:
        ret->op = WR_DEVICE_SYNC;
        return c->sync;
    default:
        return false;
    }
}

static int64_t emu_call(struct wr_store *st, struct wr_wrap_call *c,
                        weir_err *err)
{
    uint64_t now = wr_clock_ns();
    struct wr_device_request rq = {0};
    bool list = c->op == WR_WRAP_LIST;
    int64_t r = 0;

    if (!list)
        r = wr_wrap_do(c, err);
    if (c->op == WR_WRAP_OPEN)
        ((struct emu_object *)c->o)->id = path_id(c->path);
    if (asks_device(c, r, &rq))
        wait_for(to_store(st), &rq, now);
    /* Last: the caller's work on the entries is not the device's. */
    return list ? wr_wrap_do(c, err) : r;
}

/* Not lazy: it has the device's time to get done, no more. */
static const struct wr_wrap_hooks hooks = {
    .call = emu_call,
    .object_bytes = sizeof(struct emu_object),
    .io_bytes = sizeof(struct wr_wrap_io),
    .begin = ask_device,
};

/* --- the store --- */

static void emu_close(struct wr_store *st)
{
    struct emu_store *es = to_store(st);

    if (!es)
        return;
    wr_store_close(es->wrap.inner);
    wr_device_unref(es->device);
    wr_moved_close(es->moved);
    free(es);
}

/* Where the store inside lies: by what users mean, not by how they write it.
 * Fresh memory. */
static char *place_of(struct wr_store *inner, const char *url)
{
    char path[PATH_MAX], *real = NULL;

    if (inner->ops->local_path &&
        inner->ops->local_path(inner, "", path, sizeof(path)))
        real = realpath(path, NULL);
    return real ? real : strdup(url);
}

static int open_device(struct emu_store *es, const struct wr_device_profile *p,
                       const char *url, weir_err *err)
{
    char *place = place_of(es->wrap.inner, url);
    int r = place ? wr_device_ref(p, place, &es->device, err)
                  : wr_fail(err, WEIR_ENOMEM, "out of memory");

    free(place);
    return r;
}

static int emu_open(const char *rest, unsigned flags, struct wr_store **ret,
                    char **ret_leaf, weir_err *err)
{
    struct emu_store *es = calloc(1, sizeof(*es));
    struct wr_device_profile p;
    struct wr_emu_url url;
    char *leaf = NULL;
    int r = 0;

    if (!es)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else if (!wr_emu_url_rest(rest, &url))
        r = wr_fail(err, WEIR_EINVAL, "'emu:%s': write emu:PROFILE:PATH", rest);
    if (r == 0)
        r = wr_device_profile_find(url.profile, &p, err);
    if (r == 0 && url.trace)
        r = wr_moved_open(url.trace, &es->moved, err);
    if (r == 0)
        r = wr_store_open_with(url.inner, flags, &es->wrap.inner, &leaf, err);
    if (r == 0)
        r = open_device(es, &p, url.inner, err);
    if (r < 0) {
        free(leaf);
        emu_close(es ? &es->wrap.store : NULL);
        return r;
    }
    es->wrap.store.ops = &wr_storage_emu;
    es->wrap.hooks = &hooks;
    *ret = &es->wrap.store;
    *ret_leaf = leaf;
    return 0;
}

const struct wr_storage_ops wr_storage_emu = {
    .name = "emu",
    .help = "another store, as slow as an emulated device",
    .wraps = true,
    .open = emu_open,
    .close = emu_close,
    .stat = wr_wrap_stat,
    .list = wr_wrap_list,
    .object_open = wr_wrap_object_open,
    .change = wr_wrap_change,
    .queue_open = wr_wrap_queue_open,
    .space = wr_wrap_space,
    .forgets = wr_wrap_forgets,
    .local_path = wr_wrap_local_path,
};
