/* test_say.c - sentences with measured values in them, and words for numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc_private.h"
#include "report/say.h"

/* What was measured, on a device of which the names are open. */
struct wr_device_values {
    const char *model;
    double size;
};

struct wr_said_values {
    double rate, share, seconds, zero, one, five, below, unknown, many;
    const char *name, *empty, *lines;
    bool yes, no;
    struct wr_device_values device, open;
};

#define THIS struct wr_device_values
static const struct wr_vals wr_device_vals = WR_VALS_OF(WR_VAL_IS(TEXT, model),
                                                        WR_VAL_IS(REAL, size));
#undef THIS
#define THIS struct wr_said_values
static const struct wr_val open_row = {.key = "open",
                                       .at = offsetof(THIS, open),
                                       .kind = WR_VAL_GROUP,
                                       .of = &wr_device_vals,
                                       .flags = WR_SAY_OPEN};
static struct wr_val said_rows[] = {
    WR_VAL_IS(REAL, rate),
    WR_VAL_IS(REAL, share),
    WR_VAL_IS(REAL, seconds),
    WR_VAL_IS(COUNT, zero),
    WR_VAL_IS(COUNT, one),
    WR_VAL_IS(COUNT, five),
    WR_VAL_IS(REAL, below),
    WR_VAL_IS(REAL, unknown),
    WR_VAL_IS(COUNT, many),
    WR_VAL_IS(TEXT, name),
    WR_VAL_IS(TEXT, empty),
    WR_VAL_IS(TEXT, lines),
    WR_VAL_IS(FLAG, yes),
    WR_VAL_IS(FLAG, no),
    WR_VAL_IS(GROUP(device), device),
    {.key = NULL}, /* the open group comes here */
    {.key = NULL}};
static const struct wr_vals said_vals = {sizeof(THIS), said_rows};
#undef THIS

static const struct wr_said_values values = {
    .rate = 1234567,
    .share = 0.256,
    .seconds = 250,
    .zero = 0,
    .one = 1,
    .five = 5,
    .below = -1,
    .unknown = NAN,
    .many = 12345.6,
    .name = "nvme",
    .empty = "",
    .lines = "one\ntwo",
    .yes = true,
    .device = {"disk 9", 4096},
    .open = {"open model", 77},
};

static int setup(void **state)
{
    (void)state;
    said_rows[WR_ARRAY_LEN(said_rows) - 2] = open_row;
    return 0;
}

struct saying_case {
    const char *text, *said; /* "": it is not said */
};

static void expect_all(const struct saying_case *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const struct wr_sentence s = {.text = list[k].text};
        char buf[WR_SAY_BYTES];
        bool said = wr_sentence(&s, &said_vals, &values, buf, sizeof(buf));

        if (strcmp(buf, list[k].said) != 0 || said != (*list[k].said != 0))
            fail_msg("'%s': %d '%s', not '%s'", list[k].text, said, buf,
                     list[k].said);
    }
}

static void test_formats(void **state)
{
    static const struct saying_case cases[] = {
        {"plain text", "plain text"},
        {"on {name}.", "on nvme."},
        {"{device.model}", "disk 9"},
        {"{model}", "open model"}, /* of the group that is open */
        {"{size:0}", "77"},
        {"{share:0}", "0"},
        {"{share:2}", "0.26"},
        {"{share:1%}", "25.6 %"},
        {"{share:0%}", "26 %"},
        {"{share:g}", "0.256"},
        {"{share:g1}", "0.3"},
        {"{share:g2%}", "26 %"},
        {"{share:g4%}", "25.6 %"},
        {"{rate:number}", "1,234,567"},
        {"{share:number}", "0.256"},
        {"{many:count}", "12,346"},
        {"{share:count}", "0.3"},
        {"{five:count}", "5.0"},
        {"{rate:bytes}", "1.2 MB"},
        {"{device.size:size}", "4 KiB"},
        {"{seconds:time}", "4 min 10 s"},
        {"{share:time}", "256 ms"},
        {"{seconds:s}", "250.00 s"},
        {"{share:s}", "256 ms"},
        {"{five:ms}", "5.0 ms"},
        {"{five:us}", "5.0 us"},
        {"{one:0} sample{one:plural}", "1 sample"},
        {"{five:0} sample{five:plural}", "5 samples"},
        {"{zero:0} sample{zero:plural}", "0 samples"},
        /* Mistakes in a sentence show. */
        {"it was {speed:0} today", "it was {speed:0} today"},
        {"{device.color}", "{device.color}"},
    };

    (void)state;
    expect_all(cases, WR_ARRAY_LEN(cases));
}

