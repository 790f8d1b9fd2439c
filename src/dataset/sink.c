/* sink.c - a data set in the making: a folder that appears whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dataset/sink.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own.h"
#include "dataset/made.h"
#include "storage/beside.h"

#define SLURP_MAX (64u << 20)

/* Names of files that are not complete; those of weir convert began with the
 * second once, and its unfinished work may still be there. */
#define HIDDEN_END   ".tmp"
#define HIDDEN_BEGIN ".tmp-"

struct wr_sink {
    struct wr_sink_config cfg;
    struct wr_beside at;      /* where it is to be */
    struct wr_tree_rule rule; /* the job file goes last */
    struct wr_object *job;    /* owned: the job file, locked; NULL: not */
    int lock_fd;              /* owned: the part, locked; -1: not */
    bool replace;             /* a folder with content stands in the way */
    bool fresh;               /* this run has made the part */
    bool resumes;
    bool committed;
};

/* Before each change: where tests make it fail, or kill the process. */
static int take_step(struct wr_sink *s, weir_err *err)
{
    int r = s->cfg.step ? s->cfg.step(s->cfg.step_arg) : 0;

    return r ? wr_fail(err, r, "%s", weir_strerror(r)) : 0;
}

static int change_inside(struct wr_sink *s, enum wr_change what,
                         const char *path, const char *to, weir_err *err)
{
    int r = take_step(s, err);

    return r < 0 ? r : wr_store_change(s->at.inside, what, path, to, err);
}

/* --- files --- */

