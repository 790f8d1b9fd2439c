/* test_lineage.c - machines that take turns, and tiers that belong together.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "saves.h"
#include "tier/link.h"
#include "tier/tier.h"

static const struct saves_tiers two = {.two = true};

/* The tiers of another machine: its own fast one, the same slow one. */
static weir_ckpt_config config_of(const struct saves *s, const char *fast,
                                  enum weir_ckpt_role role)
{
    weir_ckpt_config cfg = saves_config(s, two);

    cfg.fast = fast;
    cfg.role = role;
    return cfg;
}

static void path_of(const struct saves *s, const char *name,
                    char ret[SAVES_PATH])
{
    snprintf(ret, SAVES_PATH, "%s/%s", s->root, name);
}

/* One life of a trainer: saves one step and goes. Without `drain` it stays on
 * the fast tier. */
static void live(struct saves *s, const char *fast, uint64_t step, bool drain)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_SAVE);
    weir_ckpt *c;

    cfg.drain = drain;
    c = saves_open(&cfg);
    saves_must(s, c, step, drain ? WEIR_LEVEL_VERIFIED : WEIR_LEVEL_FAST);
    saves_close(c);
}

/* The step that a restore takes. */
static uint64_t newest(struct saves *s, const char *fast)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_READ);
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_found *found = NULL;
    uint64_t step;
    weir_err err;

    if (weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, &found, &err) != 1)
        fail_msg("%s", err.msg);
    step = found->step;
    weir_ckpt_found_free(&found);
    saves_close(c);
    return step;
}

/* What the list says of a step's copies; of the last entry of that number. */
static void shown(struct saves *s, const char *fast, uint64_t step,
                  enum weir_copy *ret_fast, enum weir_copy *ret_slow)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_READ);
    weir_ckpt *c = saves_open(&cfg);
    weir_ckpt_entry *e;
    size_t count;
    weir_err err;

    *ret_fast = *ret_slow = WEIR_COPY_NONE;
    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    for (size_t i = 0; i < count; i++)
        if (e[i].step == step) {
            *ret_fast = e[i].fast;
            *ret_slow = e[i].slow;
        }
    free(e);
    saves_close(c);
}

static int drain_code(struct saves *s, const char *fast, weir_err *err)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_DRAIN);
    weir_ckpt *c;
    int r = weir_ckpt_open(&c, &cfg, err);

    if (r < 0)
        return r;
    r = weir_ckpt_drain(c, err);
    weir_ckpt_close(&c, NULL);
    return r;
}

/* Adopts all, or one step; how many were left. */
static int adopt(const struct saves *s, const char *fast, const char *slow,
                 uint64_t step)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_ADOPT);
    weir_ckpt *c;
    weir_err err;
    int r;

    cfg.slow = slow;
    c = saves_open(&cfg);
    r = weir_ckpt_adopt(c, step, NULL, NULL, &err);
    saves_close(c);
    if (r < 0)
        fail_msg("%s", err.msg);
    return r;
}

/* --- machines that take turns --- */

/* A leaves step 110; B saves its own 110. Whatever A's clock said, B's counts. */
static void a_stale_copy_replaces_nothing(void **state)
{
    struct saves *s = *state;
    enum weir_copy fast, slow;
    char b[SAVES_PATH];
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    live(s, b, 110, true);
    assert_int_equal(drain_code(s, s->fast, &err), WEIR_ESTALE);
    assert_non_null(strstr(err.msg, "weir ckpt adopt"));
    assert_non_null(strstr(err.msg, "weir ckpt discard"));
    assert_int_equal(saves_number(s->slow, 110), 111);
    shown(s, s->fast, 110, &fast, &slow);
    assert_int_equal(fast, WEIR_COPY_STALE);
    assert_int_equal(slow, WEIR_COPY_VERIFIED);
    assert_int_equal(newest(s, s->fast), 110);
}

