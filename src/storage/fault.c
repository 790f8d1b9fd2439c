/* fault.c - a store that fails on command, around any other one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * fault:RULE[,RULE...]:URL. A rule is WHAT[=VALUE][@WHEN], for reads
 *   eio, enoent, eacces, emfile, enomem    the read fails so
 *   short[=BYTES]            only BYTES (default: half of them) are there
 *   flip[=OFFSET]            one bit is wrong
 *   delay=MS                 the answer comes that much later
 * for writes
 *   write-eio, write-enospc  the write fails so, nothing of it is done
 *   write-short[=BYTES]      BYTES (default: half of them) are written, then it
 *                            fails with an I/O error
 *   write-flip[=OFFSET]      one bit is written wrong
 *   write-delay=MS           the answer comes that much later
 * for syncs of files, those of a close included,
 *   sync-eio, sync-enospc    the sync fails so
 * and for what is done with names and files,
 *   open-eio, open-emfile    opening what exists
 *   create-eio, create-enospc, resize-eio, resize-enospc, lock-eio
 *   close-eio                closing a file that was open for writing; it is
 *                            closed
 *   stat-eio, stat-enomem, list-eio, list-emfile
 *   mkdir-eio, mkdir-enospc, remove-eio, rename-eio, rename-enospc, syncdir-eio
 *   rename-late-eio          the name is changed, and an error returned
 * For requests of any kind
 *   hang=FILE                they do not return while FILE is there
 * WHEN is counted from 1, over all requests of that kind in the store:
 *   N, N+, %N                number N; every one from N on; every N-th
 *   ~TEXT                    those of paths that contain TEXT
 * Without WHEN the rule holds for all of them. */
#include "storage/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "storage/wrap.h"

struct fault_store {
    struct wr_wrap_store wrap; /* first */
    struct wr_fault_rules rules;
};

struct fault_object {
    struct wr_wrap_object wrap; /* first */
    struct fault_store *fs;     /* borrowed */
    char *path;                 /* owned */
    bool writes;
};

struct fault_io {
    struct wr_wrap_io wrap; /* first */
    struct wr_fault_verdict verdict;
    void *flipped; /* owned: what is written instead; NULL */
};

static struct fault_store *to_store(struct wr_store *st)
{
    return (struct fault_store *)st;
}

/* --- the queue --- */

static void fail_io(struct wr_io *io, int os_errno, size_t got)
{
    io->os_errno = os_errno;
    io->result = wr_error_from_errno(os_errno);
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE
               : os_errno == EIO     ? WR_STEP_READ
                                     : WR_STEP_OPEN;
    io->got = got;
    io->data = io->buf;
}

/* The bytes with one bit wrong, in fresh memory; NULL when that is short. The
 * caller's own are left alone: others may read them. */
static void *flip_copy(const void *buf, size_t len,
                       const struct wr_fault_rule *flip)
{
    uint8_t *copy = aligned_alloc(WR_DIRECT_ALIGN,
                                  WR_ALIGN_UP(len, (size_t)WR_DIRECT_ALIGN));

    if (!copy)
        return NULL;
    memcpy(copy, buf, len);
    copy[wr_fault_at(flip, len) % len] ^= 0x40;
    return copy;
}

/* What the rules say before the store inside is asked. */
static bool begin(struct wr_store *st, struct wr_wrap_io *wio, uint64_t now_ns)
{
    struct fault_io *io = (struct fault_io *)wio;
    const struct wr_io *outer = wio->outer;
    const struct fault_object *fo = (const struct fault_object *)outer->object;
    struct wr_io *inner = &wio->inner;
    bool write = outer->op == WR_IO_WRITE;

    (void)now_ns;
    io->verdict = wr_fault_judge(&to_store(st)->rules,
                                 write ? WR_FAULT_WRITE : WR_FAULT_READ,
                                 fo ? fo->path : outer->path);
    wio->due.at_ns = io->verdict.due_ns;
    if (write && io->verdict.cut)
        inner->len = WR_MIN(inner->len,
                            wr_fault_at(io->verdict.cut, inner->len));
    if (write && io->verdict.flip && inner->len) {
        inner->buf = io->flipped = flip_copy(inner->buf, inner->len,
                                             io->verdict.flip);
        if (!inner->buf)
            io->verdict.os_errno = ENOMEM;
    }
    if (!io->verdict.os_errno && inner->len)
        return true;
    fail_io(inner, io->verdict.os_errno ? io->verdict.os_errno : EIO, 0);
    return false;
}

/* Does to a good read or write what the rules say. */
static void spoil(struct wr_io *io, const struct wr_fault_verdict *v)
{
    if (io->op == WR_IO_WRITE) {
        if (io->got < io->len)
            fail_io(io, EIO, io->got);
        return;
    }
    if (v->cut && wr_fault_at(v->cut, io->len) < io->len) {
        io->got = wr_fault_at(v->cut, io->len);
        io->result = WEIR_ECHANGED;
    } else if (v->flip) {
        io->data[wr_fault_at(v->flip, io->len) % io->len] ^= 0x40;
    }
}

