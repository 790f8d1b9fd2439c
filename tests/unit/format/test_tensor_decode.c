/* test_tensor_decode.c - what comes out of stored tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "format/decode.h"

static weir_pipeline_config config(enum weir_dtype dtype,
                                   enum weir_layout layout)
{
    weir_pipeline_config cfg = {.picture.dtype = dtype,
                                .picture.layout = layout};

    for (unsigned c = 0; c < 3; c++) {
        cfg.picture.mean[c] = 0.1f * (float)(c + 1);
        cfg.picture.std[c] = 0.5f + (float)c;
    }
    return cfg;
}

static struct wr_index *index_of(enum weir_dtype dtype, uint32_t ndim,
                                 uint64_t a, uint64_t b, uint64_t c)
{
    const struct wr_field x = {
        .pub = {.dtype = dtype, .ndim = ndim, .dims = {a, b, c}}, .name = "x"};
    struct wr_index *ix = wr_index_new();

    assert_int_equal(wr_index_add_field(ix, &x, NULL), 0);
    return ix;
}

/* Decodes 2x2x3 bytes 0, 20, 40, ... and gives the shape. */
static struct wr_tensor_shape decode(const weir_pipeline_config *cfg, void *out)
{
    struct wr_index *ix = index_of(WEIR_U8, 3, 2, 2, 3);
    struct wr_tensor_shape shape;
    struct wr_decoder *d;
    uint8_t in[12];
    struct wr_sample s = {.bytes = in, .len = 12};
    weir_err err;

    for (unsigned k = 0; k < 12; k++)
        in[k] = (uint8_t)(k * 20);
    assert_int_equal(wr_first_shape(ix, cfg, &shape, &err), 0);
    assert_int_equal(wr_first_decoder(ix, cfg, &d, &err), 0);
    assert_int_equal(d->ops->decode(d, &s, out, NULL, &err), 0);
    assert_int_equal(d->ops->decode(d, &s, NULL, NULL, &err), 0);
    s.len = 11;
    assert_int_equal(d->ops->decode(d, &s, out, NULL, &err), WEIR_EFORMAT);
    d->ops->free(d);
    wr_index_free(ix);
    return shape;
}

static float expected(const weir_pipeline_config *cfg, unsigned k)
{
    return ((float)(k * 20) / 255.0f - cfg->picture.mean[k % 3]) /
           cfg->picture.std[k % 3];
}

/* Where value k (pixel k / 3, channel k % 3) goes. */
static unsigned place_of(const weir_pipeline_config *cfg, unsigned k)
{
    return cfg->picture.layout == WEIR_NCHW ? k % 3 * 4 + k / 3 : k;
}

static void test_f32(void **state)
{
    (void)state;
    for (int layout = WEIR_NHWC; layout <= WEIR_NCHW; layout++) {
        weir_pipeline_config cfg = config(WEIR_F32, layout);
        float out[12];
        struct wr_tensor_shape s = decode(&cfg, out);

        assert_false(s.direct);
        assert_int_equal(s.bytes, 48);
        assert_int_equal(s.dims[0], layout == WEIR_NCHW ? 3 : 2);
        assert_int_equal(s.dims[2], layout == WEIR_NCHW ? 2 : 3);
        for (unsigned k = 0; k < 12; k++)
            assert_true(fabsf(out[place_of(&cfg, k)] - expected(&cfg, k)) <
                        1e-6f);
    }
}

static float from_f16(uint16_t h)
{
    int exponent = h >> 10 & 31;
    float mag = exponent ? ldexpf(1 + (h & 1023) / 1024.0f, exponent - 15)
                         : ldexpf((h & 1023) / 1024.0f, -14);

    return h & 0x8000 ? -mag : mag;
}

static void test_f16(void **state)
{
    (void)state;
    for (int layout = WEIR_NHWC; layout <= WEIR_NCHW; layout++) {
        weir_pipeline_config cfg = config(WEIR_F16, layout);
        uint16_t out[12];
        struct wr_tensor_shape s = decode(&cfg, out);

        assert_int_equal(s.bytes, 24);
        for (unsigned k = 0; k < 12; k++)
            assert_true(fabsf(from_f16(out[place_of(&cfg, k)]) -
                              expected(&cfg, k)) < 1e-3f);
    }
}

static void test_u8(void **state)
{
    (void)state;
    for (int layout = WEIR_NHWC; layout <= WEIR_NCHW; layout++) {
        weir_pipeline_config cfg = config(WEIR_U8, layout);
        uint8_t out[12];
        struct wr_tensor_shape s = decode(&cfg, out);

        assert_int_equal(s.direct, layout == WEIR_NHWC);
        for (unsigned k = 0; k < 12; k++)
            assert_int_equal(out[place_of(&cfg, k)], k * 20);
    }
}

