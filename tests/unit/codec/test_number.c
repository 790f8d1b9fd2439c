/* test_number.c - decimal text to numbers and back, against the C library.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/number.h"

#define ROUNDS 300000u

static uint64_t bits64(double v)
{
    uint64_t b;

    memcpy(&b, &v, sizeof(b));
    return b;
}

static uint32_t bits32(float v)
{
    uint32_t b;

    memcpy(&b, &v, sizeof(b));
    return b;
}

/* Both types, and where the number ends. */
static void check(const char *text)
{
    const char *end = text + strlen(text), *p;
    char *want_end;
    double want = wr_strtod(text, &want_end), got = 0;
    float want_f = wr_strtof(text, NULL), got_f = 0;

    p = wr_number_f64(text, end, &got);
    if (p != want_end || bits64(got) != bits64(want))
        fail_msg("'%s': %a, not %a; ends at '%s'", text, got, want,
                 p ? p : "(none)");
    p = wr_number_f32(text, end, &got_f);
    if (p != want_end || bits32(got_f) != bits32(want_f))
        fail_msg("'%s': %a, not %a (f32)", text, (double)got_f, (double)want_f);
}

static void test_known(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0",
        "1",
        "-1",
        "0.0",
        "00012",
        "12.",
        ".5",
        "-.5e1",
        "1e",
        "1e+",
        "1e5x",
        "3.14,",
        "1.5.5",
        "1e400",
        "-1e400",
        "1e-400",
        "1e309",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "17976931348623158079372897140530e277",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.47032822920623272088284396434110686182e-324",
        "2.47032822920623272088284396434110686183e-324",
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000000000000000000000001",
        "9007199254740993.00000000000000000000000000000000000000",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001",
        "1.00000005960464477539062500",
        "1.000000059604644775390625000001",
        "1.00000017881393432617187499",
        "1.000000178813934326171875",
        "1.00000017881393432617187500000000000000000000000000000000000001",
        "16777217",
        "16777219",
        "33554435",
        "3.4028234e38",
        "3.4028235e38",
        "3.4028236e38",
        "3.40282356779733661637539395458e38",
        "3.402823567797336616375393954580e38",
        "1.4e-45",
        "7e-46",
        "7.006492321624085e-46",
        "7.0064923216240853546186479e-46",
        "7.00649232162408535461864791644958e-46",
        "1.1754943e-38",
        "1.17549428e-38",
        "1.1754942807573643e-38",
        "8.5e-46",
        "0.1",
        "0.2",
        "0.3",
        "123456.789e3",
        "1e22",
        "1e23",
        "9e22",
        "1e-22",
        "1e-23",
        "8.41e21",
        "9007199254740991e22",
        "5e-324",
        "1e-323",
        "0.500000000000000166533453693773481063544750213623046875",
        "3.518437208883201171875e13",
        "62.5364939768271845828",
        "8.10109172351e-10",
        "1.50000000000000011102230246251565",
        "1.49999999999999999999999999999999",
        "0e999999999999999999999",
        "1e99999999999999999999999",
        "1e-99999999999999999999999",
        "6.631236846766476e-316",
        "3.2378839133029012895883524125015321748e-302",
        "2.9802322387695312e-8",
        "7.2057594037927933e16",
        "-2240084132271013504.131248280843119943687942846658579428",
        "1234567890123456789.0e-1",
        "0.0000000000000000001234567890123456789",
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(texts); k++)
        check(texts[k]);
}

static void test_none(void **state)
{
    static const char *const texts[] = {"",    "-", "+",  ".",   "-.",  "e5",
                                        ".e5", "x", " 1", "nan", "inf", "--1"};
    static const char hex[] = "0x10p1";
    double d = 7;
    float f = 7;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(texts); k++) {
        const char *end = texts[k] + strlen(texts[k]);

        assert_null(wr_number_f64(texts[k], end, &d));
        assert_null(wr_number_f32(texts[k], end, &f));
    }
    assert_true(d == 7 && f == 7);
    /* Hexadecimal: a 0, and something behind it. */
    assert_string_equal(wr_number_f64(hex, hex + strlen(hex), &d), "x10p1");
}

/* Nothing behind `end` is looked at: the sanitizer would say so. */
static void test_end(void **state)
{
    const char text[] = "123456789.123456789e12";
    double got = 0;

    (void)state;
    for (size_t n = 1; n <= strlen(text); n++) {
        char *copy = malloc(n), *whole = strndup(text, n), *end;

        assert_true(copy && whole);
        memcpy(copy, text, n);
        wr_strtod(whole, &end);
        assert_ptr_equal(wr_number_f64(copy, copy + n, &got),
                         copy + (end - whole));
        free(copy);
        free(whole);
    }
}

