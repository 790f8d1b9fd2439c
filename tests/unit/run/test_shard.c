/* test_shard.c - which samples an accelerator reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/job.h"
#include "runkit.h"

static void make_job(struct runkit *k, struct wr_run_plan *plan,
                     struct wr_run_job *ret, uint64_t world)
{
    runkit_plan(k, plan);
    *ret = (struct wr_run_job){.plan = plan, .world = world};
    ret->feed.ds = k->ds;
    weir_pipeline_defaults(&ret->feed.cfg);
    ret->feed.cfg.batch = 4;
    ret->feed.cfg.sample_count = KIT_SAMPLES;
}

/* Ranges follow each other and reach the end. */
static void check_ranges(const struct wr_run_job *job, bool files)
{
    uint64_t next = 0;

    for (uint64_t a = 0; a < job->world; a++) {
        weir_pipeline_config cfg;

        wr_run_shard(job, a, &job->feed, &cfg);
        assert_int_equal(cfg.sample_first, next);
        assert_int_equal(cfg.world, 1);
        if (files)
            assert_int_equal(cfg.sample_first % KIT_PER_FILE, 0);
        next = cfg.sample_first + cfg.sample_count;
    }
    assert_int_equal(next, KIT_SAMPLES);
}

static void ranges_share_all(void **state)
{
    for (uint64_t world = 1; world <= 30; world++) {
        struct wr_run_plan plan;
        struct wr_run_job job;

        make_job(*state, &plan, &job, world);
        plan.access = WR_WL_ACCESS_SHARED;
        check_ranges(&job, false);
        plan.access = WR_WL_ACCESS_MULTI;
        check_ranges(&job, world <= KIT_FILES);
    }
}

static void steps_are_those_of_the_smallest(void **state)
{
    struct wr_run_plan plan;
    struct wr_run_job job;

    make_job(*state, &plan, &job, 5);
    plan.access = WR_WL_ACCESS_MULTI; /* 2, 2, 3, 2 and 3 files */
    assert_int_equal(wr_run_shard_steps(&job, &job.feed, KIT_SAMPLES), 4);
    plan.access = WR_WL_ACCESS_SAME;
    assert_int_equal(wr_run_shard_steps(&job, &job.feed, KIT_SAMPLES), 24);
    plan.access = WR_WL_ACCESS_POSIX;
    assert_int_equal(wr_run_shard_steps(&job, &job.feed, KIT_SAMPLES), 4);
    job.world = 1000;
    assert_int_equal(wr_run_shard_steps(&job, &job.feed, KIT_SAMPLES), 0);
}

static void the_plan_comes_before_the_description(void **state)
{
    struct runkit *k = *state;
    struct wr_run_plan plan;
    struct wr_run_job job;

    make_job(k, &plan, &job, 2);
    k->w->reader.access = WR_WL_ACCESS_SAME;
    assert_int_equal(wr_run_access(&job), WR_WL_ACCESS_SAME);
    plan.access = WR_WL_ACCESS_POSIX;
    assert_int_equal(wr_run_access(&job), WR_WL_ACCESS_AUTO);
    plan.compat_dlio = true;
    assert_int_equal(wr_run_access(&job), WR_WL_ACCESS_SHARED);
}

int main(void)
{
#define CASE(f)                                                                \
    cmocka_unit_test_setup_teardown(f, runkit_setup, runkit_teardown)
    const struct CMUnitTest tests[] = {
        CASE(ranges_share_all),
        CASE(steps_are_those_of_the_smallest),
        CASE(the_plan_comes_before_the_description),
    };
#undef CASE

    return cmocka_run_group_tests(tests, NULL, NULL);
}
