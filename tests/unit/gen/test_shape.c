/* test_shape.c - outlines: inside their square, large enough, distinct.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "gen/synth.h"

#define GRID 64

/* Of one point. */
static float depth(const struct wr_shape *s, float x, float y)
{
    float u[WR_SHAPE_STRIP], v[WR_SHAPE_STRIP], ret[WR_SHAPE_STRIP];

    for (unsigned k = 0; k < WR_SHAPE_STRIP; k++) {
        u[k] = x;
        v[k] = y;
    }
    s->plain(u, v, ret);
    return ret[WR_SHAPE_STRIP - 1];
}

static void rasterize(const struct wr_shape *s, uint8_t grid[GRID][GRID])
{
    for (int y = 0; y < GRID; y++) {
        for (int x = 0; x < GRID; x++)
            grid[y][x] = depth(s, ((float)x + 0.5f) / (GRID / 2) - 1.0f,
                               ((float)y + 0.5f) / (GRID / 2) - 1.0f) > 0;
    }
}

static int count(uint8_t grid[GRID][GRID])
{
    int n = 0;

    for (int i = 0; i < GRID * GRID; i++)
        n += grid[i / GRID][i % GRID];
    return n;
}

static void test_area(void **state)
{
    uint8_t grid[GRID][GRID];

    (void)state;
    for (unsigned k = 0; k < WR_SHAPE_COUNT; k++) {
        rasterize(&wr_shapes[k], grid);
        assert_in_range(count(grid), GRID * GRID / 8, GRID * GRID * 4 / 5);
    }
}

static void test_bounded(void **state)
{
    (void)state;
    for (unsigned k = 0; k < WR_SHAPE_COUNT; k++) {
        for (float a = -1.2f; a <= 1.2f; a += 0.05f) {
            assert_true(depth(&wr_shapes[k], a, 1.05f) <= 0.0f);
            assert_true(depth(&wr_shapes[k], a, -1.05f) <= 0.0f);
            assert_true(depth(&wr_shapes[k], 1.05f, a) <= 0.0f);
            assert_true(depth(&wr_shapes[k], -1.05f, a) <= 0.0f);
        }
    }
}

static void test_distinct(void **state)
{
    uint8_t a[GRID][GRID], b[GRID][GRID];

    (void)state;
    for (unsigned i = 0; i < WR_SHAPE_COUNT; i++) {
        rasterize(&wr_shapes[i], a);
        for (unsigned k = i + 1; k < WR_SHAPE_COUNT; k++) {
            int differ = 0;

            rasterize(&wr_shapes[k], b);
            for (int p = 0; p < GRID * GRID; p++)
                differ += a[p / GRID][p % GRID] != b[p / GRID][p % GRID];
            assert_true(differ > GRID * GRID / 20);
        }
    }
}

/* To the bit, far outside too. */
static void test_wide(void **state)
{
    (void)state;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2"))
        skip();
#endif
    for (unsigned k = 0; k < WR_SHAPE_COUNT * 97; k++) {
        float u[WR_SHAPE_STRIP], v[WR_SHAPE_STRIP];
        float a[WR_SHAPE_STRIP], b[WR_SHAPE_STRIP];

        for (unsigned i = 0; i < WR_SHAPE_STRIP; i++) {
            u[i] = ((float)i - 31.5f) / 25.0f;
            v[i] = ((float)(k / WR_SHAPE_COUNT) - 48.0f) / 37.0f;
        }
        wr_shapes[k % WR_SHAPE_COUNT].plain(u, v, a);
        wr_shapes[k % WR_SHAPE_COUNT].wide(u, v, b);
        assert_memory_equal(a, b, sizeof(a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_area),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_distinct),
        cmocka_unit_test(test_wide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
