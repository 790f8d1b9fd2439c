/* test_derive.c - steps, bytes and demands that follow from descriptions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/derive.h"

static struct wr_derived derived(const char *name, uint64_t world,
                                 double memory)
{
    struct wr_workload *w = NULL;
    struct wr_derived d = {0};
    weir_err err = {0};

    if (wr_workload_load(name, NULL, 0, NULL, NULL, &w, &err) < 0 ||
        wr_workload_derive(w, world, memory, &d, &err) < 0)
        fail_msg("%s", err.msg);
    wr_workload_free(w);
    return d;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 0.005 * fabs(b);
}

/* Bytes per second that one accelerator demands, as MLPerf's tables have it. */
static void test_demand(void **state)
{
    assert_true(near(derived("unet3d_a100", 1, 0).bytes_per_s, 1.6135e9));
    assert_true(near(derived("unet3d_h100", 1, 0).bytes_per_s, 3.177e9));
    assert_true(near(derived("unet3d_b200", 1, 0).bytes_per_s, 6.334e9));
    assert_true(near(derived("cosmoflow_h100", 1, 0).bytes_per_s, 808.1e6));
    assert_true(near(derived("resnet50_a100", 1, 0).bytes_per_s, 105.1e6));
    assert_true(near(derived("retinanet_b200", 1, 0).bytes_per_s, 162.8e6));
    assert_true(near(derived("retinanet_b200", 1, 0).files_per_s, 504.7));
    assert_true(near(derived("bert_v100", 1, 0).bytes_per_s, 124e3));
}

static void test_steps(void **state)
{
    struct wr_derived d = derived("unet3d_a100", 2, 0);

    assert_int_equal(d.steps, 12); /* 168 / 7 / 2 */
    assert_int_equal(d.samples_train, 168);
    assert_int_equal(d.checkpoints, 1);
    assert_true(near(d.seconds, 5 * 12 * 0.636));
    assert_true(near(d.epoch_bytes, 168 * 146600628.0));
    assert_int_equal(derived("resnet50_a100", 8, 0).steps, 400);
    assert_int_equal(derived("imagenet_resnet50", 8, 0).steps, 110);
    assert_int_equal(derived("bert_v100", 8, 0).checkpoints, 4);
    d = derived("default", 2, 0);
    assert_int_equal(d.eval_steps, 4);
    assert_true(near(d.seconds, 10 * (8 * 1.0 + 4 * 0.5)));
}

/* Who reads what decides how many steps there are. */
static void test_access(void **state)
{
    static const char text[] = "dataset: {num_files_train: 7, "
                               "num_samples_per_file: 10}\n"
                               "reader: {batch_size: 5}\n";
    static const struct {
        const char *access;
        uint64_t steps;
    } cases[] = {
        {"reader.file_access=auto", 7}, /* 70 / 5 / 2 */
        {"reader.file_access=shared", 7},
        {"reader.file_access=multi", 6}, /* 3 files each */
        {"reader.file_access=same", 14},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_workload *w = given(text, cases[i].access, NULL);
        struct wr_derived d;

        assert_int_equal(wr_workload_derive(w, 2, 0, &d, NULL), 0);
        assert_int_equal(d.steps, cases[i].steps);
        wr_workload_free(w);
    }
}

/* All of it is read once; then steps go on as long as they are asked for. */
static void test_memory(void **state)
{
    struct wr_derived d = derived("climate", 8, 0);

    assert_int_equal(d.steps, 1200);
    assert_true(d.epoch_bytes == 8 * 500);
    assert_true(d.bytes_per_s == 0);
    d = derived("candle_nt3", 8, 0);
    assert_int_equal(d.steps, 56);
    assert_true(near(d.seconds, 60 * 46.27));
}

static void test_rule(void **state)
{
    /* 500 steps of 7 for 4 accelerators; then 5 times 1 TB. */
    assert_int_equal(derived("unet3d_a100", 4, 1e9).rule_samples, 14000);
    assert_int_equal(derived("unet3d_a100", 4, 1e12).rule_samples, 34107);
}

static void expect_fail(const char *text, uint64_t world, const char *message)
{
    struct wr_workload *w = given(text, NULL, NULL);
    struct wr_derived d;
    weir_err err = {0};

    assert_int_equal(wr_workload_derive(w, world, 0, &d, &err), WEIR_EINVAL);
    assert_string_equal(err.msg, message);
    wr_workload_free(w);
}

static void test_failures(void **state)
{
    expect_fail("reader: {batch_size: 16}\n", 1,
                "'my.yaml': 8 samples are less than one batch of 16 for each "
                "of 1 accelerators");
    expect_fail("reader: {file_access: multi}\n", 9,
                "'my.yaml': 8 files of 1 samples give no batch of 1 to each of "
                "9 accelerators, which share no file");
    expect_fail("workflow: {checkpoint: true}\n"
                "model: {parallelism: {tensor: 8}}\n",
                4,
                "'my.yaml': 4 accelerators are not a multiple of tensor x "
                "pipeline, 8 (checkpoint.mode=subset saves a part)");
    expect_fail("train: {}\n", 0, "there are no accelerators");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demand), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_access), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rule),   cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
