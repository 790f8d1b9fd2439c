/* test_analysis.c - what is found in traces of made-up trainings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "trace/analysis.h"
#include "trace/analysis_private.h"

static const struct script plain = {.epochs = 3,
                                    .files = 400,
                                    .batch = 20,
                                    .size = 100 * KB,
                                    .read_ns = 200 * KB,
                                    .decode_ns = MS,
                                    .compute_ns = 40 * MS,
                                    .start_ns = 100 * MS};

struct result {
    struct maker m;
    struct wr_trace_file *f;
    struct wr_trace_analysis *a;
    struct script_end end;
};

static void finish(struct result *r)
{
    weir_err err;

    r->f = maker_read(&r->m);
    if (wr_trace_analyse(r->f, &r->a, &err) < 0)
        fail_msg("%s", err.msg);
}

static void run(struct result *r, const struct script *s)
{
    maker_open(&r->m);
    r->end = script_run(&r->m, s);
    finish(r);
}

static void done(struct result *r)
{
    wr_trace_analysis_free(r->a);
    wr_trace_file_close(r->f);
    maker_done(&r->m);
}

static bool near(double value, double expected, double share)
{
    return value >= expected * (1 - share) && value <= expected * (1 + share);
}

static void test_totals(void **state)
{
    struct result r;

    run(&r, &plain);
    assert_int_equal(r.a->events, 3 * 400 * 3);
    assert_int_equal(r.a->set_files, 400);
    assert_int_equal(r.a->set_bytes, 3 * 400 * 100 * KB);
    assert_int_equal(r.a->set_unique, 400 * 100 * KB);
    assert_int_equal(r.a->set_reads, 1200);
    assert_int_equal(r.a->set_sequential, 1200);
    assert_int_equal(r.a->set_consecutive, 1200);
    assert_int_equal(r.a->set_opens, 1200);
    assert_int_equal(r.a->uses[5].passes, 3);
    assert_int_equal(r.a->uses[5].role, WR_TRACE_ROLE_SET);
    assert_int_equal(r.a->common_reads[0].bytes, 100 * KB);
    assert_int_equal(r.a->common_reads[0].count, 1200);
    assert_int_equal(r.a->read_sizes[3].count, 1200); /* <= 100 KiB */
    assert_int_equal(r.a->end_ns, r.end.end_ns);
    /* 1200 samples of 206 us of calls */
    assert_int_equal(r.a->busy_ns, 1200 * 206 * KB);
    assert_true(near(r.a->io_share,
                     (double)(1200 * 206 * KB) / (double)r.end.end_ns, 0.001));
    assert_true(near(r.a->process_share, r.a->io_share, 0.001));
    assert_int_equal(r.a->mains, 1);
    assert_int_equal(r.a->workers, 0);
    done(&r);
}

static void test_epochs(void **state)
{
    struct result r;

    run(&r, &plain);
    assert_int_equal(r.a->epoch_count, 3);
    for (int k = 0; k < 3; k++) {
        const struct wr_trace_epoch *e = &r.a->epochs[k];
        double length = (double)(r.end.end_ns - 100 * MS) / 3;

        assert_int_equal(e->files, 400);
        assert_true(near((double)(e->end_ns - e->start_ns), length, 0.1));
        assert_true(near((double)e->set_bytes, 400e5, 0.05));
    }
    done(&r);
}

/* Ranks that read everything, and ranks that share: the same epochs. */
static void test_epochs_of_ranks(void **state)
{
    struct script s = plain;
    struct result r;

    s.ranks = 4;
    s.same = true;
    run(&r, &s);
    assert_int_equal(r.a->ranks, 4);
    assert_int_equal(r.a->mains, 4);
    assert_int_equal(r.a->epoch_count, 3);
    assert_int_equal(r.a->shared_files, 400);
    assert_int_equal(r.a->same_bytes, 3 * r.a->set_bytes / 4);
    done(&r);
    s.same = false;
    run(&r, &s);
    assert_int_equal(r.a->epoch_count, 3);
    assert_int_equal(r.a->shared_files, 0);
    done(&r);
}

/* One big file, kept open, read at random places. */
static void test_epochs_of_one_file(void **state)
{
    struct result r;
    uint32_t file;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 4000);
    file = maker_name(&r.m, 64 * MB, "/data/all.h5");
    for (uint64_t k = 0; k < 4 * 1000; k++)
        maker_event(&r.m,
                    (struct wr_trace_event){.op = WR_TRACE_READ,
                                            .file = file,
                                            .start_ns = k * MS,
                                            .dur_ns = MS / 2,
                                            .offset = k * 7 % 1000 * 64 * KB,
                                            .bytes = 64 * KB});
    finish(&r);
    assert_int_equal(r.a->epoch_count, 4);
    assert_int_equal(r.a->set_unique, 64 * MB);
    assert_true(r.a->set_sequential < r.a->set_reads);
    assert_true(r.a->set_consecutive < 10);
    done(&r);
}

