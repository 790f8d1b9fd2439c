/* test_three.c - samples of three fields keep every promise that pictures have.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Images, masks and weights in every order, tier, number of ranks and policy:
 * the order is that of the model, which knows of no fields; all fields of a
 * sample come together; a bad field makes the sample bad, once, and is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "threekit.h"

#define EPOCHS 2u
#define TIERS  7u

static struct tk sets[TK_KINDS], twins;
static weir_dataset *open_sets[TK_KINDS];
static struct tmpdir tier;

/* What the ranks of a run delivered and named. */
struct tally {
    uint8_t seen[EPOCHS][TK_N], bad[EPOCHS][TK_N];
    uint64_t ids[EPOCHS * 2 * TK_N]; /* of this rank */
    size_t id_count;
    uint64_t hits;
    char text[TK_N][300]; /* of bad samples */
};

/* --- running --- */

static void check_batch(const struct tk *tk, const weir_batch *b,
                        struct tally *t)
{
    const float *weight = tk_field(b, "weight")->data;
    const int64_t *label = tk_field(b, "label")->data;

    assert_int_equal(b->field_count, 4);
    assert_ptr_equal(b->data, tk_field(b, "image")->data);
    assert_int_equal(tk_field(b, "mask")->shape[0], b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t id = b->ids[i];

        assert_true(id < TK_N);
        if (tk_hash(b, i) != tk->hash[id])
            fail_msg("sample %d has wrong fields", (int)id);
        assert_true(weight[i] == tk_weight(id));
        assert_int_equal(label[i], tk_label(id));
        assert_int_equal(b->labels[i], tk_label(id));
        assert_int_equal(b->lengths[i],
                         tk->sizes[TK_IMAGE][id] + tk->sizes[TK_MASK][id]);
        if (i < b->unique)
            t->seen[b->epoch][id]++;
        t->ids[t->id_count++] = id;
    }
}

static void note_bad(const weir_pipeline *p, struct tally *t)
{
    for (uint64_t k = 0; k < weir_pipeline_bad_count(p); k++) {
        const weir_bad_sample *s = weir_pipeline_bad(p, k);

        t->bad[s->epoch][s->id]++;
        snprintf(t->text[s->id], sizeof(t->text[0]), "%s", s->text);
    }
}

static weir_pipeline *start(const weir_dataset *ds,
                            const weir_pipeline_config *cfg)
{
    weir_pipeline *p = NULL;
    weir_err err;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return p;
}

/* One rank, at most `most` batches; the last return of _next. */
static int take(const struct tk *tk, weir_pipeline *p, size_t most,
                struct tally *t, weir_err *err)
{
    const weir_batch *b;
    int r = 1;

    t->id_count = 0;
    while (most-- && (r = weir_pipeline_next(p, &b, err)) > 0) {
        check_batch(tk, b, t);
        weir_batch_release(b);
    }
    return r;
}

static int run(const struct tk *tk, const weir_dataset *ds,
               const weir_pipeline_config *cfg, struct tally *t, weir_err *err)
{
    weir_pipeline *p = start(ds, cfg);
    weir_stats st;
    int r = take(tk, p, SIZE_MAX, t, err);

    note_bad(p, t);
    weir_pipeline_stats(p, &st);
    t->hits += st.cache_ram_hits + st.cache_dir_hits;
    weir_pipeline_close(&p);
    return r;
}

/* The order is the model's. */
static void check_order(const weir_pipeline_config *cfg, const bool *bad,
                        const struct tally *t)
{
    size_t at = 0;

    for (uint64_t e = 0; e < cfg->epochs; e++) {
        struct model m = {.cfg = cfg, .n = TK_N, .epoch = e, .bad = bad};

        model_play(&m);
        assert_true(at + m.out.id_count <= t->id_count);
        assert_memory_equal(t->ids + at, m.out.ids,
                            m.out.id_count * sizeof(*t->ids));
        at += m.out.id_count;
        model_done(&m);
    }
    assert_int_equal(at, t->id_count);
}

