/* test_explain.c - logs that a small model of a training makes, explained.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The model is no part of what it tests: workers, a queue and a step, in a dozen
 * lines, with noise on all of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "plan/explain.h"

#define LOGS 400  /* of each cause */
#define MOST 4000 /* batches of a log */

/* --- the model --- */

struct model {
    unsigned workers; /* in turns; 0: together, one queue */
    unsigned ahead;   /* batches per worker, or of the queue */
    double step, step_cv, load, load_cv;
    unsigned slow; /* worker; slow_factor 1: none */
    double slow_factor;
    double hiccups, hiccup_ms; /* part of the loads, and how long */
    unsigned save_every, epoch;
    double save_ms, start_ms; /* of workers, in each epoch */
    size_t count;
    uint64_t first;
    double extra, dropped; /* stalls of other causes; lines that are missing */
    bool rounded;          /* to whole ms */
};

static double between(struct wr_rng *g, double low, double high)
{
    return low + (high - low) * wr_rng_unit(g);
}

static unsigned one_of(struct wr_rng *g, unsigned low, unsigned high)
{
    return low + (unsigned)wr_rng_below(g, high - low + 1);
}

static double noisy(struct wr_rng *g, double mean, double cv)
{
    double s2 = log1p(cv * cv), u = 1 - wr_rng_unit(g), v = wr_rng_unit(g);

    return mean *
           exp(sqrt(s2) * sqrt(-2 * log(u)) * cos(2 * M_PI * v) - s2 / 2);
}

static double loading(const struct model *m, struct wr_rng *g, size_t b)
{
    double ms = noisy(g, m->load, m->load_cv);

    if (m->workers && b % m->workers == m->slow)
        ms *= m->slow_factor;
    if (wr_rng_unit(g) < m->hiccups)
        ms += noisy(g, m->hiccup_ms, 0.4);
    return ms;
}

/* ends[b]: when batch b was computed on. */
static void simulate(const struct model *m, struct wr_rng *g, double *ends)
{
    static double done[MOST], taken[MOST];
    size_t turn = m->workers ? m->workers : 1, window = turn * m->ahead;
    size_t epoch = m->epoch ? m->epoch : m->count, base = 0;
    double start = 0;

    for (size_t i = 0; i < m->count; i++) {
        size_t b = i - base; /* of this epoch */
        double from, at = i ? ends[i - 1] : 0;

        if (b == epoch) {
            base = i;
            b = 0;
        }
        if (b == 0)
            start = at + (m->start_ms > 0 ? noisy(g, m->start_ms, 0.05) : 0);
        from = b >= turn ? done[i - turn] : start;
        if (b >= window)
            from = fmax(from, taken[i - window]);
        done[i] = from + loading(m, g, b);
        taken[i] = fmax(done[i], at);
        ends[i] = taken[i] + noisy(g, m->step, m->step_cv);
        if (m->save_every && (i + 1) % m->save_every == 0)
            ends[i] += noisy(g, m->save_ms, 0.05);
    }
}

static void make(const struct model *m, struct wr_rng *g,
                 struct wr_plan_times *t)
{
    static double ends[MOST];

    assert_true(m->count <= MOST);
    simulate(m, g, ends);
    *t = (struct wr_plan_times){
        .ms = malloc(m->count * sizeof(double)),
        .batch = malloc(m->count * sizeof(uint64_t)),
    };
    for (size_t i = 0; i < m->count; i++) {
        double ms = ends[i] - (i ? ends[i - 1] : 0);

        if (wr_rng_unit(g) < m->extra)
            ms += between(g, 1, 6) * m->step;
        if (wr_rng_unit(g) < m->dropped)
            continue;
        t->ms[t->count] = m->rounded ? round(ms) : ms;
        t->batch[t->count++] = m->first + i;
    }
}

/* --- the causes --- */

static struct model usual(struct wr_rng *g)
{
    struct model m = {
        .ahead = 2,
        .step = between(g, 20, 300),
        .step_cv = between(g, 0.005, 0.06),
        .slow_factor = 1,
        .count = one_of(g, 60, 1000),
        .rounded = wr_rng_unit(g) < 0.5,
    };

    m.first = wr_rng_unit(g) < 0.5 ? 0 : wr_rng_below(g, 5000);
    return m;
}

static struct model turns(struct wr_rng *g)
{
    struct model m = usual(g);

