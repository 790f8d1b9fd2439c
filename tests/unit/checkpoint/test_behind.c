/* test_behind.c - saves that come faster than they are written or drained.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static weir_ckpt_config config(const struct saves *s, enum weir_behind behind,
                               struct saves_tiers t)
{
    weir_ckpt_config cfg = saves_config(s, t);

    cfg.behind = behind;
    return cfg;
}

/* --- writing is slow --- */

#define SLOW_WRITES ((struct saves_tiers){.fast_rules = "write-delay=200"})

static void blocks(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){
            .fast_rules = "write-delay=600@~/tmp-000000000002"});
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_times t;

    for (uint64_t step = 1; step <= 3; step++)
        saves_must(s, c, step, WEIR_LEVEL_SNAPSHOT);
    assert_true(saves_stats(c).blocked_ns > 0);
    assert_true(saves_stats(c).stall_ns > saves_stats(c).blocked_ns);
    assert_int_equal(weir_ckpt_times_of(c, 1, &t), 0);
    assert_int_equal(t.blocked_ns, 0);
    assert_int_equal(weir_ckpt_times_of(c, 3, &t), 0);
    assert_true(t.blocked_ns > 0 && t.snapshot_ns > t.blocked_ns);
    saves_close(c);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(saves_number(s->fast, step), step + 1);
}

static void skips(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_SKIP,
        (struct saves_tiers){
            .fast_rules = "write-delay=600@~/tmp-000000000001"});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(saves_put(s, c, 2, 9, WEIR_LEVEL_VERIFIED, &err), 1);
    assert_int_equal(saves_stats(c).skipped, 1);
    assert_int_equal(saves_stats(c).saves, 1);
    assert_int_equal(saves_stats(c).blocked_ns, 0);
    saves_wait(c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 3, WEIR_LEVEL_FAST); /* there is room again at once */
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), 2);
    assert_int_equal(saves_number(s->fast, 2), -1);
    assert_int_equal(saves_number(s->fast, 3), 4);
}

/* Each step is saved or was replaced, as wait tells; the last one is saved. */
static void check_latest(struct saves *s, weir_ckpt *c, const char *dir,
                         uint64_t last)
{
    uint64_t replaced = 0;
    weir_err err;

    for (uint64_t step = 1; step <= last; step++) {
        int r = weir_ckpt_wait(c, step, WEIR_LEVEL_SLOW, -1, &err);
        bool there = saves_number(dir, step) == (int64_t)step + 1;

        if (r == WEIR_ECANCELED) {
            char want[40];

            snprintf(want, sizeof(want), "step %u was replaced by step",
                     (unsigned)step);
            assert_non_null(strstr(err.msg, want));
            assert_int_equal(saves_number(s->fast, step), -1);
            replaced++;
        } else {
            assert_int_equal(r, 0);
            assert_true(there);
        }
    }
    assert_int_equal(weir_ckpt_wait(c, last, WEIR_LEVEL_SLOW, 0, &err), 0);
    assert_true(replaced > 0);
    assert_int_equal(saves_stats(c).replaced, replaced);
    assert_int_equal(saves_stats(c).saves, last);
    assert_int_equal(saves_stats(c).failed, 0);
}

static void the_latest_wins(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_LATEST, SLOW_WRITES);
    weir_ckpt *c;
    weir_err err;

    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 6; step++)
        saves_must(s, c, step, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(saves_stats(c).blocked_ns, 0);
    /* What cannot be saved replaces nothing. */
    s->tensor.dtype = (enum weir_dtype)1000;
    assert_true(saves_put(s, c, 7, 1, WEIR_LEVEL_SNAPSHOT, &err) < 0);
    s->tensor.dtype = WEIR_F32;
    check_latest(s, c, s->fast, 6);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    saves_close(c);
}

/* --- draining is slow --- */

#define SLOW_DRAIN                                                             \
    ((struct saves_tiers){.two = true, .slow_rules = "write-delay=100"})

static void blocks_for_the_drain(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_BLOCK, SLOW_DRAIN);
    weir_ckpt *c;

    cfg.max_behind = 1;
    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 5; step++) {
        saves_must(s, c, step, WEIR_LEVEL_FAST);
        if (step > 1) /* the one before had to be drained first */
            assert_int_equal(saves_number(s->slow, step - 1), step);
    }
    assert_true(saves_stats(c).blocked_ns > 0);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_stats(c).drained, 5);
    saves_close(c);
    for (uint64_t step = 1; step <= 5; step++)
        assert_int_equal(saves_number(s->slow, step), step + 1);
}

