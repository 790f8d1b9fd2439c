/* test_packed.c - units of the index: every list of filters, in several pieces,
 * with little memory, damaged, and through storage that fails.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../codec/packed.h"
#include "../format/tmpdir.h"
#include "base/mem.h"
#include "base/rng.h"
#include "format/format.h"
#include "pipeline/unit.h"
#include "storage/storage.h"
#include "weir/weir.h"

#define SAMPLE ((size_t)40000)
#define PER    60u /* samples of a unit: 2.4 MB */
#define GAP    13u /* bytes between units */

static const uint32_t lists[] = {
    0,
    WR_FILTERS(WR_FILTER_GZIP, 0, 0, 0),
    WR_FILTERS(WR_FILTER_ZLIB, 0, 0, 0),
    WR_FILTERS(WR_FILTER_DEFLATE, 0, 0, 0),
    WR_FILTERS(WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, 0, 0),
    WR_FILTERS(WR_FILTER_FLETCHER32, WR_FILTER_ZLIB, WR_FILTER_SHUFFLE, 0),
#ifdef WR_HAVE_ZSTD
    WR_FILTERS(WR_FILTER_ZSTD, 0, 0, 0),
#endif
};

#define UNITS WR_ARRAY_LEN(lists)
#define N     (UNITS * PER)

struct kit {
    struct tmpdir tmp;
    struct wr_unit units[UNITS];
    uint64_t size; /* of the file */
};

static const struct wr_format_ops format = {.name = "packed"};

static uint8_t byte_of(uint64_t id, size_t at)
{
    uint64_t x = wr_rng_at(id, 0, at / 8);

    return (uint8_t)(x >> at % 8 * 8);
}

static void write_unit(struct kit *k, unsigned u, FILE *f)
{
    uint8_t *plain = malloc(PER * SAMPLE), *stored;
    struct wr_packing p;

    for (size_t i = 0; i < PER * SAMPLE; i++)
        plain[i] = byte_of(u * PER + i / SAMPLE, i % SAMPLE);
    stored = pack(lists[u], plain, PER * SAMPLE, &p);
    k->size += GAP;
    assert_int_equal(fwrite("thirteen bytes", 1, GAP, f), GAP);
    k->units[u] = (struct wr_unit){.offset = k->size,
                                   .stored = p.stored,
                                   .inflated = p.inflated,
                                   .filters = p.filters,
                                   .argument = p.argument};
    assert_int_equal(fwrite(stored, 1, p.stored, f), p.stored);
    k->size += p.stored;
    free(stored);
    free(plain);
}

static int set_up(void **state)
{
    struct kit *k = calloc(1, sizeof(*k));
    FILE *f;

    assert_non_null(k);
    tmpdir_init(&k->tmp);
    f = fopen(tmpdir_at(&k->tmp, "data"), "wb");
    assert_non_null(f);
    for (unsigned u = 0; u < UNITS; u++)
        write_unit(k, u, f);
    assert_int_equal(fclose(f), 0);
    *state = k;
    return 0;
}

static int tear_down(void **state)
{
    struct kit *k = *state;

    tmpdir_done(&k->tmp);
    free(k);
    return 0;
}

static void make_index(const struct kit *k, struct wr_index *ix)
{
    struct wr_field field = {.name = "data",
                             .pub = {.kind = WEIR_FIELD_TENSOR,
                                     .dtype = WEIR_U8,
                                     .ndim = 1,
                                     .dims = {SAMPLE}}};
    struct wr_run run = {.length = SAMPLE, .count = PER};
    int64_t dir = wr_index_add_dir(ix, "", NULL);

    assert_true(dir >= 0);
    assert_int_equal(wr_index_add_field(ix, &field, NULL), 0);
    assert_true(wr_index_add_object(ix, dir, "data", k->size, NULL) >= 0);
    for (unsigned u = 0; u < UNITS; u++) {
        assert_int_equal(wr_index_add_unit(ix, &k->units[u], NULL), u);
        assert_int_equal(wr_index_add_run(ix, &run, NULL), 0);
    }
    assert_int_equal(wr_index_seal(ix, NULL), 0);
}

