/* test_ckpt_ranks.c - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "group.h"

#define SAVES 3

/* Rank 1 is the slowest; only rank 0 knows how long draining took. */
static struct wr_ckpt_save_values save_of(uint32_t rank, unsigned i)
{
    return (struct wr_ckpt_save_values){.stall_s = rank == 1 ? 2 + i : 0.5,
                                        .fast_s = 1,
                                        .slow_s = NAN,
                                        .verified_s = NAN,
                                        .drain_s = rank ? NAN : 4};
}

static void join(uint32_t rank, void *arg)
{
    struct wr_ckpt_save_values saves[SAVES];
    struct wr_ckpt_bench_case k = {
        .v = {
            .runs = {saves, SAVES, sizeof(*saves)},
            .memory = 100,
            .result = {.restore_s = rank == 2 ? 9 : 1, .bytes = 1000 + rank}}};
    const struct wr_ckpt_rank_values *ranks;
    struct wr_together t;
    struct wr_comm *c;

    group_join(arg, rank, &c, &t);
    for (unsigned i = 0; i < SAVES; i++) {
        saves[i] = save_of(rank, i);
        CHECK(wr_ckpt_join_save(&t, &saves[i], NULL) == 0);
        CHECK(saves[i].stall_s == 2 + i && saves[i].drain_s == 4);
        CHECK(saves[i].fast_s == 1 && isnan(saves[i].slow_s));
    }
    CHECK(wr_ckpt_join_case(&t, &k, NULL) == 0);
    CHECK(k.v.result.restore_s == 9);
    CHECK(rank == 0 || !k.v.ranks.v);
    ranks = k.v.ranks.v;
    if (rank == 0) {
        CHECK(k.v.ranks.count == 3 && k.v.memory == 300);
        CHECK(k.v.result.bytes == 3003);
        CHECK(ranks[0].stall_s == 0.5 && ranks[1].stall_s == 3);
        CHECK(ranks[2].bytes == 1002 && ranks[2].rank == 2 && *ranks[2].host);
    }
    free(k.v.ranks.v);
    json_decref(k.said);
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
