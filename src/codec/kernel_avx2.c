/* kernel_avx2.c - the inner loops for x86 processors with AVX2.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Same bits as kernel.c. FMA is left out on purpose: it would round once where
 * plain C rounds twice. */
#include "codec/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

/* A pair of rows and its weights, upper and lower halves. */
struct pair {
    const uint8_t *a, *b;
    __m256i upper, lower;
};

AVX2 static inline struct pair pair_of(const struct wr_vertical *v, uint32_t p)
{
    int16_t both[2];

    memcpy(both, v->packed + 4 * p, sizeof(both));
    return (struct pair){v->rows[2 * p], v->rows[2 * p + 1],
                         _mm256_set1_epi16(both[0]),
                         _mm256_set1_epi16(both[1])};
}

/* Two rows' bytes, interleaved; 32 sums of the pair stay in their places. */
AVX2 static inline void add_narrow(const struct pair *p, size_t i,
                                   __m256i sum[2])
{
    const __m256i round = _mm256_set1_epi16(256);
    __m256i va = _mm256_loadu_si256((const void *)(p->a + i));
    __m256i vb = _mm256_loadu_si256((const void *)(p->b + i));
    __m256i part[2] = {_mm256_unpacklo_epi8(va, vb),
                       _mm256_unpackhi_epi8(va, vb)};

    for (int k = 0; k < 2; k++) {
        __m256i low = _mm256_maddubs_epi16(part[k], p->lower);
        __m256i up = _mm256_maddubs_epi16(part[k], p->upper);

        sum[k] = _mm256_add_epi16(sum[k], up);
        sum[k] = _mm256_add_epi16(sum[k], _mm256_mulhrs_epi16(low, round));
    }
}

AVX2 static inline void store_narrow(const __m256i sum[2], int16_t *out)
{
    _mm256_storeu_si256((void *)out,
                        _mm256_permute2x128_si256(sum[0], sum[1], 0x20));
    _mm256_storeu_si256((void *)(out + 16),
                        _mm256_permute2x128_si256(sum[0], sum[1], 0x31));
}

/* Inlined with a constant number of pairs, up to 3, so that they stay in
 * registers. */
AVX2 static inline __attribute__((always_inline)) void
narrow_few(const struct wr_vertical *v, uint32_t pairs)
{
    int16_t *out = v->out;
    size_t n = v->n;
    struct pair pair[3];

    for (uint32_t p = 0; p < pairs; p++)
        pair[p] = pair_of(v, p);
    for (size_t i = 0; i < n; i += 32) {
        __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

        for (uint32_t p = 0; p < pairs; p++)
            add_narrow(&pair[p], i, sum);
        store_narrow(sum, out + i);
    }
}

AVX2 static void narrow_many(const struct wr_vertical *v)
{
    for (size_t i = 0; i < v->n; i += 32) {
        __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

        for (uint32_t p = 0; p < (v->taps + 1) / 2; p++) {
            struct pair pair = pair_of(v, p);

            add_narrow(&pair, i, sum);
        }
        store_narrow(sum, v->out + i);
    }
}

/* Bytes of two rows, interleaved, times their two weights; four sums of 8. */
AVX2 static inline void add_pair(const uint8_t *a, const uint8_t *b, __m256i w,
                                 __m256i sum[4])
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i va = _mm256_loadu_si256((const void *)a);
    __m256i vb = _mm256_loadu_si256((const void *)b);
    __m256i lo = _mm256_unpacklo_epi8(va, vb);
    __m256i hi = _mm256_unpackhi_epi8(va, vb);
    __m256i part[4] = {
        _mm256_unpacklo_epi8(lo, zero),
        _mm256_unpackhi_epi8(lo, zero),
        _mm256_unpacklo_epi8(hi, zero),
        _mm256_unpackhi_epi8(hi, zero),
    };

    for (int i = 0; i < 4; i++)
        sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(part[i], w));
}

/* 32 sums -> 32 values of int16, in the order of the bytes they came from:
 * each half of a vector holds its own 16 bytes. */
