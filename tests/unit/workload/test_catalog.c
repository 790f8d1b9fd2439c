/* test_catalog.c - what is built in: every description is whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "given.h"
#include "workload/catalog.h"
#include "workload/derive.h"

static void test_order(void **state)
{
    const struct wr_catalog_entry *a, *b;
    size_t count = 1;

    for (; (b = wr_catalog_at(count)); count++) {
        int order;

        a = wr_catalog_at(count - 1);
        order = strcmp(a->group, b->group);
        assert_true(order < 0 || (order == 0 && strcmp(a->name, b->name) < 0));
    }
    assert_true(count >= 40);
    assert_null(wr_catalog_at(1000000));
    assert_null(wr_catalog_find("unet3d"));
    assert_string_equal(wr_catalog_find("unet3d_a100")->group, "mlperf");
}

/* Nothing to remark on, a title and a source, and it comes back as it was. */
static void test_each(void **state)
{
    const struct wr_catalog_entry *e;

    for (size_t i = 0; (e = wr_catalog_at(i)); i++) {
        struct given_notes notes = {0};
        struct wr_workload *w = NULL, *back = NULL;
        char *text, *again;
        weir_err err = {0};

        assert_int_equal(strlen(e->text), e->len);
        if (wr_workload_load(e->name, NULL, 0, given_note, &notes, &w, &err) <
            0)
            fail_msg("%s", err.msg);
        assert_int_equal(notes.count, 0);
        assert_non_null(w->weir.title);
        assert_true(strlen(w->weir.title) <= 90);
        assert_null(strchr(w->weir.title, '\n'));
        assert_non_null(w->weir.source);
        text = wr_workload_yaml(w);
        back = given(text, NULL, NULL);
        again = wr_workload_yaml(back);
        assert_string_equal(text, again);
        free(text);
        free(again);
        wr_workload_free(w);
        wr_workload_free(back);
    }
}

/* The ten of the analysis have what it measured. */
static void test_ten(void **state)
{
    static const char *const names[] = {
        "imagenet_resnet50", "cosmic_tagger", "ffn",   "climate",
        "cosmoflow_seed",    "candle_nt3",    "l2hmc", "bert_mrpc",
        "mmaadsp",           "frnn"};

    for (size_t i = 0; i < 10; i++) {
        const struct wr_catalog_entry *e = wr_catalog_find(names[i]);
        struct wr_workload *w = NULL;
        const struct wr_wl_figures *f;

        assert_non_null(e);
        assert_string_equal(e->group, "seed");
        assert_int_equal(
            wr_workload_load(names[i], NULL, 0, NULL, NULL, &w, NULL), 0);
        f = &w->weir.figures;
        assert_false(isnan(f->io_percent) && isnan(f->request_bytes));
        wr_workload_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_ten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