    m.workers = one_of(g, 2, 24);
    /* Less than 2.5 rounds, one slow worker may look alike. */
    m.load = m.workers * m.step * between(g, 2.5, 12);
    m.load_cv = between(g, 0.01, 0.08);
    m.ahead = one_of(g, 1, 4);
    m.count = one_of(g, 5 * m.workers, 20 * m.workers);
    m.extra = between(g, 0, 0.03);
    m.dropped = between(g, 0, 0.03);
    return m;
}

static struct model straggler(struct wr_rng *g)
{
    struct model m = usual(g);

    m.workers = one_of(g, 2, 12);
    m.load = m.workers * m.step * between(g, 0.3, 0.8);
    m.load_cv = between(g, 0.01, 0.1);
    m.slow = one_of(g, 0, m.workers - 1);
    m.slow_factor = m.workers * m.step * between(g, 1.3, 2.3) / m.load;
    m.count = one_of(g, 10 * m.workers, 60 * m.workers);
    m.extra = between(g, 0, 0.02);
    m.dropped = between(g, 0, 0.02);
    return m;
}

static struct model shallow(struct wr_rng *g)
{
    struct model m = usual(g);

    m.ahead = one_of(g, 1, 2);
    m.load = m.step * between(g, 0.8, 0.95);
    m.load_cv = between(g, 0.5, 1);
    m.count = one_of(g, 100, 2000);
    return m;
}

static struct model saving(struct wr_rng *g)
{
    static const unsigned every[] = {100, 200, 250, 500};
    struct model m = usual(g);

    m.load = m.step * between(g, 0.2, 0.8);
    m.load_cv = between(g, 0.05, 0.2);
    m.save_every = every[one_of(g, 0, 3)];
    m.save_ms = m.step * between(g, 8, 200);
    m.count = m.save_every * one_of(g, 4, 7) + 20;
    m.extra = between(g, 0, 0.002);
    m.dropped = between(g, 0, 0.01);
    m.first = 0;
    return m;
}

static struct model epochs(struct wr_rng *g)
{
    struct model m = usual(g);

    m.workers = one_of(g, 2, 8);
    m.load = m.workers * m.step * between(g, 0.2, 0.8);
    m.load_cv = between(g, 0.02, 0.1);
    m.epoch = one_of(g, 70, 400);
    m.start_ms = m.step * between(g, 10, 200);
    m.count = m.epoch * one_of(g, 3, 6) + 10;
    m.first = 0;
    return m;
}

static struct model bound(struct wr_rng *g)
{
    struct model m = usual(g);

    m.load = m.step * between(g, 1.4, 6);
    m.load_cv = between(g, 0.01, 0.5);
    m.ahead = one_of(g, 1, 8);
    return m;
}

static struct model hiccups(struct wr_rng *g)
{
    struct model m = usual(g);

    m.load = m.step * between(g, 0.2, 0.7);
    m.load_cv = between(g, 0.02, 0.2);
    m.hiccups = between(g, 0.005, 0.025);
    m.hiccup_ms = m.step * between(g, 15, 80);
    m.count = one_of(g, 600, 3000);
    return m;
}

static struct model steady(struct wr_rng *g)
{
    struct model m = usual(g);

    m.step_cv = between(g, 0.001, 0.2);
    m.load = m.step * between(g, 0.1, 0.6);
    m.load_cv = between(g, 0.01, 0.1);
    m.ahead = 4;
    m.count = one_of(g, 8, 3000);
    return m;
}

struct tally {
    unsigned right, wrong_period;
    unsigned causes[WR_PLAN_CAUSES];
    double sure;
};

/* Hints that a user may have; 0: none at all. */
enum { NO_HINTS, WORKERS = 1, STEP = 2, PERIODS = 4 };

static void check_result(const struct wr_plan_explained *e)
{
    assert_true(e->cause < WR_PLAN_CAUSES);
    assert_true(e->sure >= 0 && e->sure <= 1);
    assert_true(e->lost_share >= 0 && e->lost_share <= 1);
    assert_true(e->period == 0 || e->phase < e->period);
    assert_true(strlen(e->what) > 20 && strlen(e->what) + 1 < sizeof(e->what));
    assert_true(strlen(e->why) > 20 && strlen(e->why) + 1 < sizeof(e->why));
    assert_true(strlen(e->change) > 20);
    assert_true(strlen(e->change) + 1 < sizeof(e->change));
}

static struct tally run(struct model (*of)(struct wr_rng *),
                        enum wr_plan_cause cause, int given)
{
    struct tally y = {0};

