/* test_doc_top.c - summary, figures, verdicts, whiskers, roles and bands in
 * every form of a document.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc_private.h"

static void add_bars(struct wr_doc_section *s)
{
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){
               .kind = WR_DOC_BARS, .title = "hdd", .x = "n", .y = "MB/s"});
    struct wr_doc_series *here, *paper, *most;

    wr_doc_label(c, "1");
    wr_doc_label(c, "2");
    here = wr_doc_series(c, "here");
    wr_doc_value(here, 40);
    wr_doc_value_range(here, 80, 90, 70); /* the ends in any order */
    paper = wr_doc_series(c, "paper");
    wr_doc_series_is(paper, WR_DOC_REFERENCE);
    wr_doc_value_range(paper, 50, NAN, 60);
    wr_doc_value(paper, 100);
    most = wr_doc_series(c, "limit");
    wr_doc_series_is(most, WR_DOC_CEILING);
    wr_doc_value(most, NAN);
    wr_doc_value(most, 120);
}

static void add_lines(struct wr_doc_section *s)
{
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){
               .kind = WR_DOC_AREA, .title = "time", .x = "s", .y = "MB/s"});
    struct wr_doc_series *line = wr_doc_series(c, "read");

    wr_doc_point(line, 0, 1);
    wr_doc_point(line, 10, 3);
    wr_doc_band(c, 0, 4, "run <1>");
    wr_doc_band(c, 9, 5, "run 2");
    wr_doc_band(c, NAN, 5, "none");
    wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS, .title = "empty"});
}

static struct wr_doc *make(void)
{
    struct wr_doc *d = wr_doc_new("Study", "");
    struct wr_doc_section *s;

    wr_doc_summary(d, "%d of %d hold.", 1, 2);
    wr_doc_summary(d, "That is all.");
    wr_doc_headline(d, "K4000 waits", "%d %%", 3);
    s = wr_doc_section(d, "Figure <4>");
    wr_doc_lead(s, "Do threads help?");
    wr_doc_claim(s, "old");
    wr_doc_claim(s, "Threads help.");
    wr_doc_verdict(s, WR_DOC_BAD, "never shown", "%s", "");
    wr_doc_verdict(s, WR_DOC_GOOD, "holds", "It is %.1f times.", 2.5);
    add_bars(s);
    add_lines(s);
    s = wr_doc_section(d, "Figure 5");
    wr_doc_verdict(s, WR_DOC_PLAIN, "cannot be seen here", "cores limit it.");
    return d;
}

typedef void render(const struct wr_doc *d, FILE *out);

static void to_text(const struct wr_doc *d, FILE *out)
{
    wr_doc_print_text(d, &(struct wr_doc_text_style){.width = 72}, out);
}

static void to_json(const struct wr_doc *d, FILE *out)
{
    assert_int_equal(wr_doc_print_json(d, out, NULL), 0);
}

static char *print(render *as)
{
    struct wr_doc *d = make();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_false(wr_doc_failed(d));
    as(d, out);
    fclose(out);
    wr_doc_free(d);
    return text;
}

static void test_build(void **state)
{
    struct wr_doc *d = make();
    const struct wr_doc_chart *c = d->sections[0]->items[0].chart;

    assert_true(isnan(wr_doc_low(c->series[0], 0)));
    assert_true(wr_doc_low(c->series[0], 1) == 70);
    assert_true(wr_doc_high(c->series[0], 1) == 90);
    assert_true(isnan(wr_doc_high(c->series[0], 2)));
    assert_int_equal(c->series[1]->range_count, 0); /* half a whisker is none */
    assert_false(wr_doc_is_empty(c));
    c = d->sections[0]->items[1].chart;
    assert_int_equal(c->band_count, 2);
    assert_true(c->bands[1].from == 5 && c->bands[1].to == 9);
    assert_true(wr_doc_is_empty(d->sections[0]->items[2].chart));
    wr_doc_free(d);
    /* Everything bears what an earlier call could not make. */
    wr_doc_summary(NULL, "x");
    wr_doc_headline(NULL, "x", "x");
    wr_doc_lead(NULL, "x");
    wr_doc_claim(NULL, "x");
    wr_doc_verdict(NULL, WR_DOC_GOOD, "x", "x");
    wr_doc_series_is(NULL, WR_DOC_CEILING);
    wr_doc_value_range(NULL, 1, 1, 1);
    wr_doc_band(NULL, 1, 2, "x");
}

static void test_text(void **state)
{
    static const char top[] =
        "Study\n\n\n1 of 2 hold.\nThat is all.\n"
        "\n  3 %  K4000 waits\n"
        "\n  holds                Figure <4>\n"
        "  cannot be seen here  Figure 5\n"
        "\nFigure <4>\n==========\n  Do threads help?\n  Threads help.\n"
        "\nhdd\n  1 here  #";
    char *text = print(to_text);

    assert_memory_equal(text, top, sizeof(top) - 1);
    assert_non_null(strstr(text, "# 80 (70 to 90)\n"));
    assert_non_null(strstr(text, "  2 paper ="));
    assert_non_null(strstr(text, "  2 limit ."));
    assert_null(strstr(text, "  1 limit"));
    assert_non_null(strstr(text, "run <1> from 0 to 4, run 2 from 5 to 9\n"));
    assert_non_null(strstr(text, "\n  holds: It is 2.5 times.\n"));
    assert_null(strstr(text, "empty"));
    free(text);
}

