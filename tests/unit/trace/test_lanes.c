/* test_lanes.c - what threads of a made-up training did when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include "trace/lanes.h"

struct result {
    struct maker m;
    struct wr_trace_file *f;
    struct wr_trace_analysis *a;
    struct wr_trace_lanes *l;
};

static void run(struct result *r, const struct script *s)
{
    weir_err err;

    maker_open(&r->m);
    script_run(&r->m, s);
    r->f = maker_read(&r->m);
    if (wr_trace_analyse(r->f, &r->a, &err) < 0 ||
        wr_trace_lanes_of(r->f, r->a, &r->l, &err) < 0)
        fail_msg("%s", err.msg);
}

static void done(struct result *r)
{
    wr_trace_lanes_free(r->l);
    wr_trace_analysis_free(r->a);
    wr_trace_file_close(r->f);
    maker_done(&r->m);
}

static uint64_t busy(const struct wr_trace_lanes *l)
{
    uint64_t sum = 0;

    for (size_t k = 0; k < l->count; k++)
        for (size_t i = 0; i < WR_LANE_BINS; i++) {
            assert_true(l->lanes[k].busy[i] <= l->bin_ns);
            assert_true(i < l->bin_count || !l->lanes[k].busy[i]);
            sum += l->lanes[k].busy[i];
        }
    return sum;
}

/* No time gets lost, whatever stretches a call touches. */
static void test_one(void **state)
{
    struct result r;
    uint64_t reads = 0;
    size_t levels = 0;

    (void)state;
    run(&r, &(struct script){.epochs = 2,
                             .files = 100,
                             .batch = 10,
                             .size = 100 * KB,
                             .read_ns = 3 * MS,
                             .decode_ns = MS,
                             .compute_ns = 40 * MS});
    assert_int_equal(r.l->count, 1);
    assert_int_equal(r.l->threads, 1);
    assert_int_equal(busy(r.l), r.a->busy_ns);
    for (size_t k = 0; k < WR_LANE_LEVELS; k++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < WR_LANE_BINS; i++)
            sum += r.l->reads[k][i];
        levels += sum > 0;
        reads += sum;
        if (sum) /* 3,000,000 ns lie between 2^21 and 2^22 */
            assert_int_equal(k, 21 - WR_LANE_LOWEST);
    }
    assert_int_equal(levels, 1);
    assert_int_equal(reads, 200);
    done(&r);
}

static void test_workers(void **state)
{
    struct result r;

    (void)state;
    run(&r, &(struct script){.epochs = 2,
                             .files = 100,
                             .batch = 10,
                             .workers = 2,
                             .respawn = true,
                             .size = 100 * KB,
                             .read_ns = 3 * MS,
                             .decode_ns = MS,
                             .compute_ns = 40 * MS});
    assert_int_equal(r.l->count, 4); /* two in each epoch */
    for (size_t k = 1; k < r.l->count; k++)
        assert_true(r.l->lanes[k].process > r.l->lanes[k - 1].process);
    assert_true(r.l->lanes[0].last_ns <= r.l->lanes[2].first_ns);
    busy(r.l);
    done(&r);
}

/* A trace without any event. */
static void test_empty(void **state)
{
    struct result r;

    (void)state;
    run(&r, &(struct script){.batch = 1});
    assert_int_equal(r.l->count, 0);
    assert_int_equal(r.l->bin_count, 1);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_workers),
        cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
