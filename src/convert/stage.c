/* stage.c - the folder in the making: kept between runs, then renamed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/stage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own.h"
#include "convert/made.h"
#include "convert/stage_tree.h"
#include "storage/beside.h"

#define JOB_LIMIT 65536u
#define SLURP_MAX (64u << 20)

static const struct wr_tree_rule job_last = {WR_STAGE_JOB, UINT_MAX};

struct wr_stage {
    struct wr_beside at; /* where it is to be */
    const char *target;  /* borrowed from the configuration, as `job` */
    const char *job;
    int lock_fd;  /* owned; -1: none */
    bool replace; /* a folder with content stands in the way */
    bool fresh;   /* this run has made the staging folder */
    bool committed;
    int (*step)(void *arg); /* may be NULL */
    void *step_arg;         /* borrowed */
};

const char *wr_stage_name(const struct wr_stage *st)
{
    return st->at.part;
}

/* Before each change: where tests make it fail, or kill the process. */
static int take_step(struct wr_stage *st, weir_err *err)
{
    int r = st->step ? st->step(st->step_arg) : 0;

    return r ? wr_fail(err, r, "%s", weir_strerror(r)) : 0;
}

static int change(struct wr_stage *st, enum wr_change what, const char *path,
                  const char *to, weir_err *err)
{
    int r = take_step(st, err);

    return r < 0 ? r : wr_store_change(st->at.inside, what, path, to, err);
}

/* --- files --- */

int64_t wr_stage_size(struct wr_stage *st, const char *path)
{
    struct wr_stat is;
    int r = st->at.inside->ops->stat(st->at.inside, path, &is, NULL);

    return r < 0 ? r : (int64_t)is.size;
}

int wr_stage_create(struct wr_stage *st, const char *path,
                    struct wr_object **ret, weir_err *err)
{
    struct wr_store *in = st->at.inside;
    weir_err why;
    int r = take_step(st, err);

    if (r < 0)
        return r;
    r = in->ops->object_open(in, path, WR_OPEN_CREATE, ret, &why);
    if (r == WEIR_EEXIST) {
        r = in->ops->change(in, WR_REMOVE, path, NULL, &why);
        if (r == 0)
            r = in->ops->object_open(in, path, WR_OPEN_CREATE, ret, &why);
    }
    return wr_fail_as(err, r, &why);
}

int wr_stage_write(struct wr_stage *st, struct wr_object *o, const void *bytes,
                   size_t len, uint64_t offset, weir_err *err)
{
    int r = take_step(st, err);

    return r < 0 ? r : o->ops->write(o, bytes, len, offset, err);
}

int wr_stage_sync(struct wr_stage *st, struct wr_object *o, weir_err *err)
{
    int r = take_step(st, err);

    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    return o->ops->close(o, /* sync= */ true, err);
}

int wr_stage_rename(struct wr_stage *st, const char *path, const char *to,
                    weir_err *err)
{
    return change(st, WR_RENAME, path, to, err);
}

int wr_stage_remove(struct wr_stage *st, const char *path, weir_err *err)
{
    return change(st, WR_REMOVE, path, NULL, err);
}

int wr_stage_mkdir(struct wr_stage *st, const char *path, weir_err *err)
{
    weir_err why;
    int r = change(st, WR_MKDIR, path, NULL, &why);

    if (r == WEIR_EEXIST)
        return 0;
    if (r < 0 && err)
        *err = why;
    return r;
}

