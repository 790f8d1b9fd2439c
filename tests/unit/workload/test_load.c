/* test_load.c - descriptions of files: those there are, and those there are not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/schema.h"

static const char *failure(const char *name)
{
    static weir_err err;
    struct wr_workload *w = NULL;

    memset(&err, 0, sizeof(err));
    assert_true(wr_workload_load(name, NULL, 0, NULL, NULL, &w, &err) < 0);
    return err.msg;
}

static void test_missing(void **state)
{
    assert_string_equal(failure("unet3d_a10"),
                        "'unet3d_a10': neither a built-in workload nor a file "
                        "(did you mean unet3d_a100?)");
    assert_string_equal(failure("qqqqqqqqqq"),
                        "'qqqqqqqqqq': neither a built-in workload nor a "
                        "file");
    assert_string_equal(failure("none/such.yaml"),
                        "'none/such.yaml': cannot open: No such file or "
                        "directory");
    assert_string_equal(failure("/"), "'/': cannot open: it is a folder, not a "
                                      "regular file");
}

static void load_data(const char *file, struct given_notes *notes,
                      struct wr_workload **ret)
{
    weir_err err = {0};
    char path[512];

    snprintf(path, sizeof(path), WEIR_TEST_DATA "/workloads/%s", file);
    if (wr_workload_load(path, NULL, 0, given_note, notes, ret, &err) < 0)
        fail_msg("%s", err.msg);
}

/* A description as DLIO's users write them, with all that has no effect. */
static void test_dead(void **state)
{
    struct given_notes notes = {0};
    struct wr_workload *w = NULL;
    const struct wr_wl_key *k;
    unsigned dead = 0;

    load_data("dead.yaml", &notes, &w);
    for (size_t i = 0; (k = wr_wl_key_at(i)); i++)
        dead += k->kind == WR_WL_KEY_DEAD;
    assert_int_equal(notes.count, dead);
    assert_int_equal(w->train.epochs, 3);
    wr_workload_free(w);
}

static void test_hydra(void **state)
{
    struct given_notes notes = {0};
    struct wr_workload *w = NULL;

    load_data("hydra.yaml", &notes, &w);
    assert_int_equal(notes.count, 2);
    assert_int_equal(w->framework, WR_WL_PYTORCH);
    assert_int_equal(w->dataset.files_train, 168);
    assert_int_equal(w->train.computation.law, WR_WL_NORMAL);
    assert_int_equal(w->reader.batch, 4);
    wr_workload_free(w);
}

static void test_override(void **state)
{
    static const char *const overrides[] = {"train.epochs=9",
                                            "dataset.num_files_train=20"};
    struct wr_workload *w = NULL;

    assert_int_equal(
        wr_workload_load("unet3d_a100", overrides, 2, NULL, NULL, &w, NULL), 0);
    assert_int_equal(w->train.epochs, 9);
    assert_int_equal(w->dataset.files_train, 20);
    wr_workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_override),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
