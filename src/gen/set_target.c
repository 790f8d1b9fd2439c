/* set_target.c - the folder of a data set, as it grows over several runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/set_target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "gen/set_job.h"
#include "storage/beside.h"

struct wr_set_target {
    struct wr_beside at;
    struct wr_object *claim; /* owned: the job file, locked by the lead */
    bool replace;            /* a data set stands in the way */
    bool continues;
};

/* --- what is there already --- */

/* Whether weir gen made what is in folder `name` of a store. */
static bool is_ours(struct wr_store *st, const char *name)
{
    char *text = NULL;
    size_t len;
    bool ours = wr_gen_job_load(st, name, &text, &len, NULL) == 0;

    free(text);
    return ours;
}

static int check_folder(struct wr_set_target *t,
                        const struct wr_set_target_config *cfg, weir_err *err)
{
    int r = wr_beside_check(&t->at, cfg->url, &t->replace, err);

    if (r < 0 || !t->replace)
        return r;
    if (!cfg->force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is not empty; --force replaces it", cfg->url);
    if (!is_ours(t->at.store, t->at.name))
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': holds no data set of a workload that weir gen "
                       "made: remove it yourself",
                       cfg->url);
    return wr_beside_check_owner(&t->at, t->at.old, err);
}

/* Takes the job file for this run alone, so that no two make the same part. */
static int claim(struct wr_set_target *t, weir_err *err)
{
    struct wr_store *in = t->at.inside;
    weir_err why;
    int r = in->ops->object_open(in, WR_GEN_JOB_FILE, WR_OPEN_WRITE, &t->claim,
                                 &why);

    if (r == 0)
        r = wr_object_lock(t->claim, &why);
    if (r == WEIR_EBUSY)
        return wr_fail(err, r, "'%s': another run is at work on it",
                       t->at.part);
    if (r == WEIR_ENOTSUP)
        return 0; /* storage without locks */
    return wr_fail_as(err, r, &why);
}

static void unclaim(struct wr_set_target *t)
{
    if (t->claim)
        t->claim->ops->close(t->claim, /* sync= */ false, NULL);
    t->claim = NULL;
}

/* Whether the part is of the same job; then it is taken. */
static int take_part(struct wr_set_target *t,
                     const struct wr_set_target_config *cfg, weir_err *err)
{
    char *text = NULL;
    size_t len;
    int r = claim(t, err);

    if (r < 0)
        return r;
    r = wr_gen_job_load(t->at.inside, "", &text, &len, err);
    t->continues = r == 0 && !cfg->force && !strcmp(text, cfg->job);
    free(text);
    if (r < 0 || t->continues)
        return r;
    if (!cfg->force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': holds the beginning of another data set (another "
                       "description, seed or version); --force starts anew",
                       t->at.part);
    r = wr_tree_remove(t->at.store, t->at.part, WR_TREE_ALL, err);
    unclaim(t);
    return r;
}

/* --- the part --- */

static int write_job(struct wr_set_target *t, const char *job, weir_err *err)
{
    struct wr_object *o;
    int r = wr_set_target_begin(t, WR_GEN_JOB_FILE, &o, err);

    if (r < 0)
        return r;
    r = wr_object_write(o, job, strlen(job), 0, err);
    if (r < 0) {
        wr_set_target_done(t, WR_GEN_JOB_FILE, o, /* ok= */ false, NULL);
        return r;
    }
    return wr_set_target_done(t, WR_GEN_JOB_FILE, o, /* ok= */ true, err);
}

static int make_part(struct wr_set_target *t,
                     const struct wr_set_target_config *cfg, weir_err *err)
{
    weir_err why;
    int r = wr_beside_enter(&t->at, &why);

    if (r == 0 && !is_ours(t->at.inside, "")) {
        /* Killed before the job file, or not ours: an empty one is removed. */
        r = wr_store_change(t->at.store, WR_REMOVE, t->at.part, NULL, &why);
        if (r < 0)
            return wr_fail(err, WEIR_EEXIST,
                           "'%s': is in the way, and weir gen did not make it: "
                           "remove it yourself",
                           t->at.part);
        r = WEIR_ENOENT;
    }
    if (r == 0)
        r = take_part(t, cfg, err);
    else if (r != WEIR_ENOENT)
        return wr_fail_as(err, r, &why);
    else
        r = 0;
    if (r < 0 || t->continues)
        return r;
    r = wr_beside_make(&t->at, err);
    if (r == 0)
        r = write_job(t, cfg->job, err);
    return r < 0 ? r : claim(t, err);
}