AVX2 static inline void store_sums(__m256i sum[4], int16_t *out)
{
    __m256i lo, hi;

    for (int i = 0; i < 4; i++)
        sum[i] = _mm256_srai_epi32(sum[i], WR_WEIGHT_BITS - WR_MID_BITS);
    lo = _mm256_packs_epi32(sum[0], sum[1]);
    hi = _mm256_packs_epi32(sum[2], sum[3]);
    _mm256_storeu_si256((void *)out, _mm256_permute2x128_si256(lo, hi, 0x20));
    _mm256_storeu_si256((void *)(out + 16),
                        _mm256_permute2x128_si256(lo, hi, 0x31));
}

AVX2 static inline __m256i weight_pair(const int16_t *w)
{
    int32_t both;

    memcpy(&both, w, sizeof(both));
    return _mm256_set1_epi32(both);
}

AVX2 static void vertical_wide(const struct wr_vertical *v)
{
    const __m256i half = _mm256_set1_epi32(
        1 << (WR_WEIGHT_BITS - WR_MID_BITS - 1));

    for (size_t i = 0; i < v->n; i += 32) {
        __m256i sum[4] = {half, half, half, half};

        for (uint32_t t = 0; t < v->taps; t += 2)
            add_pair(v->rows[t] + i, v->rows[t + 1] + i,
                     weight_pair(v->weights + t), sum);
        store_sums(sum, v->out + i);
    }
}

AVX2 static void vertical(const struct wr_vertical *v)
{
    if (v->taps <= 2)
        narrow_few(v, 1);
    else if (v->taps <= 4)
        narrow_few(v, 2);
    else if (v->taps <= 6)
        narrow_few(v, 3);
    else if (v->taps <= WR_NARROW_TAPS)
        narrow_many(v);
    else
        vertical_wide(v);
}

AVX2 static inline __m256i load_two(const int16_t *a, const int16_t *b)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const void *)a)),
        _mm_loadu_si128((const void *)b), 1);
}

/* Two outputs at once: r0 g0 b0 r1 g1 b1 .. -> r0 r1 g0 g1 b0 b1 0 0, then
 * one multiply-add makes the sums of r, g and b over a pair of taps. */
AVX2 static inline __attribute__((always_inline)) void
rgb_pairs(const struct wr_taps *f, const int16_t *row, float *quads,
          uint32_t pairs)
{
    const __m256i order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1));
    const __m256i *w = f->packed;
    const uint32_t *at = f->first, *end = at + f->key.out;

    for (; at < end; at += 2, quads += 8) {
        const int16_t *a = row + (size_t)at[0] * 3;
        const int16_t *b = row + (size_t)at[1] * 3;
        __m256i sum = _mm256_setzero_si256();

        for (uint32_t p = 0; p < pairs; p++) {
            __m256i v = _mm256_shuffle_epi8(load_two(a + 6 * p, b + 6 * p),
                                            order);

            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(v, *w++));
        }
        _mm256_storeu_ps(quads, _mm256_cvtepi32_ps(sum));
    }
}

AVX2 static void horizontal_rgb(const struct wr_taps *f, const int16_t *row,
                                float *quads)
{
    if (f->pairs == 1)
        rgb_pairs(f, row, quads, 1);
    else if (f->pairs == 2)
        rgb_pairs(f, row, quads, 2);
    else if (f->pairs == 3)
        rgb_pairs(f, row, quads, 3);
    else
        rgb_pairs(f, row, quads, f->pairs);
}

/* Eight outputs at once, eight taps a step; `blocks` as above. */
AVX2 static inline __attribute__((always_inline)) void
one_blocks(const struct wr_taps *f, const int16_t *row, float *out,
           uint32_t blocks)
{
    const __m256i *w = f->packed;
    const uint32_t *at = f->first, *end = at + f->key.out;

    for (; at < end; at += 8, out += 8) {
        __m256i sum[4] = {0}, all;

        for (uint32_t b = 0; b < blocks; b++)
            for (int t = 0; t < 4; t++) {
                __m256i v = load_two(row + at[t] + 8 * b,
                                     row + at[t + 4] + 8 * b);

                sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(v, *w++));
            }
        all = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]),
                                _mm256_hadd_epi32(sum[2], sum[3]));
        _mm256_storeu_ps(out, _mm256_cvtepi32_ps(all));
    }
}

