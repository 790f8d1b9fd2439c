/* walk.c - the regular files below some paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/walk.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"

struct walk_find {
    dev_t dev;
    ino_t ino;
    uint64_t bytes;
    char *path; /* owned */
};

struct walk_list {
    struct walk_find *item; /* owned */
    size_t count, cap;
};

static void list_done(struct walk_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->item[i].path);
    free(l->item);
}

static int add_file(struct walk_list *l, const FTSENT *e, weir_err *err)
{
    char *path = strdup(e->fts_path);

    if (!path || !wr_grow(&l->item, &l->cap, l->count + 1, sizeof(*l->item))) {
        free(path);
        return wr_fail(err, WEIR_ENOMEM, "no memory for a list of files");
    }
    l->item[l->count++] = (struct walk_find){
        e->fts_statp->st_dev, e->fts_statp->st_ino,
        (uint64_t)e->fts_statp->st_size, path};
    return 0;
}

static void skip(struct wr_walk *w, const FTSENT *e)
{
    if (!w->skipped++)
        snprintf(w->reason, sizeof(w->reason), "'%s': %s", e->fts_path,
                 strerror(e->fts_errno));
}

static int visit(struct wr_walk *w, struct walk_list *l, const FTSENT *e,
                 weir_err *err)
{
    switch (e->fts_info) {
    case FTS_F:
        return add_file(l, e, err);
    case FTS_NS:
    case FTS_DNR:
    case FTS_ERR:
        if (e->fts_level == FTS_ROOTLEVEL)
            return wr_fail_errno(err, e->fts_errno, "'%s'", e->fts_path);
        skip(w, e);
        return 0;
    case FTS_SLNONE:
        if (e->fts_level == FTS_ROOTLEVEL)
            return wr_fail(err, WEIR_ENOENT, "'%s': a link to nothing",
                           e->fts_path);
        return 0;
    default: /* directories, loops, devices */
        return 0;
    }
}

static int by_inode(const void *a, const void *b)
{
    const struct walk_find *x = a, *y = b;

    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    if (x->ino != y->ino)
        return x->ino < y->ino ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Moves each file once from the list to the result. */
static int take_unique(struct wr_walk *w, struct walk_list *l, weir_err *err)
{
    w->paths = calloc(l->count + 1, sizeof(*w->paths));
    if (!w->paths)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a list of files");
    if (l->count)
        qsort(l->item, l->count, sizeof(*l->item), by_inode);
    for (size_t i = 0; i < l->count; i++) {
        struct walk_find *f = &l->item[i];

        if (i && f->dev == f[-1].dev && f->ino == f[-1].ino)
            continue;
        w->paths[w->count++] = f->path;
        w->bytes += f->bytes;
        f->path = NULL;
    }
    return 0;
}

int wr_walk_init(struct wr_walk *ret, char *const *roots, size_t root_count,
                 weir_err *err)
{
    char **argv = calloc(root_count + 1, sizeof(*argv));
    struct wr_walk w = {0};
    struct walk_list l = {0};
    FTS *fts = NULL;
    FTSENT *e;
    int r = 0;

    if (argv && root_count) {
        memcpy(argv, roots, root_count * sizeof(*argv));
        fts = fts_open(argv, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    }
    if (!fts) {
        r = wr_fail(err, argv ? WEIR_EINVAL : WEIR_ENOMEM,
                    "cannot walk through the paths");
        goto out;
    }
    while (r == 0 && (errno = 0, e = fts_read(fts)))
        r = visit(&w, &l, e, err);
    if (r == 0 && errno)
        r = wr_fail_errno(err, errno, "walking through the paths");
    if (r == 0)
        r = take_unique(&w, &l, err);
    if (r == 0)
        *ret = w;
out:
    if (fts)
        fts_close(fts);
    list_done(&l);
    free(argv);
    return r;
}

void wr_walk_done(struct wr_walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->paths[i]);
    free(w->paths);
    *w = (struct wr_walk){0};
}
