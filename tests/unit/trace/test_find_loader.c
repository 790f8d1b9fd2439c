/* test_find_loader.c - findings on how a program is fed: those that have the fault, and others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <string.h>

/* Per epoch 20 batches of 20 * 1.206 ms against 40 ms of computing. */
static void test_prefetch(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    result_run(&r, &script_plain);
    f = result_find(&r, "D01");
    assert_non_null(f);
    assert_near(f->seconds, 20 * 20 * 1.206e-3, 0.2);
    assert_int_equal(f->example_count, 3);
    assert_non_null(strstr(f->change, "num_workers=1"));
    result_done(&r);
}

/* One worker at 24 ms a batch and a trainer of 1 ms. */
static void test_workers(void **state)
{
    struct script s = script_fine;
    const struct wr_trace_finding *f;
    struct result r;

    s.workers = 2;
    s.compute_ns = MS;
    result_run(&r, &s);
    f = result_find(&r, "D02");
    assert_non_null(f);
    assert_non_null(strstr(f->change, "num_workers=4"));
    result_done(&r);
}

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

static void test_respawn(void **state)
{
    struct script s = script_fine;
    const struct wr_trace_finding *f;
    struct result r;

    s.respawn = true;
    s.spawn_ns = 1500 * MS;
    result_run(&r, &s);
    f = result_find(&r, "D04");
    assert_non_null(f);
    assert_near(f->seconds, 1.5 * 2 / 3, 0.05);
    result_done(&r);
    s.respawn = false;
    result_run(&r, &s);
    assert_null(result_find(&r, "D04"));
    result_done(&r);
}

/* Two workers that share the data set, or both read everything. */
static void test_overlap(void **state)
{
    struct result r;

    for (int twice = 0; twice < 2; twice++) {
        uint64_t at[3] = {0};

        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 10000);
        maker_process(&r.m, 0, 0, 10000);
        maker_process(&r.m, 0, 0, 10000);
        for (unsigned k = 0; k < 400; k++)
            maker_name(&r.m, 100 * KB, "/data/%u", k);
        for (unsigned k = 0; k < 800; k++)
            for (uint32_t w = 1; w <= 2; w++)
                if (twice || k % 2 == w - 1)
                    at[w] = maker_whole(&r.m, w, k % 400, 100 * KB, at[w],
                                        2 * MS);
        result_finish(&r);
        assert_int_equal(r.a->epoch_count, 2);
        assert_int_equal(result_find(&r, "D05") != NULL, twice);
        result_done(&r);
    }
}

static void test_same_offsets(void **state)
{
    struct script s = script_plain;
    const struct wr_trace_finding *f;
    struct result r;

    s.ranks = 4;
    s.same = true;
    result_run(&r, &s);
    f = result_find(&r, "S02");
    assert_non_null(f);
    assert_null(result_find(&r, "D05"));
    result_done(&r);
    s.same = false;
    result_run(&r, &s);
    assert_null(result_find(&r, "S02"));
    assert_null(result_find(&r, "D05"));
    result_done(&r);
}

static void test_coverage(void **state)
{
    struct result r;
    uint32_t folder;

    for (unsigned entries = 400; entries <= 500; entries += 100) {
        result_begin(&r, &script_fine);
        folder = maker_name(&r.m, 4096, "/data/train");
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_READDIR,
                                                  .file = folder,
                                                  .bytes = entries,
                                                  .dur_ns = 1000});
        result_finish(&r);
        assert_int_equal(result_find(&r, "D06") != NULL, entries == 500);
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
        cmocka_unit_test(test_prefetch),   cmocka_unit_test(test_workers),
        cmocka_unit_test(test_stragglers), cmocka_unit_test(test_respawn),
        cmocka_unit_test(test_overlap),    cmocka_unit_test(test_same_offsets),
        cmocka_unit_test(test_coverage),   cmocka_unit_test(test_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
