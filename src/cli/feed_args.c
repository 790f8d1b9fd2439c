/* feed_args.c - settings of the pipeline as commands spell them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/feed_args.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

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

const struct wr_choice wr_feed_io[] = {{"auto", WEIR_IO_AUTO, NULL},
                                       {"uring", WEIR_IO_URING, NULL},
                                       {"blocking", WEIR_IO_BLOCKING, NULL},
                                       {NULL, 0, NULL}};

/* "224", "320x240". */
static int set_size(const char *text, weir_pipeline_config *cfg, weir_err *err)
{
    const char *x = strchr(text, 'x');
    char first[16];
    uint64_t w, h;

    snprintf(first, sizeof(first), "%.*s",
             x ? (int)(x - text) : (int)strlen(text), text);
    if (wr_parse_uint(first, 1, 1 << 14, &w, err) < 0 ||
        wr_parse_uint(x ? x + 1 : first, 1, 1 << 14, &h, err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --size");
    cfg->width = (uint32_t)w;
    cfg->height = (uint32_t)h;
    return 0;
}

int wr_feed_set_pixels(const struct wr_feed_pixels *p,
                       weir_pipeline_config *cfg, weir_err *err)
{
    if (p->channels == 2)
        return wr_fail(err, WEIR_EINVAL, "option --channels: 1 or 3");
    cfg->channels = (uint32_t)p->channels;
    cfg->dtype = (enum weir_dtype)p->dtype;
    cfg->layout = (enum weir_layout)p->layout;
    cfg->resize = (enum weir_resize)p->resize;
    for (int i = 0; p->normalize == WR_FEED_NO_NORM && i < 3; i++) {
        cfg->mean[i] = 0;
        cfg->std[i] = 1;
    }
    return set_size(p->size, cfg, err);
}
