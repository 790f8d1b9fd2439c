/* test_calls.c - what a call returns: its own fate, and who may call at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/store.h"

static const struct saves_tiers two = {.two = true};

/* --- a store that another writer took --- */

static const enum weir_level levels[] = {WEIR_LEVEL_SNAPSHOT, WEIR_LEVEL_FAST,
                                         WEIR_LEVEL_SLOW, WEIR_LEVEL_VERIFIED};

/* An error that was not told yet does not stand before that. */
static void add_trouble(weir_ckpt *c)
{
    weir_err e;

    wr_fail(&e, WEIR_EIO, "a drain failed");
    wr_ckpt_trouble(c, WR_LOG_NOTE, WR_STEP_NONE, &e, /* tell= */ true);
}

/* From here on nothing is acknowledged, whatever is asked for. */
static void check_fenced(struct saves *s, weir_ckpt *c, uint64_t step)
{
    weir_err err;

    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(saves_put(s, c, step + i, 1, levels[i % 4], &err),
                         WEIR_EFENCED);
        assert_true(err.msg[0]);
        add_trouble(c);
        assert_int_equal(weir_ckpt_wait(c, step, levels[i % 4], 5000, &err),
                         WEIR_EFENCED);
        assert_int_equal(
            weir_ckpt_wait(c, WEIR_LATEST, levels[i % 4], 5000, &err),
            WEIR_EFENCED);
        assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EFENCED);
    }
}

/* `c` saves until it hears of it, which takes as long as its drain does. */
static void save_until_fenced(struct saves *s, weir_ckpt *c, uint64_t *step)
{
    weir_err err;
    int r = 0;

    for (unsigned i = 0; i < 20000 && r == 0; i++, ++*step) {
        r = saves_put(s, c, *step, 1, WEIR_LEVEL_FAST, &err);
        usleep(5000);
    }
    if (r != WEIR_EFENCED)
        fail_msg("%d: %s", r, r < 0 ? err.msg : "");
}

/* Another machine, with a fast tier of its own, goes on from the slow tier: by
 * its claim, by its generation, or by both. */
static void a_fenced_writer_saves_nothing(void **state)
{
    static const enum weir_behind kinds[] = {
        WEIR_BEHIND_BLOCK, WEIR_BEHIND_SKIP, WEIR_BEHIND_LATEST,
        WEIR_BEHIND_OLDEST};

    for (unsigned k = 0; k < 16; k++) {
        struct saves *s;
        char other[SAVES_PATH];
        weir_ckpt_config cfg, theirs;
        weir_ckpt *c, *d;
        uint64_t step = 2;
        weir_err err;

        saves_setup((void **)&s);
        snprintf(other, sizeof(other), "%s/other", s->root);
        cfg = theirs = saves_config(s, two);
        cfg.behind = kinds[k % 4];
        cfg.drain = k / 4 % 2;
        cfg.max_behind = k / 8 ? 0 : 2;
        cfg.drain_timeout_ms = 1000;
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_FAST);
        if (cfg.drain)
            saves_wait(c, 1, WEIR_LEVEL_VERIFIED);
        theirs.fast = other;
        theirs.take_over = 1;
        d = saves_open(&theirs);
        saves_must(s, d, 900, WEIR_LEVEL_SLOW);
        save_until_fenced(s, c, &step);
        check_fenced(s, c, step + 1);
        weir_ckpt_close(&c, &err);
        assert_null(c);
        saves_close(d);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* The fast tier was taken, too, or it is the only one. */
static void a_fenced_fast_tier_saves_nothing(void **state)
{
    for (int far = 0; far < 2; far++) {
        struct saves *s;
        weir_ckpt_config cfg;
        weir_ckpt *c, *d;
        uint64_t step = 2;

        saves_setup((void **)&s);
        cfg = saves_config(s, (struct saves_tiers){.two = far});
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_SLOW);
        cfg.take_over = 1;
        d = saves_open(&cfg);
        save_until_fenced(s, c, &step);
        check_fenced(s, c, step + 1);
        weir_ckpt_close(&c, NULL);
        saves_close(d);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* --- who may call --- */

static int count_all(weir_ckpt *c, struct saves *s, int code)
{
    weir_ckpt_prune_plan plan = {0};
    char id[WEIR_STORE_ID];
    weir_ckpt_entry *list;
    weir_ckpt_times t;
    size_t count;
    weir_err err;
    const int got[] = {
        saves_put(s, c, 2, 1, WEIR_LEVEL_SNAPSHOT, &err),
        saves_put(s, c, 3, 1, WEIR_LEVEL_VERIFIED, &err),
        weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err),
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, -1, NULL),
        weir_ckpt_problem(c, &err),
        weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, NULL, &err),
        weir_ckpt_look(c, 1, NULL, &err),
        weir_ckpt_list(c, &list, &count, &err),
        weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, &err),
        weir_ckpt_drain(c, &err),
        weir_ckpt_pin(c, 1, 1, &err),
        weir_ckpt_prune(c, &plan, &err),
        weir_ckpt_remove(c, 1, NULL, &err),
        weir_ckpt_adopt(c, 1, NULL, NULL, &err),
        weir_ckpt_discard(c, 1, NULL, NULL, &err),
        weir_ckpt_export(c, 1, "/nowhere/at-all", NULL, &err),
        weir_ckpt_store_id(c, id, &err),
        weir_ckpt_times_of(c, 1, &t),
    };
    int wrong = 0;

    for (size_t i = 0; i < WR_ARRAY_LEN(got); i++)
        if (got[i] != code) {
            fprintf(stderr, "call %zu: %d\n", i, got[i]);
            wrong++;
        }
    return wrong;
}

