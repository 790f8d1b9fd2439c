/* train.c - a run of training: batches in, steps of a network, checkpoints out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/train.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "train/learn.h"
#include "train/store.h"
#include "train/tally.h"
#include "train/validate.h"

#define ROWS 20000

/* One run, and its parts. */
struct train_run {
    const struct wr_train_plan *plan; /* borrowed */
    struct wr_train_result *ret;      /* borrowed */
    struct wr_net net;
    struct wr_train_settings settings;
    struct wr_train_state state;
    struct wr_train_store store;
    struct wr_train_feed feed;
    struct wr_train_tally tally;
    struct wr_learner learner;         /* accelerator cpu */
    struct wr_accelerator_clock clock; /* an emulated one */
    bool unsound; /* the state is not to be saved: no numbers, or no room */
};

void wr_train_defaults(struct wr_train_plan *plan)
{
    *plan = (struct wr_train_plan){.width = 1,
                                   .learning_rate = 1e-3,
                                   .epochs = 1,
                                   .level = WEIR_LEVEL_FAST,
                                   .settle = true,
                                   .rows = ROWS};
    plan->accelerator.kind = WR_ACCELERATOR_NONE;
    weir_pipeline_defaults(&plan->feed);
    weir_ckpt_defaults(&plan->ckpt);
}

static bool is_stopped(const struct train_run *run)
{
    return run->plan->stopped && run->plan->stopped();
}

static bool computes(const struct train_run *run)
{
    return run->plan->accelerator.kind == WR_ACCELERATOR_CPU;
}

static double since(uint64_t start_ns)
{
    return (double)(wr_clock_ns() - start_ns) * 1e-9;
}

static void tell(const struct train_run *run, const char *doing, double loss)
{
    const struct wr_train_plan *plan = run->plan;
    const struct wr_train_result *ret = run->ret;
    uint64_t end = plan->epochs * ret->per_epoch;
    struct wr_train_news news = {
        .doing = doing,
        .done = run->state.step,
        .total = plan->iterations && end ? WR_MIN(plan->iterations, end)
                                         : WR_MAX(plan->iterations, end),
        .from = ret->from,
        .samples = ret->samples,
        .seconds = wr_train_tally_now(&run->tally),
        .wait_s = ret->wait_s,
        .loss = loss,
    };

    if (plan->progress)
        plan->progress(plan->arg, &news);
}

/* --- one iteration --- */

static int compute(struct train_run *run, const weir_batch *b, double *ret_loss,
                   weir_err *err)
{
    const struct wr_train_plan *plan = run->plan;

    *ret_loss = NAN;
    if (plan->accelerator.kind == WR_ACCELERATOR_NONE)
        return 0;
    if (computes(run))
        return wr_learner_step(&run->learner, b, ret_loss, err);
    wr_accelerator_start(&plan->accelerator, &run->clock, b->count);
    return wr_accelerator_wait(&run->clock, plan->stopped)
               ? 0
               : wr_fail(err, WEIR_ECANCELED, "stopped");
}

/* Takes a batch and computes on it. 1: *ret is filled; 0: there are no more. */
static int take(struct train_run *run, struct wr_train_row *ret, weir_err *err)
{
    const weir_batch *b;
    uint64_t start = wr_clock_ns();
    int r = wr_train_feed_next(&run->feed, &b, err);

    if (r <= 0)
        return r;
    *ret = (struct wr_train_row){.wait_s = since(start)};
    start = wr_clock_ns();
    r = compute(run, b, &ret->loss, err);
    ret->step_s = since(start);
    if (r == WEIR_ESTATE)
        run->unsound = true; /* no numbers any more */
    if (r == 0) {
        run->ret->samples += b->count;
        r = wr_train_state_advance(&run->state, run->feed.pipeline, err);
    }
    /* Workers that this wakes may take the core: the input's time, too. */
    start = wr_clock_ns();
    wr_train_feed_release(&run->feed, b);
    ret->wait_s += since(start);
    return r < 0 ? r : 1;
}

/* A checkpoint that cannot be continued from would push out one that can. */
static int save(struct train_run *run, enum weir_level level, weir_err *err)
{
    int r = 0;

    if (!run->store.to.c)
        return 0;
    if (computes(run))
        r = wr_learner_check(&run->learner, err);
    if (r == 0)
        r = wr_train_store_save(&run->store, &run->state, level, err);
    run->unsound = r < 0;
    return r;
}

static int validate(struct train_run *run, weir_err *err)
{
    if (!run->ret->held_out || run->ret->last.step == run->state.step)
        return 0;
    tell(run, "validating", run->ret->loss_last);
    return wr_validate(&run->learner, &run->tally, err);
}

/* Batches are all full: each epoch has as many, also one that was resumed. */
static bool epoch_ends(const struct train_run *run)
{
    uint64_t n = run->ret->per_epoch;

    return n && run->state.step % n == 0;
}

/* 1: go on. */
static int iterate(struct train_run *run, weir_err *err)
{
    const struct wr_train_plan *plan = run->plan;
    struct wr_train_row row;
    int r = take(run, &row, err);

    if (r <= 0)
        return r;
    r = 0;
    if (wr_saves_is_due(&run->store.to, run->state.step)) {
        uint64_t start = wr_clock_ns();

        tell(run, "saving", row.loss);
        r = save(run, plan->level, err);
        row.save_s = since(start);
    }
    wr_train_tally_row(&run->tally, &row);
    tell(run, "training", row.loss);
    if (r == 0 && epoch_ends(run))
        r = validate(run, err);
    if (r == 0 && is_stopped(run))
        r = wr_fail(err, WEIR_ECANCELED, "stopped");
    return r < 0 ? r : 1;
}