/* Eight outputs out of two windows: each half of a vector picks the pairs of
 * taps of its four outputs. */
AVX2 static inline __attribute__((always_inline)) void
one_windows(const struct wr_taps *f, const int16_t *row, float *out,
            uint32_t pairs)
{
    const struct wr_window *w = f->packed;
    const uint32_t *at = f->window;

    for (uint32_t o = 0; o < f->key.out; o += 8, at += 2, out += 8) {
        __m256i v = load_two(row + at[0], row + at[1]);
        __m256i sum = _mm256_setzero_si256();

        for (uint32_t p = 0; p < pairs; p++, w++) {
            __m256i order = _mm256_load_si256((const void *)w->order);
            __m256i weight = _mm256_load_si256((const void *)w->weight);

            sum = _mm256_add_epi32(
                sum, _mm256_madd_epi16(_mm256_shuffle_epi8(v, order), weight));
        }
        _mm256_storeu_ps(out, _mm256_cvtepi32_ps(sum));
    }
}

AVX2 static void horizontal_one(const struct wr_taps *f, const int16_t *row,
                                float *out)
{
    if (f->is_windowed && f->pairs == 2)
        one_windows(f, row, out, 2);
    else if (f->is_windowed)
        one_windows(f, row, out, f->pairs);
    else if (f->padded == 8)
        one_blocks(f, row, out, 1);
    else
        one_blocks(f, row, out, f->padded / 8);
}

AVX2 static inline __m256 clamp_level(__m256 v)
{
    v = _mm256_max_ps(v, _mm256_setzero_ps());
    return _mm256_min_ps(v, _mm256_set1_ps(255 * WR_LEVEL));
}

/* Eight pixels at i: rgb[0..2] from y, cb, cr. */
AVX2 static inline void ycc_eight(float lift, float *const p[3], size_t i,
                                  __m256 rgb[3])
{
    const __m256 middle = _mm256_set1_ps(128 * WR_LEVEL - lift);
    __m256 y = _mm256_add_ps(_mm256_loadu_ps(p[0] + i), _mm256_set1_ps(lift));
    __m256 cb = _mm256_sub_ps(_mm256_loadu_ps(p[1] + i), middle);
    __m256 cr = _mm256_sub_ps(_mm256_loadu_ps(p[2] + i), middle);
    __m256 r = _mm256_mul_ps(_mm256_set1_ps(WR_CR_TO_R), cr);
    __m256 gb = _mm256_mul_ps(_mm256_set1_ps(WR_CB_TO_G), cb);
    __m256 gr = _mm256_mul_ps(_mm256_set1_ps(WR_CR_TO_G), cr);
    __m256 b = _mm256_mul_ps(_mm256_set1_ps(WR_CB_TO_B), cb);

    rgb[0] = clamp_level(_mm256_add_ps(y, r));
    rgb[1] = clamp_level(_mm256_sub_ps(_mm256_sub_ps(y, gb), gr));
    rgb[2] = clamp_level(_mm256_add_ps(y, b));
}

AVX2 static void ycc(const struct wr_affine *a, float *const p[3], size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        __m256 rgb[3];

        ycc_eight(a->lift, p, i, rgb);
        for (int c = 0; c < 3; c++)
            _mm256_storeu_ps(p[c] + i, rgb[c]);
    }
}

/* Eight of r, g, b -> 24 floats. Each plane is brought into the order in which
 * its values appear (every third lane of 24), then blends pick them. */
