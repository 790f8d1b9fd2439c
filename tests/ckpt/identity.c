/* identity.c - a store is the one that is meant, or nothing is written.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cells_kit.h"

#define READS 30 /* of a tier in one opening and one save, at least */
#define PAIRS 12 /* of those, two fail */
#define LINK  "weir/store"

/* --- 7: an empty id --- */

/* Every manifest names the store; one that does not would be of no store. */
static void check_ids(const struct cells *s, const char *rule)
{
    struct cells_copies in = {0};
    char id[CELLS_ID];

    cells_look(s->fast, &in);
    cells_look(s->slow, &in);
    cells_store_id(s->slow, id);
    for (unsigned i = 0; i < in.count; i++)
        if (!in.all[i].store[0] || strcmp(in.all[i].store, id) != 0)
            fail_msg("%s: step %u is of store '%s', not of '%s'", rule,
                     (unsigned)in.all[i].step, in.all[i].store, id);
}

/* What is there before, and which of the tiers fails. */
struct faulty {
    const struct cells *s;
    bool no_slow, no_fast; /* that tier is new */
    bool one;              /* there is one tier: the slow one's folder */
    bool far;              /* the slow one fails */
};

/* A trainer whose tier fails so; whether it has saved. */
static bool save_with(const struct faulty *k, const char *rule)
{
    const struct cells *s = k->s;
    char url[2 * CELLS_PATH];
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;
    int r;

    snprintf(url, sizeof(url), "fault:%s:%s", rule, k->far ? s->slow : s->fast);
    cells_config(k->far ? s->fast : url, k->far ? url : s->slow, WEIR_CKPT_SAVE,
                 &cfg);
    if (k->one) {
        cfg.fast = url;
        cfg.slow = NULL;
    }
    cfg.drain_timeout_ms = 2000;
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        r = cells_put(c, 10, 0, WEIR_LEVEL_SLOW, &err);
    weir_ckpt_close(&c, NULL);
    return r == 0;
}

static void restart(const struct faulty *k)
{
    const struct cells *s = k->s;

    cells_remove(s->fast);
    cells_remove(s->slow);
    if (!k->no_fast)
        cells_copy(cells_at(s->dir, "fast-0"), s->fast, /* dots= */ true);
    if (!k->no_slow)
        cells_copy(cells_at(s->dir, "slow-0"), s->slow, /* dots= */ true);
}

static void try_rule(const struct faulty *k, const char *rule)
{
    restart(k);
    save_with(k, rule);
    check_ids(k->s, rule);
}

/* Each read of the tier in turn fails or finds nothing, two of them do, and all
 * of that file. */
static void fail_each(const struct faulty *f)
{
    char rule[60];

    for (unsigned k = 1; k <= READS; k++) {
        snprintf(rule, sizeof(rule), "eio@%u", k);
        try_rule(f, rule);
        snprintf(rule, sizeof(rule), "enoent@%u", k);
        try_rule(f, rule);
        snprintf(rule, sizeof(rule), "enoent@%u+", k);
        try_rule(f, rule);
        for (unsigned j = k + 1; j <= PAIRS; j++) {
            snprintf(rule, sizeof(rule), "enoent@%u,enoent@%u", k, j);
            try_rule(f, rule);
        }
    }
    try_rule(f, "enoent@~" LINK);
    try_rule(f, "eio@~" LINK);
    restart(f); /* else all this may have tested nothing */
    assert_true(save_with(f, "eio@1000000"));
    check_ids(f->s, "none");
}

static void make_past(const struct cells *s)
{
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .first = 1, .last = 1, .level = WEIR_LEVEL_VERIFIED});
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .from = 1, .first = 2, .last = 2, .level = WEIR_LEVEL_FAST});
    cells_copy(s->fast, cells_at(s->dir, "fast-0"), /* dots= */ true);
    cells_copy(s->slow, cells_at(s->dir, "slow-0"), /* dots= */ true);
}

static void point_7_reads_of_the_slow_tier_fail(void **state)
{
    const struct faulty k = {.s = *state, .far = true};

    make_past(k.s);
    fail_each(&k);
}

static void point_7_reads_of_the_fast_tier_fail(void **state)
{
    const struct faulty k = {.s = *state};

    make_past(k.s);
    fail_each(&k);
}

static void point_7_reads_beside_a_new_fast_tier_fail(void **state)
{
    const struct faulty k = {.s = *state, .far = true, .no_fast = true};

    make_past(k.s);
    fail_each(&k);
}

static void point_7_reads_of_the_only_tier_fail(void **state)
{
    const struct faulty k = {
        .s = *state, .far = true, .no_fast = true, .one = true};

    make_past(k.s);
    fail_each(&k);
}

static void point_7_reads_of_a_new_store_fail(void **state)
{
    const struct faulty k = {
        .s = *state, .far = true, .no_fast = true, .no_slow = true};

    fail_each(&k);
}

/* --- 13: the store that is meant --- */

/* An earlier job had a scratch of its own, and its steps were never drained. */
static void point_13_steps_are_missing(void **state)
{
    const struct cells *s = *state;
    char fresh[CELLS_PATH];
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    snprintf(fresh, sizeof(fresh), "%s/fresh", s->dir);
    cells_live(
        s->fast, s->slow,
        (struct cells_life){.first = 1, .last = 2, .level = WEIR_LEVEL_FAST});
    cells_config(fresh, s->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.must_exist = 1;
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "steps"));
    assert_int_equal(cells_drain_code(s->fast, s->slow, &err), 0);
    cells_must_find(s->slow, NULL, 2);
    cfg.fast = fresh;
    cells_close(cells_open(&cfg));
}

