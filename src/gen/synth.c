/* synth.c - pictures of shapes on textures, with photographic detail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/synth.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "gen/shape.h"
#include "gen/texture.h"

#define HUES        8
#define CLUTTER_MAX 4
#define TAU         6.28318531
#define FINE_SHIFT  2 /* the fine sampling steps 4 times as far */

/* What a class looks like. */
struct scene_look {
    unsigned shape, tile, back_tile;
    double hue, back_hue; /* in turns */
};

struct rgb {
    uint8_t c[3];
};

/* A texture laid over the picture: a coarse and a fine sampling of one tile
 * are mixed and coloured by a ramp. */
struct surface {
    unsigned tile;
    uint32_t u, v;    /* 16.16, at pixel (0, 0) */
    int32_t dux, duy; /* per pixel right; down is (-duy, dux) */
    struct rgb ramp[256];
};

/* A shape somewhere in the picture. */
struct object {
    const struct wr_shape *shape;
    float x, y, size; /* of the centre, of |u| = 1, in pixels */
    float cos, sin;   /* rotation */
    float squash;     /* v is divided by it */
    float blur;       /* width of its edge in pixels */
    float shadow;     /* how much it darkens beside itself, 0 to 1 */
    struct surface skin;
};

struct light {
    float base, dx, dy; /* brightness at the centre, change to the edges */
    float vignette;
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
static struct rgb from_hsv(double hue, double sat, double val)
{
    struct rgb out;

