/* test_cast.c - elements of one type -> another; bytes in the other order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/cast.h"

#define COUNT 1500u /* over two blocks, and an odd rest */

static const enum weir_dtype numbers[] = {
    WEIR_F32, WEIR_F16, WEIR_U8,  WEIR_BF16, WEIR_F64, WEIR_I8,  WEIR_I16,
    WEIR_U16, WEIR_I32, WEIR_U32, WEIR_I64,  WEIR_U64, WEIR_BOOL};

static double f64_to(enum weir_dtype to, double v)
{
    union {
        float f;
        uint16_t u16;
        uint8_t u8;
        int64_t i64;
        uint8_t bytes[8];
    } out = {0};
    double back;

    wr_cast(WEIR_F64, to, &v, 1, &out);
    wr_cast(to, WEIR_F64, &out, 1, &back);
    return back;
}

static uint16_t half_of(double v)
{
    uint16_t half;

    wr_cast(WEIR_F64, WEIR_F16, &v, 1, &half);
    return half;
}

static void test_can(void **state)
{
    (void)state;
    for (size_t a = 0; a < WR_ARRAY_LEN(numbers); a++)
        for (size_t b = 0; b < WR_ARRAY_LEN(numbers); b++)
            assert_true(wr_cast_can(numbers[a], numbers[b]));
    assert_true(wr_cast_can(WEIR_C64, WEIR_C64));
    assert_true(wr_cast_can(WEIR_F8_E4M3, WEIR_F8_E4M3));
    assert_false(wr_cast_can(WEIR_C64, WEIR_F32));
    assert_false(wr_cast_can(WEIR_F32, WEIR_C64));
    assert_false(wr_cast_can(WEIR_F4, WEIR_F4)); /* no whole bytes */
}

/* In range: cut off behind the point, rounded to even. */
static void test_in_range(void **state)
{
    (void)state;
    assert_true(f64_to(WEIR_I8, -127.9) == -127);
    assert_true(f64_to(WEIR_U8, 255.9) == 255);
    assert_true(f64_to(WEIR_U32, 4294967295.0) == 4294967295.0);
    assert_true(f64_to(WEIR_I64, -0x1p63) == -0x1p63);
    assert_true(f64_to(WEIR_U64, 0x1.fffffffffffffp63) == 0x1.fffffffffffffp63);
    assert_true(f64_to(WEIR_F32, 0.1) == (double)0.1f);
    assert_true(f64_to(WEIR_F16, 2049) == 2048 &&
                f64_to(WEIR_F16, 2051) == 2052);
    assert_true(f64_to(WEIR_BF16, 257) == 256 && f64_to(WEIR_BF16, 259) == 260);
    assert_true(f64_to(WEIR_BOOL, 0.25) == 1 && f64_to(WEIR_BOOL, -0.0) == 0);
}

/* Out of range: the ends, 0 for NaN, infinity. */
static void test_out_of_range(void **state)
{
    static const struct {
        enum weir_dtype to;
        double low, high;
    } ends[] = {{WEIR_I8, -128, 127},
                {WEIR_U8, 0, 255},
                {WEIR_I16, -32768, 32767},
                {WEIR_U16, 0, 65535},
                {WEIR_I32, -0x1p31, 0x1p31 - 1},
                {WEIR_U32, 0, 0x1p32 - 1},
                {WEIR_I64, -0x1p63, 0x1p63},
                {WEIR_U64, 0, 0x1p64}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(ends); k++) {
        assert_true(f64_to(ends[k].to, -1e300) == ends[k].low);
        assert_true(f64_to(ends[k].to, -INFINITY) == ends[k].low);
        assert_true(f64_to(ends[k].to, 1e300) == ends[k].high);
        assert_true(f64_to(ends[k].to, INFINITY) == ends[k].high);
        assert_true(f64_to(ends[k].to, NAN) == 0);
    }
    assert_true(f64_to(WEIR_F32, 1e300) == INFINITY);
    assert_true(f64_to(WEIR_F16, 65519.99) == 65504);
    assert_true(f64_to(WEIR_F16, -65520) == -INFINITY);
    assert_true(f64_to(WEIR_BF16, 3.4e38) == INFINITY);
    assert_true(isnan(f64_to(WEIR_F16, NAN)) && isnan(f64_to(WEIR_BF16, NAN)));
    assert_true(f64_to(WEIR_BOOL, NAN) == 1);
}

