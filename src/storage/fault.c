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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "storage/storage.h"

struct fault_store {
    struct wr_store store;
    struct wr_store *inner; /* owned */
    struct wr_fault_rules rules;
};

struct fault_object {
    struct wr_object object;
    struct fault_store *fs;  /* borrowed */
    struct wr_object *inner; /* owned */
    char *path;              /* owned */
    bool writes;
};

/* A request on its way: the inner store sees `inner`, the caller `outer`. */
struct fault_io {
    struct wr_io inner;
    struct wr_io *outer; /* borrowed; NULL when free */
    struct wr_fault_verdict verdict;
    void *flipped; /* owned: what is written instead; NULL */
    bool arrived;
};

struct fault_queue {
    struct wr_queue queue;
    struct fault_store *fs; /* borrowed */
    struct wr_queue *inner; /* owned */
    struct fault_io *ios;   /* owned: `depth` */
    unsigned depth, in_flight;
    unsigned inside; /* of these, inside the inner queue */
    atomic_bool hurried;
};

static struct fault_store *to_store(struct wr_store *st)
{
    return (struct fault_store *)st;
}

static struct fault_queue *to_queue(struct wr_queue *q)
{
    return (struct fault_queue *)q;
}

/* --- the queue --- */

static struct fault_io *free_io(struct fault_queue *fq)
{
    for (unsigned i = 0; i < fq->depth; i++)
        if (!fq->ios[i].outer)
            return &fq->ios[i];
    return NULL;
}

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

static void send(struct fault_queue *fq, struct wr_io *outer,
                 struct fault_io *io)
{
    const struct fault_object *fo = (const struct fault_object *)outer->object;
    bool write = outer->op == WR_IO_WRITE;
    struct wr_io *inner = &io->inner;

    io->verdict = wr_fault_judge(&fq->fs->rules,
                                 write ? WR_FAULT_WRITE : WR_FAULT_READ,
                                 fo ? fo->path : outer->path);
    io->outer = outer;
    io->inner = *outer;
    inner->object = fo ? fo->inner : NULL;
    if (write && io->verdict.cut)
        inner->len = WR_MIN(inner->len,
                            wr_fault_at(io->verdict.cut, inner->len));
    if (write && io->verdict.flip && inner->len) {
        inner->buf = io->flipped = flip_copy(inner->buf, inner->len,
                                             io->verdict.flip);
        if (!inner->buf)
            io->verdict.os_errno = ENOMEM;
    }
    io->arrived = true;
    fq->in_flight++;
    if (io->verdict.os_errno || !inner->len) {
        fail_io(inner, io->verdict.os_errno ? io->verdict.os_errno : EIO, 0);
    } else if (fq->inner->ops->submit(fq->inner, &inner, 1) == 1) {
        fq->inside++;
        io->arrived = false;
    } else { /* cannot be: the inner queue is as deep as this one */
        fail_io(inner, EAGAIN, 0);
    }
}

static unsigned fault_submit(struct wr_queue *q, struct wr_io *const *ios,
                             unsigned n)
{
    struct fault_queue *fq = to_queue(q);
    struct fault_io *io;
    unsigned taken = 0;

    while (taken < n && (io = free_io(fq)))
        send(fq, ios[taken++], io);
    return taken;
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

/* Hands a finished one to its owner. */
static struct wr_io *deliver(struct fault_queue *fq, struct fault_io *io)
{
    struct wr_io *outer = io->outer;
    struct wr_object *object = outer->object;
    size_t len = outer->len;
    void *buf = outer->buf;

    *outer = io->inner;
    outer->object = object;
    outer->len = len;
    if (outer->op == WR_IO_WRITE) {
        outer->buf = outer->data = buf;
        free(io->flipped);
        io->flipped = NULL;
    }
    if (outer->result == 0)
        spoil(outer, &io->verdict);
    io->outer = NULL;
    fq->in_flight--;
    return outer;
}

static void collect(struct fault_queue *fq, bool wait)
{
    struct wr_io *done[16];
    unsigned n = fq->inner->ops->reap(fq->inner, done, WR_ARRAY_LEN(done),
                                      wait);

    fq->inside -= n;
    for (unsigned i = 0; i < n; i++) /* `inner` is the first member */
        ((struct fault_io *)done[i])->arrived = true;
}

static unsigned hand_over(struct fault_queue *fq, struct wr_io **ret,
                          unsigned max)
{
    uint64_t now = fq->hurried ? UINT64_MAX : wr_clock_ns();
    unsigned n = 0;

    for (unsigned i = 0; i < fq->depth && n < max; i++) {
        struct fault_io *io = &fq->ios[i];

        if (io->outer && io->arrived && io->verdict.due_ns <= now)
            ret[n++] = deliver(fq, io);
    }
    return n;
}

static unsigned fault_reap(struct wr_queue *q, struct wr_io **ret, unsigned max,
                           bool wait)
{
    struct fault_queue *fq = to_queue(q);
    unsigned n;

    collect(fq, /* wait= */ false);
    n = hand_over(fq, ret, max);
    while (!n && wait && fq->in_flight) {
        /* Something held back may come due before the inner queue answers. */
        if (fq->inside == fq->in_flight)
            collect(fq, /* wait= */ true);
        else
            wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS / 4);
        collect(fq, /* wait= */ false);
        n = hand_over(fq, ret, max);
    }
    return n;
}

