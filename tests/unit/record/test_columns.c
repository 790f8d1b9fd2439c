/* test_columns.c - columns of tables, histograms of sizes, and charts by rule.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/chart.h"
#include "record/doc_private.h"
#include "record/points.h"
#include "record/sizes.h"

/* --- columns --- */

struct wr_lap_values {
    double seconds, share, bytes_per_s, tiny;
    const char *what;
};

#define THIS struct wr_lap_values
static const struct wr_vals wr_lap_vals = WR_VALS_OF(
    WR_VAL_IS(REAL, seconds, .head = "s", .help = "time of a lap", .digits = 3),
    WR_VAL_IS(REAL, share, .head = "%", .unit = 0.01, .digits = 1),
    WR_VAL_IS(REAL, bytes_per_s, .head = "MB/s", .unit = 1e6, .digits = 2),
    WR_VAL_IS(REAL, tiny, .head = "us", .unit = 1e-6, .digits = 0),
    WR_VAL_IS(TEXT, what, .head = "what"));
#undef THIS

static double twice(const struct wr_row *r)
{
    return 2 * ((const struct wr_lap_values *)r->run)->seconds;
}

static const char *marked(const struct wr_column *c, const struct wr_row *r,
                          char *buf, size_t cap)
{
    snprintf(buf, cap, "%s of run %zu", c->key, r->i + 1);
    return buf;
}

static void two_words(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    (void)r;
    wr_doc_cell(t, "own: %s", c->head);
}

#define LAP(whose, member)                                                     \
    WR_COLUMN(whose, wr_lap_vals, struct wr_lap_values, member)

static const struct wr_column lap_columns[] = {
    {LAP(RUN, seconds), .side = '>'},
    {LAP(MEDIAN, seconds), .side = '>', .fewer = 2, .head = "median"},
    {LAP(CASE, seconds), .side = '>', .show = WR_SHOW_TIME, .head = "case"},
    {LAP(RUN, share), .side = '>', .show = WR_SHOW_PERCENT},
    {LAP(RUN, bytes_per_s), .side = '>'},
    {LAP(RUN, bytes_per_s), .side = '>', .show = WR_SHOW_BRIEF, .only = 1},
    {LAP(RUN, tiny), .side = '>', .only = 2},
    {LAP(RUN, what), .side = '<', .help = ""},
    {.head = "twice", .number = twice, .side = '>', .digits = 1},
    {.head = "mark", .text = marked, .key = "key", .side = '<'},
    {.head = "cell", .cell = two_words, .side = '<', .if_any = true},
    {.head = "any", .number = twice, .side = '>', .if_any = true},
    {.head = NULL}};

static void test_heads(void **state)
{
    static const struct {
        size_t column;
        const char *head, *help;
    } cases[] = {{0, "s", "time of a lap"},
                 {1, "median", "time of a lap"},
                 {3, "%", NULL},
                 {7, "what", NULL},
                 {8, "twice", NULL}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_column *c = &lap_columns[cases[k].column];
        const char *help = wr_column_help(c);

        assert_string_equal(wr_column_head(c), cases[k].head);
        assert_int_equal(help != NULL, cases[k].help != NULL);
        if (help)
            assert_string_equal(help, cases[k].help);
    }
}

/* Those with `if_any` have bits of their own, from the highest on. */
static void test_bits(void **state)
{
    static const struct {
        size_t column;
        unsigned bits, which;
        bool shown;
    } cases[] = {{0, 0, 0, true},
                 {5, 1, 0, false},
                 {5, 1, 1, true},
                 {5, 1, 2, false},
                 {6, 2, 3, true},
                 {10, 1u << 31, 3, false},
                 {10, 1u << 31, 1u << 31, true},
                 {11, 1u << 30, 1u << 31, false},
                 {11, 1u << 30, 1u << 30, true}};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        const struct wr_column *c = &lap_columns[cases[k].column];

        assert_int_equal(wr_column_bits(lap_columns, c), cases[k].bits);
        assert_int_equal(wr_column_is_shown(lap_columns, c, cases[k].which),
                         cases[k].shown);
    }
}

