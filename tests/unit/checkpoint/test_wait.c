/* test_wait.c - who waits hears of its own step, and not for ever.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 300000 /* nothing here takes that long */

/* Step 1 of an earlier run, not drained; a byte of its file is changed. */
static void save_damaged(struct saves *s)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    char path[SAVES_PATH];
    weir_ckpt *c;
    uint8_t b;
    int fd;

    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
    snprintf(path, sizeof(path), "%s/step-000000000001/r00000.safetensors",
             s->fast);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &b, 1, 100000), 1);
    b ^= 1;
    assert_int_equal(pwrite(fd, &b, 1, 100000), 1);
    close(fd);
}

/* The damage is found while something else is under way. */
#define LATE_DAMAGE                                                            \
    ((struct saves_tiers){.two = true,                                         \
                          .fast_rules = "delay=150@~r00000",                   \
                          .slow_rules = "write-delay=50"})

static bool is_step_1(int r, const weir_err *err)
{
    return r == WEIR_EDAMAGED && strstr(err->msg, "step 1 ");
}

static void other_trouble_is_for_the_next_call(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, LATE_DAMAGE);
    unsigned told = 0;
    weir_ckpt *c;
    weir_err err;
    int r;

    save_damaged(s);
    c = saves_open(&cfg);
    r = saves_put(s, c, 2, 3, WEIR_LEVEL_VERIFIED, &err);
    if (r < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(saves_number(s->slow, 2), 3);
    r = weir_ckpt_wait(c, 2, WEIR_LEVEL_VERIFIED, LONG_MS, &err);
    told += is_step_1(r, &err);
    assert_int_equal(told, 1);
    saves_wait(c, 2, WEIR_LEVEL_VERIFIED);
    /* Nobody waits for what was given up. */
    r = weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, LONG_MS, &err);
    assert_true(is_step_1(r, &err));
    saves_close(c);
}

static void a_held_save_is_not_lost_by_it(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, LATE_DAMAGE);
    weir_ckpt *c;
    weir_err err;
    int r;

    save_damaged(s);
    cfg.max_behind = 1;
    c = saves_open(&cfg);
    r = saves_put(s, c, 2, 3, WEIR_LEVEL_SNAPSHOT, &err);
    if (!is_step_1(r, &err)) /* which costs this one nothing */
        assert_int_equal(r, 0);
    r = weir_ckpt_wait(c, 2, WEIR_LEVEL_FAST, LONG_MS, &err);
    if (is_step_1(r, &err)) /* it was there when the call began */
        r = weir_ckpt_wait(c, 2, WEIR_LEVEL_FAST, LONG_MS, &err);
    assert_int_equal(r, 0);
    r = weir_ckpt_close(&c, &err);
    assert_true(r == 0 || is_step_1(r, &err));
    assert_int_equal(saves_number(s->fast, 2), 3);
}

/* What is there although the attempt failed in the end is told in the end. */
static void a_late_failure_heals(void **state)
{
    struct saves *s = *state;

    for (int verify = 0; verify < 2; verify++) {
        weir_ckpt_config cfg = saves_config(
            s, (struct saves_tiers){
                   .two = true,
                   .slow_rules = "rename-late-eio@~/tmp-000000000001"});
        weir_ckpt *c;
        weir_err err;

        cfg.verify = verify;
        c = saves_open(&cfg);
        assert_int_equal(saves_put(s, c, 1, 2, WEIR_LEVEL_SLOW, &err),
                         WEIR_EIO);
        assert_non_null(strstr(err.msg, "draining step 1"));
        /* That was told; and the step gets there. */
        assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, LONG_MS, &err),
                         0);
        saves_close(c);
        assert_int_equal(saves_number(s->slow, 1), 2);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
        snprintf(s->slow, sizeof(s->slow), "%s/slow2", s->root);
    }
}

static void nobody_waits_for_what_was_pruned(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = true, .slow_rules = "write-eio@~r0"});
    weir_ckpt_prune_plan back = {.go_back = 1, .after = 1};
    weir_ckpt *c;
    weir_err err;
    int r;

    cfg.max_behind = 9;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    if (saves_put(s, c, 2, 3, WEIR_LEVEL_FAST, &err) < 0)
        assert_int_equal(err.code, WEIR_EIO); /* of step 1 */
    assert_int_equal(weir_ckpt_prune(c, &back, &err), 0);
    do
        r = weir_ckpt_wait(c, 2, WEIR_LEVEL_SLOW, LONG_MS, &err);
    while (r == WEIR_EIO);
    assert_int_equal(r, WEIR_ENOENT);
    /* A new save of the step is another one. */
    if (saves_put(s, c, 2, 9, WEIR_LEVEL_FAST, &err) < 0)
        assert_int_equal(err.code, WEIR_EIO);
    r = weir_ckpt_wait(c, 2, WEIR_LEVEL_SLOW, 0, &err);
    assert_true(r == WEIR_ETIMEDOUT || r == WEIR_EIO);
    weir_ckpt_close(&c, NULL);
    assert_int_equal(saves_number(s->fast, 2), 9);
}

