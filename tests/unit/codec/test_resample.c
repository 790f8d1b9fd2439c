/* test_resample.c - resampling against a naive reference in double; the SIMD
 * loops against the plain ones, bit by bit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "codec/kernel.h"
#include "codec/resample.h"

struct job {
    uint32_t in_w, in_h, out_w, out_h, comps;
    enum weir_resize resize;
    uint32_t upsample; /* 0 is 1 */
    bool mirror;
    uint8_t *in; /* owned */
};

static double weight(enum weir_resize how, double scale, uint32_t o, uint32_t i)
{
    double centre = (o + 0.5) * scale, stretch = scale > 1 ? scale : 1;
    double d;

    if (how == WEIR_RESIZE_AREA) {
        double lo = fmax(o * scale, i), hi = fmin((o + 1) * scale, i + 1.0);

        return hi > lo ? hi - lo : 0;
    }
    d = fabs(i + 0.5 - centre) /
        (how == WEIR_RESIZE_BILINEAR_NOAA ? 1 : stretch);
    return d < 1 ? 1 - d : 0;
}

/* One axis of everything: in[n][step] -> out[m][step]. */
static void naive_axis(enum weir_resize how, const double *in, uint32_t n,
                       double *out, const uint32_t m_step[2])
{
    for (uint32_t o = 0; o < m_step[0]; o++) {
        double *to = out + (size_t)o * m_step[1], sum = 0;

        memset(to, 0, m_step[1] * sizeof(*to));
        for (uint32_t i = 0; i < n; i++) {
            double w = weight(how, (double)n / m_step[0], o, i);

            sum += w;
            for (uint32_t k = 0; w > 0 && k < m_step[1]; k++)
                to[k] += w * in[(size_t)i * m_step[1] + k];
        }
        for (uint32_t k = 0; k < m_step[1]; k++)
            to[k] /= sum;
    }
}

static double *naive(const struct job *j)
{
    size_t row = (size_t)j->in_w * j->comps;
    double *in = malloc(row * j->in_h * sizeof(*in));
    double *mid = malloc(row * j->out_h * sizeof(*mid));
    double *out = malloc((size_t)j->out_w * j->out_h * j->comps * sizeof(*out));
    const uint32_t vertical[2] = {j->out_h, (uint32_t)row};
    const uint32_t horizontal[2] = {j->out_w, j->comps};

    for (size_t i = 0; i < row * j->in_h; i++)
        in[i] = j->in[i];
    naive_axis(j->resize, in, j->in_h, mid, vertical);
    for (uint32_t y = 0; y < j->out_h; y++)
        naive_axis(j->resize, mid + y * row, j->in_w,
                   out + (size_t)y * j->out_w * j->comps, horizontal);
    free(in);
    free(mid);
    return out;
}

/* The same by wr_plane: levels, comps per pixel. */
static float *by_plane(const struct job *j, const struct wr_kernels *k)
{
    struct wr_filter_cache cache = {0};
    struct wr_plane p = {0};
    struct wr_plane_setup s = {
        .width = j->in_w,
        .height = j->in_h,
        .comps = j->comps,
        .row_bytes = j->in_w * j->comps,
        .rows_at_once = 16,
        .upsample_x = WR_MAX(j->upsample, 1u),
        .upsample_y = 1,
        .box_x = {0, j->in_w * WR_MAX(j->upsample, 1u)},
        .box_y = {0, j->in_h},
        .out_w = j->out_w,
        .out_h = j->out_h,
        .mirror = j->mirror,
        .resize = j->resize,
    };
    size_t lanes = j->comps == 3 ? 4 : 1;
    float *row = malloc((j->out_w + 8) * lanes * sizeof(*row));
    float *out = malloc((size_t)j->out_w * j->out_h * j->comps * sizeof(*out));
    uint32_t o = 0;

    assert_int_equal(wr_plane_begin(&p, &cache, &s, NULL), 0);
    while (p.have < j->in_h) {
        uint32_t n = WR_MIN(16u, j->in_h - p.have);

        for (uint32_t i = 0; i < n; i++)
            memcpy(wr_plane_row(&p, i),
                   j->in + (size_t)(p.have + i) * j->in_w * j->comps,
                   (size_t)j->in_w * j->comps);
        wr_plane_advance(&p, n);
        for (; o < j->out_h && wr_plane_is_ready(&p, o); o++) {
            wr_plane_emit(&p, k, o, row);
            for (uint32_t x = 0; x < j->out_w; x++)
                for (uint32_t c = 0; c < j->comps; c++)
                    out[((size_t)o * j->out_w + x) * j->comps + c] =
                        row[x * lanes + c] / WR_LEVEL;
        }
    }
    assert_int_equal(o, j->out_h);
    wr_plane_done(&p);
    wr_filter_cache_done(&cache);
    free(row);
    return out;
}