static void test_direct(void **state)
{
    weir_pipeline_config cfg = config(WEIR_F32, WEIR_NCHW);
    struct wr_index *ix = index_of(WEIR_F32, 3, 2, 2, 3);
    struct wr_tensor_shape s;
    weir_err err;

    (void)state;
    /* Floats are taken as they lie, whatever their layout is. */
    assert_int_equal(wr_first_shape(ix, &cfg, &s, &err), 0);
    assert_true(s.direct);
    assert_int_equal(s.dims[0], 2);
    assert_int_equal(s.bytes, 48);
    cfg.picture.dtype = WEIR_F16;
    assert_int_equal(wr_first_shape(ix, &cfg, &s, &err), 0);
    assert_false(s.direct);
    assert_int_equal(s.bytes, 24);
    wr_index_free(ix);

    ix = index_of(WEIR_U8, 2, 28, 28, 0);
    cfg.picture.dtype = WEIR_U8;
    assert_int_equal(wr_first_shape(ix, &cfg, &s, &err), 0);
    assert_true(s.direct);
    cfg.picture.dtype = WEIR_F32;
    assert_int_equal(wr_first_shape(ix, &cfg, &s, &err), WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, "ask for dtype u8"));
    wr_index_free(ix);

    ix = index_of(WEIR_U8, 3, 2, 2, 3);
    cfg.picture.std[2] = 0;
    assert_int_equal(wr_first_shape(ix, &cfg, &s, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "std 0"));
    wr_index_free(ix);
}

/* Decodes one part of field `f`. */
static int decode_part(const struct wr_field *f, enum weir_dtype to,
                       const void *part, size_t len, void *out)
{
    struct wr_field_want want = {.convert = true, .dtype = to};
    struct wr_sample s = {.bytes = part, .len = len};
    struct wr_tensor_shape shape;
    struct wr_decoder *d;
    weir_err err;
    int r = wr_tensor_shape(f, &want, &shape, &err);

    if (r < 0)
        return r;
    assert_int_equal(shape.dtype, to);
    assert_int_equal(shape.direct,
                     !f->strided && !f->swap && f->pub.dtype == to);
    assert_int_equal(wr_tensor_decoder_new(f, &want, &d, &err), 0);
    r = d->ops->decode(d, &s, out, NULL, &err);
    d->ops->free(d);
    return r;
}

static void test_cast(void **state)
{
    const struct wr_field x = {
        .pub = {.dtype = WEIR_I16, .ndim = 1, .dims = {3}}, .name = "x"};
    const struct wr_field c = {
        .pub = {.dtype = WEIR_C64, .ndim = 1, .dims = {3}}, .name = "c"};
    const int16_t in[] = {-3, 7, 300};
    float f32[3];
    uint8_t u8[3];

    (void)state;
    assert_int_equal(decode_part(&x, WEIR_F32, in, 6, f32), 0);
    assert_true(f32[0] == -3 && f32[1] == 7 && f32[2] == 300);
    assert_int_equal(decode_part(&x, WEIR_U8, in, 6, u8), 0);
    assert_true(u8[0] == 0 && u8[1] == 7 && u8[2] == 255);
    assert_int_equal(decode_part(&x, WEIR_I16, in, 6, f32), 0);
    assert_memory_equal(f32, in, 6);
    assert_int_equal(decode_part(&x, WEIR_F32, in, 4, f32), WEIR_EFORMAT);
    assert_int_equal(decode_part(&c, WEIR_F32, in, 24, f32), WEIR_ENOTSUP);
}

/* Big-endian, and two samples of 2x3 among each other, as a C array of 2x3x2
 * has them. */
static void test_order(void **state)
{
    struct wr_field x = {.pub = {.dtype = WEIR_U16, .ndim = 2, .dims = {2, 3}},
                         .name = "x",
                         .swap = true};
    const uint8_t plain[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0};
    const uint8_t mixed[] = {0, 1, 9, 9, 0, 2, 9, 9, 0, 3, 9,
                             9, 0, 4, 9, 9, 0, 5, 9, 9, 1, 0};
    const uint16_t want[] = {1, 2, 3, 4, 5, 256};
    const uint16_t fortran[] = {1, 3, 5, 2, 4, 256};
    uint16_t out[6];
    double wide[6];

    (void)state;
    assert_int_equal(decode_part(&x, WEIR_U16, plain, 12, out), 0);
    assert_memory_equal(out, want, sizeof(want));
    assert_int_equal(decode_part(&x, WEIR_F64, plain, 12, wide), 0);
    assert_true(wide[0] == 1 && wide[5] == 256);
    x.strided = x.scaled = true;
    x.strides[0] = 6;
    x.strides[1] = 2;
    assert_int_equal(decode_part(&x, WEIR_U16, mixed, 22, out), 0);
    assert_memory_equal(out, want, sizeof(want));
    assert_int_equal(decode_part(&x, WEIR_U16, plain, 12, out), 0);
    assert_memory_equal(out, want, sizeof(want)); /* alone */
    assert_int_equal(decode_part(&x, WEIR_F64, mixed, 22, wide), 0);
    assert_true(wide[3] == 4 && wide[5] == 256);
    assert_int_equal(decode_part(&x, WEIR_U16, mixed, 20, out), WEIR_EFORMAT);
    assert_int_equal(decode_part(&x, WEIR_U16, mixed, 2, out), WEIR_EFORMAT);
    x.scaled = false;
    x.strides[0] = 2;
    x.strides[1] = 4;
    assert_int_equal(decode_part(&x, WEIR_U16, plain, 12, out), 0);
    assert_memory_equal(out, fortran, sizeof(fortran));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),  cmocka_unit_test(test_f16),
        cmocka_unit_test(test_u8),   cmocka_unit_test(test_direct),
        cmocka_unit_test(test_cast), cmocka_unit_test(test_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
