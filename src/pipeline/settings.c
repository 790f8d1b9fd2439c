/* settings.c - the table of settings, and what is made of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/settings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/c_locale.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/sized.h"

#define KEY_WHAT  1   /* at 0: decoded samples; encoded: zeros all over */
#define KEY_FLOAT 72  /* from here on four bytes each, before that eight */
#define KEY_BYTES 104 /* of the settings that there were at first */

/* --- the settings that change the bytes, as a key and as text --- */

static bool is_default(const struct wr_setting *s,
                       const weir_pipeline_config *cfg)
{
    weir_pipeline_config own;

    weir_pipeline_defaults(&own);
    return !memcmp(wr_setting_at(s, cfg), wr_setting_at(s, &own),
                   s->value.count * sizeof(float));
}

uint64_t wr_settings_key(const weir_pipeline_config *cfg)
{
    unsigned char key[KEY_BYTES] = {0};
    uint64_t what = KEY_WHAT, hash;
    char text[128];

    if (cfg->cache_what != WEIR_CACHE_DECODED)
        return XXH3_64bits(key, sizeof(key));
    memcpy(key, &what, sizeof(what));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        uint32_t low;
        uint64_t wide;

        if (s->key <= WR_KEY_NEW)
            continue;
        memcpy(&low, wr_setting_at(s, cfg), sizeof(low));
        wide = low;
        if (s->key < KEY_FLOAT)
            memcpy(key + s->key, &wide, sizeof(wide));
        else
            memcpy(key + s->key, wr_setting_at(s, cfg),
                   s->value.count * sizeof(float));
    }
    hash = XXH3_64bits(key, sizeof(key));
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        int n;

        if (s->key != WR_KEY_NEW || is_default(s, cfg))
            continue;
        n = snprintf(text, sizeof(text), "%s=", s->name);
        n += (int)wr_value_text(&s->value, wr_setting_at(s, cfg), text + n,
                                sizeof(text) - (size_t)n);
        hash = XXH3_64bits_withSeed(text, (size_t)n, hash);
    }
    return hash;
}

/* " resize 1", " mean 0x1.f0a3d8p-2 ..."; texts are never cut: each is short. */
static int describe_one(const struct wr_setting *s,
                        const weir_pipeline_config *cfg, char *buf, size_t cap)
{
    const void *at = wr_setting_at(s, cfg);
    char text[100] = "";
    int n;

    if (s->flags & WR_SET_LATER) {
        if (is_default(s, cfg))
            return 0;
        wr_value_text(&s->value, at, text, sizeof(text));
        return snprintf(buf, cap, " %s %s", s->name, text);
    }
    if (s->value.type != WR_VALUE_FLOATS)
        return snprintf(buf, cap, " %s %" PRIu32, s->name,
                        *(const uint32_t *)at);
    n = s->value.count > 1 ? snprintf(text, sizeof(text), " %s", s->name) : 0;
    for (unsigned i = 0; i < s->value.count; i++)
        n += wr_snprintf(text + n, sizeof(text) - (size_t)n, " %a",
                         (double)((const float *)at)[i]);
    return snprintf(buf, cap, "%s", text);
}

size_t wr_settings_describe(const weir_pipeline_config *cfg, char *buf,
                            size_t cap)
{
    const weir_picture_config *pic = &cfg->picture;
    int n = snprintf(buf, cap, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, pic->width,
                     pic->height, pic->channels);

    for (const struct wr_setting *s = wr_setting_find("dtype"); s->name; s++)
        if (s->key && (size_t)n < cap)
            n += describe_one(s, cfg, buf + n, cap - (size_t)n);
    return (size_t)n;
}

/* --- settings set and read as text --- */

static bool is_normalize(const struct wr_setting *s)
{
    return s->value.choices == wr_normalize_choices;
}

static int set(const struct wr_setting *s, const char *text,
               weir_pipeline_config *cfg, weir_err *err)
{
    int how, r;

    if (!is_normalize(s))
        return wr_value_parse(&s->value, text, (char *)cfg + s->offset, err);
    r = wr_choice_find(s->value.choices, text, &how, err);
    if (r == 0)
        wr_settings_normalize((enum wr_normalize)how, &cfg->picture);
    return r;
}

