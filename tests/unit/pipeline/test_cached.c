/* test_cached.c - a pipeline with tiers delivers the same, from nearer by.
 * SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "codec/crc32c.h"
#include "fixture.h"
#include "pipeline/cache_map.h"

#define N 90

struct place {
    struct fx fx;
    char dir[256]; /* of the folder tier */
};

static void make(struct place *p, enum fx_kind kind, uint32_t per_file)
{
    fx_make(&p->fx, kind, N, per_file);
    snprintf(p->dir, sizeof(p->dir), "/tmp/weir-test-tier-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
}

static void done(struct place *p)
{
    char cmd[300];

    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", p->dir);
    assert_int_equal(system(cmd), 0);
    fx_done(&p->fx);
}

/* Feeds; what came out is in the log, what was said in *ret. */
static void feed(const struct place *p, const weir_dataset *ds,
                 const weir_pipeline_config *cfg, struct fx_log *log,
                 weir_stats *ret)
{
    weir_pipeline *pipe = fx_start(ds, cfg);
    weir_err err;

    assert_int_equal(fx_take(&p->fx, pipe, SIZE_MAX, log, &err), 0);
    weir_pipeline_stats(pipe, ret);
    weir_pipeline_close(&pipe);
}

static const struct {
    enum fx_kind kind;
    uint32_t per_file;
    enum weir_order order;
} sets[] = {
    {FX_TENSORS, 30, WEIR_ORDER_SHUFFLE},
    {FX_TENSORS, 30, WEIR_ORDER_BLOCK},
    {FX_JPEGS, 1, WEIR_ORDER_SHUFFLE},
    {FX_BLOBS, 1, WEIR_ORDER_SEQUENTIAL},
};

/* All kinds of data, all kinds of tiers: three epochs are the same bytes as
 * without, and from the second on nothing is read from the storage. */
static void same_bytes_from_nearer_by(void **state)
{
    for (size_t k = 0; k < sizeof(sets) / sizeof(sets[0]) * 6; k++) {
        unsigned how = (unsigned)k % 6;
        struct fx_log plain = {0}, log = {0};
        weir_pipeline_config cfg;
        weir_dataset *ds;
        weir_stats st;
        struct place p;
        char spec[300];

        make(&p, sets[k / 6].kind, sets[k / 6].per_file);
        ds = fx_open(&p.fx, "");
        fx_config(&p.fx, &cfg);
        cfg.order = sets[k / 6].order;
        cfg.epochs = 3;
        cfg.direct = k % 4 == 3;
        feed(&p, ds, &cfg, &plain, &st);
        if (how % 3 == 0)
            snprintf(spec, sizeof(spec), "ram:64MiB");
        else if (how % 3 == 1)
            snprintf(spec, sizeof(spec), "%s:64MiB", p.dir);
        else
            snprintf(spec, sizeof(spec), "ram:64KiB,%s:64MiB", p.dir);
        cfg.cache = spec;
        cfg.cache_what = how >= 3 ? WEIR_CACHE_DECODED : WEIR_CACHE_ENCODED;
        if (cfg.stages != WEIR_STAGES_ALL && how >= 3)
            goto next;
        feed(&p, ds, &cfg, &log, &st);
        assert_int_equal(log.hash, plain.hash);
        assert_int_equal(log.id_count, plain.id_count);
        /* The next epoch may ask while a sample is still on its way. */
        assert_in_range(st.cache_misses, N, N + cfg.threads * cfg.depth);
        assert_int_equal(
            st.cache_ram_hits + st.cache_dir_hits + st.cache_misses, 3 * N);
        if (how % 3 == 1) { /* the folder serves the next run, too */
            struct fx_log again = {0};

            feed(&p, ds, &cfg, &again, &st);
            assert_int_equal(again.hash, plain.hash);
            assert_int_equal(st.cache_misses, 0);
            assert_int_equal(st.bytes_read, 0);
            fx_log_done(&again);
        }
    next:
        fx_log_done(&log);
        fx_log_done(&plain);
        weir_dataset_close(&ds);
        done(&p);
    }
    (void)state;
}

/* A tier that holds a part keeps that part: hits are the same every epoch. */
static void a_part_stays(void **state)
{
    struct fx_log log = {0};
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_stats st;
    struct place p;

    (void)state;
    make(&p, FX_JPEGS, 1);
    ds = fx_open(&p.fx, "");
    fx_config(&p.fx, &cfg);
    cfg.epochs = 4;
    cfg.cache = "ram:16KiB";
    feed(&p, ds, &cfg, &log, &st);
    assert_true(st.cache_ram_hits > 0 && st.cache_ram_hits < 3 * N);
    assert_int_equal(st.cache_ram_hits + st.cache_misses, 4 * N);
    assert_true(st.cache_ram_bytes <= 16 * 1024);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    done(&p);
}

/* Damage in a folder is found, and the sample is read where it came from. */
static void damage_is_noticed(void **state)
{
    for (int what = 0; what < 2; what++) {
        struct fx_log plain = {0}, log = {0};
        weir_pipeline_config cfg;
        weir_dataset *ds;
        weir_stats st;
        struct place p;
        char spec[300], cmd[600];

        make(&p, FX_JPEGS, 1);
        ds = fx_open(&p.fx, "");
        fx_config(&p.fx, &cfg);
        snprintf(spec, sizeof(spec), "%s:64MiB", p.dir);
        cfg.cache = spec;
        cfg.cache_what = (enum weir_cache_what)what;
        feed(&p, ds, &cfg, &plain, &st);
        snprintf(cmd, sizeof(cmd),
                 "f=$(find '%s' -name 'data*') && n=$(stat -c %%s \"$f\") && "
                 "head -c $n /dev/zero > \"$f\"",
                 p.dir);
        assert_int_equal(system(cmd), 0);
        feed(&p, ds, &cfg, &log, &st);
        assert_int_equal(log.hash, plain.hash);
        assert_int_equal(st.cache_damaged, N);
        assert_int_equal(st.cache_dir_hits, 0);
        assert_int_equal(st.bad, 0);
        fx_log_done(&log);
        fx_log_done(&plain);
        weir_dataset_close(&ds);
        done(&p);
    }
    (void)state;
}

/* Makes every entry of the map at `path` longer, by what follows it in `data`,
 * with checksums that are right. */
static void lengthen(const char *path, const uint8_t *data, size_t len)
{
    struct wr_cache_map_id id = {.samples = N};
    uint8_t head[WR_CACHE_MAP_HEADER];
    enum wr_cache_map_hold hold;
    struct wr_spot spot;
    uint64_t name_hash;
    struct wr_cache_map map;
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_int_equal(fread(head, 1, sizeof(head), f), sizeof(head));
    fclose(f);
    assert_true(wr_cache_map_peek(head, &id.fingerprint, &name_hash));
    assert_int_equal(wr_cache_map_lock(&map, path, 0, &hold, NULL), 0);
    assert_int_equal(wr_cache_map_load(&map, &id, hold, NULL), 0);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(wr_cache_map_read(&map, i, &spot), WR_CACHE_MAP_READY);
        if (spot.offset + 5 * (uint64_t)spot.len > len)
            continue;
        spot.len *= 5;
        spot.crc = wr_crc32c(0, data + spot.offset, spot.len);
        assert_true(wr_cache_map_reset(&map, i, spot.word));
        assert_true(wr_cache_map_claim(&map, i));
        wr_cache_map_publish(&map, i, &spot);
    }
    wr_cache_map_close(&map);
}

