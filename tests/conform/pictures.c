/* pictures.c - what every kind of picture must do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One line per picture, from the corpora of the fuzzers; each kind in the
 * registry needs one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../unit/codec/corpus.h"
#include "codec/codec.h"

static const struct {
    enum wr_picture_kind kind;
    const char *name;
} samples[] = {
    {WR_PICTURE_JPEG, "jpeg/420"},      {WR_PICTURE_PNG, "png/rgb"},
    {WR_PICTURE_PNG, "png/interlaced"}, {WR_PICTURE_WEBP, "webp/lossy"},
    {WR_PICTURE_WEBP, "webp/animated"}, {WR_PICTURE_TIFF, "tiff/rgb-raw"},
    {WR_PICTURE_TIFF, "tiff/jpeg"},     {WR_PICTURE_GIF, "gif/interlaced"},
    {WR_PICTURE_BMP, "bmp/24"},         {WR_PICTURE_BMP, "bmp/rle8"},
    {WR_PICTURE_PNM, "pnm/p6"},         {WR_PICTURE_PNM, "pnm/p2"},
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static struct wr_picture_decoder *new_decoder(uint32_t w, uint32_t h,
                                              uint32_t channels)
{
    const weir_picture_config spec = {
        .width = w, .height = h, .channels = channels, .dtype = WEIR_U8};
    struct wr_picture_decoder *d = NULL;

    assert_int_equal(wr_picture_new(&d, &spec, NULL), 0);
    return d;
}

/* The codec's table is complete, or says why it is not there. */
static void check_table(enum wr_picture_kind kind, struct made m)
{
    const struct wr_codec *c = NULL;
    weir_err err = {0};
    int i = wr_codec_find(m.bytes, m.len, &err);

    for (size_t k = 0; k < WR_CODEC_COUNT; k++)
        if (wr_codec_at(k)->kind == kind)
            c = wr_codec_at(k);
    assert_non_null(c);
    if (i < 0) {
        assert_int_equal(i, WEIR_ENOTSUP);
        assert_non_null(strstr(err.msg, "was built without"));
        assert_non_null(strstr(err.msg, "meson option"));
        return;
    }
    assert_ptr_equal(wr_codec_at((size_t)i), c);
    assert_true(c->info && c->start && c->read && c->finish && c->state_bytes &&
                c->state_done);
}

/* The header says what comes; a tensor of that size is the picture; a region
 * is a part of it; gray is made of it. */
static void check_pixels(struct made m, const struct wr_picture_info *info)
{
    uint32_t w = info->width, h = info->height;
    const struct wr_picture_crop crop = {w / 4, h / 3, w / 2 + 1, h / 2 + 1,
                                         false};
    struct wr_picture_decoder *d = new_decoder(w, h, 3);
    struct wr_picture_decoder *part = new_decoder(crop.width, crop.height, 3);
    uint8_t *slot = malloc((size_t)w * h * 3);
    struct wr_picture_info seen = {0};
    const uint8_t *whole;

    assert_int_equal(
        wr_picture_decode_only(d, m.bytes, m.len, &seen, &whole, NULL), 0);
    assert_int_equal(seen.width, w);
    assert_int_equal(seen.height, h);
    assert_int_equal(seen.kind, info->kind);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, slot, NULL, NULL), 0);
    assert_memory_equal(slot, whole, (size_t)w * h * 3);
    assert_int_equal(
        wr_picture_decode(part, m.bytes, m.len, &crop, slot, NULL, NULL), 0);
    for (uint32_t y = 0; y < crop.height; y++)
        assert_memory_equal(slot + (size_t)y * crop.width * 3,
                            whole + ((size_t)(crop.y + y) * w + crop.x) * 3,
                            (size_t)crop.width * 3);
    assert_int_equal(wr_picture_decode_drop(d, m.bytes, m.len, &crop, NULL), 0);
    wr_picture_free(d);
    wr_picture_free(part);
    free(slot);
}

/* Half of it is an error, and the decoder goes on with the next one. */
static void check_damage(struct made m)
{
    struct wr_picture_decoder *d = new_decoder(16, 16, 1);
    uint8_t before[16 * 16], after[16 * 16];
    weir_err err;

    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, before, NULL, &err), 0);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len / 2, NULL, after, NULL, &err),
        WEIR_EFORMAT);
    assert_true(strlen(err.msg) > 10);
    assert_int_equal(
        wr_picture_decode(d, m.bytes, m.len, NULL, after, NULL, &err), 0);
    assert_memory_equal(before, after, sizeof(before));
    wr_picture_free(d);
}

static void test_every_kind(void **state)
{
    bool seen[WR_PICTURE_KINDS] = {0};

    (void)state;
    for (size_t k = 0; k < SAMPLES; k++) {
        struct made m = corpus_picture(samples[k].name);
        struct wr_picture_info info = {0};

        seen[samples[k].kind] = true;
        assert_int_equal(wr_picture_probe(m.bytes, m.len), samples[k].kind);
        check_table(samples[k].kind, m);
        if (wr_picture_info(m.bytes, m.len, &info, NULL) == 0) {
            assert_int_equal(info.orientation, WR_PICTURE_UPRIGHT);
            check_pixels(m, &info);
            if (!strstr(samples[k].name, "animated")) /* a frame may be there */
                check_damage(m);
        } else {
            print_message("%s: not in this build\n", samples[k].name);
        }
        free(m.bytes);
    }
    for (int k = 1; k < WR_PICTURE_KINDS; k++)
        assert_true(seen[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
