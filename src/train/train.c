/* train.c - a run of training: batches in, steps of a network, checkpoints out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/train.h"

#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/loop.h"
#include "train/learn.h"
#include "train/store.h"
#include "train/tally.h"

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
    struct wr_learner learner; /* accelerator cpu */
    double loss;               /* of the last step; NaN: nothing is computed */
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

static int end_network(void *arg, struct wr_step *s, weir_err *err)
{
    struct train_run *run = arg;
    int r = wr_learner_step(&run->learner, s->batch, &run->loss, err);

    if (r == WEIR_ESTATE)
        run->unsound = true; /* no numbers any more */
    return r;
}

/* What a step is, by kind of accelerator. */
static const struct wr_step_ops step_network = {.end = end_network};
static const struct wr_step_ops *const steps[] = {
    [WR_ACCELERATOR_NONE] = &wr_step_nothing,
    [WR_ACCELERATOR_CPU] = &step_network,
    [WR_ACCELERATOR_EMULATED] = &wr_step_emulated,
};

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

static double seconds_of(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static int note_step(void *arg, const struct wr_step *s, weir_err *err)
{
    struct train_run *run = arg;
    const struct wr_train_plan *plan = run->plan;
    struct wr_train_row row = {
        .loss = run->loss,
        .wait_s = seconds_of(s->got_ns - s->asked_ns + s->free_ns - s->done_ns),
        .step_s = seconds_of(s->done_ns - s->got_ns)};
    int r = wr_train_state_advance(&run->state, run->feed.pipeline, err);

    if (r < 0)
        return r;
    run->ret->samples += s->count;
    if (wr_saves_is_due(&run->store.to, run->state.step)) {
        uint64_t start = wr_clock_ns();

        tell(run, "saving", row.loss);
        r = save(run, plan->level, err);
        row.save_s = since(start);
    }
    wr_train_tally_row(&run->tally, &row);
    tell(run, "training", row.loss);
    return r == 0 && epoch_ends(run) ? validate(run, err) : r;
}

static int iterate(struct train_run *run, weir_err *err)
{
    const struct wr_train_plan *plan = run->plan;
    struct wr_emulated machine = {.of = &plan->accelerator,
                                  .stopped = plan->stopped};
    struct wr_loop loop = {.next = wr_train_feed_next,
                           .feed = &run->feed,
                           .keeps = plan->synthetic,
                           .ops = steps[plan->accelerator.kind],
                           .machine = computes(run) ? (void *)run : &machine,
                           .note = note_step,
                           .arg = run,
                           .stopped = plan->stopped,
                           .steps = UINT64_MAX};

    run->loss = NAN;
    return wr_loop(&loop, err);
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
    return iterate(run, err);
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
