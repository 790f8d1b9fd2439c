/* test_save.c - saving and waiting: levels, isolation, errors, steps again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tier/tier.h"

static const struct saves_tiers one, two = {.two = true};

/* --- levels --- */

static weir_ckpt_times times_of(const weir_ckpt *c, uint64_t step)
{
    weir_ckpt_times t = {0};

    assert_int_equal(weir_ckpt_times_of(c, step, &t), 0);
    assert_int_equal(t.step, step);
    return t;
}

static void levels_of_one_tier(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_times t;
    weir_err err;

    for (int level = WEIR_LEVEL_SNAPSHOT; level <= WEIR_LEVEL_VERIFIED; level++)
        saves_must(s, c, (uint64_t)level, (enum weir_level)level);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    for (uint64_t step = 1; step <= 4; step++) {
        assert_int_equal(saves_number(s->fast, step), step + 1);
        t = times_of(c, step);
        assert_true(t.bytes > SAVES_COUNT * 4);
        assert_true(t.snapshot_ns > 0 && t.fast_ns > 0);
        assert_true(t.slow_ns >= t.fast_ns && t.verified_ns > t.slow_ns);
        assert_int_equal(t.drain_ns, 0);
        assert_int_equal(weir_ckpt_wait(c, step, WEIR_LEVEL_VERIFIED, 0, &err),
                         0);
    }
    assert_int_equal(saves_stats(c).saves, 4);
    assert_int_equal(saves_stats(c).verified, 4);
    assert_int_equal(saves_stats(c).failed, 0);
    assert_int_equal(saves_stats(c).bytes_saved, 4 * t.bytes);
    assert_true(saves_stats(c).memory >= t.bytes);
    assert_int_equal(weir_ckpt_times_of(c, 9, &t), WEIR_ENOENT);
    saves_close(c);
}

static void levels_of_two_tiers(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_times t;

    for (int level = WEIR_LEVEL_SNAPSHOT; level <= WEIR_LEVEL_VERIFIED; level++)
        saves_must(s, c, (uint64_t)level, (enum weir_level)level);
    assert_int_equal(saves_number(s->slow, 4), 5);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    for (uint64_t step = 1; step <= 4; step++) {
        assert_int_equal(saves_number(s->slow, step), step + 1);
        t = times_of(c, step);
        assert_true(t.snapshot_ns > 0 && t.fast_ns > 0);
        assert_true(t.slow_ns > t.fast_ns && t.verified_ns > t.slow_ns);
        assert_true(t.drain_ns > 0);
    }
    assert_int_equal(saves_stats(c).drained, 4);
    assert_int_equal(saves_stats(c).verified, 4);
    assert_int_equal(saves_stats(c).behind, 0);
    saves_close(c);
}

static void nothing_verifies_when_off(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c;
    weir_err err;

    cfg.verify = 0;
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 1, 1, WEIR_LEVEL_VERIFIED, &err),
                     WEIR_EINVAL);
    saves_must(s, c, 1, WEIR_LEVEL_SLOW);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, -1, &err),
                     WEIR_ESTATE);
    assert_int_equal(
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err),
        WEIR_ESTATE);
    saves_close(c);
}

/* The tensors belong to the caller again when the save returns. */
static void snapshots_are_isolated(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "write-delay=50"});
    weir_ckpt *c = saves_open(&cfg);

    for (int level = WEIR_LEVEL_SNAPSHOT; level <= WEIR_LEVEL_FAST; level++) {
        saves_must(s, c, (uint64_t)level, (enum weir_level)level);
        memset(s->w, 0xee, SAVES_COUNT * sizeof(*s->w));
    }
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), 2);
    assert_int_equal(saves_number(s->fast, 2), 3);
}