static void fault_hurry(struct wr_queue *q)
{
    struct fault_queue *fq = to_queue(q);

    fq->hurried = true;
    wr_queue_hurry(fq->inner);
}

static void fault_queue_close(struct wr_queue *q)
{
    struct fault_queue *fq = to_queue(q);

    fq->inner->ops->close(fq->inner);
    for (unsigned i = 0; i < fq->depth; i++)
        free(fq->ios[i].flipped);
    free(fq->ios);
    free(fq);
}

static const struct wr_queue_ops fault_queue_ops = {
    .submit = fault_submit,
    .reap = fault_reap,
    .hurry = fault_hurry,
    .close = fault_queue_close,
};

static int fault_queue_open(struct wr_store *st,
                            const struct wr_queue_config *cfg,
                            struct wr_queue **ret, weir_err *err)
{
    struct fault_store *fs = to_store(st);
    struct fault_queue *fq = calloc(1, sizeof(*fq));
    int r;

    if (!fq)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fq->ios = calloc(cfg->depth, sizeof(*fq->ios));
    r = fq->ios ? fs->inner->ops->queue_open(fs->inner, cfg, &fq->inner, err)
                : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        free(fq->ios);
        free(fq);
        return r;
    }
    fq->queue.ops = &fault_queue_ops;
    fq->queue.engine = fq->inner->engine;
    fq->fs = fs;
    fq->depth = cfg->depth;
    *ret = &fq->queue;
    return 0;
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
    n = fo->inner->ops->read(fo->inner, buf, len, offset, err);
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
    struct wr_fault_verdict v = {0};
    void *flipped = NULL;
    size_t part = len;
    int r = 0;

    if (!fo->inner->ops->write)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    v = judge(fo, WR_FAULT_WRITE);
    if (!v.os_errno && v.cut && wr_fault_at(v.cut, len) < len) {
        part = wr_fault_at(v.cut, len);
        v.os_errno = EIO;
    } else if (v.os_errno) {
        part = 0;
    }
    if (part && v.flip && !(buf = flipped = flip_copy(buf, part, v.flip)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (part)
        r = fo->inner->ops->write(fo->inner, buf, part, offset, err);
    free(flipped);
    if (r == 0 && v.os_errno)
        r = wr_fail_errno(err, v.os_errno, "'%s': cannot write", fo->path);
    return r;
}

static int fault_object_sync(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r;

    if (!fo->inner->ops->sync)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = refuse(fo->fs, WR_FAULT_SYNC, fo->path, "sync", err);
    return r < 0 ? r : fo->inner->ops->sync(fo->inner, err);
}

static int fault_object_lock(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r;

    if (!fo->inner->ops->lock)
        return wr_fail(err, WEIR_ENOTSUP, "storage without locks");
    r = refuse(fo->fs, WR_FAULT_LOCK, fo->path, "lock", err);
    return r < 0 ? r : fo->inner->ops->lock(fo->inner, err);
}

static int fault_object_locked(struct wr_object *o, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    struct wr_object *inner = fo->inner;

    if (!inner->ops->locked)
        return wr_fail(err, WEIR_ENOTSUP, "storage without locks");
    wr_fault_hang(&fo->fs->rules, fo->path);
    return inner->ops->locked(inner, err);
}

static int fault_object_resize(struct wr_object *o, uint64_t size,
                               weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r;

    if (!fo->inner->ops->resize)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = refuse(fo->fs, WR_FAULT_RESIZE, fo->path, "resize", err);
    return r < 0 ? r : fo->inner->ops->resize(fo->inner, size, err);
}

static int fault_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct fault_object *fo = to_object(o);
    int r = 0, inner;

    if (sync)
        r = refuse(fo->fs, WR_FAULT_SYNC, fo->path, "sync", err);
    inner = fo->inner->ops->close(fo->inner, sync && r == 0,
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
    struct fault_object *fo = calloc(1, sizeof(*fo));
    int r;

    if (!fo || !(fo->path = strdup(path))) {
        free(fo);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    fo->object.ops = &fault_object_ops;
    fo->fs = fs;
    fo->writes = mode != WR_OPEN_READ;
    r = mode == WR_OPEN_CREATE
            ? refuse(fs, WR_FAULT_CREATE, path, "create", err)
            : refuse(fs, WR_FAULT_OPEN, path, "open", err);
    if (r == 0)
        r = fs->inner->ops->object_open(fs->inner, path, mode, &fo->inner, err);
    if (r < 0) {
        free(fo->path);
        free(fo);
        return r;
    }
    *ret = &fo->object;
    return 0;
}

/* --- the store: all else passes through --- */

static void fault_close(struct wr_store *st)
{
    struct fault_store *fs = to_store(st);

    if (!fs)
        return;
    wr_store_close(fs->inner);
    wr_fault_done(&fs->rules);
    free(fs);
}

static int fault_open(const char *rest, unsigned flags, struct wr_store **ret,
                      char **ret_leaf, weir_err *err)
{
    const char *colon = strchr(rest, ':');
    struct fault_store *fs;
    char *spec;
    int r;

    if (!colon)
        return wr_fail(err, WEIR_EINVAL, "'fault:%s': write fault:RULES:PATH",
                       rest);
    fs = calloc(1, sizeof(*fs));
    spec = strndup(rest, (size_t)(colon - rest));
    if (!fs || !spec)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = wr_fault_parse(&fs->rules, spec, err);
    free(spec);
    if (r == 0)
        r = wr_store_open_with(colon + 1, flags, &fs->inner, ret_leaf, err);
    if (r < 0) {
        fault_close(fs ? &fs->store : NULL);
        return r;
    }
    fs->store.ops = &wr_storage_fault;
    *ret = &fs->store;
    return 0;
}

static int fault_stat(struct wr_store *st, const char *path,
                      struct wr_stat *ret, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;
    int r = refuse(to_store(st), WR_FAULT_STAT, path, "stat", err);

    return r < 0 ? r : inner->ops->stat(inner, path, ret, err);
}

static int fault_list(struct wr_store *st, const char *path, wr_list_fn fn,
                      void *arg, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;
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
        [WR_REMOVE] = {WR_FAULT_REMOVE, "remove"},
        [WR_RENAME] = {WR_FAULT_RENAME, "rename"},
        [WR_RENAME_NEW] = {WR_FAULT_RENAME, "rename"},
        [WR_SYNC_DIR] = {WR_FAULT_SYNC_DIR, "sync folder"},
    };
    struct fault_store *fs = to_store(st);
    struct wr_store *inner = fs->inner;
    struct wr_fault_verdict v;
    int r = 0;

    if (!inner->ops->change)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    v = wr_fault_judge(&fs->rules, kinds[what].on, path);
    if (!v.os_errno || v.late)
        r = inner->ops->change(inner, what, path, to, err);
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
    struct wr_store *inner = to_store(st)->inner;

    if (!inner->ops->space)
        return wr_fail(err, WEIR_ENOTSUP, "free space is not known");
    wr_fault_hang(&to_store(st)->rules, "");
    return inner->ops->space(inner, ret_bytes, err);
}

static bool fault_forgets(struct wr_store *st)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->forgets && inner->ops->forgets(inner);
}

static bool fault_local_path(struct wr_store *st, const char *path, char *buf,
                             size_t cap)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->local_path &&
           inner->ops->local_path(inner, path, buf, cap);
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
    .forgets = fault_forgets,
    .local_path = fault_local_path,
};
