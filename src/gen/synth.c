/* synth.c - pictures of shapes on textures, with photographic detail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/synth.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gen/scene.h"
#include "gen/texture.h"

/* --- the outlines that tell classes apart --- */

/* Unlike fminf and fmaxf these are one instruction each. */
static inline float lesser(float a, float b)
{
    return a < b ? a : b;
}

static inline float greater(float a, float b)
{
    return a > b ? a : b;
}

static inline float radius(float u, float v)
{
    return sqrtf(u * u + v * v);
}

static inline float disk(float u, float v)
{
    return 0.92f - radius(u, v);
}

static inline float ring(float u, float v)
{
    return 0.2f - fabsf(radius(u, v) - 0.75f);
}

static inline float square(float u, float v)
{
    return 0.7f - greater(fabsf(u), fabsf(v));
}

static inline float triangle(float u, float v)
{
    /* Half planes at 90, 210 and 330 degrees. */
    float slope = 0.8660254f * fabsf(u) - 0.5f * v;

    return 0.5f - greater(v, slope);
}

static inline float hexagon(float u, float v)
{
    float a = fabsf(u), b = fabsf(v);

    return 0.8f - greater(b, 0.8660254f * a + 0.5f * b);
}

static inline float cross(float u, float v)
{
    float a = fabsf(u), b = fabsf(v);
    float across = lesser(0.95f - a, 0.27f - b);
    float along = lesser(0.27f - a, 0.95f - b);

    return greater(across, along);
}

/* cos(n * angle) as a polynomial of cos(angle): no trigonometry per pixel. */
static inline float flower(float u, float v)
{
    float r = radius(u, v) + 1e-6f, c = u / r, c2 = c * c;
    float cos5 = c * (5.0f + c2 * (-20.0f + 16.0f * c2));

    return 0.66f + 0.28f * cos5 - r;
}

static inline float clover(float u, float v)
{
    float r = radius(u, v) + 1e-6f, c = u / r;
    float cos3 = c * (4.0f * c * c - 3.0f);

    return 0.6f + 0.35f * cos3 - r;
}

static inline float bars(float u, float v)
{
    float at = fabsf(u) * 2.5f;
    float bar = 0.17f - fabsf(at - roundf(at)) / 2.5f;

    return lesser(bar, lesser(0.95f - fabsf(u), 0.8f - fabsf(v)));
}

static inline float checker(float u, float v)
{
    float x = (u + 1.0f) * 2.0f, y = (v + 1.0f) * 2.0f;
    float fx = x - floorf(x), fy = y - floorf(y);
    float inside = 0.5f - greater(fabsf(fx - 0.5f), fabsf(fy - 0.5f));
    int odd = ((int)floorf(x) + (int)floorf(y)) & 1;
    float edge = 0.98f - greater(fabsf(u), fabsf(v));

    return lesser(edge, odd ? inside * 0.5f : -inside * 0.5f);
}

static inline float crescent(float u, float v)
{
    return lesser(0.9f - radius(u, v), radius(u - 0.45f, v) - 0.68f);
}

static inline float dumbbell(float u, float v)
{
    float ends = 0.38f - radius(fabsf(u) - 0.58f, v);
    float bar = lesser(0.6f - fabsf(u), 0.13f - fabsf(v));

    return greater(ends, bar);
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2")))
#else
#define WIDE
#endif

#define SHAPES(ENTRY)                                                          \
    ENTRY(disk)                                                                \
    ENTRY(ring)                                                                \
    ENTRY(square)                                                              \
    ENTRY(triangle)                                                            \
    ENTRY(hexagon)                                                             \
    ENTRY(cross)                                                               \
    ENTRY(flower)                                                              \
    ENTRY(clover)                                                              \
    ENTRY(bars)                                                                \
    ENTRY(checker)                                                             \
    ENTRY(crescent)                                                            \
    ENTRY(dumbbell)

#define DEPTHS(name)                                                           \
    static void name##_plain(const float *restrict u, const float *restrict v, \
                             float *restrict ret)                              \
    {                                                                          \
        for (unsigned k = 0; k < WR_SHAPE_STRIP; k++)                          \
            ret[k] = name(u[k], v[k]);                                         \
    }                                                                          \
    WIDE static void name##_wide(const float *restrict u,                      \
                                 const float *restrict v, float *restrict ret) \
    {                                                                          \
        for (unsigned k = 0; k < WR_SHAPE_STRIP; k++)                          \
            ret[k] = name(u[k], v[k]);                                         \
    }
