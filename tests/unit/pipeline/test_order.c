/* test_order.c - every order is a bijection; blocks stay in their windows.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/chi.h"
#include "base/rng.h"
#include "pipeline/order.h"

#define MAX_N 3000

static struct wr_order make(enum weir_order kind, uint64_t n, uint32_t block,
                            uint32_t window, uint64_t epoch)
{
    weir_pipeline_config cfg;
    struct wr_order o;

    weir_pipeline_defaults(&cfg);
    cfg.order = kind;
    cfg.seed = 3;
    cfg.block_samples = block;
    cfg.block_window = window;
    wr_order_init(&o, &cfg, n, epoch);
    return o;
}

static void check_bijection(const struct wr_order *o)
{
    static uint8_t seen[MAX_N];

    memset(seen, 0, o->n);
    for (uint64_t i = 0; i < o->n; i++) {
        uint64_t at = wr_order_at(o, i);

        if (at >= o->n || seen[at]++)
            fail_msg("kind %d n %lu block %lu window %lu: %lu comes again",
                     (int)o->kind, (unsigned long)o->n, (unsigned long)o->block,
                     (unsigned long)o->window, (unsigned long)at);
    }
}

static void simple_orders(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= MAX_N; n += n < 100 ? 1 : 289) {
        struct wr_order o = make(WEIR_ORDER_SEQUENTIAL, n, 1, 1, 0);

        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(wr_order_at(&o, i), i);
        o = make(WEIR_ORDER_SHUFFLE, n, 1, 1, n);
        check_bijection(&o);
    }
}

/* How many pairs there are of a rank and a block that it reads from. */
static uint64_t count_shares(const struct wr_order *o, uint32_t ranks)
{
    static bool reads[16][MAX_N];
    uint64_t n = 0;

    memset(reads, 0, sizeof(reads));
    for (uint64_t i = 0; i < o->n; i++)
        reads[i % ranks][wr_order_at(o, i) / o->block] = true;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint64_t b = 0; b * o->block < o->n; b++)
            n += reads[r][b];
    return n;
}

/* Each block goes to one rank, but for some around the short block and at the
 * end of the epoch. */
static void blocks_are_dealt(void **state)
{
    static const uint32_t blocks[] = {1, 2, 7, 16, 64, 5000};
    static const uint32_t windows[] = {1, 2, 5, 100000};

    (void)state;
    for (uint32_t ranks = 2; ranks <= 16; ranks++)
        for (unsigned b = 0; b < 6; b++)
            for (unsigned w = 0; w < 4; w++)
                for (uint64_t n = 1; n < MAX_N; n += n < 40 ? 3 : 419) {
                    struct wr_order o = make(WEIR_ORDER_BLOCK, n, blocks[b],
                                             windows[w], n % 3);
                    uint64_t all = (n + blocks[b] - 1) / blocks[b];

                    wr_order_deal(&o, ranks);
                    check_bijection(&o);
                    if (count_shares(&o, ranks) > all + 2 * (ranks - 1))
                        fail_msg("n %lu block %u window %u ranks %u: %lu of "
                                 "%lu blocks",
                                 (unsigned long)n, blocks[b], windows[w], ranks,
                                 (unsigned long)count_shares(&o, ranks),
                                 (unsigned long)all);
                }
}

/* Other orders do not depend on the ranks. */
static void other_orders_are_not_dealt(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        enum weir_order order = kind ? WEIR_ORDER_SHUFFLE
                                     : WEIR_ORDER_SEQUENTIAL;
        struct wr_order a = make(order, 500, 8, 4, 1), b = a;

        wr_order_deal(&b, 3);
        assert_int_equal(b.dealt, 1);
        for (uint64_t i = 0; i < 500; i++)
            assert_int_equal(wr_order_at(&a, i), wr_order_at(&b, i));
    }
}

/* n smaller than a block, a multiple of it, windows wider than all blocks. */
static void block_order_is_a_bijection(void **state)
{
    static const uint32_t blocks[] = {1, 2, 3, 7, 16, 64, 255, 5000};
    static const uint32_t windows[] = {1, 2, 3, 5, 16, 100000};

    (void)state;
    for (unsigned b = 0; b < 8; b++)
        for (unsigned w = 0; w < 6; w++)
            for (uint64_t n = 1; n < 1100; n += n < 40 ? 1 : 53)
                for (uint64_t epoch = 0; epoch < 3; epoch++) {
                    struct wr_order o = make(WEIR_ORDER_BLOCK, n, blocks[b],
                                             windows[w], epoch);

                    check_bijection(&o);
                }
}