static void keeps_metadata_and_pipeline(void **state)
{
    static const weir_pair pairs[] = {{"loss", "0.25"}, {"who", "x\"y"}};
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);
    struct wr_manifest m;
    struct wr_tier *t;
    weir_err err;

    s->state.metadata = pairs;
    s->state.metadata_count = 2;
    s->state.pipeline = "position";
    s->state.pipeline_len = 8;
    saves_must(s, c, 3, WEIR_LEVEL_SNAPSHOT);
    saves_close(c);
    assert_int_equal(wr_tier_open(s->fast, "fast", false, &t, &err), 0);
    assert_int_equal(wr_tier_manifest(t, 3, &m, &err), 0);
    assert_int_equal(m.metadata_count, 2);
    assert_string_equal(m.metadata[1].value, "x\"y");
    assert_int_equal(m.shards[0].pipeline_len, 8);
    assert_memory_equal(m.shards[0].pipeline, "position", 8);
    assert_true(m.time_ns > UINT64_C(1700000000000000000));
    wr_manifest_done(&m);
    wr_tier_close(t);
}

/* --- what is refused --- */

static void refuses_nonsense(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    assert_int_equal(saves_put(s, c, WEIR_STEP_MAX, 1, WEIR_LEVEL_FAST, &err),
                     WEIR_EINVAL);
    assert_int_equal(saves_put(s, c, 1, 1, (enum weir_level)0, &err),
                     WEIR_EINVAL);
    assert_int_equal(saves_put(s, c, 1, 1, (enum weir_level)5, &err),
                     WEIR_EINVAL);
    assert_int_equal(weir_ckpt_wait(c, 1, (enum weir_level)5, 0, &err),
                     WEIR_EINVAL);
    s->state.pipeline_len = 1;
    assert_int_equal(saves_put(s, c, 1, 1, WEIR_LEVEL_FAST, &err), WEIR_EINVAL);
    s->state.pipeline_len = 0;
    s->tensor.name = "__metadata__";
    assert_true(saves_put(s, c, 1, 1, WEIR_LEVEL_FAST, &err) < 0);
    s->tensor.name = "w";
    assert_int_equal(saves_stats(c).saves, 0);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
}

static void a_step_is_saved_once(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    cfg.keep_fast = 0;
    saves_must(s, c, 5, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(saves_put(s, c, 5, 9, WEIR_LEVEL_SNAPSHOT, &err),
                     WEIR_EEXIST); /* while it is on its way */
    saves_wait(c, 5, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_put(s, c, 5, 9, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    saves_close(c);
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 5, 9, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    saves_must(s, c, 3, WEIR_LEVEL_FAST); /* back, where there is none */
    saves_wait(c, 5, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_put(s, c, 5, 9, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    saves_close(c);
    assert_int_equal(saves_number(s->slow, 5), 6);
}

static void a_damaged_step_gives_way(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c;
    weir_err err;

    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_close(c);
    saves_damage(s->fast, 1);
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 2, 9, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    assert_int_equal(saves_put(s, c, 1, 9, WEIR_LEVEL_FAST, &err), 0);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), 9);
    assert_int_equal(saves_number(s->fast, 2), 3);
}

/* --- errors --- */

/* Step 2 cannot be written. */
#define BAD_2 "write-eio@~000000000002"

/* The save that tells of an earlier failure saves its own step all the same. */
static void errors_come_with_the_next_save(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = BAD_2});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err = {0};

    saves_must(s, c, 1, WEIR_LEVEL_SNAPSHOT);
    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    while (saves_stats(c).failed == 0)
        usleep(1000);
    saves_must(s, c, 3, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(weir_ckpt_problem(c, &err), WEIR_EIO);
    assert_true(strstr(err.msg, "step 2 was not saved: ") == err.msg);
    assert_non_null(strstr(err.msg, "r00000.safetensors"));
    assert_int_equal(weir_ckpt_problem(c, &err), 0);
    assert_int_equal(saves_stats(c).saves, 3);
    assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_FAST, -1, &err), 0);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    /* Who asks for the step itself is told again. */
    assert_int_equal(weir_ckpt_wait(c, 2, WEIR_LEVEL_FAST, 0, &err), WEIR_EIO);
    assert_int_equal(saves_stats(c).failed, 1);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 1), 2);
    assert_int_equal(saves_number(s->fast, 2), -1);
    assert_int_equal(saves_number(s->fast, 3), 4);
}

static void wait_for_failures(weir_ckpt *c, uint64_t count)
{
    while (saves_stats(c).failed < count)
        usleep(1000);
}