/* Files that are opened for each of 40 records. */
static void test_epochs_of_opened_again(void **state)
{
    struct result r;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 4000);
    for (unsigned k = 0; k < 20; k++)
        maker_name(&r.m, 4 * MB, "/data/%u.h5", k);
    for (unsigned k = 0; k < 60; k++)
        at = maker_records(&r.m, k % 20, 40, /* again= */ true, at);
    finish(&r);
    assert_int_equal(r.a->epoch_count, 3);
    done(&r);
}

/* Two ranks that read 1,000 small files each, a large one whole, and then its
 * first half again and again: the pass that has the files has few of the bytes,
 * the one that has the bytes has few files. */
static void test_epochs_of_unequal_passes(void **state)
{
    struct result r;
    uint32_t big;

    maker_open(&r.m);
    big = maker_name(&r.m, 8 * MB, "/data/big");
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t who = maker_process(&r.m, -1, 0, 4000);
        uint64_t at = MS;

        r.m.processes[who].rank = (int)rank;
        r.m.processes[who].world = 2;
        maker_again(&r.m, who);
        for (unsigned k = 0; k < 1000; k++)
            at = maker_whole(&r.m, who,
                             maker_name(&r.m, KB, "/data/%u/%u", rank, k), KB,
                             at, MS / 10);
        for (unsigned k = 0; k <= 200; k++, at += 5 * MS)
            maker_event(&r.m,
                        (struct wr_trace_event){.op = WR_TRACE_READ,
                                                .process = who,
                                                .file = big,
                                                .start_ns = at,
                                                .dur_ns = 2 * MS,
                                                .bytes = k ? 4 * MB : 8 * MB});
    }
    finish(&r);
    assert_int_equal(r.a->ranks, 2);
    assert_int_equal(r.a->epoch_count, 1);
    assert_int_equal(r.a->epochs[0].set_bytes, r.a->set_bytes);
    done(&r);
}

static void test_workers(void **state)
{
    struct script s = plain;
    struct result r;

    s.workers = 4;
    s.respawn = true;
    s.spawn_ns = 300 * MS;
    run(&r, &s);
    assert_int_equal(r.a->mains, 1);
    assert_int_equal(r.a->workers, 12);
    assert_int_equal(r.a->workers_at_once, 4);
    assert_int_equal(r.a->generations, 3);
    assert_int_equal(r.a->epoch_count, 3);
    assert_int_equal(r.a->actors[1].main, 0);
    assert_int_equal(r.a->actors[12].generation, 3);
    done(&r);
}

/* Pauses: decoding after each sample, computing after each batch. */
static void test_batches(void **state)
{
    struct result r;
    uint64_t sum;

    run(&r, &plain);
    assert_true(r.a->gap_split_ns > MS && r.a->gap_split_ns < 40 * MS);
    assert_int_equal(r.a->batches, 3 * 20 - 1);
    sum = wr_gaps_above(&r.a->gaps, r.a->gap_split_ns, NULL);
    assert_true(near((double)sum, 59.0 * 41e6, 0.01));
    done(&r);
}

static const struct wr_trace_phase *phase(const struct wr_trace_analysis *a,
                                          int kind)
{
    for (size_t k = 0; k < a->phase_count; k++)
        if (a->phases[k].kind == kind)
            return &a->phases[k];
    return NULL;
}

static void test_phases(void **state)
{
    struct script s = plain;
    const struct wr_trace_phase *p;
    uint32_t code, folder, model;
    struct result r;

    maker_open(&r.m);
    s.start_ns = 3000 * MS;
    s.epochs = 1;
    r.end = script_run(&r.m, &s);
    code = maker_kind(&r.m, WR_TRACE_RUNTIME, "/usr/lib/python3/os.py");
    folder = maker_kind(&r.m, WR_TRACE_DATA, "/data/train");
    model = maker_kind(&r.m, WR_TRACE_DATA, "/out/model.pt");
    for (uint64_t k = 0; k < 1000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                                  .file = code,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    for (uint64_t k = 1000; k < 3000; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_STAT,
                                                  .file = folder,
                                                  .start_ns = k * MS,
                                                  .dur_ns = MS / 2});
    for (uint64_t k = 0; k < 100; k++)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                                  .file = model,
                                                  .offset = k * MB,
                                                  .bytes = MB,
                                                  .start_ns = r.end.end_ns +
                                                              k * 10 * MS,
                                                  .dur_ns = 10 * MS});
    r.m.processes[0].end_ns += 1000 * MS;
    maker_again(&r.m, 0);
    finish(&r);
    p = phase(r.a, WR_TRACE_PHASE_IMPORT);
    assert_non_null(p);
    assert_true(p->start_ns < 20 * MS && near((double)p->end_ns, 1e9, 0.02));
    p = phase(r.a, WR_TRACE_PHASE_SCAN);
    assert_non_null(p);
    assert_true(near((double)(p->end_ns - p->start_ns), 2e9, 0.02));
    p = phase(r.a, WR_TRACE_PHASE_TRAIN);
    assert_non_null(p);
    assert_true(near((double)p->end_ns, (double)r.end.end_ns, 0.02));
    p = phase(r.a, WR_TRACE_PHASE_CHECKPOINT);
    assert_non_null(p);
    assert_true(near((double)(p->end_ns - p->start_ns), 1e9, 0.02));
    assert_null(phase(r.a, WR_TRACE_PHASE_EVALUATE));
    assert_int_equal(r.a->save_count, 1);
    assert_int_equal(r.a->saves[0].bytes, 100 * MB);
    assert_int_equal(r.a->saves[0].write_ns, 1000 * MS);
    assert_true(r.a->saves[0].main_thread);
    assert_int_equal(r.a->saves[0].files, 1);
    done(&r);
}

