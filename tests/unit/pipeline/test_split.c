/* test_split.c - two parts of a data set, as functions of a few numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/split.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static const uint64_t ppms[] = {1,      7,      999,    1000,   33333,  50000,
                                100000, 123457, 200000, 333333, 499999, 500000};
static const uint64_t counts[] = {0,  1,  2,   3,   9,    10,
                                  11, 47, 100, 101, 1000, 2053};

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct wr_split part_of(uint64_t ppm, uint64_t seed, enum weir_part part)
{
    return (struct wr_split){.ppm = ppm, .seed = seed, .part = part};
}

/* The part numbers its samples one to one, in their order, and knows them. */
static uint64_t check_part(const struct wr_split *s, uint64_t n, bool *seen)
{
    uint64_t count = wr_split_count(s, n), last = 0;

    for (uint64_t k = 0; k < count; k++) {
        uint64_t sample = wr_split_sample(s, k);

        assert_true(sample < n);
        assert_true(k == 0 || sample > last);
        assert_false(seen[sample]);
        assert_int_equal(wr_split_place(s, sample), k);
        assert_int_equal(wr_split_part(s, sample), s->part);
        seen[sample] = true;
        last = sample;
    }
    assert_true(wr_split_sample(s, count) >= n); /* what comes is not there */
    return count;
}

static void the_parts_share_all_samples(void **state)
{
    bool seen[2053];

    (void)state;
    for (size_t p = 0; p < LEN(ppms); p++)
        for (size_t c = 0; c < LEN(counts); c++)
            for (uint64_t seed = 0; seed < 5; seed++) {
                struct wr_split train = part_of(ppms[p], seed, WEIR_PART_TRAIN);
                struct wr_split held = part_of(ppms[p], seed,
                                               WEIR_PART_HELD_OUT);
                uint64_t n;

                memset(seen, 0, sizeof(seen));
                n = check_part(&train, counts[c], seen);
                n += check_part(&held, counts[c], seen);
                assert_int_equal(n, counts[c]);
            }
}

/* Far beyond what can be counted through: where products pass 64 bits. */
static void large_numbers_are_right(void **state)
{
    struct wr_rng rng = {.seed = 5};

    (void)state;
    for (size_t p = 0; p < LEN(ppms); p++)
        for (int i = 0; i < 2000; i++) {
            struct wr_split s = part_of(ppms[p], 3, WEIR_PART_TRAIN);
            uint64_t sample = wr_rng_next(&rng) >> 16, place;

            s.part = wr_split_part(&s, sample);
            place = wr_split_place(&s, sample);
            assert_int_equal(wr_split_sample(&s, place), sample);
            assert_int_equal(wr_split_count(&s, sample), place);
            assert_int_equal(wr_split_count(&s, sample + 1), place + 1);
        }
}

/* Appending samples moves none; so the counts differ by one at most. */
static void growing_keeps_the_parts(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(ppms); p++) {
        struct wr_split s = part_of(ppms[p], 9, WEIR_PART_HELD_OUT);

        for (uint64_t n = 0; n < 3000; n++) {
            bool held = wr_split_part(&s, n) == WEIR_PART_HELD_OUT;

            assert_int_equal(wr_split_count(&s, n + 1),
                             wr_split_count(&s, n) + held);
        }
    }
}

/* Any run of samples, a class in a sorted tree say, gives its share: within one
 * of the fraction at each end. */
static void every_stretch_gives_its_share(void **state)
{
    struct wr_rng rng = {.seed = 1};

    (void)state;
    for (size_t p = 0; p < LEN(ppms); p++)
        for (int i = 0; i < 500; i++) {
            struct wr_split s = part_of(ppms[p], (uint64_t)i,
                                        WEIR_PART_HELD_OUT);
            uint64_t from = wr_rng_below(&rng, 100000);
            uint64_t len = wr_rng_below(&rng, 5000);
            double want = (double)len * (double)ppms[p] / 1e6;
            uint64_t is = wr_split_count(&s, from + len) -
                          wr_split_count(&s, from);

            assert_true(fabs((double)is - want) <= 2);
        }
}

/* Within its stratum each sample is as likely as the others. */
static void the_choice_is_even(void **state)
{
    unsigned hits[10] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct wr_split s = part_of(100000, seed, WEIR_PART_HELD_OUT);

        for (uint64_t k = 0; k < 100; k++)
            hits[wr_split_sample(&s, k) % 10]++;
    }
    for (int i = 0; i < 10; i++) /* 2,000 expected, deviation 42 */
        assert_true(hits[i] > 1750 && hits[i] < 2250);
}

static void all_is_all(void **state)
{
    struct wr_split s = {0};

    (void)state;
    assert_int_equal(wr_split_count(&s, 77), 77);
    assert_int_equal(wr_split_sample(&s, 33), 33);
    assert_int_equal(wr_split_place(&s, 33), 33);
    assert_int_equal(wr_split_id(&s), 0);
    s.ppm = 100000; /* and part ALL: nothing is left out */
    assert_int_equal(wr_split_count(&s, 77), 77);
    assert_int_equal(wr_split_id(&s), 0);
}

