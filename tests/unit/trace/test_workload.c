/* test_workload.c - descriptions of made-up traces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../trace/maker.h"

#include <stdlib.h>
#include <string.h>

#include "trace/workload.h"

enum { FILES = 64, BATCH = 8, EPOCHS = 2 };

struct shape {
    bool shuffled, saves;
    const char *ending;
};

static void save(struct maker *m, uint32_t p, uint32_t file, uint64_t at)
{
    maker_event(
        m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                   .flags = WR_TRACE_CREATE | WR_TRACE_WRITES,
                                   .file = file,
                                   .process = p,
                                   .start_ns = at,
                                   .dur_ns = 1000});
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_WRITE,
                                           .file = file,
                                           .process = p,
                                           .start_ns = at + 2000,
                                           .dur_ns = 50 * MS,
                                           .bytes = 40 * MB});
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_SYNC,
                                           .file = file,
                                           .process = p,
                                           .start_ns = at + 51 * MS,
                                           .dur_ns = 20 * MS});
}

/* Two epochs over 64 files; 100 ms of computing after each batch of 8. */
static struct wr_trace_file *training(struct maker *m, struct shape s)
{
    uint32_t p, files[FILES], states[EPOCHS], script;
    uint64_t at = 10 * MS;

    maker_open(m);
    p = maker_process(m, -1, 0, 20000);
    script = maker_name(m, 2 * KB, "/scripts/train.py");
    for (unsigned k = 0; k < FILES; k++)
        files[k] = maker_name(m, 100 * KB, "/data/%02u%s", k, s.ending);
    for (unsigned e = 0; e < EPOCHS; e++)
        states[e] = maker_name(m, 0, "/out/state-%u.pt", e);
    at = maker_whole(m, p, script, 2 * KB, at, MS);
    for (unsigned e = 0; e < EPOCHS; e++) {
        for (unsigned k = 0; k < FILES; k++) {
            unsigned which = s.shuffled ? (k * 29 + e * 7) % FILES : k;

            at = maker_whole(m, p, files[which], 100 * KB, at + MS / 10, MS);
            if (k % BATCH == BATCH - 1)
                at += 100 * MS;
        }
        if (s.saves)
            save(m, p, states[e], at);
        at += 1500 * MS;
    }
    return maker_read(m);
}

static void look(struct shape s, struct wr_traced_run *ret,
                 struct wr_workload **ret_w)
{
    struct maker m;
    struct wr_trace_file *f = training(&m, s);
    struct wr_trace_analysis *a = NULL;
    char *text = NULL;
    weir_err err;

    assert_int_equal(wr_trace_analyse(f, &a, &err), 0);
    assert_int_equal(wr_traced_run_of(a, f, ret, &err), 0);
    wr_trace_analysis_free(a);
    assert_int_equal(wr_traced_workload(f, "a \"b\"\n.wtrace", &text, &err), 0);
    assert_int_equal(wr_workload_parse("test", text, strlen(text), NULL, 0,
                                       NULL, NULL, ret_w, &err),
                     0);
    free(text);
    wr_trace_file_close(f);
    maker_done(&m);
}

static void test_shuffled_images_with_saves(void **state)
{
    struct wr_traced_run run;
    struct wr_workload *w = NULL;

    (void)state;
    look((struct shape){true, true, ".jpg"}, &run, &w);
    assert_int_equal(w->dataset.format, WR_WL_JPEG);
    assert_int_equal(w->dataset.files_train, FILES);
    assert_int_equal(w->dataset.samples_per_file, 1);
    assert_float_equal(w->dataset.record_bytes, 100e3, 1);
    assert_int_equal(w->reader.batch, BATCH);
    assert_int_equal(w->reader.threads, 1);
    assert_int_equal(w->reader.file_shuffle, WR_WL_SHUFFLE_SEED);
    assert_int_equal(w->train.epochs, EPOCHS);
    assert_int_equal(w->train.computation.law, WR_WL_FIXED);
    assert_float_equal(w->train.computation.a, 0.1, 0.005);
    assert_true(w->workflow.checkpoint);
    assert_int_equal(w->model.size_bytes, 40 * MB);
    assert_true(w->checkpoint.fsync);
    assert_int_equal(w->checkpoint.epochs_between, 1);
    assert_int_equal(run.saves, EPOCHS);
    wr_workload_free(w);
}

static void test_in_order_without_saves(void **state)
{
    struct wr_traced_run run;
    struct wr_workload *w = NULL;

    (void)state;
    look((struct shape){false, false, ".odd"}, &run, &w);
    assert_false(run.set.format_known);
    assert_false(run.set.shuffled_files);
    assert_int_equal(w->reader.file_shuffle, WR_WL_SHUFFLE_OFF);
    assert_false(w->workflow.checkpoint);
    wr_workload_free(w);
}

static void test_nothing_is_read(void **state)
{
    struct maker m;
    struct wr_trace_file *f;
    char *text = NULL;
    weir_err err;

    (void)state;
    maker_open(&m);
    maker_process(&m, -1, 0, 100);
    f = maker_read(&m);
    assert_int_equal(wr_traced_workload(f, "x", &text, &err), WEIR_EINVAL);
    assert_null(text);
    wr_trace_file_close(f);
    maker_done(&m);
}

static void test_endings(void **state)
{
    enum wr_wl_format f;

    (void)state;
    assert_true(wr_traced_format("/d/A.JPG", &f));
    assert_int_equal(f, WR_WL_JPEG);
    assert_true(wr_traced_format("/d/train.tfrecord-00001-of-00002", &f));
    assert_int_equal(f, WR_WL_TFRECORD);
    assert_true(wr_traced_format("x.hdf5", &f));
    assert_int_equal(f, WR_WL_HDF5);
    assert_false(wr_traced_format(".jpg", &f));
    assert_false(wr_traced_format("/d/readme", &f));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_shuffled_images_with_saves),
        cmocka_unit_test(test_in_order_without_saves),
        cmocka_unit_test(test_nothing_is_read),
        cmocka_unit_test(test_endings),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