/* "a/b.npz" -> "a/.b.npz.tmp"; what is hidden keeps its one dot. */
static int hide_path(const char *path, char buf[PATH_MAX], weir_err *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    int n = snprintf(buf, PATH_MAX, "%.*s.%s" HIDDEN_END, (int)(base - path),
                     path, base + (base[0] == '.'));

    if (n < 0 || n >= PATH_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    return 0;
}

/* A new file; one that a killed run left there is removed. */
static int create_file(struct wr_sink *s, const char *path,
                       struct wr_object **ret, weir_err *err)
{
    struct wr_store *in = s->at.inside;
    weir_err why;
    int r = take_step(s, err);

    if (r < 0)
        return r;
    r = in->ops->object_open(in, path, WR_OPEN_CREATE, ret, &why);
    if (r == WEIR_EEXIST) {
        r = wr_store_change(in, WR_REMOVE, path, NULL, &why);
        if (r == 0)
            r = in->ops->object_open(in, path, WR_OPEN_CREATE, ret, &why);
    }
    return wr_fail_as(err, r, &why);
}

/* Closes a file; unless it is `ok` and on the medium, where it has to be, it is
 * removed. */
static int close_file(struct wr_sink *s, const char *path, struct wr_object *o,
                      bool ok, weir_err *err)
{
    int r = ok ? take_step(s, err) : 0;
    bool good = ok && r == 0;
    int closed = o->ops->close(o, good && s->cfg.maker->synced,
                               good ? err : NULL);

    r = r < 0 ? r : closed;
    if (!ok || r < 0)
        wr_store_change(s->at.inside, WR_REMOVE, path, NULL, NULL);
    return ok ? r : 0;
}

int wr_sink_begin(struct wr_sink *s, const char *path, struct wr_object **ret,
                  weir_err *err)
{
    char hidden[PATH_MAX];
    int r = hide_path(path, hidden, err);

    return r < 0 ? r : create_file(s, hidden, ret, err);
}

int wr_sink_write(struct wr_sink *s, struct wr_object *o, const void *bytes,
                  size_t len, uint64_t offset, weir_err *err)
{
    int r = take_step(s, err);

    return r < 0 ? r : wr_object_write(o, bytes, len, offset, err);
}

int wr_sink_end(struct wr_sink *s, const char *path, struct wr_object *o,
                bool ok, weir_err *err)
{
    char hidden[PATH_MAX];
    int r = hide_path(path, hidden, err);

    if (r < 0) { /* and so it was never begun */
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    r = close_file(s, hidden, o, ok, err);
    if (!ok || r < 0)
        return r;
    r = change_inside(s, WR_RENAME, hidden, path, err);
    if (r < 0)
        wr_store_change(s->at.inside, WR_REMOVE, hidden, NULL, NULL);
    return r;
}

int wr_sink_put(struct wr_sink *s, const char *path, const void *bytes,
                size_t len, weir_err *err)
{
    struct wr_object *o;
    int r = wr_sink_begin(s, path, &o, err);

    if (r < 0)
        return r;
    r = len ? wr_sink_write(s, o, bytes, len, 0, err) : 0;
    if (r < 0)
        wr_sink_end(s, path, o, /* ok= */ false, NULL);
    else
        r = wr_sink_end(s, path, o, /* ok= */ true, err);
    return r;
}

int wr_sink_put_bare(struct wr_sink *s, const char *path, const void *bytes,
                     size_t len, weir_err *err)
{
    struct wr_object *o;
    int r = create_file(s, path, &o, err), closed;

    if (r < 0)
        return r;
    r = len ? wr_sink_write(s, o, bytes, len, 0, err) : 0;
    closed = close_file(s, path, o, r == 0, err);
    return r < 0 ? r : closed;
}

int64_t wr_sink_size(struct wr_sink *s, const char *path, weir_err *err)
{
    struct wr_stat is;
    int r = s->at.inside->ops->stat(s->at.inside, path, &is, err);

    return r < 0 ? r : (int64_t)is.size;
}

int wr_sink_slurp(struct wr_sink *s, const char *path, char **ret,
                  size_t *ret_len, weir_err *err)
{
    return wr_store_slurp(s->at.inside, path, SLURP_MAX, ret, ret_len, err);
}

int wr_sink_mkdir(struct wr_sink *s, const char *path, weir_err *err)
{
    weir_err why;
    int r = change_inside(s, WR_MKDIR, path, NULL, &why);

    return r == WEIR_EEXIST ? 0 : wr_fail_as(err, r, &why);
}

/* A walk over the folders of the part. */
struct sink_walk {
    struct wr_sink *sink; /* borrowed */
    const char *path;     /* borrowed: of the folder; "" for the first */
    weir_err *err;        /* borrowed; may be NULL */
};

static int sync_folder(void *arg, const struct wr_entry *e)
{
    const struct sink_walk *w = arg;
    struct wr_store *in = w->sink->at.inside;
    char path[PATH_MAX];
    struct sink_walk below = {w->sink, path, w->err};
    int r;

    if (e->kind != WR_KIND_DIR || e->name[0] == '.')
        return 0;
    if (snprintf(path, sizeof(path), "%s%s%s", w->path, *w->path ? "/" : "",
                 e->name) >= (int)sizeof(path))
        return wr_fail(w->err, WEIR_ELIMIT, "'%s': path too long", w->path);
    r = in->ops->list(in, path, sync_folder, &below, w->err);
    return r < 0 ? r : change_inside(w->sink, WR_SYNC_DIR, path, NULL, w->err);
}

int wr_sink_sync_folders(struct wr_sink *s, weir_err *err)
{
    struct sink_walk w = {s, "", err};

    return s->cfg.maker->synced
               ? s->at.inside->ops->list(s->at.inside, "", sync_folder, &w, err)
               : 0;
}

int wr_sink_space(struct wr_sink *s, uint64_t *ret, weir_err *err)
{
    *ret = UINT64_MAX;
    return s->at.store->ops->space ? wr_store_space(s->at.store, ret, err) : 0;
}

bool wr_sink_resumes(const struct wr_sink *s)
{
    return s->resumes;
}

bool wr_sink_local_path(const struct wr_sink *s, char *buf, size_t cap)
{
    char path[PATH_MAX], full[PATH_MAX];
    int n;

    if (!wr_beside_local_path(&s->at, s->at.name, path, sizeof(path)) ||
        !realpath(path, full))
        return false;
    n = snprintf(buf, cap, "%s", full);
    return n >= 0 && (size_t)n < cap;
}

/* --- two runs at once would write into each other's files --- */

static int fail_busy(const struct wr_sink *s, weir_err *err)
{
    return wr_fail(err, WEIR_EBUSY, "'%s': another run is at work on it",
                   s->at.part);
}

/* A lock goes away with the process that held it, however that ended. Others
 * cannot open the folder, and so not lock it either. Where there are no locks,
 * there is no check. */
static int lock_part(struct wr_sink *s, weir_err *err)
{
    char path[PATH_MAX];
    int r;

    if (!wr_beside_local_path(&s->at, s->at.part, path, sizeof(path)))
        return 0;
    r = wr_own_dir(path, 0, &s->lock_fd, err);
    if (r < 0)
        return r;
    return flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK
               ? fail_busy(s, err)
               : 0;
}

/* The job file, too: of file systems such as NFS that lock no folders. */
static int lock_job(struct wr_sink *s, weir_err *err)
{
    struct wr_store *in = s->at.inside;
    weir_err why;
    int r = in->ops->object_open(in, s->cfg.maker->job_file, WR_OPEN_WRITE,
                                 &s->job, &why);

    if (r == 0)
        r = wr_object_lock(s->job, &why);
    if (r == WEIR_EBUSY)
        return fail_busy(s, err);
    return r == WEIR_ENOTSUP ? 0 : wr_fail_as(err, r, &why);
}

static void unlock_all(struct wr_sink *s)
{
    if (s->job)
        s->job->ops->close(s->job, /* sync= */ false, NULL);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->job = NULL;
    s->lock_fd = -1;
}

/* --- opening --- */

/* Whether nothing but the maker's own would be lost. */
static int check_made(struct wr_sink *s, const char *folder, const char *shown,
                      bool partly, weir_err *err)
{
    const struct wr_made_place place = {.maker = s->cfg.maker,
                                        .store = s->at.store,
                                        .folder = folder,
                                        .shown = shown};

    return wr_made_check(&place, partly, err);
}

static int check_target(struct wr_sink *s, weir_err *err)
{
    int r = wr_beside_check(&s->at, s->cfg.url, &s->replace, err);

    if (r < 0 || !s->replace)
        return r;
    if (!s->cfg.force)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is not empty; --force replaces %s", s->cfg.url,
                       s->cfg.maker->replaces);
    r = check_made(s, s->at.name, s->cfg.url, /* partly= */ false, err);
    return r < 0 ? r : wr_beside_check_owner(&s->at, s->at.old, err);
}

static bool is_hidden(const char *name)
{
    size_t len = strlen(name), end = strlen(HIDDEN_END);

    return !strncmp(name, HIDDEN_BEGIN, strlen(HIDDEN_BEGIN)) ||
           (name[0] == '.' && len > end &&
            !strcmp(name + len - end, HIDDEN_END));
}

static int stop_at_others(void *arg, const struct wr_entry *e)
{
    (void)arg;
    return !is_hidden(e->name);
}

/* The job that an earlier run was at; NULL: it had not come that far. */
static int read_job(struct wr_sink *s, char **ret, weir_err *err)
{
    struct wr_store *in = s->at.inside;
    const char *file = s->cfg.maker->job_file;
    size_t len;
    weir_err why;
    int r = wr_store_slurp(in, file, WR_MADE_JOB_MAX, ret, &len, &why);

    if (r == WEIR_ENOENT &&
        in->ops->list(in, "", stop_at_others, NULL, NULL) == 0) {
        *ret = NULL;
        return 0;
    }
    if (r == WEIR_ENOENT)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is in the way, and no %s in it says that %s made "
                       "it: remove it yourself",
                       s->at.part, file, s->cfg.maker->command);
    return wr_fail_as(err, r, &why);
}

