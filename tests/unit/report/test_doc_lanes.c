/* test_doc_lanes.c - lanes over time: rows, terminal, CSV, JSON, page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc_lanes.h"

#define R WR_DOC_LOOK_DOTTED
#define D WR_DOC_LOOK_STRIPED
#define C WR_DOC_LOOK_SOLID
#define Q WR_DOC_LOOK_THIN
#define W WR_DOC_LOOK_HATCHED

static struct wr_doc_lanes *lanes_of(struct wr_doc *d, const char *title,
                                     double most)
{
    struct wr_doc_lanes *l = wr_doc_lanes(
        wr_doc_section(d, title),
        &(struct wr_doc_lanes_spec){.title = "The life",
                                    .x = "time (ms)",
                                    .thing = "batch",
                                    .note = "Hatched time is lost.",
                                    .most = most});

    wr_doc_lane(l, "worker 1");
    wr_doc_lane(l, "queue");
    wr_doc_lane(l, "GPU");
    wr_doc_lanes_look(l, R, "reading");
    wr_doc_lanes_look(l, D, "decoding");
    wr_doc_lanes_look(l, C, "computing");
    wr_doc_lanes_look(l, Q, "ready");
    wr_doc_lanes_look(l, W, "waiting");
    return l;
}

/* A worker, a queue of two, an accelerator; 100 ms. */
static void fill(struct wr_doc_lanes *l)
{
    static const struct wr_doc_span spans[] = {
        {0, 10, 0, R, 1},  {0, 30, 2, W, 1},  {10, 30, 0, D, 1},
        {30, 65, 2, C, 1}, {30, 40, 0, R, 2}, {40, 60, 0, D, 2},
        {45, 85, 1, Q, 3}, {60, 65, 1, Q, 2}, {65, 100, 2, C, 2}};

    for (size_t i = 0; i < WR_ARRAY_LEN(spans); i++)
        wr_doc_span(l, &spans[i]);
}

static char *print(const struct wr_doc *d, struct wr_doc_text_style style)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    style.bare = true;
    wr_doc_print_text(d, &style, out);
    fclose(out);
    return text;
}

/* Two spans at once lie below each other; those that meet share a row. */
static void test_rows(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "", 0);
    struct wr_doc_rows r;

    fill(l);
    wr_doc_span(l, &(struct wr_doc_span){100.00001, 101, 2, C, 3});
    wr_doc_span(l, &(struct wr_doc_span){101, 100, 2, C, 3});
    wr_doc_span(l, &(struct wr_doc_span){1, 2, 3, C, 3}); /* no such lane */
    wr_doc_span(l, &(struct wr_doc_span){NAN, 2, 0, C, 3});
    wr_doc_span(l, &(struct wr_doc_span){1, INFINITY, 0, C, 3});
    assert_int_equal(l->span_count, 10);
    assert_true(wr_doc_rows_init(&r, l));
    assert_int_equal(r.counts[0], 1);
    assert_int_equal(r.counts[1], 2);
    assert_int_equal(r.counts[2], 1);
    assert_int_equal(r.total, 4);
    assert_int_equal(r.first[2], 3);
    assert_int_equal(r.row[6], 1);
    assert_int_equal(r.row[7], 2);
    wr_doc_rows_done(&r);
    for (int i = 0; i < 9; i++)
        wr_doc_span(l, &(struct wr_doc_span){70, 80, 1, Q, i});
    assert_true(wr_doc_rows_init(&r, l));
    assert_int_equal(r.counts[1], WR_DOC_ROWS_MAX);
    wr_doc_rows_done(&r);
    wr_doc_free(d);
}

/* 36 columns for 100 ms. */
static const char plain[] = "\nThe life\n"
                            "  worker 1 |-1--===1===-2-===2====\n"
                            "  queue    |                .......3.......\n"
                            "           |                      .\n"
                            "  GPU      |/////1/////#####1######|#####2######\n"
                            "           ++-----------------+-----------------\n"
                            "            0                 50\n"
                            "  -- reading   == decoding   ## computing\n"
                            "  .. ready   // waiting\n"
                            "  time (ms), with the number of the batch\n"
                            "  Hatched time is lost.\n";

static const char blocks[] =
    "\nThe life\n"
    "  worker 1 │░1░░▒▒▒1▒▒▒░2░▒▒▒2▒▒▒▒\n"
    "  queue    │                ───────3───────\n"
    "           │                      ─\n"
    "  GPU      │╱╱╱╱╱1╱╱╱╱╱█████1██████│█████2██████\n"
    "           └┬─────────────────┬─────────────────\n"
    "            0                 50\n"
    "  ░░ reading   ▒▒ decoding   ██ computing\n"
    "  ── ready   ╱╱ waiting\n"
    "  time (ms), with the number of the batch\n"
    "  Hatched time is lost.\n";

static void test_text(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    char *text;

    fill(lanes_of(d, "", 0));
    text = print(d, (struct wr_doc_text_style){.width = 49});
    assert_string_equal(text, plain);
    free(text);
    text = print(d, (struct wr_doc_text_style){.width = 49, .utf8 = true});
    assert_string_equal(text, blocks);
    free(text);
    text = print(d, (struct wr_doc_text_style){.width = 49, .colour = true});
    assert_non_null(strstr(text, "|\033[34m-\033[0m\033[1m1\033[0m\033[34m-"));
    assert_non_null(strstr(text, "\033[31m//\033[0m waiting"));
    free(text);
    wr_doc_free(d);
}