static void test_random_bits(void **state)
{
    struct wr_rng rng = {.seed = 1};
    char text[64];

    (void)state;

    for (unsigned k = 0; k < ROUNDS; k++) {
        uint64_t b = wr_rng_next(&rng);
        uint32_t b32 = (uint32_t)b;
        double d;
        float f;

        memcpy(&d, &b, sizeof(d));
        memcpy(&f, &b32, sizeof(f));
        if (isfinite(d)) {
            wr_snprintf(text, sizeof(text), "%.*e", (int)(k % 21), d);
            check(text);
        }
        if (isfinite(f)) {
            wr_snprintf(text, sizeof(text), "%.*g", (int)(1 + k % 20),
                        (double)f);
            check(text);
        }
    }
}

static void test_random_texts(void **state)
{
    struct wr_rng rng = {.seed = 2};
    char text[96];

    (void)state;

    for (unsigned k = 0; k < ROUNDS; k++) {
        uint64_t b = wr_rng_next(&rng);
        int exponent = (int)(wr_rng_next(&rng) % 700) - 350;

        snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64 "e%d",
                 b >> (b & 63), (int)(b % 24), wr_rng_next(&rng) >> (k & 63),
                 exponent);
        check(text);
        snprintf(text, sizeof(text), "0.%0*" PRIu64 "e%d", (int)(b % 40),
                 b >> (k & 63), exponent / 8);
        check(text);
    }
}

/* The middle between two floats, which has up to 768 digits; a bit more, and
 * a bit less. */
static void test_ties(void **state)
{
    struct wr_rng rng = {.seed = 3};
    char text[1200];

    (void)state;

    for (unsigned k = 0; k < 2000; k++) {
        uint32_t b = (uint32_t)wr_rng_next(&rng) & 0x7fffffff;
        float f, next;
        size_t n;

        if (k % 4 == 0)
            b &= 0x00ffffff; /* subnormal, or nearly */
        memcpy(&f, &b, sizeof(f));
        next = nextafterf(f, INFINITY);
        if (!isfinite(f) || !isfinite(next))
            continue;
        n = (size_t)wr_snprintf(text, sizeof(text), "%.200f",
                                ((double)f + (double)next) / 2);
        check(text);
        text[n - 1] = '1';
        check(text);
        wr_snprintf(text, sizeof(text), "%.*e", (int)(k % 50),
                    ((double)f + (double)next) / 2);
        check(text);
    }
    for (unsigned k = 0; k < 2000; k++) { /* doubles: w + 1/2 */
        uint64_t w = (wr_rng_next(&rng) >> 11) | UINT64_C(1) << 52;
        size_t n = (size_t)snprintf(text, sizeof(text), "%" PRIu64 ".5", w);

        check(text);
        memset(text + n, '0', 900);
        strcpy(text + n + 900, "1");
        check(text);
    }
}

static void test_words(void **state)
{
    static const char *const good[] = {"nan",  "NaN",  "inf",      "-INF",
                                       "+inf", "-nan", "Infinity", "-infinity"};
    double v = 0;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(good); k++) {
        const char *end = good[k] + strlen(good[k]);
        double want = wr_strtod(good[k], NULL);

        assert_ptr_equal(wr_number_word(good[k], end, &v), end);
        assert_int_equal(isnan(want), isnan(v));
        assert_true(isnan(want) || want == v);
    }
    assert_null(wr_number_word(good[0], good[0] + 2, &v));
}

static void test_integers(void **state)
{
    int64_t i = 0;
    uint64_t u = 0;
    bool large;
#define I64(text) wr_number_i64(text, (text) + strlen(text), &i, &large)
#define U64(text) wr_number_u64(text, (text) + strlen(text), &u, &large)

    (void)state;
    assert_non_null(I64("-9223372036854775808"));
    assert_true(i == INT64_MIN);
    assert_non_null(I64("9223372036854775807"));
    assert_true(i == INT64_MAX);
    assert_null(I64("9223372036854775808"));
    assert_true(large);
    assert_null(I64("-9223372036854775809"));
    assert_true(large);
    assert_null(I64("-"));
    assert_false(large);
    assert_null(I64("-+5"));
    assert_non_null(U64("18446744073709551615"));
    assert_true(u == UINT64_MAX);
    assert_null(U64("18446744073709551616"));
    assert_true(large);
    assert_null(U64("-1"));
    assert_string_equal(I64("12.5"), ".5");
}