    for (uint64_t seed = 0; seed < LOGS; seed++) {
        struct wr_rng g = {.seed = seed, .stream = (uint64_t)cause};
        struct model m = of(&g);
        struct wr_plan_hints h = {.step_ms = NAN};
        struct wr_plan_explained e;
        struct wr_plan_times t;
        uint64_t period = 0;

        if (cause == WR_PLAN_TURNS || cause == WR_PLAN_STRAGGLER)
            period = m.workers;
        if (cause == WR_PLAN_SAVING || cause == WR_PLAN_EPOCH_STARTS)
            period = m.save_every + m.epoch;
        if (given & WORKERS)
            h.workers = m.workers;
        if (given & STEP)
            h.step_ms = m.step;
        if (given & PERIODS) {
            h.save_every = m.save_every;
            h.epoch_batches = m.epoch;
        }
        make(&m, &g, &t);
        assert_int_equal(wr_plan_explain(&t, &h, &e, NULL), 0);
        check_result(&e);
        y.causes[e.cause]++;
        y.right += e.cause == cause && e.period == period;
        y.wrong_period += e.cause == cause && e.period != period;
        y.sure += e.sure / LOGS;
        if (getenv("WEIR_EXPLAIN_SHOW") &&
            (e.cause != cause || e.period != period))
            print_message("seed %llu: %s %llu (%llu) n %zu w %u step %.0f "
                          "load %.0f cv %.3f ahead %u\n  %s\n",
                          (unsigned long long)seed, wr_plan_cause_name(e.cause),
                          (unsigned long long)e.period,
                          (unsigned long long)period, t.count, m.workers,
                          m.step, m.load, m.load_cv, m.ahead, e.what);
        wr_plan_times_done(&t);
    }
    print_message("%-16s hints %d: right %u of %u, wrong period %u, sure %.2f;",
                  wr_plan_cause_name(cause), given, y.right, LOGS,
                  y.wrong_period, y.sure);
    for (int k = 0; k < WR_PLAN_CAUSES; k++)
        if (y.causes[k] && k != (int)cause)
            print_message(" %s %u", wr_plan_cause_name((enum wr_plan_cause)k),
                          y.causes[k]);
    print_message("\n");
    return y;
}

/* --- what must come out --- */

#define NEARLY_ALL 0.95 /* of the logs: cause and period are right */

static void expect(struct model (*of)(struct wr_rng *),
                   enum wr_plan_cause cause, int given)
{
    struct tally y = run(of, cause, given);

    assert_true(y.right >= NEARLY_ALL * LOGS);
}

static void test_turns(void **state)
{
    expect(turns, WR_PLAN_TURNS, NO_HINTS);
    expect(turns, WR_PLAN_TURNS, WORKERS);
    expect(turns, WR_PLAN_TURNS, WORKERS | STEP);
}

static void test_straggler(void **state)
{
    expect(straggler, WR_PLAN_STRAGGLER, NO_HINTS);
    expect(straggler, WR_PLAN_STRAGGLER, WORKERS | STEP);
}

static void test_shallow(void **state)
{
    expect(shallow, WR_PLAN_SHALLOW, NO_HINTS);
    expect(shallow, WR_PLAN_SHALLOW, STEP);
}

static void test_saving(void **state)
{
    expect(saving, WR_PLAN_SAVING, NO_HINTS);
    expect(saving, WR_PLAN_SAVING, PERIODS);
}

static void test_epochs(void **state)
{
    expect(epochs, WR_PLAN_EPOCH_STARTS, NO_HINTS);
    expect(epochs, WR_PLAN_EPOCH_STARTS, PERIODS);
}

static void test_bound(void **state)
{
    expect(bound, WR_PLAN_INPUT_BOUND, STEP);
}

static void test_irregular(void **state)
{
    expect(hiccups, WR_PLAN_IRREGULAR, NO_HINTS);
    expect(hiccups, WR_PLAN_IRREGULAR, STEP);
}

/* A stall is hardly ever invented: in 16 of 20,000 other logs, short ones that
 * scatter much. */
static void test_steady(void **state)
{
    assert_true(run(steady, WR_PLAN_STEADY, NO_HINTS).right >= 0.995 * LOGS);
    assert_true(run(steady, WR_PLAN_STEADY, STEP).right >= 0.995 * LOGS);
}

/* --- single logs --- */

/* "Data loading: the next frontier in scale-out deep learning" (E. Watkins,
 * 2019): both pages that print the log, as they are in the slides' text. */