static void expect_row(unsigned which, const char *want)
{
    const struct wr_lap_values run = {12.3456, 0.07, 123.456e6, 42e-6, "a lap"};
    const struct wr_lap_values median = {.seconds = 5.678};
    const struct wr_lap_values values = {.seconds = 0.0125};
    const struct wr_case row = {.values = &values, .median = &median};
    const struct wr_row r = {.row = &row, .run = &run, .i = 2};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_table *t = wr_doc_table_of(wr_doc_section(d, ""), "",
                                             lap_columns, which);
    char got[400] = "";

    wr_cells(t, lap_columns, which, &r);
    for (size_t k = 0; k < t->cell_count; k++) {
        strcat(got, k ? "|" : "");
        strcat(got, t->cells[k].text);
    }
    assert_string_equal(got, want);
    assert_int_equal(t->column_count, t->cell_count);
    wr_doc_free(d);
}

static void test_cells(void **state)
{
    (void)state;
    expect_row(0, "12.346|5.7|12.5 ms|7.0%|123.46|a lap|24.7|key of run 3");
    expect_row(1, "12.346|5.7|12.5 ms|7.0%|123.46|123|a lap|24.7|"
                  "key of run 3");
    expect_row(2, "12.346|5.7|12.5 ms|7.0%|123.46|42|a lap|24.7|"
                  "key of run 3");
    expect_row(1u << 31, "12.346|5.7|12.5 ms|7.0%|123.46|a lap|24.7|"
                         "key of run 3|own: cell");
    expect_row(1u << 30, "12.346|5.7|12.5 ms|7.0%|123.46|a lap|24.7|"
                         "key of run 3|25");
}

/* --- texts of a row --- */

static void test_row_texts(void **state)
{
    static const struct wr_cases_spec spec = {.rows = "cases",
                                              .settings = "settings"};
    json_t *json = json_loads("{\"cases\": [{\"settings\": {\"threads\": 4, "
                              "\"io\": \"uring\"}}, {\"settings\": "
                              "{\"threads\": 8, \"io\": \"uring\"}}]}",
                              0, NULL);
    const struct wr_view_record rec = {
        .path = "p", .label = "run-a", .json = json};
    const struct wr_column threads = {.key = "threads"}, io = {.key = "io"},
                           none = {.key = "none"};
    struct wr_cases c;
    struct wr_row r;
    char buf[100];

    (void)state;
    assert_non_null(json);
    wr_cases_init(&c, &rec, 1, &spec);
    r = (struct wr_row){.c = &c, .k = 1, .i = 6, .row = &c.v[1]};
    assert_string_equal(wr_cell_setting(&threads, &r, buf, sizeof(buf)), "8");
    assert_string_equal(wr_cell_setting(&io, &r, buf, sizeof(buf)), "uring");
    wr_cell_setting(&none, &r, buf, sizeof(buf));
    assert_string_equal(wr_cell_record(&threads, &r, buf, sizeof(buf)),
                        "run-a");
    assert_string_equal(wr_cell_name(&threads, &r, buf, sizeof(buf)),
                        "threads 8");
    assert_true(wr_cell_place(&r) == 7);
    assert_string_equal(wr_chart_case(&r, buf, sizeof(buf)), "threads 8");
    assert_string_equal(wr_chart_record(&r, buf, sizeof(buf)), "run-a");
    assert_string_equal(wr_chart_records(&r, buf, sizeof(buf)), "");
    assert_string_equal(wr_chart_place(&r, buf, sizeof(buf)), "7");
    wr_cases_done(&c);
    json_decref(json);
}

/* --- points on their way into a chart --- */

