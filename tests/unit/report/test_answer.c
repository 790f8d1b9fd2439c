/* test_answer.c - unit tests of say.c, answer.c and the lists of text.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/answer.h"
#include "report/say.h"

/* --- sentences --- */

static void expect_text(const char *sentence, const char *want)
{
    json_t *o = json_loads(
        "{\"n\": 3, \"one\": 1, \"none\": 0, \"big\": 1234567, \"ns\": 1530000,"
        " \"us\": 1530, \"ms\": 1.53, \"s\": 0.00153, \"rate\": 2.345,"
        " \"word\": \"fast\", \"empty\": \"\", \"null\": null, \"yes\": true,"
        " \"no\": false, \"below\": -1, \"in\": {\"x\": 7, \"y\": {\"z\": 8}},"
        " \"list\": [\"a\", \"b\"], \"dims\": [2, 3], \"nothing\": []}",
        0, NULL);
    char *text = wr_say_json(o, sentence);

    assert_non_null(o);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    json_decref(o);
}

static void test_values(void **state)
{
    (void)state;
    expect_text("", "");
    expect_text("plain > all", "plain > all");
    expect_text("{n} {word} {in.x} {in.y.z}", "3 fast 7 8");
    expect_text("{big:number} {big:bytes} {big:millions}",
                "1,234,567 1.2 MB 1");
    expect_text("{big:size} {ns:count} {n:count}", "1.177 MiB 1,530,000 3.0");
    expect_text("{us:us} {ms:ms} {s:s} {s:time}",
                "1.5 ms 1.5 ms 1.5 ms 1.53 ms");
    expect_text("{rate:1} {rate:2} {rate} {rate:g} {rate:g2} {rate:1%}",
                "2.3 2.35 2 2.345 2.3 234.5 %");
    expect_text("({n:,4}) ({n:,-4}) ({word:,6}) ({big:bytes,-8})",
                "(   3) (3   ) (  fast) (1.2 MB  )");
    expect_text("{list} {dims:x} {nothing}", "a, b 2x3 ");
    expect_text("{null} {missing} {in.missing} {yes} {no}", "- - - yes no");
}

static void test_either(void **state)
{
    (void)state;
    expect_text("{n>0?some|none} {none>0?some|none}", "some none");
    expect_text("{empty?a|b}{null?a|b}{missing?a|b}{nothing?a|b}{no?a|b}",
                "bbbbb");
    expect_text("{none?a|b}{below?a|b}{in?a|b}{yes?a|b}{!yes?a|b}", "abaab");
    expect_text("{one=1?is|are} {n=1?is|are} {!n=1?are|is}", "is are are");
    expect_text("{word=fast?a|b}{word=fas?a|b}{word=slow?a|b}", "abb");
    expect_text("{n<4?a|b}{n<3?a|b}{n>2.5?a|b}{null<3?a|b}{null>3?a|b}",
                "ababb");
    expect_text("step{n:plural} step{one:plural}", "steps step");
    expect_text("{n?only}{null?only}", "only");
    expect_text("{n?{word} of {n}|no {word}}", "fast of 3");
    expect_text("{null?{word}|{n?{in.x}|x}!}", "7!");
}

static void test_choices(void **state)
{
    (void)state;
    expect_text("a[, {n} left]", "a, 3 left");
    expect_text("a[, {none} left]", "a, 0 left");
    expect_text("a[{?none>0}, {none} left]", "a");
    expect_text("a[, {empty}][, {null}][, {missing}][, {nothing}]b", "ab");
    expect_text("a[, {below}]b", "ab");
    expect_text("[{null}|{missing}|{n}|{one}]", "3");
    expect_text("[{null}|all]", "all");
    expect_text("[{?yes}shown][{?no}hidden][{?!no}too][{?!yes}not]",
                "showntoo");
    expect_text("[{n}[ of {null}][ in {in.x}]]", "3 in 7");
    expect_text("[{n?{null}|}]x[{n?|{null}}y]", "xy");
    expect_text("[unfinished {n", "unfinished 3");
    expect_text("{n<4}{n>2?unfinished", "unfinished");
}

static void test_items(void **state)
{
    (void)state;
    expect_text("<a {n}|b {null}|c {one}>.", "a 3, c 1.");
    expect_text("<{null}|{n}>", "3");
    expect_text("x[: <{null}|{missing}>]", "x");
    expect_text("<a[ of {null}|]|[{?yes}b]>", "a, b");
}

/* --- lists --- */

struct text {
    char *text;
    size_t len;
    FILE *to;
};