static const char *const talk[] = {
    "training logs:\tbatch,\tms\n"
    "batch_results:\t: 917 ,\t1040\n"
    "batch_results:\t918 ,\t43\n"
    "batch_results:\t919 ,\t89\n"
    "batch_results:\t920 ,\t29\n"
    "batch_results:\t921 ,\t1025\n"
    "batch_results:\t922 ,\t37\n"
    "batch_results:\t923 ,\t23\n"
    "batch_results:\t924 ,\t90\n"
    "batch_results:\t925 ,\t1053\n"
    "batch_results:\t926 ,\t31\n"
    "batch_results:\t927 ,\t21\n",
    "BATCH TIMING ODDITIES\n\n"
    "training logs:\tbatch,\tms\n"
    "batch results\t: 917,\t1040\n"
    "batch results\t: 918,\t43\n"
    "batch_results\t: 919,\t89\n"
    "batch_results\t: 920,\t29\n"
    "batch_results\t: 921,\t<mark>1025</mark>\n"
    "batch_results\t: 922,\t37\n"
    "batch_results\t: 923,\t23\n"
    "batch_results\t: 924,\t90\n"
    "batch_results\t: 925,\t<mark>1053</mark>\n"
    "batch_results\t: 926,\t31\n"
    "batch_results\t: 927,\t21\n",
};

static void explain_text(const char *text, const struct wr_plan_hints *h,
                         struct wr_plan_explained *ret)
{
    struct wr_plan_times t;
    weir_err err = {0};

    if (wr_plan_times_parse(text, strlen(text), "log", &t, &err) < 0 ||
        wr_plan_explain(&t, h, ret, &err) < 0)
        fail_msg("%s", err.msg);
    check_result(ret);
    print_message("%s %.2f\n%s\n%s\n%s\n", wr_plan_cause_name(ret->cause),
                  ret->sure, ret->what, ret->why, ret->change);
    wr_plan_times_done(&t);
}

static void test_talk(void **state)
{
    struct wr_plan_hints workers = {.workers = 4, .step_ms = 100};
    struct wr_plan_explained e;

    for (size_t k = 0; k < sizeof(talk) / sizeof(talk[0]); k++) {
        explain_text(talk[k], NULL, &e);
        assert_int_equal(e.cause, WR_PLAN_TURNS);
        assert_int_equal(e.period, 4);
        assert_int_equal(e.phase, 917 % 4);
        assert_true(fabs(e.stall_ms - 1006) < 5);
        assert_true(fabs(e.usual_ms - 34) < 1);
        assert_true(fabs(e.load_ms - 1188) < 1);    /* of two whole rounds */
        assert_true(e.sure > 0.6 && e.sure < 0.95); /* 11 lines are few */
        assert_non_null(strstr(e.what, "Every 4th batch waits about 1.01 s"));
        assert_non_null(strstr(e.why, "4 workers load whole batches in turns"));
        explain_text(talk[k], &workers, &e);
        assert_int_equal(e.cause, WR_PLAN_TURNS);
        assert_int_equal(e.workers_needed, 12);
        assert_non_null(strstr(e.change, "num_workers=12 "));
    }
}

/* Times that repeat, `count` of them. */
static void repeat(const double *ms, size_t n, size_t count,
                   const struct wr_plan_hints *h, uint64_t stride,
                   struct wr_plan_explained *ret)
{
    struct wr_plan_times t = {.ms = malloc(count * sizeof(double)),
                              .batch = malloc(count * sizeof(uint64_t)),
                              .count = count};

    for (size_t i = 0; i < count; i++) {
        t.ms[i] = ms[i % n];
        t.batch[i] = i * stride;
    }
    assert_int_equal(wr_plan_explain(&t, h, ret, NULL), 0);
    check_result(ret);
    wr_plan_times_done(&t);
}

