/* test_view_plan.c - plans, as printed and as a page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

#include "base/mem.h"
#include "report/compare.h"
#include "report/doc_private.h"
#include "report/report.h"
#include "report/result.h"
#include "report/view.h"

/* The k-th lanes of a document; NULL: there are fewer. */
static const struct wr_doc_lanes *lanes(const struct wr_doc *d, size_t k)
{
    for (size_t i = 0; i < d->section_count; i++)
        for (size_t n = 0; n < d->sections[i]->item_count; n++)
            if (d->sections[i]->items[n].lanes && !k--)
                return d->sections[i]->items[n].lanes;
    return NULL;
}

static char *print(const json_t *j)
{
    const struct wr_doc_text_style style = {.width = 80, .whole = true};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(wr_result_print(j, style, out, NULL), 0);
    fclose(out);
    return text;
}

static void has(const json_t *j, const char *part)
{
    char *text = print(j);

    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
    free(text);
}

static void has_not(const json_t *j, const char *part)
{
    char *text = print(j);

    if (strstr(text, part))
        fail_msg("'%s' in:\n%s", part, text);
    free(text);
}

static json_t *set(json_t *j, const char *object, const char *key, json_t *v)
{
    json_object_set_new(object ? json_object_get(j, object) : j, key, v);
    return j;
}

static const char plan[] =
    "{\"command\":\"plan\","
    "\"inputs\":[{\"path\":\"bench.json\",\"kind\":\"bench\"}],"
    "\"config\":{\"nodes\":1,\"accelerators\":8,\"accelerator\":\"V100\","
    " \"workers\":4},"
    "\"facts\":[{\"key\":\"step_s\",\"value\":0.2,\"source\":\"a table\","
    "  \"assumed\":false},"
    " {\"key\":\"prefetch\",\"value\":2,\"source\":\"a guess\","
    "  \"assumed\":true}],"
    "\"bounds\":{\"samples_per_s\":6200,\"limits\":["
    " {\"resource\":\"cores\",\"samples_per_s\":6200},"
    " {\"resource\":\"bandwidth\",\"samples_per_s\":9000},"
    " {\"resource\":\"accelerators\",\"samples_per_s\":9400}]},"
    "\"demand\":{\"samples_per_s\":9400,\"bytes_per_s\":1.06e9,"
    " \"opens_per_s\":9400,\"cores\":11},"
    "\"capacity\":{\"target\":0.9,\"accelerators\":23,\"unlimited\":false,"
    " \"points\":[{\"accelerators\":8,\"samples_per_s\":9000,"
    "  \"utilization\":0.98},{\"accelerators\":23,\"samples_per_s\":24000,"
    "  \"utilization\":0.905},{\"accelerators\":24,\"samples_per_s\":24000,"
    "  \"utilization\":0.881}]},"
    "\"result\":{\"seconds\":400,\"samples_per_s\":6000,"
    " \"utilization\":0.65,\"epochs\":["
    " {\"seconds\":200,\"steps\":600,\"samples_per_s\":6000,\"parts\":"
    "  {\"computing\":130,\"storage\":20,\"cores\":48,\"others\":2,"
    "   \"saves\":0}},"
    " {\"seconds\":200,\"steps\":600,\"samples_per_s\":6000,\"parts\":"
    "  {\"computing\":130,\"storage\":20,\"cores\":48,\"others\":2,"
    "   \"saves\":0}}],"
    " \"saves\":{\"count\":2,\"blocked\":1,\"stall_s\":3,\"durable_s\":12},"
    " \"lumped\":true,\"lumped_why\":\"all nodes are alike\"},"
    "\"what_if\":["
    " {\"name\":\"prefetch\",\"what\":\"keep four batches ahead\","
    "  \"samples_per_s\":6060,\"utilization\":0.66,\"epoch_s\":198,"
    "  \"gain\":1.01},"
    " {\"name\":\"workers\",\"what\":\"twice the workers\",\"how\":"
    "  \"--workers 8\",\"samples_per_s\":8400,\"utilization\":0.91,"
    "  \"epoch_s\":142,\"gain\":1.4},"
    " {\"name\":\"worse\",\"what\":\"a slow disk\",\"samples_per_s\":3000,"
    "  \"utilization\":0.33,\"epoch_s\":400,\"gain\":0.5}],"
    "\"saving\":{\"mtbf_s\":864000,\"young_s\":2277,\"daly_s\":2270,"
    " \"chosen_s\":600,\"stall_s\":3,\"restore_s\":14,\"lost_s\":330,"
    " \"waste\":0.0054,\"waste_best\":0.0029},"
    "\"life\":{\"lanes\":[\"worker 1\",\"queue\",\"V100 1\"],\"spans\":["
    " [30,65,2,1,\"compute\"],[0,10,0,1,\"read\"],[10,30,0,1,\"decode\"],"
    " [0,30,2,1,\"wait\"],[40,50,1,2,\"queued\"],[65,70,2,1,\"save\"]]},"
    "\"scale\":[{\"nodes\":1,\"samples_per_s\":100,\"utilization\":0.9},"
    " {\"nodes\":10,\"samples_per_s\":960,\"utilization\":0.86},"
    " {\"nodes\":100,\"samples_per_s\":3000,\"utilization\":0.3}],"
    "\"step_ms\":[200,201,199,900,200]}";

