/* test_store.c - opening and closing: what is refused, roles, what is left.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "checkpoint/store.h"

static const struct saves_tiers one, two = {.two = true};

/* --- what is refused --- */

static void no_fast(weir_ckpt_config *c)
{
    c->fast = NULL;
}
static void empty_fast(weir_ckpt_config *c)
{
    c->fast = "";
}
static void empty_slow(weir_ckpt_config *c)
{
    c->slow = "";
}
static void role(weir_ckpt_config *c)
{
    c->role = (enum weir_ckpt_role)5;
}
static void drain(weir_ckpt_config *c)
{
    c->drain = 2;
}
static void verify(weir_ckpt_config *c)
{
    c->verify = -1;
}
static void take_over(weir_ckpt_config *c)
{
    c->take_over = 5;
}
static void behind(weir_ckpt_config *c)
{
    c->behind = (enum weir_behind)4;
}
static void snapshots(weir_ckpt_config *c)
{
    c->snapshots = 65;
}
static void threads(weir_ckpt_config *c)
{
    c->threads = 100000;
}
static void reserve(weir_ckpt_config *c)
{
    c->reserve = UINT64_MAX;
}
static void no_world(weir_ckpt_config *c)
{
    c->world = 0;
}
static void rank(weir_ckpt_config *c)
{
    c->rank = 1;
}
static void unsized(weir_ckpt_config *c)
{
    c->size = 0;
}

static void no_comm(weir_ckpt_config *c)
{
    c->world = 2;
}

static void no_timeout(weir_ckpt_config *c)
{
    c->world = 2;
    c->comm = "local:nowhere";
    c->comm_timeout_ms = 0;
}

static void drain_one(weir_ckpt_config *c)
{
    c->role = WEIR_CKPT_DRAIN;
    c->slow = NULL;
}

static void same(weir_ckpt_config *c)
{
    c->slow = c->fast;
}

static void refuses_nonsense(void **state)
{
    static const struct {
        void (*change)(weir_ckpt_config *c);
        const char *named;
    } cases[] = {
        {no_fast, "fast:"},        {empty_fast, "fast:"},
        {empty_slow, "slow:"},     {role, "role:"},
        {drain, "drain:"},         {verify, "verify:"},
        {take_over, "take_over:"}, {behind, "behind:"},
        {snapshots, "snapshots:"}, {threads, "threads:"},
        {reserve, "reserve:"},     {no_world, "world:"},
        {rank, "rank:"},           {unsized, "size "},
        {no_comm, "comm:"},        {no_timeout, "comm_timeout_ms:"},
        {drain_one, "slow:"},      {same, "slow:"},
    };
    struct saves *s = *state;
    weir_err err;

    for (size_t i = 0; i < WR_ARRAY_LEN(cases); i++) {
        weir_ckpt_config cfg = saves_config(s, two);
        weir_ckpt *c = (weir_ckpt *)&cfg;

        cases[i].change(&cfg);
        assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_EINVAL);
        assert_ptr_equal(c, &cfg); /* untouched */
        if (strncmp(err.msg, cases[i].named, strlen(cases[i].named)) != 0)
            fail_msg("'%s' does not name %s", err.msg, cases[i].named);
    }
    assert_int_equal(weir_ckpt_open(NULL, NULL, &err), WEIR_EINVAL);
}

static void refuses_latest_of_ranks(void **state)
{
    weir_ckpt_config cfg = saves_config(*state, one);
    weir_ckpt *c;
    weir_err err;

    cfg.world = 2;
    cfg.comm = "local:nowhere";
    cfg.behind = WEIR_BEHIND_LATEST;
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_ENOTSUP);
}

static void refuses_a_folder_twice(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c;
    weir_err err;

    assert_int_equal(mkdir(s->fast, 0777), 0);
    assert_int_equal(symlink("fast", s->slow), 0);
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "same folder"));
    cfg.slow = NULL; /* no lock is left */
    saves_close(saves_open(&cfg));
}

/* --- roles --- */

static int open_code(weir_ckpt_config cfg, enum weir_ckpt_role as, int drains)
{
    weir_ckpt *c = NULL;
    weir_err err;
    int r;

    cfg.role = as;
    cfg.drain = drains;
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        saves_close(c);
    else
        assert_null(c);
    return r;
}

