/* record_store.c - a store that writes down what is done to it, and can fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record_store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define ID_DIGITS   32
#define STEP_DIGITS 12
#define WRITER      strlen(".writer-")
#define WORK        (WRITER + STEP_DIGITS + 1 + ID_DIGITS)

struct record_store {
    struct wr_store store;
    struct wr_store *inner; /* owned */
    struct record *rec;     /* borrowed */
};

struct record_object {
    struct wr_object object;
    struct wr_object *inner; /* owned */
    struct record *rec;      /* borrowed */
    char path[RECORD_LINE];
};

static struct wr_store *inner_of(struct wr_store *st)
{
    return ((struct record_store *)st)->inner;
}

static struct record *rec_of(struct wr_store *st)
{
    return ((struct record_store *)st)->rec;
}

/* --- what happens to a call --- */

/* ".writer-000000000003/ID": the folder of a writer. */
static bool is_work(const char *s)
{
    return !strncmp(s, ".writer-", WRITER) && strlen(s) >= WORK &&
           s[WRITER + STEP_DIGITS] == '/' &&
           strspn(s + WORK - ID_DIGITS, "0123456789abcdef") >= ID_DIGITS;
}

static void shorten(const char *line, char *out)
{
    for (const char *s = line; *s;) {
        size_t n = strspn(s, "0123456789abcdef");

        if (is_work(s)) {
            out += sprintf(out, "W%lu", strtoul(s + WRITER, NULL, 10));
            s += WORK;
        } else if (n >= ID_DIGITS) {
            *out++ = '@';
            s += n;
        } else {
            *out++ = *s++;
        }
    }
    *out = '\0';
}

__attribute__((format(printf, 2, 3))) static void
write_down(struct record *rec, const char *fmt, ...)
{
    char line[RECORD_LINE];
    va_list ap;

    if (rec->count == RECORD_LINES)
        abort();
    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    shorten(line, rec->lines[rec->count++]);
}

static void tell_before(struct record *rec, const char *verb, const char *path,
                        const char *to)
{
    char line[RECORD_LINE], what[RECORD_LINE];

    if (!rec->before)
        return;
    snprintf(line, sizeof(line), "%s %s%s%s", verb, path, to ? " " : "",
             to ? to : "");
    shorten(line, what);
    rec->before(rec->arg, what);
}

/* 0: goes through; else it fails so. *ret_do: after doing it. */
static int judge(struct record *rec, bool *ret_do)
{
    unsigned n = ++rec->calls;
    bool hit = rec->fail_at && (n == rec->fail_at ||
                                (n > rec->fail_at && rec->how == RECORD_DEAD));

    *ret_do = !hit || rec->how == RECORD_DONE;
    return !hit ? 0 : rec->how == RECORD_FULL ? ENOSPC : EIO;
}

/* What the caller hears. */
static int answer(int bad, int r, const char *path, weir_err *err)
{
    return bad ? wr_fail_errno(err, bad, "'%s': by order", path) : r;
}

static const char *shown(const char *path)
{
    return *path ? path : ".";
}

/* --- objects --- */

static struct record_object *to_object(struct wr_object *o)
{
    return (struct record_object *)o;
}

static int64_t object_read(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    struct record_object *ro = to_object(o);
    bool go;
    int bad = judge(ro->rec, &go);

    if (bad)
        return answer(bad, 0, ro->path, err);
    return ro->inner->ops->read(ro->inner, buf, len, offset, err);
}

static int object_write(struct wr_object *o, const void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct record_object *ro = to_object(o);
    bool go;
    int bad = judge(ro->rec, &go), r = 0;

    if (go)
        r = ro->inner->ops->write(ro->inner, buf, len, offset, err);
    if (!bad && r == 0)
        write_down(ro->rec, "write %s", ro->path);
    return answer(bad, r, ro->path, err);
}

static int object_lock(struct wr_object *o, weir_err *err)
{
    struct record_object *ro = to_object(o);
    bool go;
    int bad = judge(ro->rec, &go), r = 0;

    if (go)
        r = ro->inner->ops->lock(ro->inner, err);
    if (!bad && r == 0)
        write_down(ro->rec, "lock %s", ro->path);
    return answer(bad, r, ro->path, err);
}

/* The inner one is closed in any case, as when a process dies. */
static int object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct record_object *ro = to_object(o);
    bool go;
    int bad = sync ? judge(ro->rec, &go) : 0, r;

    r = ro->inner->ops->close(ro->inner, /* sync= */ false, err);
    if (sync && !bad && r == 0)
        write_down(ro->rec, "sync %s", ro->path);
    r = answer(bad, r, ro->path, err);
    free(ro);
    return r;
}

static const struct wr_object_ops object_ops = {
    .read = object_read,
    .write = object_write,
    .lock = object_lock,
    .close = object_close,
};

