/* test_list_rows.c - rows of lists, well and badly formed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/list_layout.h"

/* Parses `len` bytes in memory of exactly that size and the one behind. */
static size_t parse(const char *text, size_t len, struct wr_list_row *rows,
                    size_t cap, char **ret_text)
{
    char *copy = malloc(len + 1);
    struct wr_list_rows csv;
    size_t n = 0;

    memcpy(copy, text, len);
    copy[len] = 'Z'; /* nobody promised a NUL */
    wr_list_rows_init(&csv, copy, len);
    while (n < cap && wr_list_rows_next(&csv, &rows[n]))
        n++;
    *ret_text = copy;
    return n;
}

struct expected {
    const char *path, *label; /* path NULL: a bad row */
    uint64_t line;
};

static void check(const char *text, const struct expected *want, size_t count)
{
    struct wr_list_row rows[16];
    char *copy;
    size_t n = parse(text, strlen(text), rows, 16, &copy);

    assert_int_equal(n, count);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(rows[k].line, want[k].line);
        assert_int_equal(rows[k].bad == NULL, want[k].path != NULL);
        if (!want[k].path)
            continue;
        assert_string_equal(rows[k].path, want[k].path);
        assert_int_equal(rows[k].label == NULL, want[k].label == NULL);
        if (want[k].label)
            assert_string_equal(rows[k].label, want[k].label);
    }
    free(copy);
}

#define CHECK(text, ...)                                                       \
    do {                                                                       \
        const struct expected want[] = {__VA_ARGS__};                          \
        check(text, want, sizeof(want) / sizeof(want[0]));                     \
    } while (0)

static void test_plain(void **state)
{
    (void)state;
    CHECK("a,1\nb,2\n", {"a", "1", 1}, {"b", "2", 2});
    CHECK("a,1\nb,2", {"a", "1", 1}, {"b", "2", 2});
    CHECK("a,1\r\nb, 2 \r\n", {"a", "1", 1}, {"b", "2", 2});
    CHECK("a\nb,\nc", {"a", NULL, 1}, {"b", NULL, 2}, {"c", NULL, 3});
    CHECK("a\r\nb,\r\nc", {"a", NULL, 1}, {"b", NULL, 2}, {"c", NULL, 3});
    CHECK("\"a\"\r,1\nb,2\n", {NULL, NULL, 1}, {"b", "2", 2});
    CHECK("\xef\xbb\xbf"
          "a,1",
          {"a", "1", 1});
    CHECK("# x\n\n\r\na b,c d\n#end", {"a b", "c d", 4});
    CHECK("a,1\r", {"a", "1", 1});
    CHECK(",1", {"", "1", 1});
    check("", NULL, 0);
    check("\n\n", NULL, 0);
    check("#", NULL, 0);
}

static void test_quotes(void **state)
{
    (void)state;
    CHECK("\"a,b\",1\n", {"a,b", "1", 1});
    CHECK("\"a\"\"b\",\"x\"\r\n", {"a\"b", "x", 1});
    CHECK("\"a\nb\",1\nc,2", {"a\nb", "1", 1}, {"c", "2", 3});
    CHECK("\"\"", {"", NULL, 1});
    CHECK("\"\"\"\",1", {"\"", "1", 1});
    CHECK("\"#a\"", {"#a", NULL, 1});
    CHECK("a\"b,1", {"a\"b", "1", 1});
}

static void test_bad(void **state)
{
    (void)state;
    CHECK("\"a\nb,1\n", {NULL, NULL, 1}, {"b", "1", 2});
    CHECK("\"a\"b,1\nc,1", {NULL, NULL, 1}, {"c", "1", 2});
    CHECK("a,b,c\nd", {NULL, NULL, 1}, {"d", NULL, 2});
    CHECK("\"", {NULL, NULL, 1});
}

static void test_zero_byte(void **state)
{
    struct wr_list_row rows[4];
    char *copy;

    (void)state;
    assert_int_equal(parse("a\0b,1\nc,1", 9, rows, 4, &copy), 2);
    assert_non_null(rows[0].bad);
    assert_null(rows[1].bad);
    free(copy);
}

static void test_long_rows(void **state)
{
    size_t len = 3 * WR_LIST_MAX_ROW;
    char *text = malloc(len);
    struct wr_list_row rows[4];
    char *copy;

    (void)state;
    memset(text, 'x', len);
    memcpy(text + len - 5, "\nok,1", 5);
    assert_int_equal(parse(text, len, rows, 4, &copy), 2);
    assert_non_null(strstr(rows[0].bad, "longer"));
    assert_string_equal(rows[1].path, "ok");
    free(copy);
    memcpy(text, "\"\n\",", 4); /* the second column is too long */
    assert_int_equal(parse(text, len, rows, 4, &copy), 3);
    assert_non_null(rows[0].bad);
    free(copy);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_bad),       cmocka_unit_test(test_zero_byte),
        cmocka_unit_test(test_long_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
