/* test_drain.c - steps on their way to the slow tier.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "steps.h"
#include "tier/step.h"

#define LAST 4

static void check_shown(weir_ckpt *c, const char *fast, const char *slow)
{
    char f[16], s[16];

    steps_shown(c, strlen(fast), f, s);
    assert_string_equal(f, fast);
    assert_string_equal(s, slow);
}

static void drain(weir_ckpt *c)
{
    weir_err err;

    if (weir_ckpt_drain(c, &err) != 0)
        fail_msg("%s", err.msg);
}

/* --- draining by call --- */

struct seen {
    uint64_t calls, done, total, stop_at;
};

static int watch(void *arg, uint64_t done, uint64_t total)
{
    struct seen *s = arg;

    assert_true(done <= total);
    assert_true(done >= s->done);
    s->calls++;
    s->done = done;
    s->total = total;
    return s->stop_at && s->calls >= s->stop_at;
}

static void test_call(void **state)
{
    struct steps *s = *state;
    struct seen seen = {0};
    char before[WR_MANIFEST_ID], after[WR_MANIFEST_ID];
    weir_ckpt_config cfg;
    weir_ckpt_stats stats;
    weir_ckpt *c;

    steps_save_up_to(s, LAST);
    steps_id(s, FAST, 2, before);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_last = 3;
    cfg.progress = watch;
    cfg.progress_arg = &seen;
    c = steps_open(&cfg);
    check_shown(c, "cccc", "----");
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.behind, LAST);
    drain(c);
    check_shown(c, "---c", "-vvv");
    assert_true(seen.calls > 0);
    assert_int_equal(seen.done, seen.total);
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.drained, LAST);
    assert_int_equal(stats.verified, LAST);
    assert_int_equal(stats.pruned, 1);
    assert_int_equal(stats.behind, 0);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(seen.done, 2 * stats.bytes_drained);
    steps_id(s, SLOW, 2, after);
    assert_string_equal(before, after);
    drain(c); /* nothing to do */
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.drained, LAST);
    steps_close(c);
}

static void test_ranks_without_verify(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;

    steps_save(s, FAST, (struct step_is){1, 1, 3, 7});
    steps_save(s, FAST, (struct step_is){2, 2, 2, 8});
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.verify = 0;
    c = steps_open(&cfg);
    drain(c);
    check_shown(c, "-c", "cc");
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, NULL), 0);
    steps_close(c);
}

static void test_cancel(void **state)
{
    struct steps *s = *state;
    struct seen seen = {.stop_at = 1};
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 2);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.progress = watch;
    cfg.progress_arg = &seen;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_ECANCELED);
    check_shown(c, "cc", "--");
    assert_int_equal(steps_count(s, SLOW, ".tmp"), 0);
    seen = (struct seen){0};
    drain(c);
    check_shown(c, "-c", "vv");
    steps_close(c);
}

static void test_roles(void **state)
{
    static const enum weir_ckpt_role roles[] = {WEIR_CKPT_READ,
                                                WEIR_CKPT_MANAGE};
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 1);
    for (size_t i = 0; i < 2; i++) {
        steps_config(s, roles[i], &cfg);
        c = steps_open(&cfg);
        assert_int_equal(weir_ckpt_drain(c, &err), WEIR_ESTATE);
        steps_close(c);
    }
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.drain = 0;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_ESTATE);
    check_shown(c, "c", "-");
    steps_close(c);
}

/* --- damage --- */

static void test_damaged(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, LAST);
    steps_flip(s, FAST, 2, "r00000.safetensors", 8192);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EDAMAGED);
    assert_non_null(strstr(err.msg, "step 2 on the fast tier is damaged"));
    assert_non_null(strstr(err.msg, "r00000.safetensors"));
    check_shown(c, "-d-c", "v-vv");
    assert_int_equal(steps_count(s, SLOW, ".tmp"), 0);
    drain(c); /* is not tried, nor told, again */
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.drained, LAST - 1);
    steps_close(c);
}

static void test_damaged_manifest(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 3);
    steps_flip(s, FAST, 1, "MANIFEST", 30);
    steps_remove(s, FAST, 2, "r00000.safetensors");
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EDAMAGED);
    assert_non_null(strstr(err.msg, "step 1 on the fast tier is damaged"));
    check_shown(c, "ddc", "--v");
    drain(c);
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.failed, 2);
    steps_close(c);
}

