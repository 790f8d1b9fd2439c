/* test_manage.c - listing, checking, pinning, taking away.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "steps.h"

static void check_shown(weir_ckpt *c, const char *fast, const char *slow)
{
    char f[16], s[16];

    steps_shown(c, strlen(fast), f, s);
    assert_string_equal(f, fast);
    assert_string_equal(s, slow);
}

static weir_ckpt *open_as(const struct steps *s, enum weir_ckpt_role role)
{
    weir_ckpt_config cfg;

    steps_config(s, role, &cfg);
    return steps_open(&cfg);
}

/* Steps 1 to `last` on both tiers, verified on the slow one. */
static void save_drained(const struct steps *s, uint64_t last)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, last);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_last = 0;
    cfg.keep_fast = (uint32_t)last;
    c = steps_open(&cfg);
    if (weir_ckpt_drain(c, &err) < 0)
        fail_msg("%s", err.msg);
    steps_close(c);
}

/* --- list --- */

static void test_list(void **state)
{
    struct steps *s = *state;
    weir_ckpt_entry *e;
    size_t count;
    weir_err err;
    weir_ckpt *c = open_as(s, WEIR_CKPT_READ);

    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    assert_int_equal(count, 0);
    free(e);
    save_drained(s, 2);
    steps_save(s, SLOW, (struct step_is){5, 55, 2, 5});
    steps_save(s, FAST, (struct step_is){7, 77, 3, 7});
    steps_remove(s, FAST, 1, "r00000.safetensors");
    steps_flip(s, FAST, 7, "MANIFEST", 15);
    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    assert_int_equal(count, 4);
    assert_int_equal(e[0].step, 1);
    assert_int_equal(e[0].fast, WEIR_COPY_DAMAGED);
    assert_int_equal(e[0].slow, WEIR_COPY_VERIFIED);
    assert_int_equal(e[0].time_ns, 1);
    assert_non_null(strstr(e[0].problem, "fast: "));
    assert_non_null(strstr(e[0].problem, "r00000.safetensors"));
    assert_int_equal(e[1].fast, WEIR_COPY_COMPLETE);
    assert_int_equal(e[1].world, 1);
    assert_true(e[1].bytes > 4 * 70000);
    assert_string_equal(e[1].problem, "");
    assert_int_equal(e[2].step, 5);
    assert_int_equal(e[2].fast, WEIR_COPY_NONE);
    assert_int_equal(e[2].slow, WEIR_COPY_COMPLETE);
    assert_int_equal(e[2].world, 2);
    assert_int_equal(e[2].time_ns, 55);
    assert_int_equal(e[3].step, 7);
    assert_int_equal(e[3].fast, WEIR_COPY_DAMAGED);
    assert_int_equal(e[3].slow, WEIR_COPY_NONE);
    assert_int_equal(e[3].world, 0);
    free(e);
    steps_close(c);
}

/* --- verify --- */

struct checks {
    unsigned calls, bad;
    char text[500];
    char tier[8];
    uint64_t step;
};

static void note_check(void *arg, const weir_ckpt_checked *c)
{
    struct checks *k = arg;

    k->calls++;
    assert_non_null(c->text);
    if (c->code == 0) {
        assert_string_equal(c->text, "");
        assert_true(c->bytes > 0);
        return;
    }
    k->bad++;
    k->step = c->step;
    snprintf(k->text, sizeof(k->text), "%s", c->text);
    snprintf(k->tier, sizeof(k->tier), "%s", c->tier);
}

