/* test_compare.c - the input alone, computing alone, and everything.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/compare.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "../gen/scratch.h"
#include "gen/generate.h"

#define BATCH  4u
#define ROUNDS 3u

/* A folder with a data set, and the runs that were seen. */
struct place {
    struct scratch *scratch;
    weir_dataset *ds;
    const char *ways[ROUNDS * WR_TRAIN_WAYS];
    size_t turns, stop_at; /* turn in which it is stopped; 0: never */
    uint64_t done, total;
};

static const struct place *stopping; /* `stopped` has no argument */

static int setup(void **state)
{
    struct wr_gen_config cfg = {
        .kind = "tensors",
        .samples = 22,
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

static void on_progress(void *arg, const struct wr_train_news *news)
{
    struct place *p = arg;

    if (!p->turns || p->ways[p->turns - 1] != news->doing)
        p->ways[p->turns++] = news->doing;
    assert_int_equal(news->done, p->done + 1);
    p->done = news->done;
    p->total = news->total;
}

static bool is_stopped(void)
{
    return stopping->stop_at && stopping->turns >= stopping->stop_at;
}

static void plan_for(struct place *p, struct wr_train_plan *ret)
{
    wr_train_defaults(ret);
    ret->ds = p->ds;
    ret->feed.batch = BATCH;
    ret->feed.threads = 2;
    ret->width = 0.02;
    ret->rows = 100;
    ret->epochs = 0;
    ret->iterations = 9; /* more than an epoch has */
    ret->progress = on_progress;
    ret->arg = p;
    ret->stopped = is_stopped;
    stopping = p;
    assert_int_equal(wr_accelerator_parse("ms=1", &ret->accelerator, NULL), 0);
}

static void check_spread(const struct wr_train_spread *s)
{
    assert_true(isfinite(s->median));
    assert_true(s->min <= s->median && s->median <= s->max);
}

static void three_ways_in_turns(void **state)
{
    struct place *p = *state;
    struct wr_train_compared c;
    struct wr_train_result last;
    struct wr_train_plan plan;

    plan_for(p, &plan);
    assert_int_equal(wr_train_compare(&plan, ROUNDS, &c, &last, NULL), 0);
    assert_int_equal(p->turns, ROUNDS * WR_TRAIN_WAYS);
    for (size_t i = 0; i < p->turns; i++)
        assert_string_equal(p->ways[i], wr_train_way_name((enum wr_train_way)(
                                            i % WR_TRAIN_WAYS)));
    assert_int_equal(p->done, 10 * ROUNDS * WR_TRAIN_WAYS);
    assert_int_equal(p->total, p->done);
    assert_int_equal(c.rounds, ROUNDS - 1);
    assert_int_equal(c.iterations, 9);
    assert_int_equal(last.done, 10); /* one more: the first does not count */
    assert_int_equal(last.samples, 10 * BATCH);
    check_spread(&c.cost);
    assert_true(c.cost.max < 1);
    for (int w = 0; w < WR_TRAIN_WAYS; w++) {
        check_spread(&c.rate[w]);
        assert_true(c.rate[w].min > 0);
    }
    wr_train_done(&last);
}

/* Pictures that do not fit the network: nobody minds who only reads, but
 * everything ends. */
static void errors_end_it(void **state)
{
    struct place *p = *state;
    struct wr_train_compared c;
    struct wr_train_result last;
    struct wr_train_plan plan;
    weir_err err = {0};

    plan_for(p, &plan);
    plan.feed.picture.width = plan.feed.picture.height = 67;
    plan.iterations = 1;
    assert_int_equal(wr_accelerator_parse("cpu", &plan.accelerator, NULL), 0);
    assert_int_equal(wr_engine_find("reference", &plan.engine, NULL), 0);
    assert_true(wr_train_compare(&plan, 2, &c, &last, &err) < 0);
    assert_true(strlen(err.msg) > 10);
    assert_int_equal(p->turns, WR_TRAIN_WAY_FULL); /* it did not get there */
    wr_train_done(&last);
}

static void a_stop_ends_all(void **state)
{
    struct place *p = *state;
    struct wr_train_compared c;
    struct wr_train_result last;
    struct wr_train_plan plan;

    for (size_t at = 1; at <= 5; at++) {
        p->turns = p->done = 0;
        p->stop_at = at;
        plan_for(p, &plan);
        assert_int_equal(wr_train_compare(&plan, ROUNDS, &c, &last, NULL),
                         WEIR_ECANCELED);
        assert_int_equal(p->turns, at);
        wr_train_done(&last);
    }
}

static void refuse(const struct wr_train_plan *plan, unsigned rounds,
                   const char *word)
{
    struct wr_train_compared c;
    struct wr_train_result last;
    weir_err err;

    assert_int_equal(wr_train_compare(plan, rounds, &c, &last, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, word));
    wr_train_done(&last);
}

static void what_cannot_be_compared(void **state)
{
    struct wr_train_plan plan;

    plan_for(*state, &plan);
    refuse(&plan, 1, "rounds");
    refuse(&plan, WR_TRAIN_ROUNDS_MAX + 1, "rounds");
    plan.iterations = 0;
    refuse(&plan, 2, "nothing to compare");
    plan.iterations = 5;
    plan.synthetic = true;
    refuse(&plan, 2, "nothing to compare");
    plan.synthetic = false;
    plan.accelerator.kind = WR_ACCELERATOR_NONE;
    refuse(&plan, 2, "nothing to compare");
}

/* A first iteration of 3 s, and four of 0.5 s. */
static void the_start_does_not_count(void **state)
{
    static const double ends[] = {3, 3.5, 4, 4.5, 5};
    static const enum wr_series_rule rules[WR_TRAIN_COLUMNS] = {0};
    const double row[WR_TRAIN_COLUMNS] = {0};
    struct wr_train_result res = {.seconds = 5, .samples = 50};

    (void)state;
    assert_int_equal(
        wr_series_init(&res.series, 100, WR_TRAIN_COLUMNS, rules, NULL), 0);
    for (size_t i = 0; i < 5; i++)
        wr_series_add(&res.series, ends[i], row);
    assert_true(fabs(wr_train_way_rate(WR_TRAIN_WAY_FULL, &res) - 20) < 1e-9);
    assert_true(fabs(wr_train_way_rate(WR_TRAIN_WAY_SYNTHETIC, &res) - 20) <
                1e-9);
    assert_true(fabs(wr_train_way_rate(WR_TRAIN_WAY_INPUT, &res) - 10) < 1e-9);
    wr_series_done(&res.series);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(three_ways_in_turns),
        TEST(errors_end_it),
        TEST(a_stop_ends_all),
        TEST(what_cannot_be_compared),
        cmocka_unit_test(the_start_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