SHAPES(DEPTHS)

#define TABLE(name) {#name, name##_plain, name##_wide},
const struct wr_shape wr_shapes[WR_SHAPE_COUNT] = {SHAPES(TABLE)};

/* --- the pictures --- */

#define HUES 8
#define TAU  6.28318531

/* What a class looks like. */
struct scene_look {
    unsigned shape, tile, back_tile;
    double hue, back_hue; /* in turns */
};

/* Draws from `r`. At most one drawing stands in a call's arguments: their
 * order is the compiler's choice, and pictures must not depend on it. */
static double between(struct wr_rng *r, double lo, double hi)
{
    return lo + (hi - lo) * wr_rng_unit(r);
}

/* Shape, hue and background together differ for the first 768 classes; the
 * rest is drawn from the class number. */
static void choose_look(uint32_t label, struct scene_look *ret)
{
    struct wr_rng r = {.seed = 0x10c5, .stream = label};
    unsigned turn = label / WR_SHAPE_COUNT;
    unsigned hue = (turn + label) % HUES;

    ret->shape = label % WR_SHAPE_COUNT;
    ret->back_tile = (turn / HUES + 3 * label) % WR_TEXTURE_COUNT;
    ret->tile = (unsigned)wr_rng_below(&r, WR_TEXTURE_COUNT);
    ret->hue = (hue + between(&r, -0.2, 0.2)) / HUES;
    ret->back_hue = ret->hue + between(&r, 0.25, 0.75);
}

/* Hue in turns, saturation and value in [0, 1]. */
static uint32_t from_hsv(double hue, double sat, double val)
{
    uint32_t out = 0;

    for (unsigned k = 0; k < 3; k++) {
        double h = (hue - floor(hue)) * 6.0 + (k == 0 ? 0 : k == 1 ? 4 : 2);
        double d = fabs(fmod(h, 6.0) - 3.0) - 1.0;

        d = d < 0.0 ? 0.0 : d > 1.0 ? 1.0 : d;
        out |= (uint32_t)(uint8_t)(255.0 * val * (1.0 - sat * (1.0 - d)))
               << 8 * k;
    }
    return out;
}

/* From dark to bright through the hue; `detail` (of 256) sets the contrast. */
static void make_ramp(uint32_t ramp[256], double hue, double sat,
                      unsigned detail, struct wr_rng *r)
{
    double mid = between(r, 0.5, 0.68), half = 0.42 * detail / 256.0;
    double drift = between(r, -0.06, 0.06);

    for (unsigned i = 0; i < 256; i++) {
        double t = (i - 127.5) / 127.5, val = mid + half * t;

        val = val < 0.03 ? 0.03 : val > 1.0 ? 1.0 : val;
        ramp[i] = from_hsv(hue + drift * t, fmin(1.0, sat * (1.0 - 0.3 * t)),
                           val);
    }
}

static void make_surface(struct wr_scene_surface *s, unsigned tile,
                         double angle, double scale, struct wr_rng *r)
{
    s->tile = tile;
    s->u = (uint32_t)wr_rng_next(r);
    s->v = (uint32_t)wr_rng_next(r);
    s->dux = (int32_t)(cos(angle) * scale * 65536.0);
    s->duy = (int32_t)(sin(angle) * scale * 65536.0);
}