static const struct wr_setting *find(const char *name, weir_err *err)
{
    const struct wr_setting *s = wr_setting_find(name);
    struct wr_suggest near;

    if (s)
        return s;
    wr_suggest_init(&near, name);
    for (s = wr_settings; s->name; s++)
        wr_suggest_try(&near, s->name);
    wr_fail(err, WEIR_ENOENT, "no setting is called '%s'%s", name,
            wr_suggest_said(&near, "").text);
    return NULL;
}

/* A config as this library knows it, and what a name means in it. */
struct named {
    const struct wr_setting *s;
    weir_pipeline_config own;
    weir_field_config *field; /* borrowed; "mask.resize": own.picture is its */
};

static bool is_of_pictures(const struct wr_setting *s)
{
    size_t at = offsetof(weir_pipeline_config, picture);

    return s->offset >= at && s->offset < at + sizeof(weir_picture_config);
}

/* The entry of cfg->field that "mask.resize" is about. */
static int find_field(struct named *n, const char *name, size_t len,
                      weir_err *err)
{
    for (uint32_t i = 0; n->own.field && i < n->own.field_count; i++) {
        const weir_field_config *f = &n->own.field[i];

        if (!f->name || strlen(f->name) != len ||
            strncmp(f->name, name, len) != 0)
            continue;
        memcpy(&n->field, &f, sizeof(f)); /* the caller's own, to be changed */
        n->own.picture = f->picture;
        return 0;
    }
    return wr_fail(err, WEIR_ENOENT, "no entry of cfg.field is called '%.*s'",
                   (int)len, name);
}

static int resolve(const weir_pipeline_config *cfg, const char *name,
                   struct named *ret, weir_err *err)
{
    const char *dot = strrchr(name, '.');
    int r;

    *ret = (struct named){.s = find(dot ? dot + 1 : name, err)};
    if (!ret->s)
        return WEIR_ENOENT;
    weir_pipeline_defaults(&ret->own);
    r = wr_sized_take(&ret->own, sizeof(ret->own), cfg,
                      "weir_pipeline_defaults", err);
    if (r == 0 && dot)
        r = find_field(ret, name, (size_t)(dot - name), err);
    if (r == 0 && dot && !is_of_pictures(ret->s))
        r = wr_fail(err, WEIR_EINVAL, "is not a setting of a single field");
    if (r == 0 && !dot && ret->s->offset >= cfg->size)
        r = wr_fail(err, WEIR_ENOTSUP,
                    "is newer than the header that this program was built "
                    "with");
    return r < 0 ? wr_fail_prefix(err, r, "%s", name) : 0;
}

int weir_config_set(weir_pipeline_config *cfg, const char *name,
                    const char *value, weir_err *err)
{
    struct named n;
    int r = resolve(cfg, name, &n, err);

    if (r < 0)
        return r;
    r = set(n.s, value, &n.own, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "%s", name);
    if (n.field) {
        n.field->picture = n.own.picture;
        return 0;
    }
    n.own.size = cfg->size;
    wr_sized_give(cfg, n.own.size, &n.own, sizeof(n.own));
    return 0;
}

/* "imagenet", "none", or "other". */
static const char *normalize_text(const weir_picture_config *pic)
{
    for (const struct wr_choice *c = wr_normalize_choices; c->name; c++) {
        weir_picture_config as = *pic;

        wr_settings_normalize((enum wr_normalize)c->value, &as);
        if (!memcmp(as.mean, pic->mean, sizeof(as.mean)) &&
            !memcmp(as.std, pic->std, sizeof(as.std)))
            return c->name;
    }
    return "other";
}

int weir_config_get(const weir_pipeline_config *cfg, const char *name,
                    char *buf, size_t cap, weir_err *err)
{
    struct named n;
    int r = resolve(cfg, name, &n, err);

    if (r < 0)
        return r;
    if (is_normalize(n.s))
        return snprintf(buf, cap, "%s", normalize_text(&n.own.picture));
    return (int)wr_value_text(&n.s->value, wr_setting_at(n.s, &n.own), buf,
                              cap);
}

const char *weir_config_name(unsigned k)
{
    return k < wr_setting_count ? wr_settings[k].name : NULL;
}

/* --- the choices --- */

