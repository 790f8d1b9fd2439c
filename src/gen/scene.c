/* scene.c - surfaces, objects and light -> rows of pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/scene.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "gen/synth.h"
#include "gen/texture.h"

#define STRIP      WR_SHAPE_STRIP
#define FINE_SHIFT 2 /* the fine sampling steps 4 times as far */
#define INLINE     static inline __attribute__((always_inline))

/* A part of a row while it is drawn. Loops go over all of it: what is behind the
 * picture's edge is not written. */
struct strip {
    uint32_t x, y;
    uint32_t px[STRIP]; /* as the ramps have it */
};

/* The colours of a surface at the points (u, v), 16.16. Loads that a vector
 * cannot do stand in loops of their own. */
INLINE void find_colours(const struct wr_textures *t,
                         const struct wr_scene_surface *s,
                         const uint32_t u[STRIP], const uint32_t v[STRIP],
                         uint32_t ret[STRIP])
{
    const uint8_t *tile = &t->tile[s->tile][0][0];
    uint32_t coarse_at[STRIP], fine_at[STRIP], four[STRIP];
    uint8_t fine[STRIP];

    for (int k = 0; k < STRIP; k++) {
        coarse_at[k] = wr_texture_place(u[k], v[k]);
        fine_at[k] = wr_texture_place((u[k] << FINE_SHIFT) + 0x3b0000,
                                      (v[k] << FINE_SHIFT) + 0x910000);
    }
    for (int k = 0; k < STRIP; k++) {
        four[k] = t->four[s->tile][coarse_at[k]];
        fine[k] = tile[fine_at[k]];
    }
    for (int k = 0; k < STRIP; k++) {
        int coarse = wr_texture_mix(four[k], u[k], v[k]);

        ret[k] = (uint32_t)(coarse * 11 + fine[k] * 5) >> 4;
    }
    for (int k = 0; k < STRIP; k++)
        ret[k] = s->ramp[ret[k]];
}

INLINE void draw_background(const struct wr_scene *s, struct strip *st)
{
    const struct wr_scene_surface *b = &s->back;
    uint32_t dux = (uint32_t)b->dux, duy = (uint32_t)b->duy;
    uint32_t u0 = b->u - st->y * duy + st->x * dux;
    uint32_t v0 = b->v + st->y * dux + st->x * duy;
    uint32_t u[STRIP], v[STRIP];

    for (uint32_t k = 0; k < STRIP; k++) {
        u[k] = u0 + k * dux;
        v[k] = v0 + k * duy;
    }
    find_colours(s->textures, b, u, v, st->px);
}

/* --- objects --- */

/* The pixels of a strip as an object sees them. */
struct facing {
    float u[STRIP], v[STRIP]; /* in its own coordinates */
    float depth[STRIP];
    float dark[STRIP];   /* depth of where the shadow is cast from */
    int32_t near[STRIP]; /* not 0: it may be drawn here */
    int32_t
        on[STRIP]; /* not 0: it is; else its shadow falls here, or nothing */
    int32_t alpha[STRIP]; /* of 256 */
    int32_t gain[STRIP];  /* of 256; may be below 0 where the edge is wide */
};

INLINE void face(const struct wr_scene_object *o, const struct strip *st,
                 int x0, int x1, struct facing *f)
{
    float c = o->cos / o->size, s = o->sin / o->size;
    float dy = (float)(int)st->y - o->y;

    for (int k = 0; k < STRIP; k++) {
        int x = (int)st->x + k;
        float dx = (float)x - o->x;
        float u = c * dx + s * dy, v = (c * dy - s * dx) / o->squash;

        f->u[k] = u;
        f->v[k] = v;
        f->near[k] = (x >= x0) & (x < x1) & (fabsf(u) < 1.2f) &
                     (fabsf(v) < 1.2f);
    }
}

/* Where the shadow is cast from. */
INLINE void find_dark(struct facing *f, wr_shape_depths *depths)
{
    float u[STRIP], v[STRIP];

    for (int k = 0; k < STRIP; k++) {
        u[k] = f->u[k] + 0.09f;
        v[k] = f->v[k] + 0.09f;
    }
    depths(u, v, f->dark);
}

