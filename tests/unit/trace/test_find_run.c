/* test_find_run.c - findings on the rest of a run: programs that have the fault, and
 * others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <string.h>

static void test_scan(void **state)
{
    struct script s = script_plain;
    const struct wr_trace_finding *f;
    struct result r;
    uint32_t name;

    s.start_ns = 3000 * MS;
    result_begin(&r, &s);
    name = maker_name(&r.m, 1, "/data/train/x");
    for (uint64_t k = 0; k < 3000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = name,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    result_finish(&r);
    f = result_find(&r, "D11");
    assert_non_null(f);
    assert_near(f->seconds, 3, 0.05);
    assert_true(f->once);
    result_done(&r);
}

/* A save of 100 MB in a second on the main thread, `times` times. */
static void save(struct result *r, const char *path, unsigned times,
                 unsigned flags, bool sync)
{
    uint32_t model = maker_kind(&r->m, WR_TRACE_DATA, path);
    uint32_t temporary = maker_kind(&r->m, WR_TRACE_DATA, "/out/tmp");
    uint64_t at = r->end.end_ns;

    for (unsigned n = 0; n < times; n++, at += 5000 * MS) {
        uint32_t file = flags ? model : temporary;

        maker_event(&r->m, (struct wr_trace_event){
                               .op = WR_TRACE_OPEN,
                               .file = file,
                               .flags = (uint16_t)(WR_TRACE_WRITES | flags),
                               .start_ns = at,
                               .dur_ns = 1000});
        for (uint64_t k = 0; k < 100; k++)
            maker_event(&r->m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                       .file = file,
                                                       .offset = k * MB,
                                                       .bytes = MB,
                                                       .start_ns = at + 1000 +
                                                                   k * 10 * MS,
                                                       .dur_ns = 10 * MS});
        if (sync)
            maker_event(&r->m,
                        (struct wr_trace_event){.op = WR_TRACE_SYNC,
                                                .file = file,
                                                .start_ns = at + 1001 * MS,
                                                .dur_ns = MS});
        maker_event(&r->m, (struct wr_trace_event){.op = WR_TRACE_CLOSE,
                                                   .file = file,
                                                   .start_ns = at + 1003 * MS,
                                                   .dur_ns = 1000});
        if (!flags)
            maker_event(&r->m,
                        (struct wr_trace_event){.op = WR_TRACE_RENAME,
                                                .file = file,
                                                .file2 = model,
                                                .start_ns = at + 1004 * MS,
                                                .dur_ns = 1000});
    }
    r->m.processes[0].end_ns = at;
    maker_again(&r->m, 0);
}

static void test_checkpoints(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    result_begin(&r, &script_fine);
    save(&r, "/out/model.pt", 2, 0, true);
    result_finish(&r);
    assert_int_equal(r.a->save_count, 2);
    f = result_find(&r, "D14");
    assert_non_null(f);
    assert_near(f->seconds, 2 * 1.004 / 3, 0.05);
    assert_null(result_find(&r, "D15"));
    assert_null(result_find(&r, "S06"));
    result_done(&r);
    result_begin(&r, &script_fine);
    save(&r, "/data/out/model.pt", 2, WR_TRACE_TRUNC, true); /* on nfs */
    result_finish(&r);
    assert_null(result_find(&r, "D14"));
    assert_non_null(result_find(&r, "S06"));
    assert_non_null(result_find(&r, "D15")); /* in place */
    result_done(&r);
    result_begin(&r, &script_fine);
    save(&r, "/out/model.pt", 2, 0, false); /* renamed before a sync */
    result_finish(&r);
    assert_non_null(result_find(&r, "D15"));
    result_done(&r);
}

/* A database that writes, waits for its journal and writes again: one save, as
 * slow as the disk may be. */