/* All ranks: every sample once an epoch, or named once. */
static void run_ranks(const struct tk *tk, const weir_dataset *ds,
                      weir_pipeline_config *cfg, const bool *bad,
                      struct tally *t)
{
    bool drops = cfg->remainder == WEIR_REMAINDER_DROP;
    weir_err err = {0};

    for (cfg->rank = 0; cfg->rank < cfg->world; cfg->rank++) {
        if (run(tk, ds, cfg, t, &err) != 0)
            fail_msg("%s", err.msg);
        check_order(cfg, bad, t);
    }
    for (uint32_t e = 0; e < cfg->epochs; e++)
        for (uint32_t i = 0; i < TK_N; i++) {
            unsigned seen = t->seen[e][i], named = t->bad[e][i];

            if (seen > 1 || named > (bad[i] ? 1 : 0) || (bad[i] && seen) ||
                (!drops && seen + named != 1))
                fail_msg("epoch %u: sample %u came %u times, was bad %u", e, i,
                         seen, named);
        }
}

/* --- tiers --- */

static void set_tier(unsigned how, weir_pipeline_config *cfg, char *spec)
{
    static unsigned turn;
    char name[32];

    if (!how)
        return;
    snprintf(name, sizeof(name), "%u", turn++); /* each begins empty */
    tmpdir_mkdir(&tier, name);
    if (how <= 2)
        strcpy(spec, "ram:8MiB");
    else
        snprintf(spec, 400, "%s%s:8MiB", how <= 4 ? "" : "ram:40KiB,",
                 tmpdir_at(&tier, name));
    cfg->cache = spec;
    cfg->cache_what = how % 2 ? WEIR_CACHE_ENCODED : WEIR_CACHE_DECODED;
}

/* --- the promises --- */

static const bool none[TK_N];

static void every_order_tier_and_number_of_ranks(void **state)
{
    unsigned how = 0;

    (void)state;
    for (unsigned kind = 0; kind < TK_KINDS; kind++)
        for (unsigned order = 0; order < 3; order++)
            for (unsigned tiers = 0; tiers < TIERS; tiers++)
                for (unsigned world = 1; world <= 3; world++, how++) {
                    weir_pipeline_config cfg;
                    struct tally t = {0};
                    char spec[400];

                    tk_config(&cfg);
                    cfg.order = (enum weir_order)order;
                    cfg.block_samples = 4;
                    cfg.block_window = 3;
                    cfg.world = world;
                    cfg.seed = how;
                    cfg.epochs = EPOCHS;
                    cfg.remainder = (enum weir_remainder)(how % 3);
                    cfg.prefetch = how % 4;
                    cfg.io = how % 5 ? WEIR_IO_AUTO : WEIR_IO_BLOCKING;
                    cfg.direct = how % 7 == 3;
                    set_tier(tiers, &cfg, spec);
                    run_ranks(&sets[kind], open_sets[kind], &cfg, none, &t);
                    if (tiers && !t.hits)
                        fail_msg("nothing came from '%s'", spec);
                }
}

/* 3: its image, 7: its mask, 11: both, 44: its mask, the last of all. */
static void choose_bad(bool *bad, bool spoil)
{
    static const struct {
        enum tk_column column;
        uint32_t i;
    } harms[] = {{TK_IMAGE, 3}, {TK_MASK, 7},  {TK_IMAGE, 11},
                 {TK_MASK, 11}, {TK_MASK, 44}, {TK_IMAGE, 30}};

    for (unsigned k = 0; k < sizeof(harms) / sizeof(harms[0]); k++) {
        bad[harms[k].i] = true;
        if (spoil)
            tk_spoil(&sets[TK_FILES], harms[k].column, harms[k].i);
        else
            tk_mend(&sets[TK_FILES], harms[k].column, harms[k].i);
    }
}

