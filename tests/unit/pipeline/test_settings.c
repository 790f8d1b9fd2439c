/* test_settings.c - the table of settings: keys, bytes, names, defaults.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "fixture.h"
#include "pipeline/config.h"
#include "pipeline/settings.h"

#define N    12
#define SIDE 2
#define MOST (4 * 4 * 3 * sizeof(float)) /* bytes of a sample */

static struct fx fx;
static weir_dataset *ds;

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_JPEGS, N, 1);
    ds = fx_open(&fx, "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    fx_done(&fx);
    return 0;
}

/* Everything that a setting could change shows in these. */
static weir_pipeline_config base(void)
{
    weir_pipeline_config cfg;

    weir_pipeline_defaults(&cfg);
    cfg.batch = 4;
    cfg.picture.width = cfg.picture.height = SIDE;
    cfg.picture.crop = WEIR_CROP_CENTER;
    cfg.cache_what = WEIR_CACHE_DECODED;
    return cfg;
}

/* --- values that a setting does not have --- */

static const char *other(const struct wr_setting *s,
                         const weir_pipeline_config *cfg, unsigned k, char *buf,
                         size_t cap)
{
    const void *at = wr_setting_at(s, cfg);
    char now[64];
    int n = 0;

    if (s->value.type == WR_VALUE_CHOICE) {
        weir_config_get(cfg, s->name, now, sizeof(now), NULL);
        for (unsigned i = 0; s->value.choices[i].name; i++)
            if (strcmp(s->value.choices[i].name, now) && !k--)
                return s->value.choices[i].name;
        return NULL;
    }
    if (k)
        return NULL;
    switch (s->value.type) {
    case WR_VALUE_YES:
        return "yes";
    case WR_VALUE_U32:
        snprintf(buf, cap, "%u",
                 s->value.odd ? 1 : (unsigned)(*(const uint32_t *)at + 1));
        return buf;
    case WR_VALUE_U64:
        snprintf(buf, cap, "%llu",
                 (unsigned long long)(*(const uint64_t *)at + 1));
        return buf;
    case WR_VALUE_BYTES:
        return "64MiB";
    case WR_VALUE_SIDES:
        return "3x4";
    case WR_VALUE_TEXT:
        return !strcmp(s->name, "cache") ? "ram:1MiB" : "image";
    default:
        for (unsigned i = 0; i < s->value.count; i++)
            n += wr_snprintf(buf + n, cap - (size_t)n, "%s%g", i ? "," : "",
                             (double)((const float *)at)[i] / 2 + 0.125);
        return buf;
    }
}

/* Some mean nothing, or are refused, without another one. */
static void set(weir_pipeline_config *cfg, const struct wr_setting *s,
                const char *value)
{
    weir_err err;

    if (!strcmp(s->name, "rank"))
        cfg->world = 2;
    if (!strcmp(s->name, "part"))
        cfg->holdout = 0.25f;
    if (!strcmp(s->name, "holdout"))
        cfg->part = WEIR_PART_TRAIN;
    if (!strncmp(s->name, "crop_", 5) && s->flags & WR_SET_FRESH)
        cfg->picture.crop = WEIR_CROP_RANDOM;
    if (weir_config_set(cfg, s->name, value, &err) < 0)
        fail_msg("%s", err.msg);
}

/* --- bytes by sample --- */

struct bytes {
    size_t len[N];
    uint8_t of[N][MOST];
};

/* False: this machine has no such I/O engine. */
static bool deliver(const weir_pipeline_config *cfg, struct bytes *ret)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;
    int r = weir_pipeline_open(&p, ds, cfg, &err);

    memset(ret, 0, sizeof(*ret));
    if (r == WEIR_ENOTSUP && cfg->io == WEIR_IO_URING)
        return false;
    while (r >= 0 && (r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (uint32_t i = 0; i < b->count && b->data; i++) {
            size_t len = b->bytes / b->count;

            assert_true(len <= MOST);
            ret->len[b->ids[i]] = len;
            memcpy(ret->of[b->ids[i]], (const uint8_t *)b->data + i * len, len);
        }
        weir_batch_release(b);
    }
    if (r < 0)
        fail_msg("%s", err.msg);
    weir_pipeline_close(&p);
    return true;
}

/* Samples that both have; how many of them differ. */
static unsigned compare(const struct bytes *a, const struct bytes *b,
                        unsigned *ret_both)
{
    unsigned differ = 0;

    *ret_both = 0;
    for (unsigned i = 0; i < N; i++) {
        if (!a->len[i] || !b->len[i])
            continue;
        ++*ret_both;
        differ += a->len[i] != b->len[i] ||
                  memcmp(a->of[i], b->of[i], a->len[i]) != 0;
    }
    return differ;
}

