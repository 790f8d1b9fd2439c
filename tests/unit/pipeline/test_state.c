/* test_state.c - states: bytes and back, joined, counted, refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/rng.h"
#include "pipeline/state.h"

#define N 300

static struct wr_rng rng = {.seed = 12};

static struct wr_state random_state(void)
{
    struct wr_state s = {.seed = wr_rng_next(&rng),
                         .epoch = wr_rng_below(&rng, 9),
                         .samples = N,
                         .order_id = 1,
                         .batches = (uint32_t)wr_rng_next(&rng),
                         .rank = 1,
                         .world = 2,
                         .dealt = 1 + (uint32_t)wr_rng_below(&rng, 3)};
    uint64_t takes = wr_rng_below(&rng, 60);

    s.position = wr_rng_below(&rng, N + 1);
    for (uint64_t i = 0; i < takes && s.position < N; i++)
        assert_true(
            wr_state_take(&s, s.position + wr_rng_below(&rng, N - s.position)));
    return s;
}

static size_t to_bytes(const struct wr_state *s, uint8_t *buf, size_t cap)
{
    size_t len = wr_state_write(s, buf, cap);

    assert_true(len <= cap);
    assert_int_equal(len, 80 + 8 * s->taken_count);
    return len;
}

static void assert_same(const struct wr_state *a, const struct wr_state *b)
{
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->samples, b->samples);
    assert_int_equal(a->order_id, b->order_id);
    assert_int_equal(a->batches, b->batches);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->world, b->world);
    assert_int_equal(a->dealt, b->dealt);
    assert_int_equal(a->taken_count, b->taken_count);
    for (size_t i = 0; i < a->taken_count; i++)
        assert_int_equal(a->taken[i], b->taken[i]);
}

static void bytes_and_back(void **state)
{
    uint8_t buf[4096];

    (void)state;
    for (int k = 0; k < 200; k++) {
        struct wr_state s = random_state(), back;
        size_t len = to_bytes(&s, buf, sizeof(buf));

        assert_int_equal(wr_state_read(buf, len, &back, NULL), 0);
        assert_same(&s, &back);
        wr_state_done(&back);
        wr_state_done(&s);
    }
}

/* As earlier versions wrote them: with the number of ranks that blocks are
 * dealt to, where it is not 1. */
static void states_from_before_are_read(void **state)
{
    (void)state;
    for (uint32_t dealt = 1; dealt < 4; dealt++) {
        struct wr_state s = {.epoch = 3,
                             .samples = N,
                             .position = 4,
                             .world = 1,
                             .dealt = dealt};
        struct wr_state back;
        uint64_t words[11];
        size_t n = 9;

        assert_int_equal(wr_state_write(&s, words, sizeof(words)), 80);
        memcpy(words, dealt > 1 ? "WEIRST02" : "WEIRST01", 8);
        if (dealt > 1)
            words[n++] = 0;
        words[8] = dealt > 1 ? dealt : 0;
        words[n] = XXH64(words, 8 * n, 0);
        assert_int_equal(wr_state_read(words, 8 * (n + 1), &back, NULL), 0);
        assert_same(&s, &back);
        wr_state_done(&back);
    }
}

static void nothing_is_written_that_does_not_fit(void **state)
{
    struct wr_state s = {.samples = N, .world = 1};
    uint8_t buf[80] = {7};

    (void)state;
    assert_int_equal(wr_state_write(&s, buf, 79), 80);
    assert_int_equal(buf[0], 7);
    assert_int_equal(wr_state_write(&s, NULL, 0), 80);
}

static void damaged_bytes_are_refused(void **state)
{
    struct wr_state s = random_state(), back = {.seed = 5};
    uint8_t buf[4096];
    size_t len;

    (void)state;
    wr_state_take(&s, s.position < N ? s.position : N);
    len = to_bytes(&s, buf, sizeof(buf));
    for (size_t bit = 0; bit < 8 * len; bit++) {
        buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(wr_state_read(buf, len, &back, NULL), WEIR_EFORMAT);
        buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(wr_state_read(buf, cut, &back, NULL), WEIR_EFORMAT);
    assert_int_equal(back.seed, 5); /* untouched */
    assert_int_equal(wr_state_read(buf, len, &back, NULL), 0);
    wr_state_done(&back);
    wr_state_done(&s);
}

/* With a right checksum, but content that cannot be. */
static void impossible_content_is_refused(void **state)
{
    static const struct {
        size_t word;
        uint64_t value;
    } table[] = {
        {3, 11},                    /* position behind the samples */
        {6, 1},                     /* world 1, rank 0: fine alone, see below */
        {6, 0},                     /* no world */
        {6, UINT64_C(2) << 32 | 2}, /* rank 2 of 2 */
        {8, 1},                     /* another number of entries */
        {8, UINT64_MAX},
        {9, 3},   /* before the position */
        {9, 8},   /* the same twice */
        {9, 9},   /* not sorted */
        {10, 10}, /* behind the samples */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wr_state s = {.samples = 10, .position = 4, .world = 2}, back;
        uint64_t words[12];
        bool good = table[i].word == 6 && table[i].value == 1;

        wr_state_take(&s, 8);
        wr_state_take(&s, 6);
        assert_int_equal(wr_state_write(&s, words, sizeof(words)), 96);
        words[table[i].word] = table[i].value;
        words[11] = XXH64(words, 88, 0);
        if (wr_state_read(words, 96, &back, NULL) != (good ? 0 : WEIR_EFORMAT))
            fail_msg("row %zu was taken", i);
        if (good)
            wr_state_done(&back);
        wr_state_done(&s);
    }
}

/* --- against a plain set --- */

static void positions_against_a_set(void **state)
{
    (void)state;
    for (int k = 0; k < 300; k++) {
        struct wr_state s = random_state();
        bool gone[N] = {0};
        uint64_t left = 0;

        for (uint64_t i = 0; i < s.position; i++)
            gone[i] = true;
        for (size_t i = 0; i < s.taken_count; i++)
            gone[s.taken[i]] = true;
        for (uint64_t i = 0; i < N; i++)
            if (!gone[i])
                assert_int_equal(wr_state_position_at(&s, left++), i);
        assert_int_equal(wr_state_remaining(&s), left);
        wr_state_done(&s);
    }
}

static void advancing_forgets_what_it_passes(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++) {
        struct wr_state s = random_state();
        uint64_t to = s.position + wr_rng_below(&rng, N - s.position + 1);
        size_t kept = 0;

        for (size_t i = 0; i < s.taken_count; i++)
            kept += s.taken[i] >= to;
        wr_state_advance(&s, to);
        assert_int_equal(s.position, to);
        assert_int_equal(s.taken_count, kept);
        for (size_t i = 0; i < kept; i++)
            assert_true(s.taken[i] >= to &&
                        (!i || s.taken[i] > s.taken[i - 1]));
        wr_state_done(&s);
    }
}