AVX2 static inline void interleave(const __m256 rgb[3], float *out)
{
    const __m256i r_order = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
    const __m256i g_order = _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2);
    const __m256i b_order = _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7);
    __m256 r = _mm256_permutevar8x32_ps(rgb[0], r_order);
    __m256 g = _mm256_permutevar8x32_ps(rgb[1], g_order);
    __m256 b = _mm256_permutevar8x32_ps(rgb[2], b_order);

    _mm256_storeu_ps(out,
                     _mm256_blend_ps(_mm256_blend_ps(r, g, 0x92), b, 0x24));
    _mm256_storeu_ps(out + 8,
                     _mm256_blend_ps(_mm256_blend_ps(r, g, 0x24), b, 0x49));
    _mm256_storeu_ps(out + 16,
                     _mm256_blend_ps(_mm256_blend_ps(r, g, 0x49), b, 0x92));
}

AVX2 static void ycc_pack(const struct wr_affine *a, float *const planes[3],
                          size_t n, float *out)
{
    float *const p[3] = {planes[0], planes[1], planes[2]};
    __m256 scale[3], bias[3], rgb[3];
    float last[24];

    for (int c = 0; c < 3; c++) {
        scale[c] = _mm256_set1_ps(a->scale[c]);
        bias[c] = _mm256_set1_ps(a->bias[c]);
    }
    for (size_t i = 0; i < n; i += 8, out += 24) {
        ycc_eight(a->lift, p, i, rgb);
        for (int c = 0; c < 3; c++)
            rgb[c] = _mm256_add_ps(_mm256_mul_ps(rgb[c], scale[c]), bias[c]);
        interleave(rgb, i + 8 <= n ? out : last);
    }
    if (n % 8)
        memcpy(out - 24, last, n % 8 * 3 * sizeof(*out));
}

/* Two quads a step; the store's last two floats are written over by the next
 * step, so the last three pixels go one by one. */
AVX2 static void pack(const struct wr_affine *a, const float *quads, size_t n,
                      float *out)
{
    const __m256 scale = _mm256_broadcast_ps((const __m128 *)a->scale);
    const __m256 bias = _mm256_broadcast_ps((const __m128 *)a->bias);
    const __m256i order = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 6, 6);
    size_t i = 0;

    for (; i + 3 <= n; i += 2) {
        __m256 q = _mm256_loadu_ps(quads + 4 * i);

        q = _mm256_add_ps(_mm256_mul_ps(q, scale), bias);
        _mm256_storeu_ps(out + 3 * i, _mm256_permutevar8x32_ps(q, order));
    }
    for (; i < n; i++)
        for (int c = 0; c < 3; c++)
            out[3 * i + c] = quads[4 * i + c] * a->scale[c] + a->bias[c];
}

/* Four quads -> four of r, of g, of b. */
AVX2 static void split(const struct wr_affine *a, const float *quads, size_t n,
                       float *const out[3])
{
    const __m128 scale = _mm_loadu_ps(a->scale), bias = _mm_loadu_ps(a->bias);
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m128 q[4];

        for (int k = 0; k < 4; k++)
            q[k] = _mm_add_ps(
                _mm_mul_ps(_mm_loadu_ps(quads + 4 * (i + k)), scale), bias);
        _MM_TRANSPOSE4_PS(q[0], q[1], q[2], q[3]);
        for (int c = 0; c < 3; c++)
            _mm_storeu_ps(out[c] + i, q[c]);
    }
    for (; i < n; i++)
        for (int c = 0; c < 3; c++)
            out[c][i] = quads[4 * i + c] * a->scale[c] + a->bias[c];
}

/* These two are plain C that the compiler turns into AVX2. */
AVX2 static void to_f16(const float *in, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = wr_f16_from_f32(in[i]);
}

AVX2 static void to_u8(const float *in, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = wr_u8_from_f32(in[i]);
}

static const struct wr_kernels avx2 = {
    .name = "avx2",
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

const struct wr_kernels *wr_kernels_avx2(void)
{
    return __builtin_cpu_supports("avx2") ? &avx2 : NULL;
}

#else

const struct wr_kernels *wr_kernels_avx2(void)
{
    return NULL;
}

#endif