/* On a logarithmic axis bars have no zero: dots at their place. */
static void test_log_dots(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_chart *c = wr_doc_chart(
        wr_doc_section(d, ""),
        &(struct wr_doc_chart_spec){
            .kind = WR_DOC_BARS, .title = "t", .y = "s", .log_y = true});
    struct wr_doc_series *s = wr_doc_series(c, "s");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    wr_doc_label(c, "a");
    wr_doc_label(c, "b");
    wr_doc_value(s, 1);
    wr_doc_value(s, 1000);
    to_text(d, out);
    fclose(out);
    assert_null(strchr(text, '#'));
    assert_non_null(strstr(text, "o 1\n"));
    assert_non_null(strstr(text, " o 1000\n"));
    free(text);
    wr_doc_free(d);
}

static void test_csv(void **state)
{
    char *text = print(wr_doc_print_csv);

    assert_non_null(strstr(text, "\n,summary,,,,1 of 2 hold.,,,\n"));
    assert_non_null(strstr(text, "\n,headline,K4000 waits,,,3 %,,,\n"));
    assert_non_null(
        strstr(text, "\nFigure <4>,verdict,holds,,,It is 2.5 times.,,,\n"));
    assert_non_null(strstr(text, "\nFigure <4>,lead,,,,Do threads help?,,,\n"
                                 "Figure <4>,claim,,,,Threads help.,,,\n"));
    assert_non_null(strstr(text, "\nFigure <4>,chart,hdd,here,1,40,,,\n"
                                 "Figure <4>,chart,hdd,here,2,80,,70,90\n"));
    assert_non_null(strstr(text, "\nFigure <4>,band,time,run 2,5,9,,,\n"));
    free(text);
}

static void test_json(void **state)
{
    char *text = print(to_json);
    json_t *j = json_loads(text, 0, NULL);
    const char *summary, *label, *verdict, *role;
    double low;
    json_t *charts, *bands;

    assert_int_equal(
        json_unpack(j, "{s:[s,s], s:[{s:s}], s:[{s:{s:s}, s:o}, {}]}",
                    "summary", &summary, &role, "headlines", "label", &label,
                    "sections", "verdict", "text", &verdict, "charts", &charts),
        0);
    assert_string_equal(summary, "1 of 2 hold.");
    assert_string_equal(label, "K4000 waits");
    assert_string_equal(verdict, "holds");
    assert_int_equal(json_array_size(charts), 2); /* none that is empty */
    assert_int_equal(json_unpack(charts, "[{s:[{s:[n,F]},{s:s},{}]}, {s:o}]",
                                 "series", "low", &low, "role", &role, "bands",
                                 &bands),
                     0);
    assert_true(low == 70);
    assert_string_equal(role, "reference");
    assert_int_equal(json_array_size(bands), 2);
    json_decref(j);
    free(text);
}

static void test_html(void **state)
{
    struct wr_doc *d;
    char *text = NULL;
    size_t size;
    FILE *out;

    if (wr_doc_html_missing())
        skip();
    d = make();
    out = open_memstream(&text, &size);
    assert_int_equal(wr_doc_print_html(d, out, NULL), 0);
    fclose(out);
    assert_non_null(strstr(text, "<p class=\"summary\">1 of 2 hold. That is "
                                 "all.</p>"));
    assert_non_null(strstr(text, "<dt>K4000 waits</dt><dd>3 %</dd>"));
    assert_non_null(strstr(text, "<a href=\"#s1\">Figure &lt;4&gt;</a>"));
    assert_non_null(strstr(text, "<strong class=\"verdict good\">holds</"));
    assert_non_null(
        strstr(text, "<strong>Here:</strong> It is 2.5 times.</p>"));
    assert_non_null(strstr(text, "<p class=\"lead\">Do threads help?</p>"));
    assert_non_null(strstr(text, "\"y\":[40,80],\"low\":[null,70],"
                                 "\"high\":[null,90]}"));
    assert_non_null(strstr(text, "\"y\":[50,100],\"role\":\"reference\"}"));
    assert_non_null(strstr(text, "\"role\":\"ceiling\"}"));
    assert_non_null(strstr(text, "\"bands\":[{\"from\":0,\"to\":4,\"name\":"
                                 "\"run \\u003c1\\u003e\"}"));
    assert_non_null(strstr(text, "<i class=\"hatch h0\"></i>paper"));
    assert_non_null(strstr(text, "<i class=\"ceiling\"></i>limit"));
    assert_null(strstr(text, "<h3>empty"));
    free(text);
    wr_doc_free(d);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* More series than colours make more charts with the same axis. */
static void test_colours(void **state)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_chart *c = wr_doc_chart(
        wr_doc_section(d, ""),
        &(struct wr_doc_chart_spec){
            .kind = WR_DOC_LINES, .title = "many", .x = "x", .y = "y"});
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (wr_doc_html_missing())
        skip();
    for (unsigned i = 0; i < 11; i++)
        wr_doc_point(wr_doc_series(c, "s"), 1, i + 0.5);
    assert_int_equal(wr_doc_print_html(d, out, NULL), 0);
    fclose(out);
    assert_int_equal(count(text, "<h3>many ("), 2);
    assert_non_null(strstr(text, "<h3>many (2 of 2)</h3>"));
    assert_int_equal(count(text, "\"most\":10.5"), 2);
    assert_int_equal(count(text, "<i class=\"k0 line"), 2);
    free(text);
    wr_doc_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),    cmocka_unit_test(test_text),
        cmocka_unit_test(test_log_dots), cmocka_unit_test(test_csv),
        cmocka_unit_test(test_json),     cmocka_unit_test(test_html),
        cmocka_unit_test(test_colours),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
