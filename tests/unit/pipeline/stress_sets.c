/* stress_sets.c - the data sets of the engine's stress test.
 * SPDX-License-Identifier: Apache-2.0 */
#include "stress_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "format/writer.h"
#include "../format/tensorfiles.h"

void ss_run(const char *fmt, ...)
{
    char cmd[2000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(cmd, sizeof(cmd), fmt, ap);
    va_end(ap);
    if (system(cmd))
        fail_msg("cannot run: %s", cmd);
}

static size_t slurp(const char *path, uint8_t *buf, size_t cap)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(buf, 1, cap, f) : 0;

    assert_true(f && n > 0 && n < cap);
    fclose(f);
    return n;
}

/* Shards of the pictures of the tree. */
static void make_records(struct place *pl, const char *dir)
{
    uint32_t n = pl->jpegs.n;
    uint8_t picture[4096];
    char path[700];

    for (uint32_t from = 0; from < n; from += SHARD) {
        struct wr_bytes out = {0};
        FILE *f;

        for (uint32_t i = from; i < WR_MIN(from + SHARD, n); i++) {
            struct wr_write_sample s = {.bytes = picture, .label = i % 7};

            snprintf(path, sizeof(path), "%s/%c/%05u.jpg", pl->jpegs.dir,
                     fx_label(&pl->jpegs, i) ? 'b' : 'a', i);
            s.len = slurp(path, picture, sizeof(picture));
            s.key = path;
            assert_int_equal(wr_writer_tfrecord.add(&out, &s, NULL), 0);
        }
        snprintf(path, sizeof(path), "%s/%05u.tfrecord", dir, from);
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(out.bytes, 1, out.len, f), out.len);
        fclose(f);
        free(out.bytes);
    }
}

weir_dataset *ss_open(const struct set *s, const char *prefix)
{
    weir_dataset_config dc;
    weir_dataset *ds = NULL;
    char url[500];

    if (s->kit)
        return tk_open(s->kit, prefix);
    weir_dataset_defaults(&dc);
    dc.no_index_cache = 1;
    snprintf(url, sizeof(url), "%s%s", prefix, s->dir);
    if (weir_dataset_open(&ds, url, &dc, NULL) < 0)
        return NULL;
    if (weir_dataset_count(ds) != s->n) /* a fault hit the indexer */
        weir_dataset_close(&ds);
    return ds;
}

void ss_config(weir_pipeline_config *cfg)
{
    weir_pipeline_defaults(cfg);
    cfg->picture.dtype = WEIR_U8;
    cfg->picture.width = cfg->picture.height = 8;
    cfg->order = WEIR_ORDER_SEQUENTIAL;
    cfg->block_samples = 1; /* nothing is joined */
    cfg->batch = 1;
    cfg->threads = cfg->depth = 1;
    cfg->prefetch = 0;
}

/* What the samples are, one after another. */
static void learn(struct set *s)
{
    weir_dataset *ds = ss_open(s, "");
    weir_pipeline_config cfg;

    assert_non_null(ds);
    ss_config(&cfg);
    for (int reading = 0; reading < 2; reading++) {
        weir_pipeline *p;
        const weir_batch *b;

        cfg.stages = reading ? WEIR_STAGES_READ : WEIR_STAGES_ALL;
        p = fx_start(ds, &cfg);
        for (uint32_t i = 0; i < s->n; i++) {
            assert_int_equal(weir_pipeline_next(p, &b, NULL), 1);
            assert_int_equal(b->ids[0], i);
            s->labels[reading][i] = b->labels[0];
            if (!reading)
                s->hash[i] = tk_hash(b, 0);
            weir_batch_release(b);
        }
        weir_pipeline_close(&p);
    }
    weir_dataset_close(&ds);
}

