/* test_run.c - a small study, stopped in the middle, and resumed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_up.h"
#include "study/folder.h"

static char dir[256], folder[300];
static size_t told; /* calls of on_progress */
static int left;    /* progress until it is stopped; below 0: never */

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    snprintf(folder, sizeof(folder), "%s/s", dir);
    return 0;
}

static int teardown(void **state)
{
    char command[400];

    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    return system(command);
}

static bool stopped(void)
{
    return left == 0;
}

static void on_progress(void *arg, const struct wr_study_news *news)
{
    const struct wr_study *st = arg;

    told++;
    assert_true(*news->what);
    assert_true(news->total_s > 0);
    if (left > 0 && st->cell_count && wr_cell_runs(st->cells[1]))
        left--;
}

static struct wr_study_config config(void)
{
    return (struct wr_study_config){.folder = folder,
                                    .mode = WR_STUDY_QUICK,
                                    .wish = {.images = 4,
                                             .rounds = 2,
                                             .iterations = 2,
                                             .threads = {1, {1}}},
                                    .only = "fig5,fig8",
                                    .stopped = stopped,
                                    .progress = on_progress};
}

static int open_and_run(struct wr_study *st, weir_err *err)
{
    struct wr_study_config cfg = config();

    assert_int_equal(wr_study_init(st, &cfg, err), 0);
    st->cfg.progress_arg = st;
    return wr_study_run(st, err);
}

static size_t runs_of(const struct wr_study *st)
{
    size_t n = 0;

    for (size_t k = 0; k < st->cell_count; k++)
        n += wr_cell_runs(st->cells[k]);
    return n;
}

static double first_value(const struct wr_study *st)
{
    return json_real_value(
        json_object_get(json_array_get(st->cells[0]->runs, 0), "value"));
}

static void test_resume(void **state)
{
    struct wr_study st;
    json_t *record;
    double before;
    weir_err err;
    size_t done;

    left = 1;
    assert_int_equal(open_and_run(&st, &err), WEIR_ECANCELED);
    done = runs_of(&st);
    assert_true(done > 0 && done < 2 * st.cell_count);
    before = first_value(&st);
    wr_study_done(&st);

    left = -1;
    assert_int_equal(open_and_run(&st, &err), 0);
    assert_int_equal(runs_of(&st), 2 * st.cell_count);
    /* What was measured before is as it was; files have 12 digits. */
    assert_true(fabs(first_value(&st) / before - 1) < 1e-9);
    assert_true(wr_study_is_whole(&st, &wr_figure_fig8));
    record = wr_study_record(&st);
    assert_non_null(record);
    json_decref(record);
    wr_study_done(&st);

    /* Nothing is left to be done. */
    told = 0;
    assert_int_equal(open_and_run(&st, &err), 0);
    assert_int_equal(told, 0);
    wr_study_done(&st);
}

static void test_busy(void **state)
{
    struct wr_study_config cfg = config();
    struct wr_study one, two;
    weir_err err;

    assert_int_equal(wr_study_init(&one, &cfg, &err), 0);
    assert_int_equal(wr_study_init(&two, &cfg, &err), 0);
    assert_int_equal(wr_folder_make(&one, &err), 0);
    assert_int_equal(wr_folder_make(&two, &err), WEIR_EBUSY);
    assert_int_equal(wr_folder_clean(folder, &err), WEIR_EBUSY);
    wr_study_done(&one);
    assert_int_equal(wr_folder_clean(folder, &err), 0);
    assert_int_equal(wr_folder_data_bytes(&two), 0);
    wr_study_done(&two);
}

/* A run that fails is named, and keeps what others have measured. */
static void test_failure(void **state)
{
    struct wr_study_config cfg = config();
    struct wr_study st;
    weir_err err;

    cfg.only = "fig8";
    cfg.fresh = true;
    assert_int_equal(wr_study_init(&st, &cfg, &err), 0);
    st.cfg.progress_arg = &st;
    strcpy(st.cells[1]->job.accelerator, "abacus");
    assert_true(wr_study_run(&st, &err) < 0);
    assert_non_null(strstr(err.msg, "abacus"));
    assert_int_equal(wr_cell_runs(st.cells[1]), 0);
    wr_study_done(&st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_failure),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
