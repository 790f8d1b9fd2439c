/* test_view_study.c - the page of a study: figures, verdicts, odd records.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/doc_private.h"
#include "report/view.h"
#include "report/say.h"

static struct wr_doc *show(const char *record, json_t **ret)
{
    struct wr_doc *d = wr_doc_new("", "");
    json_error_t error;
    struct wr_view_record r = {
        .path = "a/study.json", .label = "study", .json = NULL, .alone = true};

    *ret = json_loads(record, 0, &error);
    if (!*ret)
        fail_msg("line %d: %s", error.line, error.text);
    r.json = *ret;
    assert_true(wr_view_record_read(&r));
    wr_view_find("study")->summarize(d, &r, 1, 4);
    wr_view_build(wr_view_find("study"), d, &r, 1);
    wr_view_record_done(&r);
    assert_false(wr_doc_failed(d));
    return d;
}

static const char record[] =
    "{\"command\":\"study\",\"mode\":\"quick\",\"seconds\":262,\"repeat\":6,"
    "\"warm_up_runs\":1,\"data\":{\"pictures\":256},\"figures\":["
    "{\"id\":\"fig4\",\"title\":\"Threads\",\"question\":\"Do they help?\","
    " \"unit\":\"images/s\",\"x\":\"threads\",\"verdict\":\"holds\","
    " \"calibration\":true,\"conclusion\":\"They do.\",\"why\":\"2 times.\","
    " \"parts\":[{\"title\":\"hdd\",\"labels\":[\"1\",2,\"4\"],\"series\":["
    "  {\"name\":\"here\",\"role\":\"measured\",\"values\":["
    "   {\"median\":10,\"low\":9,\"high\":12,\"limit\":\"device\"},"
    "   {\"median\":20,\"limit\":\"cores\"},"
    "   {\"median\":20,\"limit\":\"cores\"}]},"
    "  {\"name\":\"paper\",\"role\":\"reference\",\"values\":[11,null,30]},"
    "  {\"name\":\"most\",\"role\":\"ceiling\",\"values\":[12]}]}]},"
    "{\"title\":\"Over time\",\"verdict\":\"does not hold\",\"why\":\"No.\","
    " \"lines\":[{\"title\":\"hdd\",\"x\":\"s\",\"y\":\"MB/s\",\"series\":["
    "   {\"name\":\"read\",\"x\":[0,1,2],\"y\":[1,90,3]}],"
    "   \"bands\":[{\"from\":0,\"to\":2,\"name\":\"run\"}]},"
    "  {\"title\":\"ssd\",\"x\":\"s\",\"y\":\"MB/s\",\"series\":["
    "   {\"name\":\"read\",\"x\":[0,1],\"y\":[1,8]}]}]},"
    "{\"id\":\"table1\",\"verdict\":\"cannot be seen here\",\"why\":\"One.\","
    " \"table\":{\"columns\":\"<device|>MB/s|>write\","
    "  \"rows\":[[\"hdd\",163.25],[\"ssd\",null,5,6],7]}}]}";

static void test_figures(void **state)
{
    json_t *j;
    struct wr_doc *d = show(record, &j);
    const struct wr_doc_section *s = d->sections[0];
    const struct wr_doc_chart *c = s->items[0].chart;

    assert_int_equal(d->section_count, 4); /* and how it was made */
    assert_string_equal(s->lead, "Do they help?");
    assert_string_equal(s->claim, "The paper: They do.");
    assert_string_equal(s->verdict, "holds, by calibration");
    assert_int_equal(s->tone, WR_DOC_GOOD);
    assert_string_equal(c->title, "hdd");
    assert_string_equal(c->labels[1], "2");
    assert_string_equal(c->note, "Limited by device at 1; cores at 2, 4.");
    assert_int_equal(c->series[0]->role, WR_DOC_MEASURED);
    assert_true(wr_doc_low(c->series[0], 0) == 9);
    assert_true(isnan(wr_doc_low(c->series[0], 1)));
    assert_int_equal(c->series[1]->role, WR_DOC_REFERENCE);
    assert_true(isnan(c->series[1]->y[1]) && c->series[1]->y[2] == 30);
    assert_int_equal(c->series[2]->role, WR_DOC_CEILING);
    assert_true(isnan(c->series[2]->y[2]));
    s = d->sections[1];
    assert_int_equal(s->tone, WR_DOC_BAD);
    assert_int_equal(s->items[0].chart->band_count, 1);
    assert_true(s->items[1].chart->most == 90); /* both have the same axis */
    s = d->sections[2];
    assert_string_equal(s->title, "table1");
    assert_int_equal(s->tone, WR_DOC_PLAIN);
    assert_int_equal(s->items[0].table->cell_count, 9);
    assert_string_equal(s->items[0].table->cells[1].text, "163.2");
    assert_string_equal(s->items[0].table->cells[5].text, "5");
    wr_doc_free(d);
    json_decref(j);
}