static void end(struct wr_wrap_io *wio)
{
    struct fault_io *io = (struct fault_io *)wio;

    if (wio->outer->op == WR_IO_WRITE)
        wio->outer->data = wio->outer->buf;
    free(io->flipped);
    io->flipped = NULL;
    if (wio->outer->result == 0)
        spoil(wio->outer, &io->verdict);
}

static const struct wr_wrap_hooks hooks = {
    .io_bytes = sizeof(struct fault_io),
    .lazy = true,
    .begin = begin,
    .end = end,
};

static int fault_queue_open(struct wr_store *st,
                            const struct wr_queue_config *cfg,
                            struct wr_queue **ret, weir_err *err)
{
    return wr_wrap_queue_open(st, cfg, &hooks, ret, err);
}

/* --- objects --- */

static struct fault_object *to_object(struct wr_object *o)
{
    return (struct fault_object *)o;
}

static struct wr_fault_verdict judge(struct fault_object *fo,
                                     enum wr_fault_on on)
{
    struct wr_fault_verdict v = wr_fault_judge(&fo->fs->rules, on, fo->path);

    if (v.due_ns)
        wr_clock_sleep_until(v.due_ns);
    return v;
}

/* For what fails as a whole or not at all. */
static int refuse(struct fault_store *fs, enum wr_fault_on on, const char *path,
                  const char *verb, weir_err *err)
{
    struct wr_fault_verdict v = wr_fault_judge(&fs->rules, on, path);

    if (!v.os_errno)
        return 0;
    return wr_fail_errno(err, v.os_errno, "'%s': cannot %s", *path ? path : ".",
                         verb);
}

static int64_t fault_object_read(struct wr_object *o, void *buf, size_t len,
                                 uint64_t offset, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    struct wr_fault_verdict v = judge(fo, WR_FAULT_READ);
    int64_t n;

    if (v.os_errno)
        return wr_fail_errno(err, v.os_errno, "'%s': cannot read", fo->path);
    n = fo->wrap.inner->ops->read(fo->wrap.inner, buf, len, offset, err);
    if (n > 0 && v.cut)
        n = WR_MIN(n, (int64_t)wr_fault_at(v.cut, (uint64_t)n));
    if (n > 0 && v.flip)
        ((uint8_t *)buf)[wr_fault_at(v.flip, (uint64_t)n) % (uint64_t)n] ^=
            0x40;
    return n;
}

static int fault_object_write(struct wr_object *o, const void *buf, size_t len,
                              uint64_t offset, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    struct wr_fault_verdict v = judge(fo, WR_FAULT_WRITE);
    void *flipped = NULL;
    size_t part = len;
    int r = 0;

    if (!v.os_errno && v.cut && wr_fault_at(v.cut, len) < len) {
        part = wr_fault_at(v.cut, len);
        v.os_errno = EIO;
    } else if (v.os_errno) {
        part = 0;
    }
    if (part && v.flip && !(buf = flipped = flip_copy(buf, part, v.flip)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (part)
        r = wr_object_write(fo->wrap.inner, buf, part, offset, err);
    free(flipped);
    if (r == 0 && v.os_errno)
        r = wr_fail_errno(err, v.os_errno, "'%s': cannot write", fo->path);
    return r;
}

static int fault_object_sync(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r = refuse(fo->fs, WR_FAULT_SYNC, fo->path, "sync", err);

    return r < 0 ? r : wr_object_sync(fo->wrap.inner, err);
}

static int fault_object_lock(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r = refuse(fo->fs, WR_FAULT_LOCK, fo->path, "lock", err);

    return r < 0 ? r : wr_object_lock(fo->wrap.inner, err);
}

static int fault_object_locked(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);

    wr_fault_hang(&fo->fs->rules, fo->path);
    return wr_object_locked(fo->wrap.inner, err);
}

static int fault_object_resize(struct wr_object *o, uint64_t size,
                               weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r = refuse(fo->fs, WR_FAULT_RESIZE, fo->path, "resize", err);

    return r < 0 ? r : wr_object_resize(fo->wrap.inner, size, err);
}

static int fault_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r = 0, inner;

    if (sync)
        r = refuse(fo->fs, WR_FAULT_SYNC, fo->path, "sync", err);
    inner = fo->wrap.inner->ops->close(fo->wrap.inner, sync && r == 0,
                                       r == 0 ? err : NULL);
    r = r < 0 ? r : inner;
    if (fo->writes && r == 0)
        r = refuse(fo->fs, WR_FAULT_CLOSE, fo->path, "close", err);
    free(fo->path);
    free(fo);
    return r;
}

static const struct wr_object_ops fault_object_ops = {
    .read = fault_object_read,
    .write = fault_object_write,
    .sync = fault_object_sync,
    .lock = fault_object_lock,
    .locked = fault_object_locked,
    .resize = fault_object_resize,
    .close = fault_object_close,
};

