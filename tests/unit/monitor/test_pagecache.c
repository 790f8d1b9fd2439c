/* test_pagecache.c - unit tests of pagecache.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "monitor/pagecache.h"

#define FILES      40
#define FILE_BYTES 20000 /* not a multiple of the page size */

/* A folder with FILES files in two subfolders, and links. */
struct tree {
    char root[64];
    char *path[FILES]; /* owned */
    bool can_drop;     /* this file system lets go of pages */
};

static void write_file(const char *path, size_t bytes)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(i * 7), f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    struct tree *t = calloc(1, sizeof(*t));
    struct wr_residency now;
    char dir[128];
    int fd;

    snprintf(t->root, sizeof(t->root), "/tmp/weir-pagecache-XXXXXX");
    if (!mkdtemp(t->root))
        return -1;
    for (int d = 0; d < 2; d++) {
        snprintf(dir, sizeof(dir), "%s/d%d", t->root, d);
        mkdir(dir, 0700);
    }
    for (int i = 0; i < FILES; i++) {
        if (asprintf(&t->path[i], "%s/d%d/f%02d", t->root, i & 1, i) < 0)
            return -1;
        write_file(t->path[i], FILE_BYTES);
    }
    fd = open(t->path[0], O_RDONLY);
    t->can_drop = wr_pagecache_drop_fd(fd, &now, NULL) == 0 &&
                  now.resident_bytes == 0;
    close(fd);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct tree *t = *state;
    char command[128];

    for (int i = 0; i < FILES; i++)
        free(t->path[i]);
    snprintf(command, sizeof(command), "rm -rf '%s'", t->root);
    free(t);
    return system(command);
}

static struct wr_pagecache_job job_of(struct tree *t)
{
    return (struct wr_pagecache_job){.paths = t->path, .count = FILES};
}

static void cycle(struct tree *t, bool mincore_only, unsigned threads)
{
    struct wr_pagecache_job job = job_of(t);
    struct wr_pagecache_report rep = {0};

    job.mincore_only = mincore_only;
    job.threads = threads;
    assert_int_equal(wr_pagecache_drop(&job, &rep, NULL), 0);
    assert_int_equal(rep.files, FILES);
    assert_int_equal(rep.bytes, (uint64_t)FILES * FILE_BYTES);
    assert_int_equal(rep.resident_bytes, 0);
    assert_int_equal(rep.failures, 0);
    assert_int_equal(wr_pagecache_status(&job, &rep, NULL), 0);
    assert_int_equal(rep.resident_bytes, 0);
    /* Another process may make the kernel drop pages in between. */
    for (int i = 0; i < 20 && rep.resident_bytes < rep.bytes; i++) {
        assert_int_equal(wr_pagecache_warm(&job, &rep, NULL), 0);
        assert_int_equal(wr_pagecache_status(&job, &rep, NULL), 0);
    }
    assert_int_equal(rep.resident_bytes, (uint64_t)FILES * FILE_BYTES);
    if (mincore_only)
        assert_int_equal(rep.means, WR_RESIDENCY_MINCORE);
}

static void test_cycle(void **state)
{
    struct tree *t = *state;

    if (!t->can_drop)
        skip();
    cycle(t, /* mincore_only= */ false, 0);
    cycle(t, /* mincore_only= */ false, 1);
    cycle(t, /* mincore_only= */ true, 3);
    cycle(t, /* mincore_only= */ true, 1000);
}

/* Both ways of asking agree on a file that is partly there. */
static void test_partial(void **state)
{
    struct tree *t = *state;
    struct wr_residency a, b;
    char buf[100];
    int fd = open(t->path[1], O_RDONLY);

    assert_true(fd >= 0);
    if (!t->can_drop)
        skip();
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* no reading ahead */
    assert_int_equal(wr_pagecache_drop_fd(fd, &a, NULL), 0);
    assert_int_equal(pread(fd, buf, sizeof(buf), 4096), sizeof(buf));
    assert_int_equal(wr_residency_of(fd, false, &a, NULL), 0);
    assert_int_equal(wr_residency_of(fd, true, &b, NULL), 0);
    assert_true(a.resident_bytes > 0);
    assert_true(a.resident_bytes < FILE_BYTES);
    assert_int_equal(a.resident_bytes, b.resident_bytes);
    assert_int_equal(a.bytes, FILE_BYTES);
    close(fd);
}