static void test_verify(void **state)
{
    struct steps *s = *state;
    struct checks k = {0};
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 3);
    c = open_as(s, WEIR_CKPT_READ);
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, note_check, &k, &err), 0);
    assert_int_equal(k.calls, 6);
    check_shown(c, "ccc", "vvv"); /* a reader leaves no marks */
    steps_flip(s, SLOW, 2, "r00000.safetensors", 50000);
    k = (struct checks){0};
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, note_check, &k, &err), 1);
    assert_int_equal(k.bad, 1);
    assert_int_equal(k.step, 2);
    assert_string_equal(k.tier, "slow");
    assert_non_null(strstr(k.text, "step-000000000002/r00000.safetensors"));
    assert_non_null(strstr(k.text, "in bytes "));
    assert_int_equal(weir_ckpt_verify(c, 3, NULL, NULL, &err), 0);
    assert_int_equal(weir_ckpt_verify(c, 2, NULL, NULL, &err), 1);
    assert_int_equal(weir_ckpt_verify(c, 9, NULL, NULL, &err), WEIR_ENOENT);
    check_shown(c, "ccc", "vvv");
    steps_close(c);
}

static void test_verify_marks(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 3);
    steps_flip(s, SLOW, 2, "r00000.safetensors", 50000);
    steps_flip(s, FAST, 1, "MANIFEST", 15);
    c = open_as(s, WEIR_CKPT_MANAGE);
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, &err), 2);
    check_shown(c, "dvv", "vcv");
    steps_close(c);
    /* The drain finds it, and has a good copy still. */
    c = open_as(s, WEIR_CKPT_DRAIN);
    assert_int_equal(weir_ckpt_drain(c, &err), 0);
    check_shown(c, "--v", "vvv");
    steps_close(c);
}

static int stop_at_once(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    assert_true(done <= total);
    return 1;
}

static void test_verify_cancel(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 1);
    steps_config(s, WEIR_CKPT_READ, &cfg);
    cfg.progress = stop_at_once;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, &err),
                     WEIR_ECANCELED);
    steps_close(c);
}

/* --- pin --- */

