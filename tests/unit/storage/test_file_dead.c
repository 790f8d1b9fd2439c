/* test_file_dead.c - queues whose kernel interface fails for good.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The ring's descriptor is replaced by another one, so that io_uring_enter
 * fails from then on, as it does under a filter of system calls; pread is this
 * file's, and can answer EAGAIN for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storage/storage.h"

#define DEPTH 4u

static char dir[256];
static struct wr_store *st;
static atomic_bool refuses; /* pread answers EAGAIN */

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
    if (refuses) {
        errno = EAGAIN;
        return -1;
    }
    return syscall(SYS_pread64, fd, buf, len, offset);
}

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    struct wr_object *o;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir) || wr_store_open_own(dir, &st, NULL) < 0 ||
        st->ops->object_open(st, "a", WR_OPEN_CREATE, &o, NULL) < 0)
        return -1;
    o->ops->write(o, "hello", 5, 0, NULL);
    return o->ops->close(o, /* sync= */ false, NULL);
}

static int teardown(void **state)
{
    char path[300];

    (void)state;
    wr_store_close(st);
    snprintf(path, sizeof(path), "%s/a", dir);
    unlink(path);
    return rmdir(dir);
}

/* The descriptor of the only ring of this process; -1: there is none. */
static int find_ring(void)
{
    char path[64], what[64];

    for (int fd = 3; fd < 256; fd++) {
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        n = readlink(path, what, sizeof(what) - 1);
        if (n > 0 && (what[n] = '\0', !strcmp(what, "anon_inode:[io_uring]")))
            return fd;
    }
    return -1;
}

static void kill_ring(void)
{
    int fd = find_ring(), null = open("/dev/null", O_RDONLY);

    assert_true(fd >= 0 && null >= 0);
    assert_int_equal(dup2(null, fd), fd);
    close(null);
}

static struct wr_queue *open_queue(enum weir_io engine, bool lazy)
{
    struct wr_queue_config cfg = {.io = engine, .depth = DEPTH, .lazy = lazy};
    struct wr_queue *q;

    assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
    return q;
}

static struct wr_io read_of(char *buf, size_t cap)
{
    return (struct wr_io){
        .op = WR_IO_READ, .path = "a", .buf = buf, .len = 5, .cap = cap};
}

/* What was not begun yet fails, and so does all that comes later. */
static void a_ring_that_is_gone(void **state)
{
    char bufs[2 * DEPTH][64];
    struct wr_io ios[2 * DEPTH], *list[2 * DEPTH], *done[2 * DEPTH];
    struct wr_queue *q = open_queue(WEIR_IO_AUTO, /* lazy= */ true);
    unsigned n = 0;

    (void)state;
    if (strcmp(q->engine, "io_uring") != 0) {
        q->ops->close(q);
        skip();
    }
    for (unsigned i = 0; i < 2 * DEPTH; i++) {
        ios[i] = read_of(bufs[i], sizeof(bufs[i]));
        list[i] = &ios[i];
    }
    assert_int_equal(q->ops->submit(q, list, DEPTH), DEPTH);
    kill_ring();
    while (n < DEPTH)
        n += q->ops->reap(q, done + n, DEPTH - n, /* wait= */ true);
    for (unsigned i = 0; i < DEPTH; i++)
        assert_true(ios[i].result < 0 && ios[i].os_errno != 0);
    assert_int_equal(q->ops->reap(q, done, DEPTH, /* wait= */ true), 0);

    assert_int_equal(q->ops->submit(q, list + DEPTH, DEPTH), DEPTH);
    for (n = 0; n < DEPTH;) /* who does not wait hears of it, too */
        n += q->ops->reap(q, done + n, 1, /* wait= */ false);
    for (unsigned i = DEPTH; i < 2 * DEPTH; i++)
        assert_true(ios[i].result < 0 && ios[i].os_errno != 0);
    q->ops->close(q);
}

/* What the kernel has taken still comes: its buffer is the kernel's. */
static void what_the_kernel_has_is_waited_for(void **state)
{
    char buf[64];
    struct wr_io io = read_of(buf, sizeof(buf)), *p = &io;
    struct wr_queue *q = open_queue(WEIR_IO_AUTO, /* lazy= */ false);

    (void)state;
    if (strcmp(q->engine, "io_uring") != 0) {
        q->ops->close(q);
        skip();
    }
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    kill_ring();
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, 0);
    assert_memory_equal(io.data, "hello", 5);
    q->ops->close(q);
}

static void closing_with_reads_that_never_went(void **state)
{
    char buf[64];
    struct wr_io io = read_of(buf, sizeof(buf)), *p = &io;
    struct wr_queue *q = open_queue(WEIR_IO_AUTO, /* lazy= */ true);

    (void)state;
    if (strcmp(q->engine, "io_uring") != 0) {
        q->ops->close(q);
        skip();
    }
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    kill_ring();
    q->ops->close(q);
}

/* A file that is never ready. */
static void reads_that_are_put_off_for_ever(void **state)
{
    char buf[64];
    struct wr_io io = read_of(buf, sizeof(buf)), *p = &io;
    struct wr_queue *q = open_queue(WEIR_IO_BLOCKING, /* lazy= */ false);

    (void)state;
    refuses = true;
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    refuses = false;
    assert_int_equal(io.result, WEIR_ENOMEM); /* a lack, not the file's fault */
    assert_int_equal(io.os_errno, ENOBUFS);
    assert_true(io.result < 0);
    q->ops->close(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_that_is_gone),
        cmocka_unit_test(what_the_kernel_has_is_waited_for),
        cmocka_unit_test(closing_with_reads_that_never_went),
        cmocka_unit_test(reads_that_are_put_off_for_ever),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
