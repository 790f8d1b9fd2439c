/* test_bench_ranks.c - what several ranks measured, as one run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

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

    *run = (struct wr_bench_run){.start_ns = 0};
    wr_vals_clear(&wr_bench_vals, &run->v);
    run->v.seconds = 1 + r;
    run->v.samples = 100 + r;
    run->v.batches = 10;
    run->v.bytes = 1000;
    run->v.cpu_s = 10 * run->v.samples / 1000;
    run->v.peak_bytes = 500 - r;
    run->v.first_batch_ms = 5 + r;
    run->v.gap_p50_ms = r;
    run->v.gap_p99_ms = 2 * r;
    snprintf(run->digest, sizeof(run->digest), "%016x", 7 + r);
    run->v.digest = run->digest;
    run->v.verdict = r ? "storage-bound" : "decode-bound";
    run->v.cores = (struct wr_cores_values){.count = 4,
                                            .own = 1,
                                            .others = 2.5,
                                            .idle = 0.5,
                                            .stolen = 0,
                                            .throttled = 0};
    run->v.in_force.threads = 2;
    run->v.requests = 30;
    run->v.times.decode_s = 100 * (r + 1);
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
    free(run->ranks.v);
    json_decref(run->said);
}

static void check_joined(const struct wr_bench_run *run)
{
    const struct wr_bench_values *v = &run->v, *ranks = run->ranks.v;

    CHECK(run->ranks.count == RANKS);
    CHECK(v->samples == 303 && v->batches == 30 && v->bytes == 3000);
    CHECK(v->seconds == 3 && v->samples_per_s == 101);
    CHECK(v->bytes_per_s == 1000 && !strcmp(v->digest, "0000000000000018"));
    CHECK(v->peak_bytes == 500 && v->first_batch_ms == 7);
    CHECK(v->gap_p50_ms == 2 && v->gap_p99_ms == 4);
    CHECK(is_near(v->cpu_s_per_1000, 10));
    CHECK_TEXT(v->verdict, "storage-bound");
    CHECK(v->requests == 90 && v->times.decode_s == 200);
    CHECK(v->in_force.threads == 2);
    /* The two other ranks had 2 of the 2.5 cores of others. */
    CHECK(v->cores.own == 3 && is_near(v->cores.others, 0.5));
    CHECK(ranks[2].seconds == 3 && ranks[2].samples == 102);
    CHECK(*ranks[1].host);
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
        CHECK(run.v.samples == 100 + rank && !run.ranks.v);
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
    assert_int_equal((int)run.v.samples, 100);
    assert_null(run.ranks.v);
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