static void test_list(void **state)
{
    static const char text[] = "1.5, -2 ,3e2,1e39,7";
    struct wr_number_list l = {text, text + strlen(text), ',', false};
    float to[8];
    double wide[8];

    (void)state;
    assert_int_equal(wr_number_list_f32(&l, to, 8), 3);
    assert_true(to[0] == 1.5f && to[1] == -2 && to[2] == 300);
    assert_string_equal(l.at, "1e39,7"); /* too large for it */
    assert_int_equal(wr_number_list_f64(&l, wide, 8), 2);
    assert_true(wide[0] == 1e39 && wide[1] == 7 && l.at == l.end);
    l.at = text;
    assert_int_equal(wr_number_list_f64(&l, wide, 2), 2);
    assert_string_equal(l.at, "3e2,1e39,7");
}

static void test_strict(void **state)
{
    static const char *const bad[] = {"+1", "01",  ".5",   "5.",
                                      "-",  "-.5", "1.e5", "00"};
    static const char *const good[] = {"0", "-0", "0.5", "1e5", "-1E+5"};
    double v;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(bad); k++) {
        struct wr_number_list l = {bad[k], bad[k] + strlen(bad[k]), ',', true};

        assert_int_equal(wr_number_list_f64(&l, &v, 1), 0);
        assert_ptr_equal(l.at, bad[k]);
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(good); k++) {
        struct wr_number_list l = {good[k], good[k] + strlen(good[k]), ',',
                                   true};

        assert_int_equal(wr_number_list_f64(&l, &v, 1), 1);
        assert_true(v == wr_strtod(good[k], NULL));
    }
}

/* --- to text --- */

static void check_write(uint64_t b)
{
    char text[WR_NUMBER_TEXT + 1], want[64];
    uint32_t b32 = (uint32_t)b;
    double d;
    float f;
    size_t n;

    memcpy(&d, &b, sizeof(d));
    memcpy(&f, &b32, sizeof(f));
    if (isfinite(d)) {
        n = wr_number_write_f64(d, text);
        assert_true(n < sizeof(text));
        text[n] = '\0';
        if (bits64(wr_strtod(text, NULL)) != b)
            fail_msg("%a is written as '%s'", d, text);
        wr_snprintf(want, sizeof(want), "%.15g", d);
        if (fabs(d) > 1e-290 && wr_strtod(want, NULL) == d &&
            n > strlen(want) + 2)
            fail_msg("'%s' could be '%s'", text, want);
    }
    if (isfinite(f)) {
        n = wr_number_write_f32(f, text);
        assert_true(n < sizeof(text));
        text[n] = '\0';
        if (bits32(wr_strtof(text, NULL)) != b32)
            fail_msg("%a is written as '%s' (f32)", (double)f, text);
    }
}

static void test_write(void **state)
{
    struct wr_rng rng = {.seed = 4};

    (void)state;

    for (unsigned k = 0; k < ROUNDS; k++) {
        check_write(wr_rng_next(&rng));
        check_write(bits64((double)(k % 1000) / 100));
    }
    for (uint64_t b = 0; b < 2000; b++) { /* the smallest ones, the largest */
        check_write(b);
        check_write(UINT64_C(0x7fefffffffffffff) - b);
        check_write(UINT64_C(0x7f7fffff) - b);
    }
}

static void test_write_looks(void **state)
{
    static const struct {
        double v;
        const char *text;
    } looks[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.001, "0.001"},
        {0.00001, "1e-5"},
        {123456, "123456.0"},
        {1e15, "1000000000000000.0"},
        {1e17, "1e17"},
        {0.30000000000000004, "0.30000000000000004"},
        {1.5e300, "1.5e300"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
    };
    char text[WR_NUMBER_TEXT + 1];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(looks); k++) {
        text[wr_number_write_f64(looks[k].v, text)] = '\0';
        assert_string_equal(text, looks[k].text);
    }
    text[wr_number_write_f32(0.1f, text)] = '\0';
    assert_string_equal(text, "0.1");
    text[wr_number_write_f32(16777216.0f, text)] = '\0';
    assert_string_equal(text, "16777216.0");
    text[wr_number_write_i64(INT64_MIN, text)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
    text[wr_number_write_u64(UINT64_MAX, text)] = '\0';
    assert_string_equal(text, "18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),        cmocka_unit_test(test_none),
        cmocka_unit_test(test_end),          cmocka_unit_test(test_random_bits),
        cmocka_unit_test(test_random_texts), cmocka_unit_test(test_ties),
        cmocka_unit_test(test_words),        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_list),         cmocka_unit_test(test_strict),
        cmocka_unit_test(test_write),        cmocka_unit_test(test_write_looks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