INLINE void light_up(const struct wr_scene_object *o, struct facing *f)
{
    for (int k = 0; k < STRIP; k++) {
        float depth = f->depth[k] * o->size;
        float cover = depth / o->blur + 0.5f;
        float lit = 1.12f -
                    0.28f * (f->u[k] * o->sin + f->v[k] * o->cos) * 0.9f;
        float dark = (f->dark[k] + 0.05f) * 7.0f;
        float bevel = 1.0f - depth / (0.16f * o->size);
        int shade = (int)(256.0f - 256.0f * o->shadow * WR_MIN(dark, 1.0f));
        int alpha = (int)(256.0f * WR_MIN(cover, 1.0f));
        bool in = cover > 0.0f;

        /* A bevel: the last pixels before the edge turn away from the light. */
        lit -= 0.35f * WR_MAX(0.0f, bevel);
        shade = dark > 0.0f ? shade : 256;
        alpha = in ? alpha : shade;
        f->alpha[k] = f->near[k] ? alpha : 256;
        f->on[k] = f->near[k] && in;
        f->gain[k] = (int)(256.0f * lit);
    }
}

/* One channel: `px` under what the object has there. */
INLINE uint32_t blend(uint32_t px, uint32_t skin, int gain, int alpha)
{
    int is = (int)(px & 0xff), to = (int)(skin & 0xff) * gain >> 8;

    return (uint32_t)(is + (((WR_MIN(255, to) - is) * alpha) >> 8)) & 0xff;
}

/* A shadow is black: only what is there shines through. */
INLINE uint32_t darken(uint32_t px, int alpha)
{
    return (uint32_t)((int)(px & 0xff) * alpha >> 8);
}

INLINE void cover(const struct wr_textures *t, const struct wr_scene_object *o,
                  const struct facing *f, struct strip *st)
{
    float step = (float)o->skin.dux;
    uint32_t u[STRIP], v[STRIP], c[STRIP];

    for (int k = 0; k < STRIP; k++) {
        u[k] = o->skin.u + (uint32_t)(int32_t)(f->u[k] * step);
        v[k] = o->skin.v + (uint32_t)(int32_t)(f->v[k] * step);
    }
    find_colours(t, &o->skin, u, v, c);
    for (int k = 0; k < STRIP; k++) {
        int gain = f->gain[k], alpha = f->alpha[k];
        uint32_t px = st->px[k];
        uint32_t on = blend(px, c[k], gain, alpha) |
                      blend(px >> 8, c[k] >> 8, gain, alpha) << 8 |
                      blend(px >> 16, c[k] >> 16, gain, alpha) << 16;
        uint32_t off = darken(px, alpha) | darken(px >> 8, alpha) << 8 |
                       darken(px >> 16, alpha) << 16;

        st->px[k] = f->on[k] ? on : off;
    }
}

INLINE void draw_object(const struct wr_scene *s,
                        const struct wr_scene_object *o, bool wide,
                        struct strip *st)
{
    const struct wr_shape *shape = &wr_shapes[o->shape];
    wr_shape_depths *depths = wide ? shape->wide : shape->plain;
    float reach = o->size * 1.25f + o->blur;
    int x0 = WR_MAX(0, (int)(o->x - reach));
    int y0 = WR_MAX(0, (int)(o->y - reach));
    int x1 = WR_MIN((int)s->width, (int)(o->x + reach));
    int y1 = WR_MIN((int)s->height, (int)(o->y + reach));
    struct facing f;

    if ((int)st->y < y0 || (int)st->y >= y1 || (int)st->x >= x1 ||
        (int)st->x + STRIP <= x0)
        return;
    face(o, st, x0, x1, &f);
    depths(f.u, f.v, f.depth);
    find_dark(&f, depths);
    light_up(o, &f);
    cover(s->textures, o, &f, st);
}

/* --- light and noise --- */

/* Brightness along row y, 2^40 for 1: a parabola in x, walked by its first
 * and second differences. */
struct glow {
    int64_t at, step, bend;
};

static struct glow glow_of_row(const struct wr_scene *s, uint32_t y)
{
    const struct wr_scene_light *l = &s->light;
    double h = 2.0 / s->width, fy = 2.0 * y / s->height - 1.0;
    double edge = l->base - l->dx - l->vignette; /* where fx is -1 */

