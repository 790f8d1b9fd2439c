/* test_cache_ram.c - the tier in memory: its budget, its threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cachekit.h"
#include "pipeline/cache_ram.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define MB (UINT64_C(1) << 20)

static long page_size; /* as other machines have it; 0: this one's */

long sysconf(int name)
{
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

    return name == _SC_PAGESIZE && page_size ? page_size : real(name);
}

static struct kit random_sizes(uint64_t samples, size_t sample_bytes)
{
    struct kit k = {.seed = 5};

    k.cfg.samples = samples;
    k.cfg.sample_bytes = sample_bytes;
    return k;
}

static bool put(struct wr_cache_ram *r, const struct kit *k, uint64_t id)
{
    static _Thread_local uint8_t buf[KIT_MAX];

    kit_fill(k, id, buf);
    return wr_cache_ram_put(r, id, kit_label(id), buf, kit_len(k, id));
}

static bool is_good(struct wr_cache_ram *r, const struct kit *k, uint64_t id)
{
    struct wr_cache_hit hit;

    return wr_cache_ram_find(r, id, &hit) && (uintptr_t)hit.bytes % 64 == 0 &&
           kit_is(k, id, hit.bytes, &hit);
}

static uint64_t resident(void)
{
    unsigned long long size, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%llu %llu", &size, &pages) != 2)
        abort();
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Fills a tier: it takes what it was given, no more, and not much less. */
static void fill(uint64_t budget, size_t sample_bytes)
{
    struct kit k = random_sizes(40000, sample_bytes);
    static uint8_t buf[KIT_MAX];
    uint64_t before, opened, after, data = 0, entries = 0;
    struct wr_cache_ram *r = NULL;
    struct wr_cache_stats s;

    memset(buf, 1, sizeof(buf));
    before = resident();
    assert_int_equal(wr_cache_ram_open(&r, budget, &k.cfg, NULL), 0);
    opened = resident();
    for (uint64_t id = 0; id < k.cfg.samples; id++) {
        size_t len = kit_len(&k, id);
        bool room = wr_cache_ram_has_room(r, len);

        if (room)
            kit_fill(&k, id, buf);
        assert_int_equal(wr_cache_ram_put(r, id, kit_label(id), buf, len),
                         room);
        entries += room;
        data += room ? len : 0;
    }
    after = resident();
    wr_cache_ram_stats(r, &s);
    assert_false(s.is_dir);
    assert_int_equal(s.entries, entries);
    assert_int_equal(s.budget, budget);
    assert_true(s.bytes <= budget);
    assert_true(s.bytes >= budget - budget / 100);
    /* The table, and half a cache line for each. */
    assert_true(data + 8 * k.cfg.samples + entries * 72 >=
                budget - budget / 100);
    if (!SANITIZED && !getenv("WEIR_TEST_EMULATED")) {
        assert_true(opened - before < MB); /* nothing was touched yet */
        assert_true(after - before <= budget + budget / 100);
        assert_true(after - before >= budget - budget / 20);
    }
    for (uint64_t id = 0; id < k.cfg.samples; id++)
        assert_int_equal(is_good(r, &k, id), wr_cache_ram_has(r, id));
    wr_cache_ram_stats(r, &s);
    assert_int_equal(s.hits, entries);
    wr_cache_ram_close(r);
}

static void test_budget(void **state)
{
    (void)state;
    fill(64 * MB, 0);
    fill(64 * MB, 150528);
    fill(65 * MB - 12345, 0); /* part of a huge page, and of a page */
    fill(15 * MB, 3072);
}

static void test_small_budgets(void **state)
{
    struct kit k = random_sizes(100, 0);
    struct wr_cache_ram *r = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(
        wr_cache_ram_open(&r, 800, &(struct wr_cache_config){.samples = 100},
                          &err),
        WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "100 samples"));
    assert_int_equal(
        wr_cache_ram_open(
            &r, MB, &(struct wr_cache_config){.samples = UINT64_MAX / 4}, &err),
        WEIR_EINVAL);
    assert_null(r);
    assert_int_equal(
        wr_cache_ram_open(&r, 40960, &(struct wr_cache_config){.samples = 100},
                          &err),
        0);
    for (uint64_t id = 0; id < 100; id++)
        put(r, &k, id);
    for (uint64_t id = 0; id < 100; id++)
        assert_int_equal(is_good(r, &k, id), wr_cache_ram_has(r, id));
    assert_false(wr_cache_ram_has_room(r, 50000));
    assert_false(wr_cache_ram_has_room(r, SIZE_MAX));
    wr_cache_ram_close(r);
    wr_cache_ram_close(NULL);
}