static void both_saves_fail(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "write-eio@~000000000002,"
                                              "write-enospc@~000000000003"});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    wait_for_failures(c, 1);
    assert_int_equal(saves_put(s, c, 3, 4, WEIR_LEVEL_FAST, &err), WEIR_ENOSPC);
    assert_true(strstr(err.msg, "step 3 was not saved: ") == err.msg);
    assert_null(strstr(err.msg, "step 2"));
    saves_must(s, c, 4, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_problem(c, &err), WEIR_EIO);
    assert_true(strstr(err.msg, "step 2 was not saved: ") == err.msg);
    saves_close(c);
}

/* No room is found before a file is opened: no path says which step it is. */
static void a_full_tier_names_its_step(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "mkdir-enospc@5"});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    saves_must(s, c, 7, WEIR_LEVEL_SNAPSHOT);
    wait_for_failures(c, 1);
    saves_must(s, c, 8, WEIR_LEVEL_FAST);
    /* Who tries it again is not told of another: it is not there. */
    assert_int_equal(saves_put(s, c, 8, 9, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    assert_int_equal(weir_ckpt_problem(c, &err), WEIR_ENOSPC);
    assert_true(strstr(err.msg, "step 7 was not saved: ") == err.msg);
    saves_close(c);
    assert_int_equal(saves_number(s->fast, 7), -1);
    assert_int_equal(saves_number(s->fast, 8), 9);
}

/* Whatever fails behind the rename, the message says what is there. */
static void a_failed_root_sync_says_what_is_there(void **state)
{
    static const char *const late[] = {"rename-late-eio@~/tmp-", NULL};
    struct saves *s = *state;
    unsigned told = 0;

    for (unsigned n = 1; n < 40; n++) {
        char rules[64];
        weir_ckpt_config cfg;
        weir_ckpt *c = NULL;
        weir_err err;
        int r;

        snprintf(rules, sizeof(rules), "syncdir-eio@%u", n);
        snprintf(s->fast, sizeof(s->fast), "%s/fast%u", s->root, n);
        cfg = saves_config(
            s, (struct saves_tiers){.fast_rules = n == 1 ? late[0] : rules});
        if (weir_ckpt_open(&c, &cfg, NULL) < 0)
            continue;
        r = saves_put(s, c, 1, 2, WEIR_LEVEL_FAST, &err);
        if (r < 0) {
            bool there = saves_number(s->fast, 1) == 2;

            if (there != !!strstr(err.msg, "step 1 is on the fast tier, but "
                                           "may not survive a power cut") ||
                there == !!strstr(err.msg, "step 1 was not saved: "))
                fail_msg("there %d: %s", there, err.msg);
            told += there;
        }
        weir_ckpt_close(&c, NULL);
        if (n > 1 && r == 0)
            break;
    }
    assert_true(told >= 2);
}

/* Trouble of saving is for those who ask how saving goes. */
static void reading_tells_no_trouble(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.two = true, .slow_rules = "write-enospc@~r0"});
    weir_ckpt_prune_plan plan = {.keep_last = 9};
    weir_ckpt_entry *entries;
    weir_ckpt *c;
    weir_err err;
    size_t count;

    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_close(c);
    cfg.drain = 1;
    c = saves_open(&cfg);
    wait_for_failures(c, 1);
    assert_int_equal(weir_ckpt_restore(c, WEIR_LATEST, NULL, 0, NULL, &err), 1);
    assert_int_equal(weir_ckpt_look(c, WEIR_LATEST, NULL, &err), 1);
    assert_int_equal(weir_ckpt_list(c, &entries, &count, &err), 0);
    free(entries);
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, &err), 0);
    assert_int_equal(weir_ckpt_pin(c, 1, 1, &err), 0);
    assert_int_equal(weir_ckpt_prune(c, &plan, &err), 0);
    assert_int_equal(weir_ckpt_close(&c, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "draining step 1: "));
}

