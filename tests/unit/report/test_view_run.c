/* test_view_run.c - runs of workloads, as printed and as a page.
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
#include "report/result.h"
#include "report/view.h"

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

static const char run[] =
    "{\"command\":\"run\",\"host\":{\"memory_bytes\":1000000000},"
    "\"config\":{\"workload\":\"unet3d\",\"data\":\"emu:ssd:/data\","
    " \"ranks\":2,\"accelerators\":8,\"batch\":7,\"steps\":10,"
    " \"step_s\":0.5,\"au_target\":0.9,\"no_io\":false},"
    "\"demand\":{\"bytes_per_s\":1e9,\"samples_per_s\":14,"
    " \"sample_bytes\":71428571,\"dataset_bytes\":4e9},"
    "\"selftest\":{\"au\":0.999,\"overhead_us\":0.4,\"steps\":500,\"ok\":true},"
    "\"epochs\":[{\"epoch\":1,\"seconds\":6.25,\"steps\":10,\"au\":0.8,"
    "  \"au_dlio\":0.81,\"samples_per_s\":90,\"bytes_per_s\":6.4e9,"
    "  \"resident\":null,\"wait_s\":1,\"eval_s\":0,\"save_s\":0},"
    " {\"epoch\":2,\"seconds\":6.25,\"steps\":10,\"au\":0.82,"
    "  \"samples_per_s\":92,\"wait_s\":0.9}],"
    "\"result\":{\"au\":0.81234,\"meets\":false,\"samples_per_s\":91,"
    " \"bytes_per_s\":6.5e9,\"nominal_bytes_per_s\":6.5e9,\"seconds\":100,"
    " \"cpu_s_per_gb\":0.5,\"resident\":0.02,\"peak_bytes\":2e9,"
    " \"first_batch_ms\":120},"
    "\"loss\":{\"compute\":0.81,\"read\":0.12,\"barrier\":0.05,\"save\":0,"
    " \"eval\":0,\"emulator\":0.02},"
    "\"reads\":{\"count\":1200,\"p50_us\":300,\"p99_us\":38000,"
    " \"usual_bytes\":262144,\"mean_bytes\":200000,\"sequential\":0.98,"
    " \"consecutive\":0.95,\"io_share\":0.4,"
    " \"sizes\":[{\"from\":131072,\"to\":262144,\"count\":25},"
    "  {\"from\":262144,\"to\":524288,\"count\":75}],"
    " \"latencies\":[{\"from\":262144,\"to\":2097152,\"count\":4}]},"
    "\"batches\":{\"wait_p50_ms\":2,\"wait_p99_ms\":30,\"stalls\":12,"
    " \"steps\":1200},"
    "\"ranks\":[{\"rank\":0,\"host\":\"a\",\"wait_s\":3,\"barrier_s\":9},"
    " {\"rank\":7,\"host\":\"b\",\"wait_s\":11,\"barrier_s\":1}],"
    "\"saves\":[{\"step\":5,\"at_s\":3,\"bytes\":2e9,\"stall_s\":0.5,"
    " \"fast_s\":1}],"
    "\"restores\":[{\"step\":5,\"seconds\":2,\"bytes\":2e9}],"
    "\"series\":{\"t\":[1,2,3],\"wait_ms\":[10,20,900],"
    " \"step_ms\":[500,500,500],\"mb_per_s\":[5000,6000,7000],\"au\":[1,1,1]},"
    "\"seed\":{\"source\":\"a paper\",\"io_percent\":30,\"step_s\":0.6,"
    " \"request_bytes\":131072},\"search\":null}";

static void test_result(void **state)
{
    json_t *j = shown_json(run);

    has(j, "AU 81.2 %, target 90 %: no, this storage does not feed 8 "
           "accelerators of unet3d.");
    has(j, "Of 1 min 40 s, 81.0 % went to computing, 12.0 % to waiting for "
           "input (p99 of a read 38 ms), 5.0 % to waiting for the slowest "
           "accelerator (rank 7), 2.0 % to the emulator itself.");
    has(j, "They were given 6.5 GB/s of the 8.0 GB/s that they take if they "
           "never wait (91 of 112 samples/s).");
    has(j, "1,200 reads: mostly of 256 KiB, mean 195.3 KiB, 98 % sequential, "
           "95 % consecutive; latency p50 300.0 us, p99 38.0 ms; one was in "
           "flight 40 % of the time.");
    has(j, "12 of 1,200 steps waited for their batch longer than 1 % of a "
           "step; waits: p50 2.0 ms, p99 30.0 ms.");
    has(j, "2.0 % of the bytes may have come from the page cache.");
    has(j, "Reported (a paper), and measured here");
    has(j, "time with I/O");
    has(j, "625 ms"); /* a step, waits included */
    has(j, "restored step");
    has_not(j, "sequential  "); /* the source does not say */
    has_not(j, "evaluating");   /* there was no evaluation */
    has_not(j, "too slow");
    json_object_set_new(json_object_get(j, "result"), "meets", json_true());
    has(j, "yes, this storage feeds 8 accelerators");
    json_decref(j);
}