static void begin(struct text *t)
{
    *t = (struct text){.text = NULL};
    t->to = open_memstream(&t->text, &t->len);
    assert_non_null(t->to);
}

static void expect(struct text *t, const char *want)
{
    fclose(t->to);
    assert_string_equal(t->text, want);
    free(t->text);
}

static void expect_list(struct wr_doc_table *t, unsigned width, size_t indent,
                        const char *want)
{
    const struct wr_doc_text_style style = {.width = width, .whole = !width};
    struct text out;

    begin(&out);
    assert_int_equal(wr_doc_print_list(t, indent, &style, out.to, NULL), 0);
    expect(&out, want);
}

static void test_list(void **state)
{
    struct wr_doc_table *t = wr_doc_list("<name|>n|>rate");
    weir_err err;

    (void)state;
    wr_doc_cell(t, "ü");
    wr_doc_cell(t, "%d", 1000);
    wr_doc_cell(t, "1.5");
    wr_doc_cell(t, "longer");
    wr_doc_cell(t, "%d", 2);
    expect_list(t, 0, 2,
                "  name       n  rate\n"
                "  ü       1000   1.5\n"
                "  longer     2\n");
    t = wr_doc_list("<|>"); /* no heading line */
    wr_doc_cell(t, "a\033[2J");
    wr_doc_cell(t, "b");
    expect_list(t, 0, 0, "a\\x1b[2J  b\n");
    assert_int_equal(wr_doc_print_list(NULL, 0, NULL, NULL, &err), WEIR_ENOMEM);
}

/* All rows, nothing cut; a text at the end is wrapped below itself. */
static void test_long_list(void **state)
{
    struct wr_doc_table *t = wr_doc_list("<name|>n|<what it stands for");
    char *all;

    (void)state;
    wr_doc_cell(t, "hdd");
    wr_doc_cell(t, "1");
    wr_doc_cell(t, "a disk with a long description");
    wr_doc_cell(t, "b");
    wr_doc_cell(t, "22");
    wr_doc_cell(t, "$ to be copied to a shell as it is");
    expect_list(t, 30, 0,
                "name   n  what it stands for\n"
                "hdd    1  a disk with a long\n"
                "          description\n"
                "b     22  $ to be copied to a shell as it is\n");
    t = wr_doc_list("<first|>second|>third");
    wr_doc_cell(t, "one");
    wr_doc_cell(t, "2");
    wr_doc_cell(t, "3");
    expect_list(t, 16, 0,
                "first  second\n"
                "    third\n"
                "one         2\n"
                "        3\n");
    t = wr_doc_list("<");
    all = calloc(1, 2 * 300 + 1);
    for (unsigned k = 0; k < 300; k++) {
        wr_doc_cell(t, "x");
        strcat(all, "x\n");
    }
    expect_list(t, 40, 0, all);
    free(all);
}

/* --- answers --- */

struct item {
    const char *name;
    uint64_t bytes;
    int good;
    char note[8];
};

struct inner {
    double share;
    uint32_t count;
};

struct values {
    struct wr_list items;
    uint32_t which;
    struct inner in;
    const char *unknown, *shown;
    bool flag;
};

static double half(const void *of)
{
    return (double)((const struct item *)of)->bytes / 2;
}

static const char *kind(const void *of)
{
    return ((const struct item *)of)->good ? "good" : "bad";
}

static json_t *pair(const void *of)
{
    return ((const struct item *)of)->good ? json_pack("[s, s]", "x", "y")
                                           : NULL;
}

#define THIS struct item
static const struct wr_vals wr_item_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, name), WR_VAL_IS(U64, bytes), WR_VAL_IS(TRUTH, good),
    WR_VAL_IS(CHARS, note, .flags = WR_VAL_SPARE),
    WR_VAL_BY(REAL, "half", .derive = half),
    WR_VAL_BY(TEXT, "kind", .text = kind),
    WR_VAL_BY(JSON, "pair", .json = pair));
#undef THIS

#define THIS struct inner
static const struct wr_vals wr_inner_vals = WR_VALS_OF(WR_VAL_IS(REAL, share),
                                                       WR_VAL_IS(U32, count));
#undef THIS

