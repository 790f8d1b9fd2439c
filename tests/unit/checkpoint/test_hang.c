/* test_hang.c - a slow tier that does not answer holds up nobody.
 * SPDX-License-Identifier: Apache-2.0
 *
 * While the file `hung` is there, no call to the slow tier returns. */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

static void file_of(const struct saves *s, char ret[SAVES_PATH])
{
    snprintf(ret, SAVES_PATH, "%s/hung", s->root);
}

static void hang(const struct saves *s)
{
    char path[SAVES_PATH];

    file_of(s, path);
    assert_int_equal(close(creat(path, 0600)), 0);
}

/* Threads that were left behind end. Closing waits for a few milliseconds only,
 * which on a busy machine may be less than one needs to go. */
static void wait_for_threads(unsigned threads)
{
    while (saves_threads() > threads)
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
}

/* And threads that were left behind end. */
static void answer(const struct saves *s, unsigned threads)
{
    char path[SAVES_PATH];

    file_of(s, path);
    assert_int_equal(unlink(path), 0);
    wait_for_threads(threads);
}

/* It was only slow after all, which takes a moment to be seen. */
static void wait_for(weir_ckpt *c, uint64_t step)
{
    weir_err err;
    int r;

    do
        r = weir_ckpt_wait(c, step, WEIR_LEVEL_VERIFIED, -1, &err);
    while (r == WEIR_ETIMEDOUT);
    if (r < 0)
        fail_msg("%s", err.msg);
}

/* A tier that hangs in requests of paths with `where` in them, and limits that
 * a test can wait for. */
static weir_ckpt_config config(const struct saves *s, const char *where)
{
    char path[SAVES_PATH], rules[SAVES_PATH + 40];
    weir_ckpt_config cfg;

    file_of(s, path);
    snprintf(rules, sizeof(rules), "hang=%s%s%s", path, *where ? "@~" : "",
             where);
    cfg = saves_config(s,
                       (struct saves_tiers){.two = true, .slow_rules = rules});
    cfg.max_behind = 2;
    cfg.keep_last = 0;
    cfg.drain_timeout_ms = 1500;
    cfg.close_timeout_ms = 50;
    return cfg;
}

static void check_silent(int r, const struct saves *s, const weir_err *err)
{
    assert_int_equal(r, WEIR_ETIMEDOUT);
    if (!strstr(err->msg, s->slow) || !strstr(err->msg, "answer"))
        fail_msg("%s", err->msg);
}

/* The next process saves and restores, and later one drains all. */
static void check_goes_on(struct saves *s, unsigned threads)
{
    struct saves_tiers two = {.two = true};
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c;

    cfg.drain = 0;
    cfg.keep_last = 0;
    cfg.max_behind = 100;
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_restore(c, 1, &s->tensor, 1, NULL, NULL), 1);
    assert_int_equal(s->w[0], 2);
    saves_must(s, c, 50, WEIR_LEVEL_FAST);
    saves_close(c);

    answer(s, threads);
    cfg.drain = 1;
    c = saves_open(&cfg);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(weir_ckpt_drain(c, NULL), 0);
    saves_close(c);
    assert_int_equal(saves_number(s->slow, 1), 2);
    assert_int_equal(saves_number(s->slow, 50), 51);
}

/* Whatever it is that does not return: the drain's reads, writes, syncs, and
 * what it does with names. */
static void closing(void **state)
{
    static const char *const where[] = {"", "r00000", "MANIFEST", "/tmp-",
                                        "step-"};
    unsigned threads = saves_threads();

    for (size_t i = 0; i < WR_ARRAY_LEN(where); i++) {
        struct saves *s;
        weir_ckpt_config cfg;
        weir_ckpt *c;
        weir_err err;

        saves_setup((void **)&s);
        cfg = config(s, where[i]);
        c = saves_open(&cfg);
        hang(s);
        saves_must(s, c, 1, WEIR_LEVEL_FAST);
        saves_must(s, c, 2, WEIR_LEVEL_FAST);
        check_silent(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err), s, &err);
        saves_close(c);
        assert_true(saves_threads() > threads);
        check_goes_on(s, threads);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* No request is under way, but giving up the lock is one. */
static void closing_idle(void **state)
{
    struct saves *s = *state;
    unsigned threads = saves_threads();
    weir_ckpt_config cfg = config(s, "");
    weir_ckpt *c = saves_open(&cfg);

    saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
    assert_int_equal(weir_ckpt_drain(c, NULL), 0);
    hang(s);
    saves_close(c);
    check_goes_on(s, threads);
}

static void waiting(void **state)
{
    struct saves *s = *state;
    unsigned threads = saves_threads();
    weir_ckpt_config cfg = config(s, "");
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    hang(s);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 0, &err),
                     WEIR_ETIMEDOUT);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, 20, &err),
                     WEIR_ETIMEDOUT);
    check_silent(saves_put(s, c, 2, 3, WEIR_LEVEL_SLOW, &err), s, &err);
    check_silent(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, -1, &err), s,
                 &err);
    answer(s, UINT32_MAX);
    wait_for(c, WEIR_LATEST);
    saves_close(c);
    wait_for_threads(threads);
    assert_int_equal(saves_number(s->slow, 2), 3);
}