/* A folder is not trusted: an entry that is good in itself, but of another
 * length than the sample, must not go where the sample's place is. */
static void an_entry_of_another_length_is_none(void **state)
{
    struct fx_log plain = {0}, log = {0};
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_stats st;
    struct place p;
    static uint8_t data[1 << 16];
    char spec[300];
    glob_t found;
    FILE *f;
    size_t len;

    (void)state;
    make(&p, FX_TENSORS, 30);
    ds = fx_open(&p.fx, "");
    fx_config(&p.fx, &cfg); /* shuffled: tensors are read into their slots */
    snprintf(spec, sizeof(spec), "%s:64MiB", p.dir);
    cfg.cache = spec;
    feed(&p, ds, &cfg, &plain, &st);
    snprintf(spec, sizeof(spec), "%s/weir-cache-*/*/*", p.dir);
    assert_int_equal(glob(spec, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 2); /* data-0000, map */
    f = fopen(found.gl_pathv[0], "rb");
    assert_non_null(f);
    len = fread(data, 1, sizeof(data), f);
    fclose(f);
    lengthen(found.gl_pathv[1], data, len);
    globfree(&found);
    snprintf(spec, sizeof(spec), "%s:64MiB", p.dir);
    feed(&p, ds, &cfg, &log, &st);
    assert_int_equal(log.hash, plain.hash);
    assert_true(st.cache_damaged > N / 2);
    assert_int_equal(st.cache_dir_hits + st.cache_misses, N);
    fx_log_done(&log);
    fx_log_done(&plain);
    weir_dataset_close(&ds);
    done(&p);
}

/* Bad samples stay bad: they are not kept. */
static void bad_samples_are_not_kept(void **state)
{
    bool bad[N] = {false};
    struct fx_log log = {0};
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_stats st;
    struct place p;

    (void)state;
    make(&p, FX_JPEGS, 1);
    ds = fx_open(&p.fx, "");
    for (uint32_t i = 0; i < N; i += 9) {
        fx_spoil(&p.fx, i, FX_GARBAGE);
        bad[i] = true;
    }
    fx_config(&p.fx, &cfg);
    cfg.cache = "ram:64MiB";
    cfg.epochs = 2;
    feed(&p, ds, &cfg, &log, &st);
    assert_int_equal(st.bad, 2 * 10);
    fx_assert_once(log.ids, log.id_count / 2, bad, N);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    done(&p);
}

static void what_makes_no_sense_is_refused(void **state)
{
    weir_pipeline_config cfg;
    weir_pipeline *pipe = NULL;
    weir_dataset *ds;
    struct place p;
    weir_err err;

    (void)state;
    make(&p, FX_JPEGS, 1);
    ds = fx_open(&p.fx, "");
    fx_config(&p.fx, &cfg);
    cfg.cache = "ram:1MiB";
    cfg.cache_what = WEIR_CACHE_DECODED;
    cfg.picture.flip = 1;
    assert_int_equal(weir_pipeline_open(&pipe, ds, &cfg, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "cache encoded"));
    cfg.picture.flip = 0;
    cfg.stages = WEIR_STAGES_READ;
    assert_int_equal(weir_pipeline_open(&pipe, ds, &cfg, &err), WEIR_EINVAL);
    cfg.stages = WEIR_STAGES_ALL;
    cfg.cache = "ram:nonsense";
    assert_int_equal(weir_pipeline_open(&pipe, ds, &cfg, &err), WEIR_EINVAL);
    assert_null(pipe);
    weir_dataset_close(&ds);
    done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_from_nearer_by),
        cmocka_unit_test(a_part_stays),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(an_entry_of_another_length_is_none),
        cmocka_unit_test(bad_samples_are_not_kept),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
