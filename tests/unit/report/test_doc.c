/* test_doc.c - the document that a report is made of.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "report/doc.h"
#include "report/doc_private.h"

static void test_build(void **state)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS, .title = "t", .x = "x", .y = "y"};
    struct wr_doc *d = wr_doc_new("title", NULL);
    struct wr_doc_section *s = wr_doc_section(d, "one");
    struct wr_doc_table *t = wr_doc_table(s, "numbers", "<a|>b|c");
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);
    struct wr_doc_series *line;

    wr_doc_fact(s, "Host", "%s", "h");
    wr_doc_note(s, true, "%d %%", 3);
    wr_doc_cell(t, "%s", "x");
    wr_doc_number(t, 1234567.25, 1);
    wr_doc_tone(t, WR_DOC_BAD);
    wr_doc_number(t, NAN, 2);
    for (int i = 0; i < 100; i++)
        wr_doc_label(c, "%d", i);
    line = wr_doc_series(c, "s");
    for (int i = 0; i < 100; i++)
        wr_doc_value(line, i * 0.5);
    wr_doc_mark(line);
    wr_doc_mark(line);

    assert_false(wr_doc_failed(d));
    assert_string_equal(d->subtitle, "");
    assert_string_equal(d->sections[0]->facts[0].text, "h");
    assert_string_equal(d->sections[0]->notes[0].text, "3 %");
    assert_true(d->sections[0]->notes[0].warning);
    assert_ptr_equal(s->items[0].table, t);
    assert_ptr_equal(s->items[1].chart, c);
    assert_int_equal(t->column_count, 3);
    assert_true(t->columns[1].right && !t->columns[0].right);
    assert_string_equal(t->columns[2].heading, "c");
    assert_string_equal(t->cells[1].text, "1,234,567.2");
    assert_int_equal(t->cells[1].tone, WR_DOC_BAD);
    assert_string_equal(t->cells[2].text, "-");
    assert_int_equal(line->count, 100);
    assert_true(line->x[99] == 99 && line->y[99] == 49.5);
    assert_int_equal(line->marks, 1);
    assert_string_equal(c->labels[99], "99");
    wr_doc_free(d);
}

static void test_numbers(void **state)
{
    static const struct {
        double value;
        unsigned decimals;
        const char *text;
    } cases[] = {
        {0, 0, "0"},
        {999, 0, "999"},
        {1000, 0, "1,000"},
        {-123456, 0, "-123,456"},
        {-12, 1, "-12.0"},
        {0.1234567, 3, "0.123"},
        {INFINITY, 1, "-"},
        {1e300, 1, "1e+300"},
        {1234.5678, 99, "1,234.567800000"},
    };
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table(wr_doc_section(d, ""), "", ">n");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        wr_doc_number(t, cases[i].value, cases[i].decimals);
        assert_string_equal(t->cells[i].text, cases[i].text);
    }
    wr_doc_free(d);
}

/* What a file says must not reach a terminal or a page as it is. */
static void test_texts_are_cleaned(void **state)
{
    struct wr_doc *d = wr_doc_new("a\033[31mb\n", "caf\xc3\xa9 \xff");

    assert_string_equal(d->title, "a\\x1b[31mb\\x0a");
    assert_string_equal(d->subtitle, "caf\xc3\xa9 \\xff");
    wr_doc_free(d);
}

/* What could not be made is passed on without a check. */
static void test_null(void **state)
{
    const struct wr_doc_chart_spec spec = {.title = "t"};

    assert_true(wr_doc_failed(NULL));
    wr_doc_fact(wr_doc_section(NULL, "s"), "k", "v");
    wr_doc_note(NULL, false, "n");
    wr_doc_cell(wr_doc_table(NULL, "t", "<a"), "c");
    wr_doc_number(NULL, 1, 1);
    wr_doc_tone(NULL, WR_DOC_GOOD);
    wr_doc_label(wr_doc_chart(NULL, &spec), "l");
    wr_doc_value(wr_doc_series(NULL, "s"), 1);
    wr_doc_point(NULL, 1, 1);
    wr_doc_mark(NULL);
    wr_doc_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts_are_cleaned),
        cmocka_unit_test(test_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