static void test_what_is_there_stays(void **state)
{
    struct wr_cache_ram *r = NULL;
    struct wr_cache_stats s;
    struct wr_cache_hit hit;
    uint64_t bytes;

    (void)state;
    assert_int_equal(wr_cache_ram_open(&r, MB,
                                       &(struct wr_cache_config){.samples = 10},
                                       NULL),
                     0);
    assert_true(wr_cache_ram_put(r, 3, 1, "one", 4));
    wr_cache_ram_stats(r, &s);
    bytes = s.bytes;
    assert_true(wr_cache_ram_put(r, 3, 2, "two", 4));
    assert_true(wr_cache_ram_find(r, 3, &hit));
    assert_string_equal((const char *)hit.bytes, "one");
    assert_int_equal(hit.label, 1);
    wr_cache_ram_stats(r, &s);
    assert_int_equal(s.bytes, bytes);
    assert_int_equal(s.entries, 1);
    /* Not taken, and then it is as if nobody had tried. */
    assert_false(wr_cache_ram_put(r, 4, 2, "two", (size_t)MB));
    assert_false(wr_cache_ram_has(r, 4));
    assert_true(wr_cache_ram_put(r, 4, 2, "two", 4));
    wr_cache_ram_close(r);
}

/* --- threads --- */

struct crew {
    struct wr_cache_ram *r;
    struct kit k;
    atomic_uint_fast64_t hits, lies;
    atomic_uint turn;
};

