/* test_json.c - unit tests of json.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "report/doc.h"

static json_t *print(const struct wr_doc *d)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    json_t *j;

    assert_int_equal(wr_doc_print_json(d, f, NULL), 0);
    fclose(f);
    j = json_loads(text, 0, NULL);
    assert_non_null(j);
    free(text);
    return j;
}

/* Numbers stay numbers, what is none is null, a row that ends early is full. */
static void test_tree(void **state)
{
    struct wr_doc *d = wr_doc_new("title", "below");
    struct wr_doc_section *s = wr_doc_section(d, "part");
    struct wr_doc_table *t = wr_doc_table(s, "numbers", "<what|>value");
    struct wr_doc_series *v;
    const char *text, *kind;
    double value;
    json_t *j, *null, *missing, *y;

    (void)state;
    wr_doc_fact(s, "Host", "here");
    wr_doc_note(s, true, "look");
    wr_doc_cell(t, "a");
    wr_doc_number(t, 1.5, 1);
    wr_doc_cell(t, "b");
    wr_doc_number(t, NAN, 1);
    wr_doc_cell(t, "c");
    v = wr_doc_series(
        wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES,
                                                    .title = "line",
                                                    .x = "x",
                                                    .y = "y"}),
        "first");
    wr_doc_point(v, 1, 2);
    wr_doc_mark(v);
    j = print(d);
    assert_int_equal(
        json_unpack(j,
                    "{s:[{s:[{s:s}], s:[{s:b}], s:[{s:[[s,F],[s,o],[s,o]]}]"
                    "}]}",
                    "sections", "facts", "text", &text, "notes", "warning",
                    &(int){0}, "tables", "rows", &kind, &value, &kind, &null,
                    &kind, &missing),
        0);
    assert_string_equal(text, "here");
    assert_true(value == 1.5 && json_is_null(null) && json_is_null(missing));
    y = json_object_get(j, "sections");
    y = json_object_get(json_array_get(y, 0), "charts");
    y = json_object_get(json_array_get(y, 0), "series");
    y = json_array_get(y, 0);
    assert_int_equal(json_array_size(json_object_get(y, "x")), 1);
    assert_int_equal(json_array_size(json_object_get(y, "marked")), 1);
    json_decref(j);
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tree)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