/* A copy on the slow tier that is damaged gives way to a good one. */
static void test_damaged_target(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;

    steps_save_up_to(s, 3);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_fast = 9;
    c = steps_open(&cfg);
    drain(c);
    check_shown(c, "ccc", "vvv");
    steps_remove(s, SLOW, 1, "r00000.safetensors");
    steps_flip(s, SLOW, 2, "MANIFEST", 20);
    check_shown(c, "ccc", "ddv");
    drain(c);
    check_shown(c, "ccc", "vvv");
    steps_close(c);
}

/* What does not read back as it was written is written once more. */
static void test_bad_copy(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt_stats stats;
    weir_ckpt *c;

    steps_save_up_to(s, 2);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.verify = 0;
    c = steps_open(&cfg);
    drain(c);
    steps_close(c);
    steps_flip(s, SLOW, 2, "r00000.safetensors", 100000);
    cfg.verify = 1;
    c = steps_open(&cfg);
    check_shown(c, "-c", "cc");
    drain(c);
    check_shown(c, "-c", "cv");
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.retried, 1);
    assert_int_equal(stats.failed, 0);
    steps_close(c);
}

/* --- two saves of one step --- */

static void test_other_save(void **state)
{
    struct steps *s = *state;
    char old[WR_MANIFEST_ID], new[WR_MANIFEST_ID], now[WR_MANIFEST_ID];
    weir_ckpt_config cfg;
    weir_ckpt *c;

    steps_save(s, SLOW, (struct step_is){1, 100, 1, 5});
    steps_save(s, FAST, (struct step_is){1, 200, 2, 6});
    steps_id(s, SLOW, 1, old);
    steps_id(s, FAST, 1, new);
    assert_string_not_equal(old, new);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    c = steps_open(&cfg);
    check_shown(c, "c", "s");
    drain(c);
    check_shown(c, "c", "v");
    steps_id(s, SLOW, 1, now);
    assert_string_equal(now, new);
    steps_close(c);
}

static void test_later_save(void **state)
{
    struct steps *s = *state;
    char before[WR_MANIFEST_ID], after[WR_MANIFEST_ID];
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save(s, SLOW, (struct step_is){1, 300, 1, 5});
    steps_save(s, FAST, (struct step_is){1, 200, 1, 6});
    steps_save(s, FAST, (struct step_is){2, 400, 1, 7});
    steps_id(s, SLOW, 1, before);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_fast = 0;
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(c, &err), WEIR_ESTALE);
    assert_non_null(strstr(err.msg, "weir ckpt discard"));
    steps_id(s, SLOW, 1, after);
    assert_string_equal(before, after);
    check_shown(c, "s-", "cv");
    steps_close(c);
}

/* --- pins --- */

static void test_pin_goes_along(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, LAST);
    steps_config(s, WEIR_CKPT_MANAGE, &cfg);
    c = steps_open(&cfg);
    assert_int_equal(weir_ckpt_pin(c, 1, 1, &err), 0);
    steps_close(c);
    /* The claim sweeps the slow tier's marks of steps that are not there. */
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_last = 1;
    c = steps_open(&cfg);
    drain(c);
    check_shown(c, "---c", "v--v");
    assert_int_equal(wr_tier_marked(c->far, WR_MARK_PIN, 1, NULL, 0), true);
    steps_close(c);
}

/* --- errors of the slow tier --- */

static weir_ckpt *open_faulty(struct steps *s, const char *rules,
                              enum weir_ckpt_role role)
{
    weir_ckpt_config cfg;
    char slow[300];

    snprintf(slow, sizeof(slow), "fault:%s:%s", rules, s->slow);
    steps_config(s, role, &cfg);
    cfg.slow = slow;
    return steps_open(&cfg);
}

static void test_faults_by_call(void **state)
{
    static const char *const rules[] = {
        "write-eio@~/tmp-",  "write-enospc@~/tmp-", "sync-eio@~MANIFEST",
        "create-eio@~/tmp-", "rename-eio@~/tmp-",   "mkdir-enospc@~/tmp-",
        "close-eio@~/tmp-",
    };
    struct steps *s = *state;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 2);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int r;

        c = open_faulty(s, rules[i], WEIR_CKPT_DRAIN);
        r = weir_ckpt_drain(c, &err);
        if (r != WEIR_EIO && r != WEIR_ENOSPC)
            fail_msg("%s: %d %s", rules[i], r, r < 0 ? err.msg : "");
        assert_non_null(strstr(err.msg, "draining step 1: "));
        check_shown(c, "cc", "--");
        steps_close(c);
    }
    c = open_faulty(s, "eio@~nothing", WEIR_CKPT_DRAIN);
    drain(c);
    check_shown(c, "-c", "vv");
    steps_close(c);
}

/* What was renamed and could not be synced is not drained: whichever sync is the
 * first that fails, and all behind it do, nothing leaves the fast tier. */
