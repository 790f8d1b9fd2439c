/* scratch.h - a folder of its own for each test, gone afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_SCRATCH_H
#define WR_TEST_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
    char dir[256];
    char path[PATH_MAX]; /* of the last scratch_at */
};

static int scratch_remove(const char *path, const struct stat *sb, int type,
                          struct FTW *at)
{
    (void)sb;
    (void)type;
    (void)at;
    return remove(path);
}

static inline int scratch_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    struct scratch *s = calloc(1, sizeof(*s));

    if (!s)
        return -1;
    snprintf(s->dir, sizeof(s->dir), "%s/weir-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(s->dir))
        return -1;
    *state = s;
    return 0;
}

static inline int scratch_teardown(void **state)
{
    struct scratch *s = *state;

    nftw(s->dir, scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(s);
    return 0;
}

/* The path of `name` below the folder; valid until the next call. */
static inline const char *scratch_at(struct scratch *s, const char *name)
{
    snprintf(s->path, sizeof(s->path), "%s/%s", s->dir, name);
    return s->path;
}

static inline void scratch_put(struct scratch *s, const char *name,
                               const char *text)
{
    FILE *f = fopen(scratch_at(s, name), "w");

    if (f) {
        fputs(text, f);
        fclose(f);
    }
}

static inline int scratch_has(struct scratch *s, const char *name)
{
    struct stat sb;

    return lstat(scratch_at(s, name), &sb) == 0;
}

/* Entries of the folder `name`, hidden ones included; -1 when it is none. */
static inline int scratch_entries(struct scratch *s, const char *name)
{
    DIR *dir = opendir(scratch_at(s, name));
    int n = -2; /* . and .. */

    if (!dir)
        return -1;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* The bytes of a file, to be freed; NULL when there is none. */
static inline unsigned char *scratch_read(struct scratch *s, const char *name,
                                          size_t *ret_len)
{
    FILE *f = fopen(scratch_at(s, name), "rb");
    unsigned char *bytes;
    struct stat sb;

    if (!f)
        return NULL;
    if (fstat(fileno(f), &sb) < 0 ||
        !(bytes = malloc((size_t)sb.st_size + 1))) {
        fclose(f);
        return NULL;
    }
    *ret_len = fread(bytes, 1, (size_t)sb.st_size, f);
    bytes[*ret_len] = '\0';
    fclose(f);
    return bytes;
}

#endif
