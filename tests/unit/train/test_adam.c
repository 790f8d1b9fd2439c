/* test_adam.c - Adam against the paper's formulas in double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/adam.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

#define COUNT 200001u /* more than one chunk, and a rest */
#define STEPS 5u

struct arrays {
    float w[COUNT], m[COUNT], v[COUNT], g[COUNT];
};

static void gradients(float *g, uint64_t step)
{
    struct wr_rng rng = {.seed = step};

    for (size_t i = 0; i < COUNT; i++)
        g[i] = (float)((wr_rng_unit(&rng) - .5) * pow(10, (double)(i % 9) - 6));
}

static void run(struct arrays *a, unsigned threads)
{
    const struct wr_adam adam = WR_ADAM_USUAL(1e-3);
    const struct wr_adam_state state = {a->w, a->m, a->v, a->g, COUNT};
    struct wr_pool *pool;

    memset(a, 0, sizeof(*a));
    assert_int_equal(wr_pool_new(&pool, threads, "adam", NULL), 0);
    for (uint64_t step = 1; step <= STEPS; step++) {
        gradients(a->g, step);
        wr_adam_step(pool, &adam, step, &state);
    }
    wr_pool_free(pool);
}

/* Algorithm 1 of the paper, one weight. */
static double by_the_paper(size_t i, float (*g)[COUNT])
{
    double w = 0, m = 0, v = 0;

    for (int t = 1; t <= (int)STEPS; t++) {
        double grad = g[t - 1][i];

        m = .9 * m + .1 * grad;
        v = .999 * v + .001 * grad * grad;
        w -= 1e-3 * (m / (1 - pow(.9, t))) /
             (sqrt(v / (1 - pow(.999, t))) + 1e-8);
    }
    return w;
}

static void updates_are_the_papers(void **state)
{
    struct arrays *a = malloc(sizeof(*a));
    float(*g)[COUNT] = malloc(STEPS * sizeof(*g));

    (void)state;
    assert_non_null(a);
    assert_non_null(g);
    run(a, 2);
    for (uint64_t step = 1; step <= STEPS; step++)
        gradients(g[step - 1], step);
    for (size_t i = 0; i < COUNT; i++) {
        double w = by_the_paper(i, g);

        if (fabs(a->w[i] - w) > 1e-8 + 1e-4 * fabs(w))
            fail_msg("weight %zu is %g, not %g", i, a->w[i], w);
    }
    free(a);
    free(g);
}

static void threads_change_no_bit(void **state)
{
    struct arrays *one = malloc(sizeof(*one)), *many = malloc(sizeof(*many));

    (void)state;
    assert_non_null(one);
    assert_non_null(many);
    run(one, 1);
    for (unsigned threads = 2; threads <= 4; threads++) {
        run(many, threads);
        assert_memory_equal(one, many, sizeof(*one));
    }
    free(one);
    free(many);
}

/* Without gradients the moments end at 0, and not in subnormal numbers. */
static void moments_end_at_zero(void **state)
{
    const struct wr_adam adam = WR_ADAM_USUAL(1e-3);
    float w = 0, m = 0, v = 0, g = 1e-18f;
    const struct wr_adam_state one = {&w, &m, &v, &g, 1};
    struct wr_pool *pool;

    (void)state;
    assert_int_equal(wr_pool_new(&pool, 1, "adam", NULL), 0);
    for (uint64_t step = 1; step <= 600; step++, g = 0) {
        wr_adam_step(pool, &adam, step, &one);
        assert_true(m == 0 || isnormal(m));
        assert_true(v == 0 || isnormal(v));
    }
    wr_pool_free(pool);
    assert_true(m == 0);
    assert_true(w != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_the_papers),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(moments_end_at_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
