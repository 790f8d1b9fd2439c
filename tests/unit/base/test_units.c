/* test_units.c - sizes, counts and durations, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

static void good_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } table[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"64K", 64000},
        {"64k", 64000},
        {"64KB", 64000},
        {"64KiB", 64 << 10},
        {"1.5G", UINT64_C(1500000000)},
        {"1.5GiB", UINT64_C(3) << 29},
        {"10M", 10000000},
        {"2GiB", UINT64_C(2) << 30},
        {"2GB", UINT64_C(2000000000)},
        {"7B", 7},
        {"3T", UINT64_C(3000000000000)},
        {"3TiB", UINT64_C(3) << 40},
        {"0.5KiB", 512},
        {"1.001K", 1001},
        {"9007199254740992", UINT64_C(1) << 53},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        uint64_t bytes = 77;

        assert_int_equal(wr_parse_size(table[i].text, &bytes, NULL), 0);
        assert_int_equal(bytes, table[i].bytes);
    }
}

static void bad_sizes(void **state)
{
    static const char *const texts[] = {
        "",     "K",     "-1",  "+1",        " 1",        "1 ",  "1X",
        "1KK",  "1KiBB", "1iB", "nan",       "inf",       ".5",  "0x10",
        "1Kib", "1e400", "1 K", "99999999T", "16777216T", "1Ki", "1M/s"};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(texts); i++) {
        uint64_t bytes = 77;
        weir_err err = {0};

        if (wr_parse_size(texts[i], &bytes, &err) != WEIR_EINVAL)
            fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(bytes, 77); /* untouched on failure */
        assert_non_null(strstr(err.msg, texts[i]));
    }
}

static void rates(void **state)
{
    static const char *const same[] = {"2G",   "2GB",   "2G/s",
                                       "2g/s", "2GB/s", "2000000000"};
    uint64_t rate = 77;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(same); i++) {
        assert_int_equal(wr_parse_rate(same[i], &rate, NULL), 0);
        assert_int_equal(rate, UINT64_C(2000000000));
    }
    assert_int_equal(wr_parse_rate("2GiB/s", &rate, NULL), 0);
    assert_int_equal(rate, UINT64_C(2) << 30);
    assert_int_equal(wr_parse_rate("2GB/", &rate, NULL), WEIR_EINVAL);
    assert_int_equal(wr_parse_rate("2GB/min", &rate, NULL), WEIR_EINVAL);
}

static void whole_numbers(void **state)
{
    static const char *const bad[] = {
        "",  "-1",  "+5",  " 5", "5 ",  "5x",
        "x", "0x5", "5.0", "2",  "101", "18446744073709551616"};
    uint64_t v = 77;

    (void)state;
    assert_int_equal(wr_parse_uint("3", 3, 100, &v, NULL), 0);
    assert_int_equal(v, 3);
    assert_int_equal(wr_parse_uint("100", 3, 100, &v, NULL), 0);
    assert_int_equal(v, 100);
    assert_int_equal(
        wr_parse_uint("18446744073709551615", 0, UINT64_MAX, &v, NULL), 0);
    assert_int_equal(v, UINT64_MAX);
    for (size_t i = 0; i < WR_ARRAY_LEN(bad); i++) {
        v = 77;
        if (wr_parse_uint(bad[i], 3, 100, &v, NULL) != WEIR_EINVAL)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(v, 77);
    }
}

static void digits_are_taken(void **state)
{
    static const char text[] = "0184467440737095516150 x";
    const char *at = text;
    uint64_t v = 7;

    (void)state;
    assert_false(wr_take_digits(&at, NULL, &v)); /* over 64 bits */
    assert_ptr_equal(at, text);
    assert_true(wr_take_digits(&at, text + 21, &v));
    assert_int_equal(v, UINT64_MAX);
    assert_ptr_equal(at, text + 21);
    assert_true(wr_take_digits(&at, NULL, &v));
    assert_int_equal(v, 0);
    assert_int_equal(*at, ' ');
    v = 7;
    assert_false(wr_take_digits(&at, NULL, &v)); /* none */
    at = text;
    assert_false(wr_take_digits(&at, text, &v));
    assert_int_equal(v, 7);
}

static void decimal_numbers(void **state)
{
    static const char *const bad[] = {"",      "x",     "1x", "nan",  "inf",
                                      "1e999", "0x1p3", " 1", "-0.1", "10.5"};
    double v = 77;

    (void)state;
    assert_int_equal(wr_parse_double("2.5", 0, 10, &v, NULL), 0);
    assert_true(v == 2.5);
    assert_int_equal(wr_parse_double("1e-3", 0, 10, &v, NULL), 0);
    assert_true(v == 1e-3);
    for (size_t i = 0; i < WR_ARRAY_LEN(bad); i++) {
        v = 77;
        if (wr_parse_double(bad[i], 0, 10, &v, NULL) != WEIR_EINVAL)
            fail_msg("'%s' was taken", bad[i]);
        assert_true(v == 77);
    }
}

static void texts(void **state)
{
    char b[32];

    (void)state;
    assert_string_equal(wr_format_bytes(b, sizeof(b), 0), "0 B");
    assert_string_equal(wr_format_bytes(b, sizeof(b), 999), "999 B");
    assert_string_equal(wr_format_bytes(b, sizeof(b), 1000), "1.0 KB");
    assert_string_equal(wr_format_bytes(b, sizeof(b), 12340), "12.3 KB");
    assert_string_equal(wr_format_bytes(b, sizeof(b), 112400), "112 KB");
    assert_string_equal(wr_format_bytes(b, sizeof(b), 2.5e12), "2.5 TB");
    assert_string_equal(wr_format_count(b, sizeof(b), 0), "0");
    assert_string_equal(wr_format_count(b, sizeof(b), 999), "999");
    assert_string_equal(wr_format_count(b, sizeof(b), 1000), "1,000");
    assert_string_equal(wr_format_count(b, sizeof(b), 1234567), "1,234,567");
    assert_string_equal(wr_format_count(b, sizeof(b), UINT64_MAX),
                        "18,446,744,073,709,551,615");
    assert_string_equal(wr_format_ns(b, sizeof(b), 12), "12 ns");
    assert_string_equal(wr_format_ns(b, sizeof(b), 1530), "1.5 us");
    assert_string_equal(wr_format_ns(b, sizeof(b), 1.53e6), "1.5 ms");
    assert_string_equal(wr_format_ns(b, sizeof(b), 2.5e9), "2.50 s");
}

static void short_buffers_are_not_overrun(void **state)
{
    char b[8];

    (void)state;
    memset(b, 'x', sizeof(b));
    wr_format_count(b, 5, 1234567);
    assert_true(memchr(b, '\0', 5) != NULL);
    assert_int_equal(b[5], 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_sizes),
        cmocka_unit_test(bad_sizes),
        cmocka_unit_test(rates),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(digits_are_taken),
        cmocka_unit_test(decimal_numbers),
        cmocka_unit_test(texts),
        cmocka_unit_test(short_buffers_are_not_overrun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
