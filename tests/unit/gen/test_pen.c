/* test_pen.c - bytes and noise come in order, in whole pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/inflate.h"
#include "gen/pen.h"
#include "grown.h"

static uint8_t buf[WR_PEN_BYTES];

static void test_pieces(void **state)
{
    const struct wr_noise_place place = {1, 2, 3};
    const size_t many = 2 * WR_PEN_BYTES + 1000;
    uint8_t *want = malloc(many);
    struct wr_noise n;
    struct wr_pen p;
    struct grown g;

    (void)state;
    grown_init(&g);
    wr_noise_init(&n, &place, WEIR_U8, 0);
    wr_noise_fill(&n, 5, want, many);
    wr_pen_init(&p, &g.base, buf);
    wr_pen_put(&p, "head", 4);
    p.sum = wr_crc32;
    wr_pen_noise(&p, &n, 5, many);
    p.sum = NULL;
    assert_int_equal(p.crc, wr_crc32(0, want, many));
    wr_pen_zeros(&p, 100);
    assert_int_equal(wr_pen_tell(&p), 4 + many + 100);
    assert_int_equal(g.writes, 2); /* all but the rest */
    assert_int_equal(wr_pen_flush(&p, NULL), 0);
    assert_int_equal(g.writes, 3);
    assert_int_equal(g.len, 4 + many + 100);
    assert_memory_equal(g.bytes, "head", 4);
    assert_memory_equal(g.bytes + 4, want, many);
    assert_int_equal(g.bytes[g.len - 1], 0);
    grown_done(&g);
    free(want);
}

/* Room that was left is filled later; pieces end where pages do all the same. */
static void test_patch(void **state)
{
    struct wr_pen p;
    struct grown g;

    (void)state;
    grown_init(&g);
    wr_pen_init(&p, &g.base, buf);
    wr_pen_put(&p, "ab", 2);
    wr_pen_skip(&p, 3);
    wr_pen_zeros(&p, WR_PEN_BYTES);
    assert_int_equal(p.at, WR_PEN_BYTES);
    assert_int_equal(wr_pen_flush(&p, NULL), 0);
    wr_pen_patch(&p, 2, "xyz", 3);
    assert_int_equal(g.len, WR_PEN_BYTES + 5);
    assert_memory_equal(g.bytes, "abxyz\0", 6);
    grown_done(&g);
}

static void test_full(void **state)
{
    struct wr_pen p;
    struct grown g;

    (void)state;
    grown_init(&g);
    g.full = true;
    wr_pen_init(&p, &g.base, buf);
    wr_pen_zeros(&p, WR_PEN_BYTES * 3);
    wr_pen_put(&p, "lost", 4);
    wr_pen_patch(&p, 0, "lost", 4);
    assert_int_equal(wr_pen_flush(&p, NULL), WEIR_ENOSPC);
    assert_int_equal(g.writes, 1);
    grown_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests_name("pen", tests, NULL, NULL);
}