/* A slow tier that is dead costs no step: there is room on the fast one. That it
 * is dead is told. */
static void a_dead_slow_tier_is_told(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = true, .slow_rules = "write-eio@~r0"});
    weir_ckpt *c;
    weir_err err;
    int r;

    cfg.max_behind = 1;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 3; step++) {
        r = saves_put(s, c, step, 9, WEIR_LEVEL_SNAPSHOT, &err);
        if (r < 0) /* of an earlier step, and this one is on its way */
            assert_non_null(strstr(err.msg, " is copied"));
        do
            r = weir_ckpt_wait(c, step, WEIR_LEVEL_FAST, LONG_MS, &err);
        while (r == WEIR_EIO && strstr(err.msg, "draining step 1"));
        assert_int_equal(r, 0);
    }
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err), WEIR_EIO);
    weir_ckpt_close(&c, NULL);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(saves_number(s->fast, step), 9);
}

static void each_failed_save_is_told(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "write-eio@~/tmp-000000000001,"
                                              "write-eio@~/tmp-000000000002"});
    unsigned told[2] = {0};
    weir_ckpt *c;
    weir_err err;

    cfg.snapshots = 2;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_SNAPSHOT);
    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    while (saves_stats(c).failed < 2)
        usleep(1000);
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    while (weir_ckpt_problem(c, &err) < 0) {
        told[0] += strstr(err.msg, "step 1 was not saved") != NULL;
        told[1] += strstr(err.msg, "step 2 was not saved") != NULL;
        assert_true(told[0] <= 1 && told[1] <= 1);
    }
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 1);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 3), 4);
}

/* The newest step is on the slow tier alone, and nobody has read it back. */
static void the_newest_may_be_on_the_slow_tier(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    weir_ckpt *c;
    weir_err err;

    cfg.verify = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_SLOW);
    saves_close(c);
    snprintf(s->fast, sizeof(s->fast), "%s/new", s->root);
    cfg = saves_config(s, (struct saves_tiers){.two = true});
    c = saves_open(&cfg);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW);
    assert_int_equal(
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, LONG_MS, &err),
        WEIR_ESTATE);
    saves_close(c);
}

/* --- ranks --- */

static void be_rank(struct saves *s, uint32_t rank)
{
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = true,
                                .slow_rules = "write-delay=600000@~r0"});
    char comm[SAVES_PATH];
    weir_ckpt *c = NULL;
    weir_err err;

    snprintf(comm, sizeof(comm), "local:%s/ranks", s->root);
    cfg.rank = rank;
    cfg.world = 2;
    cfg.comm = comm;
    alarm(LONG_MS / 1000);
    if (weir_ckpt_open(&c, &cfg, &err) < 0 ||
        saves_put(s, c, 1, 2, WEIR_LEVEL_FAST, &err) < 0)
        _exit(2);
    if (rank == 0)
        kill(getpid(), SIGKILL);
    if (weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err) != WEIR_EIO ||
        !strstr(err.msg, "rank 0 is gone"))
        _exit(3);
    _exit(0);
}

static void the_death_of_rank_0_ends_the_waiting(void **state)
{
    struct saves *s = *state;
    pid_t pids[2];
    int status;

    for (uint32_t rank = 0; rank < 2; rank++) {
        pids[rank] = fork();
        assert_true(pids[rank] >= 0);
        if (pids[rank] == 0)
            be_rank(s, rank);
    }
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_int_equal(waitpid(pids[rank], &status, 0), pids[rank]);
        if (rank == 1)
            assert_int_equal(status, 0);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_death_of_rank_0_ends_the_waiting), /* before any thread */
        TEST(other_trouble_is_for_the_next_call),
        TEST(a_held_save_is_not_lost_by_it),
        TEST(a_late_failure_heals),
        TEST(nobody_waits_for_what_was_pruned),
        TEST(a_dead_slow_tier_is_told),
        TEST(each_failed_save_is_told),
        TEST(the_newest_may_be_on_the_slow_tier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
