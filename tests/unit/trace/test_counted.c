/* test_counted.c - unit tests of collect/write.c: counts per file.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/collect/state.h"
#include "trace/counts.h"

static struct wr_trace_event event(unsigned op, uint64_t off, uint64_t bytes)
{
    return (struct wr_trace_event){.op = (uint16_t)op,
                                   .offset = off,
                                   .bytes = bytes,
                                   .start_ns = 1000,
                                   .dur_ns = 10};
}

static void reads_are_told_apart(void **state)
{
    const struct wr_trace_event events[] = {
        event(WR_TRACE_OPEN, UINT64_MAX, 0), event(WR_TRACE_READ, 0, 100),
        event(WR_TRACE_READ, 100, 100),  /* consecutive */
        event(WR_TRACE_READ, 500, 2000), /* sequential */
        event(WR_TRACE_READ, 0, 50),     /* back */
        event(WR_TRACE_READ, 50, 0),     /* the end of the file */
    };
    struct wr_counted c = {0};
    struct wr_counted_file *f = wr_counted_of(&c, 3, 7);

    (void)state;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        wr_counted_add(f, &events[i]);
    assert_int_equal(f->counts.opens, 1);
    assert_int_equal(f->counts.reads, 5);
    assert_int_equal(f->counts.bytes_read, 2250);
    assert_int_equal(f->counts.zero_reads, 1);
    assert_int_equal(f->counts.sequential_reads, 2);
    assert_int_equal(f->counts.consecutive_reads, 1);
    assert_int_equal(f->counts.size_reads[0], 4);
    assert_int_equal(f->counts.size_reads[2], 1);
    assert_int_equal(f->counts.max_offset_read, 2499);
    assert_int_equal(f->counts.read_ns, 50);
    assert_ptr_equal(wr_counted_of(&c, 3, 7), &c.files[0]);
    wr_counted_clear(&c);
}

static void pairs_are_apart(void **state)
{
    struct wr_counted c = {0};

    (void)state;
    for (uint32_t p = 0; p < 50; p++)
        for (uint32_t i = 0; i < 100; i++)
            wr_counted_of(&c, p, i)->counts.opens = p * 1000 + i;
    assert_int_equal(c.count, 5000);
    assert_int_equal(wr_counted_of(&c, 41, 99)->counts.opens, 41099);
    wr_counted_clear(&c);
    assert_int_equal(c.count, 0);
}

static void kept_counts_are_added(void **state)
{
    struct wr_trace_counts a = {.process = 1,
                                .file = 2,
                                .reads = 5,
                                .max_read_ns = 9,
                                .first_ns = 10,
                                .last_ns = 20,
                                .max_offset_read = 99};
    struct wr_trace_counts b = {.reads = 7,
                                .max_read_ns = 4,
                                .first_ns = 5,
                                .last_ns = 30,
                                .max_offset_read = 50};

    (void)state;
    wr_counts_merge(&a, &b);
    assert_int_equal(a.process, 1);
    assert_int_equal(a.file, 2);
    assert_int_equal(a.reads, 12);
    assert_int_equal(a.max_read_ns, 9);
    assert_int_equal(a.first_ns, 5);
    assert_int_equal(a.last_ns, 30);
    assert_int_equal(a.max_offset_read, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_told_apart),
        cmocka_unit_test(pairs_are_apart),
        cmocka_unit_test(kept_counts_are_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
