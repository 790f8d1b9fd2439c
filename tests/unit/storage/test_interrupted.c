/* test_interrupted.c - calls that a signal interrupts are made again.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The system calls of this file answer EINTR every other time, and the kernel
 * cancels every other request of a ring, as it does when a signal keeps it from
 * starting a thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "storage/storage.h"

#define LEN ((size_t)64 << 10)

static atomic_bool storm;
static atomic_uint calls, hits;

/* Whether this call is interrupted. */
static bool hit(void)
{
    if (!storm || atomic_fetch_add(&calls, 1) % 2)
        return false;
    hits++;
    errno = EINTR;
    return true;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
    return hit() ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return hit() ? -1 : REAL(fdatasync)(fd);
}

int fstat(int fd, struct stat *sb)
{
    return hit() ? -1 : REAL(fstat)(fd, sb);
}

int fstatat(int fd, const char *path, struct stat *sb, int flags)
{
    return hit() ? -1 : REAL(fstatat)(fd, path, sb, flags);
}

int stat(const char *path, struct stat *sb)
{
    return hit() ? -1 : REAL(stat)(path, sb);
}

int ftruncate(int fd, off_t size)
{
    return hit() ? -1 : REAL(ftruncate)(fd, size);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
    return hit() ? -1 : REAL(fallocate)(fd, mode, offset, len);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    return hit() ? -1 : REAL(mkdirat)(fd, path, mode);
}

int unlinkat(int fd, const char *path, int flags)
{
    return hit() ? -1 : REAL(unlinkat)(fd, path, flags);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to,
              unsigned flags)
{
    return hit() ? -1 : REAL(renameat2)(from_fd, from, to_fd, to, flags);
}

int fstatvfs(int fd, struct statvfs *sv)
{
    return hit() ? -1 : REAL(fstatvfs)(fd, sv);
}

int fstatfs(int fd, struct statfs *sf)
{
    return hit() ? -1 : REAL(fstatfs)(fd, sf);
}

struct dirent *readdir(DIR *dir)
{
    return hit() ? NULL : REAL(readdir)(dir);
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
    return hit() ? -1 : REAL(pread)(fd, buf, len, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t offset)
{
    return hit() ? -1 : REAL(pwrite)(fd, buf, len, offset);
}

/* What was answered is taken back. */
int io_uring_submit_and_wait_timeout(struct io_uring *ring,
                                     struct io_uring_cqe **cqe, unsigned n,
                                     struct __kernel_timespec *ts,
                                     sigset_t *mask)
{
    int r = REAL(io_uring_submit_and_wait_timeout)(ring, cqe, n, ts, mask);
    struct io_uring_cqe *each;
    unsigned head;

    io_uring_for_each_cqe(ring, head, each)
    {
        if (hit())
            each->res = calls % 4 ? -ECANCELED : -EINTR;
    }
    return r;
}

static char dir[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    storm = false;
    return rmdir(dir);
}

static int count_entry(void *arg, const struct wr_entry *e)
{
    ++*(unsigned *)arg;
    return e->kind == WR_KIND_FILE ? 0 : WEIR_EINVAL;
}

static void must(int r, const weir_err *err)
{
    if (r < 0)
        fail_msg("%s", err->msg);
}

/* One request through a queue. */
static void move_bytes(struct wr_store *st, const char *path,
                       struct wr_object *o, enum wr_io_op op, uint8_t *buf)
{
    static const enum weir_io kinds[] = {WEIR_IO_URING, WEIR_IO_BLOCKING};

    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++) {
        struct wr_queue_config cfg = {.depth = 4, .io = kinds[i]};
        struct wr_io io = {.op = op,
                           .path = path,
                           .object = o,
                           .len = LEN,
                           .buf = buf,
                           .cap = LEN + 1},
                     *p = &io;
        struct wr_queue *q;
        weir_err err;

        if (st->ops->queue_open(st, &cfg, &q, NULL) < 0)
            continue; /* no io_uring here */
        assert_int_equal(q->ops->submit(q, &p, 1), 1);
        assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
        if (io.result < 0)
            must(wr_io_error(&io, path, &err), &err);
        q->ops->close(q);
    }
}

static void use_store(struct wr_store *st)
{
    const struct wr_storage_ops *ops = st->ops;
    uint8_t *buf = calloc(1, LEN + 1);
    struct wr_object *o;
    unsigned count = 0;
    struct wr_stat sb;
    uint64_t room;
    weir_err err;

    assert_non_null(buf);
    memset(buf, 7, LEN);
    must(ops->change(st, WR_MKDIR, "d", NULL, &err), &err);
    must(ops->object_open(st, "d/a", WR_OPEN_CREATE, &o, &err), &err);
    must(o->ops->resize(o, 2 * LEN, &err), &err);
    must(o->ops->resize(o, LEN, &err), &err);
    must(o->ops->lock(o, &err), &err);
    must(o->ops->write(o, buf, LEN, 0, &err), &err);
    move_bytes(st, "d/a", o, WR_IO_WRITE, buf);
    must(o->ops->sync(o, &err), &err);
    memset(buf, 0, LEN);
    move_bytes(st, "d/a", o, WR_IO_READ, buf);
    assert_int_equal(buf[LEN - 1], 7);
    must(o->ops->close(o, /* sync= */ true, &err), &err);
    move_bytes(st, "d/a", NULL, WR_IO_READ, buf);
    must(ops->change(st, WR_RENAME_NEW, "d/a", "d/b", &err), &err);
    must(ops->change(st, WR_SYNC_DIR, "d", NULL, &err), &err);
    must(ops->stat(st, "d/b", &sb, &err), &err);
    assert_int_equal(sb.size, LEN);
    must(ops->list(st, "d", count_entry, &count, &err), &err);
    assert_int_equal(count, 1);
    must(ops->space(st, &room, &err), &err);
    must(ops->change(st, WR_REMOVE, "d/b", NULL, &err), &err);
    must(ops->change(st, WR_REMOVE, "d", NULL, &err), &err);
    free(buf);
}

static void every_other_call_is_interrupted(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= WR_STORE_OWN; flags++)
        for (unsigned first = 0; first < 2; first++) {
            struct wr_store *st;
            char *leaf = NULL;
            weir_err err;

            calls = first;
            storm = true;
            must(wr_store_open_with(dir, flags, &st, &leaf, &err), &err);
            use_store(st);
            storm = false;
            wr_store_close(st);
        }
    assert_true(hits > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_other_call_is_interrupted, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