static void each_tier_has_one_writer(void **state)
{
    weir_ckpt_config cfg = saves_config(*state, two);
    weir_ckpt *c = saves_open(&cfg);

    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 0), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_DRAIN, 1), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_MANAGE, 1), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_READ, 1), 0);
    saves_close(c);

    cfg.drain = 0; /* then another may drain, but only one */
    c = saves_open(&cfg);
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 0), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_MANAGE, 1), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_DRAIN, 1), 0);
    cfg.role = WEIR_CKPT_DRAIN;
    {
        weir_ckpt *d = saves_open(&cfg);

        assert_int_equal(open_code(cfg, WEIR_CKPT_DRAIN, 1), WEIR_EBUSY);
        saves_close(d);
    }
    saves_close(c);
    assert_int_equal(open_code(cfg, WEIR_CKPT_MANAGE, 1), 0);
}

static void half_an_open_gives_back_all(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt_config far = saves_config(s, one);
    unsigned fds = saves_fds();
    weir_ckpt *c;

    far.fast = cfg.slow;
    c = saves_open(&far); /* the slow one is in use */
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), WEIR_EBUSY);
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 0),
                     0); /* the fast is not */
    saves_close(c);
    assert_int_equal(saves_fds(), fds);
}

static void given_stores_are_taken(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    unsigned fds;
    struct wr_store *fast, *slow;
    weir_ckpt *c;
    weir_err err;

    assert_int_equal(mkdir(s->fast, 0777), 0);
    assert_int_equal(mkdir(s->slow, 0777), 0);
    fds = saves_fds();
    for (int bad = 0; bad < 2; bad++) {
        assert_int_equal(wr_store_open_own(s->fast, &fast, &err), 0);
        assert_int_equal(wr_store_open_own(s->slow, &slow, &err), 0);
        cfg.snapshots = bad ? 1000 : 0;
        if (bad) {
            assert_int_equal(wr_ckpt_open_stores(&c, &cfg, fast, slow, &err),
                             WEIR_EINVAL);
        } else {
            assert_int_equal(wr_ckpt_open_stores(&c, &cfg, fast, slow, &err),
                             0);
            saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
            saves_close(c);
        }
        assert_int_equal(saves_fds(), fds);
    }
    assert_int_equal(saves_number(s->slow, 1), 2);
}

static void taking_over_fences_off(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    weir_ckpt *old = saves_open(&cfg), *new;
    weir_err err;

    saves_must(s, old, 1, WEIR_LEVEL_FAST);
    cfg.take_over = 1;
    new = saves_open(&cfg);
    assert_int_equal(saves_put(s, old, 2, 7, WEIR_LEVEL_FAST, &err),
                     WEIR_EFENCED);
    saves_must(s, new, 2, WEIR_LEVEL_FAST);
    weir_ckpt_close(&old, NULL);
    saves_close(new);
    assert_int_equal(saves_number(s->fast, 1), 2);
    assert_int_equal(saves_number(s->fast, 2), 3);
}

static void reading_changes_nothing(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    char *before, *after;
    weir_ckpt *c;
    weir_err err;

    cfg.role = WEIR_CKPT_READ;
    before = saves_tree(s);
    assert_int_equal(weir_ckpt_open(&c, &cfg, &err), WEIR_ENOENT);
    after = saves_tree(s);
    assert_string_equal(before, after);
    free(before);
    free(after);

    cfg.role = WEIR_CKPT_SAVE;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_close(c);
    before = saves_tree(s);
    cfg.role = WEIR_CKPT_READ;
    c = saves_open(&cfg);
    assert_int_equal(saves_put(s, c, 3, 1, WEIR_LEVEL_FAST, &err), WEIR_ESTATE);
    saves_wait(c, 1, WEIR_LEVEL_VERIFIED);
    saves_wait(c, 2, WEIR_LEVEL_FAST);
    assert_int_equal(weir_ckpt_wait(c, 3, WEIR_LEVEL_FAST, 0, &err),
                     WEIR_ENOENT);
    saves_close(c);
    after = saves_tree(s);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Only who saves makes folders: one that is missing may not be mounted. */
static void who_makes_folders(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, two);
    weir_ckpt *c;

    assert_int_equal(open_code(cfg, WEIR_CKPT_MANAGE, 1), WEIR_ENOENT);
    assert_int_equal(open_code(cfg, WEIR_CKPT_DRAIN, 1), WEIR_ENOENT);
    assert_int_equal(access(s->fast, F_OK), -1);
    assert_int_equal(access(s->slow, F_OK), -1);
    assert_int_equal(mkdir(s->fast, 0777), 0);
    assert_int_equal(open_code(cfg, WEIR_CKPT_DRAIN, 1), WEIR_ENOENT);
    assert_int_equal(open_code(cfg, WEIR_CKPT_MANAGE, 1), WEIR_ENOENT);
    assert_int_equal(access(s->slow, F_OK), -1);
    cfg.must_exist = 1;
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), WEIR_ENOENT);
    assert_int_equal(access(s->slow, F_OK), -1);
    cfg.must_exist = 0;
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), 0);
    assert_int_equal(access(s->slow, F_OK), 0);
    /* Its writer was here and saved nothing; after the second one nobody knows
     * where the first one's steps are. */
    cfg.must_exist = 1;
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), 0);
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), WEIR_ENOENT);
    cfg.must_exist = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 1, WEIR_LEVEL_SLOW);
    saves_close(c);
    cfg.must_exist = 1;
    assert_int_equal(open_code(cfg, WEIR_CKPT_SAVE, 1), 0);
}

