/* test_anew.c - a step is saved once more, and the slow tier has the older save.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run goes back to step 50 and comes by 100 again, which it had left and which
 * was drained. Until the new one is there, nothing that looks at the slow tier may
 * take the old one for it. */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "checkpoint/store.h"
#include "storage/fault.h"
#include "storage/wrap.h"

#define NEW 7 /* what the new save of step 100 holds */

static weir_ckpt_config config(const struct saves *s, const char *fast_rules)
{
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = true, .fast_rules = fast_rules});

    cfg.drain = 0;
    cfg.keep_fast = 0;
    cfg.max_behind = 0;
    return cfg;
}

static void drain(const struct saves *s)
{
    weir_ckpt_config cfg = config(s, NULL);
    weir_ckpt *d;
    weir_err err;

    cfg.role = WEIR_CKPT_DRAIN;
    d = saves_open(&cfg);
    if (weir_ckpt_drain(d, &err) < 0)
        fail_msg("%s", err.msg);
    saves_close(d);
}

/* 50 and 100, back to 50, 60, all drained; then 100 on the fast tier. */
static weir_ckpt *come_by_again(struct saves *s, const weir_ckpt_config *cfg)
{
    weir_ckpt *c = saves_open(cfg);
    weir_err err;

    saves_must(s, c, 50, WEIR_LEVEL_FAST);
    saves_must(s, c, 100, WEIR_LEVEL_FAST);
    drain(s);
    if (weir_ckpt_restore(c, 50, &s->tensor, 1, NULL, &err) != 1)
        fail_msg("%s", err.msg);
    saves_must(s, c, 60, WEIR_LEVEL_FAST);
    drain(s);
    if (saves_put(s, c, 100, NEW, WEIR_LEVEL_FAST, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(saves_number(s->fast, 100), NEW);
    assert_int_equal(saves_number(s->slow, 100), 101);
    return c;
}

static void nobody_waits_for_the_old_one(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, NULL);
    weir_ckpt *c = come_by_again(s, &cfg);
    weir_err err;

    assert_int_equal(weir_ckpt_wait(c, 100, WEIR_LEVEL_SLOW, 0, &err),
                     WEIR_ETIMEDOUT);
    assert_int_equal(weir_ckpt_wait(c, 100, WEIR_LEVEL_VERIFIED, 0, &err),
                     WEIR_ETIMEDOUT);
    assert_int_equal(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_SLOW, 0, &err),
                     WEIR_ETIMEDOUT);
    drain(s);
    assert_int_equal(saves_number(s->slow, 100), NEW);
    saves_wait(c, 100, WEIR_LEVEL_VERIFIED);
    saves_close(c);
}

static void the_new_one_makes_no_room(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, NULL);
    weir_ckpt *c;
    weir_err err;

    saves_close(come_by_again(s, &cfg));
    cfg = config(s, "mkdir-enospc@~tmp-000000000110");
    cfg.drain_timeout_ms = 1000; /* for this, it waits for a drain */
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 110, 1, WEIR_LEVEL_FAST, &err),
                     WEIR_ENOSPC);
    assert_int_equal(saves_number(s->fast, 100), NEW);
    saves_close(c);
}

static void the_new_one_is_behind(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config(s, NULL);
    weir_ckpt *c;
    weir_err err;

    cfg.behind = WEIR_BEHIND_SKIP;
    cfg.max_behind = 3;
    c = come_by_again(s, &cfg);
    saves_must(s, c, 110, WEIR_LEVEL_FAST);
    saves_must(s, c, 120, WEIR_LEVEL_FAST);
    assert_int_equal(saves_put(s, c, 130, 1, WEIR_LEVEL_FAST, &err), 1);
    assert_int_equal(saves_stats(c).behind, 3);
    saves_close(c);
}

/* Until the slow tier does not return from a request. */
static void wait_for_hang(weir_ckpt *c)
{
    struct wr_store *st = c->far->store;

    while (st->ops != &wr_storage_fault) /* another one wraps it */
        st = ((struct wr_wrap_store *)st)->inner;
    while (wr_fault_seen(st, WR_FAULT_HUNG) == 0)
        usleep(1000);
}

static void make_file(const char *path)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