static const char explain[] =
    "{\"command\":\"plan\",\"inputs\":[],\"facts\":[],\"explain\":{"
    "\"cause\":\"turns\",\"period\":4,\"phase\":1,\"usual_ms\":34,"
    "\"stall_ms\":1006,\"lost_share\":0.875,\"sure\":0.9,\"load_ms\":1150,"
    "\"workers_needed\":35,\"what\":\"Every 4th batch waits\","
    "\"why\":\"Four workers take turns\",\"change\":\"More workers.\","
    "\"batches\":[917,918,919,920,921,922],"
    "\"ms\":[1040,43,89,29,1025,37]}}";

static void test_result(void **state)
{
    json_t *j = shown_json(plan);

    has(j, "8 V100 train at 6,000 samples/s and compute 65.0 % of the time.\n"
           "Of each epoch of 3 min 20 s they wait 20 s for the storage (10 %), "
           "48 s for cores that decode (24 %) and 2 s for the slowest of them "
           "and the all-reduce (1 %).\n"
           "The bottleneck is the cores that decode (6,200 samples/s at "
           "most); the next one behind it: the bandwidth of the storage "
           "(9,000).\n"
           "What is alike was simulated as one: all nodes are alike.\n");
    has(j, "change   what                gain  samples/s     AU     "
           "epoch  how\n"
           "workers  twice the workers  1.40x    8,400.0  91.0%  "
           "142.00 s  --workers 8\n"
           "worse    a slow disk        0.50x    3,000.0  33.0%  "
           "400.00 s\n");
    has(j, "Tried, and no difference: prefetch.\n");
    has(j, "To train at 9,400 samples/s without waiting, 8 V100 need 1.06 "
           "GB/s, 9,400 files/s and 11 cores of decoding.\n"
           "This storage feeds 23 V100; the 24th drops the utilization below "
           "90 % (to 88.1 %).\n"
           "It scales linearly up to 10 nodes; 100 nodes reach 30 % of "
           "that.\n"
           "2 checkpoints, each stops training for 3 s; safe on the slow tier "
           "after 12 s, 1 waited for the one before.\n"
           "Save every 37 min 57 s by Young or 37 min 50 s by Daly (a failure "
           "every 10 days); the plan saves every 10 min 0 s.\n"
           "A failure costs 5 min 30 s, 14 s of it to restore; saves and "
           "failures take 0.54 % of the time (0.29 % with Daly's interval).\n");
    has(j, "Assumed, neither given nor measured: prefetch.\n");
    has(j, "prefetch  2      assumed  a guess\n");
    has(j, "  worker 1 |----1-----=========1=========\n");
    has(j, "   10      960.0  86.0%      96.0%  knee\n");
    has_not(j, "for saves"); /* nothing waits for them */
    json_decref(j);
}

