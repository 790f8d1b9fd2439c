/* photo.c - sample number -> JPEG, with the sizes of a known data set.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A target size is drawn first. The noise is chosen so that a picture reaches
 * it near the quality that cameras use, and the quality is then moved, by a
 * trial or two, until it does. */
#include "gen/photo.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/jpegenc.h"
#include "gen/synth.h"

#define QUALITY_MIN 60
#define QUALITY_MAX 97
#define TRIALS      3
#define TOLERANCE   0.05 /* of the target size */

struct wr_photo {
    const struct wr_photo_profile *profile; /* borrowed, static */
    const struct wr_textures *textures;     /* borrowed from the generator */
    struct wr_jpegenc *enc;                 /* owned */
    uint8_t *pixels;                        /* owned */
    size_t pixels_cap;
};

/* What one picture is to become. */
struct photo_plan {
    struct wr_synth_picture draw;
    bool full_chroma;
    unsigned quality; /* to begin with */
    double target;    /* bytes */
};

static const struct wr_photo_dims imagenet_dims[] = {
    {500, 375, 582}, {500, 333, 134}, {375, 500, 102},
    {333, 500, 52},  {500, 500, 36},  {0},
};

/* Sizes as measured over 4,096 ILSVRC-like photographs. */
const struct wr_photo_profile wr_photo_imagenet = {
    .name = "imagenet",
    .dims = imagenet_dims,
    .side_min = 200,
    .side_max = 1024,
    .gray_per_mille = 11,
    .full_chroma_per_mille = 195,
    .bits = {105, 186, 253, 296, 360, 438, 526, 606, 645, 707, 765},
};

static const struct wr_photo_dims caltech_dims[] = {
    {300, 200, 330}, {300, 225, 140}, {200, 300, 90},
    {300, 300, 50},  {300, 188, 60},  {0},
};

const struct wr_photo_profile wr_photo_caltech = {
    .name = "caltech101",
    .dims = caltech_dims,
    .side_min = 160,
    .side_max = 360,
    .gray_per_mille = 40,
    .full_chroma_per_mille = 50,
    .bits = {50, 70, 90, 105, 130, 160, 200, 245, 280, 360, 480},
};

/* Value at quantile q of a table of hundredths, straight between entries. */
static double quantile_at(const uint16_t bits[WR_PHOTO_QUANTILES], double q)
{
    static const double at[WR_PHOTO_QUANTILES] = {
        0.0, 0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1.0};
    unsigned k = 1;

    while (k < WR_PHOTO_QUANTILES - 1 && q > at[k])
        k++;
    q = (q - at[k - 1]) / (at[k] - at[k - 1]);
    return (bits[k - 1] + (bits[k] - bits[k - 1]) * q) / 100.0;
}

static void choose_dims(const struct wr_photo_profile *pf, struct wr_rng *r,
                        struct wr_synth_picture *ret)
{
    uint64_t draw = wr_rng_below(r, 1000);
    unsigned range = pf->side_max - pf->side_min + 1u;

    ret->width = pf->side_min + (uint32_t)wr_rng_below(r, range);
    ret->height = pf->side_min + (uint32_t)wr_rng_below(r, range);
    for (const struct wr_photo_dims *d = pf->dims; d->width; d++) {
        if (draw < d->per_mille) {
            ret->width = d->width;
            ret->height = d->height;
            return;
        }
        draw -= d->per_mille;
    }
}

static void make_plan(const struct wr_photo_profile *pf,
                      const struct wr_photo_sample *s, struct photo_plan *ret)
{
    struct wr_rng r = {.seed = s->seed, .stream = s->index * 2 + 1};
    double bits;

    ret->draw.label = s->label;
    ret->draw.key = wr_rng_next(&r);
    choose_dims(pf, &r, &ret->draw);
    ret->draw.channels = wr_rng_below(&r, 1000) < pf->gray_per_mille ? 1 : 4;
    ret->full_chroma = wr_rng_below(&r, 1000) < pf->full_chroma_per_mille;
    bits = quantile_at(pf->bits, wr_rng_unit(&r));
    if (ret->draw.channels == 1)
        bits *= 0.8;
    ret->target = bits * ret->draw.width * ret->draw.height / 8.0;
    ret->quality = 90 + (unsigned)wr_rng_below(&r, 5);
    /* Fitted: what brings the quality found into the nineties. */
    ret->draw.grain = (uint32_t)(bits * bits * 4.2);
    ret->draw.detail = (uint32_t)WR_MIN(256.0, 90.0 + bits * 36.0);
}

/* The IJG's scale of the quantization tables, in percent. */
static double scale_of_quality(double q)
{
    return q < 50.0 ? 5000.0 / q : 200.0 - 2.0 * q;
}

/* The size falls about with the power 0.55 of the scale. */
static unsigned next_quality(unsigned quality, double size, double target)
{
    double scale = scale_of_quality(quality) * pow(size / target, 1.0 / 0.55);
    double q = scale > 100.0 ? 5000.0 / scale : (200.0 - scale) / 2.0;

    q = floor(q + 0.5);
    return (unsigned)WR_MAX(QUALITY_MIN, WR_MIN(QUALITY_MAX, q));
}

int wr_photo_new(struct wr_photo **ret, const struct wr_photo_profile *profile,
                 const struct wr_textures *textures, weir_err *err)
{
    struct wr_photo *ph = calloc(1, sizeof(*ph));
    int r;

    if (!ph)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    ph->profile = profile;
    ph->textures = textures;
    r = wr_jpegenc_new(&ph->enc, err);
    if (r < 0) {
        wr_photo_free(ph);
        return r;
    }
    *ret = ph;
    return 0;
}

void wr_photo_free(struct wr_photo *ph)
{
    if (!ph)
        return;
    wr_jpegenc_free(ph->enc);
    free(ph->pixels);
    free(ph);
}

int wr_photo_make(struct wr_photo *ph, const struct wr_photo_sample *s,
                  const uint8_t **ret_bytes, size_t *ret_len, weir_err *err)
{
    struct wr_jpegenc_picture pic;
    struct photo_plan plan;
    const uint8_t *bytes = NULL;
    size_t need, len = 0;
    unsigned next;
    int r;

    make_plan(ph->profile, s, &plan);
    need = (size_t)plan.draw.width * plan.draw.height * plan.draw.channels;
    if (!wr_grow(&ph->pixels, &ph->pixels_cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for a picture");
    wr_synth_draw(ph->textures, &plan.draw, ph->pixels);
    pic = (struct wr_jpegenc_picture){
        .pixels = ph->pixels,
        .width = plan.draw.width,
        .height = plan.draw.height,
        .channels = plan.draw.channels,
        .quality = plan.quality,
        .full_chroma = plan.full_chroma,
    };
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        r = wr_jpegenc_encode(ph->enc, &pic, &bytes, &len, err);
        if (r < 0)
            return r;
        next = next_quality(pic.quality, (double)len, plan.target);
        if (next == pic.quality ||
            fabs((double)len - plan.target) < TOLERANCE * plan.target)
            break;
        pic.quality = next;
    }
    *ret_bytes = bytes;
    *ret_len = len;
    return 0;
}