static weir_dataset *open_kit(const struct kit *k, const char *prefix)
{
    weir_dataset *ds = calloc(1, sizeof(*ds));
    char *leaf = NULL;

    assert_non_null(ds);
    if (asprintf(&ds->url, "%s%s", prefix, k->tmp.path) < 0)
        abort();
    assert_int_equal(wr_store_open(ds->url, &ds->store, &leaf, NULL), 0);
    free(leaf);
    ds->format = &format;
    ds->index = wr_index_new();
    assert_non_null(ds->index);
    make_index(k, ds->index);
    return ds;
}

/* --- feeding --- */

struct count {
    uint8_t seen[N], bad[N];
    uint64_t requests, good;
};

static void check_sample(const weir_batch *b, uint32_t slot)
{
    const uint8_t *data = (const uint8_t *)b->data + slot * SAMPLE;

    for (size_t at = 0; at < SAMPLE; at += 97)
        if (data[at] != byte_of(b->ids[slot], at))
            fail_msg("sample %d is wrong at %zu", (int)b->ids[slot], at);
}

static void feed(const struct kit *k, const char *prefix,
                 const weir_pipeline_config *cfg, struct count *ret)
{
    weir_dataset *ds = open_kit(k, prefix);
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_stats st;
    weir_err err;
    int r;

    memset(ret, 0, sizeof(*ret));
    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (uint32_t i = 0; i < b->count; i++) {
            check_sample(b, i);
            ret->seen[b->ids[i]]++;
            ret->good++;
        }
        weir_batch_release(b);
    }
    if (r < 0)
        fail_msg("%s", err.msg);
    for (uint64_t i = 0; i < weir_pipeline_bad_count(p); i++)
        ret->bad[weir_pipeline_bad(p, i)->id]++;
    weir_pipeline_stats(p, &st);
    ret->requests = st.requests;
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

static void base_config(weir_pipeline_config *cfg)
{
    weir_pipeline_defaults(cfg);
    cfg->picture.dtype = WEIR_U8;
    cfg->batch = 7;
    cfg->threads = 2;
    cfg->depth = 6;
}

static void assert_all_once(const struct count *c)
{
    for (size_t i = 0; i < N; i++)
        if (c->seen[i] != 1 || c->bad[i])
            fail_msg("sample %zu came %d times, bad %d", i, c->seen[i],
                     c->bad[i]);
}

/* All pieces of all units; the last one of gzip may not be needed. */
static void assert_read_once(const struct kit *k, const struct count *c)
{
    uint64_t sum = 0;

    for (unsigned u = 0; u < UNITS; u++) {
        uint64_t skip = k->units[u].offset % WR_DIRECT_ALIGN;

        sum += (skip + k->units[u].stored + WR_UNIT_PIECE - 1) / WR_UNIT_PIECE;
    }
    assert_in_range(c->requests, sum - 1, sum);
}

/* Every way to read them; with memory for all of them each is read once. */
static void every_way(void **state)
{
    static const struct {
        uint32_t threads, depth;
        enum weir_io io;
        int direct;
        uint64_t memory;
    } ways[] = {
        {1, 1, WEIR_IO_AUTO, 0, 0},      {3, 8, WEIR_IO_AUTO, 1, 0},
        {4, 20, WEIR_IO_BLOCKING, 0, 0}, {2, 3, WEIR_IO_BLOCKING, 1, 0},
        {3, 8, WEIR_IO_AUTO, 0, 1},      {2, 16, WEIR_IO_AUTO, 0, 6 << 20},
    };
    struct count *c = malloc(sizeof(*c));

    for (size_t w = 0; w < WR_ARRAY_LEN(ways); w++)
        for (int block = 0; block < 2; block++) {
            weir_pipeline_config cfg;

            base_config(&cfg);
            cfg.order = block ? WEIR_ORDER_BLOCK : WEIR_ORDER_SEQUENTIAL;
            cfg.threads = ways[w].threads;
            cfg.depth = ways[w].depth;
            cfg.io = ways[w].io;
            cfg.direct = ways[w].direct;
            cfg.memory = ways[w].memory;
            feed(*state, "", &cfg, c);
            assert_all_once(c);
            if (!ways[w].memory)
                assert_read_once(*state, c);
        }
    free(c);
}