static void test_points(void **state)
{
    static const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES, .title = "", .x = "", .y = ""};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_chart *c = wr_doc_chart(wr_doc_section(d, ""), &spec);
    struct wr_doc_series *s = wr_doc_series(c, "s"), *u = wr_doc_series(c, "u");
    struct wr_points p = {0};

    (void)state;
    wr_points_add(&p, 1, 10, false);
    wr_points_add(&p, NAN, 20, true); /* passed over */
    wr_points_add(&p, 2, 30, true);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.marks, 1);
    wr_points_draw(&p, d, s, 100);
    assert_int_equal(s->count, 2);
    assert_true(s->x[1] == 2 && s->y[1] == 30);
    assert_true(!s->marked[0] && s->marked[1]);
    assert_int_equal(p.count, 0); /* for the next one */
    assert_int_equal(p.marks, 0);
    for (int k = 0; k < 1000; k++)
        wr_points_add(&p, k, k == 500 ? 99 : 1, k == 123);
    wr_points_draw(&p, d, u, 50);
    assert_true(u->count >= 3 && u->count <= 60);
    assert_int_equal(u->marks, 1);
    for (size_t k = 0; k < u->count; k++) {
        assert_int_equal(u->marked[k], u->x[k] == 123);
        assert_true((u->x[k] == 500) == (u->y[k] == 99));
    }
    assert_true(u->x[0] == 0 && u->x[u->count - 1] == 999);
    wr_points_done(&p);
    assert_null(p.x);
    wr_doc_free(d);
}

/* --- histograms of sizes --- */

static json_t *sizes_json(const char *list)
{
    char text[600];
    json_t *j;

    snprintf(text, sizeof(text), "{\"d\": {\"sizes\": %s}}", list);
    j = json_loads(text, 0, NULL);
    assert_non_null(j);
    return j;
}

static void test_sizes(void **state)
{
    static const char *const lists[] = {
        /* What is no bin is passed over. */
        "[{\"from\": 0, \"to\": 1024, \"count\": 1},"
        " {\"from\": 1024, \"to\": 2048, \"count\": 3},"
        " {\"from\": 2048, \"to\": 1024, \"count\": 9},"
        " {\"from\": 9, \"to\": 10, \"count\": -1}, 7]",
        "[{\"bytes\": 4096, \"share\": 0.25},"
        " {\"bytes\": 1048576, \"share\": 0.75}, {\"share\": 1}]",
        /* The same as the first. */
        "[{\"from\": 0, \"to\": 1024, \"count\": 1},"
        " {\"from\": 1024, \"to\": 2048, \"count\": 3},"
        " {\"from\": 2048, \"to\": 1024, \"count\": 9},"
        " {\"from\": 9, \"to\": 10, \"count\": -1}, 7]",
        "[]",
        "[{\"from\": 0, \"to\": 1024, \"count\": 0}]",
        "\"none\"",
    };
    static const char *const cells[] = {
        "a", "0 B to 1 KiB",   "1",     "25.0", /* of the first record */
        "a", "1 KiB to 2 KiB", "3",     "75.0", /* */
        "b", "4 KiB",          "0.250", "25.0", /* of the second one */
        "b", "1 MiB",          "0.750", "75.0"};
    struct wr_view_record r[WR_ARRAY_LEN(lists)];
    static const char *const labels[] = {"a", "b", "c", "d", "e", "f"};
    struct wr_cases rows = {.records = r, .record_count = WR_ARRAY_LEN(lists)};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    const struct wr_doc_chart *c;
    const struct wr_doc_table *t;

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(lists); k++)
        r[k] = (struct wr_view_record){.label = labels[k],
                                       .json = sizes_json(lists[k])};
    wr_sizes_draw(d, s, &rows, "d.sizes");
    wr_sizes_table(s, &rows, "d.sizes");
    assert_int_equal(s->item_count, 2);
    c = s->items[0].chart;
    assert_int_equal(c->series_count, 2);
    assert_int_equal(c->label_count, 4);
    assert_string_equal(c->labels[0], "0 B to 1 KiB");
    assert_string_equal(c->labels[3], "1 MiB");
    assert_true(c->series[0]->y[0] == 25 && c->series[0]->y[1] == 75);
    assert_true(isnan(c->series[0]->y[2]) && c->series[1]->y[2] == 25);
    t = s->items[1].table;
    assert_true(t->folded);
    assert_int_equal(t->cell_count, WR_ARRAY_LEN(cells));
    for (size_t k = 0; k < WR_ARRAY_LEN(cells); k++)
        assert_string_equal(t->cells[k].text, cells[k]);
    for (size_t k = 0; k < WR_ARRAY_LEN(lists); k++)
        json_decref((json_t *)(uintptr_t)r[k].json);
    wr_doc_free(d);
}

