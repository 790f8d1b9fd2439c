/* test_text_tables.c - tables, facts and sentences in the columns of a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/doc_private.h"

static char *printed(const struct wr_doc *d, struct wr_doc_text_style style)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    wr_doc_print_text(d, &style, f);
    fclose(f);
    return text;
}

static char *printed_csv(const struct wr_doc *d)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    wr_doc_print_csv(d, f);
    fclose(f);
    return text;
}

/* Three rows; columns that a narrow terminal can do without. */
static const struct wr_column columns[] = {
    {.head = "name", .side = '<'},   {.head = "rate", .side = '>'},
    {.head = "median", .side = '+'}, {.head = "deviation", .side = '-'},
    {.head = "remark", .side = '<'}, {.head = NULL}};

static void fill(struct wr_doc_table *t)
{
    static const char *const cells[] = {
        "first",          "10",    "11", "0.5",  "good",
        "the second one", "2,000", "7",  "0.25", "a remark that is long"};

    for (size_t k = 0; k < WR_ARRAY_LEN(cells); k++)
        wr_doc_cell(t, "%s", cells[k]);
}

static void test_spare(void **state)
{
    static const struct {
        unsigned width;
        bool whole;
        const char *text;
    } cases[] = {
        {80, false,
         "\nname             rate  median  deviation  remark\n"
         "first              10      11        0.5  good\n"
         "the second one  2,000       7       0.25  a remark that is long\n"},
        {65, false,
         "\nname             rate  median  deviation  remark\n"
         "first              10      11        0.5  good\n"
         "the second one  2,000       7       0.25  a remark that is long\n"},
        /* First goes what was marked for that, and then the rest. */
        {62, false,
         "\nname             rate  deviation  remark\n"
         "first              10        0.5  good\n"
         "the second one  2,000       0.25  a remark that is long\n"},
        {54, false,
         "\nname             rate  remark\n"
         "first              10  good\n"
         "the second one  2,000  a remark that is long\n"},
        {40, true,
         "\nname             rate  median  deviation  remark\n"
         "first              10      11        0.5  good\n"
         "the second one  2,000       7       0.25  a remark that is long\n"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        char *text;

        fill(wr_doc_table_of(wr_doc_section(d, ""), "", columns, 0));
        text = printed(d, (struct wr_doc_text_style){.width = cases[k].width,
                                                     .whole = cases[k].whole,
                                                     .bare = true});
        if (strcmp(text, cases[k].text) != 0)
            fail_msg("%u columns:\n%s", cases[k].width, text);
        free(text);
        wr_doc_free(d);
    }
}

/* A cell that is too wide for most of a line is cut, by columns, not by bytes. */
static void test_cut(void **state)
{
    static const struct {
        bool utf8;
        const char *text;
    } cases[] = {
        {true, "\n  name                      n\n"
               "  ääääääääääääääääääääääää  1\n"
               "  ääääääääääääääääääääääa…  2\n"},
        {false, "\n  name                      n\n"
                "  ääääääääääääääääääääääää  1\n"
                "  ääääääääääääääääääääääa~  2\n"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, "s"), "",
                                              "<name|>n");
        char *text;

        wr_doc_cell(t, "ääääääääääääääääääääääää"); /* 24 of 40 */
        wr_doc_cell(t, "1");
        wr_doc_cell(t, "ääääääääääääääääääääääaaa");
        wr_doc_cell(t, "2");
        text = printed(
            d, (struct wr_doc_text_style){.width = 40, .utf8 = cases[k].utf8});
        if (!strstr(text, cases[k].text))
            fail_msg("%s", text);
        free(text);
        wr_doc_free(d);
    }
}

