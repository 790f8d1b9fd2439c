/* test_obstacles.c - what is in the way: another's drainer, a step that stays.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "checkpoint/store.h"
#include "saves.h"
#include "tier/link.h"

/* --- a drainer of another fast tier --- */

/* Another node drains to the slow tier; its fast tier is `other`. */
static weir_ckpt *drainer_of(const struct saves *s, const char *other,
                             bool take_over)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});

    cfg.fast = other;
    cfg.role = WEIR_CKPT_DRAIN;
    cfg.take_over = take_over;
    return saves_open(&cfg);
}

static void make_store_of(const struct saves *s, const char *fast)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});

    cfg.fast = fast;
    saves_close(saves_open(&cfg));
}

static weir_ckpt *trainer_of(const struct saves *s)
{
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});

    cfg.drain = 0;
    cfg.drain_timeout_ms = 1000;
    return saves_open(&cfg);
}

/* It holds the lock of the slow tier, but does nothing for this trainer: saves go
 * on, and what waits for the drain is told who is there. */
static void another_ones_drainer(void **state)
{
    struct saves *s = *state;
    char other[300], host[65] = "";
    weir_ckpt *c, *d;
    weir_err err;

    snprintf(other, sizeof(other), "%s/other", s->root);
    make_store_of(s, other);
    c = trainer_of(s);
    d = drainer_of(s, other, false);
    for (uint64_t i = 1; i <= 6; i++)
        saves_must(s, c, i, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 6, WEIR_LEVEL_SLOW, 20000, &err),
                     WEIR_ESTATE);
    gethostname(host, sizeof(host) - 1);
    assert_non_null(strstr(err.msg, host));
    assert_non_null(strstr(err.msg, other));
    assert_non_null(strstr(err.msg, "--take-over"));
    saves_close(d);
    weir_ckpt_close(&c, NULL);
}

/* One of this fast tier is waited for. */
static void ones_own_drainer(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    weir_ckpt *c = trainer_of(s), *d = drainer_of(s, cfg.fast, false);
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 500, &err),
                     WEIR_ETIMEDOUT);
    if (weir_ckpt_drain(d, &err) < 0)
        fail_msg("%s", err.msg);
    if (weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, 20000, &err) < 0)
        fail_msg("%s", err.msg);
    saves_close(d);
    weir_ckpt_close(&c, NULL);
}

/* Four saves, of which the last two wait for the drain: they go on when nothing
 * arrives, and say who holds the slow tier. */
static void must_go_on(struct saves *s, weir_ckpt *c, const char *who)
{
    weir_err err;

    for (uint64_t i = 1; i <= 4; i++)
        saves_must(s, c, i, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_problem(c, &err), WEIR_ESTATE);
    if (!strstr(err.msg, who) || !strstr(err.msg, "--take-over"))
        fail_msg("%s", err.msg);
}

/* It holds the slow tier and stands still, as if it were stopped. */
static void one_that_stands_still(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    weir_ckpt *c = trainer_of(s), *d = drainer_of(s, cfg.fast, false);
    char me[40];

    snprintf(me, sizeof(me), "process %d of ", (int)getpid());
    must_go_on(s, c, me);
    saves_close(d);
    weir_ckpt_close(&c, NULL);
}

/* It fails, and tries again and again. */
struct trying {
    weir_ckpt *d;
    _Atomic bool stop;
};

static void *try_again(void *arg)
{
    struct trying *t = arg;

    while (!t->stop) {
        weir_ckpt_drain(t->d, NULL);
        usleep(50000);
    }
    return NULL;
}

static void one_that_fails(void **state)
{
    struct saves *s = *state;
    weir_ckpt *c = trainer_of(s);
    weir_ckpt_config cfg = saves_config(
        s,
        (struct saves_tiers){.two = true, .slow_rules = "write-eio@~r00000"});
    struct trying t = {0};
    pthread_t thread;

    cfg.role = WEIR_CKPT_DRAIN;
    t.d = saves_open(&cfg);
    assert_int_equal(pthread_create(&thread, NULL, try_again, &t), 0);
    must_go_on(s, c, "which fails or stands still");
    t.stop = true;
    pthread_join(thread, NULL);
    weir_ckpt_close(&t.d, NULL);
    weir_ckpt_close(&c, NULL);
}

/* What holds the slow tier says that it gets on: from this fast tier, from one
 * that was copied from it with its id, from before it said so. */