static void test_warnings(void **state)
{
    json_t *j = shown_json(run), *o;

    o = json_object_get(j, "selftest");
    json_object_set_new(o, "ok", json_false());
    json_object_set_new(o, "au", json_real(0.912));
    json_object_set_new(json_object_get(j, "result"), "resident",
                        json_real(0.41));
    has(j, "This machine is too slow to emulate it: without any reading AU is "
           "91.2 %, a step takes 0.0004 ms too long.");
    has(j, "this machine is too slow to tell whether the storage feeds 8 "
           "accelerators of unet3d.");
    json_object_set_new(json_object_get(j, "config"), "data",
                        json_string("/data")); /* no emulated device */
    has(j, "41 % of the bytes may have come from the page cache: the data set "
           "(4.0 GB) is smaller than 5 x memory (1.0 GB).");
    json_object_set_new(json_object_get(j, "demand"), "dataset_bytes",
                        json_real(6e9));
    has(j, "41 % of the bytes may have come from the page cache.");
    json_object_set_new(json_object_get(j, "config"), "no_io", json_true());
    has(j, "Nothing was read (--no-io)");
    json_decref(j);
}

static const char search[] =
    "{\"target\":0.9,\"most\":6,\"limit\":\"storage\",\"points\":["
    "{\"accelerators\":4,\"au\":0.97,\"samples_per_s\":40,\"meets\":true},"
    "{\"accelerators\":8,\"au\":0.81,\"samples_per_s\":70,\"meets\":false},"
    "{\"accelerators\":6,\"au\":0.92,\"samples_per_s\":60,\"meets\":true}]}";

static void test_search(void **state)
{
    json_t *j = shown_json(run);
    struct wr_view_record r = {
        .path = "a/run.json", .label = "run", .json = j, .alone = true};
    const struct wr_doc_chart *c;
    struct wr_doc *d;

    json_object_set_new(j, "search", shown_json(search));
    has(j, "6 accelerators of this kind can be fed (AU >= 90 %); for more the "
           "storage is too slow.");
    has(j, "With 8 accelerators: of 1 min 40 s, ");
    d = shown_page("run", &r, 1);
    assert_string_equal(d->headlines[0].text, "6");
    c = shown_chart(d, "Utilization by number of accelerators");
    assert_true(c->series[0]->x[1] == 6 && c->series[0]->y[1] == 92);
    assert_string_equal(c->series[1]->name, "target");
    assert_int_equal(c->series[1]->role, WR_DOC_REFERENCE);
    assert_true(c->series[1]->x[0] == 4 && c->series[1]->x[1] == 8);
    assert_true(c->series[1]->y[0] == 90 && c->series[1]->y[1] == 90);
    wr_doc_free(d);
    json_object_set_new(json_object_get(j, "search"), "most", json_integer(0));
    has(j, "Not even one accelerator of this kind can be fed");
    json_object_set_new(json_object_get(j, "search"), "most", json_integer(1));
    has(j, "1 accelerator of this kind can be fed");
    json_decref(j);
}

