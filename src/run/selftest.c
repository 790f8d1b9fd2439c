/* selftest.c - can this machine emulate that? The same run without I/O.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/selftest.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "run/figures.h"

#define LONGEST_S 0.02
#define SECONDS   1.0
#define STEPS_MIN 20.0
#define STEPS_MAX 2000.0
#define TRIES     3

/* The description of the test: as many samples as its steps need. */
static struct wr_workload shorten(const struct wr_workload *w, uint64_t steps,
                                  double step_s)
{
    struct wr_workload t = *w;

    t.workflow.evaluation = t.workflow.checkpoint = false;
    t.train.epochs = 1;
    t.train.steps = (int64_t)steps;
    t.train.computation = (struct wr_wl_time){.law = WR_WL_FIXED, .a = step_s};
    t.reader.preprocess.law = WR_WL_NONE;
    t.reader.batch = 1;
    t.reader.read_type = WR_WL_ON_DEMAND;
    t.dataset.samples_per_file = 1;
    t.dataset.files_train = UINT64_C(1) << 40;
    return t;
}

static int judge(const struct wr_run_result *res, double mean_s,
                 struct wr_run_selftest *ret, weir_err *err)
{
    struct wr_run_figures *f = malloc(sizeof(*f));
    double per_step;

    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_run_figures(res, f);
    per_step = f->seconds / (double)f->steps;
    ret->steps = f->steps;
    ret->overhead_us = (per_step - per_step * f->loss.compute) * 1e6;
    ret->au = mean_s / (mean_s + ret->overhead_us / 1e6);
    ret->ok = ret->au >= WR_RUN_SELFTEST_AU;
    free(f);
    return 0;
}

static int test_once(const struct wr_run_plan *test, double mean_s,
                     struct wr_run_selftest *ret, weir_err *err)
{
    struct wr_run_result res;
    int r = wr_run(test, &res, err);

    if (r == 0 && test->comm->rank == 0)
        r = judge(&res, mean_s, ret, err);
    wr_run_done(&res);
    return r;
}

/* Rank 0 knows whether it went well. */
static int tell_all(const struct wr_run_plan *plan, bool *io_ok, weir_err *err)
{
    uint64_t bad = plan->comm->rank == 0 && !*io_ok;
    int r = wr_comm_max(plan->comm, NULL, bad, &bad, err);

    *io_ok = !bad;
    return r;
}

int wr_run_selftest(const struct wr_run_plan *plan, struct wr_run_selftest *ret,
                    weir_err *err)
{
    double mean_s = wr_wl_time_mean(&plan->w->train.computation);
    double step_s = fmin(mean_s, LONGEST_S);
    struct wr_run_plan test = *plan;
    struct wr_workload w;
    bool ok = false;
    int r = 0;

    *ret = (struct wr_run_selftest){.ok = true};
    if (!(step_s > 0) || !plan->w->workflow.train)
        return 0;
    w = shorten(plan->w,
                (uint64_t)fmin(fmax(SECONDS / step_s, STEPS_MIN), STEPS_MAX),
                step_s);
    test.w = &w;
    test.train = test.eval = NULL;
    test.no_io = true;
    test.keep_steps = test.digest = false;
    test.max_steps = test.max_epochs = 0;
    test.progress = NULL;
    test.note = NULL;
    test.rows = 2;
    /* One hiccup of a machine is no verdict on it. */
    for (unsigned k = 0; r == 0 && !ok && k < TRIES; k++) {
        r = test_once(&test, mean_s, ret, err);
        ok = ret->ok;
        if (r == 0)
            r = tell_all(plan, &ok, err);
    }
    return r;
}
