/* test_study.c - figures and cells of a study, its plan, and its record.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "made_up.h"
#include "study/data.h"
#include "study/run.h"

extern const struct wr_command wr_cmd_study;

/* The words of --only are the figures, in their order. */
static void test_registry(void **state)
{
    const struct wr_choice *c = NULL;
    size_t k = 0;

    for (const struct wr_option *o = wr_cmd_study.options; o->name; o++)
        if (!strcmp(o->name, "only"))
            c = o->choices;
    assert_non_null(c);
    for (; c[k].name; k++) {
        const struct wr_figure *f = wr_figure_at(k);

        assert_non_null(f);
        assert_string_equal(c[k].name, f->id);
        assert_int_equal(c[k].value, (int)k);
        assert_non_null(f->add);
        assert_non_null(f->judge);
        assert_true(*f->title && *f->question && *f->conclusion && *f->unit);
    }
    assert_null(wr_figure_at(k));
    assert_true(k <= WR_STUDY_FIGURES);
}

static int init(struct wr_study *st, enum wr_study_mode mode, const char *only,
                weir_err *err)
{
    return wr_study_init(st,
                         &(struct wr_study_config){.folder = "/nowhere/at/all",
                                                   .mode = mode,
                                                   .only = only},
                         err);
}

static void test_choice(void **state)
{
    struct wr_study st;
    weir_err err;

    assert_int_equal(init(&st, WR_STUDY_QUICK, "fig5,table1", &err), 0);
    assert_string_equal(st.figures[0]->id, "table1");
    assert_string_equal(st.figures[1]->id, "fig5");
    assert_null(st.figures[2]);
    wr_study_done(&st);
    assert_int_equal(init(&st, WR_STUDY_QUICK, "fig5,fig99", &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "'fig99'"));
    wr_study_done(&st);
}

/* No two cells of one name, and all of them with a time. */
static void test_cells(void **state)
{
    static const enum wr_study_mode modes[] = {WR_STUDY_DEFAULT, WR_STUDY_QUICK,
                                               WR_STUDY_FULL};

    for (size_t m = 0; m < 3; m++) {
        struct wr_study st;
        weir_err err;

        assert_int_equal(init(&st, modes[m], NULL, &err), 0);
        assert_true(st.cell_count > 20);
        for (size_t k = 0; k < st.cell_count; k++) {
            const struct wr_cell *c = st.cells[k];

            assert_true(c->estimate_s > 0 && c->estimate_s < 3600);
            assert_non_null(wr_estimate_runs_for(&st, c));
            if (*c->job.data)
                assert_non_null(wr_data_find(c->job.data));
            for (size_t i = 0; i < k; i++)
                assert_string_not_equal(st.cells[i]->id, c->id);
        }
        wr_study_done(&st);
    }
}

/* A cell that two figures share is what each of them asks for. */
static void test_shared(void **state)
{
    for (int mode = WR_STUDY_DEFAULT; mode <= WR_STUDY_FULL; mode++) {
        const struct wr_figure *f;
        struct wr_study all, one;
        weir_err err;

        assert_int_equal(init(&all, mode, NULL, &err), 0);
        for (size_t k = 0; (f = wr_figure_at(k)); k++) {
            assert_int_equal(init(&one, mode, f->id, &err), 0);
            for (size_t i = 0; i < one.cell_count; i++) {
                const struct wr_cell_job *job = &one.cells[i]->job;
                const struct wr_cell *c = wr_study_cell(&all, job);
                json_t *a = wr_cell_job_json(job);
                json_t *b = c ? wr_cell_job_json(&c->job) : NULL;

                if (!json_equal(a, b))
                    fail_msg("%s: two jobs are '%s'", f->id, one.cells[i]->id);
                json_decref(a);
                json_decref(b);
            }
            wr_study_done(&one);
        }
        wr_study_done(&all);
    }
}

/* The quick study is below five minutes; what is done takes no more time. */
static void test_estimate(void **state)
{
    double quick, all;
    struct wr_study st;
    weir_err err;

    assert_int_equal(init(&st, WR_STUDY_QUICK, NULL, &err), 0);
    quick = wr_estimate_all(&st);
    assert_true(quick > 30 && quick < 300);
    all = wr_data_seconds(&st);
    for (size_t k = 0; st.figures[k]; k++)
        all += wr_estimate_figure(&st, st.figures[k]);
    assert_true(all > quick * 0.999 && all < quick * 1.001);
    made_up_number(&st, "feed-imagenet-hdd-t1-read", "value", 100);
    assert_true(wr_estimate_all(&st) < quick - 3);
    wr_study_done(&st);
    assert_int_equal(init(&st, WR_STUDY_FULL, NULL, &err), 0);
    assert_true(wr_estimate_all(&st) > 3600);
    assert_true(wr_data_bytes(&st) > UINT64_C(10) << 30);
    wr_study_done(&st);
}

static void test_wishes(void **state)
{
    struct wr_scale s;

    wr_scale_of(
        WR_STUDY_QUICK,
        &(struct wr_scale_wish){
            .images = 8, .rounds = 2, .threads = {2, {1, 3}}, .width = 0.1},
        &s);
    assert_int_equal(s.images, 8);
    assert_int_equal(s.batch, 2);
    assert_int_equal(s.rounds, 2);
    assert_int_equal(s.save_rounds, 2);
    assert_int_equal(s.threads.v[1], 3);
    assert_true(s.width == 0.1);
    assert_non_null(strstr(s.note, "8 of 16,384 pictures; batches of 16 in 375 "
                                   "ms instead of 64 in 1500 ms; 10 of 142"));
    assert_non_null(strstr(s.note, "; a network of width 0.1; 2 runs instead "
                                   "of 6 (2 with checkpoints); "));
    wr_scale_of(WR_STUDY_FULL, &(struct wr_scale_wish){0}, &s);
    assert_int_equal(s.images, 16384);
    assert_int_equal(s.train_iterations, 142);
    assert_int_equal(s.batch, 64);
    assert_string_equal(s.note, "");
}

/* All figures are in the record, measured or not, each with a verdict. */
static void test_record(void **state)
{
    struct wr_study st;
    json_t *record, *figures, *f;
    weir_err err;
    size_t k;

    assert_int_equal(init(&st, WR_STUDY_QUICK, NULL, &err), 0);
    made_up_number(&st, "feed-imagenet-hdd-t1-read", "value", 100);
    record = wr_study_record(&st);
    assert_non_null(record);
    figures = json_object_get(record, "figures");
    for (k = 0; wr_figure_at(k); k++) {
        f = json_array_get(figures, k);
        assert_string_equal(json_string_value(json_object_get(f, "id")),
                            wr_figure_at(k)->id);
        assert_string_equal(json_string_value(json_object_get(f, "verdict")),
                            "cannot be seen here");
        assert_true(json_is_false(json_object_get(f, "complete")));
    }
    assert_int_equal(json_array_size(figures), k);
    json_decref(record);
    wr_study_done(&st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_cells),    cmocka_unit_test(test_shared),
        cmocka_unit_test(test_estimate), cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
