/* augment.c - which part of a picture is used, and whether it is mirrored.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Floating point here is +, -, *, / and sqrt alone, which IEEE 754 rounds in
 * one way only: no function of libm that could differ between machines. */
#include "codec/augment.h"

#include <math.h>

#include "base/error.h"
#include "base/rng.h"

/* The random numbers of a sample are the stream (epoch, STREAM, id) of the
 * seed. The order of an epoch uses (epoch, 1, ..) to (epoch, 3, ..). */
#define STREAM 16u

#define TRIES 10 /* as torchvision's RandomResizedCrop */

static int check_random(const weir_picture_config *pic, weir_err *err)
{
    double area[2] = {pic->crop_area[0], pic->crop_area[1]};
    double ratio[2] = {pic->crop_ratio[0], pic->crop_ratio[1]};

    if (!(area[0] > 0 && area[0] <= area[1] && area[1] <= 1))
        return wr_fail(err, WEIR_EINVAL,
                       "crop_area: %g to %g is not a range above 0 and up to 1",
                       area[0], area[1]);
    if (!(ratio[0] > 0 && ratio[0] <= ratio[1] && isfinite(ratio[1])))
        return wr_fail(err, WEIR_EINVAL,
                       "crop_ratio: %g to %g is not a range above 0", ratio[0],
                       ratio[1]);
    return 0;
}

int wr_augment_check(const weir_picture_config *pic, weir_err *err)
{
    double center = pic->crop_center;

    if (pic->crop > WEIR_CROP_RANDOM)
        return wr_fail(err, WEIR_EINVAL, "crop: unknown kind %d",
                       (int)pic->crop);
    if (pic->crop == WEIR_CROP_CENTER && !(center > 0 && center <= 1))
        return wr_fail(err, WEIR_EINVAL,
                       "crop_center: %g is not above 0 and at most 1", center);
    return pic->crop == WEIR_CROP_RANDOM ? check_random(pic, err) : 0;
}

/* The nearest whole number of 1 .. most. */
static uint32_t to_side(double side, uint32_t most)
{
    double whole = floor(side + 0.5);

    return whole < 1 ? 1 : whole < most ? (uint32_t)whole : most;
}

/* w x h in the middle. */
static void put_middle(uint32_t width, uint32_t height,
                       struct wr_picture_crop *c)
{
    c->x = (width - c->width) / 2;
    c->y = (height - c->height) / 2;
}

/* Resizing the short side to S / center and cutting S x S out of the middle,
 * seen from the source: the largest part of the output's shape, times
 * center. */
static void plan_center(const weir_picture_config *pic, uint32_t width,
                        uint32_t height, struct wr_picture_crop *ret)
{
    double w = width, h = height;

    if ((uint64_t)width * pic->height > (uint64_t)height * pic->width)
        w = h * pic->width / pic->height;
    else
        h = w * pic->height / pic->width;
    ret->width = to_side(w * pic->crop_center, width);
    ret->height = to_side(h * pic->crop_center, height);
    put_middle(width, height, ret);
}

/* Log-uniform between range[0] and range[1]: each bit of a random number
 * chooses a half of what is left, cut at its geometric mean. */
static double between_log(struct wr_rng *rng, const float range[2])
{
    uint64_t bits = wr_rng_next(rng);
    double lo = range[0], hi = range[1];

    for (int k = 0; k < 32; k++, bits >>= 1) {
        double middle = sqrt(lo * hi);

        if (bits & 1)
            lo = middle;
        else
            hi = middle;
    }
    return sqrt(lo * hi);
}

/* torchvision's draw: an area, a shape, and a place when they fit. */
static bool try_random(const weir_picture_config *pic, uint32_t width,
                       uint32_t height, struct wr_rng *rng,
                       struct wr_picture_crop *ret)
{
    double least = pic->crop_area[0], most = pic->crop_area[1];
    double part = least + wr_rng_unit(rng) * (most - least);
    double area = part * ((double)width * height);
    double ratio = between_log(rng, pic->crop_ratio);
    double w = floor(sqrt(area * ratio) + 0.5);
    double h = floor(sqrt(area / ratio) + 0.5);

    if (!(w >= 1 && w <= width && h >= 1 && h <= height))
        return false;
    ret->width = (uint32_t)w;
    ret->height = (uint32_t)h;
    ret->x = (uint32_t)wr_rng_below(rng, width - ret->width + 1);
    ret->y = (uint32_t)wr_rng_below(rng, height - ret->height + 1);
    return true;
}

/* Nothing fitted: as much as the allowed shapes leave, from the middle. */
static void plan_fallback(const weir_picture_config *pic, uint32_t width,
                          uint32_t height, struct wr_picture_crop *ret)
{
    double shape = (double)width / height;
    double narrow = pic->crop_ratio[0], wide = pic->crop_ratio[1];

    ret->width = width;
    ret->height = height;
    if (shape < narrow)
        ret->height = to_side(width / narrow, height);
    else if (shape > wide)
        ret->width = to_side(height * wide, width);
    put_middle(width, height, ret);
}

struct wr_picture_crop wr_augment_plan(const struct wr_augment *a,
                                       uint32_t width, uint32_t height,
                                       uint64_t epoch, uint64_t id)
{
    const weir_picture_config *pic = &a->picture;
    struct wr_rng rng = {.seed = a->seed,
                         .stream = wr_rng_at(epoch, STREAM, id)};
    struct wr_picture_crop c = {.width = width, .height = height};
    uint64_t coin = wr_rng_next(&rng); /* always the first, used or not */
    int tries = 0;

    c.flip = pic->flip && coin >> 63;
    if (pic->crop == WEIR_CROP_CENTER)
        plan_center(pic, width, height, &c);
    if (pic->crop != WEIR_CROP_RANDOM)
        return c;
    while (tries < TRIES && !try_random(pic, width, height, &rng, &c))
        tries++;
    if (tries == TRIES)
        plan_fallback(pic, width, height, &c);
    return c;
}
