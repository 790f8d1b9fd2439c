/* test_gemm.c - products against three plain loops, over odd sizes and strides.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/gemm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#define MAX_M 13u
#define MAX_N 49u
#define MAX_K 301u

static float a[MAX_M * (MAX_K + 3)], b[(MAX_N + 15) * MAX_K];
static float c[(MAX_M + 1) * (MAX_N + 5)], before[(MAX_M + 1) * (MAX_N + 5)];
static float again[(MAX_M + 1) * (MAX_N + 5)];

static void fill(float *x, size_t n, uint64_t stream)
{
    struct wr_rng rng = {.seed = 1, .stream = stream};

    for (size_t i = 0; i < n; i++)
        x[i] = (float)(wr_rng_unit(&rng) - .5);
}

static double b_at(const struct wr_gemm *g, size_t k, size_t j)
{
    return g->b[j / 16 * g->b_panel + k * g->b_k + j % 16];
}

static void assert_product(const struct wr_gemm *g)
{
    for (size_t i = 0; i < g->m; i++)
        for (size_t j = 0; j < g->n; j++) {
            double sum = g->add ? before[i * g->c_row + j] : 0;

            for (size_t k = 0; k < g->k; k++)
                sum += (double)g->a[i * g->a_row + k * g->a_k] * b_at(g, k, j);
            if (fabs(sum - c[i * g->c_row + j]) > 1e-5)
                fail_msg("%zux%zux%zu: (%zu, %zu) is %g, not %g", g->m, g->n,
                         g->k, i, j, c[i * g->c_row + j], sum);
        }
}

/* Nothing behind a row's end is written. */
static void assert_guards(const struct wr_gemm *g)
{
    for (size_t i = 0; i <= g->m; i++)
        for (size_t j = i < g->m ? g->n : 0; j < g->c_row; j++)
            assert_true(c[i * g->c_row + j] == before[i * g->c_row + j]);
}

static void check(struct wr_gemm g, void (*run)(const struct wr_gemm *))
{
    for (int add = 0; add < 2; add++) {
        g.add = add;
        memcpy(c, before, sizeof(c));
        run(&g);
        assert_product(&g);
        assert_guards(&g);
    }
}

static void products_are_right(void **state)
{
    static const size_t ms[] = {1, 2, 3, 4, 5, 6, 7, MAX_M};
    static const size_t ns[] = {1, 15, 16, 17, 33, MAX_N},
                        ks[] = {0, 1, 2, 301};

    (void)state;
    for (size_t t = 0; t < 8 * 6 * 4; t++) {
        struct wr_gemm g = {
            .m = ms[t / 24], .n = ns[t / 4 % 6], .k = ks[t % 4]};

        g.a = a;
        g.b = b;
        g.c = c;
        g.c_row = g.n + 5;
        g.a_row = t % 3 ? g.k + 3 : 1; /* rows, or transposed */
        g.a_k = t % 3 ? 1 : MAX_M;
        g.b_panel = t % 5 ? 16 * g.k : 16; /* packed, or as rows */
        g.b_k = t % 5 ? 16 : WR_ALIGN_UP(g.n, (size_t)16);
        check(g, wr_gemm);
        check(g, wr_gemm_plain);
    }
}

/* What threads and layers rely on: an element's bits do not depend on where it
 * is computed. */
static void pieces_have_the_bits_of_the_whole(void **state)
{
    struct wr_gemm g = {MAX_M, MAX_N,      MAX_K, a, MAX_K, 1,
                        b,     16 * MAX_K, 16,    c, MAX_N, false};

    (void)state;
    memset(c, 0, sizeof(c));
    wr_gemm(&g);
    memcpy(again, c, sizeof(c));
    for (size_t i = 0; i < MAX_M; i++)
        for (size_t j = 0; j < MAX_N; j += 16) {
            struct wr_gemm piece = g;

            piece.m = 1;
            piece.n = WR_MIN(MAX_N - j, (size_t)16);
            piece.a += i * g.a_row;
            piece.b += j / 16 * g.b_panel;
            piece.c += i * g.c_row + j;
            memset(piece.c, 0x7f, piece.n * sizeof(float));
            wr_gemm(&piece);
        }
    assert_memory_equal(c, again, sizeof(c));
}

static int set_up(void **state)
{
    (void)state;
    fill(a, WR_ARRAY_LEN(a), 0);
    fill(b, WR_ARRAY_LEN(b), 1);
    fill(before, WR_ARRAY_LEN(before), 2);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(pieces_have_the_bits_of_the_whole),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