/* B is at 105: A's 110 is neither drained nor the newest. */
static void a_stale_copy_outranks_nothing(void **state)
{
    struct saves *s = *state;
    char b[SAVES_PATH];
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    live(s, b, 105, true);
    assert_int_equal(drain_code(s, s->fast, &err), WEIR_ESTALE);
    assert_int_equal(saves_number(s->slow, 110), -1);
    assert_int_equal(newest(s, s->fast), 105);
    assert_int_equal(newest(s, b), 105);
}

/* Nobody else has saved: what is on the fast tier is the newest. */
static void an_idle_turn_changes_nothing(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg;
    char b[SAVES_PATH];
    weir_ckpt *c;

    path_of(s, "fast-b", b);
    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    cfg = config_of(s, b, WEIR_CKPT_SAVE);
    c = saves_open(&cfg); /* and dies before it has saved anything */
    saves_close(c);
    assert_int_equal(newest(s, s->fast), 110);
    live(s, s->fast, 120, true);
    assert_int_equal(saves_number(s->slow, 110), 111);
    assert_int_equal(newest(s, b), 120);
}

/* When A saves again its stale copy has given its number back. */
static void a_stale_copy_is_set_aside(void **state)
{
    struct saves *s = *state;
    enum weir_copy fast, slow;
    weir_ckpt_config cfg;
    char b[SAVES_PATH];
    weir_ckpt *c;
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 110, false);
    live(s, b, 105, true);
    live(s, s->fast, 110, true);
    assert_int_equal(newest(s, s->fast), 110);
    shown(s, s->fast, 110, &fast, &slow); /* the one that was set aside */
    assert_int_equal(fast, WEIR_COPY_STALE);
    assert_int_equal(slow, WEIR_COPY_NONE);
    cfg = config_of(s, s->fast, WEIR_CKPT_MANAGE);
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_discard(c, 111, NULL, NULL, &err), WEIR_ENOENT);
    assert_int_equal(weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err), 1);
    assert_int_equal(weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err), 0);
    saves_close(c);
    shown(s, s->fast, 110, &fast, &slow);
    assert_int_equal(slow, WEIR_COPY_VERIFIED);
    assert_int_equal(saves_number(s->fast, 110), 111);
}

static void a_stale_copy_is_adopted(void **state)
{
    struct saves *s = *state;
    enum weir_copy fast, slow;
    char b[SAVES_PATH];
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 110, false);
    live(s, b, 105, true);
    assert_int_equal(adopt(s, s->fast, s->slow, WEIR_LATEST), 0);
    assert_int_equal(saves_number(s->slow, 110), 111);
    assert_int_equal(newest(s, s->fast), 105); /* its rank is the same */
    shown(s, s->fast, 110, &fast, &slow);
    assert_int_equal(slow, WEIR_COPY_VERIFIED);
    assert_int_equal(drain_code(s, s->fast, &err), 0);
    live(s, b, 115, true); /* and B goes on past it */
    assert_int_equal(newest(s, s->fast), 115);
}

/* What adopt was told of; there is one copy. */
static void keep_text(void *arg, const weir_ckpt_stale *stale)
{
    snprintf(arg, SAVES_PATH, "%s", stale->text);
}

static int adopt_all(struct saves *s, const char *fast, char text[SAVES_PATH])
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_ADOPT);
    weir_ckpt *c = saves_open(&cfg);
    weir_err err;
    int r = weir_ckpt_adopt(c, WEIR_LATEST, keep_text, text, &err);

    if (r < 0)
        fail_msg("%s", err.msg);
    saves_close(c);
    return r;
}

/* Its number was taken meanwhile: it is set aside, which is told. */
static void a_stale_copy_without_a_number(void **state)
{
    struct saves *s = *state;
    char b[SAVES_PATH], text[SAVES_PATH];
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    live(s, b, 110, true);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(adopt_all(s, s->fast, text), 1);
        assert_non_null(strstr(text, "weir ckpt rm --step 110 --tier slow"));
        assert_int_equal(drain_code(s, s->fast, &err), 0);
    }
}