#define THIS struct values
static const struct wr_vals wr_same_vals = WR_VALS_OF(WR_VAL_IS(U32, which));
static const struct wr_vals values_vals = WR_VALS_OF(
    WR_VAL_IS(LIST(item), items), WR_VAL_IS(GROUP(inner), in),
    WR_VAL_ALL(GROUP(same), "same"),
    WR_VAL_IS(TEXT, unknown, .flags = WR_VAL_NULL),
    WR_VAL_IS(FLAG, flag, .flags = WR_VAL_SPARE),
    WR_VAL_IS(TEXT, shown, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_column columns[] = {
    WR_SAY_COLUMN('<', "name", "{name}", ""),
    WR_SAY_COLUMN('>', "size", "{bytes:bytes}", "", .only = 1),
    WR_SAY_COLUMN('>', "half", "{half:1}", "", .only = 2),
    WR_SAY_COLUMN('<', "kind", "{kind}", "", .good = "good", .bad = "bad"),
    {.head = NULL}};

static const struct wr_column below[] = {WR_SAY_COLUMN('<', "", "", ""),
                                         WR_SAY_COLUMN('<', "", "[{note}]", ""),
                                         WR_SAY_COLUMN('<', "", "", ""),
                                         {.head = NULL}};

static const struct wr_answer answer = {
    .name = "tried",
    .of = &values_vals,
    .screen = WR_SCREEN(
        {.section = "Title of {in.count}"}, {.fact = "key", .say = "{shown}"},
        {.fact = "none", .say = "[{unknown}]"},
        {.fact = "each", .each = "items", .say = "{name}"},
        {.say = "{flag?set|not set}", .warns = true},
        {.section = "Left out {in.count}"}, {.say = "[{unknown}]"},
        {.section = ""},
        {.each = "items",
         .table = columns,
         .below = {below},
         .which = "same.which"},
        {.section = "{name}", .each = "items"}, {.say = "{bytes} of {name}"}),
};

static struct item items[] = {{"a", 2000, 1, ""}, {"b", 30, 0, "why"}};
static const struct values values = {
    .items = {items, 2, sizeof(items[0])},
    .which = 2,
    .in = {NAN, 5},
    .shown = "text",
    .flag = true,
};

static void test_screen(void **state)
{
    const struct wr_doc_text_style pipe = {.width = 80, .whole = true};
    const struct wr_doc_text_style tty = {.width = 80, .colour = true};
    struct text out;

    (void)state;
    begin(&out);
    assert_int_equal(wr_answer_print(&answer, &values, pipe, out.to, NULL), 0);
    expect(&out, "Title of 5\n\n"
                 "  key       text\n"
                 "  each      a\n"
                 "            b\n"
                 "  set\n"
                 "\n"
                 "name    half  kind\n"
                 "a     1000.0  good\n"
                 "b       15.0  bad\n"
                 "         why\n"
                 "\n"
                 "a\n\n"
                 "  2000 of a\n"
                 "\n"
                 "b\n\n"
                 "  30 of b\n");
    begin(&out);
    assert_int_equal(wr_answer_print(&answer, &values, tty, out.to, NULL), 0);
    fclose(out.to);
    assert_non_null(strstr(out.text, "\033[32mgood\033[0m\n"));
    assert_non_null(strstr(out.text, "\033[31mbad\033[0m\n"));
    assert_non_null(strstr(out.text, "  \033[33mset\033[0m\n"));
    free(out.text);
}

static void test_json(void **state)
{
    static const struct wr_answer alone = {
        .name = "alone", .of = &values_vals, .alone = "items"};
    json_t *all = wr_answer_json(&answer, &values);
    json_t *list = wr_answer_json(&alone, &values);
    json_t *schema = wr_answer_schema(&alone);
    char *text = json_dumps(all, JSON_COMPACT);

    (void)state;
    assert_string_equal(
        text,
        "{\"items\":[{\"name\":\"a\",\"bytes\":2000,\"good\":true,"
        "\"half\":1000.0,\"kind\":\"good\",\"pair\":[\"x\",\"y\"]},"
        "{\"name\":\"b\",\"bytes\":30,\"good\":false,\"note\":\"why\","
        "\"half\":15.0,\"kind\":\"bad\"}],\"in\":{\"share\":null,\"count\":5},"
        "\"same\":{\"which\":2},\"unknown\":null,\"flag\":true}");
    assert_true(json_equal(list, json_object_get(all, "items")));
    assert_string_equal(json_string_value(json_object_get(schema, "type")),
                        "array");
    free(text);
    json_decref(schema);
    json_decref(list);
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_either),
        cmocka_unit_test(test_choices), cmocka_unit_test(test_items),
        cmocka_unit_test(test_list),    cmocka_unit_test(test_long_list),
        cmocka_unit_test(test_screen),  cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
