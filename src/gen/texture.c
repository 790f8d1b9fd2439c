/* texture.c - a bank of periodic noise tiles that surfaces are cut from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/texture.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define SIDE        WR_TEXTURE_SIDE
#define MASK        WR_TEXTURE_MASK
#define LATTICE_MAX 256

/* Sums of octaves in progress, one per pixel. */
struct noise {
    int32_t v[SIDE][SIDE];
};

/* One kind of noise: octaves of value noise, then a curve. */
struct recipe {
    const char *name;
    unsigned nx, ny; /* lattice cells across in the first octave */
    unsigned octaves;
    unsigned persistence; /* of 256: amplitude of an octave over the last */
    uint8_t (*curve)(int n, unsigned x, unsigned y); /* n: 0..255 */
};

static uint8_t curve_plain(int n, unsigned x, unsigned y)
{
    return (uint8_t)n;
}

/* Folds the middle into bright veins. */
static uint8_t curve_veins(int n, unsigned x, unsigned y)
{
    int fold = abs(2 * n - 255);

    return (uint8_t)(255 - WR_MIN(255, fold * 2));
}

/* A triangle wave along y, bent by the noise. */
static uint8_t curve_rings(int n, unsigned x, unsigned y)
{
    int phase = (int)(y * 16 + (unsigned)n * 6) & 511;

    return (uint8_t)(phase < 256 ? phase : 511 - phase);
}

/* Bricks of 64x32, mortar of 4, each row shifted by half a brick. */
static uint8_t curve_bricks(int n, unsigned x, unsigned y)
{
    unsigned shifted = x + ((y & 32) ? 32 : 0);
    int mortar = (y & 31) < 3 || (shifted & 63) < 3;
    int tone = (int)(wr_mix64((shifted & MASK) >> 6 | (y >> 5) << 8) & 63);

    return (uint8_t)(mortar ? 200 + n / 5 : 32 + tone + n / 2);
}

/* Dark and light spots with edges. */
static uint8_t curve_spots(int n, unsigned x, unsigned y)
{
    int steep = (n - 118) * 10 + 128;

    steep = WR_MAX(0, WR_MIN(255, steep));
    return (uint8_t)((steep * 3 + n) / 4);
}

/* Over and under of threads, 16 pixels apart. */
static uint8_t curve_weave(int n, unsigned x, unsigned y)
{
    unsigned over = ((x >> 4) ^ (y >> 4)) & 1;
    int across = abs((int)((over ? y : x) & 15) * 2 - 15);

    return (uint8_t)(150 - across * 7 + n * 2 / 5);
}

static const struct recipe recipes[WR_TEXTURE_COUNT] = {
    {"clouds", 4, 4, 7, 140, curve_plain},
    {"stone", 16, 16, 5, 200, curve_plain},
    {"marble", 8, 4, 6, 140, curve_veins},
    {"wood", 4, 8, 6, 130, curve_rings},
    {"grass", 64, 8, 4, 190, curve_plain},
    {"bricks", 8, 8, 6, 200, curve_bricks},
    {"spots", 16, 16, 4, 130, curve_spots},
    {"weave", 8, 8, 6, 190, curve_weave},
};

/* 3t^2 - 2t^3 for t in [0, 256]. */
static int smooth(int t)
{
    return (t * t * (768 - 2 * t)) >> 16;
}

/* Adds `gain` * value noise of nx * ny cells per tile. Cells must divide the
 * tile's side. */
static void add_octave(struct noise *f, uint64_t key, unsigned nx, unsigned ny,
                       int gain)
{
    static const uint64_t row_stride = 1 << 20;
    unsigned sx = SIDE / nx, sy = SIDE / ny;
    uint8_t top[LATTICE_MAX + 1], low[LATTICE_MAX + 1];

    for (unsigned y = 0; y < SIDE; y++) {
        unsigned cy = y / sy;
        int fy = smooth((int)(y % sy * 256 / sy));

        for (unsigned c = 0; y % sy == 0 && c <= nx; c++) {
            top[c] = (uint8_t)wr_rng_at(key, cy * row_stride, c % nx);
            low[c] = (uint8_t)wr_rng_at(key, (cy + 1) % ny * row_stride,
                                        c % nx);
        }
        for (unsigned c = 0; c < nx; c++) {
            int a = top[c] * 256 + (low[c] - top[c]) * fy;
            int b = top[c + 1] * 256 + (low[c + 1] - top[c + 1]) * fy;

            for (unsigned x = 0; x < sx; x++) {
                int fx = smooth((int)(x * 256 / sx));

                f->v[y][c * sx + x] += ((a * 256 + (b - a) * fx) >> 16) * gain;
            }
        }
    }
}