static void check_texts(const struct tally *t)
{
    const struct {
        uint32_t i;
        const char *begins;
    } said[] = {{3, "field 'image': 'image/00003.pic'"},
                {7, "field 'mask': 'mask/00007.pic'"},
                {44, "field 'mask': 'mask/00044.pic'"},
                {30, "field 'image': 'image/00030.pic'"}};

    for (unsigned k = 0; k < sizeof(said) / sizeof(said[0]); k++) {
        const char *text = t->text[said[k].i];

        if (*text && strncmp(text, said[k].begins, strlen(said[k].begins)) != 0)
            fail_msg("sample %u: %s", said[k].i, text);
    }
}

static void a_bad_field_makes_its_sample_bad_once(void **state)
{
    bool bad[TK_N] = {0};

    (void)state;
    choose_bad(bad, /* spoil= */ true);
    for (unsigned how = 0; how < 3 * TIERS * 3; how++) {
        weir_pipeline_config cfg;
        struct tally t = {0};
        char spec[400];

        tk_config(&cfg);
        cfg.order = (enum weir_order)(how % 3);
        cfg.block_samples = 4;
        cfg.block_window = 3;
        cfg.seed = how;
        cfg.epochs = EPOCHS;
        cfg.world = 1 + how / 3 % 3;
        cfg.remainder = (enum weir_remainder)(how / 2 % 3);
        set_tier(how / 9, &cfg, spec);
        run_ranks(&sets[TK_FILES], open_sets[TK_FILES], &cfg, bad, &t);
        check_texts(&t);
    }
    choose_bad(bad, /* spoil= */ false);
}

static void a_bad_field_fails_the_run_if_asked(void **state)
{
    bool bad[TK_N] = {0};
    weir_pipeline_config cfg;
    struct tally t = {0};
    weir_err err = {0};

    (void)state;
    tk_spoil(&sets[TK_FILES], TK_MASK, 9);
    tk_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.on_error = WEIR_ON_ERROR_FAIL;
    assert_true(run(&sets[TK_FILES], open_sets[TK_FILES], &cfg, &t, &err) < 0);
    assert_non_null(strstr(err.msg, "field 'mask'"));
    tk_mend(&sets[TK_FILES], TK_MASK, 9);

    choose_bad(bad, /* spoil= */ true); /* five samples, six fields */
    cfg.on_error = WEIR_ON_ERROR_SKIP;
    cfg.max_bad = 5;
    memset(&t, 0, sizeof(t));
    assert_int_equal(run(&sets[TK_FILES], open_sets[TK_FILES], &cfg, &t, &err),
                     0);
    cfg.max_bad = 4;
    memset(&t, 0, sizeof(t));
    assert_true(run(&sets[TK_FILES], open_sets[TK_FILES], &cfg, &t, &err) < 0);
    assert_non_null(strstr(err.msg, "more than 4 bad samples"));
    choose_bad(bad, /* spoil= */ false);
}

/* A unit that is damaged costs the samples that have a field in it, once. */
static void a_bad_unit_costs_its_samples(void **state)
{
    const struct tk *tk = &sets[TK_GZIPPED];
    bool bad[TK_N] = {0};
    size_t len;
    char *kept = tmpdir_get(&tk->tmp, "mask/1.gz", &len);
    char *cut = tmpdir_get(&tk->tmp, "mask/1.gz", &len);

    (void)state;
    memset(cut, 0, 10); /* its header */
    tmpdir_put(&tk->tmp, "mask/1.gz", cut, len);
    for (uint32_t i = TK_SHARD; i < 2 * TK_SHARD; i++)
        bad[i] = true;
    for (unsigned how = 0; how < 9; how++) {
        weir_pipeline_config cfg;
        struct tally t = {0};

        tk_config(&cfg);
        cfg.order = (enum weir_order)(how % 3);
        cfg.block_samples = 4;
        cfg.world = 1 + how / 3;
        cfg.epochs = EPOCHS;
        run_ranks(tk, open_sets[TK_GZIPPED], &cfg, bad, &t);
        assert_non_null(strstr(t.text[20], "field 'mask'"));
    }
    tmpdir_put(&tk->tmp, "mask/1.gz", kept, len);
    free(kept);
    free(cut);
}