static void test_unsynced_stays(void **state)
{
    struct steps *s = *state;
    bool all = false;

    steps_save_up_to(s, 1);
    for (unsigned n = 1; !all; n++) {
        for (int verify = 0; verify <= 1; verify++) {
            weir_ckpt_config cfg;
            char slow[300];
            weir_ckpt *c = NULL;
            weir_err err;
            int r;

            snprintf(slow, sizeof(slow), "fault:syncdir-eio@%u+:%s", n,
                     s->slow);
            steps_config(s, WEIR_CKPT_DRAIN, &cfg);
            cfg.slow = slow;
            cfg.verify = verify;
            cfg.keep_fast = 0;
            if (weir_ckpt_open(&c, &cfg, &err) < 0)
                continue;
            r = weir_ckpt_drain(c, &err);
            all = r == 0;
            if (r < 0 && (weir_ckpt_drain(c, &err) == 0 ||
                          steps_count(s, FAST, "step-") == 0))
                fail_msg("sync %u, verify %d: step 1 counts as drained", n,
                         verify);
            steps_close(c);
        }
    }
}

/* A flip on the way to the medium is found, and written once more. */
static void test_flip_by_call(void **state)
{
    struct steps *s = *state;
    weir_ckpt_stats stats;
    weir_ckpt *c;

    steps_save_up_to(s, 1);
    c = open_faulty(s, "write-flip@2", WEIR_CKPT_DRAIN);
    drain(c);
    check_shown(c, "c", "v");
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.retried, 1);
    steps_close(c);
}

static void test_fenced(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *a, *b;
    weir_err err;

    steps_save_up_to(s, 1);
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    a = steps_open(&cfg);
    cfg.take_over = 1;
    b = steps_open(&cfg);
    assert_int_equal(weir_ckpt_drain(a, &err), WEIR_EFENCED);
    check_shown(b, "c", "-");
    drain(b);
    check_shown(b, "c", "v");
    /* It takes nothing away either: by its retention, or to replace it. */
    steps_save(s, FAST, (struct step_is){2, 2, 1, 2});
    drain(b);
    check_shown(b, "-c", "vv");
    a->cfg.keep_last = 1;
    assert_int_equal(wr_ckpt_retain(a, &err), WEIR_EFENCED);
    assert_int_equal(wr_step_copy_anew(a->near, a->far, 2, NULL, &err),
                     WEIR_EFENCED);
    check_shown(b, "-c", "vv");
    steps_close(b);
    steps_close(a);
}

/* --- the thread --- */

static void test_thread(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, LAST);
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    c = steps_open(&cfg);
    for (uint64_t i = 1; i <= LAST; i++)
        if (weir_ckpt_wait(c, i, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
            fail_msg("%s", err.msg);
    drain(c); /* waits for the end of the pass, retention included */
    check_shown(c, "---c", "vvvv");
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.behind, 0);
    assert_int_equal(stats.drained, LAST);
    steps_close(c);
}

/* The nice value of this process's thread of that name; -99: none. */
static int nice_of(const char *name)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    int found = -99;

    assert_non_null(d);
    while ((e = readdir(d))) {
        char path[300], text[500] = "", *at;
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
        f = fopen(path, "r");
        if (!f)
            continue;
        if (!fgets(text, sizeof(text), f))
            text[0] = '\0';
        fclose(f);
        at = strstr(text, name);
        if (at && (at = strchr(at, ')')))
            sscanf(at + 1,
                   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
                   " %*s %*s %*s %*s %d",
                   &found);
    }
    closedir(d);
    return found;
}

static void test_saved_here(void **state)
{
    static float data[5000];
    struct steps *s = *state;
    weir_tensor t = {.name = "w",
                     .dtype = WEIR_F32,
                     .ndim = 1,
                     .shape = {5000},
                     .data = data};
    weir_ckpt_state st = {.tensors = &t, .count = 1};
    weir_ckpt_config cfg;
    weir_ckpt_times times;
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;

    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = 2;
    c = steps_open(&cfg);
    for (st.step = 1; st.step <= 15; st.step++)
        if (weir_ckpt_save(c, &st, WEIR_LEVEL_SNAPSHOT, &err) != 0)
            fail_msg("%s", err.msg);
    if (weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(nice_of("weir-drain"),
                     WR_MIN(nice_of("test-checkpoint") + 10, 19));
    drain(c);
    check_shown(c, "--------------c", "-------------vv");
    assert_int_equal(weir_ckpt_times_of(c, 15, &times), 0);
    assert_true(times.fast_ns > 0 && times.fast_ns <= times.slow_ns);
    assert_true(times.slow_ns <= times.verified_ns);
    assert_true(times.drain_ns > 0 && times.drain_ns <= times.slow_ns);
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.drained, 15);
    assert_int_equal(stats.verified, 15);
    assert_int_equal(stats.pruned, 13);
    assert_int_equal(stats.behind, 0);
    steps_close(c);
}