static void test_words(void **state)
{
    json_t *j = shown_json(plan), *epoch;

    set(j, "config", "nodes", json_integer(1000));
    has(j, "8,000 V100 on 1,000 nodes train at 6,000 samples/s");
    has(j, "This storage feeds 23 V100 per node;");
    set(j, "config", "nodes", json_integer(1));
    set(j, "config", "accelerators", json_integer(1));
    has(j, "1 V100 trains at 6,000 samples/s and computes");
    has(j, "it waits 20 s for the storage");
    has(j, "1 V100 needs 1.06 GB/s");
    set(j, "capacity", "accelerators", json_integer(8));
    has(j, "This storage feeds 8 V100 at a utilization of 90 % or more.");
    set(j, "capacity", "unlimited", json_true());
    has(j, "This storage feeds at least 8 V100: more were not tried.");
    set(j, "capacity", "accelerators", json_integer(0));
    has(j, "Not even one accelerator of this kind computes 90 % of the time.");
    json_object_del(j, "config");
    has(j, "The accelerators train at 6,000 samples/s");
    epoch = json_array_get(
        json_object_get(json_object_get(j, "result"), "epochs"), 1);
    json_object_set_new(epoch, "seconds", json_real(130));
    json_object_set_new(epoch, "parts", shown_json("{\"computing\":130}"));
    has(j, "Of the first epoch of 3 min 20 s they wait 20 s for the storage "
           "(10 %), 48 s for cores that decode (24 %) and 2 s for the slowest "
           "of them and the all-reduce (1 %); of the last one of 2 min 10 s "
           "for nothing.");
    set(j, NULL, "what_if", shown_json("[{\"name\":\"x\",\"gain\":1.0}]"));
    set(j, "bounds", "limits",
        shown_json("[{\"resource\":\"accelerators\",\"samples_per_s\":9400},"
                   "{\"resource\":\"a new one\",\"samples_per_s\":9900}]"));
    has(j, "The accelerators are the limit (9,400 samples/s at most): feeding "
           "them is not. The next limit is a new one (9,900).");
    json_decref(j);
}

/* An epoch of which only the first steps were simulated. */
static void test_part(void **state)
{
    json_t *j = shown_json(plan);

    set(j, "config", "epochs", json_integer(90));
    set(j, "config", "accelerator", json_string("ms=218"));
    set(j, "result", "steps", json_integer(1200));
    set(j, "result", "steps_all", json_integer(1200));
    set(j, "result", "train_s", json_real(18000));
    has(j, "8 accelerators train at 6,000 samples/s");
    has(j, "All 90 epochs take 5 h 0 min.\n");
    set(j, "result", "steps_all", json_integer(5004));
    has_not(j, "first 1,200"); /* how long an epoch takes is not known */
    set(j, "result", "epoch_s", json_real(400));
    has(j, "Of each epoch of 6 min 40 s they wait 40 s for the storage (10 %), "
           "96 s for cores that decode (24 %)");
    has(j, "\nAs far as it was simulated\nepoch");
    has(j, "All 90 epochs take 5 h 0 min. The first 1,200 of 5,004 steps were "
           "simulated.\n");
    json_decref(j);
}

/* Without saves the lane of saves goes. */
static void test_lanes(void **state)
{
    json_t *j = shown_json(plan);
    struct wr_view_record r = {
        .path = "a", .label = "A", .json = j, .alone = true};
    struct wr_doc *d;

    set(j, NULL, "life",
        shown_json("{\"lanes\":[\"worker 1\",\"queue\",\"GPU\",\"saves\"],"
                   "\"spans\":[[0,5,2,0,\"wait\"]]}"));
    d = shown_page("plan", &r, 1);
    assert_int_equal(lanes(d, 0)->lane_count, 3);
    wr_doc_free(d);
    json_decref(j);
}

/* What the top of the page says of the changes. */
static void best_is(json_t *j, const char *text)
{
    struct wr_view_record r = {.path = "a", .label = "A", .json = j};
    struct wr_doc *d = shown_page("plan", &r, 1);
    const char *last = d->summary_count ? d->summary[d->summary_count - 1] : "";

    assert_string_equal(last, text);
    wr_doc_free(d);
}

static void test_best(void **state)
{
    json_t *j = shown_json(plan);

    best_is(j, "What would help most: twice the workers (1.4 times the "
               "samples/s).");
    set(j, NULL, "what_if", shown_json("[{\"name\":\"x\",\"gain\":1.0}]"));
    best_is(j, "No change that was tried makes it faster.");
    json_object_del(j, "what_if");
    json_object_del(j, "bounds");
    json_object_del(j, "result");
    best_is(j, "");
    json_decref(j);
}