/* --- what is there after opening --- */

static void sweeps_and_reserves(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg = saves_config(s, one);
    unsigned threads_before = saves_threads(), fds = saves_fds();
    char path[SAVES_PATH];
    weir_ckpt *c = saves_open(&cfg);

    assert_int_equal(saves_stats(c).memory, 0);
    assert_int_equal(saves_stats(c).swept, 0);
    saves_close(c);
    snprintf(path, sizeof(path), "%s/.tmp-000000000009-%032x", s->fast, 1);
    assert_int_equal(mkdir(path, 0777), 0);
    cfg.reserve = 5000000;
    cfg.snapshots = 2;
    c = saves_open(&cfg);
    assert_true(saves_stats(c).memory >= 2 * cfg.reserve);
    assert_int_equal(saves_stats(c).swept, 1);
    assert_int_equal(access(path, F_OK), -1);
    saves_close(c);
    while (saves_threads() > threads_before) /* the kernel is at its end */
        usleep(1000);
    assert_int_equal(saves_fds(), fds);
}

static void closes_nothing(void **state)
{
    weir_ckpt *c = NULL;

    (void)state;
    assert_int_equal(weir_ckpt_close(NULL, NULL), 0);
    assert_int_equal(weir_ckpt_close(&c, NULL), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

/* Structs of programs that were built with another header: shorter ones, and
 * longer ones with and without something that is not known here. */
static void sizes_may_differ(void **state)
{
    struct {
        weir_ckpt_config cfg;
        uint64_t behind;
    } newer = {0};
    struct {
        weir_ckpt_state state;
        uint64_t behind;
    } more = {0};
    struct saves *s = *state;
    weir_ckpt_config older = saves_config(s, one);
    size_t cut = offsetof(weir_ckpt_config, close_timeout_ms);
    weir_ckpt_stats stats;
    weir_ckpt *c = NULL;
    weir_err err;

    older.size = cut;
    memset((char *)&older + cut, 0xaa, sizeof(older) - cut);
    assert_int_equal(weir_ckpt_open(&c, &older, &err), 0);
    assert_int_equal(c->cfg.close_timeout_ms, 30000);
    more.state = s->state;
    more.state.step = 1;
    assert_int_equal(weir_ckpt_save_sized(c, &more.state, sizeof(more),
                                          WEIR_LEVEL_FAST, &err),
                     0);
    more.behind = 1;
    assert_int_equal(weir_ckpt_save_sized(c, &more.state, sizeof(more),
                                          WEIR_LEVEL_FAST, &err),
                     WEIR_ENOTSUP);
    memset(&stats, 0xaa, sizeof(stats));
    weir_ckpt_stats_sized(c, &stats, offsetof(weir_ckpt_stats, given_up));
    assert_int_equal(stats.saves, 1);
    assert_int_equal(stats.given_up, 0xaaaaaaaaaaaaaaaa);
    saves_close(c);

    newer.cfg = saves_config(s, one);
    newer.cfg.size = sizeof(newer);
    assert_int_equal(weir_ckpt_open(&c, &newer.cfg, &err), 0);
    saves_close(c);
    newer.behind = 1;
    assert_int_equal(weir_ckpt_open(&c, &newer.cfg, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "newer version"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refuses_nonsense),
        TEST(refuses_latest_of_ranks),
        TEST(refuses_a_folder_twice),
        TEST(each_tier_has_one_writer),
        TEST(half_an_open_gives_back_all),
        TEST(given_stores_are_taken),
        TEST(taking_over_fences_off),
        TEST(reading_changes_nothing),
        TEST(who_makes_folders),
        TEST(sweeps_and_reserves),
        TEST(closes_nothing),
        TEST(sizes_may_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
