/* test_ckpt_ranks.c - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "group.h"

#define SAVES 3

/* Rank 1 is the slowest; only rank 0 knows how long draining took. */
static struct wr_ckpt_bench_save save_of(uint32_t rank, unsigned i)
{
    return (struct wr_ckpt_bench_save){.stall = rank == 1 ? 2 + i : 0.5,
                                       .fast = 1,
                                       .slow = NAN,
                                       .verified = NAN,
                                       .drain = rank ? NAN : 4};
}

static void join(uint32_t rank, void *arg)
{
    struct wr_ckpt_bench_save saves[SAVES];
    struct wr_ckpt_bench_case k = {.saves = saves,
                                   .count = SAVES,
                                   .memory = 100,
                                   .restore = rank == 2 ? 9 : 1};
    struct wr_together t;
    struct wr_comm *c;

    group_join(arg, rank, &c, &t);
    for (unsigned i = 0; i < SAVES; i++) {
        saves[i] = save_of(rank, i);
        CHECK(wr_ckpt_join_save(&t, &saves[i], NULL) == 0);
        CHECK(saves[i].stall == 2 + i && saves[i].drain == 4);
        CHECK(saves[i].fast == 1 && isnan(saves[i].slow));
    }
    CHECK(wr_ckpt_join_case(&t, 1000 + rank, &k, NULL) == 0);
    CHECK(k.restore == 9);
    CHECK(rank == 0 || !k.ranks);
    if (rank == 0) {
        CHECK(k.rank_count == 3 && k.memory == 300);
        CHECK(k.ranks[0].stall == 0.5 && k.ranks[1].stall == 3);
        CHECK(k.ranks[2].bytes == 1002 && *k.ranks[2].host);
    }
    free(k.ranks);
    group_leave(c, &t);
}

static void test_join(void **state)
{
    (void)state;
    assert_int_equal(group_run(3, join, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_join)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
