/* test_varying.c - samples of different lengths: kept, moved, joined.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "pipeline/varying.h"

#define SLOTS 5u

static void keep(struct wr_varying *v, uint32_t slot, const char *text)
{
    uint8_t *mem = wr_varying_keep(v, slot, strlen(text));

    assert_non_null(mem);
    assert_int_equal((uintptr_t)mem % 64, 0);
    memcpy(mem, text, strlen(text));
}

static void assert_sample(const uint8_t *bytes, const uint64_t *offsets,
                          uint32_t slot, const char *text)
{
    assert_int_equal(offsets[slot + 1] - offsets[slot], strlen(text));
    assert_memory_equal(bytes + offsets[slot], text, strlen(text));
}

static void samples_lie_behind_each_other(void **state)
{
    struct wr_spares spares;
    struct wr_varying v = {0};
    uint64_t offsets[SLOTS + 1];
    const uint8_t *bytes;

    (void)state;
    wr_spares_init(&spares);
    assert_true(wr_varying_init(&v, &spares, SLOTS));
    for (int round = 0; round < 3; round++) { /* its memory is used again */
        keep(&v, 0, "one");
        keep(&v, 1, "");
        keep(&v, 2, "a longer one, beyond what the first round had");
        keep(&v, 3, "x");
        bytes = wr_varying_join(&v, 4, offsets);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        assert_int_equal(offsets[0], 0);
        assert_sample(bytes, offsets, 0, "one");
        assert_sample(bytes, offsets, 1, "");
        assert_sample(bytes, offsets, 2,
                      "a longer one, beyond what the first round had");
        assert_sample(bytes, offsets, 3, "x");
        wr_varying_drop(&v);
    }
    wr_varying_done(&v);
    wr_spares_done(&spares);
}

static void one_sample_is_not_copied(void **state)
{
    struct wr_spares spares;
    struct wr_varying v = {0};
    uint64_t offsets[2];

    (void)state;
    wr_spares_init(&spares);
    assert_true(wr_varying_init(&v, &spares, SLOTS));
    keep(&v, 0, "alone");
    assert_ptr_equal(wr_varying_join(&v, 1, offsets), v.kept[0].bytes);
    assert_sample(v.kept[0].bytes, offsets, 0, "alone");
    wr_varying_drop(&v);
    assert_null(v.kept[0].bytes);
    wr_varying_done(&v);
    wr_spares_done(&spares);
}

/* What fills a hole takes the place of whatever was left there. */
static void samples_move_and_are_replaced(void **state)
{
    struct wr_spares spares;
    struct wr_varying v = {0};
    uint64_t offsets[SLOTS + 1];
    const uint8_t *bytes;

    (void)state;
    wr_spares_init(&spares);
    assert_true(wr_varying_init(&v, &spares, SLOTS));
    keep(&v, 0, "first");
    keep(&v, 1, "half of a bad sample");
    keep(&v, 2, "last");
    wr_varying_move(&v, 2, 1);
    assert_null(v.kept[2].bytes);
    keep(&v, 0, "another first");
    bytes = wr_varying_join(&v, 2, offsets);
    assert_non_null(bytes);
    assert_sample(bytes, offsets, 0, "another first");
    assert_sample(bytes, offsets, 1, "last");
    wr_varying_done(&v);
    wr_spares_done(&spares);
}

/* Large memory comes back, also where it is longer than what is asked for. */
static void large_memory_is_used_again(void **state)
{
    const size_t lens[] = {4 << 20, 3 << 20, 2 << 20, 5 << 20, 4 << 20};
    const uint8_t *first = NULL, *at;
    struct wr_spares spares;
    struct wr_varying v = {0};
    uint64_t offsets[2];

    (void)state;
    wr_spares_init(&spares);
    assert_true(wr_varying_init(&v, &spares, SLOTS));
    for (unsigned i = 0; i < 5; i++) {
        uint8_t *mem = wr_varying_keep(&v, 0, lens[i]);

        assert_non_null(mem);
        mem[0] = mem[lens[i] - 1] = 1;
        at = wr_varying_join(&v, 1, offsets);
        assert_int_equal(offsets[1], lens[i]);
        if (i && i != 3)
            assert_ptr_equal(at, first);
        first = at;
        wr_varying_drop(&v);
        assert_int_equal(spares.count, 1);
    }
    wr_varying_done(&v);
    wr_spares_done(&spares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_lie_behind_each_other),
        cmocka_unit_test(one_sample_is_not_copied),
        cmocka_unit_test(samples_move_and_are_replaced),
        cmocka_unit_test(large_memory_is_used_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