/* A run went back, and its step 110 replaces an older one when it is drained. */
static void leave_newer(struct saves *s, const char *fast)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_SAVE);
    weir_ckpt *c;
    weir_err err;

    live(s, s->fast, 110, true);
    live(s, s->fast, 100, true);
    cfg.drain = 0;
    c = saves_open(&cfg);
    if (saves_put(s, c, 110, 7, WEIR_LEVEL_FAST, &err) < 0)
        fail_msg("%s", err.msg);
    saves_close(c);
}

static void a_newer_copy_is_adopted(void **state)
{
    struct saves *s = *state;
    char b[SAVES_PATH], text[SAVES_PATH];

    path_of(s, "fast-b", b);
    leave_newer(s, b);
    assert_int_equal(adopt_all(s, b, text), 0);
    assert_int_equal(saves_number(s->slow, 110), 7);
}

/* Newer than what has its number, but another machine went on. */
static void a_stale_copy_stays_where_it_is(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg;
    char b[SAVES_PATH];
    weir_ckpt *c;
    weir_err err;

    path_of(s, "fast-b", b);
    leave_newer(s, b);
    live(s, s->fast, 120, true);
    assert_int_equal(drain_code(s, b, &err), WEIR_ESTALE);
    assert_int_equal(saves_number(s->slow, 110), 111);
    cfg = config_of(s, b, WEIR_CKPT_MANAGE);
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err), 1);
    saves_close(c);
    assert_int_equal(drain_code(s, b, &err), 0);
}

/* A writer that another one has superseded, with another process that drains. */
static void who_was_superseded_is_told(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config_of(s, s->fast, WEIR_CKPT_SAVE);
    char b[SAVES_PATH];
    weir_ckpt *c;
    weir_err err;
    int r = 0;

    path_of(s, "fast-b", b);
    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_FAST);
    live(s, b, 2, true);
    for (uint64_t step = 3; step < 9 && r == 0; step++)
        r = saves_put(s, c, step, 1, WEIR_LEVEL_FAST, &err);
    assert_int_equal(r, WEIR_EFENCED);
    weir_ckpt_close(&c, NULL);
    assert_int_equal(newest(s, b), 2);
}

/* --- tiers that belong together --- */

static int save_code(struct saves *s, const char *fast, const char *slow,
                     weir_err *err)
{
    weir_ckpt_config cfg = config_of(s, fast, WEIR_CKPT_SAVE);
    weir_ckpt *c = NULL;
    int r;

    cfg.slow = slow;
    r = weir_ckpt_open(&c, &cfg, err);
    weir_ckpt_close(&c, NULL);
    return r;
}

/* The folder below the mount point is there and empty, or is not there. */
static void a_slow_tier_that_is_not_mounted(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = config_of(s, s->fast, WEIR_CKPT_READ);
    weir_ckpt *c = NULL;
    char away[SAVES_PATH];
    weir_err err;

    path_of(s, "away", away);
    live(s, s->fast, 100, true);
    assert_int_equal(rename(s->slow, away), 0);
    assert_int_equal(save_code(s, s->fast, s->slow, &err), WEIR_ENOENT);
    assert_int_equal(access(s->slow, F_OK), -1);
    assert_int_equal(mkdir(s->slow, 0700), 0);
    assert_int_equal(save_code(s, s->fast, s->slow, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "is it mounted?"));
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_ENOENT);
    assert_int_equal(drain_code(s, s->fast, &err), WEIR_ENOENT);
    assert_int_equal(rmdir(s->slow), 0); /* nothing was made in it */
    assert_int_equal(rename(away, s->slow), 0);
    assert_int_equal(save_code(s, s->fast, s->slow, &err), 0);
}

/* Both tiers are new here, which only the caller can know to be wrong. */
static void a_store_that_must_exist(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c = NULL;
    weir_err err;

    cfg.must_exist = 1;
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_ENOENT);
    assert_int_equal(access(s->fast, F_OK), -1);
    assert_int_equal(access(s->slow, F_OK), -1);
    live(s, s->fast, 1, true);
    c = saves_open(&cfg);
    saves_close(c);
}

