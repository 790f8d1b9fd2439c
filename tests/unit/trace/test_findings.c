/* test_findings.c - each finding: a program that has the fault, and one that has
 * not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <stdlib.h>
#include <string.h>

#include "trace/report.h"

static void test_fine(void **state)
{
    struct result r;

    result_run(&r, &script_fine);
    for (size_t k = 0; k < r.found.count; k++)
        fail_msg("%s: %s", r.found.list[k].rule->code, r.found.list[k].what);
    result_done(&r);
}

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

/* Costly ones first; names cannot move the cursor. */
static void test_report(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct script s = script_plain;
    struct result r;
    FILE *out;

    s.folder = "/data/\033[31mred";
    result_run(&r, &s);
    assert_true(r.found.count >= 1);
    for (size_t k = 1; k < r.found.count; k++)
        assert_true(r.found.list[k].risk ||
                    wr_trace_finding_cost(r.a, &r.found.list[k - 1]) >=
                        wr_trace_finding_cost(r.a, &r.found.list[k]));
    out = open_memstream(&text, &size);
    wr_trace_report(r.a, &r.found, (struct wr_trace_report_style){.width = 80},
                    out);
    fclose(out);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "I/O takes"));
    assert_non_null(strstr(text, "D01"));
    assert_non_null(strstr(text, "100.0 % sequential"));
    assert_non_null(strstr(text, "Epochs"));
    assert_non_null(strstr(text, "Top files"));
    free(text);
    result_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fine),
                                       cmocka_unit_test(test_prefetch),
                                       cmocka_unit_test(test_workers),
                                       cmocka_unit_test(test_respawn),
                                       cmocka_unit_test(test_same_offsets),
                                       cmocka_unit_test(test_coverage),
                                       cmocka_unit_test(test_cacheable),
                                       cmocka_unit_test(test_small_reads),
                                       cmocka_unit_test(test_metadata),
                                       cmocka_unit_test(test_scan),
                                       cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_checkpoints),
                                       cmocka_unit_test(test_a_journal_beside),
                                       cmocka_unit_test(test_outliers),
                                       cmocka_unit_test(test_imports),
                                       cmocka_unit_test(test_logs),
                                       cmocka_unit_test(test_unseen),
                                       cmocka_unit_test(test_unseen_rings),
                                       cmocka_unit_test(test_report),
                                       cmocka_unit_test(test_overlap),
                                       cmocka_unit_test(test_double_work),
                                       cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_network)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