static void null_is_refused(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c = NULL;
    weir_err err;

    assert_int_equal(count_all(NULL, s, WEIR_EINVAL), 0);
    assert_int_equal(saves_stats(NULL).saves, 0);
    assert_int_equal(weir_ckpt_open(NULL, &cfg, &err), WEIR_EINVAL);
    assert_int_equal(weir_ckpt_open(&c, NULL, &err), WEIR_EINVAL);
    assert_int_equal(weir_ckpt_close(NULL, &err), 0);
    assert_int_equal(weir_ckpt_close(&c, &err), 0);
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_save(c, NULL, WEIR_LEVEL_FAST, &err),
                     WEIR_EINVAL);
    assert_int_equal(weir_ckpt_restore(c, WEIR_LATEST, NULL, 1, NULL, &err),
                     WEIR_EINVAL);
    assert_int_equal(weir_ckpt_prune(c, NULL, &err), WEIR_EINVAL);
    assert_int_equal(weir_ckpt_list(c, NULL, NULL, &err), WEIR_EINVAL);
    assert_int_equal(weir_ckpt_store_id(c, NULL, &err), WEIR_EINVAL);
    assert_int_equal(weir_ckpt_times_of(c, 1, NULL), WEIR_EINVAL);
    weir_ckpt_get_stats(c, NULL);
    saves_close(c);
}

