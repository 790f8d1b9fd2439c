/* test_collect.c - what the collector makes of the memory of traced processes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tapper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define ROOM (WR_TAP_CHUNK - sizeof(struct wr_tap_chunk))

static struct tapper tap;

static struct wr_tap_process *begin(void)
{
    struct wr_tap_process *p;

    tapper_open(&tap);
    p = tapper_process(&tap, 1, 0);
    tapper_ready(&tap, 1);
    return p;
}

static struct wr_tap_record record(uint8_t op, uint32_t handle)
{
    return (struct wr_tap_record){
        .stamp = wr_clock_ns(), .op = op, .handle = handle, .off = UINT64_MAX};
}

static void put_read(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                     uint64_t off, uint32_t len)
{
    struct wr_tap_record r = record(WR_TRACE_READ, handle);

    r.off = off;
    r.len = len;
    tapper_put(p, slot, r, NULL);
}

/* An open of a path in the folder with the handle `dir`, 0: from where it is. */
static void put_open(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                     uint32_t dir, const char *path)
{
    struct wr_tap_record r = record(WR_TRACE_OPEN, handle);

    r.off = dir;
    tapper_put(p, slot, r, path);
}

static void put_cwd(struct wr_tap_process *p, unsigned slot, const char *path)
{
    struct wr_tap_record r = record(WR_TAP_CHDIR, 0);

    r.off = 0;
    tapper_put(p, slot, r, path);
}

static void expect(size_t k, unsigned op, const char *path, uint64_t bytes)
{
    const struct wr_trace_event *e = &tap.events[k];

    assert_true(k < tap.count);
    assert_string_equal(wr_trace_op_name(e->op), wr_trace_op_name(op));
    assert_string_equal(tapper_path(&tap, e->file), path);
    assert_int_equal(e->bytes, bytes);
}

/* --- records become events --- */

static void test_records(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r;

    put_open(p, 0, 1, 0, "/data/a");
    put_read(p, 0, 1, 0, 4096);
    put_read(p, 0, 1, 8192, 100);
    r = record(WR_TRACE_WRITE, 1);
    r.flags = WR_TRACE_FAILED;
    r.error = 28;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 4);
    expect(0, WR_TRACE_OPEN, "/data/a", 0);
    assert_true(tap.events[0].offset == UINT64_MAX);
    expect(1, WR_TRACE_READ, "/data/a", 4096);
    expect(2, WR_TRACE_READ, "/data/a", 100);
    assert_int_equal(tap.events[2].offset, 8192);
    assert_int_equal(tap.events[2].thread, 100);
    expect(3, WR_TRACE_WRITE, "/data/a", 0);
    assert_int_equal(tap.events[3].error, 28);
    assert_int_equal(tap.events[3].flags, WR_TRACE_FAILED);
    assert_int_equal(tap.sum.events, 4);
    assert_int_equal(tap.sum.bytes_read, 4196);
    assert_int_equal(tap.sum.data_read, 4196);
    assert_int_equal(tap.sum.operations, 3);
    assert_int_equal(wr_trace_file_processes(tap.f), 1);
    assert_int_equal(wr_trace_file_process(tap.f, 0)->pid, getpid());
    assert_string_equal(wr_trace_file_process(tap.f, 0)->argv, "made up");
    tapper_done(&tap);
}

/* A record that began one duration after the collector did. */
static void test_times(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r = {.op = WR_TRACE_READ};
    uint64_t d = (wr_clock_ns() - tap.control->start_stamp) / 2;

    r.stamp = tap.control->start_stamp + d;
    r.duration = (uint32_t)d;
    tapper_put(p, 0, r, NULL);
    r.stamp = tap.control->start_stamp - 1; /* before it began */
    r.duration = 0;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    assert_int_equal(tap.events[0].start_ns, 0);
    assert_int_equal(tap.events[1].start_ns, d);
    assert_int_equal(tap.events[1].dur_ns, d);
    tapper_done(&tap);
}