/* What is not known, or below 0, takes its part with it. */
static void test_parts(void **state)
{
    static const struct saying_case cases[] = {
        {"it took {unknown:0} s", ""},
        {"it took {below:0} s", ""},
        {"of {empty}", ""},
        {"{rate:furlongs}", ""}, /* no such format */
        {"read[ from {name}] at once", "read from nvme at once"},
        {"read[ from {empty}] at once", "read at once"},
        {"read[ at {unknown:0}] at once", "read at once"},
        {"read[ a[ b {unknown:0}] c] d", "read a c d"},
        {"read[ a {unknown:0}[ b {five:0}]] d", "read d"},
        {"read[ a {five:0}][ b {below:0}][ c {one:0}]", "read a 5 c 1"},
        {"[{unknown:0}]", ""}, /* nothing is left */
        {"with <{five:0} files|{one:0} folder>", "with 5 files, 1 folder"},
        {"with <{unknown:0} files|{one:0} folder>", "with 1 folder"},
        {"with <{five:0} files|{unknown:0} folder>", "with 5 files"},
        {"with <{five:0}|{unknown:0}|{one:0}>!", "with 5, 1!"},
        {"with <{unknown:0} files|{below:0}>", ""},
        {"ok[ with <{unknown:0} files|{below:0}>]", "ok"},
        {"<{five:0}[ of {unknown:0}]|{one:0}[ of {many:0}]>", "5, 1 of 12346"},
    };

    (void)state;
    expect_all(cases, WR_ARRAY_LEN(cases));
}

static void test_conditions(void **state)
{
    static const struct {
        const char *when;
        bool so;
    } cases[] = {
        {NULL, true},
        {"yes", true},
        {"no", false},
        {"!no", true},
        {"!yes", false},
        {"name", true},
        {"empty", false},
        {"!empty", true},
        {"five", true},
        {"zero", true}, /* it is known */
        {"unknown", false},
        {"below", false},
        {"!unknown", true},
        {"name=nvme", true},
        {"name=nv", false},
        {"name=nvme2", false},
        {"five>4", true},
        {"five>5", false},
        {"five<5.5", true},
        {"five<5", false},
        {"unknown>0", false},
        {"unknown<9", false},
        {"device.size>4000", true},
        {"size<78", true},
        {"yes name=nvme five>4", true},
        {"yes name=nvme five>5", false},
        {"no name=nvme", false},
        {"name=nvme no", false},
        {"nothing.like.it", false},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_sentence s = {.text = "said", .when = cases[k].when};
        char buf[100];

        if (wr_sentence(&s, &said_vals, &values, buf, sizeof(buf)) !=
            cases[k].so)
            fail_msg("'%s'", cases[k].when);
        assert_string_equal(buf, cases[k].so ? "said" : "");
    }
}

/* A small buffer gets the beginning. */
static void test_small(void **state)
{
    static const struct wr_sentence s = {.text = "on {name} at {five:0}"};
    char buf[40];

    (void)state;
    memset(buf, '#', sizeof(buf));
    assert_true(wr_sentence(&s, &said_vals, &values, buf, 8));
    assert_string_equal(buf, "on nvme");
    assert_int_equal(buf[8], '#');
}

static void test_number(void **state)
{
    static const struct {
        const char *path;
        double number;
    } cases[] = {{"five", 5},      {"below", -1}, {"device.size", 4096},
                 {"size", 77},     {"yes", 1},    {"no", 0},
                 {"unknown", NAN}, {"name", NAN}, {"nothing", NAN}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        double x = wr_vals_number(&said_vals, &values, cases[k].path);

        assert_true(isnan(cases[k].number) ? isnan(x) : x == cases[k].number);
    }
}

/* Facts and notes of a section, with the label of their record or without. */
static void test_section(void **state)
{
    static const struct wr_sentence list[] = {
        {.text = "{name} it is", .fact = "Device"},
        {.text = "all about it", .fact = "Whole", .whole = true},
        {.text = "a note of {five:0}"},
        {.text = "not known: {unknown:0}"},
        {.text = "not so", .when = "no"},
        {.text = "{lines}", .warning = true, .lines = true},
        {.text = "{lines}", .warning = true}, /* forges no line */
        {.text = NULL}};
    static const struct {
        const char *label, *facts[2], *notes[4];
    } cases[] = {
        {"", {"Device", "Whole"}, {"a note of 5", "one", "two", "one\\x0atwo"}},
        {"run 1",
         {"run 1, Device", "run 1"},
         {"run 1: a note of 5", "run 1: one", "run 1: two",
          "run 1: one\\x0atwo"}},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct wr_doc *d = wr_doc_new("", "");
        struct wr_doc_section *s = wr_doc_section(d, "");

        assert_int_equal(
            wr_sentences(s, cases[k].label, list, &said_vals, &values), 5);
        assert_int_equal(s->fact_count, 2);
        assert_string_equal(s->facts[0].key, cases[k].facts[0]);
        assert_string_equal(s->facts[0].text, "nvme it is");
        assert_string_equal(s->facts[1].key, cases[k].facts[1]);
        assert_int_equal(s->note_count, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(s->notes[i].text, cases[k].notes[i]);
            assert_int_equal(s->notes[i].warning, i > 0);
        }
        wr_doc_free(d);
    }
}