/* --- joining --- */

struct pair {
    struct wr_state s[2];
    uint8_t bytes[2][256];
    const void *bufs[2];
    size_t lens[2];
};

static int merge(struct pair *p, size_t count, struct wr_state *ret,
                 weir_err *err)
{
    for (int i = 0; i < 2; i++) {
        p->lens[i] = to_bytes(&p->s[i], p->bytes[i], sizeof(p->bytes[i]));
        p->bufs[i] = p->bytes[i];
    }
    return wr_state_merge(p->bufs, p->lens, count, ret, err);
}

static void make_pair(struct pair *p)
{
    for (uint32_t i = 0; i < 2; i++)
        p->s[i] = (struct wr_state){.seed = 1,
                                    .epoch = 2,
                                    .position = 10,
                                    .samples = 100,
                                    .order_id = 3,
                                    .rank = i,
                                    .world = 2};
}

static void joining_unites_what_was_taken(void **state)
{
    struct wr_state sum;
    struct pair p;

    (void)state;
    make_pair(&p);
    wr_state_take(&p.s[0], 99);
    wr_state_take(&p.s[0], 50);
    wr_state_take(&p.s[1], 98);
    wr_state_take(&p.s[1], 50); /* from an earlier resume: in both */
    assert_int_equal(merge(&p, 2, &sum, NULL), 0);
    assert_int_equal(sum.taken_count, 3);
    assert_int_equal(sum.taken[0], 50);
    assert_int_equal(sum.taken[1], 98);
    assert_int_equal(sum.taken[2], 99);
    assert_int_equal(wr_state_remaining(&sum), 87);
    wr_state_done(&sum);
    wr_state_done(&p.s[0]);
    wr_state_done(&p.s[1]);
}

static void one_is_enough_when_none_was_bad(void **state)
{
    struct wr_state sum;
    struct pair p;

    (void)state;
    make_pair(&p);
    assert_int_equal(merge(&p, 1, &sum, NULL), 0);
    assert_int_equal(sum.position, 10);
    wr_state_done(&sum);
    wr_state_take(&p.s[0], 20);
    assert_int_equal(merge(&p, 1, &sum, NULL), WEIR_EINVAL);
    wr_state_done(&p.s[0]);
}

static void states_that_do_not_belong_together(void **state)
{
    struct wr_state sum = {.seed = 77};
    weir_err err;
    struct pair p;

    (void)state;
#define REFUSED(change, word)                                                  \
    make_pair(&p);                                                             \
    change;                                                                    \
    assert_int_equal(merge(&p, 2, &sum, &err), WEIR_EINVAL);                   \
    assert_non_null(strstr(err.msg, word));
    REFUSED(p.s[1].seed++, "same run")
    REFUSED(p.s[1].samples++, "same run")
    REFUSED(p.s[1].order_id++, "same run")
    REFUSED(p.s[1].world++, "same run")
    REFUSED(p.s[1].epoch++, "different steps")
    REFUSED(p.s[1].position++, "different steps")
    /* an epoch that began with other ranks, and the next one */
    REFUSED((p.s[0].dealt = 3, p.s[1].dealt = 2, p.s[1].epoch++),
            "different steps")
    REFUSED((p.s[0].dealt = 3, p.s[1].dealt = 2), "same run")
    REFUSED(p.s[1].rank = 0, "rank 0")
#undef REFUSED
    assert_int_equal(sum.seed, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_back),
        cmocka_unit_test(states_from_before_are_read),
        cmocka_unit_test(nothing_is_written_that_does_not_fit),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(impossible_content_is_refused),
        cmocka_unit_test(positions_against_a_set),
        cmocka_unit_test(advancing_forgets_what_it_passes),
        cmocka_unit_test(joining_unites_what_was_taken),
        cmocka_unit_test(one_is_enough_when_none_was_bad),
        cmocka_unit_test(states_that_do_not_belong_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