/* Names may come by the chunk of another thread, whatever its number is. */
static void test_names(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r;

    put_read(p, 0, 7, 0, 10);
    put_read(p, 0, 8, 0, 11);
    put_read(p, 0, 9, 0, 12);
    put_open(p, 1, 5, 0, "/data");
    put_open(p, 1, 7, 5, "b//./c");
    put_open(p, 1, 8, 0, "here");
    put_cwd(p, 1, "/data/x");
    r = record(WR_TRACE_STAT, 0);
    r.off = 0;
    tapper_put(p, 1, r, "../y");
    put_open(p, 1, 10, 0, "new");
    r = record(WR_TRACE_RENAME, 10);
    r.len = 7; /* the old name's handle */
    tapper_put(p, 1, r, NULL);
    tapper_commit(p, 0);
    tapper_commit(p, 1);
    tapper_close(&tap);
    expect(0, WR_TRACE_READ, "/data/b/c", 10);
    expect(1, WR_TRACE_READ, "/job/here", 11);
    expect(2, WR_TRACE_READ, "", 12); /* it never got a name */
    expect(5, WR_TRACE_OPEN, "/job/here", 0);
    expect(6, WR_TRACE_STAT, "/data/y", 0);
    expect(7, WR_TRACE_OPEN, "/data/x/new", 0);
    expect(8, WR_TRACE_RENAME, "/data/b/c", 0);
    assert_string_equal(tapper_path(&tap, tap.events[8].file2), "/data/x/new");
    tapper_done(&tap);
}

/* A forked child has its parent's files and folder, and names of its own. */
static void test_child(void **state)
{
    struct wr_tap_process *p = begin(), *child;

    put_open(p, 0, 1, 0, "/data/a");
    put_cwd(p, 0, "/elsewhere");
    put_open(p, 0, 2, 0, "/data/b");
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    child = tapper_process(&tap, 2, 1);
    child->first_handle = 1; /* handle 2 of the child is not its parent's */
    tapper_ready(&tap, 2);
    put_read(child, 0, 1, 0, 5);
    put_open(child, 0, 2, 0, "c");
    put_read(child, 0, 2, 0, 6);
    tapper_commit(child, 0);
    tapper_close(&tap);
    assert_int_equal(wr_trace_file_processes(tap.f), 2);
    assert_int_equal(wr_trace_file_process(tap.f, 1)->parent, 0);
    assert_string_equal(wr_trace_file_process(tap.f, 1)->argv, "made up");
    expect(2, WR_TRACE_READ, "/data/a", 5);
    expect(4, WR_TRACE_READ, "/elsewhere/c", 6);
    assert_int_equal(tap.events[4].process, 1);
    tapper_done(&tap);
}

/* Calls of more than 4 GiB, or so long, have a record in front of theirs, which
 * may be there before it is. */
