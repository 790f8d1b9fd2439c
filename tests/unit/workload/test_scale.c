/* test_scale.c - smaller versions of workloads keep their shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/catalog.h"
#include "workload/derive.h"

static struct wr_workload *scaled(const char *name, double factor,
                                  uint64_t world)
{
    struct wr_workload *w = NULL;
    weir_err err = {0};

    if (wr_workload_load(name, NULL, 0, NULL, NULL, &w, &err) < 0 ||
        wr_workload_scale(w, factor, world, &err) < 0)
        fail_msg("%s: %s", name, err.msg);
    return w;
}

static void test_files_first(void **state)
{
    struct wr_workload *w = scaled("cosmoflow_a100", 0.01, 1);

    assert_int_equal(w->dataset.files_train, 5243);
    assert_int_equal(w->dataset.samples_per_file, 1);
    wr_workload_free(w);
    w = scaled("resnet50_a100", 0.1, 1); /* 128,102.4 samples of 1251 */
    assert_int_equal(w->dataset.files_train, 103);
    assert_int_equal(w->dataset.samples_per_file, 1244);
    wr_workload_free(w);
    w = scaled("ffn", 0.01, 1); /* one file: fewer samples */
    assert_int_equal(w->dataset.files_train, 1);
    assert_int_equal(w->dataset.samples_per_file, 41);
    assert_int_equal(w->train.steps, 4);
    wr_workload_free(w);
}

/* Two steps are left, and sizes stay. */
static void test_least(void **state)
{
    struct wr_workload *w = scaled("unet3d_a100", 0.001, 4);
    struct wr_derived d;

    assert_int_equal(wr_workload_derive(w, 4, 0, &d, NULL), 0);
    assert_int_equal(d.steps, 2);
    assert_int_equal(w->dataset.files_train, 2 * 7 * 4);
    assert_true(w->dataset.record_bytes == 146600628);
    assert_int_equal(w->reader.batch, 7);
    wr_workload_free(w);
    w = scaled("imagenet_resnet50", 0.001, 4); /* ranks share no file */
    assert_int_equal(w->dataset.files_train % 4, 0);
    assert_int_equal(wr_workload_derive(w, 4, 0, &d, NULL), 0);
    assert_int_equal(d.steps, 2);
    wr_workload_free(w);
}

static void test_checkpoints(void **state)
{
    struct wr_workload *w = scaled("l2hmc", 0.1, 1);
    struct wr_derived d;

    assert_int_equal(w->train.steps, 15);
    assert_int_equal(w->checkpoint.steps_between, 5);
    assert_int_equal(wr_workload_derive(w, 1, 0, &d, NULL), 0);
    assert_int_equal(d.checkpoints, 3);
    wr_workload_free(w);
}

/* Every workload that trains, scaled down to almost nothing, still runs. */
static void test_all(void **state)
{
    const struct wr_catalog_entry *e;

    for (size_t i = 0; (e = wr_catalog_at(i)); i++) {
        struct wr_workload *w = NULL;
        struct wr_derived before, after;
        uint64_t world = !strcmp(e->name, "megatron_deepspeed") ? 32 : 4;

        assert_int_equal(
            wr_workload_load(e->name, NULL, 0, NULL, NULL, &w, NULL), 0);
        if (w->workflow.train) {
            assert_int_equal(wr_workload_derive(w, world, 0, &before, NULL), 0);
            assert_int_equal(wr_workload_scale(w, 1e-6, world, NULL), 0);
            assert_int_equal(wr_workload_derive(w, world, 0, &after, NULL), 0);
            assert_true(after.steps >= 2 || after.steps == before.steps);
            assert_true(after.dataset_bytes <= before.dataset_bytes);
            assert_true(!before.checkpoints || after.checkpoints);
        }
        wr_workload_free(w);
    }
}

static void test_wrong_factor(void **state)
{
    static const double factors[] = {0, -1, 1.5, 0.0 / 0.0};
    struct wr_workload *w = given("train: {}\n", NULL, NULL);
    weir_err err = {0};

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(wr_workload_scale(w, factors[i], 1, &err),
                         WEIR_EINVAL);
    assert_int_equal(wr_workload_scale(w, 1, 1, &err), 0);
    assert_int_equal(w->dataset.files_train, 8);
    wr_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_first),  cmocka_unit_test(test_least),
        cmocka_unit_test(test_checkpoints),  cmocka_unit_test(test_all),
        cmocka_unit_test(test_wrong_factor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
