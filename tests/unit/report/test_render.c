/* test_render.c - documents as text and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/doc.h"

static struct wr_doc *make(void)
{
    const struct wr_doc_chart_spec bars = {
        .kind = WR_DOC_BARS, .title = "Bars", .x = "x", .y = "MB/s"};
    const struct wr_doc_chart_spec points = {
        .kind = WR_DOC_POINTS, .title = "Points", .x = "s", .y = "ms"};
    struct wr_doc *d = wr_doc_new("Title", "sub");
    struct wr_doc_section *s = wr_doc_section(d, "One, two");
    struct wr_doc_chart *c;
    struct wr_doc_series *v;
    struct wr_doc_table *t;

    wr_doc_fact(s, "Host", "a \"b\"");
    wr_doc_note(s, true, "Look here.");
    c = wr_doc_chart(s, &bars);
    wr_doc_label(c, "1");
    wr_doc_label(c, "2");
    v = wr_doc_series(c, "hdd");
    wr_doc_value(v, 50);
    wr_doc_value(v, 100);
    c = wr_doc_chart(s, &points);
    v = wr_doc_series(c, "run");
    wr_doc_point(v, 0.5, 1);
    wr_doc_point(v, 1.5, 9);
    wr_doc_mark(v);
    wr_doc_point(v, 2.5, NAN);
    t = wr_doc_table(s, "Numbers", "<case|>rate|<verdict");
    wr_doc_cell(t, "first, cold");
    wr_doc_number(t, 12345.678, 1);
    wr_doc_cell(t, "slower");
    wr_doc_tone(t, WR_DOC_BAD);
    wr_doc_cell(t, "cut");
    return d;
}

static char *text_of(const struct wr_doc *d, struct wr_doc_text_style style)
{
    size_t size = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);

    wr_doc_print_text(d, &style, f);
    fclose(f);
    return text;
}

static void test_text(void **state)
{
    static const char expected[] =
        "Title\nsub\n\nOne, two\n========\n  Host  a \"b\"\n\n  ! Look here.\n"
        "\nBars\n"
        "  1 ################### 50\n"
        "  2 ###################################### 100\n"
        "  MB/s by x\n"
        "\nPoints\n";
    struct wr_doc *d = make();
    char *text = text_of(d, (struct wr_doc_text_style){.width = 54});

    assert_memory_equal(text, expected, sizeof(expected) - 1);
    assert_non_null(strstr(text, "    1 marked, at 1.5\n"));
    assert_non_null(strstr(text, " 1 to 9\n"));
    assert_non_null(strstr(text, "\nNumbers\n"
                                 "  case             rate  verdict\n"
                                 "  first, cold  12,345.7  slower\n"
                                 "  cut\n"));
    assert_null(strchr(text, '\033'));
    free(text);
    wr_doc_free(d);
}

static void test_colour_and_width(void **state)
{
    struct wr_doc *d = make();
    char *text, *at;

    text = text_of(d, (struct wr_doc_text_style){
                          .width = 0, .utf8 = true, .colour = true});
    assert_non_null(strstr(text, "\033[31mslower"));
    assert_non_null(strstr(text, "█"));
    for (at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
        assert_true(wr_text_width(at) <= 64);
    free(text);
    wr_doc_free(d);
}

/* Columns that do not fit come in blocks, each with the first one. */
static void test_wide_table(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table(
        wr_doc_section(d, ""), "wide",
        "<name|>one column|>two column|>three column");
    char *text;

    for (int i = 0; i < 4; i++)
        wr_doc_cell(t, "cell %d", i);
    text = text_of(d, (struct wr_doc_text_style){.width = 40});
    assert_non_null(strstr(text, "  name    one column  two column\n"
                                 "  cell 0      cell 1      cell 2\n"
                                 "\n"
                                 "  name    three column\n"
                                 "  cell 0        cell 3\n"));
    free(text);
    wr_doc_free(d);
}

/* Rows that the first column does not tell apart begin with as many as do, in
 * every block, where there is room for them. */
