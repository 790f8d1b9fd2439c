/* test_tensors.c - what ranks save, against the sizes that are published.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/derive.h"

#define GIB 0x1p30

static struct wr_workload *loaded(const char *name)
{
    struct wr_workload *w = NULL;
    weir_err err = {0};

    if (wr_workload_load(name, NULL, 0, NULL, NULL, &w, &err) < 0)
        fail_msg("%s", err.msg);
    return w;
}

/* GiB of all ranks, by the sum over each of them. */
static double total(const struct wr_workload *w, uint64_t world,
                    const char *prefix)
{
    double sum = 0;

    for (uint64_t rank = 0; rank < world; rank++) {
        struct wr_wl_tensor *list = NULL;
        size_t count = 0;

        assert_int_equal(
            wr_workload_tensors(w, rank, world, &list, &count, NULL), 0);
        for (size_t i = 0; i < count; i++)
            if (!strncmp(list[i].name, prefix, strlen(prefix)))
                sum += (double)list[i].bytes;
        free(list);
    }
    return sum / GIB;
}

static void expect(const char *name, uint64_t world, double model,
                   double optimizer)
{
    struct wr_workload *w = loaded(name);
    struct wr_derived d;

    assert_int_equal(wr_workload_derive(w, world, 0, &d, NULL), 0);
    assert_true(fabs(total(w, world, "layer.") - model) < 0.0005 * model);
    assert_true(fabs(total(w, world, "optimizer.") - optimizer) <
                0.001 * optimizer);
    /* Derived without asking every rank. */
    assert_true(fabs(d.checkpoint_bytes / GIB - total(w, world, "")) <
                1e-9 * d.checkpoint_bytes / GIB);
    assert_true(d.rank_checkpoint_bytes * (double)world >=
                d.checkpoint_bytes * (1 - 1e-12));
    wr_workload_free(w);
}

static void test_published(void **state)
{
    expect("llama_7b", 1, 12.551, 75.304);
    expect("llama_7b", 8, 12.551, 75.304);
    expect("llama_7b_zero3", 8, 12.551, 75.304);
    expect("llama3_8b", 8, 14.958, 89.746);
    expect("llama_70b", 64, 130.17, 781.0);
    expect("llama3_70b", 64, 130.17, 781.0);
    expect("llama3_405b", 512, 756.0, 4535.8);
}

static void test_parameters(void **state)
{
    struct wr_workload *w = loaded("llama3_8b");

    assert_true(fabs(wr_workload_parameters(w) - 8.030e9) < 1e6);
    wr_workload_free(w);
    w = loaded("llama3_405b");
    assert_true(fabs(wr_workload_parameters(w) - 405.9e9) < 1e8);
    wr_workload_free(w);
    w = loaded("unet3d_a100");
    assert_true(wr_workload_parameters(w) == 0);
    wr_workload_free(w);
}

/* Without ZeRO the first copy of the model saves, the others do not. */
static void test_who_saves(void **state)
{
    struct wr_workload *w = given("workflow: {checkpoint: true}\n"
                                  "model: {model_size_bytes: 1000}\n",
                                  NULL, NULL);

    assert_true(total(w, 1, "model") * GIB == 1000);
    assert_true(total(w, 4, "") * GIB == 1000);
    wr_workload_free(w);
}

/* Layers are dealt to stages with the remainder first, and each comes once. */
static void test_stages(void **state)
{
    struct wr_workload *w = given(
        "model: {type: transformer, num_layers: 5, parallelism: "
        "{pipeline: 2}}\n",
        NULL, NULL);
    struct wr_wl_tensor *list = NULL;
    size_t count = 0;

    assert_int_equal(wr_workload_tensors(w, 0, 2, &list, &count, NULL), 0);
    assert_string_equal(list[0].name, "layer.0.0"); /* embedding */
    assert_string_equal(list[1].name, "layer.1.0");
    assert_int_equal(count, 1 + 3 * 6 + 6);
    assert_string_equal(list[0].dtype, "F16");
    assert_int_equal(list[0].elements, 32000 * 2048);
    assert_int_equal(list[0].bytes, 2 * 32000 * 2048);
    assert_string_equal(list[count - 1].dtype, "F32");
    free(list);
    assert_int_equal(wr_workload_tensors(w, 1, 2, &list, &count, NULL), 0);
    assert_string_equal(list[0].name, "layer.4.0");
    assert_string_equal(list[12].name, "layer.6.0"); /* head */
    assert_string_equal(list[13].name, "layer.7.0"); /* norm */
    assert_int_equal(count, 2 * 6 + 2 + 6);
    free(list);
    wr_workload_free(w);
}

static void test_groups(void **state)
{
    struct wr_workload *w = loaded("megatron_deepspeed");
    double groups = 1009254400.0 + 865075200 + 793600;

    assert_true(fabs(total(w, 32, "optimizer.") * GIB - 32 * 3 * groups) < 1);
    assert_true(fabs(total(w, 32, "layer.") * GIB -
                     40 * 2 * (52583936.0 + 209715200)) < 1);
    wr_workload_free(w);
}

static void test_subset(void **state)
{
    struct wr_workload *w = loaded("llama3_8b");
    double whole = total(w, 64, ""), part;

    w->checkpoint.subset = true;
    w->model.data = 64;
    part = total(w, 8, "");
    assert_true(fabs(part - whole / 8) < 1e-6 * whole);
    assert_int_equal(wr_workload_tensors(w, 0, 65, &(struct wr_wl_tensor *){0},
                                         &(size_t){0}, NULL),
                     WEIR_EINVAL);
    wr_workload_free(w);
}

/* A subset may end within a copy of the model, or within a stage. */
static void test_any_subset(void **state)
{
    struct wr_workload *w = given(
        "workflow: {train: false, checkpoint: true}\n"
        "checkpoint: {mode: subset}\n"
        "weir: {checkpoint_files: [100, 200]}\n"
        "model: {num_layers: 5, parallelism: {tensor: 4, pipeline: 2, "
        "data: 3, zero_stage: 1}}\n",
        NULL, NULL);

    for (uint64_t world = 1; world <= 24; world++) {
        struct wr_derived d;
        double sum = total(w, world, "") * GIB + 300;

        assert_int_equal(wr_workload_derive(w, world, 0, &d, NULL), 0);
        assert_true(fabs(d.checkpoint_bytes - sum) < 1e-9 * sum);
    }
    wr_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),  cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_who_saves),  cmocka_unit_test(test_stages),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_subset),
        cmocka_unit_test(test_any_subset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
