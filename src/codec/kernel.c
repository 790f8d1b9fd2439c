/* kernel.c - the inner loops in plain C, for every processor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/kernel.h"

static void vertical_narrow(const struct wr_vertical *v)
{
    for (size_t i = 0; i < v->n; i++) {
        int32_t sum = 0;

        for (uint32_t t = 0; t < v->taps; t += 2) {
            const int8_t *w = v->packed + 2 * t;
            int a = v->rows[t][i], b = v->rows[t + 1][i];

            sum += a * w[0] + b * w[1];
            sum += ((a * w[2] + b * w[3]) * 256 + 0x4000) >> 15;
        }
        v->out[i] = (int16_t)sum;
    }
}

static void vertical_wide(const struct wr_vertical *v)
{
    for (size_t i = 0; i < v->n; i++) {
        int32_t sum = 1 << (WR_WEIGHT_BITS - WR_MID_BITS - 1);

        for (uint32_t t = 0; t < v->taps; t++)
            sum += v->rows[t][i] * v->weights[t];
        v->out[i] = (int16_t)(sum >> (WR_WEIGHT_BITS - WR_MID_BITS));
    }
}

static void vertical(const struct wr_vertical *v)
{
    if (v->taps <= WR_NARROW_TAPS)
        vertical_narrow(v);
    else
        vertical_wide(v);
}

static void horizontal_rgb(const struct wr_taps *f, const int16_t *row,
                           float *quads)
{
    for (uint32_t o = 0; o < f->key.out; o++, quads += 4) {
        const int16_t *w = f->weight + (size_t)o * f->padded;
        const int16_t *in = row + (size_t)f->first[o] * 3;
        int32_t r = 0, g = 0, b = 0;

        for (uint32_t t = 0; t < f->count[o]; t++, in += 3) {
            r += in[0] * w[t];
            g += in[1] * w[t];
            b += in[2] * w[t];
        }
        quads[0] = (float)r;
        quads[1] = (float)g;
        quads[2] = (float)b;
        quads[3] = 0;
    }
}

static void horizontal_one(const struct wr_taps *f, const int16_t *row,
                           float *out)
{
    for (uint32_t o = 0; o < f->key.out; o++) {
        const int16_t *w = f->weight + (size_t)o * f->padded;
        const int16_t *in = row + f->first[o];
        int32_t sum = 0;

        for (uint32_t t = 0; t < f->count[o]; t++)
            sum += in[t] * w[t];
        out[o] = (float)sum;
    }
}

static float clamp_level(float v)
{
    v = v > 0 ? v : 0;
    return v < 255 * WR_LEVEL ? v : 255 * WR_LEVEL;
}

static void ycc(const struct wr_affine *a, float *const p[3], size_t n)
{
    const float middle = 128 * WR_LEVEL - a->lift;

    for (size_t i = 0; i < n; i++) {
        float y = p[0][i] + a->lift;
        float cb = p[1][i] - middle;
        float cr = p[2][i] - middle;

        p[0][i] = clamp_level(y + WR_CR_TO_R * cr);
        p[1][i] = clamp_level(y - WR_CB_TO_G * cb - WR_CR_TO_G * cr);
        p[2][i] = clamp_level(y + WR_CB_TO_B * cb);
    }
}

static void ycc_pack(const struct wr_affine *a, float *const planes[3],
                     size_t n, float *out)
{
    ycc(a, planes, n);
    for (size_t i = 0; i < n; i++, out += 3)
        for (int c = 0; c < 3; c++)
            out[c] = planes[c][i] * a->scale[c] + a->bias[c];
}

static void pack(const struct wr_affine *a, const float *quads, size_t n,
                 float *out)
{
    for (size_t i = 0; i < n; i++, quads += 4, out += 3)
        for (int c = 0; c < 3; c++)
            out[c] = quads[c] * a->scale[c] + a->bias[c];
}

static void split(const struct wr_affine *a, const float *quads, size_t n,
                  float *const out[3])
{
    for (size_t i = 0; i < n; i++, quads += 4)
        for (int c = 0; c < 3; c++)
            out[c][i] = quads[c] * a->scale[c] + a->bias[c];
}

static void to_f16(const float *in, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = wr_f16_from_f32(in[i]);
}

static void to_u8(const float *in, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = wr_u8_from_f32(in[i]);
}

const struct wr_kernels *wr_kernels_best(void)
{
    const struct wr_kernels *k = wr_kernels_avx2();

    return k ? k : &wr_kernels_plain;
}

const struct wr_kernels wr_kernels_plain = {
    .name = "plain",
    .vertical = vertical,
    .horizontal_rgb = horizontal_rgb,
    .horizontal_one = horizontal_one,
    .ycc = ycc,
    .ycc_pack = ycc_pack,
    .pack = pack,
    .split = split,
    .to_f16 = to_f16,
    .to_u8 = to_u8,
};