/* Nothing was saved in this run: what there is has to be looked at. */
static void waiting_for_an_earlier_run(void **state)
{
    struct saves *s = *state;
    unsigned threads = saves_threads();
    weir_ckpt_config cfg = config(s, "");
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
    c = saves_open(&cfg);
    hang(s);
    check_silent(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, -1, &err), s,
                 &err);
    check_silent(weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, -1, &err), s, &err);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, 0, &err),
                     WEIR_ETIMEDOUT);
    answer(s, UINT32_MAX);
    wait_for(c, 1);
    saves_close(c);
    wait_for_threads(threads);
}

static void skipping(void **state)
{
    for (int drain = 0; drain < 2; drain++) {
        struct saves *s;
        unsigned threads = saves_threads();
        weir_ckpt_config cfg;
        weir_ckpt *c;
        weir_err err;

        saves_setup((void **)&s);
        cfg = config(s, "");
        cfg.behind = WEIR_BEHIND_SKIP;
        cfg.drain = drain;
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_SNAPSHOT);
        saves_wait(c, 1, WEIR_LEVEL_FAST);
        hang(s);
        for (uint64_t step = 2; step <= 6; step++)
            assert_in_range(saves_put(s, c, step, 9, WEIR_LEVEL_FAST, &err), 0,
                            1);
        assert_true(saves_stats(c).skipped > 0);
        saves_close(c);
        check_goes_on(s, threads);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* The newest state is saved all the same: there is room, or the oldest is given
 * up. */
static void saving_on(void **state)
{
    static const enum weir_behind kinds[] = {WEIR_BEHIND_BLOCK,
                                             WEIR_BEHIND_OLDEST};

    for (int k = 0; k < 4; k++) {
        struct saves *s;
        unsigned threads = saves_threads();
        weir_ckpt_config cfg;
        weir_ckpt *c;
        weir_err err;

        saves_setup((void **)&s);
        cfg = config(s, "");
        saves_close(saves_open(&cfg)); /* both tiers have had a writer */
        cfg.behind = kinds[k % 2];
        cfg.drain = k / 2;
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_FAST);
        assert_int_equal(weir_ckpt_pin(c, 1, 1, &err), 0);
        hang(s);
        for (uint64_t step = 2; step <= 6; step++)
            saves_must(s, c, step, WEIR_LEVEL_FAST);
        assert_int_equal(saves_number(s->fast, 6), 7);
        assert_int_equal(saves_stats(c).given_up > 0,
                         cfg.behind == WEIR_BEHIND_OLDEST);
        weir_ckpt_close(&c, NULL); /* or that the tier did not answer */
        check_goes_on(s, threads);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* Another process drains, or did. */
static void another_process_drains(void **state)
{
    struct saves *s = *state;
    unsigned threads = saves_threads();
    weir_ckpt_config cfg = config(s, "");
    weir_ckpt *c;
    weir_err err;

    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 9, WEIR_LEVEL_FAST);
    hang(s);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 20, &err),
                     WEIR_ETIMEDOUT);
    check_silent(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err), s, &err);
    /* Whether the slow tier has this one cannot be told; the fast one has not.
     */
    saves_must(s, c, 5, WEIR_LEVEL_FAST);
    check_silent(weir_ckpt_problem(c, &err), s, &err);
    saves_close(c);
    check_goes_on(s, threads);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

static void *nothing(void *arg)
{
    return arg;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing),
        TEST(closing_idle),
        TEST(waiting),
        TEST(waiting_for_an_earlier_run),
        cmocka_unit_test(skipping),
        cmocka_unit_test(saving_on),
        TEST(another_process_drains),
    };

    pthread_t first;

    /* TSan starts a thread of its own beside the first one. */
    if (pthread_create(&first, NULL, nothing, NULL) == 0)
        pthread_join(first, NULL);
    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