static void what_it_says(void **state)
{
    struct saves *s = *state;
    weir_ckpt *c = trainer_of(s);
    struct wr_tier_work w = {0};
    struct wr_tier *t = NULL;
    char here[WR_PLACE_TEXT];
    weir_err err;

    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    assert_int_equal(wr_tier_open(s->slow, "slow", false, &t, &err), 0);
    assert_int_equal(wr_tier_claim(t, false, NULL, &err), 0);
    wr_ckpt_say_place(c, here);
    memcpy(w.from, c->near_id, sizeof(w.from));
    for (int kind = 0; kind < 3; kind++) {
        static const int ends[] = {WEIR_ETIMEDOUT, WEIR_ESTATE, WEIR_ESTATE};
        int r = WEIR_ETIMEDOUT;

        snprintf(w.text, sizeof(w.text), "process 7%s%.170s",
                 kind == 1 ? " of elsewhere" : "", kind == 1 ? "" : here);
        for (int i = 0; i < 6 && r == WEIR_ETIMEDOUT; i++) {
            w.bytes += kind < 2 ? 1000 : 0; /* the third one stands still */
            wr_tier_work_tell(t, &w);
            r = weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, 500, &err);
        }
        assert_int_equal(r, ends[kind]);
    }
    wr_tier_close(t);
    weir_ckpt_close(&c, NULL);
}

/* It is taken over from, and drains nothing any more. */
static void a_drain_is_taken_over(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){.two = true});
    char other[300];
    weir_ckpt *c, *old, *new;
    weir_err err;

    snprintf(other, sizeof(other), "%s/other", s->root);
    make_store_of(s, other);
    c = trainer_of(s);
    old = drainer_of(s, other, false);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    cfg.role = WEIR_CKPT_DRAIN;
    new = NULL;
    assert_int_equal(weir_ckpt_open(&new, &cfg, &err), WEIR_EBUSY);
    new = drainer_of(s, cfg.fast, true);
    if (weir_ckpt_drain(new, &err) < 0)
        fail_msg("%s", err.msg);
    if (weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, 20000, &err) < 0)
        fail_msg("%s", err.msg);
    saves_close(new);
    weir_ckpt_close(&old, NULL);
    weir_ckpt_close(&c, NULL);
}

/* --- a step that cannot be renamed --- */

static size_t count_steps(weir_ckpt *c)
{
    weir_ckpt_entry *e;
    weir_err err;
    size_t count;

    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    free(e);
    return count;
}

/* The others go, and it is told once, not with every save. */
static void keeps_no_others(void **state, bool two, const char *rules)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = two,
                                .fast_rules = two ? NULL : rules,
                                .slow_rules = two ? rules : NULL});
    unsigned told = 0;
    weir_ckpt *c;
    weir_err err;
    int r;

    cfg.keep_last = 2;
    c = saves_open(&cfg);
    for (uint64_t i = 1; i <= 8; i++) {
        saves_must(s, c, i, WEIR_LEVEL_VERIFIED);
        while ((r = weir_ckpt_problem(c, &err)) < 0) {
            assert_non_null(strstr(err.msg, "step 3 stays on the "));
            told++;
        }
    }
    while (count_steps(c) > 3) /* 3, 7 and 8: retention follows a save */
        usleep(1000);
    assert_int_equal(count_steps(c), 3);
    assert_int_equal(told, 1);
    weir_ckpt_close(&c, NULL);
}

static void one_that_stays_keeps_no_others(void **state)
{
    keeps_no_others(state, false, "rename-eperm@~step-000000000003");
}

static void nor_on_the_slow_tier(void **state)
{
    keeps_no_others(state, true, "rename-exdev@~step-000000000003");
}

static void pruning_names_it(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){0});
    weir_ckpt_prune_plan plan = {.keep_last = 1};
    weir_ckpt *c;
    weir_err err;

    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t i = 1; i <= 5; i++)
        saves_must(s, c, i, WEIR_LEVEL_FAST);
    saves_wait(c, 5, WEIR_LEVEL_VERIFIED);
    saves_close(c);
    cfg = saves_config(s, (struct saves_tiers){
                              .fast_rules = "rename-eperm@~step-000000000002"});
    cfg.role = WEIR_CKPT_MANAGE;
    c = saves_open(&cfg);
    assert_true(weir_ckpt_prune(c, &plan, &err) < 0);
    assert_non_null(strstr(err.msg, "step 2 stays on the fast tier"));
    assert_int_equal(count_steps(c), 2);
    saves_close(c);
}

