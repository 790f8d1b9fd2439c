/* shape.h - the outlines that tell classes apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_SHAPE_H
#define WR_GEN_SHAPE_H

/* A shape lies in |u|, |v| <= 1. `depth` is about the distance to its edge:
 * positive inside, negative outside, in the same unit. */
struct wr_shape {
    const char *name;
    float (*depth)(float u, float v);
};

#define WR_SHAPE_COUNT 12
extern const struct wr_shape wr_shapes[WR_SHAPE_COUNT];

#endif
