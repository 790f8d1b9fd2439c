/* beside.c - what is made beside its place, and appears there whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/beside.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

int wr_beside_init(struct wr_beside *b, const char *url, weir_err *err)
{
    char *leaf = NULL;
    int r = wr_url_split(url, &b->parent, &b->name, err);

    if (r < 0)
        return r;
    r = wr_store_open_with(b->parent, WR_STORE_OWN, &b->store, &leaf, err);
    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_ENOENT, "'%s': is no folder", b->parent);
    else if (r == 0 && !b->store->ops->change)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': cannot be written to", b->parent);
    free(leaf);
    if (r < 0)
        return r;
    if (asprintf(&b->part, ".%s.part", b->name) < 0)
        b->part = NULL;
    if (asprintf(&b->old, ".%s.old", b->name) < 0)
        b->old = NULL;
    return b->part && b->old ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

void wr_beside_done(struct wr_beside *b)
{
    wr_store_close(b->inside);
    wr_store_close(b->store);
    free(b->parent);
    free(b->name);
    free(b->part);
    free(b->old);
    *b = (struct wr_beside){0};
}

int wr_beside_enter(struct wr_beside *b, weir_err *err)
{
    char *url = NULL, *leaf = NULL;
    int r;

    wr_store_close(b->inside);
    b->inside = NULL;
    if (asprintf(&url, "%s/%s", b->parent, b->part) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_store_open_with(url, WR_STORE_MINE, &b->inside, &leaf, err);
    free(leaf);
    free(url);
    return r;
}

int wr_beside_make(struct wr_beside *b, weir_err *err)
{
    int r = wr_store_change(b->store, WR_MKDIR_PRIVATE, b->part, NULL, err);

    if (r < 0)
        return r;
    r = wr_beside_enter(b, err);
    if (r < 0) /* a file system without modes, or a root that is nobody there */
        wr_store_change(b->store, WR_REMOVE, b->part, NULL, NULL);
    return r;
}

int wr_beside_share(struct wr_beside *b, weir_err *err)
{
    return wr_store_change(b->inside, WR_SHARE, "", NULL, err);
}

int wr_beside_check_owner(const struct wr_beside *b, const char *name,
                          weir_err *err)
{
    struct wr_stat is;
    weir_err why;
    int r = b->store->ops->stat(b->store, name, &is, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    if (is.owner == geteuid() || is.owner == 0)
        return 0;
    return wr_fail(err, WEIR_EACCES,
                   "'%s': is in the way and belongs to user %u, not to user "
                   "%u: it is left alone; name another folder",
                   name, (unsigned)is.owner, (unsigned)geteuid());
}

bool wr_beside_local_path(const struct wr_beside *b, const char *name,
                          char *buf, size_t cap)
{
    struct wr_store *st = NULL; /* not an own one, which gives no path */
    char *leaf = NULL;
    bool good = wr_store_open(b->parent, &st, &leaf, NULL) == 0 && !leaf &&
                st->ops->local_path && st->ops->local_path(st, name, buf, cap);

    wr_store_close(st);
    free(leaf);
    return good;
}

static int stop_at_first(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 1;
}

static bool is_link(const struct wr_beside *b)
{
    char path[PATH_MAX];
    struct stat sb;

    return wr_beside_local_path(b, b->name, path, sizeof(path)) &&
           lstat(path, &sb) == 0 && S_ISLNK(sb.st_mode);
}

int wr_beside_check(const struct wr_beside *b, const char *url, bool *ret_full,
                    weir_err *err)
{
    const struct wr_storage_ops *ops = b->store->ops;
    struct wr_stat is, parent;
    weir_err why;
    int r = ops->stat(b->store, b->name, &is, &why);

    *ret_full = false;
    if (r == WEIR_ENOENT)
        return 0;
    if (r == 0)
        r = ops->stat(b->store, "", &parent, &why);
    if (r < 0)
        return wr_fail(err, r, "%s", why.msg);
    if (is.kind != WR_KIND_DIR && is_link(b))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a link: name the folder itself", url);
    if (is.kind != WR_KIND_DIR)
        return wr_fail(err, WEIR_EEXIST, "'%s': exists and is no folder", url);
    if (parent.dev != is.dev)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': is a mount point: name a folder below it", url);
    r = ops->list(b->store, b->name, stop_at_first, NULL, err);
    *ret_full = r > 0;
    return r < 0 ? r : 0;
}

/* --- removing --- */

/* Gathered first: a folder is not changed while it is listed. */
struct found_names {
    char *text; /* owned: one behind another, each with its NUL */
    size_t len, cap;
};

static int gather(void *arg, const struct wr_entry *e)
{
    struct found_names *n = arg;
    size_t len = strlen(e->name) + 1;

    if (!wr_grow(&n->text, &n->cap, n->len + len, 1))
        return WEIR_ENOMEM;
    memcpy(n->text + n->len, e->name, len);
    n->len += len;
    return 0;
}

static int remove_child(struct wr_store *st, const char *folder,
                        const char *name, const struct wr_tree_rule *rule,
                        weir_err *err)
{
    struct wr_tree_rule below = {rule->last, rule->depth - 1};
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
        (int)sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", folder);
    return wr_tree_remove(st, path, &below, err);
}

static int remove_children(struct wr_store *st, const char *folder,
                           const struct wr_tree_rule *rule, weir_err *err)
{
    struct found_names n = {0};
    bool has_last = false;
    int first = st->ops->list(st, folder, gather, &n, err);

    for (size_t i = 0; i < n.len; i += strlen(n.text + i) + 1) {
        int r = 0;

        if (rule->last && !strcmp(n.text + i, rule->last))
            has_last = true;
        else
            r = remove_child(st, folder, n.text + i, rule,
                             first < 0 ? NULL : err);
        first = first < 0 ? first : r;
    }
    free(n.text);
    if (first >= 0 && has_last)
        first = remove_child(st, folder, rule->last, rule, err);
    return first;
}

/* Removing first and listing only what is not empty never follows a link. */
int wr_tree_remove(struct wr_store *st, const char *path,
                   const struct wr_tree_rule *rule, weir_err *err)
{
    weir_err why;
    int r = st->ops->change(st, WR_REMOVE, path, NULL, &why);

    if (r == 0 || r == WEIR_ENOENT)
        return 0;
    if (r != WEIR_EEXIST)
        return wr_fail(err, r, "%s", why.msg);
    if (!rule->depth)
        return wr_fail(err, WEIR_ELIMIT, "'%s': not what it was", path);
    r = remove_children(st, path, rule, err);
    return r < 0 ? r : st->ops->change(st, WR_REMOVE, path, NULL, err);
}