static void test_charts(void **state)
{
    json_t *j = shown_json(run);
    struct wr_view_record r = {
        .path = "a/run.json", .label = "run", .json = j, .alone = true};
    struct wr_doc *d = shown_page("run", &r, 1);
    const struct wr_doc_chart *c = shown_chart(d, "Utilization of each epoch");

    assert_string_equal(d->sections[0]->title, "Workload, emulated ssd");
    assert_true(c->series[0]->y[1] == 82 && c->series[1]->y[0] == 90);
    assert_int_equal(c->series[1]->role, WR_DOC_CEILING);
    c = shown_chart(d, "Where the time went");
    assert_int_equal(c->series_count, 4); /* what there was none of is not */
    assert_string_equal(c->series[1]->name, "waiting for input");
    assert_true(fabs(c->series[1]->y[0] - 12) < 1e-6);
    c = shown_chart(d, "Time of each step, and waiting in it");
    assert_true(c->series[0]->y[2] == 900);
    c = shown_chart(d, "What was read over time");
    assert_true(c->series[0]->y[0] == 5000 && c->series[1]->y[0] == 8000);
    c = shown_chart(d, "How long reads took");
    assert_string_equal(c->labels[0], "262 us to 2.1 ms");
    assert_true(c->series[0]->y[0] == 100);
    c = shown_chart(d, "How large reads were");
    assert_string_equal(c->labels[1], "256 KiB to 512 KiB");
    assert_true(c->series[0]->y[1] == 75);
    c = shown_chart(d, "Time that each rank lost");
    assert_string_equal(c->labels[1], "7 (b)");
    assert_true(c->series[1]->y[0] == 9);
    assert_non_null(shown_chart(d, "How long each save took"));
    assert_null(shown_find_chart(d, "Utilization by number of accelerators"));
    assert_int_equal(d->summary_count, 3);
    assert_int_equal(d->headline_count, 2);
    wr_doc_free(d);
    json_decref(j);
}

/* Two runs stand side by side, and epochs are what is compared. */
static void test_several(void **state)
{
    json_t *a = shown_json(run), *b = shown_json(run);
    struct wr_view_record r[] = {{.path = "a", .label = "A", .json = a},
                                 {.path = "b", .label = "B", .json = b}};
    struct wr_doc *d = NULL;
    struct wr_comparison c;

    json_object_set_new(json_object_get(b, "config"), "threads",
                        json_integer(9));
    d = shown_page("run", r, 2);
    assert_string_equal(d->sections[0]->title,
                        "Runs of workloads, emulated ssd");
    assert_int_equal(shown_chart(d, "Where the time went")->label_count, 2);
    assert_string_equal(
        shown_chart(d, "Utilization of each epoch")->series[1]->name, "B");
    assert_string_equal(d->summary[1],
                        "B: AU 81.2 %, target 90 %: no, this storage does not "
                        "feed 8 accelerators of unet3d.");
    wr_doc_free(d);
    assert_true(wr_compare_knows("run"));
    d = wr_doc_new("", "");
    for (size_t i = 0; i < 2; i++)
        assert_true(wr_view_record_read(&r[i]));
    wr_compare(d, r, &c);
    assert_int_equal(c.rates, 2);
    assert_int_equal(c.faster + c.slower, 0);
    wr_doc_free(d);
    for (size_t i = 0; i < 2; i++)
        wr_view_record_done(&r[i]);
    json_decref(a);
    json_decref(b);
}

static void test_odd(void **state)
{
    static const char *const odd[] = {
        "{\"command\":\"run\"}",
        "{\"command\":\"run\",\"result\":[],\"series\":3,\"epochs\":{},"
        "\"reads\":\"x\",\"ranks\":1,\"saves\":\"x\",\"search\":[],"
        "\"seed\":7,\"loss\":[],\"config\":\"x\",\"demand\":null}",
        "{\"command\":\"run\",\"epochs\":[null,{},{\"epoch\":\"x\"}],"
        "\"ranks\":[1,{}],\"saves\":[null],\"restores\":[{}],"
        "\"series\":{\"t\":[null,\"x\",1],\"wait_ms\":[1],\"mb_per_s\":[]},"
        "\"reads\":{\"count\":5,\"sizes\":[1,{},{\"from\":1,\"to\":0}],"
        "\"latencies\":[{\"from\":0,\"to\":1,\"count\":-1}]},"
        "\"search\":{\"points\":[null,{}]},\"seed\":{\"ranks\":1,"
        "\"request_bytes\":1,\"bytes_per_s\":2,\"step_s\":1},"
        "\"loss\":{\"read\":\"x\"},\"batches\":{\"stalls\":-1}}",
        "{\"command\":\"run\",\"config\":{\"accelerators\":-1e300,"
        "\"au_target\":1e300},\"reads\":{\"count\":1e300,\"p50_us\":1e300},"
        "\"batches\":{\"stalls\":1e300,\"steps\":1e300}}",
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(odd); i++) {
        json_t *j = shown_json(odd[i]);
        struct wr_view_record r = {.path = "a", .label = "A", .json = j};
        struct wr_doc *d = shown_page("run", &r, 1);

        assert_int_equal(d->summary_count, 0);
        wr_doc_free(d);
        free(print(j));
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result),  cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_search),  cmocka_unit_test(test_charts),
        cmocka_unit_test(test_several), cmocka_unit_test(test_odd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
