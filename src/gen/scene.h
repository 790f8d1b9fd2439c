/* scene.h - surfaces, objects and light -> rows of pixels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A picture is drawn in strips of a row: background, objects and noise of a
 * strip follow one another while it is in the nearest cache, in loops over whole
 * strips that a compiler turns into vectors. */
#ifndef WR_GEN_SCENE_H
#define WR_GEN_SCENE_H

#include <stdint.h>

struct wr_textures;

#define WR_SCENE_OBJECTS 5

/* A texture laid over the picture: a coarse and a fine sampling of one tile
 * are mixed and coloured by a ramp. */
struct wr_scene_surface {
    unsigned tile;
    uint32_t u, v;      /* 16.16, at pixel (0, 0) */
    int32_t dux, duy;   /* per pixel right; down is (-duy, dux) */
    uint32_t ramp[256]; /* red is the lowest byte, then green, blue */
};

/* A shape somewhere in the picture. */
struct wr_scene_object {
    unsigned shape;
    float x, y, size; /* of the centre, of |u| = 1, in pixels */
    float cos, sin;   /* rotation */
    float squash;     /* v is divided by it */
    float blur;       /* width of its edge in pixels */
    float shadow;     /* how much it darkens beside itself, 0 to 1 */
    struct wr_scene_surface skin;
};

struct wr_scene_light {
    float base, dx, dy; /* brightness at the centre, change to the edges */
    float vignette;
};

struct wr_scene {
    const struct wr_textures *textures; /* borrowed */
    uint32_t width, height;
    uint32_t channels; /* 1: gray, 3: RGB, 4: RGB and a byte of 0 */
    struct wr_scene_surface back;
    struct wr_scene_object objects[WR_SCENE_OBJECTS]; /* the last one on top */
    unsigned count;
    struct wr_scene_light light;
    unsigned grain_x, grain_y; /* the part of the grain that is taken */
    int grain;                 /* noise amplitude */
};

/* width * height * channels bytes. */
void wr_scene_draw(const struct wr_scene *s, uint8_t *pixels);

/* The same without vectors of the machine at hand: what it must be. */
void wr_scene_draw_plain(const struct wr_scene *s, uint8_t *pixels);

#endif