/* Stretches the field to 0..255 and bends it. */
static void finish_tile(const struct noise *f, const struct recipe *rc,
                        uint8_t tile[SIDE][SIDE])
{
    int32_t lo = INT32_MAX, hi = INT32_MIN;
    int64_t span;

    for (unsigned y = 0; y < SIDE; y++) {
        for (unsigned x = 0; x < SIDE; x++) {
            lo = WR_MIN(lo, f->v[y][x]);
            hi = WR_MAX(hi, f->v[y][x]);
        }
    }
    span = WR_MAX(1, hi - lo);
    for (unsigned y = 0; y < SIDE; y++) {
        for (unsigned x = 0; x < SIDE; x++) {
            int n = (int)((int64_t)(f->v[y][x] - lo) * 255 / span);

            tile[y][x] = rc->curve(n, x, y);
        }
    }
}

static void make_tile(struct noise *f, const struct recipe *rc, uint64_t key,
                      uint8_t tile[SIDE][SIDE])
{
    unsigned nx = rc->nx, ny = rc->ny;
    int gain = 4096;

    *f = (struct noise){0};
    for (unsigned o = 0; o < rc->octaves; o++) {
        add_octave(f, wr_rng_at(key, 1, o), nx, ny, gain);
        nx = WR_MIN(nx * 2, LATTICE_MAX);
        ny = WR_MIN(ny * 2, LATTICE_MAX);
        gain = gain * (int)rc->persistence / 256;
    }
    finish_tile(f, rc, tile);
}

static void make_four(uint8_t tile[SIDE][SIDE], uint32_t four[SIDE * SIDE])
{
    for (unsigned y = 0; y < SIDE; y++) {
        const uint8_t *top = tile[y], *low = tile[(y + 1) & MASK];

        for (unsigned x = 0; x < SIDE; x++) {
            unsigned next = (x + 1) & MASK;

            *four++ = (uint32_t)top[x] | (uint32_t)top[next] << 8 |
                      (uint32_t)low[x] << 16 | (uint32_t)low[next] << 24;
        }
    }
}

/* Nearly normal noise, a little wider than one pixel, as a sensor's is after
 * the colours have been interpolated. */
static void make_grain(struct noise *f, uint64_t key, int8_t grain[SIDE][SIDE])
{
    for (unsigned y = 0; y < SIDE; y++) {
        for (unsigned x = 0; x < SIDE; x++) {
            uint64_t r = wr_rng_at(key, y, x);
            int sum = -510;

            for (unsigned k = 0; k < 4; k++, r >>= 8)
                sum += (int)(r & 0xff);
            f->v[y][x] = sum; /* standard deviation 148 */
        }
    }
    for (unsigned y = 0; y < SIDE; y++) {
        const int32_t *mid = f->v[y];
        const int32_t *up = f->v[(y - 1) & MASK], *dn = f->v[(y + 1) & MASK];

        for (unsigned x = 0; x < SIDE; x++) {
            int32_t side = mid[(x - 1) & MASK] + mid[(x + 1) & MASK] + up[x] +
                           dn[x];
            int32_t n = (mid[x] * 3 + side) / 16;

            grain[y][x] = (int8_t)WR_MAX(-127, WR_MIN(127, n));
        }
    }
}

int wr_textures_new(struct wr_textures **ret, uint64_t seed, weir_err *err)
{
    struct wr_textures *t = malloc(sizeof(*t));
    struct noise *f = malloc(sizeof(*f));

    if (!t || !f) {
        free(t);
        free(f);
        return wr_fail(err, WEIR_ENOMEM, "no memory for textures");
    }
    for (unsigned k = 0; k < WR_TEXTURE_COUNT; k++)
        make_tile(f, &recipes[k], wr_rng_at(seed, 100, k), t->tile[k]);
    for (unsigned k = 0; k < WR_TEXTURE_COUNT; k++)
        make_four(t->tile[k], t->four[k]);
    make_grain(f, wr_rng_at(seed, 101, 0), t->grain);
    free(f);
    *ret = t;
    return 0;
}

void wr_textures_free(struct wr_textures *t)
{
    free(t);
}
