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
    struct emu_store *es;       /* borrowed */
    uint64_t id;
};

static struct emu_store *to_store(struct wr_store *st)
{
    return (struct emu_store *)st;
}

static struct emu_object *to_object(struct wr_object *o)
{
    return (struct emu_object *)o;
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

static void wait_for_op(struct emu_store *es, enum wr_device_op op,
                        uint64_t since_ns)
{
    wait_for(es, &(struct wr_device_request){.op = op}, since_ns);
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

/* Not lazy: it has the device's time to get done, no more. */
static const struct wr_wrap_hooks hooks = {
    .io_bytes = sizeof(struct wr_wrap_io),
    .begin = ask_device,
};

static int emu_queue_open(struct wr_store *st,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    return wr_wrap_queue_open(st, cfg, &hooks, ret, err);
}

/* --- objects --- */

static int64_t emu_object_read(struct wr_object *o, void *buf, size_t len,
                               uint64_t offset, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int64_t n = eo->wrap.inner->ops->read(eo->wrap.inner, buf, len, offset,
                                          err);

    /* A device moves what is there; that there is no more, the file system
     * knows without asking. */
    if (n > 0)
        wait_for(eo->es,
                 &(struct wr_device_request){.op = WR_DEVICE_READ,
                                             .object = eo->id,
                                             .offset = offset,
                                             .len = (uint64_t)n},
                 now);
    return n;
}

static int emu_object_write(struct wr_object *o, const void *buf, size_t len,
                            uint64_t offset, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r = wr_object_write(eo->wrap.inner, buf, len, offset, err);

    if (r == 0)
        wait_for(eo->es,
                 &(struct wr_device_request){.op = WR_DEVICE_WRITE,
                                             .object = eo->id,
                                             .offset = offset,
                                             .len = len},
                 now);
    return r;
}

static int emu_object_sync(struct wr_object *o, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r = wr_object_sync(eo->wrap.inner, err);

    wait_for_op(eo->es, WR_DEVICE_SYNC, now);
    return r;
}

/* The file system's, not the device's. */
static int emu_object_lock(struct wr_object *o, weir_err *err)
{
    return wr_object_lock(to_object(o)->wrap.inner, err);
}

static int emu_object_locked(struct wr_object *o, weir_err *err)
{
    return wr_object_locked(to_object(o)->wrap.inner, err);
}

static int emu_object_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r = wr_object_resize(eo->wrap.inner, size, err);

    wait_for_op(eo->es, WR_DEVICE_META, now);
    return r;
}

static int emu_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r = eo->wrap.inner->ops->close(eo->wrap.inner, sync, err);

    if (sync)
        wait_for_op(eo->es, WR_DEVICE_SYNC, now);
    free(eo);
    return r;
}

static const struct wr_object_ops emu_object_ops = {
    .read = emu_object_read,
    .write = emu_object_write,
    .sync = emu_object_sync,
    .lock = emu_object_lock,
    .locked = emu_object_locked,
    .resize = emu_object_resize,
    .close = emu_object_close,
};

static int emu_object_open(struct wr_store *st, const char *path,
                           enum wr_open_mode mode, struct wr_object **ret,
                           weir_err *err)
{
    struct emu_store *es = to_store(st);
    struct wr_store *inner = es->wrap.inner;
    struct emu_object *eo = calloc(1, sizeof(*eo));
    uint64_t now = wr_clock_ns();
    int r;

    if (!eo)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    eo->wrap.object.ops = &emu_object_ops;
    eo->es = es;
    eo->id = path_id(path);
    r = inner->ops->object_open(inner, path, mode, &eo->wrap.inner, err);
    wait_for_op(es, WR_DEVICE_META, now);
    if (r < 0) {
        free(eo);
        return r;
    }
    *ret = &eo->wrap.object;
    return 0;
}

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

/* `what` is what stands between "emu:" and the colon: a profile, and where its
 * trace goes. Cuts it; *ret_trace is borrowed from it. */
static int parse_what(char *what, struct wr_device_profile *ret,
                      const char **ret_trace, weir_err *err)
{
    char *trace = strstr(what, ",trace=");

    if (trace) {
        *trace = '\0';
        *ret_trace = trace + strlen(",trace=");
    }
    return wr_device_profile_find(what, ret, err);
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
    const char *url = NULL, *trace = NULL;
    char *what = NULL, *leaf = NULL;
    struct wr_device_profile p;
    int r = es ? wr_wrap_split(rest, "emu:PROFILE:PATH", &what, &url, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0)
        r = parse_what(what, &p, &trace, err);
    if (r == 0 && trace)
        r = wr_moved_open(trace, &es->moved, err);
    free(what);
    if (r == 0)
        r = wr_store_open_with(url, flags, &es->wrap.inner, &leaf, err);
    if (r == 0)
        r = open_device(es, &p, url, err);
    if (r < 0) {
        free(leaf);
        emu_close(es ? &es->wrap.store : NULL);
        return r;
    }
    es->wrap.store.ops = &wr_storage_emu;
    *ret = &es->wrap.store;
    *ret_leaf = leaf;
    return 0;
}

static int emu_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    struct emu_store *es = to_store(st);
    uint64_t now = wr_clock_ns();
    int r = es->wrap.inner->ops->stat(es->wrap.inner, path, ret, err);

    wait_for_op(es, WR_DEVICE_META, now);
    return r;
}

static int emu_list(struct wr_store *st, const char *path, wr_list_fn fn,
                    void *arg, weir_err *err)
{
    struct wr_store *inner = to_store(st)->wrap.inner;

    /* Before: the caller's work on the entries is not the device's. */
    wait_for_op(to_store(st), WR_DEVICE_META, wr_clock_ns());
    return inner->ops->list(inner, path, fn, arg, err);
}

static int emu_change(struct wr_store *st, enum wr_change what,
                      const char *path, const char *to, weir_err *err)
{
    struct emu_store *es = to_store(st);
    uint64_t now = wr_clock_ns();
    int r = wr_store_change(es->wrap.inner, what, path, to, err);

    wait_for_op(es, what == WR_SYNC_DIR ? WR_DEVICE_SYNC : WR_DEVICE_META, now);
    return r;
}

static int emu_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    return wr_store_space(to_store(st)->wrap.inner, ret_bytes, err);
}

const struct wr_storage_ops wr_storage_emu = {
    .name = "emu",
    .help = "another store, as slow as an emulated device",
    .wraps = true,
    .open = emu_open,
    .close = emu_close,
    .stat = emu_stat,
    .list = emu_list,
    .object_open = emu_object_open,
    .change = emu_change,
    .queue_open = emu_queue_open,
    .space = emu_space,
    .forgets = wr_wrap_forgets,
    .local_path = wr_wrap_local_path,
};