/* The store, through any role. */
static int demand(const char *fast, const char *slow, const char *id,
                  enum weir_ckpt_role role)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;
    int r;

    cells_config(fast, slow, role, &cfg);
    cfg.store = id;
    r = weir_ckpt_open(&c, &cfg, &err);
    weir_ckpt_close(&c, NULL);
    return r;
}

static bool is_refused(int r)
{
    return r == WEIR_ESTATE || r == WEIR_ENOENT;
}

/* Each job has a new scratch, and the slow tier is not mounted: to all that is
 * on the disks this is a new store. */
static void point_13_the_store_is_demanded(void **state)
{
    static const char wrong[] = "0123456789abcdef0123456789abcdef";
    const struct cells *s = *state;
    char id[CELLS_ID], fresh[CELLS_PATH], away[CELLS_PATH];

    snprintf(fresh, sizeof(fresh), "%s/fresh", s->dir);
    snprintf(away, sizeof(away), "%s/away", s->dir);
    assert_true(is_refused(demand(s->fast, s->slow, wrong, WEIR_CKPT_SAVE)));
    assert_int_not_equal(access(s->fast, F_OK), 0);
    assert_int_not_equal(access(s->slow, F_OK), 0);
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .first = 1, .last = 2, .level = WEIR_LEVEL_VERIFIED});
    cells_store_id(s->slow, id);
    assert_int_equal(demand(s->fast, s->slow, id, WEIR_CKPT_SAVE), 0);
    assert_int_equal(demand(fresh, s->slow, id, WEIR_CKPT_SAVE), 0);
    assert_int_equal(demand(s->fast, s->slow, wrong, WEIR_CKPT_SAVE),
                     WEIR_ESTATE);
    assert_int_equal(demand(s->slow, NULL, wrong, WEIR_CKPT_READ), WEIR_ESTATE);
    assert_int_equal(demand(s->slow, NULL, id, WEIR_CKPT_READ), 0);

    cells_remove(fresh);
    assert_int_equal(rename(s->slow, away), 0);
    assert_true(is_refused(demand(fresh, s->slow, id, WEIR_CKPT_SAVE)));
    assert_int_equal(mkdir(s->slow, 0777), 0);
    assert_true(is_refused(demand(fresh, s->slow, id, WEIR_CKPT_SAVE)));
    assert_true(is_refused(demand(s->slow, NULL, id, WEIR_CKPT_READ)));
    assert_int_equal(rmdir(s->slow), 0); /* nothing was made in it */
    assert_int_not_equal(access(fresh, F_OK), 0);
    cells_copy(away, s->slow, /* dots= */ false); /* its manifests say so */
    assert_int_equal(demand(fresh, s->slow, id, WEIR_CKPT_SAVE), 0);
}

/* --- a decision that is only looked at --- */

/* Names, sizes, inodes and times of all files; of a folder its names only. */
static char *tree_of(const struct cells *s)
{
    char command[2 * CELLS_PATH], *text = calloc(1, 1 << 16);
    FILE *p;

    snprintf(command, sizeof(command),
             "cd '%s' && find . -printf '%%p %%i %%s %%T@\\n' | sort", s->dir);
    p = popen(command, "re");
    assert_non_null(p);
    assert_true(text && fread(text, 1, (1 << 16) - 1, p) > 0);
    assert_int_equal(pclose(p), 0);
    return text;
}

static void count_fates(void *arg, const weir_ckpt_stale *stale)
{
    assert_true(stale->step == 2 || stale->step == 3);
    ++*(unsigned *)arg;
}

/* A's 2 and 3 are stale, B has another 2. */
static void a_dry_run_changes_nothing(void **state)
{
    const struct cells *s = *state;
    char other[CELLS_PATH], *before, *after;
    unsigned told = 0;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    snprintf(other, sizeof(other), "%s/other", s->dir);
    make_past(s);
    cells_live(s->fast, s->slow,
               (struct cells_life){
                   .from = 1, .first = 3, .last = 3, .level = WEIR_LEVEL_FAST});
    cells_live(other, s->slow,
               (struct cells_life){.from = 1,
                                   .first = 2,
                                   .last = 2,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .salt = 7});
    before = tree_of(s);
    cells_config(s->fast, s->slow, WEIR_CKPT_ADOPT, &cfg);
    cfg.dry_run = 1;
    c = cells_open(&cfg);
    assert_int_equal(weir_ckpt_adopt(c, WEIR_LATEST, count_fates, &told, &err),
                     1);
    cells_close(c);
    assert_int_equal(told, 2);
    cfg.role = WEIR_CKPT_MANAGE;
    c = cells_open(&cfg);
    assert_int_equal(
        weir_ckpt_discard(c, WEIR_LATEST, count_fates, &told, &err), 2);
    cells_close(c);
    assert_int_equal(told, 4);
    after = tree_of(s);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cells_setup, cells_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(point_7_reads_of_the_slow_tier_fail),
        TEST(point_7_reads_of_the_fast_tier_fail),
        TEST(point_7_reads_beside_a_new_fast_tier_fail),
        TEST(point_7_reads_of_the_only_tier_fail),
        TEST(point_7_reads_of_a_new_store_fail),
        TEST(point_13_steps_are_missing),
        TEST(point_13_the_store_is_demanded),
        TEST(a_dry_run_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
