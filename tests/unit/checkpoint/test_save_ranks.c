/* test_save_ranks.c - ranks that save together: threads, each with its store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "tier/tier.h"

#define WORLD 3

/* One rank's run: opens, does `work`, closes. */
struct rank {
    weir_ckpt_config cfg;
    uint32_t w[4];
    void (*work)(struct rank *r, weir_ckpt *c);
    uint64_t step;
    int codes[8]; /* what the calls returned */
    unsigned count;
    weir_err err; /* of the last one that failed */
};

static int note(struct rank *r, int code)
{
    r->codes[r->count++] = code;
    return code;
}

static int put(struct rank *r, weir_ckpt *c, uint64_t step,
               enum weir_level level)
{
    const weir_tensor t = {
        .name = "w", .dtype = WEIR_F32, .ndim = 1, .shape = {4}, .data = r->w};
    const weir_pair pair = {"rank", r->cfg.rank ? "other" : "first"};
    weir_ckpt_state st = {.step = step,
                          .tensors = &t,
                          .count = 1,
                          .metadata = &pair,
                          .metadata_count = 1,
                          .pipeline = &r->cfg.rank,
                          .pipeline_len = sizeof(r->cfg.rank)};

    for (int i = 0; i < 4; i++)
        r->w[i] = (uint32_t)step * 100 + r->cfg.rank;
    return note(r, weir_ckpt_save(c, &st, level, &r->err));
}

static void *run(void *arg)
{
    struct rank *r = arg;
    weir_ckpt *c;

    if (note(r, weir_ckpt_open(&c, &r->cfg, &r->err)) < 0)
        return NULL;
    r->work(r, c);
    note(r, weir_ckpt_close(&c, &r->err));
    return NULL;
}

/* All ranks at once; afterwards all have got the same answers. */
static void run_all(struct saves *s, struct rank *ranks)
{
    pthread_t threads[WORLD];
    char comm[SAVES_PATH];

    snprintf(comm, sizeof(comm), "local:%s/ranks", s->root);
    for (uint32_t i = 0; i < WORLD; i++) {
        ranks[i].cfg.rank = i;
        ranks[i].cfg.world = WORLD;
        ranks[i].cfg.comm = comm;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &ranks[i]), 0);
    }
    for (uint32_t i = 0; i < WORLD; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < WORLD; i++) {
        assert_int_equal(ranks[i].count, ranks[0].count);
        for (unsigned k = 0; k < ranks[0].count; k++)
            if (ranks[i].codes[k] != ranks[0].codes[k])
                fail_msg("rank %u, call %u: %d and not %d (%s)", i, k,
                         ranks[i].codes[k], ranks[0].codes[k],
                         ranks[i].err.msg);
    }
}

static void set_up(struct rank *ranks, weir_ckpt_config cfg,
                   void (*work)(struct rank *r, weir_ckpt *c))
{
    memset(ranks, 0, WORLD * sizeof(*ranks));
    for (uint32_t i = 0; i < WORLD; i++) {
        ranks[i].cfg = cfg;
        ranks[i].work = work;
    }
}

