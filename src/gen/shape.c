/* shape.c - the outlines that tell classes apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/shape.h"

#include <math.h>

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