static void skips_for_the_drain(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_SKIP, SLOW_DRAIN);
    uint64_t taken = 0;
    weir_ckpt *c;
    weir_err err;

    cfg.max_behind = 1;
    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 5; step++) {
        int r = saves_put(s, c, step, 9, WEIR_LEVEL_FAST, &err);

        assert_in_range(r, 0, 1);
        taken += r == 0;
    }
    assert_true(taken > 0 && taken < 5);
    assert_int_equal(saves_stats(c).skipped, 5 - taken);
    assert_int_equal(saves_stats(c).blocked_ns, 0);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_stats(c).drained, taken);
    saves_close(c);
}

static void the_latest_wins_for_the_drain(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_LATEST, SLOW_DRAIN);
    weir_ckpt *c;

    cfg.max_behind = 1;
    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 8; step++)
        saves_must(s, c, step, WEIR_LEVEL_SNAPSHOT);
    check_latest(s, c, s->slow, 8);
    saves_close(c);
}

/* Another process drains: its work is seen in the folders. */
static void another_process_drains(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_SKIP,
                                  (struct saves_tiers){.two = true});
    weir_ckpt_config other = cfg;
    weir_ckpt *c, *d;
    weir_err err;

    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 0, &err),
                     WEIR_ETIMEDOUT);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 50, &err),
                     WEIR_ETIMEDOUT);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    assert_int_equal(saves_put(s, c, 3, 9, WEIR_LEVEL_FAST, &err), 1);
    assert_int_equal(saves_stats(c).behind, 2);
    other.role = WEIR_CKPT_DRAIN;
    d = saves_open(&other);
    assert_int_equal(weir_ckpt_drain(d, &err), 0);
    saves_wait(c, 1, WEIR_LEVEL_SLOW);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    assert_int_equal(saves_stats(c).behind, 1);
    saves_close(d);
    saves_close(c);
    assert_int_equal(saves_number(s->slow, 1), 2);
    assert_int_equal(saves_number(s->slow, 2), 3);
}

/* Nobody does, which is noticed, and noticed again when somebody does. */
static void nobody_drains(void **state)
{
    struct saves *s = *state;
    /* Rules: the question goes through a storage that wraps another. */
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true, .slow_rules = "write-delay=1"});
    weir_ckpt_config other = cfg;
    weir_ckpt *c, *d;
    weir_err err;

    cfg.drain = 0;
    cfg.max_behind = 1;
    cfg.drain_timeout_ms = 1000;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err),
                     WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "no process drains"));
    saves_must(s, c, 2, WEIR_LEVEL_FAST); /* there is room for it */
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_problem(c, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "no process drains"));
    saves_must(s, c, 4, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_problem(c, &err), 0); /* that is told once */
    assert_int_equal(saves_stats(c).behind, 4);
    other.role = WEIR_CKPT_DRAIN;
    d = saves_open(&other);
    /* Now there is one, which does nothing. */
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 2000, &err),
                     WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "nothing was drained from"));
    assert_int_equal(weir_ckpt_drain(d, &err), 0);
    saves_must(s, c, 5, WEIR_LEVEL_FAST);
    saves_close(d);
    saves_close(c);
    for (uint64_t step = 1; step <= 4; step++)
        assert_int_equal(saves_number(s->slow, step), step + 1);
    assert_int_equal(saves_number(s->fast, 5), 6);
}

static void nobody_makes_room(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true, .fast_rules = "mkdir-enospc@5+"});
    weir_ckpt *c;
    weir_err err;

    cfg.drain = 0;
    cfg.drain_timeout_ms = 1000;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(saves_put(s, c, 2, 9, WEIR_LEVEL_FAST, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "; no process drains"));
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), 2);
}

/* --- draining fails --- */

/* What the slow tier does not take stays on the fast one, and no step is lost
 * for it. */
static void a_failing_drain_ends_the_waiting(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true, .slow_rules = "write-eio@~r0"});
    unsigned failed = 0;
    weir_ckpt *c;
    weir_err err;

    cfg.max_behind = 1;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 6; step++) {
        int r = saves_put(s, c, step, 9,
                          step % 2 ? WEIR_LEVEL_FAST : WEIR_LEVEL_SNAPSHOT,
                          &err);

        assert_int_equal(r, 0);
        while ((r = weir_ckpt_problem(c, &err)) < 0) {
            assert_int_equal(r, WEIR_EIO);
            assert_non_null(strstr(err.msg, "step 1"));
            failed++;
        }
    }
    assert_int_equal(failed, 1); /* it was told */
    assert_true(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err) < 0);
    weir_ckpt_close(&c, NULL);
    for (uint64_t step = 1; step <= 6; step++)
        assert_int_equal(saves_number(s->fast, step), 9);
}

