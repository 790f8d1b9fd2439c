/* test_mem.c - checked sizes, growing arrays and big aligned buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"

static void overflow_is_told(void **state)
{
    size_t v = 5;

    (void)state;
    assert_true(wr_mul_ok(3, 4, &v));
    assert_int_equal(v, 12);
    assert_false(wr_mul_ok(SIZE_MAX / 2, 3, &v));
    assert_false(wr_add_ok(SIZE_MAX, 1, &v));
    assert_int_equal(v, 12); /* untouched */
    assert_true(wr_add_ok(SIZE_MAX - 1, 1, &v));
    assert_int_equal(v, SIZE_MAX);
}

static void growing_keeps_the_content(void **state)
{
    uint32_t *a = NULL;
    size_t cap = 0;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(wr_grow(&a, &cap, i + 1, sizeof(*a)));
        assert_true(cap > i);
        a[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(a[i], i);
    free(a);
}

static void growing_too_far_changes_nothing(void **state)
{
    size_t cap = 0;
    uint64_t *a = NULL, *old;

    (void)state;
    assert_true(wr_grow(&a, &cap, 3, sizeof(*a)));
    old = a;
    assert_false(wr_grow(&a, &cap, SIZE_MAX, sizeof(*a)));
    assert_false(wr_grow(&a, &cap, SIZE_MAX / 4, sizeof(*a)));
    assert_ptr_equal(a, old);
    assert_int_equal(cap, 8);
    free(a);
}

static void big_buffers_are_aligned_and_zero(void **state)
{
    static const size_t sizes[] = {0,
                                   1,
                                   63,
                                   64,
                                   65,
                                   100000,
                                   (2 << 20) - 1,
                                   2 << 20,
                                   (2 << 20) + 1,
                                   (5 << 20) + 12345};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(sizes); i++) {
        uint8_t *p = wr_big_alloc(sizes[i]);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(p[k], 0);
        memset(p, 1, sizes[i]);
        wr_big_free(p, sizes[i]);
    }
    wr_big_free(NULL, 5);
    assert_null(wr_big_alloc(SIZE_MAX));
    assert_null(wr_big_alloc(SIZE_MAX - (3 << 20)));
}

static void rising_numbers_are_searched(void **state)
{
    const struct {
        char name;
        uint64_t end;
    } all[] = {{'a', 3}, {'b', 3}, {'c', 5}, {'d', UINT64_MAX}};
    size_t at = (size_t)((const char *)&all[0].end - (const char *)all);

    (void)state;
    for (size_t n = 0; n <= WR_ARRAY_LEN(all); n++)
        for (uint64_t limit = 0; limit < 8; limit++) {
            size_t below = 0;

            while (below < n && all[below].end < limit)
                below++;
            assert_int_equal(wr_count_below(all, sizeof(all[0]), n, at, limit),
                             below);
        }
    assert_int_equal(wr_count_below(all, sizeof(all[0]), 4, at, UINT64_MAX), 3);
    assert_int_equal(wr_count_below(NULL, 8, 0, 0, 1), 0);
}

/* Twice: the second time it may not be possible, and then changes nothing. */
static void big_buffers_grow(void **state)
{
    size_t size = (3 << 20) + 5;
    uint8_t *p = wr_big_alloc(size), *q;

    (void)state;
    assert_non_null(p);
    memset(p, 7, size);
    assert_null(wr_big_grow(p, size, size - 1));
    assert_null(wr_big_grow(p, size, SIZE_MAX));
    for (size_t k = 0; k < 2; k++) {
        size_t larger = size + (9 << 20);

        q = wr_big_grow(p, size, larger);
        if (!q) {
            assert_int_equal(k, 1);
            break;
        }
        for (size_t at = 0; at < size; at += 4096)
            assert_int_equal(q[at], 7);
        assert_int_equal(q[larger - 1], 0);
        memset(q, 7, larger);
        p = q;
        size = larger;
    }
    assert_int_equal(p[0], 7);
    wr_big_free(p, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rising_numbers_are_searched),
        cmocka_unit_test(overflow_is_told),
        cmocka_unit_test(growing_keeps_the_content),
        cmocka_unit_test(growing_too_far_changes_nothing),
        cmocka_unit_test(big_buffers_are_aligned_and_zero),
        cmocka_unit_test(big_buffers_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
