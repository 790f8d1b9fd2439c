/* test_doc_numbers.c - the table of a chart's numbers, and how many fit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "report/doc_numbers.h"

struct fixture {
    struct wr_doc *doc;
    struct wr_doc_section *section;
    struct wr_doc_chart *chart;
};

static struct fixture begin(enum wr_doc_chart_kind kind)
{
    struct fixture f = {.doc = wr_doc_new("d", "")};

    f.section = wr_doc_section(f.doc, "s");
    f.chart = wr_doc_chart(f.section,
                           &(struct wr_doc_chart_spec){
                               .kind = kind, .title = "t", .x = "x", .y = "y"});
    return f;
}

static const struct wr_doc_table *table_of(struct fixture *f)
{
    wr_doc_numbers_table(f->section, f->chart);
    assert_false(wr_doc_failed(f->doc));
    return f->section->items[f->section->item_count - 1].table;
}

static void assert_cells(const struct wr_doc_table *t, const char *want)
{
    char got[500] = "";

    for (size_t i = 0; i < t->column_count; i++) {
        strcat(got, t->columns[i].heading);
        strcat(got, "|");
    }
    for (size_t i = 0; i < t->cell_count; i++) {
        strcat(got, i % t->column_count ? "|" : "\n");
        strcat(got, t->cells[i].text);
    }
    assert_string_equal(got, want);
}

static void test_labels(void **state)
{
    struct fixture f = begin(WR_DOC_BARS);
    struct wr_doc_series *s = wr_doc_series(f.chart, "a|b");

    wr_doc_label(f.chart, "one");
    wr_doc_label(f.chart, "two");
    wr_doc_value(s, 1234.6);
    wr_doc_value(s, NAN);
    s = wr_doc_series(f.chart, "");
    wr_doc_value(s, 3); /* the second is missing */
    assert_cells(table_of(&f), "x|a\xc2\xa6"
                               "b|y|\none|1,235|3\ntwo|-|-");
    wr_doc_free(f.doc);
}

static void test_common_x(void **state)
{
    struct fixture f = begin(WR_DOC_LINES);
    struct wr_doc_series *s = wr_doc_series(f.chart, "p50");

    wr_doc_point(s, 1, 0.001234);
    wr_doc_point(s, 4, 2);
    s = wr_doc_series(f.chart, "p99");
    wr_doc_point(s, 2, 10);
    wr_doc_point(s, 4, 1e6);
    assert_cells(table_of(&f), "x|p50|p99|\n1|0.001234|-\n2|-|10\n"
                               "4|2.000000|1,000,000");
    wr_doc_free(f.doc);
}

/* Many points, or points that go back on x, are told by quantiles. */
static void test_summary(void **state)
{
    struct fixture f = begin(WR_DOC_POINTS);
    struct wr_doc_series *s = wr_doc_series(f.chart, "waits");

    for (int i = 0; i <= 1000; i++)
        wr_doc_point(s, i, 1000 - i);
    wr_doc_mark(s);
    wr_doc_point(s, 1001, NAN);
    wr_doc_series(f.chart, "none");
    assert_cells(table_of(&f), "y|n|min|median|p99|max|marked|\n"
                               "waits|1,002|0|500|990|1,000|1\n"
                               "none|0|-|-|-|-|0");
    wr_doc_free(f.doc);

    f = begin(WR_DOC_LINES);
    s = wr_doc_series(f.chart, "loop");
    wr_doc_point(s, 1, 1);
    wr_doc_point(s, 1, 3);
    assert_cells(table_of(&f), "y|n|min|median|p99|max|\n"
                               "loop|2|1.000|2.000|2.980|3.000");
    wr_doc_free(f.doc);
}

static void test_cap(void **state)
{
    struct fixture f = begin(WR_DOC_LINES);
    struct wr_doc_series *few = wr_doc_series(f.chart, "few");
    struct wr_doc_series *many = wr_doc_series(f.chart, "many");

    for (int i = 0; i < 10; i++)
        wr_doc_point(few, i, i);
    for (int i = 0; i < 1000; i++)
        wr_doc_point(many, i, i);
    assert_int_equal(wr_doc_numbers_cap(f.doc, 100), 90);
    assert_int_equal(wr_doc_numbers_cap(f.doc, 12), 6);
    assert_true(wr_doc_numbers_cap(f.doc, 5000) >= 1000);
    wr_doc_free(f.doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_common_x),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
