/* gemm.c - products of small matrices, from which the layers are built.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile of 6 x 16 sums stays in 12 registers of 8 floats; a step along k takes
 * two loads of B and six broadcasts of A for 12 fused multiply-adds. That is
 * what 16 registers allow, and it keeps both multipliers of a core busy. */
#include "train/gemm.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

#define LANES  8u
#define INLINE static inline __attribute__((always_inline))

typedef float vec
    __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* One tile; `rows` is a constant where this is inlined, so that all loops over
 * it are unrolled and the sums stay in registers. */
INLINE void tile(const struct wr_gemm *g, const float *a, const float *b,
                 float *c, const size_t rows)
{
    const size_t a_row = g->a_row, a_k = g->a_k, b_k = g->b_k, k = g->k;
    vec sum[WR_GEMM_ROWS][2] = {{{0}}};

    for (size_t p = 0; p < k; p++, a += a_k, b += b_k) {
        vec b0 = *(const vec *)b, b1 = *(const vec *)(b + LANES);

        for (size_t i = 0; i < rows; i++) {
            float v = a[i * a_row];

            sum[i][0] += v * b0;
            sum[i][1] += v * b1;
        }
    }
    for (size_t i = 0; i < rows; i++) {
        vec *row = (vec *)(c + i * g->c_row);

        if (g->add) {
            sum[i][0] += row[0];
            sum[i][1] += row[1];
        }
        row[0] = sum[i][0];
        row[1] = sum[i][1];
    }
}

INLINE void tile_of(const struct wr_gemm *g, const float *a, const float *b,
                    float *c, size_t rows)
{
    switch (rows) {
    case 6:
        tile(g, a, b, c, 6);
        break;
    case 5:
        tile(g, a, b, c, 5);
        break;
    case 4:
        tile(g, a, b, c, 4);
        break;
    case 3:
        tile(g, a, b, c, 3);
        break;
    case 2:
        tile(g, a, b, c, 2);
        break;
    default:
        tile(g, a, b, c, 1);
    }
}

/* A tile at the right edge, by way of a whole one. */
INLINE void edge_tile(const struct wr_gemm *g, const float *a, const float *b,
                      float *c, size_t rows)
{
    float whole[WR_GEMM_ROWS * WR_GEMM_COLS] = {0};
    size_t bytes = g->n % WR_GEMM_COLS * sizeof(float);
    struct wr_gemm e = *g;

    e.c_row = WR_GEMM_COLS;
    for (size_t i = 0; g->add && i < rows; i++)
        memcpy(whole + i * WR_GEMM_COLS, c + i * g->c_row, bytes);
    tile_of(&e, a, b, whole, rows);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * g->c_row, whole + i * WR_GEMM_COLS, bytes);
}

/* Panels of B outside: one stays in the nearest cache while all rows of A go
 * past it. */
INLINE void product(const struct wr_gemm *g)
{
    for (size_t j = 0; j < g->n; j += WR_GEMM_COLS) {
        const float *b = g->b + j / WR_GEMM_COLS * g->b_panel;

        for (size_t i = 0; i < g->m; i += WR_GEMM_ROWS) {
            size_t rows = WR_MIN(g->m - i, (size_t)WR_GEMM_ROWS);
            const float *a = g->a + i * g->a_row;
            float *c = g->c + i * g->c_row + j;

            if (g->n - j < WR_GEMM_COLS)
                edge_tile(g, a, b, c, rows);
            else
                tile_of(g, a, b, c, rows);
        }
    }
}

void wr_gemm_plain(const struct wr_gemm *g)
{
    product(g);
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) static void
gemm_avx2(const struct wr_gemm *g)
{
    product(g);
}

void wr_gemm(const struct wr_gemm *g)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        gemm_avx2(g);
    else
        wr_gemm_plain(g);
}

#else

void wr_gemm(const struct wr_gemm *g)
{
    wr_gemm_plain(g);
}

#endif
