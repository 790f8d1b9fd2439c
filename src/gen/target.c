/* target.c - a folder that appears whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/target.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/writer.h"
#include "storage/beside.h"

struct wr_gen_target {
    struct wr_beside at; /* where it is to be */
    bool begun;          /* the part is ours to remove */
    bool replace;        /* a folder with content stands in the way */
};

/* A walk over one folder. */
struct target_walk {
    struct wr_store *store; /* borrowed */
    const char *path;       /* borrowed: of the folder */
    const char *shown;      /* borrowed: how messages call it */
    bool inner;             /* it is a class folder */
    weir_err *err;          /* borrowed, may be NULL */
};

static bool is_part(const char *name, const char *ext, const char *side)
{
    char pattern[64];

    snprintf(pattern, sizeof(pattern), "part-[0-9]*%s%s", ext, side);
    return !fnmatch(pattern, name, 0);
}

/* Whether a file is called as those that a writer makes of tensors. */
static bool is_written(const char *name)
{
    const struct wr_array_writer_ops *ops;
    bool found = is_part(name, ".wt", "") || is_part(name, ".npy", "");

#define FIELD_WRITER(format, help)                                             \
    found = found || is_part(name, wr_writer_##format.ext, "");
#include "format/formats.def"
    for (unsigned k = 0; (ops = wr_array_writer_at(k)) && !found; k++) {
        found = is_part(name, ops->ext, "");
        for (unsigned i = 0; ops->sides && ops->sides[i] && !found; i++)
            found = is_part(name, ops->ext, ops->sides[i]);
    }
    return found;
}

/* Whether generators make things of this name, at the top or in a class
 * folder. */
static bool is_ours(const struct wr_entry *e, bool inner)
{
    if (e->kind == WR_KIND_DIR)
        return !inner && !fnmatch("class_[0-9]*", e->name, 0);
    if (inner)
        return !fnmatch("[0-9]*_[0-9]*.jpg", e->name, 0);
    return is_written(e->name);
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

/* Whether `path`, which a killed run may have left, holds nothing else. */
static int check_leftover(struct wr_gen_target *t, const char *path,
                          weir_err *err)
{
    const struct wr_storage_ops *ops = t->at.store->ops;
    struct target_walk w = {
        .store = t->at.store, .path = path, .shown = path, .err = err};
    struct wr_stat is;
    weir_err why;
    int r = wr_beside_check_owner(&t->at, path, err);

    if (r < 0)
        return r;
    r = ops->stat(t->at.store, path, &is, &why);
    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    if (is.kind != WR_KIND_DIR)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is in the way and is no folder: remove it "
                       "yourself",
                       path);
    return ops->list(t->at.store, path, check_entry, &w, err);
}

static int check_target(struct wr_gen_target *t, const char *url, bool force,
                        weir_err *err)
{
    struct target_walk w = {
        .store = t->at.store, .path = t->at.name, .shown = url, .err = err};
    int r = wr_beside_check(&t->at, url, &t->replace, err);

    if (r < 0 || !t->replace)
        return r;
    if (!force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is not empty; --force replaces it", url);
    r = w.store->ops->list(w.store, w.path, check_entry, &w, err);
    return r < 0 ? r : check_leftover(t, t->at.old, err);
}

static int make_part(struct wr_gen_target *t, bool force, weir_err *err)
{
    weir_err why;
    int r = wr_beside_make(&t->at, &why);

    if (r == WEIR_EEXIST && !force)
        return wr_fail(err, r,
                       "'%s': exists: another run is at work, or one was "
                       "killed; --force removes it",
                       t->at.part);
    if (r == WEIR_EEXIST) {
        r = check_leftover(t, t->at.part, err);
        if (r == 0)
            r = wr_tree_remove(t->at.store, t->at.part, WR_TREE_ALL, err);
        if (r < 0)
            return r;
        r = wr_beside_make(&t->at, &why);
    }
    t->begun = r == 0;
    return wr_fail_as(err, r, &why);
}

int wr_gen_target_open(struct wr_gen_target **ret, const char *url, bool force,
                       weir_err *err)
{
    struct wr_gen_target *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_beside_init(&t->at, url, err);
    if (r == 0)
        r = check_target(t, url, force, err);
    if (r == 0)
        r = make_part(t, force, err);
    if (r < 0)
        wr_gen_target_close(t);
    else
        *ret = t;
    return r;
}

int wr_gen_target_mkdir(struct wr_gen_target *t, const char *path,
                        weir_err *err)
{
    return wr_store_change(t->at.inside, WR_MKDIR, path, NULL, err);
}

int wr_gen_target_create(struct wr_gen_target *t, const char *path,
                         struct wr_object **ret, weir_err *err)
{
    return t->at.inside->ops->object_open(t->at.inside, path, WR_OPEN_CREATE,
                                          ret, err);
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
    const struct wr_storage_ops *ops = t->at.store->ops;
    int r = wr_beside_share(&t->at, err);

    if (r < 0)
        return r;
    if (t->replace) {
        /* One that a killed run left behind, and nothing else. */
        r = check_leftover(t, t->at.old, err);
        if (r < 0)
            return r;
        r = wr_tree_remove(t->at.store, t->at.old, WR_TREE_ALL, err);
        if (r < 0)
            return r;
        r = ops->change(t->at.store, WR_RENAME, t->at.name, t->at.old, err);
        if (r < 0)
            return r;
    }
    r = ops->change(t->at.store, WR_RENAME, t->at.part, t->at.name, err);
    if (r < 0) {
        if (t->replace)
            ops->change(t->at.store, WR_RENAME, t->at.old, t->at.name, NULL);
        return r;
    }
    t->begun = false;
    return t->replace ? wr_tree_remove(t->at.store, t->at.old, WR_TREE_ALL, err)
                      : 0;
}

void wr_gen_target_close(struct wr_gen_target *t)
{
    if (!t)
        return;
    if (t->begun)
        wr_tree_remove(t->at.store, t->at.part, WR_TREE_ALL, NULL);
    wr_beside_done(&t->at);
    free(t);
}

bool wr_gen_target_local_path(const struct wr_gen_target *t, char *buf,
                              size_t cap)
{
    char path[PATH_MAX], full[PATH_MAX];
    int n;

    if (!wr_beside_local_path(&t->at, t->at.name, path, sizeof(path)) ||
        !realpath(path, full))
        return false;
    n = snprintf(buf, cap, "%s", full);
    return n >= 0 && (size_t)n < cap;
}
