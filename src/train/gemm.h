/* gemm.h - products of small matrices, from which the layers are built.
 * SPDX-License-Identifier: Apache-2.0
 *
 * C = A B or C += A B. Each element of C is one chain of fused additions over
 * k = 0, 1, 2 ..., wherever it lies in the matrix: its bits depend neither on
 * how callers cut up the rows and columns nor on threads. They do depend on the
 * processor: with FMA (x86 with AVX2, arm64) a product is not rounded before
 * it is added, without FMA it is. */
#ifndef WR_TRAIN_GEMM_H
#define WR_TRAIN_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#define WR_GEMM_ROWS 6u /* rows and columns that are computed at once */
#define WR_GEMM_COLS 16u

struct wr_gemm {
    size_t m, n, k;
    const float *a; /* element (i, k) is a[i * a_row + k * a_k] */
    size_t a_row, a_k;
    /* B in panels of WR_GEMM_COLS columns: element (k, j) is
     * b[j / 16 * b_panel + k * b_k + j % 16]; the last panel is whole too,
     * with any content behind column n. */
    const float *b;
    size_t b_panel, b_k;
    float *c; /* element (i, j) is c[i * c_row + j] */
    size_t c_row;
    bool add;
};

void wr_gemm(const struct wr_gemm *g);

/* The same without instructions that not every processor of the kind has. */
void wr_gemm_plain(const struct wr_gemm *g);

#endif
