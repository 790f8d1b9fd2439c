/* test_explain.c - the lines of --explain.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/catalog.h"
#include "workload/explain.h"

static struct wr_explain explained(const char *name, uint64_t world)
{
    struct wr_workload *w = NULL;
    struct wr_derived d;
    struct wr_explain e;

    assert_int_equal(wr_workload_load(name, NULL, 0, NULL, NULL, &w, NULL), 0);
    assert_int_equal(wr_workload_derive(w, world, 64e9, &d, NULL), 0);
    wr_workload_explain(w, &d, &e);
    wr_workload_free(w);
    return e;
}

static const struct wr_explain_row *row(const struct wr_explain *e,
                                        const char *group, const char *name)
{
    for (size_t i = 0; i < e->count; i++)
        if (!strcmp(e->row[i].group, group) && !strcmp(e->row[i].name, name))
            return &e->row[i];
    return NULL;
}

static void expect(const struct wr_explain *e, const char *group,
                   const char *name, const char *value)
{
    const struct wr_explain_row *r = row(e, group, name);

    assert_non_null(r);
    assert_string_equal(r->value, value);
}

static void test_unet3d(void **state)
{
    struct wr_explain e = explained("unet3d_a100", 8);

    expect(&e, "data set", "files", "168");
    expect(&e, "data set", "sample size", "147 MB");
    expect(&e, "training", "steps per epoch", "3");
    expect(&e, "one accelerator needs", "bytes", "1.6 GB/s");
    expect(&e, "one accelerator needs", "files", "11/s");
    expect(&e, "all of them need", "bytes", "12.9 GB/s");
    expect(&e, "memory", "one batch", "1.0 GB");
    expect(&e, "checkpoints", "saved per run", "1");
    expect(&e, "MLPerf Storage requires", "samples", "28,000");
    expect(&e, "run", "takes at least", "9.54 s");
    assert_string_equal(row(&e, "MLPerf Storage requires", "samples")->note,
                        "500 steps and 5 times the memory of all hosts: "
                        "too few here");
}

static void test_llama(void **state)
{
    struct wr_explain e = explained("llama3_8b", 8);

    expect(&e, "checkpoints", "saved per run", "10");
    expect(&e, "checkpoints", "read back", "10");
    expect(&e, "checkpoints", "size of one", "112 GB");
    expect(&e, "checkpoints", "parameters", "8.03 billion");
    assert_null(row(&e, "training", "steps per epoch"));
    assert_null(row(&e, "data set", "files"));
}

static void test_climate(void **state)
{
    struct wr_explain e = explained("climate", 8);

    expect(&e, "at the end", "files of each rank", "3");
    expect(&e, "training", "steps per epoch", "1,200");
    assert_null(row(&e, "one accelerator needs", "bytes"));
}

/* No row is cut, none is lost, and groups stay together. */
static void test_all(void **state)
{
    const struct wr_catalog_entry *c;

    for (size_t i = 0; (c = wr_catalog_at(i)); i++) {
        struct wr_workload *w = NULL;
        struct wr_explain e;

        assert_int_equal(
            wr_workload_load(c->name, NULL, 0, NULL, NULL, &w, NULL), 0);
        e = explained(c->name, w->model.tensor * w->model.pipeline);
        wr_workload_free(w);

        assert_true(e.count > 0 && e.count < WR_EXPLAIN_ROWS);
        for (size_t k = 0; k < e.count; k++) {
            assert_true(strlen(e.row[k].name) < sizeof(e.row[k].name) - 1);
            assert_true(strlen(e.row[k].value) < sizeof(e.row[k].value) - 1);
            assert_true(strlen(e.row[k].note) < sizeof(e.row[k].note) - 1);
            for (size_t j = k + 2; j < e.count; j++)
                if (e.row[j].group == e.row[k].group)
                    assert_ptr_equal(e.row[j - 1].group, e.row[k].group);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unet3d),
        cmocka_unit_test(test_llama),
        cmocka_unit_test(test_climate),
        cmocka_unit_test(test_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
