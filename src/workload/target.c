/* target.c - a folder that appears whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/target.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"

struct wr_gen_target {
    struct wr_store *store; /* owned: the parent folder */
    char *name;             /* owned: of the folder to be */
    char *stage;            /* owned: ".NAME.part" */
    char *old;              /* owned: ".NAME.old" */
    bool staged;            /* the staging folder is ours to remove */
    bool replace;           /* a folder with content stands in the way */
};

/* A walk over one folder. */
struct target_walk {
    struct wr_store *store; /* borrowed */
    const char *path;       /* borrowed: of the folder */
    const char *shown;      /* borrowed: how messages call it */
    bool inner;             /* it is a class folder */
    weir_err *err;          /* borrowed, may be NULL */
};

static int stop_at_first(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 1;
}

/* Whether generators make things of this name, at the top or in a class
 * folder. */
static bool is_ours(const struct wr_entry *e, bool inner)
{
    if (e->kind == WR_KIND_DIR)
        return !inner && !fnmatch("class_[0-9]*", e->name, 0);
    return !fnmatch(inner ? "[0-9]*_[0-9]*.jpg" : "part-[0-9]*.wt", e->name,
                    0) ||
           (!inner && !fnmatch("part-[0-9]*.np[yz]", e->name, 0));
}

static int check_entry(void *arg, const struct wr_entry *e)
{
    const struct target_walk *w = arg;
    char path[PATH_MAX];
    struct target_walk next = {.store = w->store, .inner = true, .err = w->err};

    snprintf(path, sizeof(path), "%s/%s", w->path, e->name);
    if (!is_ours(e, w->inner))
        return wr_fail(w->err, WEIR_EEXIST,
                       "'%s' holds '%s', which no generator made: remove it "
                       "yourself",
                       w->shown, e->name);
    if (e->kind != WR_KIND_DIR)
        return 0;
    next.path = next.shown = path;
    return w->store->ops->list(w->store, path, check_entry, &next, w->err);
}

static int remove_tree(struct wr_store *st, const char *path, weir_err *err);

static int remove_child(void *arg, const struct wr_entry *e)
{
    const struct target_walk *w = arg;
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", w->path, e->name);
    return remove_tree(w->store, path, w->err);
}

/* Removing first and listing only what is not empty never follows a link. */
static int remove_tree(struct wr_store *st, const char *path, weir_err *err)
{
    struct target_walk w = {.store = st, .path = path, .err = err};
    weir_err first;
    int r = st->ops->change(st, WR_REMOVE, path, NULL, &first);

    if (r == 0)
        return 0;
    if (r != WEIR_EEXIST) {
        if (err)
            *err = first;
        return r;
    }
    r = st->ops->list(st, path, remove_child, &w, err);
    if (r < 0)
        return r;
    return st->ops->change(st, WR_REMOVE, path, NULL, err);
}

/* Whether `path`, which a killed run may have left, holds nothing else. */
static int check_leftover(struct wr_gen_target *t, const char *path,
                          weir_err *err)
{
    const struct wr_storage_ops *ops = t->store->ops;
    struct target_walk w = {
        .store = t->store, .path = path, .shown = path, .err = err};
    struct wr_stat is;
    weir_err why;
    int r = ops->stat(t->store, path, &is, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0) {
        if (err)
            *err = why;
        return r;
    }
    if (is.kind != WR_KIND_DIR)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is in the way and is no folder: remove it "
                       "yourself",
                       path);
    return ops->list(t->store, path, check_entry, &w, err);
}

/* What cannot be replaced by a rename is found out before the work. */
static int check_replaceable(struct wr_gen_target *t, const struct wr_stat *is,
                             const char *url, weir_err *err)
{
    const struct wr_storage_ops *ops = t->store->ops;
    struct wr_stat parent;
    struct stat sb;
    char path[PATH_MAX];
    int r;

    if (is->kind != WR_KIND_DIR)
        return wr_fail(err, WEIR_EEXIST, "'%s': exists and is no folder", url);
    r = ops->stat(t->store, "", &parent, err);
    if (r < 0)
        return r;
    if (parent.dev != is->dev)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a mount point: name a folder below it", url);
    if (ops->local_path &&
        ops->local_path(t->store, t->name, path, sizeof(path)) &&
        lstat(path, &sb) == 0 && S_ISLNK(sb.st_mode))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a link: name the folder itself", url);
    return 0;
}