static void test_wide_table_keys(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table(
        wr_doc_section(d, ""), "wide", "<what|<metric|>one column|>two column");
    char *text;

    for (int row = 0; row < 2; row++) {
        wr_doc_cell(t, "all");
        wr_doc_cell(t, row ? "time" : "rate");
        wr_doc_number(t, 1 + row, 0);
        wr_doc_number(t, 3 + row, 0);
    }
    text = text_of(d, (struct wr_doc_text_style){.width = 0}); /* is 40 */
    assert_non_null(strstr(text, "  what  metric  one column  two column\n"));
    free(text);
    wr_doc_cell(t, "a text of length.");
    text = text_of(d, (struct wr_doc_text_style){.width = 0});
    assert_non_null(strstr(text, "  all                time             2\n"
                                 "  a text of length.\n"
                                 "\n"
                                 "  what               metric  two column\n"
                                 "  all                rate             3\n"
                                 "  all                time             4\n"));
    free(text);
    wr_doc_free(d);
}

/* A legend takes as many lines as it needs. */
static void test_long_legend(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_chart *c = wr_doc_chart(
        wr_doc_section(d, ""),
        &(struct wr_doc_chart_spec){.kind = WR_DOC_STACKED, .x = "case"});
    char *text, *at;

    wr_doc_label(c, "all");
    for (int i = 0; i < 9; i++)
        wr_doc_value(wr_doc_series(c, "series of this name"), 1);
    text = text_of(d, (struct wr_doc_text_style){.width = 50});
    for (at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
        assert_true(wr_text_width(at) <= 50);
    free(text);
    wr_doc_free(d);
}

/* Characters that turn the direction of text, and ends of lines. */
static void test_turned_text(void **state)
{
    struct wr_doc *d = wr_doc_new("a\u202eb\u2066c\u200fd\u061ce\u2028f",
                                  "\u05d0 \u200b \u2030");
    char *text = text_of(d, (struct wr_doc_text_style){.width = 80});

    assert_string_equal(text,
                        "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xe2\\x80\\x8fd"
                        "\\xd8\\x9ce\\xe2\\x80\\xa8f\n\u05d0 \u200b \u2030\n");
    free(text);
    wr_doc_free(d);
}

/* Numbers of any size have a place in a chart. */
static void test_huge_numbers(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    struct wr_doc_series *e = wr_doc_series(
        wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES}),
        "s");
    char *text;

    wr_doc_point(e, -1.7e308, 1);
    wr_doc_point(e, 1.7e308, 1.7e308);
    text = text_of(d, (struct wr_doc_text_style){.width = 80});
    assert_non_null(strstr(text, " 1 to 1.7e+308\n"));
    free(text);
    wr_doc_free(d);
}

static void test_csv(void **state)
{
    struct wr_doc *d = make();
    size_t size = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);

    wr_doc_print_csv(d, f);
    fclose(f);
    assert_string_equal(text,
                        "section,kind,name,series,x,y,marked,low,high\n"
                        "\"One, two\",fact,Host,,,\"a \"\"b\"\"\",,,\n"
                        "\"One, two\",warning,,,,Look here.,,,\n"
                        "\"One, two\",chart,Bars,hdd,1,50,,,\n"
                        "\"One, two\",chart,Bars,hdd,2,100,,,\n"
                        "\"One, two\",chart,Points,run,0.5,1,,,\n"
                        "\"One, two\",chart,Points,run,1.5,9,1,,\n"
                        "\"One, two\",chart,Points,run,2.5,,,,\n"
                        "\"One, two\",table,Numbers,case,1,\"first, cold\",,,\n"
                        "\"One, two\",table,Numbers,rate,1,12345.678,,,\n"
                        "\"One, two\",table,Numbers,verdict,1,slower,,,\n"
                        "\"One, two\",table,Numbers,case,2,cut,,,\n");
    free(text);
    wr_doc_free(d);
}

/* What a spreadsheet would run is a text in it; numbers stay numbers. */
static void test_csv_formula(void **state)
{
    struct wr_doc *d = wr_doc_new("t", "");
    struct wr_doc_section *s = wr_doc_section(d, "=a");
    size_t size = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &size);

    wr_doc_fact(s, "@b", "+1+cmd|' /C calc'!A0");
    wr_doc_fact(s, "-5", "\t=c");
    wr_doc_print_csv(d, f);
    fclose(f);
    assert_string_equal(text,
                        "section,kind,name,series,x,y,marked,low,high\n"
                        "\"'=a\",fact,\"'@b\",,,\"'+1+cmd|' /C calc'!A0\",,,\n"
                        "\"'=a\",fact,-5,,,\\x09=c,,,\n");
    free(text);
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_colour_and_width),
        cmocka_unit_test(test_wide_table),
        cmocka_unit_test(test_wide_table_keys),
        cmocka_unit_test(test_long_legend),
        cmocka_unit_test(test_turned_text),
        cmocka_unit_test(test_huge_numbers),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_formula),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
