/* test_pictures_augment.c - pictures are cropped and flipped as planned.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "codec/augment.h"
#include "codec/jpegenc.h"
#include "format/decode.h"

#define W     210
#define H     140
#define SIDE  32
#define BYTES (SIDE * SIDE * 3)

/* A picture whose every part looks different; lent by the encoder. */
static struct wr_sample picture(struct wr_jpegenc *e)
{
    static uint8_t pixels[W * H * 3];
    struct wr_jpegenc_picture p = {.pixels = pixels,
                                   .width = W,
                                   .height = H,
                                   .channels = 3,
                                   .quality = 90};
    struct wr_sample s = {0};

    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(wr_mix64(i / 3 / 8) % 64 + i / 3 % W);
    assert_int_equal(wr_jpegenc_encode(e, &p, &s.bytes, &s.len, NULL), 0);
    return s;
}

static weir_pipeline_config config(enum weir_crop crop, int flip)
{
    return (weir_pipeline_config){
        .picture.width = SIDE,
        .picture.height = SIDE,
        .picture.channels = 3,
        .picture.dtype = WEIR_U8,
        .picture.crop = crop,
        .picture.crop_center = 0.875f,
        .picture.crop_area = {0.08f, 1},
        .picture.crop_ratio = {3.0f / 4, 4.0f / 3},
        .picture.flip = flip,
        .seed = 4,
    };
}

static struct wr_decoder *decoder(const weir_pipeline_config *cfg)
{
    const struct wr_field_want want = wr_want_of(cfg);
    struct wr_decoder *d = NULL;
    weir_err err;

    if (wr_pictures_decoder_new(&want, &d, &err) < 0)
        fail_msg("%s", err.msg);
    return d;
}

/* The same by the codec, with the plan's rectangle. */
static void by_plan(const weir_pipeline_config *cfg, const struct wr_sample *s,
                    uint8_t *slot)
{
    weir_picture_config spec = {
        .width = SIDE, .height = SIDE, .channels = 3, .dtype = WEIR_U8};
    struct wr_picture_decoder *p = NULL;
    struct wr_picture_crop c;
    struct wr_augment a = {cfg->picture, cfg->seed};

    c = wr_augment_plan(&a, W, H, s->epoch, s->id);
    assert_int_equal(wr_picture_new(&p, &spec, NULL), 0);
    assert_int_equal(
        wr_picture_decode(p, s->bytes, s->len, &c, slot, NULL, NULL), 0);
    wr_picture_free(p);
}

static void test_as_planned(void **state)
{
    struct wr_jpegenc *e = NULL;
    struct wr_sample s;

    assert_int_equal(wr_jpegenc_new(&e, NULL), 0);
    s = picture(e);
    for (int how = 0; how < 6; how++) {
        weir_pipeline_config cfg = config((enum weir_crop)(how / 2), how % 2);
        struct wr_decoder *d = decoder(&cfg);
        uint8_t got[BYTES], want[BYTES];
        struct wr_picture_times times = {0};

        for (s.id = 0; s.id < 20; s.id++) {
            s.epoch = s.id / 5;
            assert_int_equal(d->ops->decode(d, &s, got, &times, NULL), 0);
            by_plan(&cfg, &s, want);
            assert_memory_equal(got, want, BYTES);
            assert_int_equal(d->ops->decode(d, &s, NULL, NULL, NULL), 0);
        }
        assert_true(times.decode_ns > 0 && times.resample_ns > 0);
        d->ops->free(d);
    }
    wr_jpegenc_free(e);
}

/* The stage `decode` leaves out what the crop leaves out: damage behind it
 * fails no sample, exactly as when pixels are wanted. */
static void test_decode_stage_is_partial(void **state)
{
    weir_pipeline_config cfg = config(WEIR_CROP_RANDOM, 0);
    struct wr_jpegenc *e = NULL;
    struct wr_decoder *d;
    struct wr_sample s;
    uint8_t *cut, slot[BYTES];
    unsigned good = 0;

    cfg.picture.crop_area[1] = 0.2f;
    d = decoder(&cfg);
    assert_int_equal(wr_jpegenc_new(&e, NULL), 0);
    s = picture(e);
    s.len = s.len * 2 / 3;
    cut = malloc(s.len);
    memcpy(cut, s.bytes, s.len);
    s.bytes = cut;
    for (s.id = 0; s.id < 200; s.id++) {
        int r = d->ops->decode(d, &s, NULL, NULL, NULL);

        assert_int_equal(r, d->ops->decode(d, &s, slot, NULL, NULL));
        assert_true(r == 0 || r == WEIR_EFORMAT);
        good += r == 0;
    }
    assert_in_range(good, 10, 190);
    d->ops->free(d);
    wr_jpegenc_free(e);
    free(cut);
}

static void test_bad_headers(void **state)
{
    weir_pipeline_config cfg = config(WEIR_CROP_RANDOM, 1);
    struct wr_decoder *d = decoder(&cfg);
    struct wr_sample s = {.bytes = (const uint8_t *)"no picture", .len = 10};
    uint8_t slot[BYTES];
    weir_err err;

    assert_int_equal(d->ops->decode(d, &s, slot, NULL, &err), WEIR_EFORMAT);
    s.len = 0;
    assert_int_equal(d->ops->decode(d, &s, slot, NULL, &err), WEIR_EFORMAT);
    assert_string_equal(err.msg, "empty file");
    d->ops->free(d);
}

static void test_refused(void **state)
{
    weir_pipeline_config cfg = config(WEIR_CROP_RANDOM, 1);
    struct wr_field_want want = wr_want_of(&cfg);
    struct wr_tensor_shape shape;
    struct wr_decoder *d = NULL;
    weir_err err;

    assert_int_equal(wr_pictures_shape(&want, &shape, &err), 0);
    want.picture.crop_area[1] = 2;
    assert_int_equal(wr_pictures_shape(&want, &shape, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "crop_area"));
    assert_int_equal(wr_pictures_decoder_new(&want, &d, &err), WEIR_EINVAL);
    assert_null(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_planned),
        cmocka_unit_test(test_decode_stage_is_partial),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
