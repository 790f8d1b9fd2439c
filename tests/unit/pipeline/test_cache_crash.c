/* test_cache_crash.c - processes that fill one folder, and that are killed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>

#include "cachekit.h"
#include "pipeline/cache_map.h"

#define N 3000

/* Fills in an order of its own; returns an exit status. */
static int fill(const struct kit *k, uint64_t seed)
{
    struct wr_rng rng = {.seed = seed};
    uint64_t n = k->cfg.samples, at = wr_rng_below(&rng, n);
    struct wr_cache *c = kit_open(k);

    for (uint64_t i = 0; i < n; i++, at = (at + 7919) % n) {
        kit_put(k, c, at);
        if (kit_get(k, c, wr_rng_below(&rng, n)) >= KIT_DAMAGED)
            return 1;
    }
    if (wr_cache_error(c, NULL) < 0)
        return 2;
    wr_cache_close(c);
    return 0;
}

static pid_t start(const struct kit *k, uint64_t seed)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(fill(k, seed));
    assert_true(pid > 0);
    return pid;
}

static void assert_all_good(const struct kit *k, struct wr_cache *c)
{
    struct wr_cache_stats s;
    uint64_t bad, good = kit_count(k, c, &bad);

    wr_cache_tier_stats(c, 0, &s);
    assert_int_equal(bad, 0);
    assert_int_equal(s.damaged, 0);
    assert_int_equal(s.entries, good);
    assert_true(s.bytes <= s.budget);
}

static void test_processes_fill_together(void **state)
{
    struct wr_cache *c;
    pid_t pids[3];
    struct kit k;
    int status;

    (void)state;
    kit_init(&k, "32MiB", N, 0);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 3; i++)
            pids[i] = start(&k, round * 3 + i);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
        }
        c = kit_open(&k);
        assert_all_good(&k, c);
        assert_int_equal(kit_count(&k, c, NULL), N);
        wr_cache_close(c);
        kit_wipe(&k, /* self= */ false);
    }
    kit_wipe(&k, /* self= */ true);
}

/* A budget that they share: together they stay within it. */
static void test_processes_share_a_budget(void **state)
{
    struct wr_cache_stats s;
    struct wr_cache *c;
    pid_t pids[3];
    struct kit k;
    int status;

    (void)state;
    kit_init(&k, "4MiB", N, 0);
    c = kit_open(&k);
    for (unsigned i = 0; i < 3; i++)
        pids[i] = start(&k, i);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_all_good(&k, c); /* one that was open all the time sees it, too */
    wr_cache_tier_stats(c, 0, &s);
    assert_true(s.bytes > s.budget - s.budget / 20);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

static void test_killed(void **state)
{
    struct wr_rng rng = {.seed = 4};
    struct wr_cache *c;
    uint64_t before = 0;
    unsigned grown = 0;
    struct kit k;

    (void)state;
    kit_init(&k, "32MiB", N, 0);
    /* Longer and longer, where a process does not come far in a moment. */
    for (unsigned round = 0; round < 50 || grown <= 5; round++) {
        useconds_t most = (round % 3 ? 15000 : 3000) * (1 + round / 50);
        pid_t a = start(&k, round), b = round % 2 ? start(&k, round + 100) : 0;
        struct wr_cache_stats s;

        usleep((useconds_t)wr_rng_below(&rng, most));
        kill(a, SIGKILL);
        if (b)
            kill(b, SIGKILL);
        waitpid(a, NULL, 0);
        if (b)
            waitpid(b, NULL, 0);
        c = kit_open(&k);
        assert_int_equal(wr_cache_error(c, NULL), 0);
        assert_all_good(&k, c);
        wr_cache_tier_stats(c, 0, &s);
        assert_true(s.entries >= before); /* nothing that was there is lost */
        grown += s.entries > before;
        before = s.entries;
        wr_cache_close(c);
        if (round % 10 == 9) {
            kit_wipe(&k, /* self= */ false);
            before = 0;
        }
    }
    /* And it can be filled to the end. */
    assert_int_equal(fill(&k, 1), 0);
    c = kit_open(&k);
    assert_int_equal(kit_count(&k, c, NULL), N);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* A writer that died: a miss for those who are there, and a sample like any
 * other once all of them have gone. */
static void test_dead_writer(void **state)
{
    struct wr_cache_map map;
    enum wr_cache_map_hold hold;
    struct wr_cache_map_id id;
    struct wr_cache *c;
    char path[512];
    struct kit k;

    (void)state;
    kit_init(&k, "1MiB", 100, 0);
    c = kit_open(&k);
    id = (struct wr_cache_map_id){.fingerprint = k.cfg.fingerprint,
                                  .samples = 100};
    assert_true(kit_file(&k, "map", path, sizeof(path)));
    assert_int_equal(wr_cache_map_lock(&map, path, 0, &hold, NULL), 0);
    assert_int_equal(hold, WR_CACHE_MAP_SHARED);
    assert_int_equal(wr_cache_map_load(&map, &id, hold, NULL), 0);
    assert_true(wr_cache_map_claim(&map, 5));
    assert_false(wr_cache_map_claim(&map, 5));
    wr_cache_map_close(&map);
    assert_int_equal(kit_get(&k, c, 5), KIT_MISS);
    assert_false(wr_cache_wants(c, 5, 10));
    kit_put(&k, c, 5);
    assert_int_equal(kit_get(&k, c, 5), KIT_MISS);
    kit_put(&k, c, 6);
    wr_cache_close(c);
    c = kit_open(&k);
    assert_true(wr_cache_wants(c, 5, 10));
    kit_put(&k, c, 5);
    assert_int_equal(kit_get(&k, c, 5), KIT_GOOD);
    assert_int_equal(kit_get(&k, c, 6), KIT_GOOD);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* Two states of a data set, each stale for the other: whoever opens removes
 * the other's folder, but never one that is in use. */
static int open_often(const struct kit *k, uint64_t first)
{
    for (unsigned round = 0; round < 150; round++) {
        struct wr_cache *c = kit_open(k);

        if (wr_cache_error(c, NULL) < 0)
            return 1;
        for (uint64_t id = first; id < first + 5; id++)
            kit_put(k, c, id);
        for (uint64_t id = first; id < first + 5; id++)
            if (kit_get(k, c, id) != KIT_GOOD)
                return 2;
        wr_cache_close(c);
    }
    return 0;
}

static void test_each_is_stale(void **state)
{
    pid_t pids[4];
    struct kit k;
    int status;

    (void)state;
    kit_init(&k, "1MiB", 10, 0);
    for (unsigned i = 0; i < 4; i++) {
        k.cfg.fingerprint = i % 2;
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(open_often(&k, i / 2 * 5));
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    kit_wipe(&k, /* self= */ true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes_fill_together),
        cmocka_unit_test(test_processes_share_a_budget),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_dead_writer),
        cmocka_unit_test(test_each_is_stale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