/* What a command lists ends with paths, which are known by their ends. */
static void test_last_column(void **state)
{
    static const char path[] =
        "/a/path/that/is/much/longer/than/the/forty/columns/of/the/terminal";
    static const struct {
        const char *columns;
        bool bare, cut;
    } cases[] = {{">n|<path", true, false},
                 {">n|<path", false, true},
                 {">n|>path", true, true}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, ""), "",
                                              cases[k].columns);
        char *text;

        wr_doc_cell(t, "1");
        wr_doc_cell(t, "%s", path);
        text = printed(
            d, (struct wr_doc_text_style){.width = 40, .bare = cases[k].bare});
        assert_int_equal(strstr(text, path) == NULL, cases[k].cut);
        free(text);
        wr_doc_free(d);
    }
}

/* No more than two hundred rows; a blank never ends a line. */
static void test_many_rows(void **state)
{
    static const struct {
        int rows;
        const char *end;
    } cases[] = {{200, "\n  199\n"},
                 {201, "\n  199\n  ... and 1 rows more; CSV and HTML have "
                       "all\n"}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, ""), "",
                                              "<first column|<second");
        char *text;
        size_t len, end = strlen(cases[k].end);

        for (int i = 0; i < cases[k].rows; i++) {
            wr_doc_cell(t, "%d", i);
            wr_doc_cell(t, "%s", "");
        }
        text = printed(d, (struct wr_doc_text_style){.width = 80});
        len = strlen(text);
        assert_null(strstr(text, " \n"));
        assert_string_equal(text + len - end, cases[k].end);
        free(text);
        wr_doc_free(d);
    }
}

static void test_tones(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, ""), "t",
                                          "<name|>is");
    char *text;

    (void)state;
    wr_doc_cell(t, "a");
    wr_doc_cell(t, "up");
    wr_doc_tone(t, WR_DOC_GOOD);
    wr_doc_cell(t, "b");
    wr_doc_cell(t, "down");
    wr_doc_tone(t, WR_DOC_BAD);
    text = printed(d, (struct wr_doc_text_style){
                          .width = 80, .colour = true, .bare = true});
    assert_string_equal(text, "\n\033[1mt\033[0m\n"
                              "\033[2mname    is\033[0m\n"
                              "a       \033[32mup\033[0m\n"
                              "b     \033[31mdown\033[0m\n");
    free(text);
    text = printed(d, (struct wr_doc_text_style){.width = 80, .bare = true});
    assert_string_equal(text, "\nt\nname    is\na       up\nb     down\n");
    free(text);
    wr_doc_free(d);
}