static void resumed_with_other_ranks(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < TK_KINDS; kind++) {
        uint8_t states[2][2000];
        const void *at[2] = {states[0], states[1]};
        size_t len[2];
        weir_pipeline_config cfg;
        struct tally t = {0};
        weir_err err = {0};

        tk_config(&cfg);
        cfg.world = 2;
        cfg.seed = kind;
        for (cfg.rank = 0; cfg.rank < 2; cfg.rank++) {
            weir_pipeline *p = start(open_sets[kind], &cfg);

            assert_int_equal(take(&sets[kind], p, 3, &t, &err), 1);
            len[cfg.rank] = weir_pipeline_state(p, states[cfg.rank], 2000);
            weir_pipeline_close(&p);
        }
        cfg.resume = at;
        cfg.resume_len = len;
        cfg.resume_count = 2;
        cfg.world = 3;
        for (cfg.rank = 0; cfg.rank < 3; cfg.rank++)
            assert_int_equal(run(&sets[kind], open_sets[kind], &cfg, &t, &err),
                             0);
        for (uint32_t i = 0; i < TK_N; i++)
            assert_int_equal(t.seen[0][i], 1);
    }
}

/* Where the mask is the image again, so are all crops and flips of it. */
static void images_and_masks_are_cropped_alike(void **state)
{
    weir_dataset *ds = tk_open(&twins, "");
    weir_pipeline_config cfg;
    const weir_batch *b;
    weir_pipeline *p;
    uint64_t before = 0, samples = 0, changed = 0;

    (void)state;
    tk_config(&cfg);
    cfg.picture.crop = WEIR_CROP_RANDOM;
    cfg.picture.flip = 1;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.epochs = 3;
    p = start(ds, &cfg);
    while (weir_pipeline_next(p, &b, NULL) > 0) {
        const weir_batch_field *image = tk_field(b, "image");
        const weir_batch_field *mask = tk_field(b, "mask");

        assert_int_equal(image->bytes, mask->bytes);
        assert_memory_equal(image->data, mask->data, image->bytes);
        if (b->ids[0] == 0) {
            changed += tk_hash(b, 0) != before;
            before = tk_hash(b, 0);
        }
        samples += b->count;
        weir_batch_release(b);
    }
    assert_int_equal(samples, 3 * TK_N);
    assert_int_equal(changed, 3); /* another crop in each epoch */
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

static int set_up(void **state)
{
    (void)state;
    tmpdir_init(&tier);
    for (unsigned k = 0; k < TK_KINDS; k++) {
        tk_make(&sets[k], (enum tk_kind)k, /* twins= */ false);
        tk_learn(&sets[k]);
        assert_memory_equal(sets[k].hash, sets[0].hash, sizeof(sets[0].hash));
        open_sets[k] = tk_open(&sets[k], "");
    }
    tk_make(&twins, TK_SHARDS, /* twins= */ true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned k = 0; k < TK_KINDS; k++) {
        weir_dataset_close(&open_sets[k]);
        tk_done(&sets[k]);
    }
    tk_done(&twins);
    tmpdir_done(&tier);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_tier_and_number_of_ranks),
        cmocka_unit_test(a_bad_field_makes_its_sample_bad_once),
        cmocka_unit_test(a_bad_field_fails_the_run_if_asked),
        cmocka_unit_test(a_bad_unit_costs_its_samples),
        cmocka_unit_test(resumed_with_other_ranks),
        cmocka_unit_test(images_and_masks_are_cropped_alike),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
