/* test_file.c - local files: odd entries, odd paths, the choice of engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"
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
    assert_int_equal(wr_store_open("loop", &st, &leaf, NULL), WEIR_EACCES);
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

/* Whether the readers take over where the call is refused; a ring that is asked
 * for by name is not supported. Exit code 3: no filter can be set. */
static int use_refused(long call, unsigned e)
{
    struct wr_queue_config cfg = {.depth = 4};
    struct wr_queue *q = NULL;
    struct wr_store *st;
    char buf[6], *leaf = NULL;
    struct wr_io rd = {.path = "file", .len = 5, .buf = buf, .cap = 6},
                 *p = &rd;
    weir_err err;

    if (!refuse_call(call, e))
        return 3;
    if (wr_store_open(".", &st, &leaf, NULL) < 0 ||
        st->ops->queue_open(st, &cfg, &q, NULL) < 0 ||
        strcmp(q->engine, "blocking") || q->ops->submit(q, &p, 1) != 1 ||
        q->ops->reap(q, &p, 1, /* wait= */ true) != 1 || rd.result < 0)
        return 1;
    q->ops->close(q);
    cfg.io = WEIR_IO_URING;
    if (st->ops->queue_open(st, &cfg, &q, &err) != WEIR_ENOTSUP ||
        err.code != WEIR_ENOTSUP || !err.os_errno ||
        !strstr(err.msg, "io_uring"))
        return 2;
    wr_store_close(st);
    return 0;
}

/* A filter may refuse any of the three calls, and one of them alone. */
static void refused_io_uring(void **state)
{
    static const struct {
        long call;
        unsigned e;
    } cases[] = {
        {SYS_io_uring_setup, EPERM},    {SYS_io_uring_setup, ENOSYS},
        {SYS_io_uring_enter, EPERM},    {SYS_io_uring_enter, ENOSYS},
        {SYS_io_uring_register, EPERM},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0)
            _exit(use_refused(cases[i].call, cases[i].e));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            skip();
        if (status)
            fail_msg("case %zu: status %#x", i, (unsigned)status);
    }
}

#define LIMIT ((size_t)64 << 10)

/* Files may grow to LIMIT bytes: the write that meets the limit comes back
 * short, the next one fails. */
static void a_write_that_ends_early(struct wr_store *st, struct wr_object *o,
                                    const struct wr_queue_config *cfg,
                                    size_t offset)
{
    struct wr_queue *q;
    struct wr_io io = {.op = WR_IO_WRITE, .object = o, .offset = offset}, *p;
    struct wr_stat sb;
    weir_err err;

    io.len = io.cap = 2 * LIMIT;
    assert_int_equal(posix_memalign(&io.buf, WR_DIRECT_ALIGN, io.len), 0);
    memset(io.buf, 'x', io.len);
    assert_int_equal(st->ops->queue_open(st, cfg, &q, NULL), 0);
    p = &io;
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, WEIR_EIO);
    assert_int_equal(io.got, LIMIT - offset);
    assert_int_equal(wr_io_error(&io, "grown", &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "cannot write 131072 bytes at offset"));
    assert_non_null(strstr(err.msg, "File too large"));
    q->ops->close(q);
    assert_int_equal(st->ops->stat(st, "grown", &sb, NULL), 0);
    assert_int_equal(sb.size, LIMIT);
    free(io.buf);
}

static void growth_that_fails(void **state)
{
    static const enum weir_io engines[] = {WEIR_IO_AUTO, WEIR_IO_BLOCKING};
    struct rlimit old, few;
    struct wr_object *o;
    struct wr_store *st;
    struct wr_stat sb;
    char *leaf = NULL;
    weir_err err;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    few = old;
    few.rlim_cur = LIMIT;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    assert_int_equal(wr_store_open(".", &st, &leaf, NULL), 0);
    assert_int_equal(
        st->ops->object_open(st, "grown", WR_OPEN_CREATE, &o, NULL), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct wr_queue_config cfg = {
            .depth = 2, .io = engines[i / 4], .direct = i / 2 % 2};

        assert_int_equal(o->ops->resize(o, 0, NULL), 0);
        a_write_that_ends_early(st, o, &cfg, i % 2 ? 100 : WR_DIRECT_ALIGN);
    }
    assert_int_equal(o->ops->resize(o, 1000, NULL), 0);
    assert_int_equal(o->ops->resize(o, LIMIT + 1, &err), WEIR_EIO);
    assert_string_equal(err.msg, "'grown': cannot resize: File too large");
    assert_int_equal(st->ops->stat(st, "grown", &sb, NULL), 0);
    assert_int_equal(sb.size, 1000);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "grown", NULL, NULL), 0);
    setrlimit(RLIMIT_FSIZE, &old);
    wr_store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_entries),  cmocka_unit_test(paths_of_leaves),
        cmocka_unit_test(without_io_uring),  cmocka_unit_test(refused_io_uring),
        cmocka_unit_test(growth_that_fails),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
