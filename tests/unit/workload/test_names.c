/* test_names.c - names of files, and their samples' sides.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/derive.h"

static void test_names(void **state)
{
    struct wr_workload *w = given(
        "dataset: {format: npz, num_files_train: 168, num_files_eval: 8, "
        "num_subfolders_train: 10, file_prefix: img}\n",
        NULL, NULL);
    char name[128];

    wr_workload_file_name(w, false, 17, name, sizeof(name));
    assert_string_equal(name, "train/07/img_017_of_168.npz");
    wr_workload_file_name(w, true, 3, name, sizeof(name));
    assert_string_equal(name, "valid/img_3_of_8.npz");
    w->dataset.subfolders_train = 1;
    w->dataset.format = WR_WL_INDEXED_BINARY;
    wr_workload_file_name(w, false, 0, name, sizeof(name));
    assert_string_equal(name, "train/img_000_of_168.indexed_binary");
    assert_int_equal(wr_workload_file_name(w, false, 0, name, 4), 35);
    wr_workload_free(w);
}

static void test_square(void **state)
{
    struct wr_workload *w = given("dataset: {record_length_bytes: 114660.07}\n",
                                  NULL, NULL);
    struct wr_wl_dims d;

    wr_workload_sides(w, 1, 5, &d);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.dim[0], 338);
    assert_int_equal(d.dim[1], 338);
    wr_workload_free(w);
}

static void test_dims(void **state)
{
    struct wr_workload *w = given("dataset: {record_dims: [4, 5, 6]}\n", NULL,
                                  NULL);
    struct wr_wl_dims d;

    wr_workload_sides(w, 1, 5, &d);
    assert_int_equal(d.count, 3);
    assert_int_equal(d.dim[2], 6);
    wr_workload_free(w);
}

/* unet3d: the sizes of files spread as the description says. */
static void test_deviation(void **state)
{
    struct wr_workload *w = given("dataset: {record_length_bytes: 146600628, "
                                  "record_length_bytes_stdev: 68341808}\n",
                                  NULL, NULL);
    double sum = 0, squares = 0, root = sqrt(146600628.0);
    const unsigned files = 20000;
    struct wr_wl_dims d, again;

    for (unsigned i = 0; i < files; i++) {
        wr_workload_sides(w, 10, i, &d);
        sum += (double)d.dim[0];
        squares += (double)d.dim[0] * (double)d.dim[0];
        assert_true(d.dim[0] >= 1 && d.dim[1] >= 1);
    }
    sum /= files;
    assert_true(fabs(sum - root) < 0.01 * root);
    assert_true(fabs(sqrt(squares / files - sum * sum) -
                     68341808 / (2 * root)) < 0.02 * root);
    wr_workload_sides(w, 10, 7, &d);
    wr_workload_sides(w, 10, 7, &again);
    assert_int_equal(d.count, again.count);
    assert_memory_equal(d.dim, again.dim, d.count * sizeof(d.dim[0]));
    assert_int_not_equal(d.dim[0], d.dim[1]);
    wr_workload_sides(w, 11, 7, &again);
    assert_int_not_equal(d.dim[0], again.dim[0]);
    wr_workload_free(w);
}

static void test_element_types(void **state)
{
    assert_int_equal(wr_wl_element_bytes("uint8"), 1);
    assert_int_equal(wr_wl_element_bytes("float32"), 4);
    assert_int_equal(wr_wl_element_bytes("f8"), 8);
    assert_int_equal(wr_wl_element_bytes("complex64"), 0);
    assert_int_equal(wr_wl_element_bytes(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),         cmocka_unit_test(test_square),
        cmocka_unit_test(test_dims),          cmocka_unit_test(test_deviation),
        cmocka_unit_test(test_element_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