    for (unsigned k = 0; k < 3; k++) {
        double h = (hue - floor(hue)) * 6.0 + (k == 0 ? 0 : k == 1 ? 4 : 2);
        double d = fabs(fmod(h, 6.0) - 3.0) - 1.0;

        d = d < 0.0 ? 0.0 : d > 1.0 ? 1.0 : d;
        out.c[k] = (uint8_t)(255.0 * val * (1.0 - sat * (1.0 - d)));
    }
    return out;
}

/* From dark to bright through the hue; `detail` (of 256) sets the contrast. */
static void make_ramp(struct rgb ramp[256], double hue, double sat,
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

static void make_surface(struct surface *s, unsigned tile, double angle,
                         double scale, struct wr_rng *r)
{
    s->tile = tile;
    s->u = (uint32_t)wr_rng_next(r);
    s->v = (uint32_t)wr_rng_next(r);
    s->dux = (int32_t)(cos(angle) * scale * 65536.0);
    s->duy = (int32_t)(sin(angle) * scale * 65536.0);
}

static inline struct rgb surface_at(const struct wr_textures *t,
                                    const struct surface *s, uint32_t u,
                                    uint32_t v)
{
    int coarse = wr_texture_at(t, s->tile, u, v);
    int fine = wr_texture_near(t, s->tile, (u << FINE_SHIFT) + 0x3b0000,
                               (v << FINE_SHIFT) + 0x910000);

    return s->ramp[(coarse * 11 + fine * 5) >> 4];
}

static void draw_background(const struct wr_textures *t,
                            const struct wr_synth_picture *p,
                            const struct surface *s, uint8_t *pixels)
{
    for (uint32_t y = 0; y < p->height; y++) {
        uint32_t u = s->u - y * (uint32_t)s->duy;
        uint32_t v = s->v + y * (uint32_t)s->dux;

        for (uint32_t x = 0; x < p->width; x++, pixels += 3) {
            struct rgb c = surface_at(t, s, u, v);

            pixels[0] = c.c[0];
            pixels[1] = c.c[1];
            pixels[2] = c.c[2];
            u += (uint32_t)s->dux;
            v += (uint32_t)s->duy;
        }
    }
}

/* One pixel of an object: (u, v) in its own coordinates. */
static inline void shade_pixel(const struct wr_textures *t,
                               const struct object *o, float u, float v,
                               uint8_t *px)
{
    float depth = o->shape->depth(u, v) * o->size;
    float cover = depth / o->blur + 0.5f;
    float lit = 1.12f - 0.28f * (u * o->sin + v * o->cos) * 0.9f;
    struct rgb c;
    int alpha, gain;

    if (cover <= 0.0f) {
        float dark = (o->shape->depth(u + 0.09f, v + 0.09f) + 0.05f) * 7.0f;

        if (dark > 0.0f) {
            alpha = (int)(256.0f - 256.0f * o->shadow * WR_MIN(dark, 1.0f));
            for (unsigned k = 0; k < 3; k++)
                px[k] = (uint8_t)(px[k] * alpha >> 8);
        }
        return;
    }
    /* A bevel: the last pixels before the edge turn away from the light. */
    lit -= 0.35f * WR_MAX(0.0f, 1.0f - depth / (0.16f * o->size));
    alpha = (int)(256.0f * WR_MIN(cover, 1.0f));
    gain = (int)(256.0f * lit);
    c = surface_at(t, &o->skin,
                   o->skin.u + (uint32_t)(int32_t)(u * (float)o->skin.dux),
                   o->skin.v + (uint32_t)(int32_t)(v * (float)o->skin.dux));
    for (unsigned k = 0; k < 3; k++) {
        int to = WR_MIN(255, c.c[k] * gain >> 8);

        px[k] = (uint8_t)(px[k] + (((to - px[k]) * alpha) >> 8));
    }
}

static void draw_object(const struct wr_textures *t,
                        const struct wr_synth_picture *p,
                        const struct object *o, uint8_t *pixels)
{
    float reach = o->size * 1.25f + o->blur;
    int x0 = WR_MAX(0, (int)(o->x - reach));
    int y0 = WR_MAX(0, (int)(o->y - reach));
    int x1 = WR_MIN((int)p->width, (int)(o->x + reach));
    int y1 = WR_MIN((int)p->height, (int)(o->y + reach));
    float c = o->cos / o->size, s = o->sin / o->size;

    for (int y = y0; y < y1; y++) {
        uint8_t *px = pixels + ((size_t)y * p->width + (size_t)x0) * 3;
        float dy = (float)y - o->y;

        for (int x = x0; x < x1; x++, px += 3) {
            float dx = (float)x - o->x;
            float u = c * dx + s * dy, v = (c * dy - s * dx) / o->squash;

            if (fabsf(u) < 1.2f && fabsf(v) < 1.2f)
                shade_pixel(t, o, u, v, px);
        }
    }
}

static inline uint8_t clamp_u8(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Brightness along row y, 2^40 for 1: a parabola in x, walked by its first
 * and second differences. */
struct glow {
    int64_t at, step, bend;
};

static struct glow glow_of_row(const struct light *l,
                               const struct wr_synth_picture *p, uint32_t y)
{
    double h = 2.0 / p->width, fy = 2.0 * y / p->height - 1.0;
    double edge = l->base - l->dx - l->vignette; /* where fx is -1 */

    edge += l->dy * fy - l->vignette * fy * fy;
    return (struct glow){
        .at = (int64_t)(0x1p40 * edge),
        .step = (int64_t)(0x1p40 * (l->dx * h + l->vignette * (2.0 - h) * h)),
        .bend = (int64_t)(0x1p40 * -2.0 * l->vignette * h * h),
    };
}

/* Light and sensor noise, row by row. Brightness noise is the strongest;
 * colour noise is half as strong. */
static void develop(const struct wr_textures *t,
                    const struct wr_synth_picture *p, const struct light *l,
                    struct wr_rng *r, uint8_t *pixels)
{
    unsigned ox = (unsigned)wr_rng_next(r), oy = (unsigned)wr_rng_next(r);
    int luma = (int)p->grain, chroma = (int)p->grain / 2;

    for (uint32_t y = 0; y < p->height; y++) {
        const int8_t *gy = t->grain[(oy + y) & WR_TEXTURE_MASK];
        const int8_t *gc = t->grain[(oy + y + 171) & WR_TEXTURE_MASK];
        struct glow g = glow_of_row(l, p, y);

        for (uint32_t x = 0; x < p->width; x++, pixels += 3) {
            int gain = (int)(g.at >> 32);
            int n = gy[(ox + x) & WR_TEXTURE_MASK] * luma;
            int red = gc[(ox + x + 93) & WR_TEXTURE_MASK] * chroma;
            int blue = gc[(ox + x + 301) & WR_TEXTURE_MASK] * chroma;

            pixels[0] = clamp_u8((pixels[0] * gain + n + red) >> 8);
            pixels[1] = clamp_u8((pixels[1] * gain + n - (red >> 1)) >> 8);
            pixels[2] = clamp_u8((pixels[2] * gain + n + blue) >> 8);
            g.at += g.step;
            g.step += g.bend;
        }
    }
}

/* In place: the gray picture fills the first third. */
static void to_gray(size_t count, uint8_t *pixels)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *c = pixels + 3 * i;

        pixels[i] = (uint8_t)((c[0] * 77 + c[1] * 150 + c[2] * 29) >> 8);
    }
}

static void place_object(struct object *o, const struct wr_synth_picture *p,
                         double turn_max, double size, struct wr_rng *r)
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
static void draw_subject(const struct wr_textures *t,
                         const struct wr_synth_picture *p,
                         const struct scene_look *look, struct wr_rng *r,
                         uint8_t *pixels)
{
    struct object o = {.shape = &wr_shapes[look->shape]};
    double hue = look->hue + between(r, -0.02, 0.02);
    double sat = between(r, 0.65, 0.9);

    place_object(&o, p, TAU / 12.0, between(r, 0.28, 0.46), r);
    o.squash = (float)between(r, 0.8, 1.0);
    o.blur = (float)between(r, 1.2, 2.4);
    o.shadow = (float)between(r, 0.35, 0.7);
    make_surface(&o.skin, look->tile, 0.0, o.size * between(r, 0.35, 0.6), r);
    make_ramp(o.skin.ramp, hue, sat, p->detail, r);
    draw_object(t, p, &o, pixels);
}

/* Small things of any colour behind it, which say nothing about the class. */
static void draw_clutter(const struct wr_textures *t,
                         const struct wr_synth_picture *p, struct wr_rng *r,
                         uint8_t *pixels)
{
    unsigned count = (unsigned)wr_rng_below(r, CLUTTER_MAX + 1);

    for (unsigned i = 0; i < count; i++) {
        struct object o = {.shape = &wr_shapes[0]};
        double hue = wr_rng_unit(r), sat = between(r, 0.1, 0.6);

        place_object(&o, p, TAU / 2.0, between(r, 0.05, 0.16), r);
        o.x = (float)(p->width * wr_rng_unit(r));
        o.y = (float)(p->height * wr_rng_unit(r));
        o.squash = (float)between(r, 0.3, 1.0);
        o.blur = (float)between(r, 2.0, 9.0);
        o.shadow = (float)between(r, 0.1, 0.5);
        make_surface(&o.skin, (unsigned)wr_rng_below(r, WR_TEXTURE_COUNT), 0.0,
                     o.size * 0.5, r);
        make_ramp(o.skin.ramp, hue, sat, p->detail, r);
        draw_object(t, p, &o, pixels);
    }
}

void wr_synth_draw(const struct wr_textures *t,
                   const struct wr_synth_picture *p, uint8_t *pixels)
{
    struct wr_rng r = {.seed = p->key, .stream = 1};
    struct surface back;
    struct light light;
    struct scene_look look;
    double angle, scale, sat;

    choose_look(p->label, &look);
    angle = between(&r, -0.35, 0.35);
    scale = between(&r, 0.3, 0.55);
    make_surface(&back, look.back_tile, angle, scale, &r);
    look.back_hue += between(&r, -0.03, 0.03);
    sat = between(&r, 0.2, 0.5);
    make_ramp(back.ramp, look.back_hue, sat, p->detail, &r);
    draw_background(t, p, &back, pixels);
    draw_clutter(t, p, &r, pixels);
    draw_subject(t, p, &look, &r, pixels);
    light.base = (float)between(&r, 0.85, 1.2);
    light.dx = (float)between(&r, -0.25, 0.25);
    light.dy = (float)between(&r, -0.25, 0.25);
    light.vignette = (float)between(&r, 0.02, 0.2);
    develop(t, p, &light, &r, pixels);
    if (p->channels == 1)
        to_gray((size_t)p->width * p->height, pixels);
}
