/* test_train.c - a run of training: its end, its times, its checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "../gen/scratch.h"
#include "base/mem.h"
#include "train/tally.h"
#include "train/train.h"
#include "gen/generate.h"

#define SAMPLES 22u
#define BATCH   4u
#define EPOCH   6u /* iterations: the last batch is filled up */

/* A folder, and a data set in it. */
struct place {
    struct scratch *scratch;
    weir_dataset *ds;
};

static int setup(void **state)
{
    struct wr_gen_config cfg = {
        .kind = "tensors",
        .samples = SAMPLES,
        .classes = 3,
        .threads = 1,
        .shape = {.dtype = WEIR_F32, .ndim = 3, .dims = {8, 8, 3}}};
    struct place *p = calloc(1, sizeof(*p));
    static struct wr_gen_result res;
    char target[PATH_MAX];

    if (!p || scratch_setup((void **)&p->scratch) < 0)
        return -1;
    snprintf(target, sizeof(target), "%s", scratch_at(p->scratch, "data"));
    cfg.target = target;
    *state = p;
    return wr_gen_run(&cfg, &res, NULL) < 0
               ? -1
               : weir_dataset_open(&p->ds, target, NULL, NULL);
}

static int teardown(void **state)
{
    struct place *p = *state;

    weir_dataset_close(&p->ds);
    scratch_teardown((void **)&p->scratch);
    free(p);
    return 0;
}

static void plan_for(const struct place *p, struct wr_train_plan *ret)
{
    wr_train_defaults(ret);
    ret->ds = p->ds;
    ret->feed.batch = BATCH;
    ret->feed.threads = 2;
    ret->width = 0.02;
    ret->rows = 100;
    assert_int_equal(wr_accelerator_parse("ms=1", &ret->accelerator, NULL), 0);
}

static void run_ok(const struct wr_train_plan *plan,
                   struct wr_train_result *ret)
{
    weir_err err = {0};
    int r = wr_train(plan, ret, &err);

    if (r < 0)
        print_error("%s\n", err.msg);
    assert_int_equal(r, 0);
}

static void run_fails(const struct wr_train_plan *plan, int code,
                      const char *why)
{
    struct wr_train_result res;
    weir_err err = {0};
    int r = wr_train(plan, &res, &err);

    if (r != code || !strstr(err.msg, why))
        print_error("%s\n", r < 0 ? err.msg : "it ran");
    assert_int_equal(r, code);
    assert_non_null(strstr(err.msg, why));
    wr_train_done(&res);
}

static void test_emulated(void **state)
{
    struct wr_train_plan plan;
    struct wr_train_result res;

    plan_for(*state, &plan);
    plan.epochs = 2;
    run_ok(&plan, &res);
    assert_int_equal(res.done, 2 * EPOCH);
    assert_int_equal(res.per_epoch, EPOCH);
    assert_int_equal(res.samples, 2 * EPOCH * BATCH);
    assert_int_equal(wr_series_rows(&res.series), 2 * EPOCH);
    assert_true(res.step_s >= 0.001 * 2 * EPOCH);
    assert_true(res.wait_s + res.step_s <= res.seconds);
    assert_true(isnan(res.loss_first));
    assert_false(res.has_digest);
    assert_int_equal(res.save_count, 0);
    wr_train_done(&res);
}

static void test_none(void **state)
{
    struct wr_train_plan plan;
    struct wr_train_result res;

    plan_for(*state, &plan);
    assert_int_equal(wr_accelerator_parse("none", &plan.accelerator, NULL), 0);
    plan.feed.prefetch = 0;
    plan.iterations = 8;
    plan.epochs = 0;
    run_ok(&plan, &res);
    assert_int_equal(res.done, 8);
    assert_int_equal(res.stats.batches, 8);
    wr_train_done(&res);
}

static void test_synthetic(void **state)
{
    struct wr_train_plan plan;
    struct wr_train_result res;

    plan_for(*state, &plan);
    plan.synthetic = true;
    run_fails(&plan, WEIR_EINVAL, "no epochs");
    plan.iterations = 3;
    run_ok(&plan, &res);
    assert_int_equal(res.done, 3);
    assert_int_equal(res.samples, 3 * BATCH);
    wr_train_done(&res);
}

