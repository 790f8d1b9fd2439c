/* test_noise.c - noise is a function of its place.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "gen/pen.h"

static void make(struct wr_noise *n, uint64_t seed, uint64_t file,
                 enum weir_dtype dtype, double compressible)
{
    const struct wr_noise_place place = {seed, file, 0};

    wr_noise_init(n, &place, dtype, compressible);
}

/* The bytes are part of what data sets are: they must not change. */
static void test_same_for_ever(void **state)
{
    static const uint8_t want[8] = {0x7c, 0x10, 0xdd, 0xaa,
                                    0x7f, 0x96, 0xc3, 0x08};
    struct wr_noise n;
    uint8_t got[8];

    (void)state;
    make(&n, 1, 2, WEIR_U8, 0);
    wr_noise_fill(&n, 100, got, sizeof(got));
    assert_memory_equal(got, want, sizeof(want));
}

/* Any stretch is the same as that part of the whole. */
static void test_any_offset(void **state)
{
    static uint8_t all[20000], some[20000];
    const double parts[] = {0, 0.3};
    struct wr_noise n;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        make(&n, 5, 6, WEIR_U8, parts[k]);
        wr_noise_fill(&n, 0, all, sizeof(all));
        for (size_t at = 0; at < 300; at += 7)
            for (size_t len = 0; len + at < 9000; len += 977) {
                memset(some, 0, sizeof(some));
                wr_noise_fill(&n, at, some, len);
                assert_memory_equal(some, all + at, len);
                assert_int_equal(some[len], 0); /* and not one byte more */
            }
    }
}

/* Where the numbers of words wrap, the bytes do not come again. */
static void test_beyond_a_turn(void **state)
{
    uint8_t a[256], b[256], c[256];
    struct wr_noise n;

    (void)state;
    make(&n, 5, 6, WEIR_U8, 0);
    wr_noise_fill(&n, 0, a, sizeof(a));
    wr_noise_fill(&n, UINT64_C(1) << 34, b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    wr_noise_fill(&n, (UINT64_C(1) << 34) - 128, c, sizeof(c));
    assert_memory_equal(c + 128, b, 128);
}

static void test_files_differ(void **state)
{
    uint8_t a[256], b[256], c[256];
    struct wr_noise n;

    (void)state;
    make(&n, 1, 1, WEIR_U8, 0);
    wr_noise_fill(&n, 0, a, sizeof(a));
    make(&n, 1, 2, WEIR_U8, 0);
    wr_noise_fill(&n, 0, b, sizeof(b));
    make(&n, 2, 1, WEIR_U8, 0);
    wr_noise_fill(&n, 0, c, sizeof(c));
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, c, sizeof(a));
    assert_memory_not_equal(b, c, sizeof(a));
}

/* All values come equally often, as far as 1 MB can tell. */
static void test_uniform(void **state)
{
    static uint8_t bytes[1 << 20];
    uint64_t count[256] = {0};
    double chi = 0;
    struct wr_noise n;

    (void)state;
    make(&n, 9, 9, WEIR_U8, 0);
    wr_noise_fill(&n, 0, bytes, sizeof(bytes));
    for (size_t k = 0; k < sizeof(bytes); k++)
        count[bytes[k]]++;
    for (unsigned v = 0; v < 256; v++) {
        double d = (double)count[v] - 4096.0;

        chi += d * d / 4096.0;
    }
    assert_true(chi > 150 && chi < 400); /* 255 on average */
}

static void test_floats_are_finite(void **state)
{
    static float f[4096];
    static double d[4096];
    static uint8_t b[4096];
    struct wr_noise n;

    (void)state;
    make(&n, 1, 1, WEIR_F32, 0);
    wr_noise_fill(&n, 0, f, sizeof(f));
    make(&n, 1, 1, WEIR_F64, 0);
    wr_noise_fill(&n, 0, d, sizeof(d));
    make(&n, 1, 1, WEIR_BOOL, 0);
    wr_noise_fill(&n, 0, b, sizeof(b));
    for (size_t k = 0; k < WR_ARRAY_LEN(f); k++) {
        assert_true(fabsf(f[k]) < 2);
        assert_true(fabs(d[k]) < 2);
        assert_true(b[k] <= 1);
    }
}

static void test_compressible(void **state)
{
    static uint8_t bytes[WR_NOISE_BLOCK * 4];
    size_t zeros = 0;
    struct wr_noise n;

    (void)state;
    make(&n, 1, 1, WEIR_U8, 0.5);
    wr_noise_fill(&n, 0, bytes, sizeof(bytes));
    for (size_t k = 0; k < sizeof(bytes); k++)
        zeros += bytes[k] == 0;
    assert_in_range(zeros, sizeof(bytes) / 2, sizeof(bytes) / 2 + 100);
    for (size_t k = 0; k < WR_NOISE_BLOCK / 2; k++)
        assert_int_equal(bytes[WR_NOISE_BLOCK / 2 + k], 0);
    make(&n, 1, 1, WEIR_U8, 1);
    wr_noise_fill(&n, 0, bytes, sizeof(bytes));
    for (size_t k = 0; k < sizeof(bytes); k++)
        assert_int_equal(bytes[k], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_for_ever),
        cmocka_unit_test(test_any_offset),
        cmocka_unit_test(test_beyond_a_turn),
        cmocka_unit_test(test_files_differ),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_floats_are_finite),
        cmocka_unit_test(test_compressible),
    };

    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
