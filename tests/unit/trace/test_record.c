/* test_record.c - unit tests of trace/record.c: an analysis as a record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/trace.h"
#include "trace/record.h"

/* The record of the trace, and its values; both are the caller's. */
static json_t *record_of(const struct result *r, bool brief,
                         struct wr_trace_values *v)
{
    json_t *record = NULL;
    weir_err err;

    if (wr_trace_record_load(r->m.path, NULL, brief, &record, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(wr_vals_read(&wr_trace_vals, record, v));
    return record;
}

static void done(json_t *record, struct wr_trace_values *v)
{
    wr_vals_done(&wr_trace_vals, v);
    json_decref(record);
}

/* 400 files of 100 KB, three times, in batches of 20. */
static void test_data_set(void **state)
{
    struct wr_trace_values v;
    struct result r;
    json_t *record;

    result_run(&r, &script_plain);
    record = record_of(&r, false, &v);
    assert_string_equal(json_string_value(json_object_get(record, "command")),
                        "trace");
    assert_string_equal(json_string_value(json_object_get(record, "time")),
                        "2023-11-14T22:13:20Z");
    assert_string_equal(v.run.program, "python3 train.py");
    assert_string_equal(v.run.damage, "");
    assert_true(v.run.processes == 1 && v.run.mains == 1);
    assert_true(v.run.merged == 0 && v.run.left_out == 0);
    assert_near(v.run.seconds, (double)r.a->end_ns * 1e-9, 1e-9);
    assert_true(v.data_set.files == 400);
    assert_true(v.data_set.file_bytes == 40 * MB);
    assert_true(v.data_set.read_bytes == 120 * MB);
    assert_true(v.data_set.unique_bytes == 40 * MB);
    assert_true(v.data_set.reads == 1200 && v.data_set.opens == 1200);
    assert_true(v.data_set.sequential == 1200);
    assert_true(v.data_set.read_once == 0);
    assert_near(v.data_set.read_s, 1200 * 200e-6, 1e-9);
    assert_string_equal(v.data_set.access,
                        "many files, read one request behind the other");
    assert_int_equal(v.data_set.common.count, 1);
    {
        const struct wr_trace_common_values *c = v.data_set.common.v;

        assert_true(c->bytes == 100 * KB && c->count == 1200);
    }
    assert_int_equal(v.epochs.count, 3);
    for (size_t k = 0; k < 3; k++) {
        const struct wr_trace_epoch_values *e = wr_list_at(&v.epochs, k);

        assert_true(e->files == 400 && e->reads == 400);
        assert_true(e->to_s > e->from_s);
    }
    done(record, &v);
    result_done(&r);
}

/* What is not known of devices and memory is null, not 0. */
static void test_unknown(void **state)
{
    struct wr_trace_values v;
    struct result r;
    json_t *record, *set;

    result_run(&r, &script_plain);
    record = record_of(&r, false, &v);
    set = json_object_get(record, "data_set");
    assert_true(json_is_null(json_object_get(set, "device_bytes")));
    assert_true(isnan(v.data_set.device_bytes));
    assert_true(isnan(v.data_set.resident_of));
    done(record, &v);
    result_done(&r);
}

static void test_requests(void **state)
{
    const struct wr_trace_latency_values *l;
    const struct wr_trace_size_values *s = NULL;
    struct wr_trace_values v;
    struct result r;
    json_t *record;
    double calls = 0;

    result_run(&r, &script_plain);
    record = record_of(&r, false, &v);
    assert_true(v.read_sizes.count == WR_TRACE_SIZES);
    for (size_t k = 0; k < v.read_sizes.count; k++) {
        s = wr_list_at(&v.read_sizes, k);
        assert_true(s->count == (s->to_bytes == 100 << 10 ? 1200 : 0));
    }
    assert_true(isnan(s->to_bytes)); /* all that are larger */
    l = v.latencies.v;
    assert_string_equal(l->call, "read (data set)");
    assert_true(l->count == 1200);
    assert_near(l->p50_s, 200e-6, 0.1);
    assert_near(l->total_s, 0.24, 1e-6);
    for (size_t k = 0; k < json_array_size(l->below); k++)
        calls += json_number_value(
            json_array_get(json_array_get(l->below, k), 1));
    assert_true(calls == 1200);
    for (size_t k = 0; k < v.latencies.count; k++) { /* no calls, no row */
        l = wr_list_at(&v.latencies, k);
        assert_true(l->count > 0);
        assert_string_not_equal(l->call, "write");
    }
    done(record, &v);
    result_done(&r);
}

/* Sums over time are what was done; a thread is there as long as it is seen. */
static void test_time(void **state)
{
    const struct wr_trace_lane_values *lane;
    struct wr_trace_values v;
    struct result r;
    json_t *record;
    double bytes = 0, reads = 0, step, last;
    size_t n;

    result_run(&r, &script_fine);
    record = record_of(&r, false, &v);
    n = json_array_size(v.over_time.at_s);
    assert_true(n > 1 && n <= 400);
    step = json_number_value(json_array_get(v.over_time.at_s, 1));
    /* the end of the last one is that of the last call, or of the run */
    last = fmin((double)(r.a->bin_count * r.a->bin_ns) * 1e-9, v.run.seconds) -
           step * (double)(n - 1);
    for (size_t k = 0; k < n; k++) {
        double t = k + 1 < n ? step : fmax(last, (double)r.a->bin_ns * 1e-9);

        bytes += t * json_number_value(
                         json_array_get(v.over_time.read_bytes_per_s, k));
        reads += t *
                 json_number_value(json_array_get(v.over_time.reads_per_s, k));
    }
    assert_near(bytes, 120e6, 1e-6);
    assert_near(reads, 1200, 1e-6);
    assert_true(v.lanes.list.count >= 4);
    for (size_t k = 0; k < v.lanes.list.count; k++) {
        lane = wr_list_at(&v.lanes.list, k);
        assert_true(lane->pid >= 1000 && isnan(lane->rank));
        assert_true(json_array_size(lane->busy) > 0);
    }
    assert_true(v.read_heat.levels.count > 0);
    done(record, &v);
    record = record_of(&r, true, &v); /* brief: without these */
    assert_int_equal(v.lanes.list.count, 0);
    assert_int_equal(v.read_heat.levels.count, 0);
    assert_int_equal(v.epochs.count, 3);
    done(record, &v);
    result_done(&r);
}

static void test_findings(void **state)
{
    const struct wr_trace_finding_values *f;
    struct wr_trace_values v;
    struct result r;
    json_t *record;

    result_run(&r, &script_plain);
    record = record_of(&r, true, &v);
    assert_int_equal(v.findings.count, r.found.count);
    assert_true(r.found.count > 0);
    for (size_t k = 0; k < r.found.count; k++) {
        const struct wr_trace_finding *own = &r.found.list[k];

        f = wr_list_at(&v.findings, k);
        assert_string_equal(f->code, own->rule->code);
        assert_string_equal(f->title, own->rule->title);
        assert_string_equal(f->what, own->what);
        assert_string_equal(f->change, own->change);
        assert_near(f->seconds + 1, own->seconds + 1, 1e-9);
        assert_int_equal(f->examples.count, own->example_count);
        for (size_t i = 0; i < own->example_count; i++) {
            const struct wr_trace_example_values *e = wr_list_at(&f->examples,
                                                                 i);

            assert_string_equal(e->detail, own->examples[i].detail);
            assert_near(e->at_s + 1, (double)own->examples[i].at_ns * 1e-9 + 1,
                        1e-9);
        }
    }
    done(record, &v);
    result_done(&r);
    result_run(&r, &script_fine);
    record = record_of(&r, true, &v);
    assert_int_equal(v.findings.count, 0);
    done(record, &v);
    result_done(&r);
}

/* What makes numbers less than they seem. */
static void test_reservations(void **state)
{
    struct wr_trace_values v;
    struct result r;
    json_t *record;

    result_begin(&r, &script_plain);
    r.m.info.lost_records = 17;
    r.m.info.merged = 4;
    r.m.info.monitor = "{\"monitor\": {\"hz\": 10}, \"host\": 3}";
    r.m.processes[0].lost_events = 9000;
    maker_again(&r.m, 0);
    result_finish(&r);
    record = record_of(&r, true, &v);
    assert_true(v.run.lost_events == 9000);
    assert_true(v.run.lost_records == 17);
    assert_true(v.run.merged == 4);
    assert_true(json_is_object(json_object_get(record, "monitor")));
    assert_true(json_is_object(json_object_get(record, "host"))); /* its own */
    done(record, &v);
    result_done(&r);
}

static void test_ranks(void **state)
{
    struct script s = script_plain;
    struct wr_trace_values v;
    struct result r;
    json_t *record;

    s.ranks = 4;
    result_run(&r, &s);
    record = record_of(&r, true, &v);
    assert_true(v.run.ranks == 4 && v.data_set.shared_files == 0);
    assert_string_equal(v.data_set.access,
                        "each rank has files of its own, read one request "
                        "behind the other; 30.0 to 30.0 MB per rank");
    done(record, &v);
    result_done(&r);
    s.same = true;
    result_run(&r, &s);
    record = record_of(&r, true, &v);
    assert_true(v.data_set.shared_files == 400);
    assert_non_null(strstr(v.data_set.access,
                           "ranks share files and read the same places, "));
    done(record, &v);
    result_done(&r);
}

/* Order and sharing that a script cannot have are told from the sums. */
static void test_access(void **state)
{
    struct script s = script_plain;
    struct result r;
    char text[160];

    s.ranks = 4;
    s.same = true;
    result_run(&r, &s);
    r.a->same_bytes = 0;
    r.a->set_sequential = r.a->set_consecutive = 0;
    assert_non_null(
        strstr(wr_trace_access_text(r.a, text, sizeof(text)),
               "ranks share files and read different places, read here and "
               "there;"));
    r.a->set_sequential = r.a->set_reads;
    assert_non_null(strstr(wr_trace_access_text(r.a, text, sizeof(text)),
                           "read forwards with gaps;"));
    result_done(&r);
}

/* Rows of phases, epochs and saves that grow with the run are cut, and
 * counted. */
static void test_long_lists(void **state)
{
    const struct wr_trace_save_values *save;
    struct wr_trace_values v;
    struct result r;
    uint32_t file;
    json_t *record;

    result_begin(&r, &script_plain);
    file = maker_kind(&r.m, WR_TRACE_DATA,
                      "/out/\xff"
                      "model");
    for (uint64_t k = 0; k < 520; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = file,
                                                  .offset = k * MB,
                                                  .bytes = MB,
                                                  .start_ns = k * 2000 * MS,
                                                  .dur_ns = MS});
    result_finish(&r);
    assert_int_equal(r.a->save_count, 520);
    record = record_of(&r, true, &v);
    assert_int_equal(v.saves.count, 500);
    assert_true(v.run.left_out >= 20);
    save = wr_list_at(&v.saves, 1);
    assert_true(save->bytes == MB && save->waits);
    assert_near(save->from_s, 2, 1e-6);
    assert_string_equal(save->path, "/out/\\xffmodel"); /* of no text */
    done(record, &v);
    result_done(&r);
}

static void test_no_trace(void **state)
{
    json_t *record = NULL;
    weir_err err;

    assert_int_equal(
        wr_trace_record_load("/nosuch/trace", NULL, true, &record, &err),
        WEIR_ENOENT);
    assert_null(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_set),     cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_requests),     cmocka_unit_test(test_time),
        cmocka_unit_test(test_findings),     cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_reservations), cmocka_unit_test(test_access),
        cmocka_unit_test(test_long_lists),   cmocka_unit_test(test_no_trace)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