/* Without room it fails, and says both. */
static void a_failing_drain_and_no_room(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true,
                             .fast_rules = "mkdir-enospc@5+",
                             .slow_rules = "write-eio@~r0"});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_true(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err) < 0);
    assert_int_equal(saves_put(s, c, 2, 9, WEIR_LEVEL_FAST, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "step 2 was not saved"));
    assert_non_null(strstr(err.msg, "draining step 1"));
    weir_ckpt_close(&c, NULL);
    assert_int_equal(saves_number(s->fast, 1), 2);
}

/* --- the oldest is given up --- */

static void check_given_up(weir_ckpt *c, uint64_t step)
{
    char want[40];
    weir_err err;

    snprintf(want, sizeof(want), "step %u was given up for step",
             (unsigned)step);
    assert_int_equal(weir_ckpt_wait(c, step, WEIR_LEVEL_SLOW, -1, &err),
                     WEIR_ECANCELED);
    if (!strstr(err.msg, want))
        fail_msg("%s", err.msg);
}

/* Whoever fails to drain: the newest steps are there. */
static void the_oldest_is_given_up(void **state)
{
    struct saves *s = *state;

    for (int drain = 0; drain < 2; drain++) {
        weir_ckpt_config cfg = config(
            s, WEIR_BEHIND_OLDEST,
            (struct saves_tiers){.two = true, .slow_rules = "create-eio@~r0"});
        weir_ckpt *c;
        weir_err err;

        saves_close(saves_open(&cfg)); /* both tiers have had a writer */
        cfg.drain = drain;
        cfg.drain_timeout_ms = 1000;
        c = saves_open(&cfg);
        for (uint64_t step = 1; step <= 6; step++) {
            saves_must(s, c, step, WEIR_LEVEL_FAST);
            if (step == 2)
                assert_int_equal(weir_ckpt_pin(c, 2, 1, &err), 0);
        }
        assert_int_equal(saves_stats(c).blocked_ns, 0);
        if (drain) { /* what is being tried is not given up */
            assert_in_range(saves_stats(c).given_up, 1, 4);
        } else {
            while (saves_stats(c).given_up < 4) /* after the save */
                sched_yield();
            check_given_up(c, 1);
            check_given_up(c, 4);
            assert_int_equal(saves_number(s->fast, 1), -1);
            assert_int_equal(saves_number(s->fast, 5), -1);
        }
        weir_ckpt_close(&c, NULL);
        assert_int_equal(saves_number(s->fast, 2), 3); /* it is pinned */
        assert_int_equal(saves_number(s->fast, 6), 7);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
        snprintf(s->slow, sizeof(s->slow), "%s/slow2", s->root);
    }
}

static void the_oldest_makes_room(void **state)
{
    struct saves *s = *state;
    /* The folder of the third step does not fit at first; before them are .weir
     * and two of the writer. */
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_OLDEST,
        (struct saves_tiers){.two = true, .fast_rules = "mkdir-enospc@6"});
    weir_ckpt *c;

    cfg.drain = 0;
    cfg.max_behind = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 4; step++)
        saves_must(s, c, step, WEIR_LEVEL_FAST);
    assert_int_equal(saves_stats(c).given_up, 1); /* before it was written */
    check_given_up(c, 1);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), -1);
    for (uint64_t step = 2; step <= 4; step++)
        assert_int_equal(saves_number(s->fast, step), step + 1);
}

/* --- how many may wait --- */

/* The newest step is the one saved last, also when the run that saved it went back
 * and has ended: a higher number is of a branch that it left. */
