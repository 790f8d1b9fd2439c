/* test_file.c - local files: odd entries, odd paths, the choice of engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/storage.h"

static char dir[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    int fd;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir) || chdir(dir))
        return -1;
    fd = open("file", O_CREAT | O_WRONLY, 0666);
    if (fd < 0 || write(fd, "12345", 5) != 5 || close(fd))
        return -1;
    return mkdir("folder", 0777) || symlink("file", "to-file") ||
           symlink("folder", "to-folder") || symlink("none", "to-nothing") ||
           symlink("loop", "loop") || mkfifo("pipe", 0666);
}

static int teardown(void **state)
{
    static const char *const names[] = {"file",       "to-file", "to-folder",
                                        "to-nothing", "loop",    "pipe"};

    (void)state;
    for (unsigned i = 0; i < 6; i++)
        unlink(names[i]);
    rmdir("folder");
    return chdir("/") || rmdir(dir);
}

struct found {
    char text[200];
};

static int note(void *arg, const struct wr_entry *e)
{
    static const char *const kinds[] = {"file", "dir", "other"};
    struct found *f = arg;
    size_t used = strlen(f->text);

    snprintf(f->text + used, sizeof(f->text) - used, " %s=%s/%u", e->name,
             kinds[e->kind], (unsigned)e->size);
    return 0;
}

/* Links are followed; what is neither file nor folder is named as such, and
 * nothing blocks. */
static void kinds_of_entries(void **state)
{
    static const char *const wanted[] = {
        " file=file/5",    " folder=dir/0",       " to-file=file/5",
        " to-folder=dir/", " to-nothing=other/0", " loop=other/0",
        " pipe=other/0",
    };
    struct found f = {""};
    struct wr_store *st;
    char *leaf = NULL;

    (void)state;
    assert_int_equal(wr_store_open(".", &st, &leaf, NULL), 0);
    assert_null(leaf);
    assert_int_equal(st->ops->list(st, "", note, &f, NULL), 0);
    for (unsigned i = 0; i < 7; i++)
        if (!strstr(f.text, wanted[i]))
            fail_msg("no '%s' in '%s'", wanted[i], f.text);
    wr_store_close(st);
}

static void paths_of_leaves(void **state)
{
    static const char *const urls[] = {"file", "./file", "file:file", "to-file",
                                       "folder/../file"};
    struct wr_store *st;
    char *leaf = NULL;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct wr_stat sb;

        assert_int_equal(wr_store_open(urls[i], &st, &leaf, NULL), 0);
        assert_non_null(leaf);
        assert_int_equal(st->ops->stat(st, leaf, &sb, NULL), 0);
        assert_int_equal(sb.size, 5);
        wr_store_close(st);
        free(leaf);
        leaf = NULL;
    }
    assert_int_equal(wr_store_open("/", &st, &leaf, NULL), 0);
    assert_null(leaf);
    wr_store_close(st);
    assert_int_equal(wr_store_open("loop", &st, &leaf, NULL), WEIR_EIO);
    assert_int_equal(wr_store_open("", &st, &leaf, NULL), WEIR_ENOENT);
}

/* No descriptor left for a ring: the readers take over, unless io_uring was
 * asked for by name. */
static void without_io_uring(void **state)
{
    struct wr_queue_config cfg = {.depth = 64, .io = WEIR_IO_AUTO};
    struct rlimit old, few;
    struct wr_queue *q = NULL, *none = NULL;
    struct wr_store *st;
    char buf[6], *leaf = NULL;
    struct wr_io rd = {.path = "file", .len = 5, .buf = buf, .cap = 6},
                 *p = &rd;
    weir_err err;
    int auto_r, uring_r;

    (void)state;
    assert_int_equal(wr_store_open(".", &st, &leaf, NULL), 0);
    getrlimit(RLIMIT_NOFILE, &old);
    few = old;
    few.rlim_cur = (rlim_t)dup(0);
    close((int)few.rlim_cur);
    setrlimit(RLIMIT_NOFILE, &few);
    auto_r = st->ops->queue_open(st, &cfg, &q, &err);
    cfg.io = WEIR_IO_URING;
    uring_r = st->ops->queue_open(st, &cfg, &none, &err);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(auto_r, 0);
    assert_string_equal(q->engine, "blocking");
    assert_true(uring_r < 0);
    assert_null(none);
    assert_non_null(strstr(err.msg, "io_uring"));
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_int_equal(rd.result, 0);
    assert_memory_equal(rd.data, "12345", 5);
    q->ops->close(q);
    wr_store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_entries),
        cmocka_unit_test(paths_of_leaves),
        cmocka_unit_test(without_io_uring),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