    edge += l->dy * fy - l->vignette * fy * fy;
    return (struct glow){
        .at = (int64_t)(0x1p40 * edge),
        .step = (int64_t)(0x1p40 * (l->dx * h + l->vignette * (2.0 - h) * h)),
        .bend = (int64_t)(0x1p40 * -2.0 * l->vignette * h * h),
    };
}

/* A row of the grain from `x` on, round its end. */
static void take_grain(const struct wr_textures *t, unsigned y, unsigned x,
                       int8_t ret[STRIP])
{
    const int8_t *row = t->grain[y & WR_TEXTURE_MASK];
    size_t n;

    x &= WR_TEXTURE_MASK;
    n = WR_MIN(STRIP, WR_TEXTURE_SIDE - x);
    memcpy(ret, row + x, n);
    memcpy(ret + n, row, STRIP - n);
}

INLINE uint32_t clamp_u8(int v)
{
    return (uint32_t)WR_MAX(0, WR_MIN(255, v));
}

/* Brightness noise is the strongest; colour noise is half as strong. */
INLINE void develop(const struct wr_scene *s, struct glow *g, struct strip *st)
{
    int luma = s->grain, chroma = s->grain / 2;
    unsigned x = s->grain_x + st->x, y = s->grain_y + st->y;
    int8_t bright[STRIP], red[STRIP], blue[STRIP];
    int32_t gain[STRIP];

    take_grain(s->textures, y, x, bright);
    take_grain(s->textures, y + 171, x + 93, red);
    take_grain(s->textures, y + 171, x + 301, blue);
    for (int k = 0; k < STRIP; k++) {
        gain[k] = (int32_t)(g->at >> 32);
        g->at += g->step;
        g->step += g->bend;
    }
    for (int k = 0; k < STRIP; k++) {
        int r = (int)(st->px[k] & 0xff) * gain[k];
        int gr = (int)(st->px[k] >> 8 & 0xff) * gain[k];
        int b = (int)(st->px[k] >> 16 & 0xff) * gain[k];
        int n = bright[k] * luma, nr = red[k] * chroma, nb = blue[k] * chroma;

        st->px[k] = clamp_u8((r + n + nr) >> 8) |
                    clamp_u8((gr + n - (nr >> 1)) >> 8) << 8 |
                    clamp_u8((b + n + nb) >> 8) << 16;
    }
}

/* --- the picture --- */

INLINE void emit_gray(const struct strip *st, uint32_t n, uint8_t *out)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t px = st->px[k];
        uint32_t r = px & 0xff, g = px >> 8 & 0xff, b = px >> 16 & 0xff;

        out[k] = (uint8_t)((r * 77 + g * 150 + b * 29) >> 8);
    }
}

INLINE void emit(const struct strip *st, uint32_t channels, uint32_t n,
                 uint8_t *out)
{
    uint32_t px[STRIP];

    if (channels == 1) {
        emit_gray(st, n, out);
        return;
    }
    for (uint32_t k = 0; k < STRIP; k++)
        px[k] = htole32(st->px[k]);
    if (channels == 4)
        memcpy(out, px, (size_t)n * 4);
    for (uint32_t k = 0; k < n && channels == 3; k++)
        memcpy(out + (size_t)k * 3, &px[k], 3);
}

INLINE void draw(const struct wr_scene *s, bool wide, uint8_t *pixels)
{
    struct strip st;

    for (st.y = 0; st.y < s->height; st.y++) {
        struct glow g = glow_of_row(s, st.y);

        for (st.x = 0; st.x < s->width; st.x += STRIP) {
            uint32_t n = WR_MIN(STRIP, s->width - st.x);

            draw_background(s, &st);
            for (unsigned k = 0; k < s->count; k++)
                draw_object(s, &s->objects[k], wide, &st);
            develop(s, &g, &st);
            emit(&st, s->channels, n, pixels);
            pixels += (size_t)n * s->channels;
        }
    }
}

void wr_scene_draw_plain(const struct wr_scene *s, uint8_t *pixels)
{
    draw(s, /* wide= */ false, pixels);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void draw_avx2(const struct wr_scene *s,
                                                      uint8_t *pixels)
{
    draw(s, /* wide= */ true, pixels);
}
#endif

void wr_scene_draw(const struct wr_scene *s, uint8_t *pixels)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        draw_avx2(s, pixels);
        return;
    }
#endif
    wr_scene_draw_plain(s, pixels);
}
