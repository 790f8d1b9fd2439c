/* folder.c - the folder of a study: cells, data, results.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/own.h"
#include "storage/beside.h"

#define TRIES  20
#define TRY_NS (100 * WR_NS_PER_MS)

/* What a study's folder may hold. */
static const char *const ours[] = {".",          "..",         "cells", "data",
                                   "study.json", "study.html", NULL};

void wr_folder_path(const struct wr_study *st, const char *name, char *buf)
{
    int n = snprintf(buf, WR_FOLDER_PATH, "%s/%s", st->cfg.folder, name);

    if (n >= WR_FOLDER_PATH) /* longer than any path: nothing is there */
        snprintf(buf, WR_FOLDER_PATH, "/dev/null/too-long");
}

static bool is_ours(const char *name)
{
    for (size_t k = 0; ours[k]; k++)
        if (!strcmp(name, ours[k]) ||
            (name[0] == '.' && strstr(name, "study."))) /* half-written */
            return true;
    return false;
}

/* A folder with other things in it is not a study's. */
static int check_folder(const char *path, weir_err *err)
{
    DIR *d = opendir(path);
    struct dirent *e;
    int r = 0;

    if (!d)
        return wr_fail_errno(err, errno, "'%s': cannot open", path);
    while (r == 0 && (e = readdir(d)))
        if (!is_ours(e->d_name))
            r = wr_fail(err, WEIR_EEXIST,
                        "'%s' has '%s' in it, which no study made: give a new "
                        "folder",
                        path, e->d_name);
    closedir(d);
    return r;
}

static int make(const char *path, weir_err *err)
{
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return wr_fail_errno(err, errno, "'%s': cannot make the folder", path);
    return 0;
}

/* FOLDER/NAME, which must be ours (base/own.h): the folder may be one that
 * others write to. WEIR_ENOENT: it is missing. */
static int open_part(const struct wr_study *st, const char *name,
                     struct wr_store **ret, weir_err *err)
{
    char path[WR_FOLDER_PATH], *leaf = NULL;
    int r;

    wr_folder_path(st, name, path);
    r = wr_store_open_with(path, WR_STORE_MINE, ret, &leaf, err);
    free(leaf);
    return r;
}

struct removal {
    struct wr_store *store;   /* borrowed */
    const char *const *heads; /* borrowed */
    weir_err *err;            /* borrowed; may be NULL */
};

static int remove_entry(void *arg, const struct wr_entry *e)
{
    const struct removal *m = arg;

    for (size_t k = 0; m->heads[k]; k++)
        if (!strncmp(e->name, m->heads[k], strlen(m->heads[k])))
            return wr_tree_remove(m->store, e->name, WR_TREE_ALL, m->err);
    return 0;
}

/* Removes the entries of FOLDER/NAME that begin with one of `heads`; one that is
 * missing is fine. */
