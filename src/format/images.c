/* images.c - a tree of pictures, one folder per class.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The folders in the root are the classes, numbered in the order of their
 * names, byte by byte, whether they hold pictures or not: so the training and
 * the validation half of a data set agree. Files at any depth below belong to
 * the class of that first folder. */
#include "format/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/decode.h"
#include "format/format.h"
#include "format/listing.h"

#define MAX_PATH 4096 /* bytes of a path below the root */

struct folder_id {
    uint64_t dev, ino;
};

struct tree_walk {
    struct wr_index_job *job; /* borrowed */
    weir_err *err;            /* borrowed; may be NULL */
    struct wr_ahead *ahead;   /* owned: the folders still to be entered */
    int canceled;             /* what the tick returned; 0: it went on */
    unsigned depth;           /* folders above the one being read */
    uint32_t label;
    size_t path_len;
    char path[MAX_PATH]; /* of the folder being read */
    struct folder_id
        above[WR_IMAGES_DEPTH]; /* the folders from the root to here */
};

static bool is_wanted(const struct wr_entry *e)
{
    if (e->name[0] == '.')
        return false;
    return e->kind == WR_KIND_DIR || wr_is_picture_name(e->name);
}

static int tick(void *arg)
{
    struct tree_walk *w = arg;

    w->canceled = wr_index_job_progress(w->job, w->err);
    return w->canceled;
}

static int walk_folder(struct tree_walk *w, const struct wr_folder *f);

/* Is the folder at w->path one of those above it? */
static bool is_loop(const struct tree_walk *w, const struct wr_stat *st)
{
    for (unsigned k = 0; k < w->depth; k++)
        if (w->above[k].dev == st->dev && w->above[k].ino == st->ino)
            return true;
    return false;
}

/* Appends "/name" to w->path; false when it does not fit. */
static bool push_name(struct tree_walk *w, const char *name)
{
    size_t slash = w->path_len ? 1 : 0;
    size_t len = strlen(name);

    if (w->path_len + slash + len >= sizeof(w->path))
        return false;
    if (slash)
        w->path[w->path_len] = '/';
    memcpy(w->path + w->path_len + slash, name, len + 1);
    w->path_len += slash + len;
    return true;
}

static void pop_name(struct tree_walk *w, size_t len)
{
    w->path_len = len;
    w->path[len] = '\0';
}

static void add_issue(struct tree_walk *w, int code, const char *reason)
{
    wr_index_add_issue(w->job->index, w->path, code, reason);
}

/* The folder at w->path, unless something is wrong with it: then that is
 * remembered, and the walk goes on. */
static int enter_folder(struct tree_walk *w, const struct wr_folder *f)
{
    if (f->stat_r < 0) {
        wr_index_job_issue(w->job, w->path, &f->err);
        return 0;
    }
    if (is_loop(w, &f->stat)) {
        add_issue(w, WEIR_EFORMAT, "a link back to a folder above it");
        return 0;
    }
    if (w->depth >= WR_IMAGES_DEPTH) {
        add_issue(w, WEIR_ELIMIT, "more than 64 folders inside each other");
        return 0;
    }
    if (w->depth == 1) {
        int64_t label = wr_index_add_class(w->job->index, w->path, w->err);

        if (label < 0)
            return (int)label;
        w->label = (uint32_t)label;
    }
    w->above[w->depth++] = (struct folder_id){f->stat.dev, f->stat.ino};
    return walk_folder(w, f);
}

static int fail_folder(struct tree_walk *w)
{
    return w->canceled ? w->canceled
                       : wr_fail(w->err, WEIR_ENOMEM, "out of memory");
}

static int add_folder(struct tree_walk *w, const char *name)
{
    size_t len = w->path_len;
    unsigned depth = w->depth;
    uint32_t label = w->label;
    struct wr_folder *f;
    int r;

    if (!push_name(w, name)) {
        add_issue(w, WEIR_ELIMIT, "holds a folder whose path is too long");
        return 0;
    }
    f = wr_ahead_pop(w->ahead);
    r = f ? enter_folder(w, f) : fail_folder(w);
    wr_folder_free(f);
    w->depth = depth;
    w->label = label;
    pop_name(w, len);
    return r;
}

/* A name with a picture's ending that is no file: a link to nothing, a pipe. */
static void add_other(struct tree_walk *w, const char *name)
{
    static const char reason[] = "not a file, or a link to nothing";
    struct wr_store *store = w->job->store;
    size_t len = w->path_len;
    struct wr_stat st;
    weir_err e;

    if (push_name(w, name)) {
        int r = store->ops->stat(store, w->path, &st, &e);

        if (wr_index_fails(r))
            wr_index_job_issue(w->job, w->path, &e);
        else if (r == WEIR_ENOENT)
            wr_index_add_missing(w->job->index, w->path, reason);
        else
            add_issue(w, WEIR_ENOENT, reason);
    }
    pop_name(w, len);
}

static void add_link(struct tree_walk *w, const char *name)
{
    size_t len = w->path_len;

    if (push_name(w, name))
        wr_index_job_link(w->job, w->path);
    pop_name(w, len);
}

