/* test_known.c - manifests are read once, and again when they are others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "checkpoint/store.h"
#include "storage/fault.h"
#include "tier/step.h"

static void what_is_known(void **state)
{
    struct wr_known *k = wr_known_new();
    struct wr_stat as = {.dev = 1, .ino = 2, .mtime_ns = 3, .size = 4}, other;
    const uint64_t kept[] = {3, 4, 99};
    struct wr_gist g = {0};

    (void)state;
    assert_non_null(k);
    for (uint64_t step = 9; step > 0; step--) {
        g.turn.step = step;
        g.bytes = step * 10;
        wr_known_learn(k, &as, &g);
    }
    for (uint64_t step = 1; step <= 9; step++) {
        assert_true(wr_known_find(k, step, &as, &g));
        assert_int_equal(g.bytes, step * 10);
    }
    other = as;
    other.mtime_ns++;
    assert_false(wr_known_find(k, 5, &other, &g));
    other = as;
    other.ino++;
    assert_false(wr_known_find(k, 5, &other, &g));
    other = as;
    other.size++;
    assert_false(wr_known_find(k, 5, &other, &g));
    assert_false(wr_known_find(k, 10, &as, &g));
    g = (struct wr_gist){.turn = {.step = 4}, .bytes = 7};
    wr_known_learn(k, &other, &g); /* in its place */
    wr_known_keep(k, kept, 3);
    assert_false(wr_known_find(k, 5, &as, &g));
    assert_true(wr_known_find(k, 3, &as, &g));
    assert_true(wr_known_find(k, 4, &other, &g));
    assert_int_equal(g.bytes, 7);
    wr_known_free(k);
}

/* Its manifest is an hour old: one that is quite new is not kept. */
static void age(const char *dir, uint64_t step)
{
    struct timespec then[2];
    char path[SAVES_PATH];

    snprintf(path, sizeof(path), "%s/step-%012u/MANIFEST", dir, (unsigned)step);
    clock_gettime(CLOCK_REALTIME, &then[0]);
    then[0].tv_sec -= 3600;
    then[1] = then[0];
    assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
}

static struct wr_store *counted(const char *dir)
{
    char url[SAVES_PATH];
    struct wr_store *st;

    snprintf(url, sizeof(url), "fault:delay=0:%s", dir);
    assert_int_equal(wr_store_open_own(url, &st, NULL), 0);
    return st;
}

/* What is read for ten saves does not grow with the steps that there are. */
static void saves_read_no_old_manifests(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){0});
    uint64_t first, rest;
    struct wr_store *st;
    weir_ckpt *c;

    assert_int_equal(mkdir(s->fast, 0777), 0);
    st = counted(s->fast);
    cfg.keep_last = 0;
    cfg.verify = 0;
    assert_int_equal(wr_ckpt_open_stores(&c, &cfg, st, NULL, NULL), 0);
    for (uint64_t step = 1; step <= 10; step++) {
        saves_must(s, c, step, WEIR_LEVEL_FAST);
        age(s->fast, step);
    }
    first = wr_fault_seen(st, WR_FAULT_READ);
    for (uint64_t step = 11; step <= 30; step++) {
        saves_must(s, c, step, WEIR_LEVEL_FAST);
        age(s->fast, step);
    }
    rest = wr_fault_seen(st, WR_FAULT_READ) - first;
    assert_true(rest <= 3 * first);
    saves_close(c);
}

/* A step that became another one is read again, and marks always are. */
static void changes_are_seen(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, (struct saves_tiers){0});
    weir_ckpt_prune_plan back = {.go_back = 1, .after = 1};
    struct wr_copy before, after;
    struct wr_tier *t;
    weir_ckpt *c;

    cfg.verify = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    assert_int_equal(wr_tier_open(s->fast, "fast", false, &t, NULL), 0);
    age(s->fast, 2);
    assert_int_equal(wr_step_glance(t, 2, &before, NULL), 0);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    assert_string_equal(before.gist.id, after.gist.id);
    assert_int_equal(after.is, WEIR_COPY_COMPLETE);
    assert_int_equal(after.gist.bytes, before.gist.bytes);
    assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 2, after.gist.id, NULL),
                     0);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    assert_int_equal(after.is, WEIR_COPY_VERIFIED);

    assert_int_equal(weir_ckpt_prune(c, &back, NULL), 0);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    assert_int_equal(after.is, WEIR_COPY_NONE);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    assert_string_not_equal(before.gist.id, after.gist.id);
    age(s->fast, 2);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    saves_damage(s->fast, 2);
    assert_int_equal(wr_step_glance(t, 2, &after, NULL), 0);
    assert_int_equal(after.is, WEIR_COPY_DAMAGED);
    wr_tier_close(t);
    saves_close(c);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known),
        TEST(saves_read_no_old_manifests),
        TEST(changes_are_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
