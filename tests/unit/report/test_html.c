/* test_html.c - a document as a page: escapes, data, points left out.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the page does in a browser is tested in tests/page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"

static void test_text(void **state)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    wr_html_text(out, "a<b>&\"'\xc3\xa9");
    wr_html_text(out, "");
    fclose(out);
    assert_string_equal(got, "a&lt;b&gt;&amp;&quot;&#39;\xc3\xa9");
    free(got);
}

/* The data of a chart, as text and parsed. */
static char *data_of(const struct wr_doc_chart *c, size_t cap, size_t *drawn,
                     json_t **ret)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_int_equal(wr_html_data(out, c, cap, drawn, NULL), 0);
    fclose(out);
    *ret = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(*ret);
    return text;
}

static void test_data(void **state)
{
    struct wr_doc *d = wr_doc_new("d", "");
    struct wr_doc_chart *c = wr_doc_chart(
        wr_doc_section(d, "s"),
        &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES,
                                    .title = "t",
                                    .x = "</script>\"\\",
                                    .y = "<!--\xe2\x80\xa8",
                                    .log_x = true,
                                    .log_y = true});
    struct wr_doc_series *s = wr_doc_series(c, "a");
    size_t drawn;
    json_t *json;
    char *text;

    wr_doc_point(s, 0, 1); /* has no place on a logarithmic axis */
    wr_doc_point(s, NAN, 1);
    wr_doc_point(s, 1, 123456.789);
    wr_doc_point(s, 2.5, -0.0);
    wr_doc_point(s, 123456.789, 1.23456e-7);
    wr_doc_point(s, 1e9, INFINITY);
    s = wr_doc_series(c, "b");
    wr_doc_point(s, 1, 1);
    wr_doc_point(s, 2.5, 2);
    wr_doc_point(s, 123456.789, 1234567);
    wr_doc_point(s, 1e9, 1234567.8);
    text = data_of(c, 1000, &drawn, &json);
    assert_string_equal(
        text,
        "{\"kind\":\"lines\",\"x\":\"\\u003c/script\\u003e\\\"\\\\\","
        "\"y\":\"\\u003c!--\\\\xe2\\\\x80\\\\xa8\",\"logX\":true,\"logY\":true,"
        "\"series\":[{\"name\":\"a\",\"x\":[1,2.5,123457,1e9],"
        "\"y\":[1.235e5,null,1.235e-7,null]},"
        "{\"name\":\"b\",\"y\":[1,2,1234567,1.235e6]}],"
        "\"sorted\":true}");
    assert_int_equal(drawn, 8);
    json_decref(json);
    free(text);
    wr_doc_free(d);
}

/* Of a cloud the extremes, the marked and some between are drawn. */
static void test_cloud(void **state)
{
    struct wr_doc *d = wr_doc_new("d", "");
    struct wr_doc_chart *c = wr_doc_chart(
        wr_doc_section(d, "s"),
        &(struct wr_doc_chart_spec){.kind = WR_DOC_POINTS, .title = "t"});
    struct wr_doc_series *s = wr_doc_series(c, "a");
    size_t drawn, between = 0;
    json_t *json, *y, *marked, *first;
    char *text;

    for (int i = 0; i < 10000; i++) {
        wr_doc_point(s, i, i == 5003 ? 99 : i % 5);
        if (i == 5003)
            wr_doc_mark(s);
    }
    text = data_of(c, 400, &drawn, &json);
    first = json_array_get(json_object_get(json, "series"), 0);
    y = json_object_get(first, "y");
    marked = json_object_get(first, "marked");
    assert_true(drawn > 300 && drawn <= 400);
    assert_int_equal(json_array_size(y), drawn);
    assert_int_equal(json_array_size(marked), 1);
    assert_int_equal(
        json_number_value(json_array_get(
            y, (size_t)json_integer_value(json_array_get(marked, 0)))),
        99);
    for (size_t i = 0; i < drawn; i++) {
        double v = json_number_value(json_array_get(y, i));

        between += v > 0 && v < 4;
    }
    assert_true(between > 20);
    json_decref(json);
    free(text);
    wr_doc_free(d);
}

static void test_page(void **state)
{
    struct wr_doc *d = wr_doc_new("a <title>", "");
    struct wr_doc_section *s = wr_doc_section(d, "s");
    struct wr_doc_table *t = wr_doc_table(s, "t", "<a|>b");
    char *page = NULL;
    size_t size;
    FILE *out = open_memstream(&page, &size);

    wr_doc_cell(t, "one"); /* and no more: the rest of the row is blank */
    wr_doc_tone(t, WR_DOC_BAD);
    assert_int_equal(wr_doc_print_html(d, out, NULL), 0);
    fclose(out);
    assert_non_null(strstr(page, "<title>a &lt;title&gt;</title>"));
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(strstr(page, "Chart.js v3"));
    assert_non_null(strstr(page, "Permission is hereby granted"));
    assert_non_null(strstr(page, "<tr><td class=\"bad\">one</td>"
                                 "<td class=\"r\"></td></tr>"));
    assert_null(strstr(page, "http-equiv=\"refresh\""));
    assert_string_equal(page + size - 8, "</html>\n");
    free(page);
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_cloud),
        cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
