/* tree.c - folders that measuring made: removal; whose a folder is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define NAME_CAP 256
#define PATH_CAP 512
#define DEPTH    3

/* Names are gathered first: a folder is not changed while it is listed. */
struct tree_names {
    struct {
        char name[NAME_CAP];
        bool folder;
    } * at; /* owned */
    size_t count, cap;
};

static int gather(void *arg, const struct wr_entry *e)
{
    struct tree_names *n = arg;

    if (strlen(e->name) >= NAME_CAP)
        return WEIR_ELIMIT;
    if (!wr_grow(&n->at, &n->cap, n->count + 1, sizeof(*n->at)))
        return WEIR_ENOMEM;
    snprintf(n->at[n->count].name, NAME_CAP, "%s", e->name);
    n->at[n->count++].folder = e->kind == WR_KIND_DIR;
    return 0;
}

static bool is_number(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0';
}

static int check_file(void *arg, const struct wr_entry *e)
{
    return e->kind == WR_KIND_FILE && is_number(e->name) ? 0 : WEIR_EFORMAT;
}

bool wr_probe_tree_is_ours(struct wr_store *st, const char *folder)
{
    struct tree_names n = {0};
    char path[PATH_CAP];
    bool ours = st->ops->list(st, folder, gather, &n, NULL) == 0;

    for (size_t i = 0; ours && i < n.count; i++) {
        const char *name = n.at[i].name;

        if (n.at[i].folder) {
            ours = (*name == 's' || *name == 'c') && is_number(name + 1);
            snprintf(path, sizeof(path), "%s/%s", folder, name);
            ours = ours && st->ops->list(st, path, check_file, NULL, NULL) == 0;
        } else {
            ours = !strcmp(name, "lock") || !strcmp(name, "big") ||
                   !strcmp(name, "write");
        }
    }
    free(n.at);
    return ours;
}

/* A probe that is killed while it cleans up must leave its lock, by which the
 * next one knows the rest. */
static void put_lock_last(struct tree_names *n)
{
    for (size_t i = 0; i + 1 < n->count; i++)
        if (!strcmp(n->at[i].name, "lock")) {
            n->at[i] = n->at[n->count - 1];
            snprintf(n->at[n->count - 1].name, NAME_CAP, "lock");
            n->at[n->count - 1].folder = false;
            return;
        }
}

static int remove_below(struct wr_store *st, const char *folder, unsigned depth,
                        weir_err *err);

/* A link to a folder is listed as one: it goes, not what it points to. */
static int remove_entry(struct wr_store *st, const char *path, unsigned depth,
                        weir_err *err)
{
    if (!depth)
        return st->ops->change(st, WR_REMOVE, path, NULL, err);
    if (st->ops->change(st, WR_REMOVE, path, NULL, NULL) == 0)
        return 0;
    return remove_below(st, path, depth - 1, err);
}

static int remove_below(struct wr_store *st, const char *folder, unsigned depth,
                        weir_err *err)
{
    struct tree_names n = {0};
    char path[PATH_CAP];
    weir_err later;
    int r, first;

    first = st->ops->list(st, folder, gather, &n, err);
    put_lock_last(&n);
    for (size_t i = 0; i < n.count; i++) {
        weir_err *e = first < 0 ? &later : err;

        if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder,
                             n.at[i].name) >= sizeof(path) ||
            (n.at[i].folder && !depth))
            r = wr_fail(e, WEIR_ELIMIT, "'%s': not what it was", folder);
        else
            r = remove_entry(st, path, n.at[i].folder ? depth : 0, e);
        first = first < 0 ? first : r;
    }
    free(n.at);
    r = st->ops->change(st, WR_REMOVE, folder, NULL, first < 0 ? &later : err);
    return first < 0 ? first : r;
}

int wr_tree_remove(struct wr_store *st, const char *folder, weir_err *err)
{
    return remove_below(st, folder, DEPTH, err);
}
