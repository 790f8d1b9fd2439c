/* test_jpegenc.c - pixels come back from the encoded picture.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "../gen/decode.h"
#include "codec/jpegenc.h"

static int setup(void **state)
{
    struct wr_jpegenc *e = NULL;
    int r = wr_jpegenc_new(&e, NULL);

    *state = e;
    return r;
}

static int teardown(void **state)
{
    wr_jpegenc_free(*state);
    return 0;
}

/* A smooth picture, which survives well. */
static uint8_t *gradient(uint32_t w, uint32_t h, uint32_t channels)
{
    uint8_t *px = malloc((size_t)w * h * channels);

    for (uint32_t i = 0; i < w * h * channels; i++)
        px[i] = (uint8_t)(i / channels % w * 200 / w + i % channels * 20);
    return px;
}

static void round_trip(struct wr_jpegenc *e, const struct wr_jpegenc_picture *p)
{
    const uint8_t *bytes;
    struct decoded d;
    weir_err err;
    size_t len, n = (size_t)p->width * p->height * p->channels;
    double sum = 0;

    assert_int_equal(wr_jpegenc_encode(e, p, &bytes, &len, &err), 0);
    assert_int_equal(decode(bytes, len, &d), 0);
    assert_int_equal(d.warnings, 0);
    assert_int_equal(d.width, p->width);
    assert_int_equal(d.height, p->height);
    assert_int_equal(d.channels, p->channels);
    assert_int_equal(d.sampling, p->full_chroma || p->channels == 1 ? 1 : 2);
    for (size_t i = 0; i < n; i++)
        sum += abs(d.pixels[i] - p->pixels[i]);
    assert_true(sum / (double)n < 3.0);
    free(d.pixels);
}

/* Four bytes per pixel give what three do. */
static void test_padded(void **state)
{
    struct wr_jpegenc_picture p = {.width = 61, .height = 40, .quality = 92};
    uint8_t *rgb = gradient(p.width, p.height, 3);
    uint8_t *four = malloc((size_t)p.width * p.height * 4);
    const uint8_t *bytes;
    uint8_t *first;
    size_t len, again;

    for (size_t k = 0; k < (size_t)p.width * p.height; k++) {
        memcpy(four + 4 * k, rgb + 3 * k, 3);
        four[4 * k + 3] = (uint8_t)k; /* ignored */
    }
    p.channels = 3;
    p.pixels = rgb;
    assert_int_equal(wr_jpegenc_encode(*state, &p, &bytes, &len, NULL), 0);
    first = malloc(len);
    memcpy(first, bytes, len);
    p.channels = 4;
    p.pixels = four;
    assert_int_equal(wr_jpegenc_encode(*state, &p, &bytes, &again, NULL), 0);
    assert_int_equal(len, again);
    assert_memory_equal(first, bytes, len);
    free(first);
    free(four);
    free(rgb);
}

static void test_round_trip(void **state)
{
    static const uint32_t sides[] = {1, 15, 16, 33, 200};

    for (unsigned k = 0; k < 5 * 5 * 3; k++) {
        uint32_t w = sides[k % 5], h = sides[k / 5 % 5];
        uint32_t channels = k / 25 == 2 ? 1 : 3;
        uint8_t *px = gradient(w, h, channels);

        round_trip(*state,
                   &(struct wr_jpegenc_picture){.pixels = px,
                                                .width = w,
                                                .height = h,
                                                .channels = channels,
                                                .quality = 92,
                                                .full_chroma = k / 25 == 1});
        free(px);
    }
}

/* Noise at quality 100 outgrows the first buffer. */
static void test_large(void **state)
{
    const uint32_t side = 1024;
    uint8_t *px = malloc((size_t)side * side * 3);
    struct wr_jpegenc_picture p = {.pixels = px,
                                   .width = side,
                                   .height = side,
                                   .channels = 3,
                                   .quality = 100,
                                   .full_chroma = true};
    const uint8_t *bytes;
    struct decoded d;
    size_t len;

    for (uint32_t i = 0; i < side * side * 3; i++)
        px[i] = (uint8_t)wr_rng_at(1, 1, i);
    assert_int_equal(wr_jpegenc_encode(*state, &p, &bytes, &len, NULL), 0);
    assert_true(len > 2u << 20);
    assert_int_equal(decode(bytes, len, &d), 0);
    free(d.pixels);
    free(px);
}

/* A refused picture leaves an encoder that still works. */
static void test_refused(void **state)
{
    uint8_t *px = gradient(16, 16, 3);
    struct wr_jpegenc_picture p = {
        .pixels = px, .width = 0, .height = 16, .channels = 3, .quality = 90};
    const uint8_t *bytes = NULL;
    size_t len = 1;
    weir_err err;

    assert_int_equal(wr_jpegenc_encode(*state, &p, &bytes, &len, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "JPEG encoder"));
    assert_null(bytes);
    p.width = 70000;
    assert_int_equal(wr_jpegenc_encode(*state, &p, &bytes, &len, &err),
                     WEIR_EINVAL);
    p.width = 16;
    round_trip(*state, &p);
    free(px);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