static void tiers_of_two_stores(void **state)
{
    struct saves *s = *state;
    char fast[SAVES_PATH], slow[SAVES_PATH];
    weir_err err;

    path_of(s, "other-fast", fast);
    path_of(s, "other-slow", slow);
    live(s, s->fast, 1, true);
    live(s, s->fast, 2, false);
    assert_int_equal(save_code(s, fast, slow, &err), 0);
    assert_int_equal(save_code(s, s->fast, slow, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "weir ckpt adopt"));
    assert_int_equal(save_code(s, s->slow, slow, &err), WEIR_ESTATE);
    assert_int_equal(save_code(s, slow, s->fast, &err), WEIR_ESTATE);
    assert_int_equal(save_code(s, s->fast, NULL, &err), WEIR_ESTATE);
    assert_int_equal(adopt(s, s->fast, slow, WEIR_LATEST), 0);
    assert_int_equal(saves_number(slow, 2), 3);
    assert_int_equal(save_code(s, s->fast, slow, &err), 0);
    assert_int_equal(adopt(s, s->fast, NULL, WEIR_LATEST), 0);
    assert_int_equal(save_code(s, s->fast, NULL, &err), 0);
}

static void flip_link(const char *dir)
{
    char path[SAVES_PATH];
    FILE *f;

    snprintf(path, sizeof(path), "%s/.weir/store", dir);
    f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, 9, SEEK_SET), 0);
    fputc('x', f);
    assert_int_equal(fclose(f), 0);
}

/* The link of a tier as it is, or is not. */
static enum wr_link_kind link_of(const char *dir, char id[WR_MANIFEST_ID])
{
    struct wr_tier_link link = {0};
    struct wr_tier *t;

    assert_int_equal(wr_tier_open(dir, "fast", false, &t, NULL), 0);
    if (wr_tier_link_read(t, &link, NULL) < 0)
        link.kind = WR_LINK_NONE;
    memcpy(id, link.store, WR_MANIFEST_ID);
    wr_tier_close(t);
    return link.kind;
}

/* A file that says which store it is of is flipped, or gone: the manifests say
 * the same, and it is written anew. */
static void a_damaged_link(void **state)
{
    struct saves *s = *state;
    char path[SAVES_PATH], id[WR_MANIFEST_ID], now[WR_MANIFEST_ID];
    weir_err err;

    live(s, s->fast, 1, true);
    live(s, s->fast, 2, false);
    assert_int_equal(link_of(s->slow, id), WR_LINK_LAST);
    for (int i = 0; i < 6; i++) {
        const char *dir = i % 3 == 1 ? s->slow : s->fast;

        if (i % 3 == 2) /* both at once */
            flip_link(s->slow);
        flip_link(dir);
        snprintf(path, sizeof(path), "%s/.weir/store", dir);
        if (i >= 3)
            assert_int_equal(unlink(path), 0);
        assert_int_equal(newest(s, s->fast), 2);
        assert_int_equal(link_of(dir, now),
                         WR_LINK_NONE); /* reading wrote none */
        if (save_code(s, s->fast, s->slow, &err) != 0)
            fail_msg("%d: %s", i, err.msg);
        assert_int_equal(link_of(s->slow, now), WR_LINK_LAST);
        assert_string_equal(now, id);
        assert_int_equal(link_of(s->fast, now), WR_LINK_FAST);
        assert_string_equal(now, id);
    }
}

/* Nothing says which store it is of: somebody decides. */
static void a_damaged_link_without_steps(void **state)
{
    struct saves *s = *state;
    weir_err err;

    assert_int_equal(save_code(s, s->fast, s->slow, &err), 0);
    flip_link(s->fast);
    assert_int_equal(save_code(s, s->fast, s->slow, &err), WEIR_EDAMAGED);
    assert_non_null(strstr(err.msg, "weir ckpt adopt"));
    assert_int_equal(adopt(s, s->fast, s->slow, WEIR_LATEST), 0);
    assert_int_equal(save_code(s, s->fast, s->slow, &err), 0);
}

/* --- steps of the version before --- */