/* The last point within 95 % of linear scaling, unless it is the last one, is
 * marked; it stands in the table. */
static void knee_is(json_t *j, const char *row, size_t marks)
{
    struct wr_view_record r = {.path = "a", .label = "A", .json = j};
    struct wr_doc *d = shown_page("plan", &r, 1);
    const struct wr_doc_chart *c = shown_chart(d,
                                               "Throughput by number of nodes");

    assert_int_equal(c->series[0]->marks, marks);
    has(j, row);
    wr_doc_free(d);
}

static void test_knee(void **state)
{
    json_t *j = shown_json(plan);

    knee_is(j, "   10      960.0  86.0%      96.0%  knee\n", 1);
    set(j, NULL, "scale",
        shown_json("[{\"nodes\":1,\"samples_per_s\":100},"
                   "{\"nodes\":2,\"samples_per_s\":150}]"));
    knee_is(j, "    1      100.0   -     100.0%  knee\n", 1);
    has(j, "It scales linearly up to 1 node; 2 nodes reach 75 % of that.\n");
    set(j, NULL, "scale",
        shown_json("[{\"nodes\":4,\"samples_per_s\":100},"
                   "{\"nodes\":8,\"samples_per_s\":190}]"));
    knee_is(j, "    8      190.0   -      95.0%  knee\n", 0);
    has(j, "It scales linearly up to 8 nodes: more were not tried.\n");
    set(j, NULL, "scale", shown_json("[{\"nodes\":4}]"));
    has_not(j, "It scales");
    json_decref(j);
}

static void test_charts(void **state)
{
    json_t *j = shown_json(plan);
    struct wr_view_record r = {
        .path = "a/plan.json", .label = "plan", .json = j, .alone = true};
    struct wr_doc *d = shown_page("plan", &r, 1);
    const struct wr_doc_chart *c = shown_chart(
        d, "Where the time of each epoch goes");

    assert_int_equal(d->summary_count, 4);
    assert_string_equal(d->headlines[0].text, "6,000");
    assert_string_equal(d->headlines[2].text, "23");
    assert_true(c->series[2]->y[0] == 48 && c->label_count == 2);
    c = shown_chart(d, "What each resource could do alone");
    assert_string_equal(c->labels[1], "the bandwidth of the storage");
    assert_true(c->series[0]->y[1] == 9000 && !c->log_y);
    c = shown_chart(d, "Time of each step");
    assert_int_equal(c->series[0]->marks, 1);
    assert_true(c->series[0]->marked[3]);
    c = shown_chart(d, "What if: samples per second with each change");
    assert_string_equal(c->labels[0], "as it is");
    assert_string_equal(c->labels[1], "twice the workers");
    assert_true(c->series[1]->y[0] == 6000 && c->series[0]->y[1] == 8400);
    assert_int_equal(c->series[1]->role, WR_DOC_REFERENCE);
    c = shown_chart(d, "Utilization by number of accelerators");
    assert_true(c->series[0]->marked[1] && c->series[0]->marks == 1);
    assert_true(c->series[1]->y[0] == 90 && c->series[1]->x[1] == 24);
    c = shown_chart(d, "Throughput by number of nodes");
    assert_true(c->series[0]->marked[1] && c->series[0]->marks == 1);
    assert_true(c->series[1]->y[2] == 10000 && c->log_x && c->log_y);
    assert_null(shown_find_chart(d, "Time of each batch, as it was seen"));
    wr_doc_free(d);
    json_decref(j);
}

/* Spans come in any order; kinds that are not known are left out. */
static void test_life(void **state)
{
    json_t *j = shown_json(plan);
    struct wr_view_record r = {
        .path = "a/plan.json", .label = "plan", .json = j, .alone = true};
    struct wr_doc *d = shown_page("plan", &r, 1);
    const struct wr_doc_lanes *l = lanes(d, 0);

    assert_non_null(l);
    assert_int_equal(l->lane_count, 3);
    assert_string_equal(l->names[2], "V100 1");
    assert_int_equal(l->span_count, 6);
    assert_true(l->spans[0].to == 10 && l->spans[0].lane == 0);
    assert_int_equal(l->spans[0].look, WR_DOC_LOOK_DOTTED);
    assert_int_equal(l->spans[1].look, WR_DOC_LOOK_HATCHED);
    assert_string_equal(l->looks[WR_DOC_LOOK_HATCHED], "waiting");
    assert_true(l->spans[5].number == 1);
    wr_doc_free(d);
    json_decref(j);
}