/* In any order, and kept in memory for the next epoch. */
static void shuffled_and_kept(void **state)
{
    struct count *c = malloc(sizeof(*c));
    weir_pipeline_config cfg;

    base_config(&cfg);
    cfg.epochs = 2;
    feed(*state, "", &cfg, c);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(c->seen[i], 2);
    assert_read_once(*state, c);
    free(c);
}

/* A read that fails is repeated: no sample is lost for it. Fewer than 40 are
 * sent before that, so none fails twice. */
static void a_failed_read_is_repeated(void **state)
{
    static const char *const rules[] = {
        "fault:eio@%41:", "fault:short=1000@%43:", "fault:delay=3@%2:"};
    struct count *c = malloc(sizeof(*c));
    weir_pipeline_config cfg;

    base_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++) {
        feed(*state, rules[k], &cfg, c);
        assert_all_once(c);
    }
    free(c);
}

/* One that always fails makes its unit's samples bad, once each. */
static void a_unit_that_cannot_be_read(void **state)
{
    struct count *c = malloc(sizeof(*c));
    weir_pipeline_config cfg;

    base_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    /* Behind the pieces of the first unit, and of the second, which may be
     * loaded at the same time. */
    feed(*state, "fault:eio@26+:", &cfg, c);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(c->seen[i] + c->bad[i], 1);
        assert_int_equal(c->seen[i], c->seen[i - i % PER]);
    }
    assert_int_equal(c->seen[0], 1);
    assert_int_equal(c->bad[N - 1], 1);
    free(c);
}

static void damage(const struct kit *k, uint64_t at)
{
    FILE *f = fopen(tmpdir_at(&k->tmp, "data"), "r+b");
    int c;

    assert_non_null(f);
    fseek(f, (long)at, SEEK_SET);
    c = fgetc(f);
    fseek(f, (long)at, SEEK_SET);
    fputc(c ^ 0x10, f);
    fclose(f);
}

/* Bytes that are damaged cost the samples of their unit; behind what is wanted
 * of a gzip object, nothing. */
static void damaged_units(void **state)
{
    struct count *c = malloc(sizeof(*c));
    struct kit *k = *state;
    weir_pipeline_config cfg;

    base_config(&cfg);
    for (unsigned u = 1; u < UNITS; u++) {
        uint64_t at = k->units[u].offset + k->units[u].stored / 2;

        damage(k, at);
        feed(k, "", &cfg, c);
        damage(k, at);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(c->seen[i] + c->bad[i], 1);
            if (i / PER != u)
                assert_int_equal(c->bad[i], 0);
        }
        /* As far as it is indexed, gzip has no checksum; zstd has none. */
        if (lists[u] != WR_FILTER_GZIP && lists[u] != WR_FILTER_ZSTD)
            assert_int_equal(c->bad[u * PER], 1);
    }
    damage(k, k->units[1].offset + k->units[1].stored - 6); /* the CRC-32 */
    feed(k, "", &cfg, c);
    assert_all_once(c);
    free(c);
}

/* Closed at any time: nothing waits, nothing leaks. */
static void closed_early(void **state)
{
    weir_dataset *ds = open_kit(*state, "fault:delay=5:");
    weir_pipeline_config cfg;

    base_config(&cfg);
    for (unsigned k = 0; k < 12; k++) {
        weir_pipeline *p = NULL;
        const weir_batch *b = NULL;

        assert_int_equal(weir_pipeline_open(&p, ds, &cfg, NULL), 0);
        for (unsigned n = 0; n < k; n++)
            if (weir_pipeline_next(p, &b, NULL) > 0)
                weir_batch_release(b);
        weir_pipeline_close(&p);
    }
    weir_dataset_close(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),
        cmocka_unit_test(shuffled_and_kept),
        cmocka_unit_test(a_failed_read_is_repeated),
        cmocka_unit_test(a_unit_that_cannot_be_read),
        cmocka_unit_test(damaged_units),
        cmocka_unit_test(closed_early),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