static void test_summary(void **state)
{
    json_t *j;
    struct wr_doc *d = show(record, &j);

    assert_int_equal(d->summary_count, 4);
    assert_string_equal(d->summary[0],
                        "Of 3 conclusions of the paper 1 holds here, 1 does "
                        "not, and 1 cannot be seen on this machine.");
    assert_non_null(strstr(d->summary[1], "1 of those that hold is calib"));
    assert_string_equal(d->summary[2], "What does not hold: Over time.");
    assert_string_equal(d->summary[3],
                        "Measured here: medians of 5 runs, mode quick, in 4 "
                        "min 22 s.");
    assert_int_equal(d->headline_count, 4);
    assert_string_equal(d->headlines[0].text, "1 of 3");
    wr_doc_free(d);
    json_decref(j);
}

/* Whatever a record holds is borne, and nothing of it is lost silently. */
static void test_odd(void **state)
{
    static const char *const odd[] = {
        "{\"command\":\"study\"}",
        "{\"command\":\"study\",\"figures\":[]}",
        "{\"command\":\"study\",\"figures\":{}}",
        "{\"command\":\"study\",\"figures\":[1,null,{},[]]}",
        "{\"command\":\"study\",\"figures\":[{\"parts\":3,\"lines\":\"x\","
        "\"table\":[]}]}",
        "{\"command\":\"study\",\"figures\":[{\"parts\":[1,{\"labels\":3,"
        "\"series\":[4]}],"
        "\"lines\":[null,{\"series\":[{\"x\":[1],\"y\":{}}],\"bands\":[1]}],"
        "\"table\":{\"columns\":\"|||\",\"rows\":[1,[]]}}],\"data\":[],"
        "\"seconds\":-1,\"repeat\":\"x\"}",
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        json_t *j;
        struct wr_doc *d = show(odd[i], &j);

        assert_true(d->section_count > 0);
        assert_int_equal(d->summary_count, 0);
        wr_doc_free(d);
        json_decref(j);
    }
}

static void test_words(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0.00042, "0.42 ms"},  {3.21, "3.21 s"}, {262, "4 min 22 s"},
                 {12000, "3 h 20 min"}, {NAN, "-"},       {-1, "-"}};
    char buf[64] = "";

    wr_say(buf, sizeof(buf), "%d", 1);
    wr_say(buf, sizeof(buf), "%s", "two");
    assert_string_equal(buf, "1, two");
    wr_say(buf, 9, "%s", "does not fit");
    assert_string_equal(buf, "1, two, ");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_string_equal(wr_say_time(times[i].seconds, buf, sizeof(buf)),
                            times[i].text);
    assert_string_equal(wr_say_number(1234.5, buf, sizeof(buf)), "1,234");
    assert_string_equal(wr_say_number(0.04217, buf, sizeof(buf)), "0.0422");
    assert_string_equal(wr_say_number(-123.4, buf, sizeof(buf)), "-123");
    assert_string_equal(wr_say_number(INFINITY, buf, sizeof(buf)), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