/* In the middle of a save and a drain, with all locks that may be held then. */
static void a_child_may_do_nothing(void **state)
{
    for (int drain = 0; drain < 2; drain++) {
        struct saves *s;
        weir_ckpt_config cfg;
        weir_ckpt *c;
        pid_t child;
        int status;

        saves_setup((void **)&s);
        cfg = saves_config(s, two);
        cfg.drain = drain;
        cfg.max_behind = 0;
        c = saves_open(&cfg);
        saves_must(s, c, 1, WEIR_LEVEL_SNAPSHOT);
        child = fork();
        if (child == 0) {
            alarm(20);
            status = count_all(c, s, WEIR_ESTATE);
            status += saves_stats(c).saves != 0;
            status += weir_ckpt_close(&c, NULL) != 0;
            _exit(status + (c != NULL));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        /* And nothing of the parent's is gone. */
        saves_must(s, c, 2, WEIR_LEVEL_FAST);
        if (drain)
            saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
        saves_close(c);
        assert_int_equal(saves_number(drain ? s->slow : s->fast, 2), 3);
        saves_teardown((void **)&s);
    }
    (void)state;
}

/* --- a slow tier that fails --- */

/* Opens a store whose slow tier fails from the first request on that opening
 * does not need. */
static weir_ckpt *open_failing(const struct saves *s, const char *rule,
                               weir_ckpt_config *cfg)
{
    weir_ckpt *c = NULL;
    char spec[SAVES_PATH];
    int r = -1;

    for (unsigned n = 1; r < 0 && n < 400; n += 3) {
        snprintf(spec, sizeof(spec), "fault:%s@%u+:%s", rule, n, s->slow);
        cfg->slow = spec;
        r = weir_ckpt_open(&c, cfg, NULL);
    }
    assert_int_equal(r, 0);
    return c;
}

/* Whatever fails there, the fast tier takes the steps, and the error is told. */
static void a_failing_slow_tier_stops_no_save(void **state)
{
    static const char *const rules[] = {
        "list-eio",      "list-emfile", "stat-eio",     "open-eio",
        "create-enospc", "mkdir-eio",   "rename-eio",   "eio",
        "write-eio",     "sync-eio",    "write-enospc", "rename-enospc",
        "syncdir-eio",   "close-eio",   "lock-eio",     "remove-eio"};
    static const enum weir_behind kinds[] = {
        WEIR_BEHIND_BLOCK, WEIR_BEHIND_SKIP, WEIR_BEHIND_LATEST,
        WEIR_BEHIND_OLDEST};

    for (unsigned k = 0; k < 8 * WR_ARRAY_LEN(rules); k++) {
        bool skips = k % 4 == 1;
        struct saves *s;
        weir_ckpt_config cfg;
        const char *rule = rules[k / 8];
        weir_ckpt *c;
        weir_err err;

        saves_setup((void **)&s);
        cfg = saves_config(s, two);
        cfg.max_behind = skips ? 0 : 2;
        c = saves_open(&cfg);
        saves_must(s, c, 10, WEIR_LEVEL_VERIFIED);
        saves_close(c);
        cfg.behind = kinds[k % 4];
        cfg.drain = k / 4 % 2;
        cfg.drain_timeout_ms = 400;
        c = open_failing(s, rule, &cfg);
        for (uint64_t step = 1; step < 9; step++) {
            int r = saves_put(s, c, step, (uint32_t)step + 1,
                              step % 2 || skips ? WEIR_LEVEL_FAST
                                                : WEIR_LEVEL_SNAPSHOT,
                              &err);

            if (r != 0)
                fail_msg("%s, behind %u, drain %d, step %u: %s", rule, k % 4,
                         cfg.drain, (unsigned)step, r < 0 ? err.msg : "");
        }
        if (k % 4 == 0) /* the others may have replaced it */
            assert_int_equal(
                weir_ckpt_wait(c, 8, WEIR_LEVEL_FAST, 20000, NULL) > 0, 0);
        while (weir_ckpt_problem(c, &err) < 0)
            if (strstr(err.msg, "was not saved"))
                fail_msg("%s: %s", rule, err.msg);
        weir_ckpt_close(&c, NULL);
        if (saves_number(s->fast, 8) != 9 && saves_number(s->slow, 8) != 9)
            fail_msg("%s: the newest step is not there", rule);
        saves_teardown((void **)&s);
    }
    (void)state;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fenced_writer_saves_nothing),
        cmocka_unit_test(a_fenced_fast_tier_saves_nothing),
        TEST(null_is_refused),
        cmocka_unit_test(a_child_may_do_nothing),
        cmocka_unit_test(a_failing_slow_tier_stops_no_save),
    };

    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
