/* pictures.c - the decoder of fields that are encoded pictures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "codec/augment.h"

struct pictures_decoder {
    struct wr_decoder base;
    struct wr_picture_decoder *picture; /* owned */
    struct wr_augment augment;
};

bool wr_is_picture_name(const char *name)
{
    return wr_picture_kind_of_name(name, strlen(name)) != WR_PICTURE_UNKNOWN;
}

static int check_picture(const weir_picture_config *pic, weir_err *err)
{
    if (pic->channels != 1 && pic->channels != 3)
        return wr_fail(err, WEIR_EINVAL, "channels: %u is neither 1 nor 3",
                       pic->channels);
    if (!pic->width || !pic->height || pic->width > WR_PICTURE_MAX_SIDE ||
        pic->height > WR_PICTURE_MAX_SIDE ||
        (uint64_t)pic->width * pic->height > WR_PICTURE_MAX_PIXELS)
        return wr_fail(err, WEIR_EINVAL,
                       "size: %ux%u is not between 1x1 and the limit",
                       pic->width, pic->height);
    return wr_augment_check(pic, err);
}

int wr_pictures_shape(const struct wr_field_want *want,
                      struct wr_tensor_shape *ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    int r = check_picture(pic, err);

    if (r < 0)
        return r;
    *ret = (struct wr_tensor_shape){
        .dtype = pic->dtype,
        .ndim = 3,
        .dims = {pic->height, pic->width, pic->channels},
        .bytes = wr_picture_slot_bytes(pic),
    };
    if (pic->layout == WEIR_NCHW) {
        ret->dims[0] = pic->channels;
        ret->dims[1] = pic->height;
        ret->dims[2] = pic->width;
    }
    return 0;
}

/* The part of sample `s` that is used. Its header is read here and again when
 * it is decoded: that costs less than a hundredth of a decode. */
static int plan(const struct pictures_decoder *pd, const struct wr_sample *s,
                struct wr_picture_crop *ret, weir_err *err)
{
    const struct wr_augment *a = &pd->augment;
    struct wr_picture_info info = {0};
    int r = 0;

    if (a->picture.crop != WEIR_CROP_NONE)
        r = wr_picture_info(s->bytes, s->len, &info, err);
    if (r >= 0 && a->picture.orient == WEIR_ORIENT_EXIF)
        wr_picture_turn_size(info.orientation, &info.width, &info.height);
    if (r >= 0)
        *ret = wr_augment_plan(a, info.width, info.height, s->epoch, s->id);
    return r;
}

static int pictures_decode(struct wr_decoder *d, const struct wr_sample *s,
                           void *slot, struct wr_picture_times *times,
                           weir_err *err)
{
    struct pictures_decoder *pd = (struct pictures_decoder *)d;
    struct wr_picture_times unused = {0};
    struct wr_picture_crop crop;
    uint64_t start = wr_clock_ns();
    int r;

    if (!times)
        times = &unused;
    if (!s->len)
        return wr_fail(err, WEIR_EFORMAT, "empty file");
    r = plan(pd, s, &crop, err);
    if (r >= 0 && !slot)
        r = wr_picture_decode_drop(pd->picture, s->bytes, s->len, &crop, err);
    times->decode_ns += wr_clock_ns() - start;
    if (r < 0 || !slot)
        return r;
    return wr_picture_decode(pd->picture, s->bytes, s->len, &crop, slot, times,
                             err);
}

static void pictures_free(struct wr_decoder *d)
{
    struct pictures_decoder *pd = (struct pictures_decoder *)d;

    if (!pd)
        return;
    wr_picture_free(pd->picture);
    free(pd);
}

static const struct wr_decoder_ops pictures_decoder_ops = {
    .decode = pictures_decode,
    .free = pictures_free,
};

int wr_pictures_decoder_new(const struct wr_field_want *want,
                            struct wr_decoder **ret, weir_err *err)
{
    struct pictures_decoder *pd;
    int r = check_picture(&want->picture, err);

    if (r < 0)
        return r;
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pd->base.ops = &pictures_decoder_ops;
    pd->augment = (struct wr_augment){want->picture, want->seed};
    r = wr_picture_new(&pd->picture, &want->picture, err);
    if (r < 0) {
        free(pd);
        return r;
    }
    *ret = &pd->base;
    return 0;
}