static void ids_tell_splits_apart(void **state)
{
    uint64_t ids[LEN(ppms) * 3 * 2];
    size_t n = 0;

    (void)state;
    for (size_t p = 0; p < LEN(ppms); p++)
        for (uint64_t seed = 0; seed < 3; seed++)
            for (int part = WEIR_PART_TRAIN; part <= WEIR_PART_HELD_OUT;
                 part++) {
                struct wr_split s = part_of(ppms[p], seed,
                                            (enum weir_part)part);

                ids[n] = wr_split_id(&s);
                assert_true(ids[n] != 0);
                for (size_t i = 0; i < n; i++)
                    assert_true(ids[i] != ids[n]);
                n++;
            }
}

/* The numbers themselves: a split must not change between versions. */
static void the_split_stays_what_it_is(void **state)
{
    static const uint64_t held[] = {4, 17, 26, 31, 48};
    struct wr_split s = part_of(100000, 0, WEIR_PART_HELD_OUT);

    (void)state;
    for (size_t k = 0; k < LEN(held); k++)
        assert_int_equal(wr_split_sample(&s, k), held[k]);
    assert_int_equal(weir_split_part(0.1f, 0, held[1]), WEIR_PART_HELD_OUT);
    assert_int_equal(weir_split_part(0.1f, 0, held[1] + 1), WEIR_PART_TRAIN);
    assert_int_equal(weir_split_part(0, 0, 3), WEIR_PART_ALL);
    assert_int_equal(weir_split_part(0.6f, 0, 3), WEIR_PART_ALL);
    assert_int_equal(weir_split_part(-1, 0, 3), WEIR_PART_ALL);
    assert_int_equal(weir_split_part(nanf(""), 0, 3), WEIR_PART_ALL);
}

static void settings_are_checked(void **state)
{
    static const struct {
        float holdout;
        int part;
        const char *word; /* NULL: fine */
    } cases[] = {
        {0, WEIR_PART_ALL, NULL},
        {0.1f, WEIR_PART_ALL, NULL},
        {0.5f, WEIR_PART_HELD_OUT, NULL},
        {0.000001f, WEIR_PART_TRAIN, NULL},
        {0, WEIR_PART_TRAIN, "part: "},
        {0, WEIR_PART_HELD_OUT, "part: "},
        {0.1f, 3, "part: 3"},
        {0.51f, WEIR_PART_TRAIN, "holdout: 0.51"},
        {1e-7f, WEIR_PART_TRAIN, "holdout: "},
        {-0.1f, WEIR_PART_TRAIN, "holdout: -0.1"},
        {NAN, WEIR_PART_TRAIN, "holdout: "},
        {INFINITY, WEIR_PART_ALL, "holdout: "},
    };
    weir_pipeline_config cfg;
    weir_err err;

    (void)state;
    for (size_t i = 0; i < LEN(cases); i++) {
        weir_pipeline_defaults(&cfg);
        cfg.holdout = cases[i].holdout;
        cfg.part = (enum weir_part)cases[i].part;
        if (!cases[i].word) {
            assert_int_equal(wr_split_check(&cfg, &err), 0);
            continue;
        }
        assert_int_equal(wr_split_check(&cfg, &err), WEIR_EINVAL);
        assert_memory_equal(err.msg, cases[i].word, strlen(cases[i].word));
    }
}

/* Ranges that follow each other share all samples, whatever their number. */
static void ranges_share_all_samples(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++)
        for (uint64_t w = 1; w < 9; w++) {
            uint64_t sum = 0;

            for (uint64_t r = 0; r < w; r++) {
                struct wr_split s = {.first = n * r / w,
                                     .count = n * (r + 1) / w - n * r / w};
                uint64_t count = s.count ? wr_split_count(&s, n) : 0;

                for (uint64_t k = 0; k < count; k++) {
                    assert_int_equal(wr_split_sample(&s, k), sum + k);
                    assert_int_equal(wr_split_place(&s, sum + k), k);
                }
                sum += count;
            }
            assert_int_equal(sum, n);
        }
}

static void a_range_ends_with_the_samples(void **state)
{
    struct wr_split s = {.first = 7, .count = 5}, open = {.first = 7};
    weir_pipeline_config cfg;
    weir_err err;

    (void)state;
    assert_int_equal(wr_split_count(&s, 10), 3);
    assert_int_equal(wr_split_count(&s, 7), 0);
    assert_int_equal(wr_split_count(&open, 10), 3);
    assert_int_not_equal(wr_split_id(&s), 0);
    assert_int_not_equal(wr_split_id(&s), wr_split_id(&open));
    weir_pipeline_defaults(&cfg);
    cfg.sample_first = 10;
    assert_int_equal(wr_split_check_count(&cfg, "d", 10, &err), WEIR_ENOENT);
    assert_string_equal(err.msg, "'d': has no sample 10: it has 10");
    cfg.holdout = 0.1f;
    assert_int_equal(wr_split_check(&cfg, &err), WEIR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_share_all_samples),
        cmocka_unit_test(a_range_ends_with_the_samples),
        cmocka_unit_test(the_parts_share_all_samples),
        cmocka_unit_test(large_numbers_are_right),
        cmocka_unit_test(growing_keeps_the_parts),
        cmocka_unit_test(every_stretch_gives_its_share),
        cmocka_unit_test(the_choice_is_even),
        cmocka_unit_test(all_is_all),
        cmocka_unit_test(ids_tell_splits_apart),
        cmocka_unit_test(the_split_stays_what_it_is),
        cmocka_unit_test(settings_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
