/* test_cache.c - specs, the order of tiers, and what they say of themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cachekit.h"

static void test_wrong_specs(void **state)
{
    static const struct {
        const char *spec, *part, *says;
    } cases[] = {
        {"", "cache ''", "ram:SIZE or FOLDER:SIZE"},
        {"ram", "cache 'ram'", "ram:SIZE or FOLDER:SIZE"},
        {"ram:", "cache 'ram:'", "not a size"},
        {"ram:4X", "cache 'ram:4X'", "not a size (write 64KiB"},
        {"ram:0", "cache 'ram:0'", "above 0"},
        {":4GiB", "cache ':4GiB'", "ram:SIZE or FOLDER:SIZE"},
        {"ram:1MiB,", "cache ''", "ram:SIZE or FOLDER:SIZE"},
        {"ram:1MiB,ram:1MiB", "cache 'ram:1MiB'", "already"},
        {"ram:64", "cache 'ram:64'", "table of 100 samples"},
        {"/nowhere/at/all:1GiB", "cache '/nowhere/at/all:1GiB'",
         "No such file"},
        {"/etc/passwd:1GiB", "cache '/etc/passwd:1GiB'", "not a folder"},
        {"/tmp:1GiB:share=me", "cache '/tmp:1GiB:share=me'", "share=group or"},
        {"ram:1MiB:share=all", "cache 'ram:1MiB:share=all'", "not shared"},
        {"/tmp:2KiB", "cache '/tmp:2KiB'", "map of 100 samples"},
        {"ram:7E", "cache 'ram:7E'", "not a size"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_cache_config cfg = {.spec = cases[i].spec, .samples = 100};
        struct wr_cache *c = NULL;
        weir_err err = {0};

        assert_true(wr_cache_open(&c, &cfg, &err) < 0);
        assert_null(c);
        assert_int_equal(strncmp(err.msg, cases[i].part, strlen(cases[i].part)),
                         0);
        assert_non_null(strstr(err.msg, cases[i].says));
    }
}

static void test_folders_named_twice(void **state)
{
    struct wr_cache *c = NULL;
    char spec[2048];
    struct kit k;
    weir_err err;

    (void)state;
    kit_init(&k, "1MiB", 10, 0);
    k.cfg.spec = spec;
    snprintf(spec, sizeof(spec), "%s:1MiB,%s/.:1MiB", k.dir, k.dir);
    assert_int_equal(wr_cache_open(&c, &k.cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "already"));
    snprintf(spec, sizeof(spec), "%s:1MiB,fault:eio@9:%s:1MiB", k.dir, k.dir);
    assert_int_equal(wr_cache_open(&c, &k.cfg, &err), WEIR_ENOTSUP);
    snprintf(spec, sizeof(spec),
             "%s/a:1MiB,%s/b:1MiB,%s/c:1MiB,%s/d:1MiB,%s/e:1MiB", k.dir, k.dir,
             k.dir, k.dir, k.dir);
    for (char name = 'a'; name <= 'e'; name++) {
        char path[300];

        snprintf(path, sizeof(path), "%s/%c", k.dir, name);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    assert_int_equal(wr_cache_open(&c, &k.cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "more than 4 tiers"));
    kit_wipe(&k, /* self= */ true);
}