static int remove_hidden(void *arg, const struct wr_entry *e)
{
    const struct sink_walk *w = arg;

    return is_hidden(e->name)
               ? change_inside(w->sink, WR_REMOVE, e->name, NULL, w->err)
               : 0;
}

int wr_sink_sweep(struct wr_sink *s, weir_err *err)
{
    struct sink_walk w = {s, "", err};

    return s->at.inside->ops->list(s->at.inside, "", remove_hidden, &w, err);
}

static int put_job(struct wr_sink *s, weir_err *err)
{
    int r = wr_sink_put(s, s->cfg.maker->job_file, s->cfg.job,
                        strlen(s->cfg.job), err);

    return r < 0 ? r : lock_job(s, err);
}

static int new_part(struct wr_sink *s, weir_err *err)
{
    int r = take_step(s, err);

    if (r == 0)
        r = wr_beside_make(&s->at, err);
    s->fresh = r == 0;
    if (r == 0)
        r = lock_part(s, err);
    return r < 0 ? r : put_job(s, err);
}

/* Goes on with a part of the same job, or begins it anew. */
static int reuse_part(struct wr_sink *s, const char *job, weir_err *err)
{
    int r = job ? lock_job(s, err) : 0;

    if (r == 0 && job && s->cfg.restart) {
        unlock_all(s);
        r = wr_tree_remove(s->at.store, s->at.part, &s->rule, err);
        return r < 0 ? r : new_part(s, err);
    }
    if (r == 0 && job && !wr_made_is_same(s->cfg.maker, job, s->cfg.job))
        return wr_fail(err, WEIR_ESTATE, "'%s': holds %s", s->at.part,
                       s->cfg.maker->other);
    if (r == 0)
        r = wr_sink_sweep(s, err);
    s->resumes = job != NULL;
    return r < 0 || job ? r : put_job(s, err);
}

/* Takes the folder that an earlier run left. */
static int take_part(struct wr_sink *s, weir_err *err)
{
    char *job = NULL;
    int r = lock_part(s, err);

    if (r == 0)
        r = read_job(s, &job, err);
    if (r == 0)
        r = reuse_part(s, job, err);
    free(job);
    return r;
}

static int lead(struct wr_sink *s, weir_err *err)
{
    weir_err why;
    int r = check_target(s, err);

    if (r < 0)
        return r;
    r = wr_beside_enter(&s->at, &why);
    return r == 0             ? take_part(s, err)
           : r == WEIR_ENOENT ? new_part(s, err)
                              : wr_fail_as(err, r, &why);
}