/* The whole table: what changes the bytes changes the key, or cannot be cached;
 * what does not leaves both alone. */
static void each_setting_tells_the_truth(void **state)
{
    const weir_pipeline_config plain = base();
    static struct bytes want, got;
    unsigned tried = 0;

    (void)state;
    assert_true(deliver(&plain, &want));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        char buf[64];
        const char *value;

        for (unsigned k = 0; (value = other(s, &plain, k, buf, sizeof(buf)));
             k++) {
            weir_pipeline_config cfg = plain;
            bool changes = s->key || s->flags & WR_SET_ALIAS, same_key;
            unsigned both, differ;

            tried++;
            set(&cfg, s, value);
            if (s->flags & WR_SET_FRESH) {
                cfg.cache = "ram:1MiB";
                assert_int_equal(wr_config_check(&cfg, NULL), WEIR_EINVAL);
                continue;
            }
            same_key = wr_settings_key(&cfg) == wr_settings_key(&plain);
            if (strcmp(s->name, "cache_what") && same_key == changes)
                fail_msg("%s=%s: the key %s", s->name, value,
                         changes ? "stays" : "changes");
            if (!deliver(&cfg, &got))
                continue;
            differ = compare(&want, &got, &both);
            if (!both)
                fail_msg("%s=%s: nothing was delivered", s->name, value);
            /* no EXIF in these files: test_orient has some */
            if ((differ != 0) != changes && strcmp(s->name, "orient"))
                fail_msg("%s=%s: %u of %u samples differ", s->name, value,
                         differ, both);
        }
    }
    assert_true(tried >= wr_setting_count);
}

/* As it was computed before there was a table. */
static uint64_t old_key(const weir_pipeline_config *c)
{
    const weir_picture_config *p = &c->picture;
    struct {
        uint64_t what, width, height, channels, dtype, layout, resize;
        uint64_t decode, crop;
        float mean[3], std[3], center;
        uint32_t orient;
    } key = {.what = 0};

    if (c->cache_what == WEIR_CACHE_DECODED) {
        key.what = 1;
        key.width = p->width;
        key.height = p->height;
        key.channels = p->channels;
        key.dtype = p->dtype;
        key.layout = p->layout;
        key.resize = p->resize;
        key.decode = p->decode;
        key.crop = p->crop;
        key.center = p->crop_center;
        key.orient = p->orient;
        memcpy(key.mean, p->mean, sizeof(key.mean));
        memcpy(key.std, p->std, sizeof(key.std));
    }
    return XXH3_64bits(&key, sizeof(key));
}

static void caches_of_users_stay(void **state)
{
    weir_pipeline_config cfg;

    (void)state;
    weir_pipeline_defaults(&cfg);
    assert_int_equal(wr_settings_key(&cfg), old_key(&cfg));
    assert_int_equal(wr_settings_key(&cfg), UINT64_C(0xd007001b1d5ce4ce));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        const weir_pipeline_config plain = base();
        char buf[64];
        const char *value;

        for (unsigned k = 0; (value = other(s, &plain, k, buf, sizeof(buf)));
             k++) {
            cfg = plain;
            set(&cfg, s, value);
            if (s->key != WR_KEY_NEW)
                assert_int_equal(wr_settings_key(&cfg), old_key(&cfg));
        }
    }
}

/* Every default that a program could rely on. */
static void defaults_stay(void **state)
{
    weir_pipeline_config c, want = {
                                .size = sizeof(want),
                                .batch = 64,
                                .picture = {.width = 224,
                                            .height = 224,
                                            .channels = 3,
                                            .mean = {0.485f, 0.456f, 0.406f},
                                            .std = {0.229f, 0.224f, 0.225f},
                                            .crop_center = 0.875f,
                                            .crop_area = {0.08f, 1},
                                            .crop_ratio = {3.0f / 4, 4.0f / 3}},
                                .block_window = 16,
                                .epochs = 1,
                                .world = 1,
                                .depth = 32,
                                .prefetch = 1,
                            };

    (void)state;
    weir_pipeline_defaults(&c);
    for (const struct wr_setting *s = wr_settings; s->name; s++)
        assert_memory_equal(wr_setting_at(s, &c), wr_setting_at(s, &want),
                            s->value.count * sizeof(float));
    assert_int_equal(c.size, sizeof(c));
}

/* --- by name --- */

