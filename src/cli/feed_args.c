/* feed_args.c - settings of the pipeline as commands spell them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/feed_args.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "pipeline/config.h"

#define MAX_SIDE (1 << 14)

const struct wr_choice wr_feed_decode[] = {
    {"exact", WEIR_DECODE_EXACT, "libjpeg's accurate decoder, then resize"},
    {"fast", WEIR_DECODE_FAST, "scaled and planar decoding"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_auto[] = {
    {"auto", (int)WEIR_AUTO, "adjusted while running"}, {NULL, 0, NULL}};

const struct wr_choice wr_feed_cache_what[] = {
    {"encoded", WEIR_CACHE_ENCODED, "samples as they are stored"},
    {"decoded", WEIR_CACHE_DECODED, "samples as they are delivered"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_dtype[] = {{"f32", WEIR_F32, NULL},
                                          {"f16", WEIR_F16, NULL},
                                          {"u8", WEIR_U8, NULL},
                                          {NULL, 0, NULL}};

const struct wr_choice wr_feed_layout[] = {
    {"nhwc", WEIR_NHWC, NULL}, {"nchw", WEIR_NCHW, NULL}, {NULL, 0, NULL}};

const struct wr_choice wr_feed_resize[] = {
    {"bilinear", WEIR_RESIZE_BILINEAR, "antialiased, as PIL and torchvision"},
    {"bilinear-noaa", WEIR_RESIZE_BILINEAR_NOAA, "two taps, as tf.image"},
    {"area", WEIR_RESIZE_AREA, "mean of the covered area"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_normalize[] = {
    {"imagenet", WR_FEED_IMAGENET, "ImageNet's mean and deviation"},
    {"none", WR_FEED_NO_NORM, "0 to 1"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_order[] = {
    {"shuffle", WEIR_ORDER_SHUFFLE, "full uniform shuffle"},
    {"sequential", WEIR_ORDER_SEQUENTIAL, NULL},
    {"block", WEIR_ORDER_BLOCK, "blocks, and a window of blocks inside"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_part[] = {
    {"all", WEIR_PART_ALL, "every sample"},
    {"train", WEIR_PART_TRAIN, "all but those held out"},
    {"held-out", WEIR_PART_HELD_OUT, "those held out"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_orient[] = {
    {"ignore", WEIR_ORIENT_IGNORE, "as they are stored"},
    {"exif", WEIR_ORIENT_EXIF, "turned upright, as EXIF says"},
    {NULL, 0, NULL}};

const struct wr_choice wr_feed_io[] = {{"auto", WEIR_IO_AUTO, NULL},
                                       {"uring", WEIR_IO_URING, NULL},
                                       {"blocking", WEIR_IO_BLOCKING, NULL},
                                       {NULL, 0, NULL}};

/* "224", "320x240". */
static int set_size(const char *text, weir_pipeline_config *cfg, weir_err *err)
{
    size_t len = strcspn(text, "x");
    char first[16];
    uint64_t w, h;

    snprintf(first, sizeof(first), "%.*s", (int)WR_MIN(len, (size_t)15), text);
    if (wr_parse_uint(first, 1, MAX_SIDE, &w, NULL) == 0 &&
        wr_parse_uint(text[len] ? text + len + 1 : first, 1, MAX_SIDE, &h,
                      NULL) == 0) {
        cfg->picture.width = (uint32_t)w;
        cfg->picture.height = (uint32_t)h;
        return 0;
    }
    return wr_fail(err, WEIR_EINVAL,
                   "option --size: '%s' is not a size of pictures (write "
                   "224x224, or 224 for a square; up to %d)",
                   text, MAX_SIDE);
}

/* The option of a field that a message begins with: "crop_area: ..." is about
 * --crop-area. NULL: none. */
static const struct wr_option *option_of(const struct wr_option *o,
                                         const char *message)
{
    size_t len = strcspn(message, ": ");

    for (; o->name; o++) {
        size_t k = 0;

        while (k < len && o->name[k] &&
               (o->name[k] == message[k] ||
                (o->name[k] == '-' && message[k] == '_')))
            k++;
        if (k == len && !o->name[k])
            return o;
    }
    return NULL;
}

int wr_feed_check_split(const struct wr_cli *cli, weir_err *err)
{
    static const char *const needs[][2] = {
        {"holdout", "part"}, {"part", "holdout"}, {"split-seed", "holdout"}};

    for (size_t i = 0; i < WR_ARRAY_LEN(needs); i++)
        if (wr_cli_given(cli, needs[i][0]) && !wr_cli_given(cli, needs[i][1]))
            return wr_fail(err, WEIR_EINVAL, "option --%s goes with --%s",
                           needs[i][0], needs[i][1]);
    return 0;
}

int wr_feed_check(const struct wr_option *table,
                  const weir_pipeline_config *cfg, weir_err *err)
{
    const struct wr_option *o;
    weir_err why;
    size_t len;
    int r = wr_config_check(cfg, &why);

    if (r == 0)
        return 0;
    o = option_of(table, why.msg);
    if (!o)
        return wr_fail(err, r, "%s", why.msg);
    len = strlen(o->name);
    return wr_fail(err, r, "option --%s: %s", o->name,
                   why.msg[len] == ':' ? why.msg + len + 2 : why.msg);
}

int wr_feed_set_pixels(const struct wr_feed_pixels *p,
                       weir_pipeline_config *cfg, weir_err *err)
{
    if (p->channels == 2)
        return wr_fail(err, WEIR_EINVAL,
                       "option --channels: 2 is not one of 1, 3");
    cfg->picture.channels = (uint32_t)p->channels;
    cfg->picture.dtype = (enum weir_dtype)p->dtype;
    cfg->picture.layout = (enum weir_layout)p->layout;
    cfg->picture.resize = (enum weir_resize)p->resize;
    cfg->picture.orient = (enum weir_orient)p->orient;
    for (int i = 0; p->normalize == WR_FEED_NO_NORM && i < 3; i++) {
        cfg->picture.mean[i] = 0;
        cfg->picture.std[i] = 1;
    }
    return set_size(p->size, cfg, err);
}