static void test_thread_stops(void **state)
{
    struct steps *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;

    steps_save_up_to(s, LAST);
    steps_config(s, WEIR_CKPT_SAVE, &cfg);
    for (unsigned i = 0; i < 3; i++) {
        c = steps_open(&cfg);
        steps_close(c); /* whatever it was at */
    }
    steps_config(s, WEIR_CKPT_DRAIN, &cfg);
    c = steps_open(&cfg);
    drain(c);
    check_shown(c, "---c", "vvvv");
    assert_int_equal(weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, NULL), 0);
    steps_close(c);
}

/* The slow tier fails for a while: the trainer hears of it once, waiting returns
 * it, and it is tried again. */
static void test_thread_retries(void **state)
{
    struct steps *s = *state;
    weir_ckpt_stats stats;
    weir_ckpt *c;
    weir_err err;
    int r;

    steps_save_up_to(s, 1);
    c = open_faulty(s, "mkdir-eio@5", WEIR_CKPT_SAVE);
    r = weir_ckpt_drain(c, &err); /* the error, or it came before */
    if (r < 0) {
        assert_int_equal(r, WEIR_EIO);
        assert_non_null(strstr(err.msg, "draining step 1: "));
    }
    while (weir_ckpt_wait(c, 1, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
        assert_int_equal(err.code, WEIR_EIO);
    weir_ckpt_get_stats(c, &stats);
    assert_int_equal(stats.drained, 1);
    steps_close(c);
    assert_int_equal(stats.failed, 1);
}

/* It fails for ever: no call hangs. */
static void test_thread_fails(void **state)
{
    struct steps *s = *state;
    weir_ckpt *c;
    weir_err err;

    steps_save_up_to(s, 1);
    c = open_faulty(s, "write-eio@~/tmp-", WEIR_CKPT_SAVE);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(weir_ckpt_drain(c, &err), WEIR_EIO);
        assert_non_null(strstr(err.msg, "draining step 1: "));
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(weir_ckpt_wait(c, 1, WEIR_LEVEL_SLOW, -1, &err),
                         WEIR_EIO);
    weir_ckpt_close(&c, &err); /* perhaps with the same error */
}

/* --- taken away while it is read --- */

struct taker {
    struct wr_tier *t;
    bool done;
};

static int take_away(void *arg, uint64_t bytes)
{
    struct taker *k = arg;

    (void)bytes;
    if (!k->done)
        assert_int_equal(wr_tier_retire(k->t, 1, NULL), 0);
    k->done = true;
    return 0;
}

static void test_taken_away(void **state)
{
    struct steps *s = *state;
    struct taker k = {0};
    struct wr_byte_meter meter = {take_away, &k};
    weir_err err;

    /* The second file cannot be opened when the first has been read. */
    steps_save(s, FAST, (struct step_is){1, 1, 2, 3});
    assert_int_equal(wr_tier_open(s->fast, "fast", false, &k.t, &err), 0);
    assert_int_equal(wr_step_verify(k.t, 1, false, &meter, &err), WEIR_ENOENT);
    assert_true(k.done);
    assert_int_equal(wr_step_verify(k.t, 1, false, NULL, &err), WEIR_ENOENT);
    wr_tier_close(k.t);
}

#define STEP_TEST(f)                                                           \
    cmocka_unit_test_setup_teardown(f, steps_setup, steps_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEP_TEST(test_call),           STEP_TEST(test_ranks_without_verify),
        STEP_TEST(test_cancel),         STEP_TEST(test_roles),
        STEP_TEST(test_damaged),        STEP_TEST(test_damaged_manifest),
        STEP_TEST(test_damaged_target), STEP_TEST(test_bad_copy),
        STEP_TEST(test_other_save),     STEP_TEST(test_later_save),
        STEP_TEST(test_pin_goes_along), STEP_TEST(test_faults_by_call),
        STEP_TEST(test_unsynced_stays), STEP_TEST(test_flip_by_call),
        STEP_TEST(test_fenced),         STEP_TEST(test_thread),
        STEP_TEST(test_saved_here),     STEP_TEST(test_thread_stops),
        STEP_TEST(test_thread_retries), STEP_TEST(test_thread_fails),
        STEP_TEST(test_taken_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