int wr_sink_open(struct wr_sink **ret, const struct wr_sink_config *cfg,
                 weir_err *err)
{
    struct wr_sink *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->cfg = *cfg;
    s->lock_fd = -1;
    s->rule = (struct wr_tree_rule){cfg->maker->job_file, UINT_MAX};
    r = wr_beside_init(&s->at, cfg->url, err);
    if (r == 0 && cfg->follows) {
        s->resumes = true; /* the first rank, or an earlier run, was here */
        r = wr_beside_enter(&s->at, err);
    } else if (r == 0) {
        r = lead(s, err);
    }
    if (r < 0)
        wr_sink_close(s, /* drop= */ s->fresh);
    else
        *ret = s;
    return r;
}

/* --- the end --- */

static int remove_ours(void *arg, const struct wr_entry *e)
{
    const struct sink_walk *w = arg;

    if (e->name[0] != '.' || !strcmp(e->name, w->sink->cfg.maker->job_file))
        return 0;
    return change_inside(w->sink, WR_REMOVE, e->name, NULL, w->err);
}

/* One step of the way into its place: beside the part. */
static int move_beside(struct wr_sink *s, const char *from, const char *to,
                       weir_err *err)
{
    int r = take_step(s, err);

    return r < 0 ? r : wr_store_change(s->at.store, WR_RENAME, from, to, err);
}

/* Completes the job file: what is there was all made by this job. */
static int note_made(struct wr_sink *s, weir_err *err)
{
    const struct wr_made_place place = {
        .maker = s->cfg.maker, .store = s->at.inside, .folder = "."};
    char line[WR_MADE_MAX], *text = NULL;
    int r = wr_made_note(&place, line, err);

    if (r < 0)
        return r;
    if (asprintf(&text, "%s%s", s->cfg.job, line) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_sink_put(s, s->cfg.maker->job_file, text, strlen(text), err);
    free(text);
    return r;
}

/* Removes what a killed run left between the two renames. */
static int remove_old(struct wr_sink *s, weir_err *err)
{
    char job[PATH_MAX];
    struct wr_stat is;
    int r = wr_beside_check_owner(&s->at, s->at.old, err);

    snprintf(job, sizeof(job), "%s/%s", s->at.old, s->cfg.maker->job_file);
    if (r < 0 || s->at.store->ops->stat(s->at.store, job, &is, NULL) < 0 ||
        is.kind != WR_KIND_FILE)
        return r;
    r = check_made(s, s->at.old, s->at.old, /* partly= */ true, err);
    return r < 0 ? r : wr_tree_remove(s->at.store, s->at.old, &s->rule, err);
}

static int sync_root(struct wr_sink *s, weir_err *err)
{
    return s->cfg.maker->synced ? change_inside(s, WR_SYNC_DIR, "", NULL, err)
                                : 0;
}

/* All that can be done before the folder is in its place. */
static int complete_part(struct wr_sink *s, weir_err *err)
{
    struct sink_walk w = {s, "", err};
    int r = s->at.inside->ops->list(s->at.inside, "", remove_ours, &w, err);

    if (r == 0)
        r = note_made(s, err);
    if (r == 0)
        r = sync_root(s, err);
    if (r == 0)
        r = remove_old(s, err);
    if (r == 0 && s->replace) /* once more: the work took its time */
        r = check_made(s, s->at.name, s->cfg.url, /* partly= */ false, err);
    if (r == 0)
        r = wr_beside_share(&s->at, err);
    return r < 0 ? r : sync_root(s, err); /* its mode, too */
}

int wr_sink_commit(struct wr_sink *s, weir_err *err)
{
    struct wr_store *st = s->at.store;
    int r = complete_part(s, err);

    if (r == 0 && s->replace)
        r = move_beside(s, s->at.name, s->at.old, err);
    if (r < 0)
        return r;
    r = move_beside(s, s->at.part, s->at.name, err);
    if (r < 0) {
        if (s->replace)
            wr_store_change(st, WR_RENAME, s->at.old, s->at.name, NULL);
        return r;
    }
    s->committed = true;
    if (s->cfg.maker->synced)
        r = wr_store_change(st, WR_SYNC_DIR, "", NULL, err);
    if (r == 0 && s->replace)
        r = wr_tree_remove(st, s->at.old, &s->rule, err);
    return r;
}

void wr_sink_close(struct wr_sink *s, bool drop)
{
    if (!s)
        return;
    if (drop && !s->committed && s->at.inside)
        wr_tree_remove(s->at.store, s->at.part, &s->rule, NULL);
    unlock_all(s);
    wr_beside_done(&s->at);
    free(s);
}
