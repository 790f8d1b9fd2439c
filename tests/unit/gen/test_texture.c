/* test_texture.c - noise tiles: repeatable, periodic, with contrast.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "gen/texture.h"

static void test_repeatable(void **state)
{
    struct wr_textures *a, *b, *c;
    weir_err err;

    (void)state;
    assert_int_equal(wr_textures_new(&a, 5, &err), 0);
    assert_int_equal(wr_textures_new(&b, 5, &err), 0);
    assert_int_equal(wr_textures_new(&c, 6, &err), 0);
    assert_memory_equal(a, b, sizeof(*a));
    for (unsigned k = 0; k < WR_TEXTURE_COUNT; k++)
        assert_memory_not_equal(a->tile[k], c->tile[k], sizeof(a->tile[k]));
    wr_textures_free(a);
    wr_textures_free(b);
    wr_textures_free(c);
}

static void test_contrast(void **state)
{
    const double count = WR_TEXTURE_SIDE * WR_TEXTURE_SIDE;
    struct wr_textures *t;
    weir_err err;

    (void)state;
    assert_int_equal(wr_textures_new(&t, 1, &err), 0);
    for (unsigned k = 0; k < WR_TEXTURE_COUNT; k++) {
        double sum = 0, squares = 0;

        for (unsigned y = 0; y < WR_TEXTURE_SIDE; y++) {
            for (unsigned x = 0; x < WR_TEXTURE_SIDE; x++) {
                sum += t->tile[k][y][x];
                squares += (double)t->tile[k][y][x] * t->tile[k][y][x];
            }
        }
        sum /= count;
        assert_true(squares / count - sum * sum > 15.0 * 15.0);
        assert_true(sum > 40.0 && sum < 215.0);
    }
    wr_textures_free(t);
}

static void test_grain(void **state)
{
    double sum = 0, squares = 0, count = WR_TEXTURE_SIDE * WR_TEXTURE_SIDE;
    struct wr_textures *t;
    weir_err err;

    (void)state;
    assert_int_equal(wr_textures_new(&t, 1, &err), 0);
    for (unsigned y = 0; y < WR_TEXTURE_SIDE; y++) {
        for (unsigned x = 0; x < WR_TEXTURE_SIDE; x++) {
            sum += t->grain[y][x];
            squares += t->grain[y][x] * t->grain[y][x];
        }
    }
    assert_true(sum / count > -0.5 && sum / count < 0.5);
    assert_true(squares / count > 28 * 28 && squares / count < 37 * 37);
    wr_textures_free(t);
}

static int look_up(const struct wr_textures *t, uint32_t u, uint32_t v)
{
    return wr_texture_mix(t->four[0][wr_texture_place(u, v)], u, v);
}

/* Looking up whole positions gives the tile, also around its edge. */
static void test_lookup(void **state)
{
    struct wr_textures *t;
    weir_err err;

    (void)state;
    assert_int_equal(wr_textures_new(&t, 1, &err), 0);
    assert_int_equal(look_up(t, 7u << 16, 9u << 16), t->tile[0][9][7]);
    assert_int_equal(look_up(t, (WR_TEXTURE_SIDE + 7u) << 16, 9u << 16),
                     t->tile[0][9][7]);
    for (unsigned y = 0; y < WR_TEXTURE_SIDE; y++) {
        int a = t->tile[0][y][WR_TEXTURE_MASK], b = t->tile[0][y][0];
        int half = look_up(t, ((unsigned)WR_TEXTURE_MASK << 16) | 0x8000,
                           y << 16);

        assert_true(abs(2 * half - a - b) <= 2);
        assert_true(abs(a - b) < 32); /* clouds have no seam */
    }
    wr_textures_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_grain),
        cmocka_unit_test(test_lookup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