/* What that version would have written. */
static void make_old(const char *dir)
{
    char path[SAVES_PATH * 2], *text;
    struct wr_tier *t;
    uint64_t *steps;
    size_t count, len;
    weir_err err;

    assert_int_equal(wr_tier_open(dir, "fast", false, &t, &err), 0);
    assert_int_equal(wr_tier_steps(t, &steps, &count, &err), 0);
    for (size_t i = 0; i < count; i++) {
        struct wr_manifest m;
        FILE *f;

        assert_int_equal(wr_tier_manifest(t, steps[i], &m, &err), 0);
        m.store[0] = '\0';
        text = wr_manifest_text(&m, &len);
        assert_null(strstr(text, "generation"));
        snprintf(path, sizeof(path), "%s/step-%012u/MANIFEST", dir,
                 (unsigned)steps[i]);
        f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(text, 1, len, f), len);
        assert_int_equal(fclose(f), 0);
        free(text);
        wr_manifest_done(&m);
    }
    free(steps);
    wr_tier_close(t);
    snprintf(path, sizeof(path), "rm -rf '%s'/.weir/store '%s'/.weir/gen*", dir,
             dir);
    assert_int_equal(system(path), 0);
}

static void steps_of_the_version_before(void **state)
{
    struct saves *s = *state;
    weir_err err;

    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    make_old(s->fast);
    make_old(s->slow);
    assert_int_equal(newest(s, s->fast), 110);
    assert_int_equal(drain_code(s, s->fast, &err), 0);
    assert_int_equal(saves_number(s->slow, 110), 111);
    live(s, s->fast, 120, true);
    assert_int_equal(newest(s, s->fast), 120);
    assert_int_equal(saves_number(s->slow, 100), 101);
}

/* Of which one machine was updated before the other drained. */
static void old_steps_of_a_stale_tier(void **state)
{
    struct saves *s = *state;
    char b[SAVES_PATH];
    weir_err err;

    path_of(s, "fast-b", b);
    live(s, s->fast, 100, true);
    live(s, s->fast, 110, false);
    make_old(s->fast);
    make_old(s->slow);
    live(s, b, 105, true);
    assert_int_equal(newest(s, s->fast), 105);
    assert_int_equal(drain_code(s, s->fast, &err), WEIR_ESTALE);
    assert_int_equal(adopt(s, s->fast, s->slow, 110), 0);
    assert_int_equal(saves_number(s->slow, 110), 111);
    assert_int_equal(newest(s, s->fast), 105);
}

/* --- removing one step --- */

static void one_step_is_removed(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    live(s, s->fast, 1, true);
    live(s, s->fast, 2, true);
    cfg = config_of(s, s->fast, WEIR_CKPT_MANAGE);
    c = saves_open(&cfg);
    assert_int_equal(weir_ckpt_remove(c, 3, NULL, &err), WEIR_ENOENT);
    assert_int_equal(weir_ckpt_pin(c, 2, 1, &err), 0);
    assert_int_equal(weir_ckpt_remove(c, 2, NULL, &err), WEIR_EBUSY);
    assert_int_equal(weir_ckpt_pin(c, 2, 0, &err), 0);
    assert_int_equal(weir_ckpt_remove(c, 2, "fast", &err), 0);
    assert_int_equal(saves_number(s->slow, 2), 3);
    assert_int_equal(weir_ckpt_remove(c, 2, NULL, &err), 0);
    saves_close(c);
    assert_int_equal(saves_number(s->slow, 2), -1);
    assert_int_equal(newest(s, s->fast), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stale_copy_replaces_nothing),
        TEST(a_stale_copy_outranks_nothing),
        TEST(an_idle_turn_changes_nothing),
        TEST(a_stale_copy_is_set_aside),
        TEST(a_stale_copy_is_adopted),
        TEST(a_stale_copy_without_a_number),
        TEST(a_newer_copy_is_adopted),
        TEST(a_stale_copy_stays_where_it_is),
        TEST(who_was_superseded_is_told),
        TEST(a_slow_tier_that_is_not_mounted),
        TEST(a_store_that_must_exist),
        TEST(tiers_of_two_stores),
        TEST(a_damaged_link),
        TEST(a_damaged_link_without_steps),
        TEST(steps_of_the_version_before),
        TEST(old_steps_of_a_stale_tier),
        TEST(one_step_is_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
