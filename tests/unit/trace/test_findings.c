/* test_findings.c - each finding: a program that has the fault, and one that has
 * not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "trace/report.h"

static const struct script plain = {.epochs = 3,
                                    .files = 400,
                                    .batch = 20,
                                    .size = 100 * KB,
                                    .read_ns = 200 * KB,
                                    .decode_ns = MS,
                                    .compute_ns = 40 * MS,
                                    .start_ns = 20 * MS};

/* Workers that rest, fast files: nothing is wrong. */
static const struct script fine = {.epochs = 3,
                                   .files = 400,
                                   .batch = 20,
                                   .workers = 4,
                                   .size = 100 * KB,
                                   .read_ns = 200 * KB,
                                   .decode_ns = MS,
                                   .compute_ns = 40 * MS,
                                   .start_ns = 20 * MS};

struct result {
    struct maker m;
    struct wr_trace_file *f;
    struct wr_trace_analysis *a;
    struct wr_trace_findings found;
    struct script_end end;
};

static void finish(struct result *r)
{
    weir_err err;

    r->f = maker_read(&r->m);
    if (wr_trace_analyse(r->f, &r->a, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(wr_trace_findings_of(r->a, &r->found, &err), 0);
}

static void begin(struct result *r, const struct script *s)
{
    maker_open(&r->m);
    r->end = script_run(&r->m, s);
}

static void run(struct result *r, const struct script *s)
{
    begin(r, s);
    finish(r);
}

static void done(struct result *r)
{
    wr_trace_findings_done(&r->found);
    wr_trace_analysis_free(r->a);
    wr_trace_file_close(r->f);
    maker_done(&r->m);
}

static const struct wr_trace_finding *find(const struct result *r,
                                           const char *code)
{
    for (size_t k = 0; k < r->found.count; k++)
        if (!strcmp(r->found.list[k].rule->code, code)) {
            assert_true(r->found.list[k].what[0]);
            assert_true(r->found.list[k].change[0]);
            return &r->found.list[k];
        }
    return NULL;
}

static void assert_near(double value, double expected, double share)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%g, not %g", value, expected);
}

static void test_fine(void **state)
{
    struct result r;

    run(&r, &fine);
    for (size_t k = 0; k < r.found.count; k++)
        fail_msg("%s: %s", r.found.list[k].rule->code, r.found.list[k].what);
    done(&r);
}

/* Per epoch 20 batches of 20 * 1.206 ms against 40 ms of computing. */
static void test_prefetch(void **state)
{
    const struct wr_trace_finding *f;
    struct result r;

    run(&r, &plain);
    f = find(&r, "D01");
    assert_non_null(f);
    assert_near(f->seconds, 20 * 20 * 1.206e-3, 0.2);
    assert_int_equal(f->example_count, 3);
    assert_non_null(strstr(f->change, "num_workers=1"));
    done(&r);
}

/* One worker at 24 ms a batch and a trainer of 1 ms. */
static void test_workers(void **state)
{
    struct script s = fine;
    const struct wr_trace_finding *f;
    struct result r;

    s.workers = 2;
    s.compute_ns = MS;
    run(&r, &s);
    f = find(&r, "D02");
    assert_non_null(f);
    assert_non_null(strstr(f->change, "num_workers=4"));
    done(&r);
}

static void test_respawn(void **state)
{
    struct script s = fine;
    const struct wr_trace_finding *f;
    struct result r;

    s.respawn = true;
    s.spawn_ns = 1500 * MS;
    run(&r, &s);
    f = find(&r, "D04");
    assert_non_null(f);
    assert_near(f->seconds, 1.5 * 2 / 3, 0.05);
    done(&r);
    s.respawn = false;
    run(&r, &s);
    assert_null(find(&r, "D04"));
    done(&r);
}

static void test_same_offsets(void **state)
{
    struct script s = plain;
    const struct wr_trace_finding *f;
    struct result r;

    s.ranks = 4;
    s.same = true;
    run(&r, &s);
    f = find(&r, "S02");
    assert_non_null(f);
    assert_null(find(&r, "D05"));
    done(&r);
    s.same = false;
    run(&r, &s);
    assert_null(find(&r, "S02"));
    assert_null(find(&r, "D05"));
    done(&r);
}

static void test_coverage(void **state)
{
    struct result r;
    uint32_t folder;

    for (unsigned entries = 400; entries <= 500; entries += 100) {
        begin(&r, &fine);
        folder = maker_name(&r.m, 4096, "/data/train");
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_READDIR,
                                                  .file = folder,
                                                  .bytes = entries,
                                                  .dur_ns = 1000});
        finish(&r);
        assert_int_equal(find(&r, "D06") != NULL, entries == 500);
        done(&r);
    }
}