static bool is_pinned(weir_ckpt *c, uint64_t step)
{
    weir_ckpt_entry *e;
    bool pinned = false;
    size_t count;

    assert_int_equal(weir_ckpt_list(c, &e, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        pinned |= e[i].step == step && e[i].pinned;
    free(e);
    return pinned;
}

static void test_pin(void **state)
{
    static const enum weir_ckpt_role writes[] = {WEIR_CKPT_MANAGE,
                                                 WEIR_CKPT_SAVE};
    struct steps *s = *state;
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 2);
    steps_save(s, FAST, (struct step_is){3, 3, 1, 3});
    for (size_t i = 0; i < 2; i++)
        for (uint64_t step = 1; step <= 3; step += 2) {
            c = open_as(s, writes[i]);
            assert_int_equal(weir_ckpt_pin(c, step, 1, &err), 0);
            assert_int_equal(weir_ckpt_pin(c, step, 1, &err), 0);
            steps_close(c);
            c = open_as(s, writes[i]);
            assert_true(is_pinned(c, step));
            assert_false(is_pinned(c, 2));
            assert_int_equal(weir_ckpt_pin(c, step, 0, &err), 0);
            assert_int_equal(weir_ckpt_pin(c, step, 0, &err), 0);
            steps_close(c);
            c = open_as(s, writes[i]);
            assert_false(is_pinned(c, step));
            steps_close(c);
        }
    c = open_as(s, WEIR_CKPT_MANAGE);
    assert_int_equal(weir_ckpt_pin(c, 9, 1, &err), WEIR_ENOENT);
    assert_int_equal(weir_ckpt_pin(c, 9, 0, &err), WEIR_ENOENT);
    assert_int_equal(weir_ckpt_pin(c, WEIR_LATEST, 1, &err), WEIR_EINVAL);
    steps_close(c);
    c = open_as(s, WEIR_CKPT_READ);
    assert_int_equal(weir_ckpt_pin(c, 1, 1, &err), 0); /* beside a writer */
    assert_true(is_pinned(c, 1));
    assert_int_equal(weir_ckpt_pin(c, 1, 0, &err), 0);
    assert_false(is_pinned(c, 1));
    steps_close(c);
}

/* --- prune --- */

struct gone {
    char text[400];
    uint64_t bytes;
};

static void note_gone(void *arg, uint64_t step, const char *tier,
                      uint64_t bytes)
{
    struct gone *g = arg;
    size_t used = strlen(g->text);

    if (step == WEIR_LATEST)
        snprintf(g->text + used, sizeof(g->text) - used, "spare:%s ", tier);
    else
        snprintf(g->text + used, sizeof(g->text) - used, "%llu:%s ",
                 (unsigned long long)step, tier);
    g->bytes += bytes;
}

/* What goes, told by a dry run and then by the real one. */
static void check_prune(weir_ckpt *c, weir_ckpt_prune_plan plan,
                        const char *expect)
{
    struct gone dry = {{0}, 0}, real = {{0}, 0};
    weir_err err;

    plan.gone = note_gone;
    plan.arg = &dry;
    plan.dry_run = 1;
    if (weir_ckpt_prune(c, &plan, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(dry.text, expect);
    plan.arg = &real;
    plan.dry_run = 0;
    if (weir_ckpt_prune(c, &plan, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(real.text, expect);
    assert_int_equal(dry.bytes, real.bytes);
}

static void test_prune(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.keep_last = 2};
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 5);
    steps_save(s, FAST, (struct step_is){6, 6, 1, 6});
    c = open_as(s, WEIR_CKPT_MANAGE);
    assert_int_equal(weir_ckpt_pin(c, 2, 1, &err), 0);
    check_shown(c, "cccccc", "vvvvv-");
    plan.keep_every = 3;
    check_prune(c, plan, "1:fast 1:slow 2:fast 3:fast 4:fast 4:slow ");
    check_shown(c, "----cc", "-vv-v-");
    check_prune(c, plan, "");
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.pruned, 2);
    assert_int_equal(weir_ckpt_pin(c, 2, 0, &err), 0);
    plan.keep_every = 0;
    check_prune(c, plan, "2:slow 3:slow ");
    steps_close(c);
}

/* A plan that says nothing takes nothing away for good. */
static void test_prune_nothing(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {0};
    weir_ckpt *c;

    save_drained(s, 3);
    c = open_as(s, WEIR_CKPT_MANAGE);
    check_prune(c, plan, "1:fast 2:fast ");
    check_shown(c, "--c", "vvv");
    steps_close(c);
}

static void test_prune_after(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.go_back = 1, .after = 3};
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 5);
    steps_save(s, FAST, (struct step_is){6, 6, 1, 6});
    c = open_as(s, WEIR_CKPT_MANAGE);
    assert_int_equal(weir_ckpt_pin(c, 5, 1, &err), 0);
    check_prune(c, plan, "6:fast 5:fast 5:slow 4:fast 4:slow 1:fast 2:fast ");
    check_shown(c, "--c---", "vvv---");
    steps_close(c);
    /* The step may be saved again, and has no pin. */
    steps_save(s, FAST, (struct step_is){5, 9, 1, 9});
    c = open_as(s, WEIR_CKPT_DRAIN);
    assert_int_equal(weir_ckpt_drain(c, &err), 0);
    check_shown(c, "----c-", "vvv-v-");
    assert_false(is_pinned(c, 5));
    steps_close(c);
}

/* Going back while the thread drains: nothing that has to go appears again. */
static void test_prune_beside_drain(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.go_back = 1, .after = 1};
    char fast[16], slow[16];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = 0; /* a drain that is done before must not take 1 away */
    for (unsigned i = 0; i < 5; i++) {
        for (uint64_t k = i ? 2 : 1; k <= 6; k++)
            steps_save(s, FAST, (struct step_is){k, 10 * i + k, 1, k});
        c = steps_open(&cfg);
        if (i % 2)
            weir_ckpt_wait(c, i, WEIR_LEVEL_SLOW, -1, &err);
        if (weir_ckpt_prune(c, &plan, &err) < 0)
            fail_msg("%s", err.msg);
        if (weir_ckpt_drain(c, &err) < 0)
            fail_msg("%s", err.msg);
        steps_shown(c, 6, fast, slow);
        /* The drain may have cleaned 1 off the fast tier for 6, then newest. */
        assert_string_equal(fast + 1, "-----");
        assert_string_equal(slow, "v-----");
        steps_close(c);
    }
}

