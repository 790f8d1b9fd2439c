/* test_bounds.c - findings on workers, saves, record files and limits: programs
 * that have the fault, and others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <string.h>

/* Four workers, of which one takes five times as long per file; or none does. */
static void test_stragglers(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    for (int slow = 0; slow < 2; slow++) {
        uint64_t at[5] = {0};

        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 10000);
        for (unsigned w = 1; w <= 4; w++)
            maker_process(&r.m, 0, 0, 10000);
        for (unsigned k = 0; k < 400; k++) {
            uint32_t file = maker_name(&r.m, 100 * KB, "/data/%u", k);
            uint32_t w = 1 + k % 4;

            at[w] = maker_whole(&r.m, w, file, 100 * KB, at[w],
                                (slow && w == 4 ? 10 : 2) * MS);
        }
        result_finish(&r);
        f = result_find(&r, "D03");
        assert_int_equal(f != NULL, slow);
        if (slow) /* 100 files of 10 ms; shared out 4 ms each */
            assert_near(f->seconds, 0.6, 0.05);
        result_done(&r);
    }
}

/* Reads of 1 ms, and of 10 ms while a checkpoint is written on another thread;
 * or 1 ms all the time. */
static void test_interference(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    for (int slow = 0; slow < 2; slow++) {
        uint64_t at = 0;
        uint32_t model;

        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 10000);
        model = maker_kind(&r.m, WR_TRACE_DATA, "/out/model.pt");
        for (unsigned k = 0; k < 600; k++) {
            uint32_t file = maker_name(&r.m, 100 * KB, "/data/%u", k);
            bool saving = k >= 200 && k < 400;

            if (saving)
                maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                          .file = model,
                                                          .thread = 77,
                                                          .offset = k * MB,
                                                          .bytes = MB,
                                                          .start_ns = at,
                                                          .dur_ns = 20 * MS});
            at = maker_whole(&r.m, 0, file, 100 * KB, at,
                             (slow && saving ? 10 : 1) * MS);
            at = saving && !slow ? at + 21 * MS : at;
        }
        result_finish(&r);
        f = result_find(&r, "D16");
        assert_int_equal(f != NULL, slow);
        if (slow)
            assert_near(f->seconds, 200 * 9e-3, 0.1);
        result_done(&r);
    }
}

/* Files of 4 MB whose opening takes a fifth of the time, or a hundredth. */
static void test_record_files(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    for (int slow = 0; slow < 2; slow++) {
        uint64_t at = 0, open_ns = slow ? 5 * MS : MS / 5;

        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 10000);
        for (unsigned k = 0; k < 200; k++)
            maker_name(&r.m, 4 * MB, "/data/set/%u", k);
        for (unsigned k = 0; k < 400; k++) { /* two epochs */
            uint32_t file = k % 200;

            maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                                      .file = file,
                                                      .offset = UINT64_MAX,
                                                      .start_ns = at,
                                                      .dur_ns = open_ns});
            at = maker_whole(&r.m, 0, file, 4 * MB, at + open_ns, 20 * MS);
        }
        result_finish(&r);
        f = result_find(&r, "S03");
        assert_int_equal(f != NULL, slow);
        if (slow)
            assert_near(f->seconds, 200 * 5e-3, 0.1);
        assert_null(result_find(&r, "D10"));
        result_done(&r);
    }
}

static const struct wr_trace_finding *judged(struct result *r, double files,
                                             double utilisation)
{
    weir_err err;

    r->a->baseline = (struct wr_trace_baseline){
        .sequential_rate = files > 0 ? 1e9 : 0,
        .files_rate = files,
        .utilisation = utilisation,
        .source = "a test"};
    wr_trace_findings_done(&r->found);
    assert_int_equal(wr_trace_findings_of(r->a, &r->found, &err), 0);
    return result_find(r, "D17");
}

/* Reading 95 % of the time, or decoding: against storage that can just do it, or
 * much more. */
static void test_bound(void **state)
{
    struct script s = script_plain;
    struct result r;
    double rate;

    s.read_ns = 5 * MS;
    s.decode_ns = MS / 4;
    s.compute_ns = 3 * MS;
    result_run(&r, &s);
    assert_null(result_find(&r, "D17")); /* nothing is known */
    rate = 1200 / ((double)(r.a->last_set_ns - r.a->first_set_ns) * 1e-9);
    assert_non_null(judged(&r, rate, -1));
    assert_non_null(strstr(result_find(&r, "D17")->what, "Storage-bound"));
    assert_null(judged(&r, 10 * rate, -1)); /* latency: D01, D02 */
    assert_non_null(judged(&r, 0, 0.95));
    assert_null(judged(&r, 0, 0.5));
    result_done(&r);
    s.workers = 4;
    s.read_ns = MS / 2;
    s.decode_ns = 10 * MS;
    result_run(&r, &s);
    rate = 1200 / ((double)(r.a->last_set_ns - r.a->first_set_ns) * 1e-9);
    assert_null(judged(&r, rate, -1));
    assert_non_null(judged(&r, 10 * rate, -1));
    assert_non_null(strstr(result_find(&r, "D17")->what, "CPU-bound"));
    assert_non_null(judged(&r, 0, 0.05));
    result_done(&r);
    s = script_fine; /* the trainer never waits */
    result_run(&r, &s);
    assert_null(judged(&r, 1e6, -1));
    result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stragglers), cmocka_unit_test(test_interference),
        cmocka_unit_test(test_record_files), cmocka_unit_test(test_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
