/* search.c - how many accelerators can be fed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "run/figures.h"

/* --- can this machine emulate that? The same run without I/O --- */

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

/* --- how many accelerators can be fed --- */

/* Rank 0 judges; the others do as it says. */
static int agree(const struct wr_run_plan *plan, bool *io_meets, weir_err *err)
{
    uint64_t mine = plan->comm->rank == 0 ? *io_meets : 0;
    size_t len;
    char *text;
    int r = wr_comm_broadcast(plan->comm, &mine, sizeof(mine), &text, &len,
                              err);

    if (r < 0)
        return r;
    if (len == sizeof(mine))
        memcpy(&mine, text, sizeof(mine));
    free(text);
    *io_meets = mine != 0;
    return 0;
}

static int note_point(struct wr_run_search *s, unsigned n,
                      const struct wr_run_result *res, bool *ret_meets,
                      weir_err *err)
{
    struct wr_run_figures *f = malloc(sizeof(*f));
    struct wr_run_point *p = &s->points[s->count];

    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_run_figures(res, f);
    *p = (struct wr_run_point){.accelerators = n,
                               .world = res->world,
                               .au = f->au,
                               .samples_per_s = f->samples_per_s,
                               .bytes_per_s = f->bytes_per_s,
                               .meets = f->au >= s->target};
    *ret_meets = p->meets;
    s->count += s->count + 1 < WR_RUN_POINTS;
    free(f);
    return 0;
}

/* Runs with n; *ret is replaced by a better result. */
static int try_with(struct wr_run_search *s, const struct wr_run_plan *plan,
                    unsigned n, bool *ret_meets, struct wr_run_result *ret,
                    weir_err *err)
{
    struct wr_run_plan p = *plan;
    struct wr_run_result res;
    int r;

    if (s->trying)
        s->trying(s->arg, n);
    p.accelerators = n;
    r = wr_run(&p, &res, err);
    *ret_meets = false;
    if (r == 0 && plan->comm->rank == 0)
        r = note_point(s, n, &res, ret_meets, err);
    if (r == 0)
        r = agree(plan, ret_meets, err);
    if (r == 0 && (*ret_meets || n == 1) && (n == 1 || n > s->most)) {
        wr_run_done(ret);
        *ret = res;
    } else {
        wr_run_done(&res);
    }
    if (r == 0 && *ret_meets)
        s->most = WR_MAX(s->most, n);
    return r;
}

/* Too few samples for so many is no failure of the search. */
static bool lacks_data(const struct wr_run_plan *plan, unsigned n)
{
    const struct wr_workload *w = plan->w;
    double samples = (double)w->dataset.files_train *
                     (double)w->dataset.samples_per_file;

    return samples <
           (double)w->reader.batch * (double)n * (double)plan->comm->world * 2;
}

int wr_run_search(struct wr_run_search *s, const struct wr_run_plan *plan,
                  struct wr_run_result *ret, weir_err *err)
{
    unsigned low = 0, high = 0,
             n = 1; /* low meets it, high does not; 0: none */
    bool meets;
    int r;

    *ret = (struct wr_run_result){0};
    s->count = s->most = 0;
    s->limit = WR_RUN_LIMIT_FOUND;
    do {
        r = try_with(s, plan, n, &meets, ret, err);
        if (r < 0)
            return r;
        if (meets)
            low = n;
        else
            high = n;
        if (!high && n >= s->most_asked) {
            s->limit = WR_RUN_LIMIT_ASKED;
            return 0;
        }
        n = high ? low + (high - low) / 2 : WR_MIN(2 * n, s->most_asked);
        if (!high && lacks_data(plan, n)) {
            s->limit = WR_RUN_LIMIT_DATA;
            return 0;
        }
    } while (!high || high - low > 1);
    return 0;
}