/* All put all samples, each in an order of its own, and look meanwhile. */
static void *put_and_find(void *arg)
{
    struct crew *w = arg;
    uint64_t n = w->k.cfg.samples, step = 2 * atomic_fetch_add(&w->turn, 1) + 1;
    struct wr_rng rng = {.seed = step};

    for (uint64_t i = 0, id = step; i < n; i++, id = (id + step) % n) {
        uint64_t look = wr_rng_below(&rng, n);
        struct wr_cache_hit hit;

        put(w->r, &w->k, id);
        if (!wr_cache_ram_find(w->r, look, &hit))
            continue;
        atomic_fetch_add(&w->hits, 1);
        if (!kit_is(&w->k, look, hit.bytes, &hit))
            atomic_fetch_add(&w->lies, 1);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct crew w = {.k = random_sizes(4096, 0)};
    struct wr_cache_stats s;
    pthread_t threads[4];
    uint64_t entries = 0, least = 0;

    (void)state;
    assert_int_equal(
        wr_cache_ram_open(&w.r, 8 * MB,
                          &(struct wr_cache_config){.samples = 4096}, NULL),
        0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_find, &w),
                         0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(w.lies, 0);
    wr_cache_ram_stats(w.r, &s);
    assert_int_equal(s.hits, w.hits);
    for (uint64_t id = 0; id < 4096; id++) {
        if (!wr_cache_ram_has(w.r, id))
            continue;
        assert_true(is_good(w.r, &w.k, id));
        entries++;
        least += kit_len(&w.k, id);
    }
    assert_int_equal(s.entries, entries);
    /* Each was placed once, however many tried. */
    assert_true(s.bytes >= least && s.bytes <= least + entries * 72 + 4096 * 8);
    wr_cache_ram_close(w.r);
}

/* --- several in one process --- */

static struct wr_cache_ram *open_named(uint64_t budget, const char *name,
                                       uint64_t fingerprint)
{
    struct wr_cache_config cfg = {
        .samples = 4096, .name = name, .fingerprint = fingerprint};
    struct wr_cache_ram *r = NULL;

    assert_int_equal(wr_cache_ram_open(&r, budget, &cfg, NULL), 0);
    return r;
}

static uint64_t bytes_of(const struct wr_cache_ram *r)
{
    struct wr_cache_stats s;

    wr_cache_ram_stats(r, &s);
    return s.bytes;
}

/* Puts samples until there is no room; how many there were. */
static uint64_t fill_up(struct wr_cache_ram *r, const struct kit *k)
{
    uint64_t id = 0;

    while (id < 4096 && put(r, k, id))
        id++;
    return id;
}

static void tiers_share_one_budget(void **state)
{
    struct kit k = random_sizes(4096, 1000);
    struct wr_cache_ram *a = open_named(MB, "a", 1), *b, *c;
    uint64_t alone;

    (void)state;
    alone = fill_up(a, &k);
    assert_true(alone > 500 && alone < 4096);
    b = open_named(MB / 2, "b", 1); /* nothing is left but for its table */
    assert_int_equal(fill_up(b, &k), 0);
    assert_false(wr_cache_ram_has_room(b, 1000));
    for (uint64_t id = 0; id < alone; id++)
        assert_true(is_good(a, &k, id));
    wr_cache_ram_close(a); /* what it had comes back */
    assert_true(fill_up(b, &k) > 100);
    assert_true(bytes_of(b) <= MB / 2); /* its own ceiling */
    c = open_named(MB, "c", 1);
    assert_true(fill_up(c, &k) > 100);
    assert_true(bytes_of(b) + bytes_of(c) <= MB);
    wr_cache_ram_close(b);
    wr_cache_ram_close(c);
    b = open_named(MB / 2, "b", 1); /* the budget is what those there ask for */
    c = open_named(MB / 2, "c", 1);
    fill_up(b, &k);
    fill_up(c, &k);
    assert_true(bytes_of(b) + bytes_of(c) <= MB / 2 + 4096 * 8);
    wr_cache_ram_close(b);
    wr_cache_ram_close(c);
}

static void the_same_samples_are_kept_once(void **state)
{
    struct kit k = random_sizes(4096, 1000);
    struct wr_cache_ram *a = open_named(MB, "set", 1);
    struct wr_cache_ram *b = open_named(MB, "set", 1);
    struct wr_cache_ram *changed = open_named(MB, "set", 2);
    struct wr_cache_ram *other = open_named(MB, "other", 1);
    struct wr_cache_stats s;

    (void)state;
    assert_true(put(a, &k, 7));
    assert_true(is_good(b, &k, 7));
    assert_false(wr_cache_ram_has(changed, 7));
    assert_false(wr_cache_ram_has(other, 7));
    wr_cache_ram_stats(b, &s);
    assert_int_equal(s.entries, 1);
    assert_int_equal(s.hits, 1); /* its own */
    wr_cache_ram_stats(a, &s);
    assert_int_equal(s.hits, 0);
    wr_cache_ram_close(a);
    assert_true(is_good(b, &k, 7)); /* outlives who put it */
    wr_cache_ram_close(b);
    b = open_named(MB, "set", 1);
    assert_false(wr_cache_ram_has(b, 7)); /* nobody had it any more */
    wr_cache_ram_close(b);
    wr_cache_ram_close(changed);
    wr_cache_ram_close(other);
}

/* What is less than a page of the machine does not count: it would take one. */
static void pages_are_the_machines(void **state)
{
    struct kit k = random_sizes(8250, 100); /* a table of 66,000 bytes */
    struct wr_cache_ram *r = NULL;

    (void)state;
    page_size = 4096;
    assert_int_equal(wr_cache_ram_open(&r, 70000, &k.cfg, NULL), 0);
    wr_cache_ram_close(r);
    page_size = 65536;
    assert_int_equal(wr_cache_ram_open(&r, 70000, &k.cfg, NULL), WEIR_EINVAL);
    page_size = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_small_budgets),
        cmocka_unit_test(test_what_is_there_stays),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(tiers_share_one_budget),
        cmocka_unit_test(pages_are_the_machines),
        cmocka_unit_test(the_same_samples_are_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