int wr_stage_put(struct wr_stage *st, const char *path, const void *bytes,
                 size_t len, weir_err *err)
{
    char hidden[PATH_MAX];
    struct wr_object *o;
    int r;

    if (snprintf(hidden, sizeof(hidden), WR_STAGE_HIDDEN "put-%s",
                 path + (path[0] == '.')) >= (int)sizeof(hidden))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    r = wr_stage_create(st, hidden, &o, err);
    if (r < 0)
        return r;
    r = wr_stage_write(st, o, bytes, len, 0, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    r = wr_stage_sync(st, o, err);
    return r < 0 ? r : wr_stage_rename(st, hidden, path, err);
}

int wr_stage_slurp(struct wr_stage *st, const char *path, char **ret,
                   size_t *ret_len, weir_err *err)
{
    return wr_store_slurp(st->at.inside, path, SLURP_MAX, ret, ret_len, err);
}

int wr_stage_list(struct wr_stage *st, const char *path, wr_list_fn fn,
                  void *arg, weir_err *err)
{
    return st->at.inside->ops->list(st->at.inside, path, fn, arg, err);
}

int wr_stage_sync_dir(struct wr_stage *st, const char *path, weir_err *err)
{
    return change(st, WR_SYNC_DIR, path, NULL, err);
}

/* --- opening --- */

/* Two runs at once would write into each other's files. A lock goes away with
 * the process that held it, however that ended. Others cannot open the folder,
 * and so not lock it either. */
static int lock_stage(struct wr_stage *st, weir_err *err)
{
    char path[PATH_MAX];
    int r;

    if (!wr_beside_local_path(&st->at, st->at.part, path, sizeof(path)))
        return 0;
    r = wr_own_dir(path, 0, &st->lock_fd, err);
    if (r < 0)
        return r;
    if (flock(st->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return wr_fail(err, WEIR_ESTATE, "'%s': another run is at work on it",
                       st->at.part);
    return 0; /* where there are no locks, there is no check */
}

/* Whether nothing but weir's own would be lost. */
static int check_made(struct wr_stage *st, weir_err *err)
{
    return wr_made_check(st->at.store, st->at.name, st->target,
                         /* partly= */ false, err);
}

static int check_target(struct wr_stage *st, const struct wr_stage_config *cfg,
                        weir_err *err)
{
    int r = wr_beside_check(&st->at, cfg->target, &st->replace, err);

    if (r < 0 || !st->replace)
        return r;
    if (!cfg->force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is not empty; --force replaces what weir "
                       "convert has made",
                       cfg->target);
    r = check_made(st, err);
    return r < 0 ? r : wr_beside_check_owner(&st->at, st->at.old, err);
}

/* The job that an earlier run was at; NULL: it had not come that far. */
static int read_job(struct wr_stage *st, char **ret, weir_err *err)
{
    size_t len;
    weir_err why;
    int r = wr_store_slurp(st->at.inside, WR_STAGE_JOB, JOB_LIMIT, ret, &len,
                           &why);

    if (r == WEIR_ENOENT &&
        wr_stage_tree_has_only(st->at.inside, "", WR_STAGE_HIDDEN)) {
        *ret = NULL;
        return 0;
    }
    if (r == WEIR_ENOENT)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is in the way and was not made by weir convert: "
                       "remove it yourself",
                       st->at.part);
    return r < 0 ? wr_fail(err, r, "%s", why.msg) : 0;
}

/* A walk that removes some of what it meets. */
struct sweep {
    struct wr_stage *st; /* borrowed */
    weir_err *err;       /* borrowed; may be NULL */
};

static int remove_hidden(void *arg, const struct wr_entry *e)
{
    const struct sweep *s = arg;

    if (strncmp(e->name, WR_STAGE_HIDDEN, strlen(WR_STAGE_HIDDEN)) != 0)
        return 0;
    return wr_stage_remove(s->st, e->name, s->err);
}

int wr_stage_sweep(struct wr_stage *st, weir_err *err)
{
    struct sweep sweep = {st, err};

    return wr_stage_list(st, "", remove_hidden, &sweep, err);
}

static int new_stage(struct wr_stage *st, const char *job, weir_err *err)
{
    int r = take_step(st, err);

    if (r == 0)
        r = wr_beside_make(&st->at, err);
    st->fresh = r == 0;
    if (r == 0)
        r = lock_stage(st, err);
    if (r == 0)
        r = wr_stage_put(st, WR_STAGE_JOB, job, strlen(job), err);
    return r;
}

/* The same, but for the note of one that was killed when all was made. */
static bool is_same_job(const char *job, const char *wanted)
{
    size_t len = strlen(wanted);

    return !strncmp(job, wanted, len) &&
           (!job[len] ||
            !strncmp(job + len, WR_MADE_LINE, strlen(WR_MADE_LINE)));
}

/* Takes the folder that an earlier run left. */
static int take_stage(struct wr_stage *st, const struct wr_stage_config *cfg,
                      weir_err *err)
{
    char *job = NULL;
    int r = lock_stage(st, err);

    if (r == 0)
        r = read_job(st, &job, err);
    if (r < 0)
        return r;
    if (job && !is_same_job(job, cfg->job) && !cfg->restart)
        r = wr_fail(err, WEIR_ESTATE,
                    "'%s': holds an unfinished conversion with other settings "
                    "or of other data; --restart discards it and starts over",
                    st->at.part);
    if (r == 0 && job && cfg->restart) {
        close(st->lock_fd);
        st->lock_fd = -1;
        r = wr_tree_remove(st->at.store, st->at.part, &job_last, err);
        if (r == 0)
            r = new_stage(st, cfg->job, err);
    } else if (r == 0) {
        r = wr_stage_sweep(st, err);
        if (r == 0 && !job)
            r = wr_stage_put(st, WR_STAGE_JOB, cfg->job, strlen(cfg->job), err);
    }
    free(job);
    return r;
}

int wr_stage_open(struct wr_stage **ret, const struct wr_stage_config *cfg,
                  weir_err *err)
{
    struct wr_stage *st = calloc(1, sizeof(*st));
    weir_err why;
    int r;

    if (!st)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    st->lock_fd = -1;
    st->target = cfg->target;
    st->job = cfg->job;
    st->step = cfg->step;
    st->step_arg = cfg->step_arg;
    r = wr_beside_init(&st->at, cfg->target, err);
    if (r == 0)
        r = check_target(st, cfg, err);
    if (r == 0) {
        r = wr_beside_enter(&st->at, &why);
        r = r == 0             ? take_stage(st, cfg, err)
            : r == WEIR_ENOENT ? new_stage(st, cfg->job, err)
                               : wr_fail_as(err, r, &why);
    }
    if (r < 0)
        wr_stage_close(st, /* drop= */ st->fresh);
    else
        *ret = st;
    return r;
}

/* --- the end --- */

static int remove_ours(void *arg, const struct wr_entry *e)
{
    const struct sweep *s = arg;

    if (e->name[0] != '.' || !strcmp(e->name, WR_STAGE_JOB))
        return 0;
    return wr_stage_remove(s->st, e->name, s->err);
}

/* One step of the way into its place: beside the staging folder. */
static int move(struct wr_stage *st, const char *from, const char *to,
                weir_err *err)
{
    int r = take_step(st, err);

    return r < 0 ? r
                 : st->at.store->ops->change(st->at.store, WR_RENAME, from, to,
                                             err);
}

/* Completes the job file: what is there was all made by this job. */
static int note_made(struct wr_stage *st, weir_err *err)
{
    char line[WR_MADE_MAX], *text = NULL;
    int r = wr_made_note(st->at.inside, ".", line, err);

    if (r < 0)
        return r;
    if (asprintf(&text, "%s%s", st->job, line) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_stage_put(st, WR_STAGE_JOB, text, strlen(text), err);
    free(text);
    return r;
}

/* Removes what a killed run left between the two renames. */
static int remove_old(struct wr_stage *st, weir_err *err)
{
    int r = wr_beside_check_owner(&st->at, st->at.old, err);

    if (r < 0 || !wr_stage_tree_is_ours(st->at.store, st->at.old))
        return r;
    r = wr_made_check(st->at.store, st->at.old, st->at.old, /* partly= */ true,
                      err);
    return r < 0 ? r : wr_tree_remove(st->at.store, st->at.old, &job_last, err);
}

int wr_stage_commit(struct wr_stage *st, weir_err *err)
{
    const struct wr_storage_ops *ops = st->at.store->ops;
    struct sweep sweep = {st, err};
    int r = wr_stage_list(st, "", remove_ours, &sweep, err);

    if (r == 0)
        r = note_made(st, err);
    if (r == 0)
        r = wr_stage_sync_dir(st, "", err);
    if (r == 0)
        r = remove_old(st, err);
    if (r == 0 && st->replace) /* once more: the work took its time */
        r = check_made(st, err);
    if (r == 0)
        r = wr_beside_share(&st->at, err);
    if (r == 0) /* its mode, too */
        r = wr_stage_sync_dir(st, "", err);
    if (r == 0 && st->replace)
        r = move(st, st->at.name, st->at.old, err);
    if (r < 0)
        return r;
    r = move(st, st->at.part, st->at.name, err);
    if (r < 0) {
        if (st->replace)
            ops->change(st->at.store, WR_RENAME, st->at.old, st->at.name, NULL);
        return r;
    }
    st->committed = true;
    r = ops->change(st->at.store, WR_SYNC_DIR, "", NULL, err);
    if (r == 0 && st->replace)
        r = wr_tree_remove(st->at.store, st->at.old, &job_last, err);
    return r;
}

void wr_stage_close(struct wr_stage *st, bool drop)
{
    if (!st)
        return;
    if (drop && !st->committed)
        wr_tree_remove(st->at.store, st->at.part, &job_last, NULL);
    if (st->lock_fd >= 0)
        close(st->lock_fd);
    wr_beside_done(&st->at);
    free(st);
}