/* A folder that somebody removed was not taken over by another writer. */
static void a_removed_folder_is_named(void **state)
{
    struct saves *s = *state;

    for (int slow = 0; slow < 2; slow++) {
        weir_ckpt_config cfg = saves_config(s,
                                            (struct saves_tiers){.two = true});
        const char *gone = slow ? s->slow : s->fast;
        char text[SAVES_PATH + 20];
        weir_ckpt *c = saves_open(&cfg);
        weir_err err;

        saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
        snprintf(text, sizeof(text), "rm -rf '%s' 2>/dev/null", gone);
        while (system(text) != 0)
            usleep(1000); /* the drain was not done with it */
        assert_int_equal(saves_put(s, c, 2, 3, WEIR_LEVEL_SLOW, &err),
                         WEIR_ENOENT);
        snprintf(text, sizeof(text), "'%s': '.writer-", gone);
        if (!strstr(err.msg, text) || !strstr(err.msg, "' is gone: ") ||
            (!slow && !strstr(err.msg, "step 2")))
            fail_msg("%s", err.msg);
        weir_ckpt_close(&c, NULL);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
        snprintf(s->slow, sizeof(s->slow), "%s/slow2", s->root);
    }
}

static void errors_are_told_once(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = BAD_2});
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    /* The save that waits gets it itself. */
    assert_int_equal(saves_put(s, c, 2, 1, WEIR_LEVEL_VERIFIED, &err),
                     WEIR_EIO);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    /* The wait for it. */
    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(weir_ckpt_wait(c, 2, WEIR_LEVEL_FAST, -1, &err), WEIR_EIO);
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    /* The wait for all. */
    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, &err),
                     WEIR_EIO);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_FAST);
    /* Closing. */
    saves_must(s, c, 2, WEIR_LEVEL_SNAPSHOT);
    assert_int_equal(weir_ckpt_close(&c, &err), WEIR_EIO);
    assert_null(c);
    assert_int_equal(saves_number(s->fast, 2), -1);
    assert_int_equal(saves_number(s->fast, 3), 4);
}

/* A sync that fails costs a file, not the step. */
static void a_failed_sync_is_repeated(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "sync-eio@3"});
    weir_ckpt *c = saves_open(&cfg);
    uint64_t step = 0;

    while (saves_stats(c).retried == 0 && step < 5)
        if (saves_put(s, c, ++step, 7, WEIR_LEVEL_FAST, NULL) == 0)
            assert_int_equal(saves_number(s->fast, step), 7);
    saves_close(c);
}

/* --- going on --- */

static void goes_on_after_reopening(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    cfg.verify = 0;
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED); /* nothing is there */
    saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
    saves_close(c);
    c = saves_open(&cfg);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_close(c);
    cfg.verify = 1;
    c = saves_open(&cfg);
    saves_wait(c, 1, WEIR_LEVEL_VERIFIED);
    saves_wait(c, 2, WEIR_LEVEL_SLOW);
    saves_wait(c, 2, WEIR_LEVEL_VERIFIED); /* is read back now */
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(weir_ckpt_wait(c, 7, WEIR_LEVEL_SNAPSHOT, -1, &err),
                     WEIR_ENOENT);
    saves_must(s, c, 3, WEIR_LEVEL_FAST);
    saves_close(c);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(saves_number(s->fast, step), step + 1);
}

static void closing_finishes_what_is_queued(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(
        s, (struct saves_tiers){.fast_rules = "write-delay=30"});
    weir_ckpt *c;

    cfg.snapshots = 3;
    c = saves_open(&cfg);
    for (uint64_t step = 1; step <= 3; step++)
        saves_must(s, c, step, WEIR_LEVEL_SNAPSHOT);
    saves_close(c);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(saves_number(s->fast, step), step + 1);
}

static void *watch(void *arg)
{
    void **with = arg;
    weir_ckpt_stats st;

    do {
        weir_ckpt_get_stats(with[0], &st);
        usleep(100);
    } while (!atomic_load((atomic_bool *)with[1]));
    return NULL;
}

/* A thousand on a tmpfs, fewer where syncs cost time. */
static unsigned many(struct saves *s)
{
    char dir[] = "/dev/shm/weir-test-XXXXXX";

    if (!mkdtemp(dir))
        return 200;
    rmdir(s->root);
    snprintf(s->root, sizeof(s->root), "%s", dir);
    snprintf(s->fast, sizeof(s->fast), "%s/fast", dir);
    snprintf(s->slow, sizeof(s->slow), "%s/slow", dir);
    return 1000;
}

/* --- odd numbers --- */