/* No line is wider than the terminal, and none ends with a blank. */
static void test_widths(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "", 0);

    fill(l);
    for (unsigned width = 40; width < 300; width += 13) {
        char *text = print(d, (struct wr_doc_text_style){.width = width});

        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            assert_true(strlen(line) <= width);
            assert_int_not_equal(line[strlen(line) - 1], ' ');
        }
        free(text);
    }
    for (int i = 0; i < 100; i++)
        wr_doc_lane(l, "one of many lanes with a name that is far too long");
    free(print(d, (struct wr_doc_text_style){.width = 1}));
    wr_doc_free(d);
}

/* A span that is much too short still shows; lanes that have none of any length
 * are not drawn. */
static void test_short(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "", 0);
    char *text;

    wr_doc_span(l, &(struct wr_doc_span){5, 5, 0, C, 1});
    assert_true(wr_doc_lanes_are_empty(l));
    text = print(d, (struct wr_doc_text_style){.width = 80});
    assert_null(strstr(text, "The life"));
    free(text);
    wr_doc_span(l, &(struct wr_doc_span){6, 6.001, 1, W, NAN});
    wr_doc_span(l, &(struct wr_doc_span){7, 1000, 2, C, 1e300});
    text = print(d, (struct wr_doc_text_style){.width = 80});
    assert_non_null(strstr(text, "queue    |/\n"));
    free(text);
    wr_doc_free(d);
}

/* Thousands of short spans: what has most of the time is drawn, in as many
 * stretches as a screen shows. CSV has all. */
static void test_many(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "", 0);
    char *text = NULL;
    size_t size, spans = 0;
    FILE *out;
    int r;

    for (int i = 0; i < 3000; i++) {
        int batch = 1 + i / 1500;

        wr_doc_span(l, &(struct wr_doc_span){i, i + 0.3, 0, R, batch});
        wr_doc_span(l, &(struct wr_doc_span){i + 0.3, i + 1, 0, D, batch});
    }
    text = print(d, (struct wr_doc_text_style){.width = 49});
    assert_non_null(strstr(text, "worker 1 |========1=========|=======2"));
    free(text);
    out = open_memstream(&text, &size);
    r = wr_doc_print_html(d, out, NULL);
    fclose(out);
    if (r != WEIR_ENOTSUP) {
        assert_non_null(strstr(text, "\"spans\":[[0,1500,0,0,1,1],"
                                     "[1500,3000,0,0,1,2]]"));
        assert_non_null(strstr(text, "CSV and JSON have all 6000 spans"));
    }
    free(text);
    out = open_memstream(&text, &size);
    wr_doc_print_csv(d, out);
    fclose(out);
    for (char *at = text; (at = strstr(at, ",what,")); at++)
        spans++;
    assert_int_equal(spans, 6000);
    free(text);
    wr_doc_free(d);
}

/* The axis reaches what is asked for, so that lanes compare. */
static void test_most(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "", 400);
    double from, to;

    fill(l);
    wr_doc_lanes_ends(l, &from, &to);
    assert_true(from == 0 && to == 400);
    wr_doc_free(d);
}

static void test_csv_json(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const json_t *lanes, *span;
    json_t *j;

    fill(lanes_of(d, "s", 0));
    wr_doc_print_csv(d, out);
    fclose(out);
    assert_non_null(strstr(text, "s,lanes,The life,lane,1,worker 1,,,\n"
                                 "s,lanes,The life,from,1,0,,,\n"
                                 "s,lanes,The life,to,1,10,,,\n"
                                 "s,lanes,The life,what,1,reading,,,\n"
                                 "s,lanes,The life,batch,1,1,,,\n"));
    free(text);
    out = open_memstream(&text, &size);
    assert_int_equal(wr_doc_print_json(d, out, NULL), 0);
    fclose(out);
    j = json_loads(text, 0, NULL);
    lanes = json_array_get(
        json_object_get(json_array_get(json_object_get(j, "sections"), 0),
                        "lanes"),
        0);
    assert_int_equal(json_array_size(json_object_get(lanes, "lanes")), 3);
    span = json_array_get(json_object_get(lanes, "spans"), 3);
    assert_string_equal(json_string_value(json_object_get(span, "lane")),
                        "GPU");
    assert_string_equal(json_string_value(json_object_get(span, "what")),
                        "computing");
    assert_true(json_number_value(json_object_get(span, "to")) == 65);
    free(text);
    json_decref(j);
    wr_doc_free(d);
}

/* The page: a canvas with a text, a legend of what there is, no text that
 * could end the data, and the spans as a table. */
static void test_page(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_lanes *l = lanes_of(d, "s", 0);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int r;

    fill(l);
    wr_doc_lane(l, "</script><b>");
    r = wr_doc_print_html(d, out, NULL);
    fclose(out);
    if (r != WEIR_ENOTSUP) {
        assert_int_equal(r, 0);
        assert_non_null(strstr(text, "data-spans=\"5\""));
        assert_non_null(strstr(text, "<i class=\"look l4\"></i>waiting"));
        assert_null(strstr(text, "class=\"look l5\""));
        assert_non_null(strstr(text, "[30,65,3,2,2,1]"));
        assert_null(strstr(text, "</script><b>"));
        assert_non_null(
            strstr(text, "<td>GPU</td><td class=\"r\">30.000</td>"));
    }
    free(text);
    wr_doc_free(d);
}

/* What an earlier function could not make is NULL for the next. */
static void test_null(void **state)
{
    assert_null(wr_doc_lanes(NULL, &(struct wr_doc_lanes_spec){0}));
    wr_doc_lane(NULL, "x");
    wr_doc_lanes_look(NULL, C, "x");
    wr_doc_span(NULL, &(struct wr_doc_span){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_text),
        cmocka_unit_test(test_widths),   cmocka_unit_test(test_short),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_most),
        cmocka_unit_test(test_csv_json), cmocka_unit_test(test_page),
        cmocka_unit_test(test_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
