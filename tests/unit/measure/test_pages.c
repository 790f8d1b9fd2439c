/* test_pages.c - the page cache asks for what Linux asks a FUSE server for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The expected requests were seen at a mount with the same read-ahead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "base/mem.h"
#include "measure/pages.h"

#define KIB  UINT64_C(1024)
#define TOOK 1000 /* of each request */

struct asked {
    uint64_t offset, len, now;
};

struct fixture {
    struct wr_pages *pages;
    struct wr_page_stream stream;
    struct asked asked[64];
    size_t count;
    uint64_t now;
};

static uint64_t note(void *arg, uint32_t file, uint64_t offset, uint64_t len,
                     uint64_t now)
{
    struct fixture *f = arg;

    (void)file;
    if (f->count < WR_ARRAY_LEN(f->asked))
        f->asked[f->count] = (struct asked){offset, len, now};
    f->count++;
    return now + TOOK;
}

static void begin(struct fixture *f, uint64_t readahead, uint64_t memory)
{
    const struct wr_pages_config cfg = {.readahead_bytes = readahead,
                                        .memory_bytes = memory,
                                        .ask = note,
                                        .arg = f};

    *f = (struct fixture){.stream = WR_PAGE_STREAM};
    f->pages = wr_pages_new(&cfg, 8);
    assert_non_null(f->pages);
}

/* As a blocking call would. */
static void read_bytes(struct fixture *f, uint32_t file, uint64_t size,
                       uint64_t at, uint64_t len)
{
    uint64_t end = (WR_MIN(at + len, size) + WR_PAGE - 1) / WR_PAGE;

    for (uint64_t p = at / WR_PAGE; p < end; p++) {
        uint64_t there = wr_pages_read(
            f->pages, &f->stream,
            &(struct wr_pages_want){
                .file = file, .size = size, .page = p, .count = end - p},
            f->now);

        f->now = WR_MAX(f->now, there);
        f->stream.last = p;
    }
}

static void assert_asked(const struct fixture *f, size_t k, uint64_t offset,
                         uint64_t len, uint64_t now)
{
    assert_true(k < f->count);
    assert_int_equal(f->asked[k].offset, offset);
    assert_int_equal(f->asked[k].len, len);
    assert_int_equal(f->asked[k].now, now);
}

/* A whole file in one call: a window, and the rest when half of it is read. */
static void test_a_file_longer_than_the_window(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 128 * KIB, 0);
    read_bytes(&f, 0, 158769, 0, 158769);
    assert_int_equal(f.count, 2);
    assert_asked(&f, 0, 0, 131072, 0);
    assert_asked(&f, 1, 131072, 27697, TOOK);
    assert_int_equal(f.now, 2 * TOOK);
    read_bytes(&f, 0, 158769, 0, 158769); /* again: from memory */
    assert_int_equal(f.count, 2);
    assert_int_equal(f.now, 2 * TOOK);
    wr_pages_free(f.pages);
}

/* Small pieces one after the other: windows that double, each asked for when the
 * one before is reached. */
static void test_reading_on(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 128 * KIB, 0);
    for (uint64_t at = 0; at < 512 * KIB; at += 8 * KIB)
        read_bytes(&f, 0, 1024 * KIB, at, 8 * KIB);
    assert_asked(&f, 0, 0, 16 * KIB, 0);
    assert_asked(&f, 1, 16 * KIB, 32 * KIB, TOOK);
    assert_asked(&f, 2, 48 * KIB, 64 * KIB, TOOK);
    assert_asked(&f, 3, 112 * KIB, 128 * KIB, 2 * TOOK);
    assert_asked(&f, 4, 240 * KIB, 128 * KIB, 2 * TOOK);
    assert_asked(&f, 5, 368 * KIB, 128 * KIB, 3 * TOOK);
    wr_pages_free(f.pages);
}

static void test_scattered_reads_take_their_pages(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 128 * KIB, 0);
    read_bytes(&f, 0, 1024 * KIB, 500000, 4096);
    assert_asked(&f, 0, 499712, 8192, 0);
    read_bytes(&f, 0, 1024 * KIB, 900000, 20000);
    assert_asked(&f, 1, 897024, 24576, TOOK);
    read_bytes(&f, 0, 1024 * KIB, 897024, 4096); /* is there */
    assert_int_equal(f.count, 2);
    wr_pages_free(f.pages);
}

/* A window of many requests; none is longer than a mebibyte. */
static void test_long_windows_are_cut(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 65536 * KIB, 0);
    read_bytes(&f, 0, 100 << 20, 0, 4 << 20);
    assert_asked(&f, 0, 0, 1 << 20, 0);
    assert_asked(&f, 3, 3 << 20, 1 << 20, 0);
    for (size_t k = 0; k < WR_MIN(f.count, WR_ARRAY_LEN(f.asked)); k++)
        assert_true(f.asked[k].len <= 1 << 20);
    wr_pages_free(f.pages);
}

static void test_without_readahead(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 0, 0);
    read_bytes(&f, 0, 10000, 0, 10000);
    assert_int_equal(f.count, 3);
    assert_asked(&f, 2, 8192, 10000 - 8192, 2 * TOOK);
    wr_pages_free(f.pages);
}

static void test_a_fault_brings_what_lies_around(void **state)
{
    struct fixture f;
    const struct wr_pages_want want = {
        .size = 1024 * KIB, .page = 100, .count = 1, .mapped = true};

    (void)state;
    begin(&f, 128 * KIB, 0);
    assert_int_equal(wr_pages_read(f.pages, &f.stream, &want, 0), TOOK);
    assert_int_equal(f.count, 1);
    assert_asked(&f, 0, 84 * WR_PAGE, 128 * KIB, 0);
    wr_pages_free(f.pages);
}

static void test_memory_is_limited(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 128 * KIB, 96 * KIB);
    read_bytes(&f, 0, 64 * KIB, 0, 64 * KIB);
    read_bytes(&f, 1, 64 * KIB, 0, 64 * KIB);
    assert_int_equal(f.count, 2);
    read_bytes(&f, 2, 4 * KIB, 0, 4 * KIB); /* the first one has left */
    read_bytes(&f, 1, 64 * KIB, 0, 64 * KIB);
    assert_int_equal(f.count, 3);
    read_bytes(&f, 0, 64 * KIB, 0, 64 * KIB);
    assert_int_equal(f.count, 4);
    assert_false(wr_pages_failed(f.pages));
    wr_pages_free(f.pages);
}

static void test_what_was_written_is_there(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 128 * KIB, 0);
    wr_pages_written(f.pages, 3, 0, 4);
    read_bytes(&f, 3, 16 * KIB, 0, 16 * KIB);
    assert_int_equal(f.count, 0);
    wr_pages_free(f.pages);
    wr_pages_free(NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_a_file_longer_than_the_window),
        cmocka_unit_test(test_reading_on),
        cmocka_unit_test(test_scattered_reads_take_their_pages),
        cmocka_unit_test(test_long_windows_are_cut),
        cmocka_unit_test(test_without_readahead),
        cmocka_unit_test(test_a_fault_brings_what_lies_around),
        cmocka_unit_test(test_memory_is_limited),
        cmocka_unit_test(test_what_was_written_is_there),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
