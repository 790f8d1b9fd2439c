/* test_collect_wrong.c - memory that a traced program has overwritten is not
 * believed, and what is good in it stays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tapper.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct tapper tap;

static struct wr_tap_process *begin(void)
{
    struct wr_tap_process *p;

    tapper_open(&tap);
    p = tapper_process(&tap, 1, 0);
    tapper_ready(&tap, 1);
    return p;
}

/* What stands among good records of a thread; they stay. */
static void among_good(void (*spoil)(struct wr_tap_process *p), size_t bad,
                       size_t good)
{
    struct wr_tap_process *p = begin();

    tapper_name(p, 0, 1, 0, "/data/a");
    tapper_read(p, 0, 1, 0, 1);
    spoil(p);
    tapper_read(p, 0, 1, 0, 2);
    tapper_commit(p, 0);
    tapper_read(p, 1, 1, 0, 3); /* of another thread */
    tapper_commit(p, 1);
    tapper_close(&tap);
    assert_int_equal(tap.count, good);
    assert_int_equal(tap.sum.events, good);
    assert_int_equal(tap.sum.bad_records, bad);
    tapper_expect(&tap, 0, WR_TRACE_OPEN, "/data/a", 0);
    tapper_expect(&tap, 1, WR_TRACE_READ, "/data/a", 1);
    tapper_expect(&tap, good - 1, WR_TRACE_READ, "/data/a", 3);
    for (size_t k = 0; k < tap.count; k++)
        assert_true(tap.events[k].start_ns + tap.events[k].dur_ns <=
                    wr_clock_ns());
    tapper_done(&tap);
}

static void of_no_kind(struct wr_tap_process *p)
{
    tapper_put(p, 0, tapper_record(WR_TRACE_OPS, 1), NULL);
    tapper_put(p, 0, tapper_record(199, 1), "/wrong");
    tapper_put(p, 0, tapper_record(255, 1), NULL);
}

static void to_come(struct wr_tap_process *p)
{
    struct wr_tap_record r = tapper_record(WR_TRACE_READ, 1);

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
    tapper_read(p, 0, 1, 0, 0);
    wide.off = UINT64_C(1) << 62;
    tapper_put(p, 0, wide, NULL);
    tapper_read(p, 0, 1, 0, 0);
}

static void too_large(struct wr_tap_process *p)
{
    struct wr_tap_record wide = {
        .op = WR_TAP_WIDE, .off = 0, .stamp = UINT64_MAX};

    tapper_put(p, 0, wide, NULL);
    tapper_read(p, 0, 1, 0, 0);
}

/* Longer than any name that the library writes. */
static void name_of(struct wr_tap_process *p, uint8_t op, unsigned units)
{
    struct wr_tap_record r = tapper_record(op, 0);
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
    struct wr_tap_record r = tapper_record(WR_TRACE_RENAME, UINT32_MAX);

    r.len = UINT32_MAX;
    tapper_put(p, 0, r, NULL);
    tapper_name(p, 0, UINT32_MAX, UINT32_MAX, "far");
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

    tapper_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    tapper_read(p, 1, 0, 0, 2);
    tapper_commit(p, 1);
    tapper_read(p, 2, 0, 0, 3);
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
    tapper_expect(&tap, 0, WR_TRACE_READ, "", 1);
    tapper_expect(&tap, 1, WR_TRACE_READ, "", 3);
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
    tapper_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    tapper_read(q, 0, 0, 0, 2);
    tapper_commit(q, 0);
    wr_collect_drain(tap.c);
    wr_collect_drain(tap.c);
    tapper_close(&tap);
    assert_int_equal(tap.sum.processes, 2);
    assert_int_equal(tap.count, 2);
    tapper_done(&tap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_records),
                                       cmocka_unit_test(test_wrong_heads),
                                       cmocka_unit_test(test_wrong_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