static void test_a_journal_beside(void **state)
{
    struct result r;
    uint32_t base, journal;
    uint64_t at;

    result_begin(&r, &script_fine);
    base = maker_kind(&r.m, WR_TRACE_DATA, "/out/my.db");
    journal = maker_kind(&r.m, WR_TRACE_DATA, "/out/my.db-journal");
    at = r.end.end_ns;
    for (unsigned n = 0; n < 4; n++) {
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = base,
                                                  .offset = n * MB,
                                                  .bytes = MB,
                                                  .start_ns = at,
                                                  .dur_ns = MS});
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = journal,
                                                  .offset = n * 512,
                                                  .bytes = 512,
                                                  .start_ns = at + MS,
                                                  .dur_ns = 1000});
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_SYNC,
                                                  .file = journal,
                                                  .start_ns = at + 2 * MS,
                                                  .dur_ns = 300 * MS});
        at += 303 * MS;
    }
    r.m.processes[0].end_ns = at;
    maker_again(&r.m, 0);
    result_finish(&r);
    assert_int_equal(r.a->save_count, 1);
    assert_int_equal(r.a->saves[0].bursts, 1);
    assert_null(result_find(&r, "D14"));
    result_done(&r);
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

static void test_outliers(void **state)
{
    struct script s = script_plain;
    const struct wr_trace_finding *f;
    struct result r;
    uint64_t at;

    result_begin(&r, &s);
    at = r.end.end_ns;
    for (unsigned k = 0; k < 4; k++)
        at = maker_whole(&r.m, 0, k, 100 * KB, at, 300 * MS);
    r.m.processes[0].end_ns = at;
    maker_again(&r.m, 0);
    result_finish(&r);
    f = result_find(&r, "D18");
    assert_non_null(f);
    assert_near(f->seconds * (double)r.a->epoch_count, 1.2, 0.5);
    assert_int_equal(f->example_count, 3);
    result_done(&r);
    result_run(&r, &s);
    assert_null(result_find(&r, "D18"));
    result_done(&r);
}

static void test_imports(void **state)
{
    struct script s = script_fine;
    struct result r;
    uint32_t code;

    s.start_ns = 12000 * MS;
    result_begin(&r, &s);
    code = maker_kind(&r.m, WR_TRACE_RUNTIME, "/data/venv/lib/x.py"); /* nfs */
    for (uint64_t k = 0; k < 12000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = code,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    result_finish(&r);
    assert_non_null(result_find(&r, "D19"));
    assert_near(result_find(&r, "D19")->seconds, 6, 0.05);
    result_done(&r);
}

static void test_logs(void **state)
{
    struct result r;
    uint32_t log;

    result_begin(&r, &script_fine);
    log = maker_kind(&r.m, WR_TRACE_DATA, "/out/events.log");
    for (uint64_t k = 0; k < 50; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = log,
                                                  .offset = k * 100,
                                                  .bytes = 100,
                                                  .start_ns = k * 20 * MS,
                                                  .dur_ns = 5 * MS});
    result_finish(&r);
    assert_non_null(result_find(&r, "D20"));
    assert_near(result_find(&r, "D20")->seconds, 0.25 / 3, 0.05);
    result_done(&r);
}

static void test_unseen(void **state)
{
    struct result r;

    for (unsigned times = 1; times <= 3; times += 2) {
        result_begin(&r, &script_fine);
        r.m.processes[0].rchar = times * 3 * 400 * 100 * KB;
        maker_again(&r.m, 0);
        result_finish(&r);
        assert_int_equal(result_find(&r, "D21") != NULL, times == 3);
        result_done(&r);
    }
}

/* Requests of a ring are no calls: they neither hide what is missing nor miss. A
 * trace that has the kernel's records already is not to be made again. */
static void test_unseen_rings(void **state)
{
    struct result r;

    for (int seen = 0; seen < 2; seen++) {
        result_begin(&r, &script_fine);
        r.m.info.by_kernel = true;
        r.m.processes[0].rchar = 3 * 400 * 100 * KB + (seen ? 0 : 300 * MB);
        maker_again(&r.m, 0);
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_AIO_READ,
                                                  .file = 0,
                                                  .offset = UINT64_MAX,
                                                  .bytes = 300 * MB,
                                                  .start_ns = 30 * MS,
                                                  .dur_ns = MS});
        result_finish(&r);
        assert_int_equal(result_find(&r, "D21") != NULL, !seen);
        if (!seen)
            assert_null(strstr(result_find(&r, "D21")->change, "--kernel"));
        result_done(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scan),
                                       cmocka_unit_test(test_checkpoints),
                                       cmocka_unit_test(test_a_journal_beside),
                                       cmocka_unit_test(test_interference),
                                       cmocka_unit_test(test_outliers),
                                       cmocka_unit_test(test_imports),
                                       cmocka_unit_test(test_logs),
                                       cmocka_unit_test(test_unseen),
                                       cmocka_unit_test(test_unseen_rings)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