/* Waits for the first batch are no limit: every run begins with one. */
static void test_limit(void **state)
{
    static const struct {
        double first, later, save;
        enum wr_train_limit limit;
    } cases[] = {
        {5, 0.001, 0, WR_TRAIN_LIMIT_COMPUTE},
        {5, 0.5, 0, WR_TRAIN_LIMIT_INPUT},
        {0, 0.5, 0, WR_TRAIN_LIMIT_INPUT},
        {5, 0.5, 40, WR_TRAIN_LIMIT_SAVE},
        {60, 0.5, 40, WR_TRAIN_LIMIT_SAVE},
    };
    const struct wr_train_feed none = {0};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        struct wr_train_result res;
        struct wr_train_tally t;

        assert_int_equal(wr_train_tally_init(&t, 10, &res, NULL), 0);
        res.save_s = cases[i].save;
        for (int k = 0; k < 10; k++)
            wr_train_tally_row(
                &t, &(struct wr_train_row){.wait_s = k ? cases[i].later
                                                       : cases[i].first,
                                           .step_s = 1});
        wr_train_tally_end(&t, &none);
        assert_int_equal(res.limit, cases[i].limit);
        wr_train_done(&res);
    }
}

static void test_no_end(void **state)
{
    struct wr_train_plan plan;

    plan_for(*state, &plan);
    plan.epochs = 0;
    run_fails(&plan, WEIR_EINVAL, "without an end");
}

/* --- checkpoints --- */

/* Texts of notes, one after the other. */
struct heard {
    char text[1000];
};

static void on_note(void *arg, const char *text)
{
    struct heard *h = arg;
    size_t n = strlen(h->text);

    snprintf(h->text + n, sizeof(h->text) - n, "%s\n", text);
}

static void test_saves(void **state)
{
    struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    char folder[PATH_MAX];

    plan_for(p, &plan);
    snprintf(folder, sizeof(folder), "%s", scratch_at(p->scratch, "ckpt"));
    plan.ckpt.fast = folder;
    plan.iterations = 10;
    plan.epochs = 0;
    plan.save_every = 4;
    run_ok(&plan, &res);
    assert_int_equal(res.save_count, 3); /* after 4, 8 and at the end */
    assert_int_equal(res.saves[1].step, 8);
    assert_int_equal(res.saves[2].step, 10);
    assert_true(res.saves[2].fast_s > 0);
    assert_int_equal(res.saved, 10);
    assert_true(res.state_bytes >= res.parameters * 12);
    wr_train_done(&res);

    run_fails(&plan, WEIR_EEXIST, "--resume");
    plan.resume = true;
    plan.iterations = 13;
    run_ok(&plan, &res);
    assert_int_equal(res.from, 10);
    assert_int_equal(res.done, 13);
    assert_int_equal(res.samples, 3 * BATCH);
    wr_train_done(&res);

    /* All was done: nothing is, and that is no error. */
    run_ok(&plan, &res);
    assert_int_equal(res.from, 13);
    assert_int_equal(res.done, 13);
    assert_int_equal(res.save_count, 0);
    wr_train_done(&res);
}

static void test_two_tiers(void **state)
{
    static const enum weir_level levels[] = {WEIR_LEVEL_SNAPSHOT,
                                             WEIR_LEVEL_FAST, WEIR_LEVEL_SLOW,
                                             WEIR_LEVEL_VERIFIED};
    struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    char fast[PATH_MAX], slow[PATH_MAX];

    for (size_t i = 0; i < WR_ARRAY_LEN(levels); i++) {
        plan_for(p, &plan);
        snprintf(fast, sizeof(fast), "%s/fast%zu", p->scratch->dir, i);
        snprintf(slow, sizeof(slow), "%s/slow%zu", p->scratch->dir, i);
        plan.ckpt.fast = fast;
        plan.ckpt.slow = slow;
        plan.level = levels[i];
        plan.save_every = 2;
        run_ok(&plan, &res);
        assert_int_equal(res.save_count, EPOCH / 2);
        for (size_t k = 0; k < res.save_kept; k++)
            assert_true(res.saves[k].slow_s > 0 && res.saves[k].verified_s > 0);
        wr_train_done(&res);
    }
}