static void test_prune_spare(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.keep_last = 3, .spare = 1};
    weir_ckpt *c;

    save_drained(s, 5);
    c = open_as(s, WEIR_CKPT_MANAGE);
    plan.spare = 0;
    check_prune(c, plan, "1:fast 1:slow 2:fast 2:slow 3:fast 4:fast ");
    assert_int_equal(steps_left(s, FAST, "slot-"), 1);
    assert_int_equal(steps_left(s, SLOW, "slot-"), 1);
    plan.spare = 1;
    plan.keep_last = 2;
    check_prune(c, plan, "3:slow spare:fast spare:slow ");
    assert_int_equal(steps_left(s, FAST, "slot-"), 0);
    assert_int_equal(steps_left(s, SLOW, "slot-"), 0);
    steps_close(c);
}

static void test_prune_roles(void **state)
{
    static const enum weir_ckpt_role roles[] = {WEIR_CKPT_READ,
                                                WEIR_CKPT_DRAIN};
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.keep_last = 1};
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    save_drained(s, 2);
    for (size_t i = 0; i < 2; i++) {
        c = open_as(s, roles[i]);
        assert_int_equal(weir_ckpt_prune(c, &plan, &err), WEIR_ESTATE);
        assert_non_null(strstr(err.msg, "pruning needs"));
        check_shown(c, "cc", "vv");
        steps_close(c);
    }
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.drain = 0;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_prune(c, &plan, &err), WEIR_ESTATE);
    plan.after = 1;
    assert_int_equal(weir_ckpt_prune(c, &plan, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "go_back"));
    steps_close(c);
}

static void test_prune_one_tier(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.keep_last = 2};
    weir_ckpt_config cfg;
    weir_ckpt *c;

    steps_save_up_to(s, 5);
    steps_flip(s, FAST, 4, "MANIFEST", 15);
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.slow = NULL;
    steps_unlink(s);
    c = steps_open(&cfg);
    check_prune(c, plan, "1:fast 2:fast ");
    check_shown(c, "--cdc", "-----");
    steps_close(c);
}

/* A copy that cannot be looked at is no reason to judge the others. */
static void test_prune_unreadable(void **state)
{
    struct steps *s = *state;
    weir_ckpt_prune_plan plan = {.keep_last = 1};
    weir_ckpt_config cfg;
    char fast[300];
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 3);
    snprintf(fast, sizeof(fast), "fault:open-eio@~3/MANIFEST:%s", s->fast);
    steps_config(s, WEIR_CKPT_MANAGE, &cfg);
    cfg.fast = fast;
    cfg.slow = NULL;
    steps_unlink(s);
    c = steps_open(&cfg);
    check_shown(c, "ccu", "---");
    assert_int_equal(weir_ckpt_prune(c, &plan, &err), WEIR_EIO);
    steps_close(c);
    assert_int_equal(steps_count(s, FAST, "step-"), 3);
}

#define STEP_TEST(f)                                                           \
    cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(test_list),
        STEP_TEST(test_verify),
        STEP_TEST(test_verify_marks),
        STEP_TEST(test_verify_cancel),
        STEP_TEST(test_pin),
        STEP_TEST(test_prune),
        STEP_TEST(test_prune_nothing),
        STEP_TEST(test_prune_after),
        STEP_TEST(test_prune_beside_drain),
        STEP_TEST(test_prune_spare),
        STEP_TEST(test_prune_roles),
        STEP_TEST(test_prune_one_tier),
        STEP_TEST(test_prune_unreadable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