/* The new one is damaged before it is drained: who waits for it is told. */
static void the_new_one_is_lost(void **state)
{
    struct saves *s = *state;
    char file[SAVES_PATH], rules[SAVES_PATH + 30];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;
    int r;

    snprintf(file, sizeof(file), "%s/hang", s->root);
    snprintf(rules, sizeof(rules), "hang=%s@~/tmp-000000000070", file);
    cfg = saves_config(s,
                       (struct saves_tiers){.two = true, .slow_rules = rules});
    cfg.max_behind = 0;
    cfg.keep_last = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 50, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 100, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 101, WEIR_LEVEL_VERIFIED); /* 100 leaves the fast tier */
    if (weir_ckpt_restore(c, 50, &s->tensor, 1, NULL, &err) != 1)
        fail_msg("%s", err.msg);
    saves_must(s, c, 60, WEIR_LEVEL_VERIFIED);
    make_file(file);
    saves_must(s, c, 70, WEIR_LEVEL_FAST);
    if (saves_put(s, c, 100, NEW, WEIR_LEVEL_FAST, &err) < 0)
        fail_msg("%s", err.msg);
    saves_damage(s->fast, 100);
    assert_int_equal(unlink(file), 0);
    r = weir_ckpt_wait(c, 100, WEIR_LEVEL_SLOW, 300000, &err);
    if (r != WEIR_EDAMAGED && r != WEIR_ENOENT) /* retention may be faster */
        fail_msg("%d: %s", r, r < 0 ? err.msg : "");
    assert_int_equal(saves_number(s->slow, 100), 101);
    saves_close(c);
}

/* Retention has decided that 40 leaves the fast tier, and stands still at the slow
 * one. Meanwhile 40 makes room there, and is saved anew. */
static void retention_takes_the_old_one_only(void **state)
{
    struct saves *s = *state;
    char file[SAVES_PATH], rules[SAVES_PATH + 40];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    snprintf(file, sizeof(file), "%s/hang", s->root);
    snprintf(rules, sizeof(rules), "hang=%s@~pin-000000000010", file);
    cfg = saves_config(
        s, (struct saves_tiers){.two = true,
                                .fast_rules = "mkdir-enospc@~tmp-00000000005",
                                .slow_rules = rules});
    cfg.keep_last = 3;
    cfg.keep_fast = 2;
    cfg.max_behind = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 10, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 40, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 30, WEIR_LEVEL_VERIFIED);
    while (saves_number(s->fast, 10) >= 0)
        usleep(1000); /* retention is done */
    make_file(file);
    saves_must(s, c, 31, WEIR_LEVEL_VERIFIED);
    wait_for_hang(c);
    saves_must(s, c, 50, WEIR_LEVEL_FAST);
    saves_must(s, c, 51, WEIR_LEVEL_FAST);
    saves_must(s, c, 52, WEIR_LEVEL_FAST);
    assert_int_equal(saves_number(s->fast, 40), -1);
    if (saves_put(s, c, 40, NEW, WEIR_LEVEL_FAST, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(unlink(file), 0);
    saves_wait(c, 40, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_number(s->slow, 40), NEW);
    saves_close(c);
}

static void *let_go(void *file)
{
    usleep(200000);
    unlink(file);
    return NULL;
}

/* Of two saves of a step the first was taken away before it was drained. Nobody
 * waits for it. */
static void nobody_waits_for_what_was_taken_away(void **state)
{
    const weir_ckpt_prune_plan back = {.go_back = 1, .after = 50};
    struct saves *s = *state;
    char file[SAVES_PATH], rules[SAVES_PATH + 30];
    weir_ckpt_config cfg;
    pthread_t thread;
    weir_ckpt *c;
    weir_err err;

    snprintf(file, sizeof(file), "%s/hang", s->root);
    snprintf(rules, sizeof(rules), "hang=%s@~/tmp-000000000100", file);
    cfg = saves_config(s,
                       (struct saves_tiers){.two = true, .slow_rules = rules});
    c = saves_open(&cfg);
    saves_must(s, c, 50, WEIR_LEVEL_VERIFIED);
    make_file(file);
    saves_must(s, c, 100, WEIR_LEVEL_FAST);
    assert_int_equal(pthread_create(&thread, NULL, let_go, file), 0);
    if (weir_ckpt_prune(c, &back, &err) < 0)
        fail_msg("%s", err.msg);
    pthread_join(thread, NULL);
    assert_int_equal(saves_number(s->fast, 100), -1);
    if (saves_put(s, c, 100, NEW, WEIR_LEVEL_FAST, &err) < 0)
        fail_msg("%s", err.msg);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_number(s->slow, 100), NEW);
    saves_close(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_waits_for_the_old_one),
        TEST(the_new_one_makes_no_room),
        TEST(the_new_one_is_behind),
        TEST(the_new_one_is_lost),
        TEST(retention_takes_the_old_one_only),
        TEST(nobody_waits_for_what_was_taken_away),
    };

    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