static void each_value_comes_back(void **state)
{
    (void)state;
    for (unsigned i = 0; weir_config_name(i); i++) {
        const struct wr_setting *s = wr_setting_find(weir_config_name(i));
        const weir_pipeline_config plain = base();
        char buf[64], text[64], again[64];
        const char *value;

        for (unsigned k = 0; (value = other(s, &plain, k, buf, sizeof(buf)));
             k++) {
            weir_pipeline_config cfg = plain, copy = plain;

            assert_int_equal(weir_config_set(&cfg, s->name, value, NULL), 0);
            assert_true(
                weir_config_get(&cfg, s->name, text, sizeof(text), NULL) > 0);
            if (s->value.type != WR_VALUE_BYTES)
                assert_string_equal(text, value);
            assert_int_equal(weir_config_set(&copy, s->name, text, NULL), 0);
            weir_config_get(&copy, s->name, again, sizeof(again), NULL);
            assert_string_equal(text, again);
        }
    }
    assert_null(weir_config_name(1000));
}

static void wrong_ones_are_named(void **state)
{
    static const struct {
        const char *name, *value;
        int code;
        const char *says;
    } wrong[] = {
        {"rezise", "area", WEIR_ENOENT, "'rezise' (did you mean resize?)"},
        {"", "1", WEIR_ENOENT, "no setting is called ''"},
        {"resize", "lanczos", WEIR_EINVAL,
         "resize: 'lanczos' is not one of bilinear, bilinear-noaa or area"},
        {"resize", "", WEIR_EINVAL, "resize: '' is not one of"},
        {"batch", "0", WEIR_EINVAL, "batch: '0' is not between 1 and 1048576"},
        {"batch", "-1", WEIR_EINVAL, "batch: '-1' is not a whole number"},
        {"batch", "4294967297", WEIR_EINVAL, "batch: '4294967297' is not"},
        {"batch", "64 ", WEIR_EINVAL, "not a whole number"},
        {"channels", "2", WEIR_EINVAL, "channels: 2 is not one of 1, 3"},
        {"threads", "many", WEIR_EINVAL, "threads: 'many' is not"},
        {"seed", "18446744073709551616", WEIR_EINVAL, "seed: "},
        {"flip", "maybe", WEIR_EINVAL, "flip: 'maybe' is not yes or no"},
        {"mean", "1,2", WEIR_EINVAL, "mean: '1,2' is not three numbers"},
        {"mean", "1,2,nan", WEIR_EINVAL, "mean: 'nan' is not a number"},
        {"mean", ",,", WEIR_EINVAL, "mean: '' is not a number"},
        {"crop_area", "1", WEIR_EINVAL, "crop_area: '1' is not two numbers"},
        {"crop_area", "0.1,0x1p3", WEIR_EINVAL, "not a number"},
        {"size", "0x0", WEIR_EINVAL, "size: '0x0' is not a size"},
        {"size", "99999999999999999999x2", WEIR_EINVAL, "is not a size"},
        {"size", "2x", WEIR_EINVAL, "size: '2x' is not a size"},
        {"memory", "1Q", WEIR_EINVAL, "memory: '1Q' is not a size"},
        {"holdout", "0.6", WEIR_EINVAL, "holdout: '0.6' is not between"},
        {"normalize", "yes", WEIR_EINVAL, "one of imagenet or none"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(wrong); i++) {
        weir_pipeline_config cfg = base(), before = cfg;
        weir_err err = {0};

        assert_int_equal(
            weir_config_set(&cfg, wrong[i].name, wrong[i].value, &err),
            wrong[i].code);
        if (!strstr(err.msg, wrong[i].says))
            fail_msg("'%s' does not say '%s'", err.msg, wrong[i].says);
        assert_memory_equal(&cfg, &before, sizeof(cfg));
    }
}

/* Any bytes are a value or a message, never more than that. */
static void any_text(void **state)
{
    static const char letters[] = "0123456789.,x-+eEKMGTnaiuto \n\t%s\xff";
    char text[64], back[64];

    (void)state;
    srand(7);
    for (unsigned round = 0; round < 20000; round++) {
        const struct wr_setting *s = &wr_settings[round % wr_setting_count];
        weir_pipeline_config cfg = base();
        size_t len = (size_t)rand() % (sizeof(text) - 1);
        weir_err err = {0};

        for (size_t i = 0; i < len; i++)
            text[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        text[len] = '\0';
        if (weir_config_set(&cfg, s->name, text, &err) < 0)
            assert_int_equal(strncmp(err.msg, s->name, strlen(s->name)), 0);
        else
            assert_true(
                weir_config_get(&cfg, s->name, back, sizeof(back), NULL) >= 0);
    }
}

/* One field has its own; the others keep theirs. */
static void fields_have_their_own(void **state)
{
    weir_pipeline_config cfg = base();
    weir_field_config own[2] = {{.name = "image", .picture = cfg.picture},
                                {.name = "a.b", .picture = cfg.picture}};
    char text[32];
    weir_err err;

    (void)state;
    cfg.field = own;
    cfg.field_count = 2;
    assert_int_equal(weir_config_set(&cfg, "a.b.resize", "area", NULL), 0);
    assert_int_equal(weir_config_set(&cfg, "image.size", "3x4", NULL), 0);
    assert_int_equal(own[1].picture.resize, WEIR_RESIZE_AREA);
    assert_int_equal(own[0].picture.resize, WEIR_RESIZE_BILINEAR);
    assert_int_equal(own[0].picture.height, 4);
    assert_int_equal(cfg.picture.resize, WEIR_RESIZE_BILINEAR);
    assert_int_equal(cfg.picture.height, SIDE);
    assert_int_equal(weir_config_get(&cfg, "a.b.resize", text, 32, NULL), 4);
    assert_string_equal(text, "area");
    assert_int_equal(weir_config_set(&cfg, "mask.resize", "area", &err),
                     WEIR_ENOENT);
    assert_string_equal(err.msg,
                        "mask.resize: no entry of cfg.field is called 'mask'");
    assert_int_equal(weir_config_set(&cfg, "image.batch", "3", &err),
                     WEIR_EINVAL);
    assert_string_equal(err.msg,
                        "image.batch: is not a setting of a single field");
    assert_int_equal(weir_config_set(&cfg, "image.crop", "left", &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "image.crop: 'left' is not one of none"));
}

/* Jobs that were begun by an earlier version go on: the text is the same. */
static void jobs_of_users_stay(void **state)
{
    weir_pipeline_config cfg = base();
    const weir_picture_config *p = &cfg.picture;
    char want[400], got[400];

    (void)state;
    for (int k = 0; k < 2; k++) {
        cfg.picture.resize = WEIR_RESIZE_AREA;
        cfg.picture.orient = k ? WEIR_ORIENT_EXIF : WEIR_ORIENT_IGNORE;
        wr_snprintf(want, sizeof(want),
                    "%ux%ux%u dtype %d layout %d resize %d decode %d "
                    "crop %d %a mean %a %a %a std %a %a %a%s",
                    p->width, p->height, p->channels, p->dtype, p->layout,
                    p->resize, p->decode, p->crop, (double)p->crop_center,
                    (double)p->mean[0], (double)p->mean[1], (double)p->mean[2],
                    (double)p->std[0], (double)p->std[1], (double)p->std[2],
                    k ? " orient exif" : "");
        assert_int_equal(wr_settings_describe(&cfg, got, sizeof(got)),
                         strlen(want));
        assert_string_equal(got, want);
    }
}

/* A program that knows fewer members, and one that knows more. */
static void sizes_may_differ(void **state)
{
    struct {
        weir_pipeline_config cfg;
        uint64_t behind[4];
    } newer;
    weir_pipeline_config older;
    weir_pipeline *p = NULL;
    weir_err err;
    size_t cut = offsetof(weir_pipeline_config, holdout);

    (void)state;
    memset(&older, 0xaa, sizeof(older));
    weir_pipeline_defaults_sized(&older, cut);
    assert_int_equal(((uint8_t *)&older)[cut], 0xaa);
    assert_int_equal(weir_config_set(&older, "size", "2x2", NULL), 0);
    assert_int_equal(weir_config_set(&older, "part", "train", &err),
                     WEIR_ENOTSUP);
    assert_int_equal(((uint8_t *)&older)[cut], 0xaa);
    assert_int_equal(weir_pipeline_open(&p, ds, &older, &err), 0);
    weir_pipeline_close(&p);

    weir_pipeline_defaults_sized(&newer.cfg, sizeof(newer));
    assert_int_equal(weir_config_set(&newer.cfg, "size", "2x2", NULL), 0);
    assert_int_equal(weir_pipeline_open(&p, ds, &newer.cfg, &err), 0);
    weir_pipeline_close(&p);
    newer.behind[3] = 1;
    assert_int_equal(weir_pipeline_open(&p, ds, &newer.cfg, &err),
                     WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "newer version"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_setting_tells_the_truth),
        cmocka_unit_test(caches_of_users_stay),
        cmocka_unit_test(defaults_stay),
        cmocka_unit_test(each_value_comes_back),
        cmocka_unit_test(wrong_ones_are_named),
        cmocka_unit_test(any_text),
        cmocka_unit_test(fields_have_their_own),
        cmocka_unit_test(jobs_of_users_stay),
        cmocka_unit_test(sizes_may_differ),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