/* --- all of them --- */

static int check(const struct train_run *run, weir_err *err)
{
    const struct wr_train_plan *plan = run->plan;

    if (computes(run) && !run->ret->classes)
        return wr_fail(err, WEIR_EINVAL,
                       "the samples have no labels: there is nothing to learn "
                       "(put them into a folder for each class, or name their "
                       "classes in a list)");
    if (!plan->iterations && !plan->epochs)
        return wr_fail(err, WEIR_EINVAL, "training without an end");
    if (plan->synthetic && !plan->iterations)
        return wr_fail(err, WEIR_EINVAL,
                       "synthetic batches have no epochs: give iterations");
    return wr_train_feed_check(plan, err);
}

/* The network is needed where something is computed or saved. */
static int prepare(struct train_run *run, struct wr_train_start *start,
                   weir_err *err)
{
    const struct wr_train_plan *plan = run->plan;
    struct wr_net_spec spec = {.width = plan->width,
                               .classes = WR_MAX(run->ret->classes, 1u),
                               .height = plan->feed.picture.height,
                               .cols = plan->feed.picture.width,
                               .channels = plan->feed.picture.channels};
    int r;

    *start = (struct wr_train_start){0};
    if (!computes(run) && !plan->ckpt.fast)
        return 0;
    r = wr_net_init(&run->net, &spec, err);
    if (r < 0)
        return r;
    run->ret->parameters = run->net.param_count;
    wr_train_settings_of(plan, &run->net, &run->settings);
    r = wr_train_state_init(&run->state, &run->net, plan->seed,
                            /* filler= */ !computes(run), err);
    if (r < 0)
        return r;
    run->ret->state_bytes = plan->ckpt.fast ? run->state.bytes : 0;
    if (computes(run))
        r = wr_learner_open(&run->learner, plan, &run->net, &run->state, err);
    if (r == 0)
        r = wr_train_store_open(&run->store, &run->state, start, err);
    return r;
}

static void hold_out(struct train_run *run)
{
    const struct wr_train_plan *plan = run->plan;

    if (!plan->validate || !computes(run) || plan->synthetic)
        return;
    run->ret->held_out = wr_validate_count(plan);
    if (!run->ret->held_out && plan->note)
        plan->note(plan->arg, "too few samples to hold any out: nothing is "
                              "validated");
}

static int loop(struct train_run *run, const struct wr_train_start *start,
                weir_err *err)
{
    int r;

    hold_out(run);
    run->ret->from = start->from;
    run->ret->start_ns = wr_clock_ns();
    if (run->plan->iterations && start->from >= run->plan->iterations)
        return 0; /* all was done before */
    r = wr_train_feed_open(&run->feed, run->plan, start, err);
    if (r < 0)
        return r;
    run->ret->per_epoch = wr_train_feed_per_epoch(&run->feed);
    run->ret->start_ns = wr_clock_ns();
    do
        r = iterate(run, err);
    while (r > 0);
    return r;
}

/* What was computed since the last checkpoint is saved however the run ended,
 * unless it is not worth it. */
static int finish(struct train_run *run, int r, weir_err *err)
{
    enum weir_level level = r < 0 ? WEIR_LEVEL_FAST : run->plan->level;
    bool worth = !run->unsound && run->state.step > run->ret->from;
    weir_err later;
    int q = worth ? save(run, level, r < 0 ? &later : err) : 0;

    if (r == 0)
        r = q;
    else if (q < 0 && run->plan->note)
        run->plan->note(run->plan->arg, later.msg);
    if (r == 0)
        r = validate(run, err);
    run->ret->done = run->state.step;
    wr_train_tally_end(&run->tally, &run->feed);
    wr_train_feed_close(&run->feed);
    return r;
}

static int flush(struct train_run *run, int r, weir_err *err)
{
    uint64_t start = wr_clock_ns();
    int q = wr_train_store_close(&run->store, r == 0 && run->plan->settle,
                                 r < 0 ? NULL : err);

    run->ret->flush_s = since(start);
    return r < 0 ? r : q;
}

int wr_train(const struct wr_train_plan *plan, struct wr_train_result *ret,
             weir_err *err)
{
    struct train_run run = {.plan = plan, .ret = ret};
    struct wr_train_start start = {0};
    int r = wr_train_tally_init(&run.tally, plan->rows, ret, err);

    run.store = (struct wr_train_store){
        .plan = plan, .ret = ret, .settings = &run.settings};
    ret->classes = wr_train_classes(plan);
    if (r == 0)
        r = check(&run, err);
    if (r == 0)
        r = prepare(&run, &start, err);
    if (r == 0)
        r = loop(&run, &start, err);
    r = finish(&run, r, err);
    r = flush(&run, r, err);
    if (run.state.params && computes(&run)) {
        ret->digest = wr_train_state_digest(&run.state);
        ret->has_digest = true;
    }
    wr_learner_close(&run.learner);
    wr_train_state_done(&run.state);
    return r;
}