static void test_hints(void **state)
{
    double ms[20] = {400};
    struct wr_plan_hints save = {.save_every = 20},
                         epoch = {.epoch_batches = 20};
    struct wr_plan_hints eight = {.workers = 8}, two = {.workers = 2};
    struct wr_plan_hints twenty = {.workers = 20};
    struct wr_plan_explained e;

    for (size_t i = 1; i < 20; i++)
        ms[i] = 100;
    repeat(ms, 20, 200, &save, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_SAVING);
    repeat(ms, 20, 200, &epoch, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_EPOCH_STARTS);
    repeat(ms, 20, 200, NULL, 1, &e); /* steady others, a round number */
    assert_int_equal(e.cause, WR_PLAN_SAVING);
    assert_true(e.sure < 0.7);
    repeat(ms, 20, 200, &eight, 1, &e); /* not of 8 workers */
    assert_int_equal(e.cause, WR_PLAN_SAVING);
    repeat(ms, 20, 200, &twenty, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_STRAGGLER);
    repeat(ms, 4, 200, &two, 1, &e); /* twice as many as said */
    assert_int_equal(e.cause, WR_PLAN_STRAGGLER);
    assert_int_equal(e.period, 4);
    repeat(ms, 2, 200, &eight, 1, &e);
    assert_int_equal(e.period, 2);
    repeat(ms, 4, 200, NULL, 10, &e); /* every tenth batch is in the log */
    assert_int_equal(e.period, 40);
    assert_non_null(strstr(e.why, "every 10th batch"));
}

/* Epochs that the numbers show, of a log with two of them. */
static void test_restart(void **state)
{
    char text[4000] = "";
    struct wr_plan_explained e;

    for (int epoch = 0; epoch < 3; epoch++)
        for (int b = 0; b < 50; b++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     "%d,%d\n", b, b == 0 ? 5000 + epoch : 100 + b % 3);
    explain_text(text, NULL, &e);
    assert_int_equal(e.cause, WR_PLAN_EPOCH_STARTS);
    assert_int_equal(e.period, 50);
    assert_int_equal(e.phase, 0);
    assert_true(e.sure > 0.9);
}

static void test_edges(void **state)
{
    double same[] = {50}, zero[] = {0}, coarse[] = {1, 2}, first[100];
    struct wr_plan_hints slow = {.step_ms = 20, .workers = 3};
    struct wr_plan_explained e;

    repeat(same, 1, 8, NULL, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_STEADY);
    assert_true(e.lost_share == 0);
    assert_int_equal(e.period, 0);
    repeat(zero, 1, 100, NULL, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_STEADY);
    repeat(coarse, 2, 100, NULL, 1, &e); /* rounding, not stalls */
    assert_int_equal(e.cause, WR_PLAN_STEADY);
    for (size_t i = 0; i < 100; i++)
        first[i] = i ? 50 : 9000;
    repeat(first, 100, 100, NULL, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_STEADY);
    assert_non_null(strstr(e.what, "The first took 9.00 s"));
    repeat(same, 1, 100, &slow, 1, &e);
    assert_int_equal(e.cause, WR_PLAN_INPUT_BOUND);
    assert_true(fabs(e.load_ms - 150) < 1e-6);
    assert_int_equal(e.workers_needed, 8);
    assert_true(fabs(e.lost_share - 0.6) < 1e-6);
}

static void test_refused(void **state)
{
    double ms[] = {1, 2, 3, 4, 5, 6, 7};
    uint64_t batch[] = {0, 1, 2, 3, 4, 5, 6};
    struct wr_plan_times t = {.ms = ms, .batch = batch, .count = 7};
    struct wr_plan_hints h = {.step_ms = -1};
    struct wr_plan_explained e = {.period = 77};
    weir_err err = {0};

    assert_int_equal(wr_plan_explain(&t, NULL, &e, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "times of 7 batches"));
    assert_non_null(strstr(err.msg, "at least 8"));
    assert_int_equal(wr_plan_explain(&t, &h, &e, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "-1 ms"));
    h.step_ms = INFINITY;
    assert_int_equal(wr_plan_explain(&t, &h, &e, &err), WEIR_EINVAL);
    t.count = 0;
    assert_int_equal(wr_plan_explain(&t, NULL, &e, &err), WEIR_EINVAL);
    assert_int_equal(e.period, 77); /* untouched */
}

static void test_names(void **state)
{
    for (int k = 0; k < WR_PLAN_CAUSES; k++) {
        assert_non_null(wr_plan_cause_name((enum wr_plan_cause)k));
        for (int m = 0; m < k; m++)
            assert_string_not_equal(wr_plan_cause_name((enum wr_plan_cause)k),
                                    wr_plan_cause_name((enum wr_plan_cause)m));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),   cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_shallow), cmocka_unit_test(test_saving),
        cmocka_unit_test(test_epochs),  cmocka_unit_test(test_bound),
        cmocka_unit_test(test_steady),  cmocka_unit_test(test_irregular),
        cmocka_unit_test(test_talk),    cmocka_unit_test(test_hints),
        cmocka_unit_test(test_restart), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
