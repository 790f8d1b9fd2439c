/* test_scene.c - scenes: drawn with vectors as without, in every layout.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "gen/scene.h"
#include "gen/synth.h"
#include "gen/texture.h"

#define WIDTH  150 /* two strips and a part of one */
#define HEIGHT 90
#define SCENES 60

static double between(struct wr_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * wr_rng_unit(r);
}

static void make_surface(struct wr_scene_surface *s, double step,
                         struct wr_rng *r)
{
    s->tile = (unsigned)wr_rng_below(r, WR_TEXTURE_COUNT);
    s->u = (uint32_t)wr_rng_next(r);
    s->v = (uint32_t)wr_rng_next(r);
    s->dux = (int32_t)(step * 65536);
    s->duy = (int32_t)(step * 20000);
    for (unsigned k = 0; k < 256; k++)
        s->ramp[k] = (uint32_t)wr_rng_below(r, 1u << 24);
}

static void make_object(struct wr_scene_object *o, unsigned shape,
                        struct wr_rng *r)
{
    double angle = between(r, -3, 3);

    o->shape = shape;
    o->x = (float)between(r, -20, WIDTH + 20);
    o->y = (float)between(r, -20, HEIGHT + 20);
    o->size = (float)between(r, 2, 60);
    o->cos = (float)cos(angle);
    o->sin = (float)sin(angle);
    o->squash = (float)between(r, 0.3, 1);
    o->blur = (float)between(r, 1, 9);
    o->shadow = (float)between(r, 0, 1);
    make_surface(&o->skin, o->size * 0.5, r);
}

static void make_scene(struct wr_scene *s, const struct wr_textures *t,
                       uint64_t number)
{
    struct wr_rng r = {.seed = 5, .stream = number};

    *s = (struct wr_scene){
        .textures = t, .width = WIDTH, .height = HEIGHT, .channels = 4};
    make_surface(&s->back, between(&r, 0.3, 0.5), &r);
    s->count = (unsigned)(number % (WR_SCENE_OBJECTS + 1));
    for (unsigned k = 0; k < s->count; k++)
        make_object(&s->objects[k], (unsigned)(number + k) % WR_SHAPE_COUNT,
                    &r);
    s->light.base = (float)between(&r, 0.5, 1.5);
    s->light.dx = (float)between(&r, -0.3, 0.3);
    s->light.dy = (float)between(&r, -0.3, 0.3);
    s->light.vignette = (float)between(&r, 0, 0.3);
    s->grain_x = (unsigned)wr_rng_next(&r);
    s->grain_y = (unsigned)wr_rng_next(&r);
    s->grain = (int)wr_rng_below(&r, 250);
}

static int setup(void **state)
{
    struct wr_textures *t;
    weir_err err;
    int r = wr_textures_new(&t, 1, &err);

    *state = t;
    return r;
}

static int teardown(void **state)
{
    wr_textures_free(*state);
    return 0;
}

static void test_plain(void **state)
{
    static uint8_t a[WIDTH * HEIGHT * 4], b[WIDTH * HEIGHT * 4];
    struct wr_scene s;

    for (uint64_t k = 0; k < SCENES; k++) {
        make_scene(&s, *state, k);
        memset(b, 0xa5, sizeof(b));
        wr_scene_draw(&s, a);
        wr_scene_draw_plain(&s, b);
        assert_memory_equal(a, b, sizeof(a));
    }
}

static void test_channels(void **state)
{
    static uint8_t four[WIDTH * HEIGHT * 4], rgb[WIDTH * HEIGHT * 3 + 1];
    static uint8_t gray[WIDTH * HEIGHT + 1];
    struct wr_scene s;

    make_scene(&s, *state, 11);
    wr_scene_draw(&s, four);
    s.channels = 3;
    rgb[WIDTH * HEIGHT * 3] = 0xa5;
    wr_scene_draw(&s, rgb);
    s.channels = 1;
    gray[WIDTH * HEIGHT] = 0xa5;
    wr_scene_draw(&s, gray);
    for (size_t k = 0; k < WIDTH * HEIGHT; k++) {
        const uint8_t *px = four + 4 * k;

        assert_memory_equal(px, rgb + 3 * k, 3);
        assert_int_equal(px[3], 0);
        assert_int_equal(gray[k], (px[0] * 77 + px[1] * 150 + px[2] * 29) >> 8);
    }
    assert_int_equal(rgb[WIDTH * HEIGHT * 3], 0xa5);
    assert_int_equal(gray[WIDTH * HEIGHT], 0xa5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_channels),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