const struct wr_choice wr_stages_choices[] = {
    {"read", WEIR_STAGES_READ, "read the bytes and nothing else"},
    {"decode", WEIR_STAGES_DECODE, "read and decode, drop the picture"},
    {"all", WEIR_STAGES_ALL, "read, decode, resize, normalize, batch"},
    {NULL, 0, NULL}};

const struct wr_choice wr_dtype_choices[] = {{"f32", WEIR_F32, NULL},
                                             {"f16", WEIR_F16, NULL},
                                             {"u8", WEIR_U8, NULL},
                                             {NULL, 0, NULL}};

const struct wr_choice wr_layout_choices[] = {
    {"nhwc", WEIR_NHWC, NULL}, {"nchw", WEIR_NCHW, NULL}, {NULL, 0, NULL}};

const struct wr_choice wr_normalize_choices[] = {
    {"imagenet", WR_NORMALIZE_IMAGENET, "ImageNet's mean and deviation"},
    {"none", WR_NORMALIZE_NONE, "0 to 1"},
    {NULL, 0, NULL}};

const struct wr_choice wr_resize_choices[] = {
    {"bilinear", WEIR_RESIZE_BILINEAR, "antialiased, as PIL and torchvision"},
    {"bilinear-noaa", WEIR_RESIZE_BILINEAR_NOAA, "two taps, as tf.image"},
    {"area", WEIR_RESIZE_AREA, "mean of the covered area"},
    {NULL, 0, NULL}};

const struct wr_choice wr_decode_choices[] = {
    {"exact", WEIR_DECODE_EXACT, "libjpeg's accurate decoder, then resize"},
    {"fast", WEIR_DECODE_FAST, "scaled and planar decoding"},
    {NULL, 0, NULL}};

const struct wr_choice wr_crop_choices[] = {
    {"none", WEIR_CROP_NONE, "all of it"},
    {"center", WEIR_CROP_CENTER, "the middle, in the shape of the output"},
    {"random", WEIR_CROP_RANDOM, "a random area and shape in each epoch"},
    {NULL, 0, NULL}};

const struct wr_choice wr_orient_choices[] = {
    {"ignore", WEIR_ORIENT_IGNORE, "as they are stored"},
    {"exif", WEIR_ORIENT_EXIF, "turned upright, as EXIF says"},
    {NULL, 0, NULL}};

const struct wr_choice wr_order_choices[] = {
    {"shuffle", WEIR_ORDER_SHUFFLE, "full uniform shuffle"},
    {"sequential", WEIR_ORDER_SEQUENTIAL, NULL},
    {"block", WEIR_ORDER_BLOCK, "blocks, and a window of blocks inside"},
    {NULL, 0, NULL}};

const struct wr_choice wr_part_choices[] = {
    {"all", WEIR_PART_ALL, "every sample"},
    {"train", WEIR_PART_TRAIN, "all but those held out"},
    {"held-out", WEIR_PART_HELD_OUT, "those held out"},
    {NULL, 0, NULL}};

const struct wr_choice wr_remainder_choices[] = {
    {"keep", WEIR_REMAINDER_KEEP, "the last batch may be short"},
    {"drop", WEIR_REMAINDER_DROP, "only full batches"},
    {"pad", WEIR_REMAINDER_PAD, "filled up with repeated samples"},
    {NULL, 0, NULL}};

const struct wr_choice wr_on_error_choices[] = {
    {"skip", WEIR_ON_ERROR_SKIP, "name it and go on"},
    {"fail", WEIR_ON_ERROR_FAIL, "stop"},
    {NULL, 0, NULL}};

const struct wr_choice wr_auto_choices[] = {
    {"auto", (int)WEIR_AUTO, "adjusted while running"}, {NULL, 0, NULL}};

const struct wr_choice wr_io_choices[] = {{"auto", WEIR_IO_AUTO, NULL},
                                          {"uring", WEIR_IO_URING, NULL},
                                          {"blocking", WEIR_IO_BLOCKING, NULL},
                                          {NULL, 0, NULL}};

const struct wr_choice wr_cache_what_choices[] = {
    {"encoded", WEIR_CACHE_ENCODED, "samples as they are stored"},
    {"decoded", WEIR_CACHE_DECODED, "samples as they are delivered"},
    {NULL, 0, NULL}};

/* --- the table --- */

