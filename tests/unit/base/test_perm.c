/* test_perm.c - the permutation is one, uniform, and needs no memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/perm.h"
#include "base/rng.h"
#include "chi.h"

static void check_bijection(uint64_t n, uint64_t seed, uint8_t *seen)
{
    struct wr_perm p;

    wr_perm_init(&p, n, seed, 3);
    memset(seen, 0, n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = wr_perm_at(&p, i);

        assert_true(at < n);
        assert_int_equal(seen[at], 0);
        seen[at] = 1;
    }
}

static void bijection_for_every_small_size(void **state)
{
    uint8_t *seen = malloc(5001);

    (void)state;
    assert_non_null(seen);
    for (uint64_t n = 0; n <= 5000; n += n < 600 ? 1 : 97)
        check_bijection(n, n, seen);
    for (uint64_t bits = 9; bits <= 12; bits++) {
        check_bijection((UINT64_C(1) << bits) - 1, 1, seen);
        check_bijection(UINT64_C(1) << bits, 2, seen);
        check_bijection((UINT64_C(1) << bits) + 1, 3, seen);
    }
    free(seen);
}

static void bijection_for_random_large_sizes(void **state)
{
    struct wr_rng rng = {.seed = 1};
    uint8_t *seen = malloc(400000);

    (void)state;
    assert_non_null(seen);
    for (int k = 0; k < 8; k++)
        check_bijection(5000 + wr_rng_below(&rng, 300000), (uint64_t)k, seen);
    free(seen);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Sizes that cannot be walked through: images of a sample are distinct, in
 * range and spread. The state is of fixed size whatever n is. */
static void a_billion_and_more(void **state)
{
    static const uint64_t sizes[] = {
        1000000000,     (UINT64_C(1) << 32) + 1, UINT64_C(1) << 40,
        UINT64_MAX / 3, (UINT64_C(1) << 63) + 9, UINT64_MAX};
    enum { SAMPLES = 100000 };
    uint64_t *at = malloc(SAMPLES * sizeof(*at));

    (void)state;
    assert_non_null(at);
    for (unsigned s = 0; s < 6; s++) {
        uint64_t n = sizes[s], step = n / SAMPLES, upper = 0;
        struct wr_perm p;

        wr_perm_init(&p, n, 5, s);
        for (uint64_t i = 0; i < SAMPLES; i++) {
            at[i] = wr_perm_at(&p, i * step);
            assert_true(at[i] < n);
            upper += at[i] >= n / 2;
        }
        qsort(at, SAMPLES, sizeof(*at), by_value);
        for (unsigned i = 1; i < SAMPLES; i++)
            assert_true(at[i] != at[i - 1]);
        /* 5 standard deviations of SAMPLES coin flips are 790 */
        assert_in_range(upper, SAMPLES / 2 - 790, SAMPLES / 2 + 790);
    }
    free(at);
}

/* Over many seeds, each element must land on every position equally often. */
static void positions_are_uniform(void **state)
{
    static const uint64_t sizes[] = {2, 3, 4, 5, 7, 8, 10, 16, 17, 100, 128};
    enum { PER_CELL = 200 };

    (void)state;
    for (unsigned s = 0; s < 11; s++) {
        uint64_t n = sizes[s];

        for (uint64_t element = 0; element < n; element += n / 4 + 1) {
            uint64_t cells[128] = {0};

            for (uint64_t seed = 0; seed < PER_CELL * n; seed++) {
                struct wr_perm p;

                wr_perm_init(&p, n, seed, 0);
                cells[wr_perm_at(&p, element)]++;
            }
            assert_uniform(cells, (unsigned)n, PER_CELL);
        }
    }
}

static uint64_t factorial(uint64_t n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* The number of a permutation among all of its size (its Lehmer code). */
static uint64_t number_of(const struct wr_perm *p, uint64_t n)
{
    uint64_t number = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t smaller = 0;

        for (uint64_t k = i + 1; k < n; k++)
            smaller += wr_perm_at(p, k) < wr_perm_at(p, i);
        number += smaller * factorial(n - 1 - i);
    }
    return number;
}

/* Of a tiny set all n! permutations come equally often. */
static void tiny_permutations_are_uniform(void **state)
{
    enum { PER_CELL = 1000, MOST = 720 };

    (void)state;
    for (uint64_t n = 2; n <= 6; n++) {
        uint64_t all = factorial(n), cells[MOST] = {0};

        for (uint64_t seed = 0; seed < PER_CELL * all; seed++) {
            struct wr_perm p;

            wr_perm_init(&p, n, seed, 0);
            cells[number_of(&p, n)]++;
        }
        assert_uniform(cells, (unsigned)all, PER_CELL);
    }
}

/* Each size below the table's end, with many more keys than above: what two
 * elements become is uniform over all pairs. */
static void small_pairs_are_uniform(void **state)
{
    enum { PER_CELL = 30, CELLS = 65 * 65 };
    static uint64_t cells[CELLS];

    (void)state;
    for (uint64_t n = 7; n <= 65; n++) {
        unsigned count = (unsigned)(n * (n - 1));

        memset(cells, 0, sizeof(cells));
        for (uint64_t seed = 0; seed < (uint64_t)PER_CELL * count; seed++) {
            struct wr_perm p;
            uint64_t a, b;

            wr_perm_init(&p, n, seed, n);
            a = wr_perm_at(&p, n / 3);
            b = wr_perm_at(&p, n - 1);
            cells[a * (n - 1) + (b - (b > a))]++;
        }
        assert_uniform(cells, count, PER_CELL);
    }
}

/* The distance of two neighbours is uniform too: no pattern stays. */
static void neighbours_part(void **state)
{
    enum { N = 64, PER_CELL = 300 };
    uint64_t cells[N - 1] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < PER_CELL * (N - 1); seed++) {
        struct wr_perm p;

        wr_perm_init(&p, N, seed, 9);
        cells[(wr_perm_at(&p, 11) + N - wr_perm_at(&p, 10)) % N - 1]++;
    }
    assert_uniform(cells, N - 1, PER_CELL);
}

static void streams_and_seeds_differ(void **state)
{
    enum { N = 1000 };
    struct wr_perm a, b, c, again;
    unsigned same_b = 0, same_c = 0;

    (void)state;
    wr_perm_init(&a, N, 1, 0);
    wr_perm_init(&b, N, 1, 1);
    wr_perm_init(&c, N, 2, 0);
    wr_perm_init(&again, N, 1, 0);
    for (uint64_t i = 0; i < N; i++) {
        same_b += wr_perm_at(&a, i) == wr_perm_at(&b, i);
        same_c += wr_perm_at(&a, i) == wr_perm_at(&c, i);
        assert_int_equal(wr_perm_at(&a, i), wr_perm_at(&again, i));
    }
    assert_true(same_b < 10 && same_c < 10); /* one is expected */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bijection_for_every_small_size),
        cmocka_unit_test(bijection_for_random_large_sizes),
        cmocka_unit_test(a_billion_and_more),
        cmocka_unit_test(positions_are_uniform),
        cmocka_unit_test(tiny_permutations_are_uniform),
        cmocka_unit_test(small_pairs_are_uniform),
        cmocka_unit_test(neighbours_part),
        cmocka_unit_test(streams_and_seeds_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
