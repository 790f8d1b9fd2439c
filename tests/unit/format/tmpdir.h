/* tmpdir.h - a folder for one test, and files in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TMPDIR_H
#define TEST_FORMAT_TMPDIR_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tmpdir {
    char path[256];
};

static inline void tmpdir_init(struct tmpdir *t)
{
    const char *base = getenv("TMPDIR");

    snprintf(t->path, sizeof(t->path), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    if (!mkdtemp(t->path))
        abort();
}

/* "<tmp>/name" in one of a few buffers that are used in turn. */
static inline const char *tmpdir_at(const struct tmpdir *t, const char *name)
{
    static char paths[8][1024];
    static unsigned turn;
    char *p = paths[turn++ % 8];

    snprintf(p, sizeof(paths[0]), "%s/%s", t->path, name);
    return p;
}

static inline void tmpdir_mkdir(const struct tmpdir *t, const char *name)
{
    if (mkdir(tmpdir_at(t, name), 0777) < 0)
        abort();
}

static inline void tmpdir_put(const struct tmpdir *t, const char *name,
                              const void *data, size_t len)
{
    FILE *f = fopen(tmpdir_at(t, name), "wb");

    if (!f || fwrite(data, 1, len, f) != len || fclose(f))
        abort();
}

static inline void tmpdir_put_text(const struct tmpdir *t, const char *name,
                                   const char *text)
{
    tmpdir_put(t, name, text, strlen(text));
}

/* The bytes of a file, in fresh memory. */
static inline char *tmpdir_get(const struct tmpdir *t, const char *name,
                               size_t *ret_len)
{
    FILE *f = fopen(tmpdir_at(t, name), "rb");
    char *bytes;
    long len;

    if (!f || fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0 ||
        fseek(f, 0, SEEK_SET) || !(bytes = malloc((size_t)len + 1)) ||
        fread(bytes, 1, (size_t)len, f) != (size_t)len)
        abort();
    fclose(f);
    *ret_len = (size_t)len;
    return bytes;
}

/* Entries of a folder; -1: there is none. */
static inline int tmpdir_count(const struct tmpdir *t, const char *name)
{
    DIR *dir = opendir(tmpdir_at(t, name));
    int n = -2; /* "." and ".." */

    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static inline int tmpdir_remove_one(const char *path, const struct stat *sb,
                                    int flag, struct FTW *ftw)
{
    (void)sb;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static inline void tmpdir_done(const struct tmpdir *t)
{
    nftw(t->path, tmpdir_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