static int remove_some(const struct wr_study *st, const char *name,
                       const char *const *heads, weir_err *err)
{
    struct removal m = {.heads = heads, .err = err};
    weir_err why;
    int r = open_part(st, name, &m.store, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    r = m.store->ops->list(m.store, "", remove_entry, &m, err);
    wr_store_close(m.store);
    return r;
}

int wr_folder_tidy(const struct wr_study *st, weir_err *err)
{
    static const char *const in_cells[] = {".", NULL};
    static const char *const in_data[] = {".", "run-", "probe-", NULL};
    int r = remove_some(st, "cells", in_cells, err);

    return r == 0 ? remove_some(st, "data", in_data, err) : r;
}

/* One that was just killed may need a moment to be gone. */
static bool is_taken(int fd)
{
    for (unsigned k = 0; k < TRIES; k++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return false; /* a file system without locks is used all the same */
        wr_clock_sleep_until(wr_clock_ns() + TRY_NS);
    }
    return true;
}

/* The lock is at the cells: others cannot open them, and so not lock them. */
static int take(struct wr_study *st, unsigned flags, weir_err *err)
{
    char path[WR_FOLDER_PATH];
    int r;

    wr_folder_path(st, "cells", path);
    r = wr_own_dir(path, flags, &st->lock, err);
    if (r < 0)
        return r;
    if (is_taken(st->lock))
        return wr_fail(err, WEIR_EBUSY,
                       "'%s': another weir study is at work "
                       "there",
                       st->cfg.folder);
    return 0;
}

int wr_folder_make(struct wr_study *st, weir_err *err)
{
    static const char *const all[] = {"", NULL};
    char data[WR_FOLDER_PATH];
    int r, fd = -1;

    if (strchr(st->cfg.folder, ':')) /* it becomes part of URLs */
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a folder of a study has no ':' in its path",
                       st->cfg.folder);
    r = make(st->cfg.folder, err);
    if (r == 0)
        r = check_folder(st->cfg.folder, err);
    if (r == 0)
        r = take(st, WR_OWN_MAKE, err);
    wr_folder_path(st, "data", data);
    if (r == 0 && st->cfg.fresh)
        r = remove_some(st, "cells", all, err);
    if (r == 0)
        r = wr_own_dir(data, WR_OWN_MAKE, &fd, err);
    if (fd >= 0)
        close(fd);
    return r == 0 ? wr_folder_tidy(st, err) : r;
}

/* The nearest folder that is there. */
static int space_at(const char *path, uint64_t *ret)
{
    char above[WR_FOLDER_PATH];
    struct statvfs fs;

    snprintf(above, sizeof(above), "%s", path);
    while (statvfs(above, &fs) < 0) {
        char *slash = strrchr(above, '/');

        if (errno != ENOENT || !strcmp(above, "."))
            return -1;
        if (slash && slash != above)
            *slash = '\0';
        else
            snprintf(above, sizeof(above), slash ? "/" : ".");
    }
    *ret = (uint64_t)fs.f_bavail * fs.f_frsize;
    return 0;
}

int wr_folder_space(const struct wr_study *st, uint64_t *ret, weir_err *err)
{
    if (space_at(st->cfg.folder, ret) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot tell the free space",
                             st->cfg.folder);
    return 0;
}

int wr_folder_remove(const struct wr_study *st, const char *name, weir_err *err)
{
    struct wr_store *data = NULL;
    int r = open_part(st, "data", &data, err);

    if (r == 0)
        r = wr_tree_remove(data, name, WR_TREE_ALL, err);
    wr_store_close(data);
    return r;
}

uint64_t wr_folder_data_bytes(const struct wr_study *st)
{
    char path[WR_FOLDER_PATH];
    char *const roots[] = {path, NULL};
    uint64_t bytes = 0;
    FTSENT *e;
    FTS *fts;

    wr_folder_path(st, "data", path);
    fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    while (fts && (e = fts_read(fts)))
        if (e->fts_info == FTS_F)
            bytes += (uint64_t)e->fts_statp->st_blocks * 512;
    if (fts)
        fts_close(fts);
    return bytes;
}

int wr_folder_clean(const char *folder, weir_err *err)
{
    static const char *const all[] = {"", NULL};
    struct wr_study st = {.cfg.folder = folder, .lock = -1};
    char path[WR_FOLDER_PATH];
    weir_err why;
    int r;

    if (access(folder, F_OK) < 0)
        return wr_fail_errno(err, errno, "'%s'", folder);
    r = check_folder(folder, err);
    if (r < 0)
        return r;
    r = take(&st, 0, &why);
    r = r == WEIR_ENOENT ? 0 /* no cells: nobody is at work */
                         : wr_fail_as(err, r, &why);
    if (r == 0)
        r = remove_some(&st, "data", all, err);
    wr_folder_path(&st, "data", path);
    if (r == 0 && rmdir(path) < 0 && errno != ENOENT)
        r = wr_fail_errno(err, errno, "'%s': cannot remove", path);
    if (st.lock >= 0)
        close(st.lock);
    return r;
}