/* The step has WORLD files, and what each rank gave. */
static void check_step(const char *dir, uint64_t step)
{
    struct wr_manifest m;
    struct wr_tier *t;
    weir_err err;

    assert_int_equal(wr_tier_open(dir, "fast", false, &t, &err), 0);
    if (wr_tier_manifest(t, step, &m, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(m.world, WORLD);
    assert_int_equal(m.metadata_count, 1);
    assert_string_equal(m.metadata[0].value, "first");
    for (uint32_t i = 0; i < WORLD; i++) {
        char path[WR_TIER_PATH];
        uint32_t number = 0;
        struct wr_object *o;

        assert_memory_equal(m.shards[i].pipeline, &i, sizeof(i));
        wr_tier_shard_path(step, i, path);
        assert_int_equal(
            t->store->ops->object_open(t->store, path, WR_OPEN_READ, &o, &err),
            0);
        assert_int_equal(o->ops->read(o, &number, sizeof(number),
                                      m.shards[i].data_offset, &err),
                         sizeof(number));
        o->ops->close(o, false, NULL);
        assert_int_equal(number, step * 100 + i);
    }
    wr_manifest_done(&m);
    wr_tier_close(t);
}

static void save_all_levels(struct rank *r, weir_ckpt *c)
{
    for (int level = WEIR_LEVEL_SNAPSHOT; level <= WEIR_LEVEL_VERIFIED; level++)
        put(r, c, (uint64_t)level, (enum weir_level)level);
    note(r, weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &r->err));
    note(r, (int)saves_stats(c).behind);
}

static void all_levels(void **state)
{
    struct saves *s = *state;
    struct rank ranks[WORLD];

    for (int two = 0; two < 2; two++) {
        struct saves_tiers t = {.two = two};

        set_up(ranks, saves_config(s, t), save_all_levels);
        run_all(s, ranks);
        for (unsigned k = 0; k < ranks[0].count; k++)
            if (ranks[0].codes[k] != 0)
                fail_msg("call %u: %s", k, ranks[0].err.msg);
        for (uint64_t step = 1; step <= 4; step++)
            check_step(two ? s->slow : s->fast, step);
        snprintf(s->fast, sizeof(s->fast), "%s/fast2", s->root);
    }
}

static void save_1_to_3(struct rank *r, weir_ckpt *c)
{
    put(r, c, 1, WEIR_LEVEL_FAST);
    put(r, c, 2, WEIR_LEVEL_FAST);
    put(r, c, 2, WEIR_LEVEL_SNAPSHOT); /* fails later */
    while (saves_stats(c).failed < 2)
        usleep(1000);
    put(r, c, 3, WEIR_LEVEL_FAST);
    /* Rank 0 alone keeps it. */
    if (r->cfg.rank == 0)
        assert_int_equal(weir_ckpt_problem(c, NULL), WEIR_EIO);
    assert_int_equal(weir_ckpt_problem(c, NULL), 0);
    put(r, c, 4, WEIR_LEVEL_FAST);
}

/* One rank cannot write: the step fails on all, with its message. */
static void one_fails_for_all(void **state)
{
    static const int want[] = {0, 0, WEIR_EIO, 0, 0, 0, 0};
    struct saves *s = *state;
    struct saves_tiers bad = {.fast_rules = "write-eio@~000000000002"};
    struct rank ranks[WORLD];

    set_up(ranks, saves_config(s, (struct saves_tiers){0}), save_1_to_3);
    ranks[1].cfg = saves_config(s, bad);
    ranks[1].work = save_1_to_3;
    run_all(s, ranks);
    assert_int_equal(ranks[0].count, 7);
    assert_memory_equal(ranks[0].codes, want, sizeof(want));
    for (uint32_t i = 0; i < WORLD; i++) {
        assert_non_null(strstr(ranks[i].err.msg, "rank 1"));
        assert_non_null(strstr(ranks[i].err.msg, "r00001.safetensors"));
    }
    check_step(s->fast, 1);
    check_step(s->fast, 3);
    assert_int_equal(saves_number(s->fast, 2), -1);
}

static void save_twice(struct rank *r, weir_ckpt *c)
{
    put(r, c, 1, WEIR_LEVEL_SNAPSHOT);
    put(r, c, 2, WEIR_LEVEL_FAST);
    note(r, weir_ckpt_wait(c, 1, WEIR_LEVEL_FAST, -1, &r->err));
    put(r, c, 3, WEIR_LEVEL_FAST);
}

/* One rank is slow: all skip, or all wait. */
static void all_skip_together(void **state)
{
    static const int skipped[] = {0, 0, 1, 0, 0, 0};
    struct saves *s = *state;
    struct saves_tiers slow = {
        .fast_rules = "write-delay=1500@~/tmp-000000000001"};
    struct rank ranks[WORLD];

    set_up(ranks, saves_config(s, (struct saves_tiers){0}), save_twice);
    ranks[2].cfg = saves_config(s, slow);
    for (uint32_t i = 0; i < WORLD; i++)
        ranks[i].cfg.behind = WEIR_BEHIND_SKIP;
    run_all(s, ranks);
    assert_int_equal(ranks[0].count, 6);
    assert_memory_equal(ranks[0].codes, skipped, sizeof(skipped));
    check_step(s->fast, 1);
    check_step(s->fast, 3);
}

static void save_other_steps(struct rank *r, weir_ckpt *c)
{
    put(r, c, r->cfg.rank == 1 ? 5 : 4, WEIR_LEVEL_FAST);
    put(r, c, 6, WEIR_LEVEL_FAST);
}

static void ranks_must_mean_the_same_step(void **state)
{
    static const int want[] = {0, WEIR_EINVAL, 0, 0};
    struct saves *s = *state;
    struct rank ranks[WORLD];

    set_up(ranks, saves_config(s, (struct saves_tiers){0}), save_other_steps);
    run_all(s, ranks);
    assert_int_equal(ranks[0].count, 4);
    assert_memory_equal(ranks[0].codes, want, sizeof(want));
    check_step(s->fast, 6);
}

static void do_nothing(struct rank *r, weir_ckpt *c)
{
    (void)r;
    (void)c;
}

static void ranks_must_be_alike(void **state)
{
    struct saves *s = *state;
    struct rank ranks[WORLD];

    for (unsigned k = 0; k < 3; k++) {
        static const char *const names[] = {"role", "behind", "slow"};

        set_up(ranks, saves_config(s, (struct saves_tiers){.two = true}),
               do_nothing);
        if (k == 0)
            ranks[2].cfg.role = WEIR_CKPT_READ;
        else if (k == 1)
            ranks[2].cfg.behind = WEIR_BEHIND_SKIP;
        else
            ranks[2].cfg.slow = NULL;
        run_all(s, ranks);
        assert_int_equal(ranks[0].count, 1);
        assert_int_equal(ranks[0].codes[0], WEIR_EINVAL);
        assert_non_null(strstr(ranks[0].err.msg, "rank 2: "));
        assert_non_null(strstr(ranks[0].err.msg, names[k]));
    }
}

/* The slow tier takes longer than ranks wait for each other. */
static void save_and_hold(struct rank *r, weir_ckpt *c)
{
    put(r, c, 1, WEIR_LEVEL_SNAPSHOT);
    put(r, c, 2, WEIR_LEVEL_VERIFIED);
}

static void waiting_is_no_silence(void **state)
{
    struct saves *s = *state;
    struct saves_tiers slow = {.two = true,
                               .slow_rules = "write-delay=3000@~r00001"};
    struct rank ranks[WORLD];

    set_up(ranks, saves_config(s, slow), save_and_hold);
    for (uint32_t i = 0; i < WORLD; i++) {
        ranks[i].cfg.max_behind = 1;
        ranks[i].cfg.comm_timeout_ms = 5000; /* two writes take longer */
    }
    run_all(s, ranks);
    for (unsigned k = 0; k < ranks[0].count; k++)
        if (ranks[0].codes[k] != 0)
            fail_msg("call %u: %s", k, ranks[0].err.msg);
    for (uint64_t step = 1; step <= 2; step++)
        check_step(s->slow, step);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_levels),          TEST(one_fails_for_all),
        TEST(all_skip_together),   TEST(ranks_must_mean_the_same_step),
        TEST(ranks_must_be_alike), TEST(waiting_is_no_silence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
