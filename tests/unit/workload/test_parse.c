/* test_parse.c - files of DLIO's, wrappers, aliases, defaults and overrides.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"

static void test_defaults(void **state)
{
    struct wr_workload *w = given("train: {}\n", NULL, NULL);

    assert_int_equal(w->framework, WR_WL_TENSORFLOW);
    assert_int_equal(w->dataset.format, WR_WL_TFRECORD);
    assert_int_equal(w->dataset.files_train, 8);
    assert_true(w->dataset.record_bytes == 65536);
    assert_string_equal(w->dataset.element_type, "uint8");
    assert_int_equal(w->model.size_bytes, 10240);
    assert_int_equal(w->model.num_layers, -1);
    assert_int_equal(w->reader.access, WR_WL_ACCESS_AUTO);
    assert_int_equal(w->train.computation.law, WR_WL_NONE);
    assert_int_equal(w->train.steps, -1);
    assert_int_equal(w->train.seed, 123);
    assert_true(w->metric.au == 0.9);
    assert_true(w->workflow.train);
    assert_true(isnan(w->weir.figures.io_percent));
    assert_null(w->weir.title);
    assert_string_equal(w->file, "my.yaml");
    wr_workload_free(w);
}

/* The text is gone when the description is used. */
static void test_owns_its_texts(void **state)
{
    char *text = strdup("model: {name: abc}\ndataset: {file_prefix: part}\n");
    struct wr_workload *w = given(text, NULL, NULL);

    memset(text, 'x', strlen(text));
    free(text);
    assert_string_equal(w->model.name, "abc");
    assert_string_equal(w->dataset.file_prefix, "part");
    wr_workload_free(w);
}

static void test_hydra(void **state)
{
    struct given_notes notes = {0};
    struct wr_workload *w = given("defaults:\n  - _self_\nhydra: {run: {dir: "
                                  "x}}\nworkload:\n  train: {epochs: 4}\n",
                                  "++hydra.run.dir=/tmp/x", &notes);

    assert_int_equal(w->train.epochs, 4);
    assert_string_equal(
        notes.text,
        "'my.yaml':1:1: defaults has no effect: it is for Hydra\n"
        "'my.yaml':3:1: hydra has no effect: it is for Hydra\n"
        "override '++hydra.run.dir=/tmp/x': hydra.run.dir has no effect: it is "
        "for Hydra\n");
    wr_workload_free(w);
}

static void test_dead_keys(void **state)
{
    struct given_notes notes = {0};
    struct wr_workload *w = given("model:\n  model_size: 499153191\n"
                                  "logging: {level: debug}\n",
                                  NULL, &notes);

    assert_string_equal(notes.text,
                        "'my.yaml':2:3: model.model_size has no effect: DLIO "
                        "does not read it; use model_size_bytes\n"
                        "'my.yaml':3:1: logging has no effect: DLIO does not "
                        "read it\n");
    assert_int_equal(w->model.size_bytes, 10240);
    wr_workload_free(w);
}

static void test_alias_section(void **state)
{
    struct wr_workload *w = given("data_reader: {batch_size: 7}\n",
                                  "data_reader.read_threads=3", NULL);

    assert_int_equal(w->reader.batch, 7);
    assert_int_equal(w->reader.threads, 3);
    wr_workload_free(w);
}

static void test_anchors(void **state)
{
    struct wr_workload *w = given("train: {computation_time: &t {mean: 2, "
                                  "stdev: 1}}\nevaluation: {eval_time: *t}\n"
                                  "dataset: {record_dims: &d [2, 3]}\n"
                                  "reader: {transformed_record_dims: *d}\n",
                                  NULL, NULL);

    assert_int_equal(w->eval.time.law, WR_WL_NORMAL);
    assert_true(w->eval.time.a == 2 && w->eval.time.b == 1);
    assert_int_equal(w->reader.transformed_dims.count, 2);
    assert_int_equal(w->reader.transformed_dims.dim[1], 3);
    wr_workload_free(w);
}

static void test_times(void **state)
{
    struct wr_workload *w;

    w = given("train:\n  computation_time_stdev: 0.5\n  computation_time: 2\n",
              NULL, NULL);
    assert_int_equal(w->train.computation.law, WR_WL_NORMAL);
    assert_true(w->train.computation.a == 2 && w->train.computation.b == 0.5);
    wr_workload_free(w);

    w = given("train: {computation_time: 2, computation_time_stdev: 0.5}\n",
              "train.computation_time_stdev=null", NULL);
    assert_int_equal(w->train.computation.law, WR_WL_FIXED);
    wr_workload_free(w);

    w = given("reader: {preprocess_time: {type: gamma, shape: 2, scale: 3}}\n",
              NULL, NULL);
    assert_int_equal(w->reader.preprocess.law, WR_WL_GAMMA);
    assert_true(w->reader.preprocess.a == 2 && w->reader.preprocess.b == 3);
    wr_workload_free(w);
}