int wr_set_target_open(struct wr_set_target **ret,
                       const struct wr_set_target_config *cfg, weir_err *err)
{
    struct wr_set_target *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t->continues = !cfg->lead; /* the lead, or an earlier run, was here */
    r = wr_beside_init(&t->at, cfg->url, err);
    if (r == 0 && cfg->lead)
        r = check_folder(t, cfg, err);
    if (r == 0 && cfg->lead)
        r = make_part(t, cfg, err);
    else if (r == 0)
        r = wr_beside_enter(&t->at, err);
    if (r < 0)
        wr_set_target_close(t);
    else
        *ret = t;
    return r;
}

void wr_set_target_close(struct wr_set_target *t)
{
    if (!t)
        return;
    unclaim(t);
    wr_beside_done(&t->at);
    free(t);
}

bool wr_set_target_continues(const struct wr_set_target *t)
{
    return t->continues;
}

int wr_set_target_space(struct wr_set_target *t, uint64_t *ret, weir_err *err)
{
    *ret = UINT64_MAX;
    return t->at.store->ops->space ? wr_store_space(t->at.store, ret, err) : 0;
}

int wr_set_target_mkdir(struct wr_set_target *t, const char *path,
                        weir_err *err)
{
    weir_err why;
    int r = wr_store_change(t->at.inside, WR_MKDIR, path, NULL, &why);

    return r == WEIR_EEXIST ? 0 : wr_fail_as(err, r, &why);
}

int wr_set_target_has(struct wr_set_target *t, const char *path, uint64_t *ret,
                      weir_err *err)
{
    struct wr_stat is;
    weir_err why;
    int r = t->at.inside->ops->stat(t->at.inside, path, &is, &why);

    if (r == WEIR_ENOENT) {
        *ret = 0;
        return 0;
    }
    if (r == 0)
        *ret = is.size;
    return wr_fail_as(err, r, &why);
}

/* --- files --- */

/* "a/b.npz" -> "a/.b.npz.tmp". */
static int hidden_path(const char *path, char *buf, weir_err *err)
{
    const char *slash = strrchr(path, '/');
    int dir = slash ? (int)(slash + 1 - path) : 0;
    int n = snprintf(buf, PATH_MAX, "%.*s.%s.tmp", dir, path, path + dir);

    if (n < 0 || n >= PATH_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    return 0;
}

int wr_set_target_begin(struct wr_set_target *t, const char *path,
                        struct wr_object **ret, weir_err *err)
{
    struct wr_store *st = t->at.inside;
    char full[PATH_MAX];
    weir_err why;
    int r = hidden_path(path, full, err);

    if (r < 0)
        return r;
    r = st->ops->object_open(st, full, WR_OPEN_CREATE, ret, &why);
    if (r == WEIR_EEXIST) {
        r = wr_store_change(st, WR_REMOVE, full, NULL, &why);
        if (r == 0)
            r = st->ops->object_open(st, full, WR_OPEN_CREATE, ret, &why);
    }
    return wr_fail_as(err, r, &why);
}

int wr_set_target_done(struct wr_set_target *t, const char *path,
                       struct wr_object *o, bool ok, weir_err *err)
{
    char hidden[PATH_MAX];
    int r = o->ops->close(o, /* sync= */ false, ok ? err : NULL);

    if (hidden_path(path, hidden, err) < 0)
        return WEIR_ELIMIT;
    if (!ok || r < 0) {
        wr_store_change(t->at.inside, WR_REMOVE, hidden, NULL, NULL);
        return r;
    }
    return wr_store_change(t->at.inside, WR_RENAME, hidden, path, err);
}

void wr_set_target_discard(struct wr_set_target *t)
{
    wr_tree_remove(t->at.store, t->at.part, WR_TREE_ALL, NULL);
}

int wr_set_target_commit(struct wr_set_target *t, weir_err *err)
{
    struct wr_store *st = t->at.store;
    int r = wr_beside_share(&t->at, err);

    unclaim(t);
    if (r == 0 && t->replace)
        r = wr_beside_check_owner(&t->at, t->at.old, err);
    if (r == 0 && t->replace) {
        /* One that a killed run left behind, and nothing else. */
        if (is_ours(st, t->at.old))
            wr_tree_remove(st, t->at.old, WR_TREE_ALL, NULL);
        r = wr_store_change(st, WR_RENAME_NEW, t->at.name, t->at.old, err);
    }
    if (r < 0)
        return r;
    r = wr_store_change(st, WR_RENAME, t->at.part, t->at.name, err);
    if (r < 0) {
        if (t->replace)
            wr_store_change(st, WR_RENAME, t->at.old, t->at.name, NULL);
        return r;
    }
    return t->replace ? wr_tree_remove(st, t->at.old, WR_TREE_ALL, err) : 0;
}
