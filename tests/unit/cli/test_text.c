/* test_text.c - unit tests of text.c and named.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/named.h"

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(wr_text_width(""), 0);
    assert_int_equal(wr_text_width("abc"), 3);
    assert_int_equal(wr_text_width("grün"), 4);
    assert_int_equal(wr_text_width("████"), 4);
    assert_int_equal(wr_text_width("\033[1mbold\033[0m"), 4);
    assert_int_equal(wr_text_width("\xff\xfe"), 2);  /* not UTF-8 */
    assert_int_equal(wr_text_width("a\xe2\x96"), 3); /* cut off */
    assert_int_equal(wr_text_width("\033["), 0);     /* cut off */
    assert_int_equal(wr_text_width("\xc0\xaf"), 2);  /* longer than need be */
    assert_int_equal(wr_text_width("\xed\xa0\x80"), 3); /* a surrogate */
    if (setlocale(LC_CTYPE, "C.UTF-8"))
        assert_int_equal(wr_text_width("日本"), 4);
}

static void test_show(void **state)
{
    static const struct {
        const char *text, *all, *controls;
    } table[] = {
        {"grün █", "grün █", "grün █"},
        {"a\tb\177", "a\tb\177", "a\\x09b\\x7f"},
        {"\xc2\x85", "\xc2\x85", "\\xc2\\x85"}, /* next line, of C1 */
        {"\xff\xe2\x96", "\\xff\\xe2\\x96", "\\xff\\xe2\\x96"},
        {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"},
    };
    char buf[64];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_string_equal(
            wr_text_show(table[i].text, false, buf, sizeof(buf)), table[i].all);
        assert_string_equal(wr_text_show(table[i].text, true, buf, sizeof(buf)),
                            table[i].controls);
    }
    assert_string_equal(wr_text_show("abcdefgh", true, buf, 8), "abc");
}

static void test_fit(void **state)
{
    (void)state;
    assert_int_equal(wr_text_fit("abcdef", 3), 3);
    assert_int_equal(wr_text_fit("abc", 10), 3);
    assert_int_equal(wr_text_fit("ü1", 1), 2);
    assert_int_equal(wr_text_fit("x", 0), 0);
}

static char *wrapped(const char *text, struct wr_text_wrap wrap)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    wr_text_print(f, text, wrap);
    fclose(f);
    return out;
}

static void expect_wrap(const char *text, struct wr_text_wrap wrap,
                        const char *want)
{
    char *got = wrapped(text, wrap);

    assert_string_equal(got, want);
    free(got);
}

static void test_wrap(void **state)
{
    (void)state;
    expect_wrap("one two three", (struct wr_text_wrap){0, 2, 8},
                "one two\n  three\n");
    expect_wrap("one two", (struct wr_text_wrap){5, 5, 8}, "one\n     two\n");
    expect_wrap("a\n\nb c", (struct wr_text_wrap){0, 0, 80}, "a\n\nb c\n");
    expect_wrap("averylongword x", (struct wr_text_wrap){0, 0, 4},
                "averylongword\nx\n");
    expect_wrap("", (struct wr_text_wrap){0, 0, 4}, "\n");
}