/* --- charts by rule --- */

/* Two cases of three laps each, of one record. */
struct laps {
    struct wr_lap_values run[2][3], values[2], median[2];
    struct wr_case rows[2];
    struct wr_view_record record;
    struct wr_doc *d;
    struct wr_scope v;
};

static void laps_init(struct laps *l)
{
    *l = (struct laps){.record = {.path = "p", .label = "run-a"}};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < 3; i++)
            l->run[k][i] = (struct wr_lap_values){
                .seconds = (double)(10 * k + i),
                .share = k ? 0.5 : 0,
                .bytes_per_s = 1e6 * (double)(i + 1)};
        l->values[k] = (struct wr_lap_values){.seconds = 7 + (double)k,
                                              .bytes_per_s = 5e6};
        l->median[k] = (struct wr_lap_values){.seconds = 3 + (double)k};
        l->rows[k] = (struct wr_case){
            .values = &l->values[k],
            .median = &l->median[k],
            .list = {l->run[k], 3, sizeof(l->run[k][0])}};
    }
    l->d = wr_doc_new("", "");
    l->v = (struct wr_scope){.d = l->d,
                             .s = wr_doc_section(l->d, ""),
                             .r = &l->record,
                             .n = 1,
                             .c = {.records = &l->record,
                                   .record_count = 1,
                                   .v = l->rows,
                                   .count = 2}};
}

static const char *name_row(const struct wr_row *r, char *buf, size_t cap)
{
    snprintf(buf, cap, "case %zu", r->k);
    return buf;
}

static bool is_second(const struct wr_case *row)
{
    return ((const struct wr_lap_values *)row->values)->seconds == 8;
}

/* Bars of each case; a series that has nothing but 0 may be left out. */
static void test_bars(void **state)
{
    const struct wr_chart_rule rule = {
        .is = {.kind = WR_DOC_BARS, .title = "t", .x = "", .y = ""},
        .series = WR_SERIES({"seconds", "time", 1},
                            {"bytes_per_s", "rate", 1e6},
                            {"share", "share", 0.01}),
        .if_any = true,
        .from = WR_FROM_CASE,
        .of = &wr_lap_vals,
        .label = name_row};
    const struct wr_doc_chart *c;
    struct laps l;

    (void)state;
    laps_init(&l);
    assert_null(wr_chart_draw(&l.v, &rule));
    assert_int_equal(l.v.s->item_count, 1);
    c = l.v.s->items[0].chart;
    assert_string_equal(c->title, "t");
    assert_int_equal(c->series_count, 2);
    assert_string_equal(c->series[0]->name, "time");
    assert_string_equal(c->series[1]->name, "rate");
    assert_string_equal(c->labels[1], "case 1");
    assert_true(c->series[0]->y[0] == 7 && c->series[0]->y[1] == 8);
    assert_true(c->series[1]->y[0] == 5);
    wr_doc_free(l.d);
}