static void test_cacheable(void **state)
{
    struct result r;

    for (unsigned times = 1; times <= 3; times += 2) {
        begin(&r, &plain);
        r.m.processes[0].read_bytes = times * 400 * 100 * KB;
        maker_again(&r.m, 0);
        finish(&r);
        assert_int_equal(find(&r, "D07") != NULL, times == 3);
        done(&r);
    }
}

static void test_small_reads(void **state)
{
    struct script s = plain;
    const struct wr_trace_finding *f;
    struct result r;

    s.reads = 25; /* of 4 KB */
    s.read_ns = 100 * KB;
    run(&r, &s);
    f = find(&r, "D08");
    assert_non_null(f);
    assert_near(f->seconds, 400 * 24 * 100e-6, 0.2);
    done(&r);
    run(&r, &plain);
    assert_null(find(&r, "D08"));
    done(&r);
}

static void test_metadata(void **state)
{
    struct script s = plain;
    struct result r;

    s.read_ns = 1000; /* opening takes 6 us */
    s.decode_ns = 1000;
    s.compute_ns = 1000;
    run(&r, &s);
    assert_non_null(find(&r, "D10"));
    assert_non_null(strstr(find(&r, "D10")->change,
                           "weir convert /data/train /data/train-shards"));
    done(&r);
    run(&r, &plain);
    assert_null(find(&r, "D10"));
    done(&r);
}

