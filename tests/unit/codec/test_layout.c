/* test_layout.c - types, orders, normalization, and nothing outside a slot.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/rng.h"
#include "codec/layout.h"

/* Value of a half by its definition. */
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 31  ? (mantissa ? NAN : INFINITY)
               : exponent == 0 ? ldexp(mantissa, -24)
                               : ldexp(1024 + mantissa, exponent - 25);

    return h & 0x8000 ? -v : v;
}

/* Every half must come back, and every midpoint must go to the even one. */
static void test_f16_rounding(void **state)
{
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double v = half_value((uint16_t)h);
        double next = h + 1 == 0x7c00 ? 65536.0 : half_value((uint16_t)(h + 1));
        float middle = (float)((v + next) / 2);

        assert_int_equal(wr_f16_from_f32((float)v), h);
        assert_int_equal(wr_f16_from_f32((float)-v), h | 0x8000);
        assert_int_equal(wr_f16_from_f32(middle), h & 1 ? h + 1 : h);
        assert_int_equal(wr_f16_from_f32(nextafterf(middle, 0)), h);
        assert_int_equal(wr_f16_from_f32(nextafterf(middle, 1e30f)), h + 1);
    }
    assert_int_equal(wr_f16_from_f32(1e9f), 0x7c00);
    assert_int_equal(wr_f16_from_f32(-INFINITY), 0xfc00);
    assert_int_equal(wr_f16_from_f32(NAN) & 0x7e00, 0x7e00);
}

struct tensor {
    weir_picture_config spec;
    float *pixels;  /* owned: h x w x channels levels */
    uint8_t *block; /* owned: slot with 64 guard bytes on both sides */
    uint8_t *slot;
};

/* The inverse of what the layout does to planes. */
static void to_ycc(float *const p[3], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double r = p[0][i], g = p[1][i], b = p[2][i];
        double y = 0.299 * r + 0.587 * g + 0.114 * b;

        p[0][i] = (float)y;
        p[1][i] = (float)((b - y) / 1.772 + 128 * WR_LEVEL);
        p[2][i] = (float)((r - y) / 1.402 + 128 * WR_LEVEL);
    }
}

static void put_rows(struct tensor *t, const struct wr_kernels *k, bool planes)
{
    struct wr_layout l = {0};
    uint32_t w = t->spec.width;
    float *quads = calloc((size_t)w + 8, 4 * sizeof(float));
    float *plane[3];

    for (int c = 0; c < 3; c++)
        plane[c] = calloc(w + 8, sizeof(float));
    assert_int_equal(wr_layout_init(&l, &t->spec, k, NULL), 0);
    for (uint32_t y = 0; y < t->spec.height; y++) {
        uint32_t ch = t->spec.channels;

        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 0; c < ch; c++) {
                float v = t->pixels[((size_t)y * w + x) * ch + c] * WR_LEVEL;

                quads[ch == 3 ? 4 * x + c : x] = v;
                plane[c][x] = v;
            }
        if (planes)
            to_ycc(plane, w);
        if (planes)
            wr_layout_put_ycc(&l, plane, y, t->slot);
        else
            wr_layout_put(&l, quads, y, t->slot);
    }
    wr_layout_done(&l);
    for (int c = 0; c < 3; c++)
        free(plane[c]);
    free(quads);
}

static double value_at(const struct tensor *t, size_t i)
{
    size_t size = wr_dtype_bytes(t->spec.dtype);
    const uint8_t *p = t->slot + i * size;
    uint16_t half;
    float single;

    if (t->spec.dtype == WEIR_U8)
        return *p;
    if (t->spec.dtype == WEIR_F16) {
        memcpy(&half, p, sizeof(half));
        return half_value(half);
    }
    memcpy(&single, p, sizeof(single));
    return single;
}

static void check_values(const struct tensor *t)
{
    uint32_t w = t->spec.width, h = t->spec.height, ch = t->spec.channels;

    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 0; c < ch; c++) {
                double level = t->pixels[((size_t)y * w + x) * ch + c];
                double want = (level / 255 - t->spec.mean[c]) / t->spec.std[c];
                size_t at = t->spec.layout == WEIR_NCHW
                                ? ((size_t)c * h + y) * w + x
                                : ((size_t)y * w + x) * ch + c;
                double slack = t->spec.dtype == WEIR_F16 ? 2e-3 : 5e-6;

                if (t->spec.dtype == WEIR_U8) {
                    want = floor(level + 0.5);
                    slack = 0;
                }
                assert_true(fabs(value_at(t, at) - want) <= slack);
            }
}

static void check_guards(const struct tensor *t, size_t offset)
{
    size_t bytes = wr_picture_slot_bytes(&t->spec);

    for (size_t i = 0; i < 64 + offset; i++)
        assert_int_equal(t->block[i], 0xa5);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(t->slot[bytes + i], 0xa5);
}

static void run(const weir_picture_config *spec, size_t offset,
                const struct wr_kernels *k, bool planes)
{
    struct tensor t = {.spec = *spec};
    size_t n = (size_t)spec->width * spec->height * spec->channels;
    size_t bytes = wr_picture_slot_bytes(spec);
    struct wr_rng rng = {.seed = n};

    t.pixels = malloc(n * sizeof(*t.pixels));
    for (size_t i = 0; i < n; i++) /* steps of 1/8: no ties at a half */
        t.pixels[i] = (float)(wr_rng_below(&rng, 255 * 4) * 2 + 1) / 8.0f;
    t.block = malloc(bytes + 128 + offset);
    memset(t.block, 0xa5, bytes + 128 + offset);
    t.slot = t.block + 64 + offset;
    put_rows(&t, k, planes);
    check_values(&t);
    check_guards(&t, offset);
    free(t.pixels);
    free(t.block);
}

static void test_all_layouts(void **state)
{
    const struct wr_kernels *kernels[] = {&wr_kernels_plain, wr_kernels_best()};

    for (int i = 0; i < 2 * 3 * 2 * 2 * 20; i++) {
        weir_picture_config spec = {
            .width = 1 + (uint32_t)(i / 24) % 20,
            .height = 1 + (uint32_t)i % 3,
            .channels = i & 1 ? 3 : 1,
            .dtype = (enum weir_dtype)(i / 2 % 3),
            .layout = (enum weir_layout)(i / 6 % 2),
            .mean = {0.485f, 0.456f, 0.406f},
            .std = {0.229f, 0.224f, 0.225f},
        };

        run(&spec, (size_t)i % 5, kernels[i / 12 % 2], false);
        if (spec.channels == 3)
            run(&spec, (size_t)i % 5, kernels[i / 12 % 2], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f16_rounding),
        cmocka_unit_test(test_all_layouts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