/* A setting that changes what is learned is refused by its name. */
static void test_other_settings(void **state)
{
    struct place *p = *state;
    struct wr_train_plan plan, other;
    struct wr_train_result res;
    char folder[PATH_MAX];

    plan_for(p, &plan);
    snprintf(folder, sizeof(folder), "%s", scratch_at(p->scratch, "ckpt"));
    plan.ckpt.fast = folder;
    run_ok(&plan, &res);
    wr_train_done(&res);
    plan.resume = true;
    plan.epochs = 2;
    other = plan;
    other.width = 0.04;
    run_fails(&other, WEIR_ESTATE, "--width was 0.02");
    other = plan;
    other.feed.batch = 2;
    run_fails(&other, WEIR_ESTATE, "--batch was 4");
    other = plan;
    other.learning_rate = 0.1;
    run_fails(&other, WEIR_ESTATE, "--learning-rate");
    other = plan;
    other.seed = 9;
    run_fails(&other, WEIR_ESTATE, "--seed");
    other = plan;
    other.classes = 5;
    run_fails(&other, WEIR_ESTATE, "the number of classes was 3");
    run_ok(&plan, &res);
    assert_int_equal(res.done, 2 * EPOCH);
    wr_train_done(&res);
}

static bool is_stopped(void)
{
    return true;
}

/* A run that is stopped saves what it has; one that resumes without anything to
 * resume from says so. */
static void test_stopped(void **state)
{
    struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    struct heard heard = {0};
    char folder[PATH_MAX];
    weir_err err = {0};

    plan_for(p, &plan);
    snprintf(folder, sizeof(folder), "%s", scratch_at(p->scratch, "ckpt"));
    plan.ckpt.fast = folder;
    plan.accelerator.kind = WR_ACCELERATOR_NONE;
    plan.resume = true;
    plan.note = on_note;
    plan.arg = &heard;
    plan.synthetic = true; /* its batches never wait: one iteration is done */
    plan.iterations = 5;
    plan.stopped = is_stopped;
    assert_int_equal(wr_train(&plan, &res, &err), WEIR_ECANCELED);
    assert_non_null(strstr(heard.text, "no checkpoint yet"));
    assert_int_equal(res.done, 1);
    assert_true(res.has_saved && res.saved == 1);
    wr_train_done(&res);
    plan.stopped = NULL;
    run_ok(&plan, &res);
    assert_int_equal(res.from, 1);
    assert_int_equal(res.done, 5);
    wr_train_done(&res);
}

static void hang(void *arg, const struct wr_train_news *news)
{
    struct place *p = arg;

    (void)news;
    scratch_put(p->scratch, "hangs", "");
}

static unsigned count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;

    assert_non_null(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

/* Storage that neither answers nor fails does not keep a run from its end. */
static void test_slow_tier_hangs(void **state)
{
    struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    char fast[PATH_MAX], slow[2 * PATH_MAX];
    unsigned threads = count_threads();
    weir_err err = {0};

    plan_for(p, &plan);
    snprintf(fast, sizeof(fast), "%s/fast", p->scratch->dir);
    snprintf(slow, sizeof(slow), "fault:hang=%s/hangs:%s/slow", p->scratch->dir,
             p->scratch->dir);
    plan.ckpt.fast = fast;
    plan.ckpt.slow = slow;
    plan.ckpt.drain_timeout_ms = 300;
    plan.ckpt.close_timeout_ms = 100;
    plan.progress = hang;
    plan.arg = p;
    assert_int_equal(wr_train(&plan, &res, &err), WEIR_ETIMEDOUT);
    assert_non_null(strstr(err.msg, "has not answered"));
    assert_int_equal(res.done, EPOCH);
    assert_true(res.has_saved && res.saved == EPOCH);
    wr_train_done(&res);
    remove(scratch_at(p->scratch, "hangs"));
    while (count_threads() > threads) /* the thread left behind ends */
        usleep(1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_emulated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_synthetic, setup, teardown),
        cmocka_unit_test(test_limit),
        cmocka_unit_test_setup_teardown(test_no_end, setup, teardown),
        cmocka_unit_test_setup_teardown(test_saves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_tiers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slow_tier_hangs, setup, teardown),
    };

    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
