/* test_saves.c - saves are listed with their times, once each, and settle.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/saves.h"

struct fixture {
    char dir[40], fast[64], slow[64];
    weir_ckpt_config cfg;
    struct wr_saves saves;
    float numbers[100];
    weir_tensor tensor;
    uint64_t also; /* the step that was told last */
};

static bool stop;

static bool stopped(void)
{
    return stop;
}

static int on_also(void *arg, uint64_t step, weir_err *err)
{
    ((struct fixture *)arg)->also = step;
    return 0;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    strcpy(f->dir, "/tmp/weir-saves-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->fast, sizeof(f->fast), "%s/fast", f->dir);
    snprintf(f->slow, sizeof(f->slow), "%s/slow", f->dir);
    weir_ckpt_defaults(&f->cfg);
    f->cfg.fast = f->fast;
    f->cfg.slow = f->slow;
    f->tensor = (weir_tensor){.name = "w",
                              .dtype = WEIR_F32,
                              .ndim = 1,
                              .shape = {100},
                              .data = f->numbers};
    f->saves = (struct wr_saves){.stopped = stopped,
                                 .also = on_also,
                                 .also_arg = f,
                                 .every = 3,
                                 .zero_ns = wr_clock_ns()};
    stop = false;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[80];

    free(f->saves.saves);
    snprintf(command, sizeof(command), "rm -r %s", f->dir);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static int save_step(struct fixture *f, uint64_t step, enum weir_level level)
{
    const weir_ckpt_state state = {
        .step = step, .tensors = &f->tensor, .count = 1};
    weir_err err;
    int r = wr_saves_save(&f->saves, &state, level, &err);

    if (r < 0)
        fail_msg("%s", err.msg);
    return r;
}

static void test_times(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;

    f->cfg.verify = true;
    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    assert_true(isnan(s->last.fast_s) || s->total == 0);
    s->epoch = 2;
    for (uint64_t step = 1; step <= 3; step++) {
        s->block = step;
        save_step(f, step, WEIR_LEVEL_FAST);
        assert_int_equal(s->durable, step);
        assert_int_equal(f->also, step);
    }
    save_step(f, 3, WEIR_LEVEL_FAST); /* it is saved already */
    assert_int_equal(s->total, 3);
    assert_int_equal(wr_saves_settle(s, WEIR_LEVEL_VERIFIED, NULL), 0);
    assert_int_equal(wr_saves_close(s, NULL), 0);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->noted, 3);
    assert_int_equal(s->stats.saves, 3);
    for (size_t k = 0; k < s->count; k++) {
        const struct wr_saved *w = &s->saves[k];

        assert_int_equal(w->step, k + 1);
        assert_int_equal(w->epoch, 2);
        assert_int_equal(w->block, k + 1);
        assert_true(w->bytes >= sizeof(f->numbers) && w->stall_s > 0);
        assert_true(w->at_s > (k ? s->saves[k - 1].at_s : 0));
        assert_true(w->fast_s > 0 && w->slow_s >= w->fast_s);
        assert_true(w->verified_s >= w->slow_s && w->drain_s > 0);
        assert_true(s->stall_max_s >= w->stall_s && s->stall_s > w->stall_s);
    }
}

/* One folder has no times of a slow tier, and a copy in memory is not there
 * before it is written. */
static void test_one_tier(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;

    f->cfg.slow = NULL;
    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    save_step(f, 5, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(wr_saves_close(s, NULL), 0);
    assert_int_equal(s->durable, 5);
    assert_true(s->saves[0].fast_s > 0);
    assert_true(isnan(s->saves[0].slow_s) && isnan(s->saves[0].verified_s));
}

static void test_due(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;

    assert_false(wr_saves_is_due(s, 3)); /* it is not open */
    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    assert_true(wr_saves_is_due(s, 3) && wr_saves_is_due(s, 6));
    assert_false(wr_saves_is_due(s, 4));
    s->every = 0;
    assert_false(wr_saves_is_due(s, 3));
    assert_int_equal(wr_saves_close(s, NULL), 0);
}

static void test_restore(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;
    const weir_ckpt_state into = {.tensors = &f->tensor, .count = 1};
    struct wr_saved load = {.step = 99};

    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    assert_int_equal(wr_saves_restore(s, &into, &load, NULL), 0);
    assert_int_equal(load.step, 99);
    f->numbers[7] = 42;
    save_step(f, 8, WEIR_LEVEL_FAST);
    f->numbers[7] = 0;
    assert_int_equal(wr_saves_restore(s, &into, &load, NULL), 1);
    assert_true(load.step == 8 && load.stall_s > 0 && f->numbers[7] == 42);
    assert_int_equal(wr_saves_close(s, NULL), 0);
}

/* A later process does not save again what it went on from. */
static void test_resume(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;

    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    wr_saves_resume(s, 4);
    assert_int_equal(s->durable, 4);
    save_step(f, 4, WEIR_LEVEL_FAST);
    assert_int_equal(s->total, 0);
    assert_int_equal(wr_saves_close(s, NULL), 0);
}

static void test_stopped(void **state)
{
    struct fixture *f = *state;
    struct wr_saves *s = &f->saves;

    assert_int_equal(wr_saves_open(s, &f->cfg, NULL), 0);
    save_step(f, 1, WEIR_LEVEL_FAST);
    stop = true;
    assert_int_equal(wr_saves_settle(s, WEIR_LEVEL_SLOW, NULL), WEIR_ECANCELED);
    assert_int_equal(wr_saves_close(s, NULL), 0);
}

/* Only what is worth nothing gets the mark of benchmarks. */
static void test_mark(void **state)
{
    struct fixture *f = *state;
    char mark[96];

    snprintf(mark, sizeof(mark), "%s/.weir/benched", f->slow);
    assert_int_equal(wr_saves_open(&f->saves, &f->cfg, NULL), 0);
    assert_int_not_equal(access(mark, F_OK), 0);
    assert_int_equal(wr_saves_close(&f->saves, NULL), 0);
    free(f->saves.saves);
    f->saves.random = true;
    assert_int_equal(wr_saves_open(&f->saves, &f->cfg, NULL), 0);
    assert_int_equal(access(mark, F_OK), 0);
    assert_int_equal(wr_saves_close(&f->saves, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_tier, setup, teardown),
        cmocka_unit_test_setup_teardown(test_due, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restore, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mark, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