/* Which items: so many of a list, of wanted cases, of medians; too few. */
static void test_items(void **state)
{
    struct wr_chart_rule rule = {
        .is = {.kind = WR_DOC_BARS, .title = "t", .x = "", .y = ""},
        .series = WR_SERIES({"seconds", "time", 1}),
        .from = WR_FROM_MEDIAN,
        .of = &wr_lap_vals,
        .label = wr_chart_place};
    const struct wr_doc_chart *c;
    struct laps l;

    (void)state;
    laps_init(&l);
    rule.label = name_row;
    wr_chart_draw(&l.v, &rule);
    c = l.v.s->items[0].chart;
    assert_true(c->series[0]->y[0] == 3 && c->series[0]->y[1] == 4);
    rule.from = WR_FROM_RUN;
    rule.label = wr_chart_place;
    rule.wanted = is_second;
    wr_chart_draw(&l.v, &rule);
    c = l.v.s->items[1].chart;
    assert_int_equal(c->label_count, 3);
    assert_string_equal(c->labels[2], "3");
    assert_true(c->series[0]->y[0] == 10 && c->series[0]->y[2] == 12);
    rule.most = 2;
    wr_chart_draw(&l.v, &rule);
    assert_int_equal(l.v.s->items[2].chart->label_count, 2);
    rule.least = 3;
    wr_chart_draw(&l.v, &rule);
    assert_int_equal(l.v.s->item_count, 3);
    rule.least = 2;
    wr_chart_draw(&l.v, &rule);
    assert_int_equal(l.v.s->item_count, 4);
    wr_doc_free(l.d);
}

static void test_lines(void **state)
{
    const struct wr_chart_rule rule = {
        .is = {.kind = WR_DOC_LINES, .title = "t", .x = "", .y = ""},
        .series = WR_SERIES({"seconds", "time", 0.5}),
        .from = WR_FROM_RUN,
        .of = &wr_lap_vals,
        .label = name_row,
        .x = "bytes_per_s"};
    const struct wr_doc_chart *c;
    struct laps l;

    (void)state;
    laps_init(&l);
    c = wr_chart_draw(&l.v, &rule);
    assert_non_null(c);
    assert_int_equal(c->series_count, 2);
    assert_string_equal(c->series[1]->name, "case 1");
    assert_int_equal(c->series[1]->count, 3);
    assert_true(c->series[1]->x[2] == 3e6 && c->series[1]->y[2] == 24);
    wr_doc_free(l.d);
}

/* Series that are columns of the record itself. */
static void test_record_columns(void **state)
{
    struct wr_chart_rule rule = {
        .is = {.kind = WR_DOC_LINES, .title = "t", .x = "", .y = ""},
        .series = WR_SERIES({"busy", "busy", 0.01}, {"idle", "idle", 1},
                            {"none", "none", 1}),
        .if_any = true,
        .x = "t_s",
        .columns = "monitor.cpu"};
    const struct wr_doc_chart *c;
    json_t *json = json_loads(
        "{\"monitor\": {\"cpu\": {\"t_s\": [0, 1, 2, 3],"
        " \"busy\": [0.25, null, 0.57, 1, 9], \"idle\": [0, 0, null]}}}",
        0, NULL);
    struct laps l;

    (void)state;
    laps_init(&l);
    l.record.json = json;
    c = wr_chart_draw(&l.v, &rule);
    assert_non_null(c);
    assert_int_equal(c->series_count, 1);
    assert_int_equal(c->series[0]->count, 3);
    assert_true(c->series[0]->x[1] == 2);
    assert_true(c->series[0]->y[0] == 25 && c->series[0]->y[2] == 100);
    rule.gaps = true;
    rule.if_any = false;
    c = wr_chart_draw(&l.v, &rule);
    assert_int_equal(c->series_count, 2);
    assert_int_equal(c->series[0]->count, 4);
    assert_true(isnan(c->series[0]->y[1]));
    assert_int_equal(c->series[1]->count, 3);
    rule.columns = "monitor.disk";
    assert_null(wr_chart_draw(&l.v, &rule));
    json_decref(json);
    wr_doc_free(l.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),  cmocka_unit_test(test_bits),
        cmocka_unit_test(test_cells),  cmocka_unit_test(test_row_texts),
        cmocka_unit_test(test_points), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bars),   cmocka_unit_test(test_items),
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_record_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