static void test_integers(void **state)
{
    const int64_t in[] = {INT64_MIN, -129, -1, 0, 1, 128, 70000, INT64_MAX};
    const int8_t want[] = {-128, -128, -1, 0, 1, 127, 127, 127};
    const uint64_t large = UINT64_MAX;
    const uint8_t odd_bool = 7;
    uint16_t u16[8];
    uint64_t u64[8];
    int64_t i64;
    int8_t i8[8];

    (void)state;
    wr_cast(WEIR_I64, WEIR_I8, in, 8, i8);
    assert_memory_equal(i8, want, 8);
    wr_cast(WEIR_I64, WEIR_U16, in, 8, u16);
    assert_int_equal(u16[1], 0);
    assert_int_equal(u16[6], 65535);
    wr_cast(WEIR_I64, WEIR_U64, in, 8, u64);
    assert_true(u64[0] == 0 && u64[7] == (uint64_t)INT64_MAX);
    wr_cast(WEIR_U64, WEIR_I64, &large, 1, &i64);
    assert_true(i64 == INT64_MAX);
    wr_cast(WEIR_BOOL, WEIR_I64, &odd_bool, 1, &i64);
    assert_true(i64 == 1);
}

/* Rounded once, not twice. */
static void test_one_rounding(void **state)
{
    const int64_t whole = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    float f;

    (void)state;
    /* Just over the middle of two halves, which f32 cannot tell. */
    assert_int_equal(half_of(1 + 0x1p-11), 0x3c00);
    assert_int_equal(half_of(1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(half_of(1 + 0x1p-10 + 0x1p-11 - 0x1p-40), 0x3c01);
    assert_int_equal(half_of(0x1p-25), 0);
    assert_int_equal(half_of(0x1p-25 + 0x1p-70), 1);
    assert_true(f64_to(WEIR_BF16, 1 + 0x1p-8 + 0x1p-50) == 1 + 0x1p-7);
    /* Over the middle of two floats by a bit that f64 has not. */
    wr_cast(WEIR_I64, WEIR_F32, &whole, 1, &f);
    assert_true(f == (float)whole);
    assert_true(f == 0x1p60f + 0x1p37f);
}

static void test_halves(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 65536; k++) {
        uint16_t half = (uint16_t)k, back;
        int exponent = (int)(k >> 10 & 31);
        double mag = exponent ? ldexp(1024 + (k & 1023), exponent - 25)
                              : ldexp(k & 1023, -24);
        float f;

        wr_cast(WEIR_F16, WEIR_F32, &half, 1, &f);
        if (exponent == 31) {
            assert_true(k & 1023 ? isnan(f) : isinf(f));
        } else {
            assert_true(f == (float)(k >> 15 ? -mag : mag));
            wr_cast(WEIR_F32, WEIR_F16, &f, 1, &back);
            assert_int_equal(back, half);
        }
    }
}

/* Any bits, at odd addresses: as one element at a time. */
static void test_as_plain(void **state)
{
    static uint8_t in[COUNT * 8 + 1], fast[COUNT * 8 + 1], plain[COUNT * 8];
    struct wr_rng rng = {.seed = 13};

    (void)state;
    for (size_t k = 0; k < sizeof(in); k++)
        in[k] = (uint8_t)wr_rng_next(&rng);
    for (size_t a = 0; a < WR_ARRAY_LEN(numbers); a++)
        for (size_t b = 0; b < WR_ARRAY_LEN(numbers); b++) {
            enum weir_dtype from = numbers[a], to = numbers[b];

            memset(fast, 0xa5, sizeof(fast));
            wr_cast(from, to, in + 1, COUNT, fast + 1);
            if (from == to)
                memcpy(plain, in + 1, COUNT * wr_dtype_bytes(to));
            else
                wr_cast_plain(from, to, in + 1, COUNT, plain);
            assert_memory_equal(fast + 1, plain, COUNT * wr_dtype_bytes(to));
            assert_int_equal(fast[0], 0xa5);
        }
}

static void test_swap(void **state)
{
    static uint8_t in[8 * 999], out[8 * 999];

    (void)state;
    for (size_t k = 0; k < sizeof(in); k++)
        in[k] = (uint8_t)(k * 7 + (k >> 8));
    for (size_t width = 1; width <= 8; width *= 2) {
        wr_swap(in, sizeof(in), width, out);
        for (size_t k = 0; k < sizeof(in); k++)
            assert_int_equal(out[k],
                             in[k / width * width + width - 1 - k % width]);
        wr_swap(out, sizeof(out), width, out); /* in place, and back */
        assert_memory_equal(out, in, sizeof(in));
    }
    assert_int_equal(wr_swap_width(WEIR_C64), 4);
    assert_int_equal(wr_swap_width(WEIR_F64), 8);
    assert_int_equal(wr_swap_width(WEIR_BOOL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_can),          cmocka_unit_test(test_in_range),
        cmocka_unit_test(test_out_of_range), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_one_rounding), cmocka_unit_test(test_halves),
        cmocka_unit_test(test_as_plain),     cmocka_unit_test(test_swap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