static void odd_configs(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c = NULL;
    weir_err err;

    cfg.behind = (enum weir_behind)4;
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_EINVAL);
    assert_null(c);
    assert_int_equal(weir_ckpt_close(&c, &err), 0);
    cfg.behind = WEIR_BEHIND_BLOCK;
    cfg.max_behind = 1;
    cfg.behind = WEIR_BEHIND_LATEST;
    cfg.snapshots = 1;
    cfg.threads = 64;
    cfg.keep_fast = 0;
    cfg.keep_last = 0;
    c = saves_open(&cfg);
    for (uint64_t step = 9; step > 0; step--) /* falling */
        saves_must(s, c, step, WEIR_LEVEL_SNAPSHOT);
    saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    assert_int_equal(saves_number(s->slow, 1), 2);
    assert_int_equal(saves_put(s, c, 1, 5, WEIR_LEVEL_FAST, &err), WEIR_EEXIST);
    saves_close(c);
}

#define MANY 100000u

static void no_tensors_and_many(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    char(*names)[16] = calloc(MANY, sizeof(*names));
    weir_tensor *t = calloc(MANY, sizeof(*t));
    weir_ckpt_state st = {.step = 1};
    weir_ckpt_found *found = NULL;
    uint32_t *values = calloc(MANY, sizeof(*values));
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;

    assert_true(names && t && values);
    assert_int_equal(weir_ckpt_save(c, &st, WEIR_LEVEL_VERIFIED, &err), 0);
    assert_int_equal(weir_ckpt_restore(c, 1, NULL, 0, &found, &err), 1);
    assert_int_equal(found->count, 0);
    weir_ckpt_found_free(&found);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "t%u", i);
        t[i] = (weir_tensor){
            .name = names[i], .dtype = WEIR_F32, .data = &values[i]};
        values[i] = i;
    }
    st = (weir_ckpt_state){.step = 2, .tensors = t, .count = MANY};
    assert_int_equal(weir_ckpt_save(c, &st, WEIR_LEVEL_VERIFIED, &err), 0);
    memset(values, 0, MANY * sizeof(*values));
    assert_int_equal(weir_ckpt_restore(c, 2, t, MANY, NULL, &err), 1);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(values[i], i);
    saves_close(c);
    free(values);
    free(t);
    free(names);
}

static void nothing_grows(void **state)
{
    struct saves *s = *state;
    unsigned count = many(s), warm = count / 4, fds = 0;
    weir_ckpt_config cfg = saves_config(s, two);
    atomic_bool over = false;
    size_t memory = 0;
    weir_ckpt *c;
    void *with[2];
    pthread_t thread;

    s->tensor.shape[0] = 100;
    c = saves_open(&cfg);
    with[0] = c;
    with[1] = &over;
    assert_int_equal(pthread_create(&thread, NULL, watch, with), 0);
    for (unsigned i = 1; i <= count; i++) {
        saves_must(s, c, i, i % 2 ? WEIR_LEVEL_SNAPSHOT : WEIR_LEVEL_FAST);
        if (i == warm || i == count) {
            saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
            assert_true(i == warm || saves_fds() <= fds + 8);
            assert_true(i == warm || mallinfo2().uordblks <= memory + 200000);
            fds = saves_fds();
            memory = mallinfo2().uordblks;
        }
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    assert_int_equal(saves_stats(c).saves, count);
    assert_int_equal(saves_stats(c).drained, count);
    saves_close(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(levels_of_one_tier),
        TEST(levels_of_two_tiers),
        TEST(nothing_verifies_when_off),
        TEST(snapshots_are_isolated),
        TEST(keeps_metadata_and_pipeline),
        TEST(refuses_nonsense),
        TEST(a_step_is_saved_once),
        TEST(a_damaged_step_gives_way),
        TEST(errors_come_with_the_next_save),
        TEST(both_saves_fail),
        TEST(a_full_tier_names_its_step),
        TEST(a_failed_root_sync_says_what_is_there),
        TEST(reading_tells_no_trouble),
        TEST(a_removed_folder_is_named),
        TEST(errors_are_told_once),
        TEST(a_failed_sync_is_repeated),
        TEST(goes_on_after_reopening),
        TEST(closing_finishes_what_is_queued),
        TEST(odd_configs),
        TEST(no_tensors_and_many),
        TEST(nothing_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