#define ROW(id, option_, kind, member, least, most, list, text, note, arg,     \
            about, at, marks)                                                  \
    {.name = #id,                                                              \
     .option = (option_),                                                      \
     .value = {.type = WR_VALUE_##kind,                                        \
               .count = sizeof(((weir_pipeline_config *)0)->member) /          \
                        sizeof(float),                                         \
               .odd = ((marks)&WR_SET_ODD) != 0,                               \
               .min = (least),                                                 \
               .max = (most),                                                  \
               .choices = (list)},                                             \
     .offset = offsetof(weir_pipeline_config, member),                         \
     .def = (text),                                                            \
     .help = (about),                                                          \
     .key = (at),                                                              \
     .flags = (marks)},

const struct wr_setting wr_settings[] = {WR_SETTINGS(ROW){.name = NULL}};
const unsigned wr_setting_count = WR_ARRAY_LEN(wr_settings) - 1;

const struct wr_setting *wr_setting_find(const char *name)
{
    return wr_named_find(WR_NAMED(wr_settings), name);
}

void wr_settings_normalize(enum wr_normalize how, weir_picture_config *pic)
{
    bool none = how == WR_NORMALIZE_NONE;
    int r = wr_value_parse(&wr_setting_find("mean")->value,
                           none ? "0,0,0" : wr_setting_find("mean")->def,
                           pic->mean, NULL);

    r |= wr_value_parse(&wr_setting_find("std")->value,
                        none ? "1,1,1" : wr_setting_find("std")->def, pic->std,
                        NULL);
    assert(r == 0);
    (void)r;
}

void weir_pipeline_defaults_sized(weir_pipeline_config *cfg, size_t size)
{
    weir_pipeline_config own;
    int r = 0;

    memset(&own, 0, sizeof(own));
    for (const struct wr_setting *s = wr_settings; s->name; s++)
        if (s->def && !(s->flags & WR_SET_ALIAS))
            r |= wr_value_parse(&s->value, s->def, (char *)&own + s->offset,
                                NULL);
    assert(r == 0);
    (void)r;
    own.size = size;
    wr_sized_give(cfg, size, &own, sizeof(own));
}

/* --- ranges --- */

/* Choices by their names, in the order of the values. */
static int fail_choice(const struct wr_setting *s, unsigned value,
                       weir_err *err)
{
    const char *dtype = s->value.choices == wr_dtype_choices
                            ? wr_dtype_text((enum weir_dtype)value)
                            : NULL;
    char number[16], all[128] = "";
    size_t used = 0;

    for (int v = 0; strcmp(wr_choice_name(s->value.choices, v), "?"); v++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 v ? ", " : "",
                                 wr_choice_name(s->value.choices, v));
    snprintf(number, sizeof(number), "%u", value);
    return wr_fail(err, WEIR_EINVAL, "%s: %s is not one of %s", s->name,
                   dtype ? dtype : number, all);
}

static int check(const struct wr_setting *s, uint32_t value, weir_err *err)
{
    const struct wr_value *v = &s->value;
    bool inside = value >= v->min && (v->max == 0 || value <= v->max);

    if (v->type == WR_VALUE_CHOICE)
        return strcmp(wr_choice_name(v->choices, (int)value), "?")
                   ? 0
                   : fail_choice(s, value, err);
    if (inside && (!v->odd || value & 1))
        return 0;
    if (v->odd)
        return wr_fail(err, WEIR_EINVAL, "%s is %" PRIu32 ", not %g or %g",
                       s->name, value, v->min, v->max);
    return wr_fail(err, WEIR_EINVAL,
                   "%s is %" PRIu32 ", not between %.0f and %.0f", s->name,
                   value, v->min, v->max);
}

int wr_settings_check(const weir_pipeline_config *cfg, weir_err *err)
{
    for (const struct wr_setting *s = wr_settings; s->name; s++) {
        enum wr_value_type type = s->value.type;
        uint32_t value;
        int r;

        if (s->flags & WR_SET_ALIAS ||
            (type != WR_VALUE_U32 && type != WR_VALUE_CHOICE))
            continue;
        memcpy(&value, wr_setting_at(s, cfg), sizeof(value));
        r = check(s, value, err);
        if (r < 0)
            return r;
    }
    return 0;
}