static void test_wide(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record wide = {
        .op = WR_TAP_WIDE, .off = 1, .stamp = UINT64_C(5) << 32};

    tapper_put(p, 0, wide, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    wr_collect_drain(tap.c);
    put_read(p, 0, 0, 0, 1);
    put_read(p, 0, 0, 0, 2);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    expect(0, WR_TRACE_READ, "", UINT64_C(5) << 32);
    expect(1, WR_TRACE_READ, "", 2);
    tapper_done(&tap);
}

/* Where a page fault is in mapped memory is known by the mapping's address. */
static void test_maps(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record at = {.op = WR_TAP_ADDRESS, .off = 0x10000}, map;
    const struct wr_tapped *t;

    put_open(p, 0, 1, 0, "/data/a");
    map = record(WR_TRACE_MMAP, 1);
    map.off = 4096;
    map.len = 8192;
    tapper_put(p, 0, at, NULL);
    tapper_put(p, 0, map, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    t = tap.c->taps[0];
    assert_null(wr_tapped_map_at(t, 0xffff));
    assert_null(wr_tapped_map_at(t, 0x12000));
    assert_int_equal(wr_tapped_map_at(t, 0x11fff)->off, 4096);
    map.op = WR_TRACE_MUNMAP;
    map.stamp = wr_clock_ns();
    tapper_put(p, 0, at, NULL);
    tapper_put(p, 0, map, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    assert_null(wr_tapped_map_at(t, 0x11fff));
    tapper_close(&tap);
    expect(1, WR_TRACE_MMAP, "/data/a", 8192);
    tapper_done(&tap);
}

/* --- full rings --- */

/* A chunk that its thread has left goes back when all of it was read. */
static void test_full(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_chunk *c = wr_tap_chunk_at(p, 0);
    size_t n = ROOM / WR_TAP_UNIT;

    for (size_t k = 0; k < n; k++)
        put_read(p, 0, 0, k, 1);
    put_read(p, 3, 0, 0, 2);
    tapper_commit(p, 0);
    tapper_commit(p, 3);
    wr_collect_drain(tap.c);
    assert_int_equal(p->state[0], WR_TAP_ACTIVE); /* its thread may go on */
    p->state[0] = WR_TAP_FULL;
    wr_collect_drain(tap.c);
    assert_int_equal(p->state[0], WR_TAP_FREE);
    assert_int_equal(c->committed, 0);
    assert_int_equal(p->state[3], WR_TAP_ACTIVE);
    c->spare[0] = 0; /* a thread takes it again */
    put_read(p, 0, 0, 0, 3);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, n + 2);
    assert_int_equal(tap.sum.bytes_read, n + 2 + 3);
    tapper_done(&tap);
}

/* A process that ends in the middle of a record: what it had committed is kept,
 * and nothing is made of the rest. */
static void test_cut(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record *r;

    put_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    put_read(p, 0, 0, 0, 2);
    put_open(p, 1, 1, 0, "/data/a/name/of/more/than/one/unit");
    tapper_commit(p, 1);
    wr_tap_chunk_at(p, 1)->committed -= WR_TAP_UNIT; /* its end is missing */
    put_read(p, 2, 0, 0, 3);
    r = tapper_put(p, 2, record(WR_TRACE_READ, 0), NULL);
    r->len = 4;
    tapper_commit(p, 2);
    wr_tap_chunk_at(p, 2)->committed -= 1; /* half a record */
    p->state[4] = WR_TAP_CLAIMED;          /* it has no memory yet */
    p->chunks = 5;
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    expect(0, WR_TRACE_READ, "", 1);
    expect(1, WR_TRACE_READ, "", 3);
    tapper_done(&tap);
}

/* --- what is over the budget --- */

static void test_tallies(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_tally *tally = wr_tap_tally_at(p, 77);
    struct wr_tap_record r;

    put_open(p, 0, 1, 0, "/data/a");
    r = record(WR_TRACE_READ, 1);
    r.flags = WR_TRACE_SAMPLED;
    r.len = 10;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    p->lost_events = 9;
    *tally = (struct wr_tap_tally){.handle = 1,
                                   .counts = {.reads = 10, .bytes_read = 100}};
    tally[1] = (struct wr_tap_tally){
        .handle = WR_TAP_NONE, .counts = {.writes = 2, .bytes_written = 7}};
    tapper_close(&tap);
    assert_int_equal(tap.sum.lost_events, 9);
    assert_int_equal(tap.sum.bytes_read, 100); /* samples are in them */
    assert_int_equal(tap.sum.bytes_written, 7);
    assert_int_equal(tap.sum.operations, 12);
    assert_int_equal(wr_trace_file_process(tap.f, 0)->lost_events, 9);
    assert_int_equal(wr_trace_file_counts(tap.f), 2);
    tapper_done(&tap);
}

/* --- wrong data --- */

/* What stands among good records of a thread; they stay. */
static void among_good(void (*spoil)(struct wr_tap_process *p), size_t bad,
                       size_t good)
{
    struct wr_tap_process *p = begin();

    put_open(p, 0, 1, 0, "/data/a");
    put_read(p, 0, 1, 0, 1);
    spoil(p);
    put_read(p, 0, 1, 0, 2);
    tapper_commit(p, 0);
    put_read(p, 1, 1, 0, 3); /* of another thread */
    tapper_commit(p, 1);
    tapper_close(&tap);
    assert_int_equal(tap.count, good);
    assert_int_equal(tap.sum.events, good);
    assert_int_equal(tap.sum.bad_records, bad);
    expect(0, WR_TRACE_OPEN, "/data/a", 0);
    expect(1, WR_TRACE_READ, "/data/a", 1);
    expect(good - 1, WR_TRACE_READ, "/data/a", 3);
    for (size_t k = 0; k < tap.count; k++)
        assert_true(tap.events[k].start_ns + tap.events[k].dur_ns <=
                    wr_clock_ns());
    tapper_done(&tap);
}

static void of_no_kind(struct wr_tap_process *p)
{
    tapper_put(p, 0, record(WR_TRACE_OPS, 1), NULL);
    tapper_put(p, 0, record(199, 1), "/wrong");
    tapper_put(p, 0, record(255, 1), NULL);
}

static void to_come(struct wr_tap_process *p)
{
    struct wr_tap_record r = record(WR_TRACE_READ, 1);

    r.stamp = UINT64_MAX;
    tapper_put(p, 0, r, NULL);
    r.stamp = wr_clock_ns() + (UINT64_C(1) << 50);
    tapper_put(p, 0, r, NULL);
}

static void too_long(struct wr_tap_process *p)
{
    struct wr_tap_record wide = {
        .op = WR_TAP_WIDE, .off = UINT64_MAX, .stamp = 1};

    tapper_put(p, 0, wide, NULL);
    put_read(p, 0, 1, 0, 0);
    wide.off = UINT64_C(1) << 62;
    tapper_put(p, 0, wide, NULL);
    put_read(p, 0, 1, 0, 0);
}

static void too_large(struct wr_tap_process *p)
{
    struct wr_tap_record wide = {
        .op = WR_TAP_WIDE, .off = 0, .stamp = UINT64_MAX};

    tapper_put(p, 0, wide, NULL);
    put_read(p, 0, 1, 0, 0);
}

/* Longer than any name that the library writes. */
static void name_of(struct wr_tap_process *p, uint8_t op, unsigned units)
{
    struct wr_tap_record r = record(op, 0);
    char *at;

    r.extra = (uint8_t)units;
    at = (char *)tapper_put(p, 0, r, NULL);
    memset(at + sizeof(r), 'x', units * WR_TAP_UNIT);
}

static void long_names(struct wr_tap_process *p)
{
    name_of(p, WR_TRACE_MARK, 255);
    name_of(p, WR_TRACE_EXEC, 254);
    name_of(p, WR_TRACE_OPEN, 128);
    name_of(p, WR_TAP_CHDIR, 255);
    name_of(p, WR_TAP_NAME, 255);
}

static void of_no_file(struct wr_tap_process *p)
{
    struct wr_tap_record r = record(WR_TRACE_RENAME, UINT32_MAX);

    r.len = UINT32_MAX;
    tapper_put(p, 0, r, NULL);
    put_open(p, 0, UINT32_MAX, UINT32_MAX, "far");
}

static void test_wrong_records(void **state)
{
    among_good(of_no_kind, 3, 4);
    among_good(to_come, 2, 4);
    among_good(too_long, 2, 4);
    among_good(too_large, 1, 4);
    among_good(long_names, 5, 4);
    among_good(of_no_file, 0, 6);
}

static void test_wrong_heads(void **state)
{
    struct wr_tap_process *p = begin();

    put_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    put_read(p, 1, 0, 0, 2);
    tapper_commit(p, 1);
    put_read(p, 2, 0, 0, 3);
    tapper_commit(p, 2);
    wr_tap_chunk_at(p, 1)->committed = UINT32_MAX;
    p->state[2] = 77; /* nothing that the library writes, but behind ACTIVE */
    p->chunks = UINT32_MAX;
    p->end = UINT64_MAX;
    p->start = UINT64_MAX;
    p->ended = 1;
    p->status = -7;
    memset(p->program, 'p', sizeof(p->program)); /* without an end */
    memset(p->argv, 'a', sizeof(p->argv));
    memset(p->cwd, 'c', sizeof(p->cwd));
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    expect(0, WR_TRACE_READ, "", 1);
    expect(1, WR_TRACE_READ, "", 3);
    assert_int_equal(strlen(wr_trace_file_process(tap.f, 0)->argv), 4095);
    assert_true(wr_trace_file_process(tap.f, 0)->end_ns <= wr_clock_ns());
    assert_true(wr_trace_file_process(tap.f, 0)->start_ns <= wr_clock_ns());
    tapper_done(&tap);
}

/* Files that are not (yet) what a process makes are passed over. */
static void test_wrong_files(void **state)
{
    struct wr_tap_process *p = begin(), *q;
    char path[300];

    q = tapper_process(&tap, 2, 0);
    q->magic ^= 1;
    tapper_ready(&tap, 2);
    q = tapper_process(&tap, 3, 0);
    tapper_ready(&tap, 3);
    q->ready = 0;
    q = tapper_process(&tap, 4, 5); /* its parent comes after it */
    tapper_ready(&tap, 4);
    q = tapper_process(&tap, 5, 0);
    tapper_ready(&tap, 5);
    snprintf(path, sizeof(path), "%s/p6", wr_collect_folder(tap.c));
    assert_int_equal(symlink("p1", path), 0);
    tap.control->processes = 7; /* one has no file */
    put_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    put_read(q, 0, 0, 0, 2);
    tapper_commit(q, 0);
    wr_collect_drain(tap.c);
    wr_collect_drain(tap.c);
    tapper_close(&tap);
    assert_int_equal(tap.sum.processes, 2);
    assert_int_equal(tap.count, 2);
    tapper_done(&tap);
}

/* --- the collector's own end --- */

/* A disk without space, or a folder that is gone: the processes are drained on,
 * and the end says why. */
static void test_no_output(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_trace_info info = {.command = "x"};
    weir_err err, why = {0};

    wr_fail(&why, WEIR_EIO, "no space left");
    put_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    assert_true(wr_collect_failed(tap.c, WEIR_EIO, &why));
    wr_fail(&why, WEIR_EIO, "another reason");
    assert_true(wr_collect_failed(tap.c, WEIR_EIO, &why));
    wr_collect_drain(tap.c);
    munmap(p, WR_TAP_SIZE);
    munmap(tap.control, 4096);
    assert_int_equal(wr_collect_close(tap.c, &info, &tap.sum, &err), WEIR_EIO);
    assert_string_equal(err.msg, "no space left");
    assert_int_equal(tap.sum.bytes_read, 1);
    unlink(tap.path);
    assert_int_equal(rmdir(tap.dir), 0);
}

/* What one that was killed had not read, another one takes over. */
static void test_adopted(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_collect_control k = {.control = tap.control,
                                   .fd = tap.c->control_fd};
    struct wr_collect_config cfg = {.info = &tap.info};
    struct wr_collect *killed = tap.c;
    char folder[128], path[310];
    weir_err err;

    put_open(p, 0, 1, 0, "/data/a");
    put_read(p, 0, 1, 0, 9);
    tapper_commit(p, 0);
    snprintf(folder, sizeof(folder), "%s", wr_collect_folder(killed));
    snprintf(path, sizeof(path), "%s/missing/t.wtrace", tap.dir);
    cfg.output = path;
    k.fd = dup(killed->control_fd);
    k.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
    assert_true(wr_collect_adopt(&tap.c, folder, &k, &cfg, &err) < 0);
    assert_int_equal(access(folder, F_OK), 0); /* for another try */
    cfg.output = path;
    snprintf(path, sizeof(path), "%s/adopted.wtrace", tap.dir);
    k.fd = dup(killed->control_fd);
    k.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
    assert_int_equal(wr_collect_adopt(&tap.c, folder, &k, &cfg, &err), 0);
    snprintf(killed->folder, sizeof(killed->folder), "/nothing"); /* is its */
    unlink(tap.path);
    snprintf(tap.path, sizeof(tap.path), "%.290s", path);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    expect(1, WR_TRACE_READ, "/data/a", 9);
    assert_int_not_equal(access(folder, F_OK), 0);
    killed->control = NULL;
    close(killed->control_fd);
    wr_trace_writer_drop(killed->writer);
    wr_names_free(killed->names);
    free(killed);
    tapper_done(&tap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_child),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_tallies),
        cmocka_unit_test(test_wrong_records),
        cmocka_unit_test(test_wrong_heads),
        cmocka_unit_test(test_wrong_files),
        cmocka_unit_test(test_no_output),
        cmocka_unit_test(test_adopted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