static void test_scan(void **state)
{
    struct script s = plain;
    const struct wr_trace_finding *f;
    struct result r;
    uint32_t name;

    s.start_ns = 3000 * MS;
    begin(&r, &s);
    name = maker_name(&r.m, 1, "/data/train/x");
    for (uint64_t k = 0; k < 3000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = name,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    finish(&r);
    f = find(&r, "D11");
    assert_non_null(f);
    assert_near(f->seconds, 3, 0.05);
    assert_true(f->once);
    done(&r);
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
        finish(&r);
        assert_int_equal(find(&r, "D12") != NULL, waste == 3);
        done(&r);
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
    finish(&r);
    f = find(&r, "D13");
    assert_non_null(f);
    assert_near(f->seconds, 0.2, 0.1);
    done(&r);
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

    begin(&r, &fine);
    save(&r, "/out/model.pt", 2, 0, true);
    finish(&r);
    assert_int_equal(r.a->save_count, 2);
    f = find(&r, "D14");
    assert_non_null(f);
    assert_near(f->seconds, 2 * 1.004 / 3, 0.05);
    assert_null(find(&r, "D15"));
    assert_null(find(&r, "S06"));
    done(&r);
    begin(&r, &fine);
    save(&r, "/data/out/model.pt", 2, WR_TRACE_TRUNC, true); /* on nfs */
    finish(&r);
    assert_null(find(&r, "D14"));
    assert_non_null(find(&r, "S06"));
    assert_non_null(find(&r, "D15")); /* in place */
    done(&r);
    begin(&r, &fine);
    save(&r, "/out/model.pt", 2, 0, false); /* renamed before a sync */
    finish(&r);
    assert_non_null(find(&r, "D15"));
    done(&r);
}

static void test_outliers(void **state)
{
    struct script s = plain;
    const struct wr_trace_finding *f;
    struct result r;
    uint64_t at;

    begin(&r, &s);
    at = r.end.end_ns;
    for (unsigned k = 0; k < 4; k++)
        at = maker_whole(&r.m, 0, k, 100 * KB, at, 300 * MS);
    r.m.processes[0].end_ns = at;
    maker_again(&r.m, 0);
    finish(&r);
    f = find(&r, "D18");
    assert_non_null(f);
    assert_near(f->seconds * (double)r.a->epoch_count, 1.2, 0.5);
    assert_int_equal(f->example_count, 3);
    done(&r);
    run(&r, &s);
    assert_null(find(&r, "D18"));
    done(&r);
}

static void test_imports(void **state)
{
    struct script s = fine;
    struct result r;
    uint32_t code;

    s.start_ns = 12000 * MS;
    begin(&r, &s);
    code = maker_kind(&r.m, WR_TRACE_RUNTIME, "/data/venv/lib/x.py"); /* nfs */
    for (uint64_t k = 0; k < 12000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = code,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    finish(&r);
    assert_non_null(find(&r, "D19"));
    assert_near(find(&r, "D19")->seconds, 6, 0.05);
    done(&r);
}

static void test_logs(void **state)
{
    struct result r;
    uint32_t log;

    begin(&r, &fine);
    log = maker_kind(&r.m, WR_TRACE_DATA, "/out/events.log");
    for (uint64_t k = 0; k < 50; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = log,
                                                  .offset = k * 100,
                                                  .bytes = 100,
                                                  .start_ns = k * 20 * MS,
                                                  .dur_ns = 5 * MS});
    finish(&r);
    assert_non_null(find(&r, "D20"));
    assert_near(find(&r, "D20")->seconds, 0.25 / 3, 0.05);
    done(&r);
}

static void test_unseen(void **state)
{
    struct result r;

    for (unsigned times = 1; times <= 3; times += 2) {
        begin(&r, &fine);
        r.m.processes[0].rchar = times * 3 * 400 * 100 * KB;
        maker_again(&r.m, 0);
        finish(&r);
        assert_int_equal(find(&r, "D21") != NULL, times == 3);
        done(&r);
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
        finish(&r);
        assert_int_equal(r.a->epoch_count, 2);
        assert_int_equal(find(&r, "D05") != NULL, twice);
        done(&r);
    }
}

/* Six seeks for one read. */
static void test_double_work(void **state)
{
    struct result r;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 1000);
    for (unsigned k = 0; k < 100; k++) {
        uint32_t file = maker_name(&r.m, 100 * KB, "/data/%u", k);

        for (unsigned n = 0; n < 6; n++, at += MS)
            maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_SEEK,
                                                      .file = file,
                                                      .offset = UINT64_MAX,
                                                      .start_ns = at,
                                                      .dur_ns = MS / 2});
        at = maker_whole(&r.m, 0, file, 100 * KB, at, MS);
    }
    finish(&r);
    assert_non_null(find(&r, "D09"));
    done(&r);
    run(&r, &plain);
    assert_null(find(&r, "D09"));
    done(&r);
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
    finish(&r);
    assert_non_null(find(&r, "S04"));
    assert_null(find(&r, "D08"));
    done(&r);
}

