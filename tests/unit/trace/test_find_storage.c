/* test_find_storage.c - findings on what is asked of storage: programs that have the
 * fault, and others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <string.h>

static void test_cacheable(void **state)
{
    struct result r;

    for (unsigned times = 1; times <= 3; times += 2) {
        result_begin(&r, &script_plain);
        r.m.processes[0].read_bytes = times * 400 * 100 * KB;
        maker_again(&r.m, 0);
        result_finish(&r);
        assert_int_equal(result_find(&r, "D07") != NULL, times == 3);
        result_done(&r);
    }
}

static void test_small_reads(void **state)
{
    struct script s = script_plain;
    const struct wr_trace_finding *f;
    struct result r;

    s.reads = 25; /* of 4 KB */
    s.read_ns = 100 * KB;
    result_run(&r, &s);
    f = result_find(&r, "D08");
    assert_non_null(f);
    assert_near(f->seconds, 400 * 24 * 100e-6, 0.2);
    result_done(&r);
    result_run(&r, &script_plain);
    assert_null(result_find(&r, "D08"));
    result_done(&r);
}

/* Six seeks for one read. */
static void test_double_work(void **state)
{
    struct result r;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 1000);
    for (unsigned k = 0; k < 100; k++)
        maker_name(&r.m, 100 * KB, "/data/%u", k);
    for (unsigned k = 0; k < 200; k++) { /* two epochs */
        uint32_t file = k % 100;

        for (unsigned n = 0; n < 6; n++, at += MS)
            maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_SEEK,
                                                      .file = file,
                                                      .offset = UINT64_MAX,
                                                      .start_ns = at,
                                                      .dur_ns = MS / 2});
        at = maker_whole(&r.m, 0, file, 100 * KB, at, MS);
    }
    result_finish(&r);
    assert_non_null(result_find(&r, "D09"));
    result_done(&r);
    result_run(&r, &script_plain);
    assert_null(result_find(&r, "D09"));
    result_done(&r);
}

static void test_metadata(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.read_ns = 1000; /* opening takes 6 us */
    s.decode_ns = 1000;
    s.compute_ns = 1000;
    result_run(&r, &s);
    assert_non_null(result_find(&r, "D10"));
    assert_non_null(strstr(result_find(&r, "D10")->change,
                           "weir convert /data/train /data/train-shards"));
    result_done(&r);
    result_run(&r, &script_plain);
    assert_null(result_find(&r, "D10"));
    result_done(&r);
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

static void test_random(void **state)
{
    struct result r;
    uint32_t file;

    for (unsigned waste = 1; waste <= 3; waste += 2) {
        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 2000);
        file = maker_name(&r.m, 128 * MB, "/data/all.h5");
        for (uint64_t k = 0; k < 2000; k++)
            maker_event(
                &r.m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                              .file = file,
                                              .start_ns = k * MS,
                                              .dur_ns = MS / 2,
                                              .offset = k * 7 % 2000 * 64 * KB,
                                              .bytes = 64 * KB});
        r.m.processes[0].read_bytes = waste * 128 * MB;
        maker_again(&r.m, 0);
        result_finish(&r);
        assert_int_equal(result_find(&r, "D12") != NULL, waste == 3);
        result_done(&r);
    }
}

static void test_faults(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;
    uint32_t file;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 1000);
    file = maker_name(&r.m, 10 * MB, "/data/a.safetensors");
    for (uint64_t k = 0; k < 1000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_FAULT,
                                                  .file = file,
                                                  .bytes = 4096,
                                                  .offset = k * 4096,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 5});
    result_finish(&r);
    f = result_find(&r, "D13");
    assert_non_null(f);
    assert_near(f->seconds, 0.2, 0.1);
    result_done(&r);
}

/* A small file, read here and there in 100 pieces. */
static void test_pieces(void **state)
{
    struct result r;
    uint32_t file;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 1000);
    file = maker_name(&r.m, 100 * KB, "/data/stats.h5");
    for (uint64_t k = 0; k < 100; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                                  .file = file,
                                                  .offset = k * 37 % 100 * KB,
                                                  .bytes = 500,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    result_finish(&r);
    assert_non_null(result_find(&r, "S04"));
    assert_null(result_find(&r, "D08"));
    result_done(&r);
}

/* Files of 4 MiB in pieces of 256 KiB, over the network or not. */
static void test_network(void **state)
{
    struct script s = script_plain;
    struct result r;

    s.files = 200;
    s.size = 4 * 1024 * 1024;
    s.reads = 16;
    for (int local = 0; local < 2; local++) {
        s.folder = local ? "/local/set" : "/data/set"; /* nfs */
        result_begin(&r, &s);
        r.m.info.available_bytes = 500 * MB; /* of 800 */
        result_finish(&r);
        assert_int_equal(result_find(&r, "S01") != NULL, !local);
        assert_int_equal(result_find(&r, "S05") != NULL, !local);
        assert_null(result_find(&r, "D07"));
        result_done(&r);
    }
    s.folder = "/data/set";
    s.read_ns = 2 * MS;
    result_run(&r, &s);
    assert_null(result_find(&r, "S05")); /* it fits into memory */
    assert_non_null(result_find(&r, "D07"));
    result_done(&r);
}

/* Two epochs of 20 files that are opened for each of 40 records, or once. */
static void test_reopened(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    for (int again = 0; again < 2; again++) {
        uint64_t at = 0;

        maker_open(&r.m);
        maker_process(&r.m, -1, 0, 2000);
        for (unsigned k = 0; k < 20; k++)
            maker_name(&r.m, 4 * MB, "/data/%u.h5", k);
        for (unsigned k = 0; k < 40; k++)
            at = maker_records(&r.m, k % 20, 40, again, at);
        result_finish(&r);
        f = result_find(&r, "D22");
        assert_int_equal(f != NULL, again);
        if (again) /* but for the first of 40 */
            assert_near(f->seconds, 20 * 39 * 1.001e-3, 0.01);
        result_done(&r);
    }
}

/* 40 workers that each open the same files once. */
static void test_opened_by_each(void **state)
{
    struct result r;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 100);
    for (unsigned k = 0; k < 20; k++)
        maker_name(&r.m, 4 * MB, "/data/%u.h5", k);
    for (unsigned w = 1; w <= 40; w++) {
        uint64_t at = 0;

        maker_process(&r.m, 0, 0, 100);
        for (unsigned k = 0; k < 20; k++) {
            maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                      .process = w,
                                                      .file = k,
                                                      .start_ns = at,
                                                      .dur_ns = MS});
            at = maker_whole(&r.m, w, k, 100 * KB, at + MS, 1000);
        }
    }
    result_finish(&r);
    assert_int_equal(r.a->workers, 40);
    assert_true(r.a->set_meta_ns > r.a->set_ns);
    assert_null(result_find(&r, "D22"));
    result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cacheable),
                                       cmocka_unit_test(test_small_reads),
                                       cmocka_unit_test(test_double_work),
                                       cmocka_unit_test(test_metadata),
                                       cmocka_unit_test(test_record_files),
                                       cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_network),
                                       cmocka_unit_test(test_reopened),
                                       cmocka_unit_test(test_opened_by_each)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