static void test_top(void **state)
{
    static const struct wr_sentence list[] = {{.text = "first"},
                                              {.text = "{unknown:0}"},
                                              {.text = "second"},
                                              {.text = "third"},
                                              {.text = NULL}};
    struct wr_doc *d = wr_doc_new("", "");

    (void)state;
    assert_int_equal(wr_sentences_top(d, "", list, &said_vals, &values, 0), 0);
    assert_int_equal(wr_sentences_top(d, "r", list, &said_vals, &values, 2), 2);
    assert_int_equal(wr_sentences_top(d, "", list, &said_vals, &values, 9), 3);
    assert_int_equal(d->summary_count, 5);
    assert_string_equal(d->summary[0], "r: first");
    assert_string_equal(d->summary[1], "r: second");
    assert_string_equal(d->summary[4], "third");
    wr_doc_free(d);
}

/* --- words for numbers --- */

static void test_time(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0 ms"},
                 {0.00042, "0.42 ms"},
                 {0.9994, "999 ms"},
                 {1, "1 s"},
                 {3.21, "3.21 s"},
                 {99.94, "99.9 s"},
                 {100, "1 min 40 s"},
                 {250, "4 min 10 s"},
                 {119.6, "2 min 0 s"},
                 {3599.4, "59 min 59 s"},
                 {3599.6, "1 h 0 min"},
                 {12000, "3 h 20 min"},
                 {-1, "-"},
                 {NAN, "-"},
                 {INFINITY, "-"}};
    char buf[40];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        assert_string_equal(wr_say_time(cases[k].seconds, buf, sizeof(buf)),
                            cases[k].text);
}

static void test_say_number(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0, "0"},          {0.0421, "0.0421"}, {12.34, "12.3"},
                 {99.94, "99.9"},   {100.4, "100"},     {999.4, "999"},
                 {1234.5, "1,234"}, {1e6, "1,000,000"}, {1e15, "1e+15"},
                 {-12.34, "-12.3"}, {-1234, "-1234"},   {-2e15, "-2e+15"},
                 {NAN, "-"},        {-INFINITY, "-"}};
    char buf[40];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++)
        assert_string_equal(wr_say_number(cases[k].v, buf, sizeof(buf)),
                            cases[k].text);
}

static void test_words(void **state)
{
    char buf[12] = "";

    (void)state;
    wr_say(buf, sizeof(buf), "%s", "one");
    assert_string_equal(buf, "one");
    wr_say(buf, sizeof(buf), "%d", 22);
    assert_string_equal(buf, "one, 22");
    wr_say(buf, sizeof(buf), "%s", "three");
    assert_string_equal(buf, "one, 22, th");
    wr_say(buf, sizeof(buf), "%s", "four");
    assert_string_equal(buf, "one, 22, th");
    assert_string_equal(wr_say_stop("a sentence"), ".");
    assert_string_equal(wr_say_stop("a sentence."), "");
    assert_string_equal(wr_say_stop("is it?"), "");
    assert_string_equal(wr_say_stop("it is!"), "");
    assert_string_equal(wr_say_stop(""), "");
}

static void test_cells(void **state)
{
    static const struct {
        double x;
        const char *time, *rate;
    } cases[] = {{0.0123, "12.3 ms", "0 B/s"},
                 {46.9e6, NULL, "46.9 MB/s"},
                 {NAN, "-", "-"},
                 {0, NULL, "-"},
                 {-5, NULL, "-"}};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, ""), "", ">a|>b");

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_doc_cell *c;

        wr_say_time_cell(t, cases[k].x);
        wr_say_rate_cell(t, cases[k].x);
        c = &t->cells[2 * k];
        if (cases[k].time)
            assert_string_equal(c[0].text, cases[k].time);
        assert_string_equal(c[1].text, cases[k].rate);
        assert_true(isnan(cases[k].x) ? isnan(c[0].value)
                                      : c[0].value == cases[k].x);
        assert_true(cases[k].x > 0 ? c[1].value == cases[k].x
                                   : isnan(c[1].value));
    }
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_small),
        cmocka_unit_test(test_number),     cmocka_unit_test(test_section),
        cmocka_unit_test(test_top),        cmocka_unit_test(test_time),
        cmocka_unit_test(test_say_number), cmocka_unit_test(test_words),
        cmocka_unit_test(test_cells),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
