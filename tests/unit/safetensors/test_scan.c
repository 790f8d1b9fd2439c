/* test_scan.c - JSON taken apart where it lies.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "safetensors/scan.h"

static struct wr_scan scan_of(char *text, size_t len)
{
    return (struct wr_scan){text, {.at = text, .end = text + len}};
}

/* Passes over one value and what is around it. */
static int pass_over(const char *json, weir_err *err)
{
    size_t len = strlen(json);
    char *text = malloc(len ? len : 1); /* reading behind it is seen */
    struct wr_scan s = scan_of(memcpy(text, json, len), len);
    int r = wr_scan_skip(&s, err);

    if (r == 0)
        r = wr_scan_end(&s, err);
    free(text);
    return r;
}

static void test_valid(void **state)
{
    static const char *const good[] = {
        "0",
        "-0",
        "12",
        "1.5",
        "-1.5e+10",
        "1E5",
        "1e-5",
        "true",
        "null",
        "false",
        "\"\"",
        "[]",
        "{}",
        "[1,[2]]",
        " [ ] ",
        "\t{ \"a\" : 1 , \"b\":[ ] }\r\n",
        "\"\\u00e9\\/\"",
        "[\"a\",null,{\"\":{}}]",
        "99999999999999999999999999",
    };

    (void)state;
    for (size_t k = 0; k < sizeof(good) / sizeof(good[0]); k++)
        if (pass_over(good[k], NULL) < 0)
            fail_msg("%s is refused", good[k]);
}

static void test_invalid(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "01",
        "+1",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1.e5",
        "tru",
        "True",
        "nul",
        "NaN",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{a:1}",
        "{1:1}",
        "{\"a\":1,}",
        "{,}",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\n\"",
        "\"\n\"",
        "\"\t\"",
        "1 1",
        "[}",
        "{]",
        "'a'",
        "/**/1",
        "\"\\ud800\\ud800\"",
        "[1}",
        "nulll",
    };

    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        weir_err err = {0};

        if (pass_over(bad[k], &err) != WEIR_EFORMAT)
            fail_msg("%s is taken", bad[k]);
        assert_int_equal(strncmp(err.msg, "not JSON: ", 10), 0);
    }
}

static void test_depth(void **state)
{
    char deep[400] = {0};

    (void)state;
    memset(deep, '[', 128);
    memset(deep + 128, ']', 128);
    assert_int_equal(pass_over(deep, NULL), 0);
    memset(deep, '[', 129);
    memset(deep + 129, ']', 129);
    assert_int_equal(pass_over(deep, NULL), WEIR_EFORMAT);
}

static void test_texts(void **state)
{
    char text[] = " \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00E9\\u20ac"
                  "\\ud83d\\ude42\xc3\xa9\" : 7";
    struct wr_scan s = scan_of(text, strlen(text));
    bool whole = false;
    uint64_t n = 0;
    char *got = NULL;

    (void)state;
    assert_int_equal(wr_scan_key(&s, &got, NULL), 0);
    assert_string_equal(got, "a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac"
                             "\xf0\x9f\x99\x82\xc3\xa9");
    assert_int_equal(wr_scan_number(&s, &whole, &n, NULL), 0);
    assert_true(whole);
    assert_int_equal(n, 7);
    assert_int_equal(wr_scan_end(&s, NULL), 0);
}

static void check_number(const char *json, bool is_whole, uint64_t value)
{
    char *text = strdup(json);
    struct wr_scan s = scan_of(text, strlen(text));
    bool whole = !is_whole;
    uint64_t n = 0;

    assert_int_equal(wr_scan_number(&s, &whole, &n, NULL), 0);
    assert_int_equal(whole, is_whole);
    if (is_whole)
        assert_int_equal(n, value);
    assert_ptr_equal(s.j.at, s.j.end);
    free(text);
}

static void test_numbers(void **state)
{
    (void)state;
    check_number("0", true, 0);
    check_number("18446744073709551614", true, UINT64_MAX - 1);
    check_number("18446744073709551616", true, UINT64_MAX);
    check_number("99999999999999999999999", true, UINT64_MAX);
    check_number("-1", false, 0);
    check_number("-0", false, 0);
    check_number("1.0", false, 0);
    check_number("1e3", false, 0);
}

static void test_members(void **state)
{
    char text[] = "[ 1 , 2 ]]";
    struct wr_scan s = scan_of(text, strlen(text));
    bool first = true;
    weir_err err;

    (void)state;
    assert_int_equal(wr_scan_take(&s, '[', NULL), 0);
    assert_int_equal(wr_scan_more(&s, ']', &first, NULL), 1);
    assert_int_equal(wr_scan_skip(&s, NULL), 0);
    assert_int_equal(wr_scan_more(&s, ']', &first, NULL), 1);
    assert_int_equal(wr_scan_skip(&s, NULL), 0);
    assert_int_equal(wr_scan_more(&s, ']', &first, NULL), 0);
    assert_int_equal(wr_scan_end(&s, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "not JSON: something follows at byte 9");
    assert_int_equal(wr_scan_take(&s, '[', &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "not JSON: no '[' at byte 9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),   cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_texts),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