static int record_object_open(struct wr_store *st, const char *path,
                              enum wr_open_mode mode, struct wr_object **ret,
                              weir_err *err)
{
    struct record *rec = rec_of(st);
    struct record_object *ro;
    struct wr_stat is;
    bool go;
    int bad = judge(rec, &go), r = 0;

    if (!go)
        return answer(bad, r, path, err);
    ro = calloc(1, sizeof(*ro));
    if (!ro)
        abort();
    if (mode == WR_OPEN_LOCK)
        mode = inner_of(st)->ops->stat(inner_of(st), path, &is, NULL) < 0
                   ? WR_OPEN_CREATE
                   : WR_OPEN_WRITE;
    if (mode == WR_OPEN_CREATE)
        tell_before(rec, "create", path, NULL);
    r = inner_of(st)->ops->object_open(inner_of(st), path, mode, &ro->inner,
                                       err);
    if (r == 0 && bad)
        ro->inner->ops->close(ro->inner, false, NULL);
    if (r < 0 || bad) {
        free(ro);
        return answer(bad, r, path, err);
    }
    ro->object.ops = &object_ops;
    ro->rec = rec;
    snprintf(ro->path, sizeof(ro->path), "%s", path);
    if (mode != WR_OPEN_WRITE)
        write_down(rec, "%s %s", mode == WR_OPEN_READ ? "read" : "create",
                   path);
    *ret = &ro->object;
    return 0;
}

/* --- the store --- */

static void record_close(struct wr_store *st)
{
    if (st)
        wr_store_close(inner_of(st));
    free(st);
}

static int record_stat(struct wr_store *st, const char *path,
                       struct wr_stat *ret, weir_err *err)
{
    bool go;
    int bad = judge(rec_of(st), &go);

    if (bad)
        return answer(bad, 0, path, err);
    bad = inner_of(st)->ops->stat(inner_of(st), path, ret, err);
    if (bad == 0 && is_work(path) && strlen(path) == WORK)
        write_down(rec_of(st), "check %s", path);
    return bad;
}

static int record_list(struct wr_store *st, const char *path, wr_list_fn fn,
                       void *arg, weir_err *err)
{
    bool go;
    int bad = judge(rec_of(st), &go), r = 0;

    if (go) /* with DONE: the listing breaks off at its end */
        r = inner_of(st)->ops->list(inner_of(st), path, fn, arg, err);
    return answer(bad, r, path, err);
}

static int record_change(struct wr_store *st, enum wr_change what,
                         const char *path, const char *to, weir_err *err)
{
    static const char *const verbs[] = {
        [WR_MKDIR] = "mkdir",      [WR_REMOVE] = "remove",
        [WR_RENAME] = "rename",    [WR_RENAME_NEW] = "rename-new",
        [WR_SYNC_DIR] = "syncdir", [WR_SWAP] = "swap",
    };
    struct record *rec = rec_of(st);
    struct wr_stat is;
    bool go;
    int bad, r = 0;

    if (what == WR_SWAP && rec->no_swap)
        return wr_fail(err, WEIR_ENOTSUP, "'%s': cannot swap", path);
    bad = judge(rec, &go);
    tell_before(rec, verbs[what], shown(path), to);
    /* Nothing is synced, but what is not there cannot be. */
    if (go && what == WR_SYNC_DIR)
        r = inner_of(st)->ops->stat(inner_of(st), path, &is, err);
    else if (go)
        r = inner_of(st)->ops->change(inner_of(st), what, path, to, err);
    if (!bad && r == 0)
        write_down(rec, "%s %s%s%s", verbs[what], shown(path), to ? " " : "",
                   to ? to : "");
    return answer(bad, r, path, err);
}

static int record_queue_open(struct wr_store *st,
                             const struct wr_queue_config *cfg,
                             struct wr_queue **ret, weir_err *err)
{
    (void)st;
    (void)cfg;
    (void)ret;
    return wr_fail(err, WEIR_ENOTSUP, "no queues here");
}

static int record_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    struct record *rec = rec_of(st);
    bool go;
    int bad = judge(rec, &go);

    if (bad)
        return answer(bad, 0, "", err);
    if (!rec->space)
        return inner_of(st)->ops->space(inner_of(st), ret_bytes, err);
    *ret_bytes = rec->space;
    return 0;
}

static const struct wr_storage_ops record_ops = {
    .name = "record",
    .help = "for tests",
    .close = record_close,
    .stat = record_stat,
    .list = record_list,
    .object_open = record_object_open,
    .change = record_change,
    .queue_open = record_queue_open,
    .space = record_space,
};

struct wr_store *record_wrap(struct wr_store *inner, struct record *rec)
{
    struct record_store *rs = calloc(1, sizeof(*rs));

    if (!rs)
        abort();
    rs->store.ops = &record_ops;
    rs->inner = inner;
    rs->rec = rec;
    return &rs->store;
}