static void test_dirty_is_synced(void **state)
{
    struct tree *t = *state;
    struct wr_pagecache_job job = job_of(t);
    struct wr_pagecache_report rep = {0};
    char got[3] = "";
    int fd = open(t->path[2], O_RDWR);

    assert_int_equal(pwrite(fd, "new", 3, 0), 3);
    assert_int_equal(wr_pagecache_drop(&job, &rep, NULL), 0);
    assert_int_equal(rep.dirty_bytes, 0);
    assert_int_equal(pread(fd, got, 3, 0), 3);
    assert_memory_equal(got, "new", 3);
    close(fd);
}

static void test_failures(void **state)
{
    struct tree *t = *state;
    char missing[] = "/nonexistent/file", folder[] = "/", null[] = "/dev/null";
    char *paths[] = {t->path[0], missing, t->path[1], folder, null};
    struct wr_pagecache_job job = {.paths = paths, .count = 5, .threads = 1};
    struct wr_pagecache_report rep = {0};

    assert_int_equal(wr_pagecache_status(&job, &rep, NULL), 0);
    assert_int_equal(rep.files, 2);
    assert_int_equal(rep.failures, 3);
    assert_int_equal(rep.named, 3);
    assert_string_equal(rep.failed[0], "'/nonexistent/file': cannot open: No "
                                       "such file or directory");
    assert_string_equal(rep.failed[1], "'/': not a regular file");
    assert_string_equal(rep.failed[2], "'/dev/null': not a regular file");
}

/* More failures than names are kept, from several threads. */
static void test_many_failures(void **state)
{
    char missing[] = "/nonexistent/file";
    char *paths[100];
    struct wr_pagecache_job job = {.paths = paths, .count = 100, .threads = 4};
    struct wr_pagecache_report rep = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        paths[i] = missing;
    assert_int_equal(wr_pagecache_warm(&job, &rep, NULL), 0);
    assert_int_equal(rep.failures, 100);
    assert_int_equal(rep.named, WR_PAGECACHE_NAMED);
    job.count = 0;
    assert_int_equal(wr_pagecache_drop(&job, &rep, NULL), 0);
    assert_int_equal(rep.files + rep.failures, 0);
}

static bool stop_at_five(void *ctx, uint64_t files, uint64_t bytes)
{
    *(uint64_t *)ctx = bytes;
    return files >= 5;
}

static void test_stop(void **state)
{
    struct wr_pagecache_job job = job_of(*state);
    struct wr_pagecache_report rep = {.files = 77};
    uint64_t bytes = 0;
    weir_err err;

    job.threads = 1;
    job.progress = stop_at_five;
    job.ctx = &bytes;
    assert_int_equal(wr_pagecache_status(&job, &rep, &err), WEIR_ECANCELED);
    assert_int_equal(rep.files, 77); /* untouched */
    assert_int_equal(bytes, 5 * FILE_BYTES);
}

static void test_drop_all_refuses_nothing(void **state)
{
    (void)state;
    assert_int_equal(wr_pagecache_drop_all(0, NULL), WEIR_EINVAL);
    assert_int_equal(wr_pagecache_drop_all(4, NULL), WEIR_EINVAL);
}

static void test_walk(void **state)
{
    struct tree *t = *state;
    char link[128], target[128];
    char *roots[] = {t->root, t->path[3], t->root};
    struct wr_walk w = {0};

    snprintf(link, sizeof(link), "%s/d0/loop", t->root);
    assert_int_equal(symlink("..", link), 0);
    snprintf(link, sizeof(link), "%s/d0/dangling", t->root);
    assert_int_equal(symlink("nowhere", link), 0);
    snprintf(link, sizeof(link), "%s/d0/hard", t->root);
    snprintf(target, sizeof(target), "%s", t->path[4]);
    assert_int_equal(linkat(AT_FDCWD, target, AT_FDCWD, link, 0), 0);
    assert_int_equal(wr_walk_init(&w, roots, 3, NULL), 0);
    assert_int_equal(w.count, FILES);
    assert_int_equal(w.bytes, (uint64_t)FILES * FILE_BYTES);
    assert_int_equal(w.skipped, 0);
    wr_walk_done(&w);
    assert_null(w.paths);
}

static void test_walk_errors(void **state)
{
    char missing[] = "/nonexistent/file";
    char *roots[] = {missing};
    struct wr_walk w = {.count = 5};
    weir_err err;

    (void)state;
    assert_int_equal(wr_walk_init(&w, roots, 1, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "'/nonexistent/file'"));
    assert_int_equal(wr_walk_init(&w, roots, 0, &err), WEIR_EINVAL);
    assert_int_equal(w.count, 5); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_dirty_is_synced),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_many_failures),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_drop_all_refuses_nothing),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_walk_errors),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
