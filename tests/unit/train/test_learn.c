/* test_learn.c - steps of learning and validation, and what can be wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "../gen/scratch.h"
#include "base/mem.h"
#include "train/store.h"
#include "train/learn.h"
#include "gen/generate.h"

#define SIDE    67u
#define SAMPLES 46u
#define CLASSES 3u

/* A folder, and data sets in it. */
struct place {
    struct scratch *scratch;
    weir_dataset *ds, *small; /* small: of a size that no network takes */
};

static int make(struct place *p, const char *name, uint64_t side,
                weir_dataset **ret)
{
    struct wr_gen_config cfg = {
        .kind = "tensors",
        .samples = SAMPLES,
        .classes = CLASSES,
        .threads = 1,
        .shape = {.dtype = WEIR_F32, .ndim = 3, .dims = {side, side, 3}}};
    static struct wr_gen_result res;
    char target[PATH_MAX];

    snprintf(target, sizeof(target), "%s", scratch_at(p->scratch, name));
    cfg.target = target;
    return wr_gen_run(&cfg, &res, NULL) < 0
               ? -1
               : weir_dataset_open(ret, target, NULL, NULL);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    if (!p || scratch_setup((void **)&p->scratch) < 0)
        return -1;
    *state = p;
    return make(p, "data", SIDE, &p->ds) < 0 ? -1
                                             : make(p, "small", 8, &p->small);
}

static int teardown(void **state)
{
    struct place *p = *state;

    weir_dataset_close(&p->ds);
    weir_dataset_close(&p->small);
    scratch_teardown((void **)&p->scratch);
    free(p);
    return 0;
}

static void plan_for(const weir_dataset *ds, struct wr_train_plan *ret)
{
    wr_train_defaults(ret);
    ret->ds = ds;
    ret->feed.batch = 5;
    ret->feed.picture.width = ret->feed.picture.height = SIDE;
    ret->feed.threads = 2;
    ret->feed.holdout = 0.25f;
    ret->feed.part = WEIR_PART_TRAIN;
    ret->validate = true;
    ret->width = 0.03;
    ret->compute_threads = 2;
    ret->rows = 100;
    assert_int_equal(wr_accelerator_parse("cpu", &ret->accelerator, NULL), 0);
    assert_int_equal(wr_engine_find("reference", &ret->engine, NULL), 0);
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

/* What the held-out samples give with fresh weights and batches of this size. */
static struct wr_train_validation judged(const weir_dataset *ds, uint32_t batch)
{
    struct wr_train_plan plan;
    struct wr_train_result res;
    struct wr_train_tally tally;
    struct wr_train_state state;
    struct wr_train_validation last;
    struct wr_learner learner;
    struct wr_net net;

    plan_for(ds, &plan);
    plan.feed.batch = batch;
    assert_int_equal(
        wr_net_init(&net,
                    &(struct wr_net_spec){plan.width, CLASSES, SIDE, SIDE, 3},
                    NULL),
        0);
    assert_int_equal(wr_train_state_init(&state, &net, 1, false, NULL), 0);
    assert_int_equal(wr_train_tally_init(&tally, 10, &res, NULL), 0);
    assert_int_equal(wr_learner_open(&learner, &plan, &net, &state, NULL), 0);
    assert_int_equal(wr_validate(&learner, &tally, NULL), 0);
    assert_int_equal(res.validation_count, 1);
    assert_int_equal(res.last.samples, wr_validate_count(&plan));
    last = res.last;
    wr_learner_close(&learner);
    wr_train_state_done(&state);
    wr_train_done(&res);
    return last;
}

/* Every held-out sample counts once, however they fall into batches. */
static void test_short_batches(void **state)
{
    const struct place *p = *state;
    struct wr_train_validation one = judged(p->ds, 1);

    assert_true(one.samples >= 10 && one.samples < SAMPLES / 2);
    for (uint32_t batch = 4; batch < 60; batch += 11) {
        struct wr_train_validation v = judged(p->ds, batch);

        assert_int_equal(v.samples, one.samples);
        assert_int_equal(v.right, one.right);
        assert_true(fabs(v.loss - one.loss) < 1e-4);
    }
}

static void test_run(void **state)
{
    const struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    weir_err err = {0};

    plan_for(p->ds, &plan);
    plan.epochs = 2;
    assert_int_equal(wr_train(&plan, &res, &err), 0);
    assert_int_equal(res.validation_count, 2);
    assert_int_equal(res.last.samples, res.held_out);
    assert_int_equal(res.last.step, res.done);
    assert_true(res.loss_first > 0 && res.has_digest);
    /* Padding repeats samples, but only of the training part. */
    assert_int_equal(res.per_epoch, (SAMPLES - res.held_out + 4) / 5);
    wr_train_done(&res);
}

static void test_wrong_labels(void **state)
{
    const struct place *p = *state;
    struct wr_train_plan plan;

    plan_for(p->ds, &plan);
    plan.classes = CLASSES - 1;
    run_fails(&plan, WEIR_EINVAL, "has label 2, and there are 2 classes");
}

static void test_wrong_shape(void **state)
{
    const struct place *p = *state;
    struct wr_train_plan plan;

    plan_for(p->small, &plan);
    run_fails(&plan, WEIR_EINVAL, "give --size 8x8");
    plan.feed.picture.width = plan.feed.picture.height = 8;
    run_fails(&plan, WEIR_EINVAL, "too small for the network");
}

static void test_not_finite(void **state)
{
    const struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    char folder[PATH_MAX];
    weir_err err = {0};

    plan_for(p->ds, &plan);
    snprintf(folder, sizeof(folder), "%s", scratch_at(p->scratch, "ckpt"));
    plan.learning_rate = 1e30;
    plan.ckpt.fast = folder;
    plan.save_every = 1;
    assert_int_equal(wr_train(&plan, &res, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "no longer a number"));
    assert_non_null(strstr(err.msg, "iteration "));
    /* What was saved had numbers. */
    assert_true(res.saved <= res.done);
    wr_train_done(&res);
}

/* Too few samples to hold one out: nothing is validated, and it is said. */
static void on_note(void *arg, const char *text)
{
    *(bool *)arg = strstr(text, "too few samples") != NULL;
}

static void test_nothing_held_out(void **state)
{
    const struct place *p = *state;
    struct wr_train_plan plan;
    struct wr_train_result res;
    bool noted = false;

    plan_for(p->ds, &plan);
    plan.feed.holdout = 0.001f;
    plan.feed.split_seed = 1;
    plan.note = on_note;
    plan.arg = &noted;
    plan.iterations = 1;
    assert_int_equal(wr_validate_count(&plan), 0);
    assert_int_equal(wr_train(&plan, &res, NULL), 0);
    assert_true(noted);
    assert_int_equal(res.validation_count, 0);
    wr_train_done(&res);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_short_batches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_finite, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_held_out, setup, teardown),
    };

    return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