/* Reads the errors that wait; whether one has the text. */
/* All that was told of it since it was opened. */
struct heard {
    char text[8000];
    size_t len;
};

static void hear(weir_ckpt *c, struct heard *h)
{
    weir_err err;

    while (weir_ckpt_problem(c, &err) < 0 &&
           h->len + sizeof(err.msg) < sizeof(h->text))
        h->len += (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len,
                                   "%s\n", err.msg);
}

/* Retention may come after the save that it follows. */
static void must_hear(weir_ckpt *c, struct heard *h, const char *text)
{
    for (unsigned i = 0; i < 6000 && !strstr(h->text, text); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10 * WR_NS_PER_MS}, NULL);
        hear(c, h);
    }
    if (!strstr(h->text, text))
        fail_msg("not told: %s", text);
}

/* All of them are named, by pruning and by retention. */
static void all_are_named(void **state)
{
    static const char *const all = "step 2 stays on the fast tier: ",
                             *const also = "; so does step 3 (fast)";
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s,
        (struct saves_tiers){.fast_rules = "rename-eperm@~step-000000000002,"
                                           "rename-eperm@~step-000000000003"});
    weir_ckpt_prune_plan plan = {.keep_last = 1};
    weir_ckpt *c;
    weir_err err;

    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t i = 1; i <= 5; i++)
        saves_must(s, c, i, WEIR_LEVEL_VERIFIED);
    saves_close(c);
    cfg.role = WEIR_CKPT_MANAGE;
    c = saves_open(&cfg);
    assert_true(weir_ckpt_prune(c, &plan, &err) < 0);
    if (!strstr(err.msg, all) || !strstr(err.msg, also))
        fail_msg("%s", err.msg);
    saves_close(c);
    cfg.role = WEIR_CKPT_SAVE;
    cfg.keep_last = 1;
    for (uint64_t i = 6; i <= 7; i++) { /* each time it is opened */
        struct heard h = {.len = 0};
        size_t before;

        c = saves_open(&cfg);
        saves_must(s, c, i, WEIR_LEVEL_VERIFIED);
        wr_saver_pause(c->saver); /* retention follows a save */
        wr_saver_resume(c->saver);
        must_hear(c, &h, also);
        saves_must(s, c, i + 10, WEIR_LEVEL_VERIFIED);
        wr_saver_pause(c->saver);
        wr_saver_resume(c->saver);
        before = h.len;
        hear(c, &h);
        if (strstr(h.text + before, also)) /* not with each save */
            fail_msg("told again: %s", also);
        saves_close(c);
    }
}

/* Another error waits to be told when a step turns out to stay: it is told after
 * that one. */
static void told_after_another(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s,
        (struct saves_tiers){.fast_rules = "rename-eperm@~step-000000000002"});
    struct heard h = {.len = 0};
    weir_ckpt *c;
    weir_err e;

    cfg.keep_last = 1;
    c = saves_open(&cfg);
    wr_fail(&e, WEIR_EIO, "another error");
    wr_ckpt_trouble(c, WR_LOG_NOTE, WR_STEP_NONE, &e, /* tell= */ true);
    for (uint64_t i = 1; i <= 5; i++)
        saves_must(s, c, i, WEIR_LEVEL_FAST);
    wr_saver_pause(c->saver);
    wr_saver_resume(c->saver);
    must_hear(c, &h, "another error");
    saves_must(s, c, 6, WEIR_LEVEL_FAST);
    wr_saver_pause(c->saver);
    wr_saver_resume(c->saver);
    must_hear(c, &h, "step 2 stays on the fast tier");
    saves_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_ones_drainer, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(ones_own_drainer, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(one_that_stands_still, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(one_that_fails, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(what_it_says, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(a_drain_is_taken_over, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(one_that_stays_keeps_no_others,
                                        saves_setup, saves_teardown),
        cmocka_unit_test_setup_teardown(nor_on_the_slow_tier, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(pruning_names_it, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(all_are_named, saves_setup,
                                        saves_teardown),
        cmocka_unit_test_setup_teardown(told_after_another, saves_setup,
                                        saves_teardown),
    };

    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