static void test_explain(void **state)
{
    json_t *j = shown_json(explain);
    struct wr_view_record r = {
        .path = "a/plan.json", .label = "plan", .json = j, .alone = true};
    struct wr_doc *d = shown_page("plan", &r, 1);
    const struct wr_doc_chart *c = shown_chart(
        d, "Time of each batch, as it was seen");

    has(j, "Every 4th batch waits. Four workers take turns.\n"
           "What would remove it: More workers.\n");
    assert_int_equal(d->section_count, 1); /* nothing was planned */
    assert_int_equal(d->summary_count, 2);
    assert_string_equal(d->headlines[0].text, "87.5 %");
    assert_int_equal(c->series[0]->marks, 2);
    assert_true(c->series[0]->marked[0] && c->series[0]->marked[4]);
    wr_doc_free(d);
    /* Without a period what is far above the usual is a stall. */
    set(j, "explain", "period", json_integer(0));
    d = shown_page("plan", &r, 1);
    c = shown_chart(d, "Time of each batch, as it was seen");
    assert_int_equal(c->series[0]->marks, 2);
    wr_doc_free(d);
    json_decref(j);
}

/* Several stand side by side, on the same axis; they are never compared as
 * measurements are. */
static void test_several(void **state)
{
    json_t *a = shown_json(plan), *b = shown_json(plan);
    struct wr_view_record r[] = {{.path = "a", .label = "A", .json = a},
                                 {.path = "b", .label = "B", .json = b}};
    const struct wr_report_spec spec = {.paths = (const char *[]){"a", "b"},
                                        .records = (const json_t *[]){a, b},
                                        .count = 2,
                                        .title = "",
                                        .compare = true};
    struct wr_doc *d = NULL;
    struct wr_comparison c;
    weir_err err = {0};

    set(b, NULL, "facts",
        shown_json("[{\"key\":\"step_s\",\"value\":0.3},"
                   "{\"key\":\"prefetch\",\"value\":2}]"));
    set(b, NULL, "life",
        shown_json("{\"lanes\":[\"x\"],\"spans\":[[0,500,0,1,\"compute\"]]}"));
    d = shown_page("plan", r, 2);
    assert_string_equal(d->sections[0]->title, "Plans side by side");
    assert_string_equal(d->summary[1], "B: 8 V100 train at 6,000 samples/s and "
                                       "compute 65.0 % of the time.");
    assert_int_equal(d->headline_count, 2);
    assert_true(
        shown_chart(d, "Samples per second of each plan")->series[0]->y[1] ==
        6000);
    assert_true(lanes(d, 0)->most == 500 && lanes(d, 1)->most == 500);
    assert_string_equal(lanes(d, 1)->title, "The life of a batch: B");
    assert_null(lanes(d, 2));
    for (size_t i = 0; i < d->sections[0]->item_count; i++) {
        const struct wr_doc_table *t = d->sections[0]->items[i].table;

        if (t && !strcmp(t->title, "What differs in the plans")) {
            assert_int_equal(t->cell_count, 6); /* the step alone */
            assert_string_equal(t->cells[0].text, "step_s");
            assert_string_equal(t->cells[5].text, "0.3");
        }
    }
    wr_doc_free(d);
    d = NULL;
    assert_false(wr_compare_knows("plan"));
    assert_int_equal(wr_report(&spec, &d, &c, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "records of 'weir plan' are not compared"));
    json_decref(a);
    json_decref(b);
}