static void test_evaluation(void **state)
{
    struct script s = plain;
    struct result r;

    maker_open(&r.m);
    s.epochs = 1;
    r.end = script_run(&r.m, &s);
    s.folder = "/data/val";
    s.start_ns = r.end.end_ns;
    s.parent = 1; /* a child does it: other processes are fine */
    r.end = script_run(&r.m, &s);
    finish(&r);
    assert_non_null(phase(r.a, WR_TRACE_PHASE_EVALUATE));
    assert_int_equal(r.a->epoch_count, 1);
    done(&r);
}

/* Zero-byte reads at the end are no reads; small ones are counted. */
static void test_small_reads(void **state)
{
    struct result r;
    uint32_t file;
    uint64_t at = 0;

    maker_open(&r.m);
    maker_process(&r.m, -1, 0, 1000);
    file = maker_name(&r.m, 40 * KB, "/data/a");
    for (uint64_t k = 0; k < 11; k++, at += MS)
        maker_event(&r.m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                                  .file = file,
                                                  .offset = k * 4 * KB,
                                                  .bytes = k < 10 ? 4 * KB : 0,
                                                  .start_ns = at,
                                                  .dur_ns = 1000});
    finish(&r);
    assert_int_equal(r.a->uses[file].reads, 11);
    assert_int_equal(r.a->uses[file].zero_reads, 1);
    assert_int_equal(r.a->set_reads, 10);
    assert_int_equal(r.a->set_consecutive, 10);
    assert_int_equal(r.a->uses[file].small_reads, 9);
    done(&r);
}

static void test_mounts(void **state)
{
    struct result r;

    run(&r, &plain);
    assert_int_equal(r.a->mount_count, 2);
    assert_string_equal(wr_trace_mount_of(r.a, "/data/x")->type, "nfs4");
    assert_true(wr_trace_mount_of(r.a, "/data")->network);
    assert_string_equal(wr_trace_mount_of(r.a, "/database")->type, "ext4");
    assert_int_equal(wr_trace_mount_of(r.a, "/data/x")->block, 1048576);
    done(&r);
}

/* What the kernel counted: each process has its own; after exec it goes on. */
static void test_kernel_counts(void **state)
{
    struct script s = plain;
    struct result r;

    maker_open(&r.m);
    s.workers = 2;
    r.end = script_run(&r.m, &s);
    r.m.processes[0].read_bytes = 500;
    r.m.processes[1].read_bytes = 200;
    r.m.processes[2].read_bytes = 250;
    r.m.processes[2].pid = r.m.processes[0].pid; /* another program */
    for (uint32_t k = 0; k < 3; k++)
        maker_again(&r.m, k);
    finish(&r);
    assert_int_equal(r.a->device_read, 700);
    assert_true(r.a->counted_read == UINT64_MAX);
    done(&r);
}

static void test_empty(void **state)
{
    struct result r;

    maker_open(&r.m);
    finish(&r);
    assert_int_equal(r.a->events, 0);
    assert_int_equal(r.a->epoch_count, 0);
    done(&r);
}

static void test_cover(void **state)
{
    struct wr_cover c = {0};

    wr_cover_add(&c, 10, 20);
    wr_cover_add(&c, 15, 25);
    assert_int_equal(c.total, 15);
    wr_cover_add(&c, 30, 40);
    assert_int_equal(c.total, 25);
    wr_cover_add(&c, 26, 28); /* came late, lies before */
    assert_int_equal(c.total, 27);
    wr_cover_add(&c, 0, 100);
    assert_int_equal(c.total, 100);
    for (uint64_t k = 0; k < 1000; k++)
        wr_cover_add(&c, 200 + k * 10, 205 + k * 10);
    assert_int_equal(c.total, 5100);
    wr_cover_add(&c, 0, 20000);
    assert_true(c.total <= 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_epochs_of_ranks),
        cmocka_unit_test(test_epochs_of_one_file),
        cmocka_unit_test(test_epochs_of_unequal_passes),
        cmocka_unit_test(test_epochs_of_opened_again),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_small_reads),
        cmocka_unit_test(test_mounts),
        cmocka_unit_test(test_kernel_counts),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_cover)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
