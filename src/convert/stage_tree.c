/* stage_tree.c - looking at whole folders, and removing them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/stage_tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "convert/stage.h"

struct beginning {
    const char *text; /* borrowed */
};

static int is_other(void *arg, const struct wr_entry *e)
{
    const char *begin = ((const struct beginning *)arg)->text;

    return strncmp(e->name, begin, strlen(begin)) != 0;
}

bool wr_stage_tree_has_only(struct wr_store *st, const char *path,
                            const char *begin)
{
    struct beginning b = {begin};

    return st->ops->list(st, path, is_other, &b, NULL) == 0;
}

static int is_any(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 1;
}

bool wr_stage_tree_is_empty(struct wr_store *st, const char *path)
{
    return st->ops->list(st, path, is_any, NULL, NULL) == 0;
}

bool wr_stage_tree_is_ours(struct wr_store *st, const char *path)
{
    char job[PATH_MAX];
    struct wr_stat is;

    snprintf(job, sizeof(job), "%s/%s", path, WR_STAGE_JOB);
    return st->ops->stat(st, job, &is, NULL) == 0 && is.kind == WR_KIND_FILE;
}

/* A removal on its way through one folder. */
struct removal {
    struct wr_store *store; /* borrowed */
    const char *path;       /* borrowed: of the folder */
    weir_err *err;          /* borrowed, may be NULL */
};

static int remove_entry(struct wr_store *st, const char *path, weir_err *err);

static int remove_child(void *arg, const struct wr_entry *e)
{
    const struct removal *rm = arg;
    char path[PATH_MAX];

    if (!strcmp(e->name, WR_STAGE_JOB))
        return 0;
    if (snprintf(path, sizeof(path), "%s/%s", rm->path, e->name) >=
        (int)sizeof(path))
        return wr_fail(rm->err, WEIR_ELIMIT, "'%s': path too long", rm->path);
    return remove_entry(rm->store, path, rm->err);
}

static int remove_job(struct wr_store *st, const char *path, weir_err *err)
{
    char job[PATH_MAX];
    weir_err why;
    int r;

    snprintf(job, sizeof(job), "%s/%s", path, WR_STAGE_JOB);
    r = st->ops->change(st, WR_REMOVE, job, NULL, &why);
    if (r < 0 && r != WEIR_ENOENT)
        return wr_fail(err, r, "%s", why.msg);
    return 0;
}

/* Removing first and listing only what is not empty never follows a link. */
static int remove_entry(struct wr_store *st, const char *path, weir_err *err)
{
    struct removal rm = {.store = st, .path = path, .err = err};
    weir_err why;
    int r = st->ops->change(st, WR_REMOVE, path, NULL, &why);

    if (r == 0 || r == WEIR_ENOENT)
        return 0;
    if (r != WEIR_EEXIST)
        return wr_fail(err, r, "%s", why.msg);
    r = st->ops->list(st, path, remove_child, &rm, err);
    if (r == 0)
        r = remove_job(st, path, err);
    return r < 0 ? r : st->ops->change(st, WR_REMOVE, path, NULL, err);
}

int wr_stage_tree_remove(struct wr_store *st, const char *path, weir_err *err)
{
    return remove_entry(st, path, err);
}