static void the_newest_is_never_given_up(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_OLDEST,
                                  (struct saves_tiers){.two = true});
    weir_ckpt *c;
    weir_err err;

    cfg.drain = 0;
    cfg.max_behind = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 40, WEIR_LEVEL_FAST);
    saves_must(s, c, 100, WEIR_LEVEL_FAST);
    if (weir_ckpt_restore(c, 40, &s->tensor, 1, NULL, &err) != 1)
        fail_msg("%s", err.msg);
    saves_must(s, c, 50, WEIR_LEVEL_FAST);
    saves_close(c);
    cfg = config(
        s, WEIR_BEHIND_OLDEST,
        (struct saves_tiers){.two = true,
                             .fast_rules = "mkdir-enospc@~/tmp-000000000060"});
    cfg.drain = 0;
    cfg.max_behind = 0;
    cfg.drain_timeout_ms = 1000;
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 60, 1, WEIR_LEVEL_FAST, &err),
                     WEIR_ENOSPC);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 50), 51);
}

static void as_many_as_there_is_room_for(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, WEIR_BEHIND_SKIP,
                                  (struct saves_tiers){.two = true});
    weir_ckpt *c;
    weir_err err;

    cfg.drain = 0;
    cfg.max_behind = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 12; step++)
        saves_must(s, c, step, WEIR_LEVEL_FAST);
    assert_int_equal(saves_stats(c).behind, 12);
    saves_close(c);

    cfg.max_behind_bytes = 14 * SAVES_COUNT * sizeof(uint32_t);
    c = saves_open(&cfg);
    saves_must(s, c, 13, WEIR_LEVEL_FAST);
    saves_must(s, c, 14, WEIR_LEVEL_FAST);
    assert_int_equal(saves_put(s, c, 15, 9, WEIR_LEVEL_FAST, &err), 1);
    saves_close(c);

    cfg.drain = 1; /* which knows what it has to do from the start */
    cfg.behind = WEIR_BEHIND_BLOCK;
    c = saves_open(&cfg);
    saves_must(s, c, 15, WEIR_LEVEL_FAST);
    assert_true(saves_stats(c).drained > 0);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    saves_close(c);
}

/* --- the fast tier is full --- */

static void waits_for_room(void **state)
{
    struct saves *s = *state;
    /* The third folder (the first is .weir) does not fit at first. */
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true,
                             .fast_rules = "mkdir-enospc@5",
                             .slow_rules = "write-delay=50"});
    weir_ckpt *c = saves_open(&cfg);

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    assert_int_equal(saves_stats(c).failed, 0);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    saves_close(c);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(saves_number(s->slow, step), step + 1);
}

/* Nothing waits to be copied, but what is being read back makes room. */
static void waits_for_what_is_read_back(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(
        s, WEIR_BEHIND_BLOCK,
        (struct saves_tiers){.two = true,
                             .fast_rules = "mkdir-enospc@5",
                             .slow_rules = "delay=300@~r0"});
    weir_ckpt *c = saves_open(&cfg);

    saves_must(s, c, 1, WEIR_LEVEL_SLOW);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 2), 3);
}

static void fails_when_there_never_is_room(void **state)
{
    struct saves *s = *state;
    struct saves_tiers t = {0};
    weir_err err;

    for (int two = 0; two < 2; two++) {
        weir_ckpt_config cfg;
        weir_ckpt *c;

        t.two = two; /* with one tier there is a folder more */
        t.fast_rules = two ? "mkdir-enospc@5+" : "mkdir-enospc@6+";
        cfg = config(s, WEIR_BEHIND_BLOCK, t);
        cfg.keep_fast = 4;
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_FAST);
        assert_int_equal(weir_ckpt_pin(c, 1, 1, &err), 0); /* it stays */
        while (saves_put(s, c, 2, 9, WEIR_LEVEL_FAST, &err) == 0)
            fail_msg("a step without a folder");
        assert_int_equal(err.code, WEIR_ENOSPC);
        assert_int_equal(saves_stats(c).failed, 1);
        saves_close(c);
        assert_int_equal(saves_number(two ? s->slow : s->fast, 1), 2);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks),
        TEST(skips),
        TEST(the_latest_wins),
        TEST(blocks_for_the_drain),
        TEST(skips_for_the_drain),
        TEST(the_latest_wins_for_the_drain),
        TEST(another_process_drains),
        TEST(nobody_drains),
        TEST(nobody_makes_room),
        TEST(a_failing_drain_ends_the_waiting),
        TEST(a_failing_drain_and_no_room),
        TEST(the_oldest_is_given_up),
        TEST(the_oldest_makes_room),
        TEST(the_newest_is_never_given_up),
        TEST(as_many_as_there_is_room_for),
        TEST(waits_for_room),
        TEST(waits_for_what_is_read_back),
        TEST(fails_when_there_never_is_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