static int fault_object_open(struct wr_store *st, const char *path,
                             enum wr_open_mode mode, struct wr_object **ret,
                             weir_err *err)
{
    struct fault_store *fs = to_store(st);
    struct wr_store *inner = fs->wrap.inner;
    struct fault_object *fo = calloc(1, sizeof(*fo));
    int r;

    if (!fo || !(fo->path = strdup(path))) {
        free(fo);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    fo->wrap.object.ops = &fault_object_ops;
    fo->fs = fs;
    fo->writes = mode != WR_OPEN_READ;
    r = mode == WR_OPEN_CREATE
            ? refuse(fs, WR_FAULT_CREATE, path, "create", err)
            : refuse(fs, WR_FAULT_OPEN, path, "open", err);
    if (r == 0)
        r = inner->ops->object_open(inner, path, mode, &fo->wrap.inner, err);
    if (r < 0) {
        free(fo->path);
        free(fo);
        return r;
    }
    *ret = &fo->wrap.object;
    return 0;
}

/* --- the store: all else passes through --- */

static void fault_close(struct wr_store *st)
{
    struct fault_store *fs = to_store(st);

    if (!fs)
        return;
    wr_store_close(fs->wrap.inner);
    wr_fault_done(&fs->rules);
    free(fs);
}

static int fault_open(const char *rest, unsigned flags, struct wr_store **ret,
                      char **ret_leaf, weir_err *err)
{
    struct fault_store *fs = calloc(1, sizeof(*fs));
    const char *url = NULL;
    char *spec = NULL;
    int r = fs ? wr_wrap_split(rest, "fault:RULES:PATH", &spec, &url, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0)
        r = wr_fault_parse(&fs->rules, spec, err);
    free(spec);
    if (r == 0)
        r = wr_store_open_with(url, flags, &fs->wrap.inner, ret_leaf, err);
    if (r < 0) {
        fault_close(fs ? &fs->wrap.store : NULL);
        return r;
    }
    fs->wrap.store.ops = &wr_storage_fault;
    *ret = &fs->wrap.store;
    return 0;
}

static int fault_stat(struct wr_store *st, const char *path,
                      struct wr_stat *ret, weir_err *err)
{
    struct wr_store *inner = to_store(st)->wrap.inner;
    int r = refuse(to_store(st), WR_FAULT_STAT, path, "stat", err);

    return r < 0 ? r : inner->ops->stat(inner, path, ret, err);
}

static int fault_list(struct wr_store *st, const char *path, wr_list_fn fn,
                      void *arg, weir_err *err)
{
    struct wr_store *inner = to_store(st)->wrap.inner;
    int r = refuse(to_store(st), WR_FAULT_LIST, path, "list", err);

    return r < 0 ? r : inner->ops->list(inner, path, fn, arg, err);
}

static int fault_change(struct wr_store *st, enum wr_change what,
                        const char *path, const char *to, weir_err *err)
{
    static const struct {
        enum wr_fault_on on;
        const char *verb;
    } kinds[] = {
        [WR_MKDIR] = {WR_FAULT_MKDIR, "create folder"},
        [WR_MKDIR_PRIVATE] = {WR_FAULT_MKDIR, "create folder"},
        [WR_SHARE] = {WR_FAULT_MKDIR, "change the mode of folder"},
        [WR_REMOVE] = {WR_FAULT_REMOVE, "remove"},
        [WR_RENAME] = {WR_FAULT_RENAME, "rename"},
        [WR_RENAME_NEW] = {WR_FAULT_RENAME, "rename"},
        [WR_SWAP] = {WR_FAULT_RENAME, "swap"},
        [WR_SYNC_DIR] = {WR_FAULT_SYNC_DIR, "sync folder"},
    };
    struct fault_store *fs = to_store(st);
    struct wr_fault_verdict v = wr_fault_judge(&fs->rules, kinds[what].on,
                                               path);
    int r = 0;

    if (!v.os_errno || v.late)
        r = wr_store_change(fs->wrap.inner, what, path, to, err);
    if (r == 0 && v.os_errno)
        r = wr_fail_errno(err, v.os_errno, "'%s': cannot %s",
                          *path ? path : ".", kinds[what].verb);
    return r;
}

uint64_t wr_fault_seen(struct wr_store *st, enum wr_fault_on on)
{
    return to_store(st)->rules.seen[on];
}

static int fault_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    wr_fault_hang(&to_store(st)->rules, "");
    return wr_store_space(to_store(st)->wrap.inner, ret_bytes, err);
}

const struct wr_storage_ops wr_storage_fault = {
    .name = "fault",
    .help = "another store with scripted errors, short reads and delays",
    .wraps = true,
    .open = fault_open,
    .close = fault_close,
    .stat = fault_stat,
    .list = fault_list,
    .object_open = fault_object_open,
    .change = fault_change,
    .queue_open = fault_queue_open,
    .space = fault_space,
    .forgets = wr_wrap_forgets,
    .local_path = wr_wrap_local_path,
};