static const char *const odd[] = {
    "{\"command\":\"plan\"}",
    "{\"command\":\"plan\",\"result\":[],\"life\":3,\"facts\":{},"
    "\"bounds\":\"x\",\"what_if\":1,\"saving\":\"x\",\"capacity\":[],"
    "\"scale\":7,\"explain\":[],\"config\":\"x\",\"demand\":null,"
    "\"inputs\":{},\"step_ms\":\"x\"}",
    "{\"command\":\"plan\",\"result\":{\"epochs\":[null,{},{\"seconds\":\"x\"},"
    "{\"seconds\":0,\"parts\":[]}],\"saves\":[]},\"what_if\":[null,{},"
    "{\"gain\":\"x\"},{\"gain\":-1},{\"name\":1,\"gain\":1e300}],"
    "\"facts\":[null,{},{\"key\":1,\"value\":[]}],\"scale\":[null,{},"
    "{\"nodes\":0,\"samples_per_s\":0}],\"capacity\":{\"points\":[null,{}],"
    "\"accelerators\":\"x\"},\"bounds\":{\"limits\":[null,{},"
    "{\"resource\":\"x\"},{\"samples_per_s\":-1,\"resource\":\"y\"}]},"
    "\"step_ms\":[null,\"x\",{}],\"inputs\":[null,{}],\"life\":{\"lanes\":"
    "[null,\"a\"],\"spans\":[null,[],[1],[0,1,-1,0,\"read\"],"
    "[0,1,1e300,0,\"read\"],[1,0,0,0,\"read\"],[0,1,0,\"x\",\"wait\"],"
    "[0,1,0,0,7],[0,1,0,0,\"dance\"],[null,1,0,0,\"read\"]]}}",
    "{\"command\":\"plan\",\"life\":{\"lanes\":[\"a\"],\"spans\":"
    "[[-1e300,1e300,0,1e300,\"read\"],[0,1e-300,0,-5,\"wait\"]]},"
    "\"capacity\":{\"accelerators\":1e300,\"points\":[{\"accelerators\":"
    "1e300,\"utilization\":1e300}]},\"scale\":[{\"nodes\":1e-300,"
    "\"samples_per_s\":1e300},{\"nodes\":1e300,\"samples_per_s\":1e-300}],"
    "\"explain\":{\"period\":1e300,\"phase\":-1,\"sure\":1e300,"
    "\"batches\":[1e300,-1],\"ms\":[1e300,1],\"workers_needed\":1e300},"
    "\"saving\":{\"young_s\":1e300,\"lost_s\":1e300,\"waste\":1e300},"
    "\"demand\":{\"bytes_per_s\":1e300,\"cores\":1e-300}}",
};

static void test_odd(void **state)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(odd); i++) {
        json_t *j = shown_json(odd[i]);
        struct wr_view_record r[] = {{.path = "a", .label = "A", .json = j},
                                     {.path = "b", .label = "B", .json = j}};

        wr_doc_free(shown_page("plan", r, 1));
        wr_doc_free(shown_page("plan", r, 2));
        free(print(j));
        json_decref(j);
    }
}

/* Every value of a plan replaced by every other type; a record of another command
 * has another view. */
static void replace(json_t *root, json_t *at)
{
    static const char *const values[] = {"null",  "true", "-1",       "1e300",
                                         "\"x\"", "[]",   "{\"x\":1}"};
    struct wr_view_record r[] = {
        {.path = "a", .label = "A", .json = root, .alone = true},
        {.path = "b", .label = "B", .json = root}};
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(at, next, key, value)
    {
        if (!strcmp(key, "command"))
            continue;
        json_incref(value);
        for (size_t i = 0; i < WR_ARRAY_LEN(values); i++) {
            json_object_set_new(at, key,
                                json_loads(values[i], JSON_DECODE_ANY, NULL));
            wr_doc_free(shown_page("plan", r, 1));
            wr_doc_free(shown_page("plan", r, 2));
            free(print(root));
        }
        json_object_set_new(at, key, value);
        replace(root, json_is_array(value) ? json_array_get(value, 0) : value);
    }
}

static void test_any_type(void **state)
{
    json_t *j = shown_json(plan), *e = shown_json(explain);

    replace(j, j);
    replace(e, e);
    json_decref(j);
    json_decref(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_best),    cmocka_unit_test(test_part),
        cmocka_unit_test(test_lanes),   cmocka_unit_test(test_knee),
        cmocka_unit_test(test_charts),  cmocka_unit_test(test_life),
        cmocka_unit_test(test_explain), cmocka_unit_test(test_several),
        cmocka_unit_test(test_odd),     cmocka_unit_test(test_any_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
