/* from_workload.c - what a description of a workload says of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"
#include "workload/derive.h"

/* Deviation over mean of a law that a step or a sample is drawn from. */
static double law_cv(const struct wr_wl_time *t)
{
    switch (t->law) {
    case WR_WL_NORMAL:
        return t->a > 0 ? t->b / t->a : 0;
    case WR_WL_UNIFORM:
        return t->a + t->b > 0 ? (t->b - t->a) / sqrt(3) / (t->a + t->b) : 0;
    case WR_WL_GAMMA:
        return t->a > 0 ? 1 / sqrt(t->a) : 0;
    case WR_WL_EXPONENTIAL:
        return 1;
    case WR_WL_POISSON:
        return t->a > 0 ? 1 / sqrt(t->a) : 0;
    case WR_WL_NONE:
    case WR_WL_FIXED:
        break;
    }
    return 0;
}

/* Two sides whose roots vary: the bytes vary by about what is described. */
static double bytes_cv(const struct wr_workload *w)
{
    return w->dataset.record_dims.count || !(w->dataset.record_bytes > 0)
               ? 0
               : w->dataset.record_stdev / w->dataset.record_bytes / sqrt(2);
}

/* NaN, which is not said, for 0. */
static double unless_0(double x)
{
    return x > 0 ? x : NAN;
}

static int say_data(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct wr_workload *w, const struct wr_derived *x,
                    weir_err *err)
{
    bool shuffled = w->reader.file_shuffle != WR_WL_SHUFFLE_OFF ||
                    w->reader.sample_shuffle != WR_WL_SHUFFLE_OFF;
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_SAMPLES, (double)x->samples_train},
        {WR_PLAN_K_BYTES, x->sample_bytes},
        {WR_PLAN_K_BYTES_CV, bytes_cv(w)},
        {WR_PLAN_K_PER_OBJECT, (double)WR_MAX(w->dataset.samples_per_file, 1u)},
        {WR_PLAN_K_SEQUENTIAL, !shuffled},
        {WR_PLAN_K_UNIT, unless_0((double)w->reader.transfer_size)}};

    return wr_plan_say_all(d, who, list, WR_ARRAY_LEN(list), err);
}

static int say_loader(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                      const struct wr_workload *w, weir_err *err)
{
    double cpu = wr_wl_time_mean(&w->reader.preprocess);
    bool turns = !strcmp(w->reader.data_loader, "pytorch");
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_BATCH, (double)w->reader.batch},
        {WR_PLAN_K_WORKERS_EACH, unless_0((double)w->reader.threads)},
        {WR_PLAN_K_PREFETCH, unless_0((double)w->reader.prefetch)},
        {WR_PLAN_K_CPU, unless_0(cpu)},
        {WR_PLAN_K_CPU_CV, cpu > 0 ? law_cv(&w->reader.preprocess) : NAN}};
    int r = wr_plan_say_all(d, who, list, WR_ARRAY_LEN(list), err);

    if (r == 0)
        r = wr_plan_say_text(d, who, WR_PLAN_K_LOADER,
                             turns ? "pytorch" : "tf.data", err);
    if (r > 0) {
        d->plan.loader.style = turns ? WR_PLAN_IN_TURNS : WR_PLAN_TOGETHER;
        d->plan.loader.apart = turns; /* workers start anew */
        r = wr_plan_say(d, who, WR_PLAN_K_DEPTH, 1, err);
    }
    return r;
}

static int say_training(struct wr_plan_draft *d,
                        const struct wr_plan_saying *who,
                        const struct wr_workload *w, const struct wr_derived *x,
                        weir_err *err)
{
    bool computes = w->train.computation.law != WR_WL_NONE;
    bool evaluates = w->workflow.evaluation && x->eval_steps;
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_STEP, computes ? x->step_s : NAN},
        {WR_PLAN_K_STEP_CV, computes ? law_cv(&w->train.computation) : NAN},
        {WR_PLAN_K_EPOCHS, (double)w->train.epochs},
        {WR_PLAN_K_STEPS, unless_0((double)w->train.steps)},
        {WR_PLAN_K_EVAL_STEPS, evaluates ? (double)x->eval_steps : NAN},
        {WR_PLAN_K_EVAL, evaluates ? wr_wl_time_mean(&w->eval.time) : NAN}};

    return wr_plan_say_all(d, who, list, WR_ARRAY_LEN(list), err);
}

/* Saves: by steps, or by epochs. */
static int say_saves(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     const struct wr_workload *w, const struct wr_derived *x,
                     weir_err *err)
{
    double every = w->checkpoint.steps_between > 0
                       ? (double)w->checkpoint.steps_between
                       : (double)(x->steps * w->checkpoint.epochs_between);
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_STATE, x->checkpoint_bytes},
        {WR_PLAN_K_EVERY, every >= 1 ? every : NAN}};
    int r;

    if (!w->workflow.checkpoint || !(x->checkpoint_bytes >= 1))
        return 0;
    r = wr_plan_say_all(d, who, list, WR_ARRAY_LEN(list), err);
    if (r == 0)
        r = wr_plan_say_text(d, who, WR_PLAN_K_SAVES, "direct", err);
    if (r > 0) {
        d->plan.save.way = WR_PLAN_DIRECT;
        r = 0;
    }
    return r;
}

int wr_plan_from_workload(struct wr_plan_draft *d, const struct wr_workload *w,
                          const char *name, weir_err *err)
{
    uint64_t world = (uint64_t)WR_MAX(d->plan.nodes, 1u) *
                     WR_MAX(d->plan.compute.accelerators, 1u);
    struct wr_derived x;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_DESCRIBED};
    int r;

    snprintf(source, sizeof(source), "workload '%.120s'", name);
    if (!w->workflow.train)
        return wr_fail(err, WEIR_EINVAL, "'%s': it trains nothing", name);
    if (w->dataset.format == WR_WL_SYNTHETIC)
        return wr_fail(err, WEIR_EINVAL, "'%s': it reads nothing", name);
    r = wr_workload_derive(w, world, 0, &x, err);
    if (r < 0) /* too few samples: options may give more, or it is said later */
        r = wr_workload_derive(w, 1, 0, &x, err);
    if (r == 0)
        r = say_data(d, &who, w, &x, err);
    if (r == 0)
        r = say_loader(d, &who, w, err);
    if (r == 0)
        r = say_training(d, &who, w, &x, err);
    if (r == 0)
        r = say_saves(d, &who, w, &x, err);
    return r;
}
