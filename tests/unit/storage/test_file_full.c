/* test_file_full.c - local files on a disk that is full.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small tmpfs in a mount namespace of its own. Skipped where that may not be:
 * it takes root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "storage/storage.h"

#define ROOM ((size_t)256 << 10)

static char dir[256];
static bool mounted;

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    mounted = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
              mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount("weir-test", dir, "tmpfs", 0, "size=256k") == 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (mounted)
        umount2(dir, MNT_DETACH);
    return rmdir(dir);
}

/* What fits is written, then it fails, and the message says where. */
static void fill(struct wr_store *st, const struct wr_queue_config *cfg,
                 size_t offset)
{
    struct wr_io io = {.op = WR_IO_WRITE, .offset = offset}, *p = &io;
    struct wr_queue *q;
    weir_err err;

    assert_int_equal(
        st->ops->object_open(st, "big", WR_OPEN_CREATE, &io.object, NULL), 0);
    io.len = io.cap = 2 * ROOM;
    assert_int_equal(posix_memalign(&io.buf, WR_DIRECT_ALIGN, io.len), 0);
    memset(io.buf, 'x', io.len);
    assert_int_equal(st->ops->queue_open(st, cfg, &q, NULL), 0);
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, WEIR_ENOSPC);
    assert_true(io.got > 0 && io.got <= ROOM);
    assert_int_equal(wr_io_error(&io, "big", &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "'big': cannot write 524288 bytes"));
    q->ops->close(q);
    assert_int_equal(io.object->ops->write(io.object, io.buf, io.len, 0, &err),
                     WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "'big': cannot write"));
    assert_int_equal(io.object->ops->close(io.object, /* sync= */ true, NULL),
                     0);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "big", NULL, NULL), 0);
    free(io.buf);
}

static void writes_that_find_no_room(void **state)
{
    static const enum weir_io engines[] = {WEIR_IO_AUTO, WEIR_IO_BLOCKING};
    struct wr_store *st;

    (void)state;
    if (!mounted)
        skip();
    assert_int_equal(wr_store_open_own(dir, &st, NULL), 0);
    for (unsigned i = 0; i < 8; i++) {
        struct wr_queue_config cfg = {
            .depth = 2, .io = engines[i / 4], .direct = i / 2 % 2};

        fill(st, &cfg, i % 2 ? 100 : WR_DIRECT_ALIGN);
    }
    wr_store_close(st);
}

/* Room is reserved, or the size stays. */
static void a_size_that_finds_no_room(void **state)
{
    struct wr_object *o, *other;
    struct wr_store *st;
    struct wr_stat sb;
    uint64_t room;
    weir_err err;

    (void)state;
    if (!mounted)
        skip();
    assert_int_equal(wr_store_open_own(dir, &st, NULL), 0);
    assert_int_equal(st->ops->object_open(st, "a", WR_OPEN_CREATE, &o, NULL),
                     0);
    assert_int_equal(
        st->ops->object_open(st, "b", WR_OPEN_CREATE, &other, NULL), 0);
    assert_int_equal(o->ops->resize(o, 3 * ROOM / 4, NULL), 0);
    assert_int_equal(st->ops->space(st, &room, NULL), 0);
    assert_true(room <= ROOM / 4);
    assert_int_equal(other->ops->resize(other, 100, NULL), 0);
    assert_int_equal(other->ops->resize(other, ROOM / 2, &err), WEIR_ENOSPC);
    assert_string_equal(err.msg, "'b': cannot resize: No space left on device");
    assert_int_equal(st->ops->stat(st, "b", &sb, NULL), 0);
    assert_int_equal(sb.size, 100);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    assert_int_equal(other->ops->close(other, /* sync= */ false, NULL), 0);
    wr_store_close(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_that_find_no_room),
        cmocka_unit_test(a_size_that_finds_no_room),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
