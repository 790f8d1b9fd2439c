/* lax.c - stores that break one rule of a safe save each.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects stay those of the inner store, so its queues take them; only their
 * table is exchanged for a copy with other syncs. */
#include "lax.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

#define WRITER   ".writer-"
#define TMP      "/tmp-"
#define DIGITS   12
#define LAX_PATH 256

const struct lax_variant lax_variants[] = {
    {"no-fsync", LAX_NO_FSYNC},       {"no-dirsync", LAX_NO_DIRSYNC},
    {"no-rootsync", LAX_NO_ROOTSYNC}, {"no-tmpdirsync", LAX_NO_TMPDIRSYNC},
    {"no-rename", LAX_NO_RENAME},     {NULL, 0},
};

/* An inner store has one table for all its objects, or a few. */
struct lax_table {
    struct wr_object_ops ops; /* first: found from an object */
    const struct wr_object_ops *inner;
    unsigned flags;
    struct lax_table *next; /* owned */
};

struct lax_store {
    struct wr_store store;
    struct wr_store *inner; /* owned */
    unsigned flags;
    struct lax_table *_Atomic tables; /* owned */
};

static struct lax_store *to_lax(struct wr_store *st)
{
    return (struct lax_store *)st;
}

/* Where ".writer-NUMBER/ID/tmp-000000000007-ID/x" says which step it is of; NULL:
 * it is something else. */
static const char *tmp_step(const char *path)
{
    const char *tmp = strncmp(path, WRITER, strlen(WRITER)) == 0
                          ? strstr(path, TMP)
                          : NULL;

    return tmp && strspn(tmp + strlen(TMP), "0123456789") >= DIGITS
               ? tmp + strlen(TMP)
               : NULL;
}

/* ".writer-NUMBER/ID": where steps come from and go to. */
static bool is_work(const char *path)
{
    const char *id = strchr(path, '/');

    return !strncmp(path, WRITER, strlen(WRITER)) && id && !strchr(id + 1, '/');
}

/* ".writer-NUMBER/ID/tmp-000000000007-ID/x" -> "step-000000000007/x" */
static const char *mapped(const struct lax_store *ls, const char *path,
                          char buf[LAX_PATH])
{
    const char *digits = tmp_step(path), *rest;

    if (!(ls->flags & LAX_NO_RENAME) || !digits)
        return path;
    rest = strchr(digits, '/');
    snprintf(buf, LAX_PATH, "step-%.*s%s", DIGITS, digits, rest ? rest : "");
    return buf;
}

/* --- objects that are not synced --- */

static int lax_sync(struct wr_object *o, weir_err *err)
{
    const struct lax_table *t = (const struct lax_table *)o->ops;

    if (t->flags & LAX_NO_FSYNC || t->inner->sync(o, NULL) == 0)
        return 0;
    return t->inner->sync(o, err);
}

static int lax_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    const struct lax_table *t = (const struct lax_table *)o->ops;
    int r = sync ? lax_sync(o, err) : 0, r2;

    o->ops = t->inner;
    r2 = o->ops->close(o, /* sync= */ false, r < 0 ? NULL : err);
    return r < 0 ? r : r2;
}

static const struct wr_object_ops *table_for(struct lax_store *ls,
                                             const struct wr_object_ops *inner)
{
    struct lax_table *t;

    for (t = ls->tables; t; t = t->next)
        if (t->inner == inner)
            return &t->ops;
    t = calloc(1, sizeof(*t));
    if (!t)
        abort();
    t->ops = *inner;
    t->ops.sync = lax_sync;
    t->ops.close = lax_object_close;
    t->inner = inner;
    t->flags = ls->flags;
    t->next = ls->tables;
    while (!atomic_compare_exchange_weak(&ls->tables, &t->next, t))
        continue;
    return &t->ops;
}

static int lax_object_open(struct wr_store *st, const char *path,
                           enum wr_open_mode mode, struct wr_object **ret,
                           weir_err *err)
{
    struct lax_store *ls = to_lax(st);
    struct wr_object *o;
    char buf[LAX_PATH];
    int r;

    r = ls->inner->ops->object_open(ls->inner, mapped(ls, path, buf), mode, &o,
                                    err);
    if (r < 0)
        return r;
    if (ls->flags & (LAX_NO_FSYNC | LAX_RETRY_SYNC) && mode != WR_OPEN_READ)
        o->ops = table_for(ls, o->ops);
    *ret = o;
    return 0;
}