/* Keys stand in a column; texts are broken below their beginning, on a terminal. */
static void test_facts(void **state)
{
    static const struct {
        struct wr_doc_text_style style;
        const char *text;
    } cases[] = {
        {{.width = 40},
         "\n  Host      one\n"
         "  Data set  words that do not fit into\n"
         "            the line\n"
         "\n  ! look\n  - a note of many words that go on in\n"
         "    the next line\n"},
        {{.width = 40, .whole = true},
         "\n  Host      one\n"
         "  Data set  words that do not fit into the line\n"
         "\n  ! look\n  - a note of many words that go on in the next line\n"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("t", "");
        struct wr_doc_section *s = wr_doc_section(d, "s");
        char *text;

        wr_doc_fact(s, "Host", "one");
        wr_doc_fact(s, "Data set", "words that do not fit into the line");
        wr_doc_note(s, false,
                    "a note of many words that go on in the next line");
        wr_doc_note(s, true, "look");
        text = printed(d, cases[k].style);
        if (!strstr(text, cases[k].text))
            fail_msg("%zu:\n%s", k, text);
        free(text);
        wr_doc_free(d);
    }
}

/* --- CSV --- */

/* Quoted where RFC 4180 or a spreadsheet asks for it, and nowhere else. */
static void test_csv_quotes(void **state)
{
    static const struct {
        const char *text, *csv;
    } cases[] = {
        {"plain", "plain"},
        {"", ""},
        {"a,b", "\"a,b\""},
        {"say \"yes\"", "\"say \"\"yes\"\"\""},
        {" blank first", "\" blank first\""},
        {"blank last ", "blank last "},
        {"=1+1", "\"'=1+1\""},
        {"+x", "\"'+x\""},
        {"@x", "\"'@x\""},
        {"-x", "\"'-x\""},
        {"-5", "-5"},
        {"a=b", "a=b"},
        {"it's", "it's"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        char want[200], *text;

        wr_doc_fact(wr_doc_section(d, "s"), "k", "%s", cases[k].text);
        snprintf(want, sizeof(want),
                 "section,kind,name,series,x,y,marked,low,high\n"
                 "s,fact,k,,,%s,,,\n",
                 cases[k].csv);
        text = printed_csv(d);
        assert_string_equal(text, want);
        free(text);
        wr_doc_free(d);
    }
}

/* Numbers in full, without what people read; what is none is empty. */
static void test_csv_values(void **state)
{
    static const struct wr_doc_chart_spec lines = {
        .kind = WR_DOC_LINES, .title = "L", .x = "x", .y = "y"};
    static const struct wr_doc_chart_spec bars = {
        .kind = WR_DOC_BARS, .title = "B", .x = "x", .y = "y"};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s;
    struct wr_doc_table *t;
    struct wr_doc_chart *c;
    struct wr_doc_series *v;
    char *text;

    (void)state;
    wr_doc_summary(d, "a, b");
    wr_doc_headline(d, "label", "3 %%");
    s = wr_doc_section(d, "s");
    wr_doc_lead(s, "why?");
    wr_doc_claim(s, "it is");
    wr_doc_verdict(s, WR_DOC_GOOD, "holds", "because");
    wr_doc_note(s, true, "look");
    wr_doc_note(s, false, "read");
    t = wr_doc_table(s, "T", "<a|>b");
    wr_doc_cell(t, "x");
    wr_doc_percent(t, 12.345678, 1);
    wr_doc_number(t, NAN, 1);
    wr_doc_shown(t, 1.5e9, "1.5 GB/s");
    c = wr_doc_chart(s, &bars);
    wr_doc_label(c, "one");
    wr_doc_label(c, "two");
    v = wr_doc_series(c, "v");
    wr_doc_value_range(v, 5, 4, 6.5);
    wr_doc_value(v, NAN);
    c = wr_doc_chart(s, &lines);
    v = wr_doc_series(c, "v");
    wr_doc_point(v, 0.5, 1.0 / 3);
    wr_doc_point(v, INFINITY, 2);
    wr_doc_mark(v);
    wr_doc_band(c, 0, 1.5, "run 1");
    text = printed_csv(d);
    assert_string_equal(text, "section,kind,name,series,x,y,marked,low,high\n"
                              ",summary,,,,\"a, b\",,,\n"
                              ",headline,label,,,3 %,,,\n"
                              "s,lead,,,,why?,,,\n"
                              "s,claim,,,,it is,,,\n"
                              "s,verdict,holds,,,because,,,\n"
                              "s,warning,,,,look,,,\n"
                              "s,note,,,,read,,,\n"
                              "s,table,T,a,1,x,,,\n"
                              "s,table,T,b,1,12.345678,,,\n"
                              "s,table,T,a,2,,,,\n"
                              "s,table,T,b,2,1.5e+09,,,\n"
                              "s,chart,B,v,one,5,,4,6.5\n"
                              "s,chart,B,v,two,,,,\n"
                              "s,chart,L,v,0.5,0.333333333,,,\n"
                              "s,chart,L,v,,2,1,,\n"
                              "s,band,L,run 1,0,1.5,,,\n");
    free(text);
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spare),       cmocka_unit_test(test_cut),
        cmocka_unit_test(test_last_column), cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_tones),       cmocka_unit_test(test_facts),
        cmocka_unit_test(test_csv_quotes),  cmocka_unit_test(test_csv_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