/* Files of 4 MiB in pieces of 256 KiB, over the network or not. */
static void test_network(void **state)
{
    struct script s = plain;
    struct result r;

    s.files = 200;
    s.size = 4 * 1024 * 1024;
    s.reads = 16;
    for (int local = 0; local < 2; local++) {
        s.folder = local ? "/local/set" : "/data/set"; /* nfs */
        begin(&r, &s);
        r.m.info.available_bytes = 500 * MB; /* of 800 */
        finish(&r);
        assert_int_equal(find(&r, "S01") != NULL, !local);
        assert_int_equal(find(&r, "S05") != NULL, !local);
        assert_null(find(&r, "D07"));
        done(&r);
    }
    s.folder = "/data/set";
    s.read_ns = 2 * MS;
    run(&r, &s);
    assert_null(find(&r, "S05")); /* it fits into memory */
    assert_non_null(find(&r, "D07"));
    done(&r);
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
        finish(&r);
        f = find(&r, "D03");
        assert_int_equal(f != NULL, slow);
        if (slow) /* 100 files of 10 ms; shared out 4 ms each */
            assert_near(f->seconds, 0.6, 0.05);
        done(&r);
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
        finish(&r);
        f = find(&r, "D16");
        assert_int_equal(f != NULL, slow);
        if (slow)
            assert_near(f->seconds, 200 * 9e-3, 0.1);
        done(&r);
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
        for (unsigned k = 0; k < 200; k++) {
            uint32_t file = maker_name(&r.m, 4 * MB, "/data/set/%u", k);

            maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                                      .file = file,
                                                      .offset = UINT64_MAX,
                                                      .start_ns = at,
                                                      .dur_ns = open_ns});
            at = maker_whole(&r.m, 0, file, 4 * MB, at + open_ns, 20 * MS);
        }
        finish(&r);
        f = find(&r, "S03");
        assert_int_equal(f != NULL, slow);
        if (slow)
            assert_near(f->seconds, 200 * 5e-3, 0.1);
        assert_null(find(&r, "D10"));
        done(&r);
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
    return find(r, "D17");
}

/* Reading 95 % of the time, or decoding: against storage that can just do it, or
 * much more. */
static void test_bound(void **state)
{
    struct script s = plain;
    struct result r;
    double rate;

    s.read_ns = 5 * MS;
    s.decode_ns = MS / 4;
    s.compute_ns = 3 * MS;
    run(&r, &s);
    assert_null(find(&r, "D17")); /* nothing is known */
    rate = 1200 / ((double)(r.a->last_set_ns - r.a->first_set_ns) * 1e-9);
    assert_non_null(judged(&r, rate, -1));
    assert_non_null(strstr(find(&r, "D17")->what, "Storage-bound"));
    assert_null(judged(&r, 10 * rate, -1)); /* latency: D01, D02 */
    assert_non_null(judged(&r, 0, 0.95));
    assert_null(judged(&r, 0, 0.5));
    done(&r);
    s.workers = 4;
    s.read_ns = MS / 2;
    s.decode_ns = 10 * MS;
    run(&r, &s);
    rate = 1200 / ((double)(r.a->last_set_ns - r.a->first_set_ns) * 1e-9);
    assert_null(judged(&r, rate, -1));
    assert_non_null(judged(&r, 10 * rate, -1));
    assert_non_null(strstr(find(&r, "D17")->what, "CPU-bound"));
    assert_non_null(judged(&r, 0, 0.05));
    done(&r);
    s = fine; /* the trainer never waits */
    run(&r, &s);
    assert_null(judged(&r, 1e6, -1));
    done(&r);
}

/* Costly ones first; names cannot move the cursor. */
static void test_report(void **state)
{
    char *text = NULL;
    size_t size = 0;
    struct script s = plain;
    struct result r;
    FILE *out;

    s.folder = "/data/\033[31mred";
    run(&r, &s);
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
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fine),         cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_workers),      cmocka_unit_test(test_respawn),
        cmocka_unit_test(test_same_offsets), cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_cacheable),    cmocka_unit_test(test_small_reads),
        cmocka_unit_test(test_metadata),     cmocka_unit_test(test_scan),
        cmocka_unit_test(test_random),       cmocka_unit_test(test_faults),
        cmocka_unit_test(test_checkpoints),  cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_imports),      cmocka_unit_test(test_logs),
        cmocka_unit_test(test_unseen),       cmocka_unit_test(test_report),
        cmocka_unit_test(test_overlap),      cmocka_unit_test(test_double_work),
        cmocka_unit_test(test_pieces),       cmocka_unit_test(test_network),
        cmocka_unit_test(test_stragglers),   cmocka_unit_test(test_interference),
        cmocka_unit_test(test_record_files), cmocka_unit_test(test_bound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