static void place_object(struct wr_scene_object *o,
                         const struct wr_synth_picture *p, double turn_max,
                         double size, struct wr_rng *r)
{
    double side = WR_MIN(p->width, p->height);
    double angle = between(r, -turn_max, turn_max);

    o->size = (float)fmax(2.0, side * size);
    o->x = (float)(p->width * 0.5 +
                   (p->width - side * 0.75) * between(r, -0.5, 0.5));
    o->y = (float)(p->height * 0.5 +
                   (p->height - side * 0.75) * between(r, -0.5, 0.5));
    o->cos = (float)cos(angle);
    o->sin = (float)sin(angle);
}

/* The object that the class is about. */
static void make_subject(const struct wr_synth_picture *p,
                         const struct scene_look *look, struct wr_rng *r,
                         struct wr_scene_object *o)
{
    double hue = look->hue + between(r, -0.02, 0.02);
    double sat = between(r, 0.65, 0.9);

    o->shape = look->shape;
    place_object(o, p, TAU / 12.0, between(r, 0.28, 0.46), r);
    o->squash = (float)between(r, 0.8, 1.0);
    o->blur = (float)between(r, 1.2, 2.4);
    o->shadow = (float)between(r, 0.35, 0.7);
    make_surface(&o->skin, look->tile, 0.0, o->size * between(r, 0.35, 0.6), r);
    make_ramp(o->skin.ramp, hue, sat, p->detail, r);
}

/* A small thing of any colour behind it, which says nothing about the class. */
static void make_clutter(const struct wr_synth_picture *p, struct wr_rng *r,
                         struct wr_scene_object *o)
{
    double hue = wr_rng_unit(r), sat = between(r, 0.1, 0.6);

    o->shape = 0;
    place_object(o, p, TAU / 2.0, between(r, 0.05, 0.16), r);
    o->x = (float)(p->width * wr_rng_unit(r));
    o->y = (float)(p->height * wr_rng_unit(r));
    o->squash = (float)between(r, 0.3, 1.0);
    o->blur = (float)between(r, 2.0, 9.0);
    o->shadow = (float)between(r, 0.1, 0.5);
    make_surface(&o->skin, (unsigned)wr_rng_below(r, WR_TEXTURE_COUNT), 0.0,
                 o->size * 0.5, r);
    make_ramp(o->skin.ramp, hue, sat, p->detail, r);
}

/* Draws from `r` in an order that pictures depend on. */
static void make_scene(const struct wr_textures *t,
                       const struct wr_synth_picture *p, struct wr_scene *s)
{
    struct wr_rng r = {.seed = p->key, .stream = 1};
    struct scene_look look;
    double angle, scale, sat;

    choose_look(p->label, &look);
    s->textures = t;
    s->width = p->width;
    s->height = p->height;
    s->channels = p->channels;
    angle = between(&r, -0.35, 0.35);
    scale = between(&r, 0.3, 0.55);
    make_surface(&s->back, look.back_tile, angle, scale, &r);
    look.back_hue += between(&r, -0.03, 0.03);
    sat = between(&r, 0.2, 0.5);
    make_ramp(s->back.ramp, look.back_hue, sat, p->detail, &r);
    s->count = (unsigned)wr_rng_below(&r, WR_SCENE_OBJECTS);
    for (unsigned k = 0; k < s->count; k++)
        make_clutter(p, &r, &s->objects[k]);
    make_subject(p, &look, &r, &s->objects[s->count++]);
    s->light.base = (float)between(&r, 0.85, 1.2);
    s->light.dx = (float)between(&r, -0.25, 0.25);
    s->light.dy = (float)between(&r, -0.25, 0.25);
    s->light.vignette = (float)between(&r, 0.02, 0.2);
    s->grain_x = (unsigned)wr_rng_next(&r);
    s->grain_y = (unsigned)wr_rng_next(&r);
    s->grain = (int)p->grain;
}

void wr_synth_draw(const struct wr_textures *t,
                   const struct wr_synth_picture *p, uint8_t *pixels)
{
    struct wr_scene s;

    make_scene(t, p, &s);
    wr_scene_draw(&s, pixels);
}
