/* shape.h - the outlines that tell classes apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_SHAPE_H
#define WR_GEN_SHAPE_H

#include <stdbool.h>

#define WR_SHAPE_STRIP 64 /* points that are asked for at once */

/* About the distance of each point to the edge: positive inside, negative
 * outside, in the unit of u and v. */
typedef void wr_shape_depths(const float u[WR_SHAPE_STRIP],
                             const float v[WR_SHAPE_STRIP],
                             float ret[WR_SHAPE_STRIP]);

/* A shape lies in |u|, |v| <= 1. */
struct wr_shape {
    const char *name;
    wr_shape_depths *plain;
    wr_shape_depths *wide; /* the same, for machines with AVX2 */
};

#define WR_SHAPE_COUNT 12
extern const struct wr_shape wr_shapes[WR_SHAPE_COUNT];

#endif