static void the_largest_blocks_and_windows(void **state)
{
    struct wr_order o = make(WEIR_ORDER_BLOCK, 1000, UINT32_MAX, UINT32_MAX, 0);

    (void)state;
    check_bijection(&o);
    o = make(WEIR_ORDER_BLOCK, UINT64_C(1) << 50, UINT32_MAX, UINT32_MAX, 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(wr_order_at(&o, i << 40) < o.n);
    o = make(WEIR_ORDER_BLOCK, 1000, 0, 0, 0); /* taken as 1 */
    check_bijection(&o);
}

/* Positions of one window hold samples of `window` blocks, whole ones. */
static void windows_hold_whole_blocks(void **state)
{
    enum { BLOCK = 8, WINDOW = 3 };
    static const uint64_t sizes[] = {24, 240, 250, 100, 7, 49};

    (void)state;
    for (unsigned s = 0; s < 6; s++)
        for (uint64_t epoch = 0; epoch < 20; epoch++) {
            struct wr_order o = make(WEIR_ORDER_BLOCK, sizes[s], BLOCK, WINDOW,
                                     epoch);
            uint64_t at = 0;

            while (at < o.n) {
                uint64_t counts[64] = {0};
                unsigned blocks = 0;
                /* the short block may stand in any window */
                uint64_t len = 0, want = 0;

                while (at < o.n && (blocks < WINDOW || len < want)) {
                    uint64_t block = wr_order_at(&o, at++) / BLOCK;

                    if (!counts[block]++) {
                        blocks++;
                        want += block == o.n / BLOCK ? o.n % BLOCK : BLOCK;
                    }
                    len++;
                }
                assert_true(blocks <= WINDOW);
                assert_int_equal(len, want);
            }
        }
}

/* Inside a window the samples of its blocks are mixed. */
static void windows_are_mixed(void **state)
{
    struct wr_order o = make(WEIR_ORDER_BLOCK, 4096, 64, 16, 0);
    unsigned changes = 0;

    (void)state;
    for (uint64_t i = 1; i < o.n; i++)
        changes += wr_order_at(&o, i) / 64 != wr_order_at(&o, i - 1) / 64;
    assert_true(changes > 3500); /* 15/16 of all is expected */
}

static void epochs_and_seeds_differ(void **state)
{
    static const enum weir_order kinds[] = {WEIR_ORDER_SHUFFLE,
                                            WEIR_ORDER_BLOCK};

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct wr_order a = make(kinds[k], 2000, 16, 4, 0);
        struct wr_order b = make(kinds[k], 2000, 16, 4, 1);
        weir_pipeline_config cfg;
        struct wr_order c;
        unsigned same_b = 0, same_c = 0;

        weir_pipeline_defaults(&cfg);
        cfg.order = kinds[k];
        cfg.seed = 4;
        cfg.block_samples = 16;
        cfg.block_window = 4;
        wr_order_init(&c, &cfg, 2000, 0);
        for (uint64_t i = 0; i < 2000; i++) {
            same_b += wr_order_at(&a, i) == wr_order_at(&b, i);
            same_c += wr_order_at(&a, i) == wr_order_at(&c, i);
        }
        assert_true(same_b < 100 && same_c < 100);
    }
}

static void ids_tell_orders_apart(void **state)
{
    weir_pipeline_config a, b;

    (void)state;
    weir_pipeline_defaults(&a);
    b = a;
    b.block_samples++; /* means nothing to a full shuffle */
    assert_int_equal(wr_order_id(&a, 1000), wr_order_id(&b, 1000));
    b.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_not_equal(wr_order_id(&a, 1000), wr_order_id(&b, 1000));
    a.order = b.order = WEIR_ORDER_BLOCK;
    assert_int_not_equal(wr_order_id(&a, 1000), wr_order_id(&b, 1000));
    b = a;
    b.block_window++;
    assert_int_not_equal(wr_order_id(&a, 1000), wr_order_id(&b, 1000));
}