static int check_target(struct wr_gen_target *t, const char *url, bool force,
                        weir_err *err)
{
    const struct wr_storage_ops *ops = t->store->ops;
    struct target_walk w = {.store = t->store, .path = t->name, .shown = url};
    struct wr_stat is;
    weir_err why;
    int r = ops->stat(t->store, t->name, &is, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0) {
        if (err)
            *err = why;
        return r;
    }
    r = check_replaceable(t, &is, url, err);
    if (r < 0)
        return r;
    r = ops->list(t->store, t->name, stop_at_first, NULL, err);
    if (r <= 0)
        return r;
    if (!force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is not empty; --force replaces it", url);
    t->replace = true;
    w.err = err;
    r = ops->list(t->store, t->name, check_entry, &w, err);
    return r < 0 ? r : check_leftover(t, t->old, err);
}

static int make_stage(struct wr_gen_target *t, bool force, weir_err *err)
{
    const struct wr_storage_ops *ops = t->store->ops;
    weir_err why;
    int r = ops->change(t->store, WR_MKDIR, t->stage, NULL, &why);

    if (r == WEIR_EEXIST && !force)
        return wr_fail(err, r,
                       "'%s': exists: another run is at work, or one was "
                       "killed; --force removes it",
                       t->stage);
    if (r == WEIR_EEXIST) {
        r = check_leftover(t, t->stage, err);
        if (r == 0)
            r = remove_tree(t->store, t->stage, err);
        if (r < 0)
            return r;
        r = ops->change(t->store, WR_MKDIR, t->stage, NULL, &why);
    }
    if (r < 0 && err)
        *err = why;
    t->staged = r == 0;
    return r;
}

static int open_parent(struct wr_gen_target *t, const char *url, weir_err *err)
{
    char *parent = NULL, *leaf = NULL;
    int r = wr_url_split(url, &parent, &t->name, err);

    if (r < 0)
        return r;
    r = wr_store_open(parent, &t->store, &leaf, err);
    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_ENOENT, "'%s': is no folder", parent);
    else if (r == 0 && !t->store->ops->change)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': cannot be written to", parent);
    free(leaf);
    free(parent);
    return r;
}

int wr_gen_target_open(struct wr_gen_target **ret, const char *url, bool force,
                       weir_err *err)
{
    struct wr_gen_target *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = open_parent(t, url, err);
    if (r < 0)
        goto out;
    if (asprintf(&t->stage, ".%s.part", t->name) < 0 ||
        asprintf(&t->old, ".%s.old", t->name) < 0) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    r = check_target(t, url, force, err);
    if (r < 0)
        goto out;
    r = make_stage(t, force, err);
    if (r < 0)
        goto out;
    *ret = t;
    t = NULL;
out:
    wr_gen_target_close(t);
    return r;
}

static int stage_path(const struct wr_gen_target *t, const char *path,
                      char *buf, weir_err *err)
{
    int n = snprintf(buf, PATH_MAX, "%s/%s", t->stage, path);

    if (n < 0 || n >= PATH_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    return 0;
}

int wr_gen_target_mkdir(struct wr_gen_target *t, const char *path,
                        weir_err *err)
{
    char full[PATH_MAX];
    int r = stage_path(t, path, full, err);

    if (r < 0)
        return r;
    return t->store->ops->change(t->store, WR_MKDIR, full, NULL, err);
}

int wr_gen_target_create(struct wr_gen_target *t, const char *path,
                         struct wr_object **ret, weir_err *err)
{
    char full[PATH_MAX];
    int r = stage_path(t, path, full, err);

    if (r < 0)
        return r;
    return t->store->ops->object_open(t->store, full, WR_OPEN_CREATE, ret, err);
}

int wr_gen_target_write(struct wr_gen_target *t, const char *path,
                        const void *bytes, size_t len, weir_err *err)
{
    struct wr_object *o;
    int r = wr_gen_target_create(t, path, &o, err);

    if (r < 0)
        return r;
    r = o->ops->write(o, bytes, len, 0, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    return o->ops->close(o, /* sync= */ false, err);
}

int wr_gen_target_commit(struct wr_gen_target *t, weir_err *err)
{
    const struct wr_storage_ops *ops = t->store->ops;
    int r;

    if (t->replace) {
        weir_err ignored;

        /* One that a killed run left behind, and nothing else. */
        r = check_leftover(t, t->old, err);
        if (r < 0)
            return r;
        remove_tree(t->store, t->old, &ignored);
        r = ops->change(t->store, WR_RENAME, t->name, t->old, err);
        if (r < 0)
            return r;
    }
    r = ops->change(t->store, WR_RENAME, t->stage, t->name, err);
    if (r < 0) {
        if (t->replace)
            ops->change(t->store, WR_RENAME, t->old, t->name, NULL);
        return r;
    }
    t->staged = false;
    return t->replace ? remove_tree(t->store, t->old, err) : 0;
}

void wr_gen_target_close(struct wr_gen_target *t)
{
    if (!t)
        return;
    if (t->staged)
        remove_tree(t->store, t->stage, NULL);
    wr_store_close(t->store);
    free(t->name);
    free(t->stage);
    free(t->old);
    free(t);
}

bool wr_gen_target_local_path(const struct wr_gen_target *t, char *buf,
                              size_t cap)
{
    char path[PATH_MAX], full[PATH_MAX];
    int n;

    if (!t->store->ops->local_path ||
        !t->store->ops->local_path(t->store, t->name, path, sizeof(path)) ||
        !realpath(path, full))
        return false;
    n = snprintf(buf, cap, "%s", full);
    return n >= 0 && (size_t)n < cap;
}