/* Blanks and styles stay; nothing is broken where that gains nothing. */
static void test_fold(void **state)
{
    static const struct {
        const char *line, *want;
        struct wr_text_wrap wrap;
    } table[] = {
        {"one two three", "one two\n  three", {0, 2, 8}},
        {"'a  b'  cd", "'a  b'\n cd", {0, 1, 9}},
        {"'a  b'  cd", "'a  b'  cd", {0, 1, 10}},
        {"\033[1mone\033[0m two", "\033[1mone\033[0m two", {0, 0, 7}},
        {"  averylongword x", "  averylongword\n    x", {0, 4, 9}},
        {"grün ab", "grün ab", {0, 0, 7}},
        {"two three", "two\n     three", {5, 5, 12}},
        {"ends ", "ends ", {0, 0, 4}},
        {"", "", {0, 0, 4}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char *out = NULL;
        size_t len;
        FILE *f = open_memstream(&out, &len);

        wr_text_fold(f, table[i].line, strlen(table[i].line), table[i].wrap);
        fclose(f);
        assert_string_equal(out, table[i].want);
        free(out);
    }
}

static void test_bar(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(wr_text_bar(10, 10, 4, true, buf), "████");
    assert_string_equal(wr_text_bar(5, 10, 3, true, buf), "█▌");
    assert_string_equal(wr_text_bar(0, 10, 4, true, buf), "");
    assert_string_equal(wr_text_bar(1e-9, 10, 4, true, buf), "▏");
    assert_string_equal(wr_text_bar(20, 10, 4, false, buf), "####");
    assert_string_equal(wr_text_bar(-1, 10, 4, false, buf), "");
    assert_string_equal(wr_text_bar(1, 0, 4, false, buf), "#");
}

static void test_distance(void **state)
{
    char word[100];

    (void)state;
    assert_int_equal(wr_suggest_distance("", ""), 0);
    assert_int_equal(wr_suggest_distance("abc", ""), 3);
    assert_int_equal(wr_suggest_distance("cache", "cahce"), 1);
    assert_int_equal(wr_suggest_distance("kitten", "sitting"), 3);
    memset(word, 'a', sizeof(word));
    word[99] = '\0';
    assert_true(wr_suggest_distance(word, "a") == SIZE_MAX);
}

static void test_suggest(void **state)
{
    struct wr_suggest s;

    (void)state;
    wr_suggest_init(&s, "bnch");
    wr_suggest_try(&s, "cache");
    wr_suggest_try(&s, "bench");
    wr_suggest_try(&s, "branch");
    assert_string_equal(s.best, "bench");
    wr_suggest_init(&s, "xyzzy");
    wr_suggest_try(&s, "bench");
    assert_null(s.best);
}

/* What a name can hold: a title, a bell, colours, lines, C1, direction. */
#define HOSTILE "\033]0;t\a\r\n\177\xff\xc2\x9b\xe2\x80\xaeq"
#define SHOWN   "\\x1b]0;t\\x07\\x0d\\x0a\\x7f\\xff\\xc2\\x9b\\xe2\\x80\\xaeq"

static void test_clean(void **state)
{
    char *out = NULL, *copy = wr_text_clean("grün " HOSTILE);
    size_t len;
    FILE *to = open_memstream(&out, &len);

    (void)state;
    assert_string_equal(copy, "grün " SHOWN);
    wr_text_put(to, "ab" HOSTILE "c", sizeof(HOSTILE) + 1);
    fclose(to);
    assert_string_equal(out, "ab" SHOWN);
    assert_int_equal(wr_text_harmless("grün\a", 6), 5);
    assert_int_equal(wr_text_harmless("grün", 3), 2); /* cut off */
    free(out);
    free(copy);
    expect_wrap("a \033[2Jb c", (struct wr_text_wrap){0, 0, 80},
                "a \\x1b[2Jb c\n");
}

static void test_formula(void **state)
{
    static const char *const run[] = {
        "=1+1", "+cmd|' /C calc'!A0", "-1+2", "@SUM(1)", "\t=1", "\r=1", "--x"};
    static const char *const plain[] = {"", "-", "-5", "+3.25", "a=1", "'=1"};

    (void)state;
    for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++)
        assert_true(wr_text_is_formula(run[i]));
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        assert_false(wr_text_is_formula(plain[i]));
}

static void test_queries(void **state)
{
    static const struct {
        const char *text, *want;
    } table[] = {
        {"curl https://h/a?sig=1 -o x?", "curl https://h/a -o x?"},
        {"s3://b/k?x http://c?y=?z&a://b?c", "s3://b/k http://c"},
        {"a://b c?d", "a://b c?d"},
        {"ls a?b ://", "ls a?b ://"},
        {"x --from=h://i?k\nhttps://j/?l", "x --from=h://i\nhttps://j/"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        char text[64];

        snprintf(text, sizeof(text), "%s", table[i].text);
        wr_text_drop_queries(text);
        assert_string_equal(text, table[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),   cmocka_unit_test(test_formula),
        cmocka_unit_test(test_queries), cmocka_unit_test(test_width),
        cmocka_unit_test(test_show),    cmocka_unit_test(test_fit),
        cmocka_unit_test(test_wrap),    cmocka_unit_test(test_fold),
        cmocka_unit_test(test_bar),     cmocka_unit_test(test_distance),
        cmocka_unit_test(test_suggest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