/* Whether some permutation of 2 to 63 elements is among those of the order,
 * wherever the short block stands. */
static bool uses_small(uint64_t n, uint64_t block, uint64_t window)
{
    uint64_t full = n / block, rest = n % block, places = full + (rest > 0);
    bool small = full > 1 && full < WR_PERM_SMALL;

    for (uint64_t rest_at = 0; rest_at <= full; rest_at++)
        for (uint64_t first = 0; first < places; first += window) {
            uint64_t size = 0;

            for (uint64_t k = first; k < first + window && k < places; k++)
                size += rest && k == rest_at ? rest : block;
            small = small || (size > 1 && size < WR_PERM_SMALL);
        }
    return small;
}

/* Earlier versions ordered few elements otherwise: their states must not be
 * taken for ours there, and must be everywhere else. */
static void ids_tell_small_orders_apart(void **state)
{
    static const uint32_t blocks[] = {1, 2, 7, 60, 64, 65, 200, 5000};
    static const uint32_t windows[] = {1, 2, 3, 16, 1000};
    weir_pipeline_config cfg;

    (void)state;
    weir_pipeline_defaults(&cfg);
    cfg.order = WEIR_ORDER_SHUFFLE;
    for (uint64_t n = 0; n < 200; n++)
        assert_int_equal(wr_order_id(&cfg, n) & 0x80,
                         n > 1 && n < WR_PERM_SMALL ? 0x80 : 0);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    assert_int_equal(wr_order_id(&cfg, 5) & 0x80, 0);
    cfg.order = WEIR_ORDER_BLOCK;
    for (unsigned b = 0; b < 8; b++)
        for (unsigned w = 0; w < 5; w++)
            for (uint64_t n = 1; n < 1000; n += n < 150 ? 1 : 31) {
                cfg.block_samples = blocks[b];
                cfg.block_window = windows[w];
                assert_int_equal(wr_order_id(&cfg, n) & 0x80,
                                 uses_small(n, blocks[b], windows[w]) ? 0x80
                                                                      : 0);
            }
}

/* 5 blocks of 3 samples in windows of 1: all 120 orders of the blocks and all
 * 6 of the samples in one come equally often over the epochs. */
static void few_blocks_are_uniform(void **state)
{
    enum { BLOCKS = 5, BLOCK = 3, ORDERS = 120, INNER = 6, PER_CELL = 500 };
    static const unsigned weight[] = {24, 6, 2, 1, 0};
    uint64_t outer[ORDERS] = {0}, inner[INNER] = {0};

    (void)state;
    for (uint64_t epoch = 0; epoch < ORDERS * PER_CELL; epoch++) {
        struct wr_order o = make(WEIR_ORDER_BLOCK, BLOCKS * BLOCK, BLOCK, 1,
                                 epoch);
        uint64_t at[BLOCKS * BLOCK];
        unsigned number = 0;

        for (uint64_t i = 0; i < o.n; i++)
            at[i] = wr_order_at(&o, i);
        for (unsigned i = 0; i < BLOCKS; i++)
            for (unsigned k = i + 1; k < BLOCKS; k++)
                number += weight[i] * (at[k * BLOCK] < at[i * BLOCK]);
        outer[number]++;
        inner[2 * ((at[1] < at[0]) + (at[2] < at[0])) + (at[2] < at[1])]++;
    }
    assert_uniform(outer, ORDERS, PER_CELL);
    assert_uniform(inner, INNER, (double)ORDERS * PER_CELL / INNER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_orders),
        cmocka_unit_test(block_order_is_a_bijection),
        cmocka_unit_test(blocks_are_dealt),
        cmocka_unit_test(other_orders_are_not_dealt),
        cmocka_unit_test(the_largest_blocks_and_windows),
        cmocka_unit_test(windows_hold_whole_blocks),
        cmocka_unit_test(windows_are_mixed),
        cmocka_unit_test(epochs_and_seeds_differ),
        cmocka_unit_test(ids_tell_orders_apart),
        cmocka_unit_test(ids_tell_small_orders_apart),
        cmocka_unit_test(few_blocks_are_uniform),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