static void test_overrides(void **state)
{
    struct wr_workload *w;

    w = given("train: {epochs: 3}\n", "train={epochs: 5, seed: 9}", NULL);
    assert_int_equal(w->train.epochs, 5);
    assert_int_equal(w->train.seed, 9);
    wr_workload_free(w);
    w = given("train: {epochs: 3}\n", "train.epochs=null", NULL);
    assert_int_equal(w->train.epochs, 1);
    wr_workload_free(w);
    w = given("train: {epochs: 3}\n", "train.epochs=", NULL);
    assert_int_equal(w->train.epochs, 1);
    wr_workload_free(w);
    w = given("dataset: {data_folder: a}\n", "dataset.data_folder=/d/x=y",
              NULL);
    assert_string_equal(w->dataset.data_folder, "/d/x=y");
    wr_workload_free(w);
    w = given("framework: pytorch\n", "framework=tensorflow", NULL);
    assert_int_equal(w->framework, WR_WL_TENSORFLOW);
    wr_workload_free(w);
}

/* Who named a place: nobody, a line of the file, or the command line. */
static void test_said(void **state)
{
    static const char text[] = "dataset:\n  data_folder: a\n"
                               "storage: {storage_root: b}\n";
    struct wr_workload *w;

    w = given(text, "dataset.data_folder=/c", NULL);
    assert_true(w->said.data.command && w->said.data.line == 0);
    assert_true(!w->said.root.command && w->said.root.line == 3);
    assert_true(!w->said.checkpoints.command && !w->said.checkpoints.line);
    wr_workload_free(w);
    w = given(text, "checkpoint={checkpoint_folder: /d}", NULL);
    assert_true(!w->said.data.command && w->said.data.line == 2);
    assert_true(w->said.checkpoints.command);
    wr_workload_free(w);
}

/* What lies below a key without effect has none either. */
static void test_below_dead(void **state)
{
    struct given_notes notes = {0};
    struct wr_workload *w = given(
        "train: {}\n",
        "++workload.storage.storage_options.storage_library=minio", &notes);

    assert_string_equal(
        notes.text,
        "override '++workload.storage.storage_options.storage_library=minio': "
        "storage.storage_options.storage_library has no effect: weir takes a "
        "URL of the storage instead\n");
    wr_workload_free(w);
}

static void test_only_once(void **state)
{
    struct wr_workload *w = given(
        "evaluation: {epochs_between_evals: 0}\n"
        "checkpoint: {epochs_between_checkpoints: 0}\n",
        NULL, NULL);

    assert_int_equal(w->eval.epochs_between, 1000000000);
    assert_int_equal(w->checkpoint.epochs_between, 1000000000);
    wr_workload_free(w);
}

/* As tools write a bare `off` back. */
static void test_shuffle_off(void **state)
{
    struct wr_workload *w = given(
        "reader: {file_shuffle: False, sample_shuffle: off}\n", NULL, NULL);

    assert_int_equal(w->reader.file_shuffle, WR_WL_SHUFFLE_OFF);
    assert_int_equal(w->reader.sample_shuffle, WR_WL_SHUFFLE_OFF);
    wr_workload_free(w);
}

static void test_numbers(void **state)
{
    struct wr_workload *w = given(
        "dataset: {num_files_train: 1_000, record_length_bytes: "
        "114660.07}\nreader: {batch_size: 4e2, transfer_size: 256KiB}\n"
        "train: {seed: 18446744073709551615}\n",
        NULL, NULL);

    assert_int_equal(w->dataset.files_train, 1000);
    assert_true(w->dataset.record_bytes == 114660.07);
    assert_int_equal(w->reader.batch, 400);
    assert_int_equal(w->reader.transfer_size, 262144);
    assert_true(w->train.seed == UINT64_MAX);
    wr_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_owns_its_texts),
        cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_dead_keys),
        cmocka_unit_test(test_alias_section),
        cmocka_unit_test(test_anchors),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_below_dead),
        cmocka_unit_test(test_only_once),
        cmocka_unit_test(test_shuffle_off),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