/* --- folders --- */

static bool is_skipped(const struct lax_store *ls, enum wr_change what,
                       const char *path)
{
    if (what != WR_SYNC_DIR)
        return false;
    return ls->flags & LAX_NO_DIRSYNC ||
           (ls->flags & LAX_NO_ROOTSYNC && (!*path || is_work(path))) ||
           (ls->flags & LAX_NO_TMPDIRSYNC && tmp_step(path));
}

static int lax_change(struct wr_store *st, enum wr_change what,
                      const char *path, const char *to, weir_err *err)
{
    struct lax_store *ls = to_lax(st);
    char from_buf[LAX_PATH], to_buf[LAX_PATH];

    if (is_skipped(ls, what, path))
        return 0;
    path = mapped(ls, path, from_buf);
    if (to)
        to = mapped(ls, to, to_buf);
    if (to && path == from_buf && !strcmp(path, to))
        return 0; /* it is there already */
    return ls->inner->ops->change(ls->inner, what, path, to, err);
}

/* --- the rest passes through --- */

static int lax_open(const char *rest, unsigned flags, struct wr_store **ret,
                    char **ret_leaf, weir_err *err)
{
    (void)flags;
    (void)ret;
    (void)ret_leaf;
    return wr_fail(err, WEIR_ENOTSUP, "'%s': has no address", rest);
}

static void lax_close(struct wr_store *st)
{
    struct lax_store *ls = to_lax(st);

    if (!ls)
        return;
    wr_store_close(ls->inner);
    for (struct lax_table *t = ls->tables, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    free(ls);
}

static int lax_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    struct lax_store *ls = to_lax(st);
    char buf[LAX_PATH];

    return ls->inner->ops->stat(ls->inner, mapped(ls, path, buf), ret, err);
}

static int lax_list(struct wr_store *st, const char *path, wr_list_fn fn,
                    void *arg, weir_err *err)
{
    struct lax_store *ls = to_lax(st);
    char buf[LAX_PATH];

    return ls->inner->ops->list(ls->inner, mapped(ls, path, buf), fn, arg, err);
}

static int lax_queue_open(struct wr_store *st,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    return to_lax(st)->inner->ops->queue_open(to_lax(st)->inner, cfg, ret, err);
}

static int lax_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    struct wr_store *inner = to_lax(st)->inner;

    if (!inner->ops->space)
        return wr_fail(err, WEIR_ENOTSUP, "free space is not known");
    return inner->ops->space(inner, ret_bytes, err);
}

static bool lax_forgets(struct wr_store *st)
{
    struct wr_store *inner = to_lax(st)->inner;

    return inner->ops->forgets && inner->ops->forgets(inner);
}

static bool lax_local_path(struct wr_store *st, const char *path, char *buf,
                           size_t cap)
{
    struct wr_store *inner = to_lax(st)->inner;
    char there[LAX_PATH];

    return inner->ops->local_path &&
           inner->ops->local_path(inner, mapped(to_lax(st), path, there), buf,
                                  cap);
}

static const struct wr_storage_ops lax_ops = {
    .name = "lax",
    .help = "leaves out what makes a save safe",
    .open = lax_open,
    .close = lax_close,
    .stat = lax_stat,
    .list = lax_list,
    .object_open = lax_object_open,
    .change = lax_change,
    .queue_open = lax_queue_open,
    .space = lax_space,
    .forgets = lax_forgets,
    .local_path = lax_local_path,
};

struct wr_store *lax_wrap(struct wr_store *inner, unsigned flags)
{
    struct lax_store *ls = calloc(1, sizeof(*ls));

    if (!ls)
        abort();
    ls->store.ops = &lax_ops;
    ls->inner = inner;
    ls->flags = flags;
    return &ls->store;
}

struct wr_store *lax_folder(const char *path, unsigned flags, FILE *out)
{
    struct wr_store *st;
    weir_err err;

    if (mkdir(path, 0777) < 0 && errno != EEXIST) {
        fprintf(out, "%s: %s\n", path, strerror(errno));
        return NULL;
    }
    if (wr_store_open_own(path, &st, &err) < 0) {
        fprintf(out, "%s\n", err.msg);
        return NULL;
    }
    return flags ? lax_wrap(st, flags) : st;
}