static struct job random_job(struct wr_rng *rng, int round)
{
    uint32_t most = round % 10 == 0 ? 900 : 120;
    struct job j = {
        .in_w = 1 + (uint32_t)wr_rng_below(rng, most),
        .in_h = 1 + (uint32_t)wr_rng_below(rng, most),
        .out_w = 1 + (uint32_t)wr_rng_below(rng, 90),
        .out_h = 1 + (uint32_t)wr_rng_below(rng, 90),
        .comps = wr_rng_below(rng, 2) ? 3 : 1,
        .resize = (enum weir_resize)(round % 3),
    };
    size_t n = (size_t)j.in_w * j.in_h * j.comps;

    j.in = malloc(n);
    for (size_t i = 0; i < n; i++)
        j.in[i] = (uint8_t)wr_rng_next(rng);
    return j;
}

static void test_against_naive(void **state)
{
    struct wr_rng rng = {.seed = 3};

    for (int round = 0; round < 150; round++) {
        struct job j = random_job(&rng, round);
        double *want = naive(&j);
        float *got = by_plane(&j, wr_kernels_best());
        size_t n = (size_t)j.out_w * j.out_h * j.comps;

        for (size_t i = 0; i < n; i++)
            if (fabs(want[i] - got[i]) > 0.3)
                fail_msg("%ux%u -> %ux%u, filter %d: value %zu is %g, not %g",
                         j.in_w, j.in_h, j.out_w, j.out_h, j.resize, i,
                         (double)got[i], want[i]);
        free(want);
        free(got);
        free(j.in);
    }
}

static void test_simd_is_plain(void **state)
{
    struct wr_rng rng = {.seed = 4};
    const struct wr_kernels *simd = wr_kernels_avx2();

    if (!simd)
        skip();
    for (int round = 0; round < 150; round++) {
        struct job j = random_job(&rng, round);
        float *a = by_plane(&j, simd), *b = by_plane(&j, &wr_kernels_plain);

        assert_memory_equal(a, b,
                            (size_t)j.out_w * j.out_h * j.comps * sizeof(*a));
        free(a);
        free(b);
        free(j.in);
    }
}

static void check_mirror(struct job *j, const struct wr_kernels *k)
{
    float *a, *b;

    j->mirror = false;
    a = by_plane(j, k);
    j->mirror = true;
    b = by_plane(j, k);
    for (uint32_t y = 0; y < j->out_h; y++)
        for (uint32_t x = 0; x < j->out_w; x++)
            assert_memory_equal(a + ((size_t)y * j->out_w + x) * j->comps,
                                b + ((size_t)(y + 1) * j->out_w - 1 - x) *
                                        j->comps,
                                j->comps * sizeof(*a));
    free(a);
    free(b);
}

/* Mirrored rows are the same rows the other way around, bit by bit. */
static void test_mirror(void **state)
{
    struct wr_rng rng = {.seed = 6};

    for (int round = 0; round < 150; round++) {
        struct job j = random_job(&rng, round);

        j.upsample = 1 + (uint32_t)wr_rng_below(&rng, 2);
        check_mirror(&j, &wr_kernels_plain);
        if (wr_kernels_avx2())
            check_mirror(&j, wr_kernels_avx2());
        free(j.in);
    }
}

/* Mirroring costs nothing: planes keep the packing by windows. */
static void test_mirror_keeps_windows(void **state)
{
    struct wr_filter_cache cache = {0};

    for (uint32_t in = 120; in < 400; in += 7) {
        struct wr_filter_key key = {.in = in,
                                    .out = 224,
                                    .hi = in,
                                    .upsample = 1,
                                    .use = WR_FILTER_ONE};
        const struct wr_taps *a = NULL, *b = NULL;

        assert_int_equal(wr_filter_find(&cache, &key, &a, NULL), 0);
        key.mirror = true;
        assert_int_equal(wr_filter_find(&cache, &key, &b, NULL), 0);
        assert_ptr_not_equal(a, b);
        assert_int_equal(a->is_windowed, b->is_windowed);
    }
    wr_filter_cache_done(&cache);
}

static void test_constant_stays_constant(void **state)
{
    for (int level = 0; level < 256; level += 5) {
        struct job j = {.in_w = 301,
                        .in_h = 203,
                        .out_w = 97,
                        .out_h = 64,
                        .comps = level % 2 ? 1 : 3};
        size_t n = (size_t)j.in_w * j.in_h * j.comps;
        float *out;

        j.in = malloc(n);
        memset(j.in, level, n);
        out = by_plane(&j, wr_kernels_best());
        for (size_t i = 0; i < (size_t)j.out_w * j.out_h * j.comps; i++)
            assert_true(fabsf(out[i] - (float)level) <= 2.0f / 128);
        free(out);
        free(j.in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_simd_is_plain),
        cmocka_unit_test(test_constant_stays_constant),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_mirror_keeps_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
