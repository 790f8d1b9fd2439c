/* settings.c - the table of settings, and what is made of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/settings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/sized.h"

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