static int add_file(struct tree_walk *w, int64_t *dir, const char *name,
                    const struct wr_listed *file)
{
    struct wr_index *ix = w->job->index;
    int64_t object;

    if (file->link)
        add_link(w, name);
    if (*dir < 0)
        *dir = wr_index_add_dir(ix, w->path, w->err);
    if (*dir < 0)
        return (int)*dir;
    object = wr_index_add_object(ix, *dir, name, file->size, w->err);
    if (object < 0)
        return (int)object;
    wr_index_set_identity(ix, file->identity);
    return wr_index_add_whole(ix, 0, w->label, w->err);
}

static int add_entries(struct tree_walk *w, const struct wr_listing *l)
{
    int64_t dir = -1; /* interned with its first picture */
    int r = 0;

    for (size_t k = 0; k < l->count && r == 0; k++) {
        const char *name = wr_listing_name(l, k);

        if (l->entries[k].kind == WR_KIND_DIR)
            r = add_folder(w, name);
        else if (l->entries[k].kind == WR_KIND_FILE)
            r = add_file(w, &dir, name, &l->entries[k]);
        else
            add_other(w, name);
    }
    return r;
}

/* Has the folders in `l` listed ahead, the first one first. */
static int push_folders(struct tree_walk *w, const struct wr_listing *l)
{
    size_t len = w->path_len;
    bool ok = true;

    for (size_t k = l->count; k-- > 0 && ok;) {
        if (l->entries[k].kind != WR_KIND_DIR ||
            !push_name(w, wr_listing_name(l, k)))
            continue;
        ok = wr_ahead_push(w->ahead, w->path);
        pop_name(w, len);
    }
    wr_ahead_go(w->ahead);
    return ok ? 0 : wr_fail(w->err, WEIR_ENOMEM, "out of memory");
}

static int walk_folder(struct tree_walk *w, const struct wr_folder *f)
{
    int r = 0;

    if (f->list_r < 0 &&
        (f->stop || w->depth == 1 || wr_index_fails(f->list_r))) {
        if (w->err && !w->canceled) /* the tick has said why */
            *w->err = f->err;
        return f->list_r;
    }
    if (f->list_r < 0)
        wr_index_job_issue(w->job, w->path, &f->err);
    else
        r = wr_index_job_stamp(w->job, w->path, &f->stat, w->err);
    if (r == 0)
        r = wr_index_add_ignored(w->job->index, &f->listing.ignored, w->err);
    if (r == 0)
        r = push_folders(w, &f->listing);
    if (r == 0)
        r = add_entries(w, &f->listing);
    return r < 0 ? r : wr_index_job_progress(w->job, w->err);
}

static int walk_root(struct tree_walk *w)
{
    struct wr_folder *f;
    int r;

    if (!wr_ahead_push(w->ahead, ""))
        return wr_fail(w->err, WEIR_ENOMEM, "out of memory");
    f = wr_ahead_pop(w->ahead);
    if (!f)
        return fail_folder(w);
    if (f->stat_r < 0) {
        r = f->stat_r;
        if (w->err)
            *w->err = f->err;
    } else {
        w->above[w->depth++] = (struct folder_id){f->stat.dev, f->stat.ino};
        r = walk_folder(w, f);
    }
    wr_folder_free(f);
    return r;
}

static int images_probe(struct wr_store *st, const char *leaf)
{
    if (leaf)
        return wr_is_picture_name(leaf) ? 90 : 0;
    return 50; /* any folder may be a tree of pictures */
}

/* A data set of the one picture that was named. */
static int index_one(struct wr_index_job *job, weir_err *err)
{
    struct wr_stat st;
    int64_t k;
    int r;

    r = job->store->ops->stat(job->store, job->leaf, &st, err);
    if (r < 0)
        return r;
    r = wr_index_job_stamp(job, job->leaf, &st, err);
    if (r < 0)
        return r;
    k = wr_index_add_dir(job->index, "", err);
    if (k >= 0)
        k = wr_index_add_object(job->index, k, job->leaf, st.size, err);
    if (k < 0)
        return (int)k;
    wr_index_set_identity(job->index, st.identity);
    return wr_index_add_whole(job->index, 0, WEIR_NO_LABEL, err);
}

static int images_index(struct wr_index_job *job, weir_err *err)
{
    struct wr_ahead_config ahead = {
        .store = job->store,
        .threads = wr_ahead_threads(job->store),
        .wanted = is_wanted,
        .ignored = wr_listing_is_ignored,
        .tick = tick,
    };
    struct tree_walk *w;
    int r = wr_index_job_picture(job, /* unpacked= */ false, err);

    if (r < 0)
        return r;
    if (job->leaf)
        return index_one(job, err);
    w = calloc(1, sizeof(*w));
    ahead.arg = w;
    if (!w || !(w->ahead = wr_ahead_new(&ahead))) {
        free(w);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    w->job = job;
    w->err = err;
    w->label = WEIR_NO_LABEL;
    r = walk_root(w);
    wr_ahead_free(w->ahead);
    free(w);
    return r;
}

const struct wr_format_ops wr_format_images = {
    .name = "images",
    .help =
        "a tree of pictures (JPEG, PNG, WebP, TIFF, ...), one folder per class",
    .folders_are_classes = true,
    .probe = images_probe,
    .index = images_index,
};
