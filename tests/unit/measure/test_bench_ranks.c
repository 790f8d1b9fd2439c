/* test_bench_ranks.c - what several ranks measured, as one run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "group.h"

#define RANKS 3u

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9 * fabs(b) + 1e-12;
}

/* A run of rank r: 100 + r samples in 1 + r seconds, one of them bad. */
static void fill(struct wr_bench_run *run, struct wr_bench_result *bad,
                 uint32_t r)
{
    char text[32];

    *run = (struct wr_bench_run){
        .seconds = 1 + r,
        .samples = 100 + r,
        .batches = 10,
        .bytes = 1000,
        .cpu_s_per_1000 = 10,
        .peak_bytes = 500 - r,
        .first_batch_ms = 5 + r,
        .gap_p50_ms = r,
        .gap_p99_ms = 2 * r,
        .digest = 7 + r,
        .verdict = r ? WEIR_VERDICT_STORAGE : WEIR_VERDICT_DECODE,
        .cores = {.known = true, .count = 4, .own = 1, .others = 2.5},
    };
    run->stats.workers = 2;
    run->stats.requests = 30;
    run->stats.decode_ns = 100 * (r + 1);
    *bad = (struct wr_bench_result){.bad_count = 1, .bad_kept = 1};
    bad->bad = calloc(1, sizeof(*bad->bad));
    snprintf(text, sizeof(text), "sample of rank %u", r);
    bad->bad[0] = (weir_bad_sample){.id = r, .text = strdup(text)};
}

static void free_all(struct wr_bench_run *run, struct wr_bench_result *bad)
{
    for (size_t i = 0; i < bad->bad_kept; i++)
        free((void *)(uintptr_t)bad->bad[i].text);
    free(bad->bad);
    free(run->ranks);
}

static void check_joined(const struct wr_bench_run *run)
{
    CHECK(run->rank_count == RANKS);
    CHECK(run->samples == 303 && run->batches == 30 && run->bytes == 3000);
    CHECK(run->seconds == 3 && run->samples_per_s == 101);
    CHECK(run->bytes_per_s == 1000 && run->digest == 24);
    CHECK(run->peak_bytes == 500 && run->first_batch_ms == 7);
    CHECK(run->gap_p50_ms == 2 && run->gap_p99_ms == 4);
    CHECK(is_near(run->cpu_s_per_1000, 10));
    CHECK(run->verdict == WEIR_VERDICT_STORAGE);
    CHECK(run->stats.requests == 90 && run->stats.decode_ns == 200);
    CHECK(run->stats.workers == 2);
    /* The two other ranks had 2 of the 2.5 cores of others. */
    CHECK(run->cores.own == 3 && is_near(run->cores.others, 0.5));
    CHECK(run->ranks[2].seconds == 3 && run->ranks[2].samples == 102);
    CHECK(*run->ranks[1].host);
}

static void join(uint32_t rank, void *arg)
{
    struct wr_bench_result bad;
    struct wr_bench_run run;
    struct wr_together t;
    struct wr_comm *c;

    group_join(arg, rank, &c, &t);
    fill(&run, &bad, rank);
    CHECK(wr_bench_join(&t, &run, &bad, NULL) == 0);
    if (rank == 0) {
        check_joined(&run);
        CHECK(bad.bad_count == RANKS && bad.bad_kept == RANKS);
        CHECK_TEXT(bad.bad[2].text, "sample of rank 2");
    } else {
        CHECK(run.samples == 100 + rank && !run.ranks);
    }
    free_all(&run, &bad);
    group_leave(c, &t);
}

static void test_join(void **state)
{
    (void)state;
    assert_int_equal(group_run(RANKS, join, NULL), 0);
}

static void test_alone(void **state)
{
    struct wr_together t = {0};
    struct wr_bench_result bad;
    struct wr_bench_run run;

    (void)state;
    fill(&run, &bad, 0);
    assert_int_equal(wr_bench_join(&t, &run, &bad, NULL), 0);
    assert_int_equal(run.samples, 100);
    assert_null(run.ranks);
    free_all(&run, &bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
