/* test_kernel.c - the SIMD loops give the bits of the plain ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "codec/kernel.h"

#define MOST 72u

static const struct wr_affine affine = {.scale = {3e-9f, 4.1e-9f, 5.3e-9f, 1},
                                        .bias = {-2.1f, -1.9f, 0.3f, 0},
                                        .lift = 0.5f * WR_LEVEL};

static void fill(float *p, size_t n, struct wr_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(int32_t)(wr_rng_unit(rng) * 255.0 * WR_LEVEL);
}

static void test_color(void **state)
{
    const struct wr_kernels *simd = wr_kernels_avx2();
    struct wr_rng rng = {.seed = 1};

    if (!simd)
        skip();
    for (size_t n = 1; n <= MOST - 8; n++) {
        float a[3][MOST], b[3][MOST];
        float *const pa[3] = {a[0], a[1], a[2]};
        float *const pb[3] = {b[0], b[1], b[2]};

        fill(a[0], sizeof(a) / sizeof(float), &rng);
        memcpy(b, a, sizeof(a));
        simd->ycc(&affine, pa, n);
        wr_kernels_plain.ycc(&affine, pb, n);
        for (int c = 0; c < 3; c++)
            assert_memory_equal(a[c], b[c], n * sizeof(float));
    }
}

static void test_packing(void **state)
{
    const struct wr_kernels *simd = wr_kernels_avx2();
    struct wr_rng rng = {.seed = 2};

    if (!simd)
        skip();
    for (size_t n = 1; n <= MOST - 8; n++) {
        float quads[4 * MOST], pa[3][MOST], pb[3][MOST];
        float a[3 * MOST] = {0}, b[3 * MOST] = {0};
        float *const ya[3] = {pa[0], pa[1], pa[2]};
        float *const yb[3] = {pb[0], pb[1], pb[2]};
        float *const sa[3] = {a, a + MOST, a + 2 * MOST};
        float *const sb[3] = {b, b + MOST, b + 2 * MOST};

        fill(quads, WR_ARRAY_LEN(quads), &rng);
        fill(pa[0], 3 * MOST, &rng);
        memcpy(pb, pa, sizeof(pa));
        simd->pack(&affine, quads, n, a);
        wr_kernels_plain.pack(&affine, quads, n, b);
        assert_memory_equal(a, b, sizeof(a)); /* zeros behind it too */
        simd->ycc_pack(&affine, ya, n, a);
        wr_kernels_plain.ycc_pack(&affine, yb, n, b);
        assert_memory_equal(a, b, sizeof(a));
        simd->split(&affine, quads, n, sa);
        wr_kernels_plain.split(&affine, quads, n, sb);
        assert_memory_equal(a, b, sizeof(a));
    }
}

static void test_types(void **state)
{
    const struct wr_kernels *simd = wr_kernels_avx2();
    struct wr_rng rng = {.seed = 3};
    float in[MOST];
    uint16_t ha[MOST] = {0}, hb[MOST] = {0};
    uint8_t ua[MOST] = {0}, ub[MOST] = {0};

    if (!simd)
        skip();
    for (size_t n = 1; n <= MOST; n++) {
        for (size_t i = 0; i < n; i++)
            in[i] = (float)(wr_rng_unit(&rng) * 300 - 20);
        simd->to_f16(in, n, ha);
        wr_kernels_plain.to_f16(in, n, hb);
        simd->to_u8(in, n, ua);
        wr_kernels_plain.to_u8(in, n, ub);
        assert_memory_equal(ha, hb, sizeof(ha));
        assert_memory_equal(ua, ub, sizeof(ua));
    }
    in[0] = -3;
    in[1] = 255.9f;
    in[2] = 256;
    in[3] = 254.99f;
    simd->to_u8(in, 4, ua);
    assert_memory_equal(ua, "\0\377\377\376", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_color),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