/* Memory, a folder, a second folder: each is filled before the next. */
static void test_order_of_tiers(void **state)
{
    struct wr_cache_stats s[3];
    uint64_t seen[4] = {0};
    char spec[1024], path[300];
    struct wr_cache *c;
    struct kit k;
    unsigned last = 0;

    (void)state;
    kit_init(&k, "", 4000, 3000);
    snprintf(path, sizeof(path), "%s/two", k.dir);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(spec, sizeof(spec), "ram:1MiB,%s:2MiB,%s:4MiB", k.dir, path);
    k.cfg.spec = spec;
    c = kit_open(&k);
    assert_int_equal(wr_cache_tier_count(c), 3);
    for (uint64_t id = 0; id < 4000; id++) {
        bool wanted = wr_cache_wants(c, id, 3000);
        struct wr_cache_hit hit = {.tier = 3};

        kit_put(&k, c, id);
        assert_int_equal(wr_cache_find(c, id, &hit), wanted);
        assert_false(wr_cache_wants(c, id, 3000));
        assert_true(hit.tier >= last);
        assert_int_equal(hit.bytes != NULL, wanted && hit.tier == 0);
        last = hit.tier;
        seen[hit.tier]++;
    }
    assert_true(seen[3] > 0);
    for (unsigned i = 0; i < 3; i++) {
        wr_cache_tier_stats(c, i, &s[i]);
        assert_int_equal(s[i].entries, seen[i]);
        assert_int_equal(s[i].budget, (uint64_t)(1 << i) << 20);
        assert_true(s[i].bytes <= s[i].budget);
        assert_true(seen[i] * 3000 >
                    s[i].budget - s[i].budget / 20 - 4000 * (i ? 24 : 8));
        assert_int_equal(s[i].is_dir, i > 0);
    }
    assert_int_equal(s[0].hits, seen[0]);
    assert_int_equal(s[1].hits, 0); /* found, but not read */
    assert_int_equal(kit_count(&k, c, NULL), 4000 - seen[3]);
    wr_cache_tier_stats(c, 2, &s[2]);
    assert_int_equal(s[2].hits, seen[2]);
    assert_int_equal(wr_cache_error(c, NULL), 0);
    assert_non_null(wr_cache_store(c));
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* A run that finds its folder filled fills its memory, too. */
static void test_memory_in_front_of_a_full_folder(void **state)
{
    struct wr_cache_stats s;
    char spec[1024];
    struct wr_cache *c;
    struct kit k;

    (void)state;
    kit_init(&k, "8MiB", 100, 0);
    c = kit_open(&k);
    for (uint64_t id = 0; id < 100; id++)
        kit_put(&k, c, id);
    wr_cache_close(c);
    snprintf(spec, sizeof(spec), "ram:100KiB,%s:8MiB", k.dir);
    k.cfg.spec = spec;
    c = kit_open(&k);
    for (uint64_t id = 0; id < 100; id++) {
        assert_int_equal(kit_get(&k, c, id), KIT_GOOD);
        if (wr_cache_wants(c, id, kit_len(&k, id)))
            kit_put(&k, c, id);
    }
    wr_cache_tier_stats(c, 0, &s);
    assert_true(s.entries > 10 && s.entries < 60);
    assert_int_equal(kit_count(&k, c, NULL), 100);
    wr_cache_tier_stats(c, 1, &s);
    assert_int_equal(s.entries, 100);
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

/* The bytes come through a queue, as the workers read them. */
static void test_queue(void **state)
{
    struct wr_queue_config qc = {.depth = 4, .io = WEIR_IO_AUTO};
    static _Alignas(4096) uint8_t buf[KIT_MAX];
    struct wr_cache *c;
    struct wr_store *st;
    struct wr_queue *q;
    struct kit k;

    (void)state;
    kit_init(&k, "8MiB", 20, 100000);
    c = kit_open(&k);
    for (uint64_t id = 0; id < 20; id++)
        kit_put(&k, c, id);
    st = wr_cache_store(c);
    for (unsigned direct = 0; direct < 2; direct++) {
        qc.direct = direct;
        assert_int_equal(st->ops->queue_open(st, &qc, &q, NULL), 0);
        for (uint64_t id = 0; id < 20; id++) {
            struct wr_cache_hit hit;
            struct wr_io rd = {.buf = buf, .cap = sizeof(buf)}, *done = &rd;

            assert_true(wr_cache_find(c, id, &hit));
            assert_int_equal(hit.offset % 4096, 0); /* large ones */
            rd.object = hit.object;
            rd.offset = hit.offset;
            rd.len = hit.len;
            assert_int_equal(q->ops->submit(q, &done, 1), 1);
            assert_int_equal(q->ops->reap(q, &done, 1, true), 1);
            assert_int_equal(rd.result, 0);
            assert_true(wr_cache_check(c, id, &hit, rd.data));
            assert_true(kit_is(&k, id, rd.data, &hit));
        }
        q->ops->close(q);
    }
    wr_cache_close(c);
    kit_wipe(&k, /* self= */ true);
}

static void test_ids_that_are_none(void **state)
{
    struct wr_cache_config cfg = {.spec = "ram:1MiB", .samples = 10};
    struct wr_cache_hit hit;
    struct wr_cache *c = NULL;

    (void)state;
    assert_int_equal(wr_cache_open(&c, &cfg, NULL), 0);
    wr_cache_put(c, 10, 0, "x", 1);
    assert_false(wr_cache_wants(c, 10, 1));
    assert_false(wr_cache_find(c, 10, &hit));
    assert_false(wr_cache_find(c, UINT64_MAX, &hit));
    assert_null(wr_cache_store(c));
    wr_cache_close(c);
    wr_cache_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_specs),
        cmocka_unit_test(test_folders_named_twice),
        cmocka_unit_test(test_order_of_tiers),
        cmocka_unit_test(test_memory_in_front_of_a_full_folder),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_ids_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
