/* test_filter.c - taps: their sums, ranges, packing and cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "codec/filter.h"

static struct wr_filter_key random_key(struct wr_rng *rng)
{
    struct wr_filter_key k = {
        .in = 1 + (uint32_t)wr_rng_below(rng, 700),
        .out = 1 + (uint32_t)wr_rng_below(rng, 300),
        .upsample = 1 + (uint32_t)wr_rng_below(rng, 2),
        .resize = (enum weir_resize)wr_rng_below(rng, 3),
        .use = (enum wr_filter_use)wr_rng_below(rng, 3),
    };

    k.lo = wr_rng_unit(rng) * 0.4 * k.in;
    k.hi = k.in * k.upsample - wr_rng_unit(rng) * 0.4 * k.in;
    return k;
}

static void check_rows_packing(const struct wr_taps *f, uint32_t o)
{
    const int8_t *p = (const int8_t *)f->packed + (size_t)o * f->padded * 2;
    const int16_t *w = f->weight + (size_t)o * f->padded;

    if (f->count[o] == 1) {
        assert_int_equal((p[0] + p[1]) * 128 + p[2] + p[3], WR_WEIGHT_ONE);
        return;
    }
    for (uint32_t t = 0; t < f->count[o]; t++) {
        const int8_t *pair = p + t / 2 * 4 + t % 2;

        assert_int_equal(pair[0] * 128 + pair[2], w[t]);
    }
}

static void test_sums_and_ranges(void **state)
{
    struct wr_filter_cache cache = {0};
    struct wr_rng rng = {.seed = 7};

    for (int round = 0; round < 300; round++) {
        struct wr_filter_key key = random_key(&rng);
        const struct wr_taps *f = NULL;

        assert_int_equal(wr_filter_find(&cache, &key, &f, NULL), 0);
        for (uint32_t o = 0; o < key.out; o++) {
            int sum = 0;

            for (uint32_t t = 0; t < f->padded; t++) {
                int w = f->weight[(size_t)o * f->padded + t];

                assert_true(w >= 0);
                assert_true(t < f->count[o] || w == 0);
                sum += w;
            }
            assert_int_equal(sum, WR_WEIGHT_ONE);
            assert_true(f->first[o] + f->count[o] <= key.in);
            if (key.use == WR_FILTER_ROWS)
                check_rows_packing(f, o);
        }
    }
    wr_filter_cache_done(&cache);
}

/* Halving with antialiasing has the taps 1 3 3 1 in eighths. */
static void test_known_taps(void **state)
{
    struct wr_filter_cache cache = {0};
    struct wr_filter_key key = {.in = 16, .out = 8, .hi = 16, .upsample = 1};
    const struct wr_taps *f = NULL;
    const int16_t want[4] = {2048, 6144, 6144, 2048};

    assert_int_equal(wr_filter_find(&cache, &key, &f, NULL), 0);
    assert_int_equal(f->first[3], 5);
    assert_int_equal(f->count[3], 4);
    assert_memory_equal(f->weight + 3 * f->padded, want, sizeof(want));
    wr_filter_cache_done(&cache);
}

static void test_cache_returns_the_same(void **state)
{
    struct wr_filter_cache cache = {0};
    struct wr_filter_key key = {.in = 9, .out = 5, .hi = 9, .upsample = 1};
    const struct wr_taps *a = NULL, *b = NULL;

    assert_int_equal(wr_filter_find(&cache, &key, &a, NULL), 0);
    for (uint32_t i = 0; i + 1 < WR_FILTER_CACHE; i++) {
        struct wr_filter_key other = key;

        other.out = 100 + i;
        assert_int_equal(wr_filter_find(&cache, &other, &b, NULL), 0);
        assert_ptr_not_equal(a, b);
    }
    assert_int_equal(wr_filter_find(&cache, &key, &b, NULL), 0);
    assert_ptr_equal(a, b);
    wr_filter_cache_done(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_ranges),
        cmocka_unit_test(test_known_taps),
        cmocka_unit_test(test_cache_returns_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
