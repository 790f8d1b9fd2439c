/* test_hist.c - quantiles against sorted arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "base/rng.h"

#define N 4000

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Values over `bits` orders of magnitude. */
static void make(uint64_t *v, unsigned bits, uint64_t seed)
{
    struct wr_rng r = {.seed = seed};

    for (unsigned i = 0; i < N; i++)
        v[i] = wr_rng_next(&r) >> (64 - bits) >> wr_rng_below(&r, bits);
}

static void quantiles_within_a_percent(void **state)
{
    static const double qs[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
    struct wr_hist *h = malloc(sizeof(*h));
    uint64_t *v = malloc(N * sizeof(*v));

    (void)state;
    for (unsigned bits = 1; bits <= 64; bits += 7) {
        memset(h, 0, sizeof(*h));
        make(v, bits, bits);
        for (unsigned i = 0; i < N; i++)
            wr_hist_add(h, v[i]);
        qsort(v, N, sizeof(*v), by_value);
        assert_int_equal(h->count, N);
        assert_int_equal(h->min, v[0]);
        assert_int_equal(h->max, v[N - 1]);
        for (unsigned k = 0; k < 8; k++) {
            double want = (double)v[(size_t)(qs[k] * (N - 1))];
            double got = (double)wr_hist_quantile(h, qs[k]);

            assert_true(fabs(got - want) <= 0.01 * want);
        }
    }
    free(v);
    free(h);
}

static void merging_is_adding(void **state)
{
    struct wr_hist *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
    struct wr_hist *all = calloc(1, sizeof(*all));
    uint64_t *v = malloc(N * sizeof(*v));

    (void)state;
    make(v, 40, 1);
    wr_hist_merge(a, b); /* empty into empty */
    assert_int_equal(a->count, 0);
    for (unsigned i = 0; i < N; i++) {
        wr_hist_add(i % 3 ? a : b, v[i]);
        wr_hist_add(all, v[i]);
    }
    wr_hist_merge(a, b);
    assert_memory_equal(a, all, sizeof(*a));
    memset(b, 0, sizeof(*b));
    wr_hist_merge(a, b);
    assert_memory_equal(a, all, sizeof(*a));
    wr_hist_merge(b, a);
    assert_memory_equal(b, all, sizeof(*a));
    free(v);
    free(a);
    free(b);
    free(all);
}

static void edges(void **state)
{
    struct wr_hist *h = calloc(1, sizeof(*h));

    (void)state;
    assert_int_equal(wr_hist_quantile(h, 0.5), 0);
    wr_hist_add(h, UINT64_MAX);
    assert_int_equal(wr_hist_quantile(h, 0.5), UINT64_MAX);
    wr_hist_add(h, 0);
    assert_int_equal(wr_hist_quantile(h, 0), 0);
    assert_true(wr_hist_quantile(h, 1) >= UINT64_MAX / 100 * 99);
    assert_int_equal(wr_hist_count_between(h, 0, 1), 1);
    assert_int_equal(wr_hist_count_between(h, 1, UINT64_MAX), 1);
    assert_int_equal(wr_hist_count_between(h, 1, 1000), 0);
    free(h);
}

/* Small values have a bucket of their own: counts are exact. */
static void counts_between_are_exact_for_small_values(void **state)
{
    struct wr_hist *h = calloc(1, sizeof(*h));

    (void)state;
    for (uint64_t v = 0; v < 64; v++)
        for (uint64_t k = 0; k <= v; k++)
            wr_hist_add(h, v);
    for (uint64_t v = 0; v < 64; v++)
        assert_int_equal(wr_hist_count_between(h, v, v + 1), v + 1);
    assert_int_equal(wr_hist_count_between(h, 0, 64), h->count);
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_within_a_percent),
        cmocka_unit_test(merging_is_adding),
        cmocka_unit_test(edges),
        cmocka_unit_test(counts_between_are_exact_for_small_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