/* Samples of one field. */
static void make_set(struct place *pl, unsigned k)
{
    static const char *const names[] = {"tensors", "jpegs", "records",
                                        "gzipped", "pieces"};
    struct set *s = &pl->sets[k];

    s->name = names[k];
    s->n = k == TENSORS ? pl->tensors.n : pl->jpegs.n;
    s->checked = k >= RECORDS;
    if (k < RECORDS) {
        snprintf(s->dir, sizeof(s->dir), "%s",
                 k == TENSORS ? pl->tensors.dir : pl->jpegs.dir);
    } else {
        snprintf(s->dir, sizeof(s->dir), "%s/%s", pl->root, names[k]);
        assert_int_equal(mkdir(s->dir, 0777), 0);
        make_records(pl, s->dir);
    }
    if (k >= GZIPPED)
        ss_run("gzip -1 '%s'/*.tfrecord", s->dir);
    if (k == PIECES)
        fx_lengthen(s->dir);
}

/* Files of four arrays each: two of tensors, a weight and a label per sample. */
static void make_npz(struct place *pl, unsigned k)
{
    struct set *s = &pl->sets[k];
    uint8_t bytes[FX_BYTES * SHARD];
    int64_t labels[SHARD];
    struct tmpdir t;

    s->name = k == NPZ ? "npz" : "npz deflated";
    s->several = true;
    s->n = 4 * SHARD;
    snprintf(t.path, sizeof(t.path), "%.200s/npz%u", pl->root, k);
    snprintf(s->dir, sizeof(s->dir), "%s", t.path);
    assert_int_equal(mkdir(s->dir, 0777), 0);
    for (unsigned f = 0; f < 4; f++) {
        const struct npz_spec arrays[] = {
            {"x", "|u1", "(24, 4, 4, 3)", bytes, sizeof(bytes), false},
            {"mask", "|u1", "(24, 4, 4)", bytes + 7, SHARD * 16, false},
            {"weight", "<f4", "(24,)", bytes + 400, SHARD * 4, false},
            {"label", "<i8", "(24,)", labels, sizeof(labels), false},
            {0}};
        char name[16];

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = fx_byte(f, i) & 0x3f;
        for (int64_t i = 0; i < SHARD; i++)
            labels[i] = i % 5;
        snprintf(name, sizeof(name), "%u.npz", f);
        put_npz(&t, name, arrays, /* deflate= */ k == DEFLATED);
    }
}

/* The same samples of three fields in files, shards and gzip shards. */
static void make_three(struct place *pl, unsigned k)
{
    static const char *const names[] = {"three", "three in shards",
                                        "three gzipped"};

    tk_make(&pl->three[k], (enum tk_kind)k, /* twins= */ false);
    pl->sets[THREE + k] = (struct set){
        .name = names[k], .n = TK_N, .several = true, .kit = &pl->three[k]};
}

/* Files of two fields that are cut into tiles, a weight and a label. */
static void make_tiles(struct place *pl)
{
    struct set *s = &pl->sets[TILES];

    s->name = "tiles";
    s->several = true;
    s->n = 4 * SHARD;
    snprintf(s->dir, sizeof(s->dir), "%s/tiles", pl->root);
    assert_int_equal(mkdir(s->dir, 0777), 0);
    ss_run("cp " WEIR_TEST_DATA "/hdf5/stress-*.h5 '%s'", s->dir);
}

struct place *ss_make(void)
{
    struct place *pl = calloc(1, sizeof(*pl));
    const char *base = getenv("TMPDIR");

    assert_non_null(pl);
    snprintf(pl->root, sizeof(pl->root), "%s/weir-stress-XXXXXX",
             base ? base : "/tmp");
    assert_non_null(mkdtemp(pl->root));
    fx_make(&pl->tensors, FX_TENSORS, 203, 64);
    fx_make(&pl->jpegs, FX_JPEGS, 110, 1);
    for (unsigned k = 0; k < SETS; k++) {
        if (k < NPZ)
            make_set(pl, k);
        else if (k < THREE)
            make_npz(pl, k);
        else if (k < TILES)
            make_three(pl, k - THREE);
        else
            make_tiles(pl);
        learn(&pl->sets[k]);
    }
    snprintf(pl->tier, sizeof(pl->tier), "%s/tier", pl->root);
    assert_int_equal(mkdir(pl->tier, 0777), 0);
    return pl;
}

void ss_done(struct place *pl)
{
    fx_done(&pl->tensors);
    fx_done(&pl->jpegs);
    for (unsigned k = 0; k < TK_KINDS; k++)
        tk_done(&pl->three[k]);
    ss_run("rm -rf '%s'", pl->root);
    free(pl);
}
