/* accel.c - one emulated accelerator: its thread, its steps, its accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/accel.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/loop.h"
#include "run/job.h"
#include "run/setup.h"

/* --- a block of steps as DLIO counts it --- */

void wr_run_block_begin(struct wr_run_block_tally *b, uint64_t exclude_start,
                        uint64_t exclude_end, uint64_t now_ns)
{
    *b = (struct wr_run_block_tally){
        .start_ns = now_ns,
        .start_wall_ns = wr_clock_wall_ns(),
        .exclude_start = (unsigned)WR_MIN(exclude_start, UINT64_C(1) << 30),
        .exclude_end = (unsigned)WR_MIN(exclude_end,
                                        (uint64_t)WR_RUN_BLOCK_TAIL),
    };
}

void wr_run_block_step(struct wr_run_block_tally *b, uint64_t load_ns,
                       uint64_t compute_ns)
{
    uint64_t k = b->steps++;

    b->load_ns = load_ns;
    b->last_ns = compute_ns;
    if (k < b->exclude_start) {
        b->excluded_ns += load_ns + compute_ns;
        return;
    }
    b->compute_ns += compute_ns;
    b->tail_compute[k % WR_RUN_BLOCK_TAIL] = compute_ns;
    b->tail_proc[k % WR_RUN_BLOCK_TAIL] = load_ns + compute_ns;
}

struct wr_run_block_result wr_run_block_end(const struct wr_run_block_tally *b,
                                            uint64_t now_ns, uint64_t batch)
{
    uint64_t excluded = b->excluded_ns, compute = b->compute_ns;
    struct wr_run_block_result ret = {.steps = b->steps};
    uint64_t behind = b->steps - WR_MIN(b->steps, (uint64_t)b->exclude_start);
    double seconds;

    for (uint64_t k = 0; k < WR_MIN(behind, (uint64_t)b->exclude_end); k++) {
        uint64_t at = (b->steps - 1 - k) % WR_RUN_BLOCK_TAIL;

        excluded += b->tail_proc[at];
        compute -= b->tail_compute[at];
    }
    seconds = (double)(now_ns - b->start_ns - excluded) * 1e-9;
    if (now_ns <= b->start_ns + excluded)
        return ret;
    ret.au = (double)compute * 1e-9 / seconds;
    ret.per_s = ((double)b->steps - 2) * (double)batch / seconds;
    return ret;
}

/* --- one emulated accelerator: its thread, its steps, its accounts --- */

/* A batch that took longer to get was not there when it was asked for. */
#define BLOCKED_NS  20000
#define EVAL_STREAM UINT64_C(0x6576616c)

int wr_run_accel_init(struct wr_run_accel *a, struct wr_run_job *job,
                      unsigned number, weir_err *err)
{
    *a = (struct wr_run_accel){
        .job = job, .number = number, .global = job->first + number};
    a->epochs = calloc(WR_MAX(job->epochs, 1u), sizeof(*a->epochs));
    a->reads = calloc(1, sizeof(*a->reads));
    a->waits = calloc(1, sizeof(*a->waits));
    if (!a->epochs || !a->reads || !a->waits)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return wr_meter_new(&a->meter, err);
}

void wr_run_accel_done(struct wr_run_accel *a)
{
    wr_run_feed_close(&a->feed);
    wr_meter_free(a->meter);
    free(a->epochs);
    free(a->reads);
    free(a->waits);
}

/* --- one step --- */

/* Steps that are being done: training, or an evaluation. */
struct accel_steps {
    struct wr_run_accel *a; /* borrowed, as all of it */
    struct wr_run_feed *feed;
    const struct wr_wl_time *law;
    uint64_t stream, number; /* of the next draw */
    uint64_t index;          /* in the epoch */
    uint64_t epoch, block;   /* blocks are counted from 1 */
    uint64_t before_ns;      /* when the step before ended */
    struct wr_run_times t;   /* of the step */
};

static uint64_t draw_ns(const struct accel_steps *s)
{
    double seconds = wr_wl_time_draw(s->law, s->a->job->plan->w->train.seed,
                                     s->stream, s->number);

    return (uint64_t)(fmin(seconds, 1e6) * 1e9 + 0.5);
}

static int next_batch(void *arg, const weir_batch **ret, weir_err *err)
{
    struct accel_steps *s = arg;
    struct wr_run_accel *a = s->a;
    int r = wr_run_pool_is_on(&a->job->pool)
                ? wr_run_pool_next(&a->job->pool, a, ret, err)
                : wr_run_feed_next(s->feed, ret, err);

    return r ? r
             : wr_fail(err, WEIR_ESTATE,
                       "the data ended before step %" PRIu64
                       " of accelerator %" PRIu64,
                       s->index + 1, a->global);
}

/* The step begins when its batch is there, and not before the last one ended.
 * Where the batch was there already, what the emulator was late does not count;
 * the wait is what the input is to blame for. */
static void begin_drawn(void *arg, struct wr_step *step)
{
    struct accel_steps *s = arg;
    struct wr_accelerator_clock *clock = &s->a->clock;
    bool blocked = step->got_ns - step->asked_ns > BLOCKED_NS;
    uint64_t compute = draw_ns(s), end;

    s->before_ns = clock->end_ns;
    if (blocked)
        clock->late_ns = 0;
    end = wr_accelerator_begin(clock, step->got_ns, compute);
    s->t = (struct wr_run_times){
        .compute = compute, .wait = blocked ? end - compute - s->before_ns : 0};
}

static int end_drawn(void *arg, struct wr_step *step, weir_err *err)
{
    struct accel_steps *s = arg;
    struct wr_run_accel *a = s->a;

    if (!s->t.compute || wr_accelerator_wait(&a->clock, a->job->plan->stopped))
        return 0;
    return wr_fail(err, WEIR_ECANCELED, "stopped");
}

/* A step whose time is drawn. */
static const struct wr_step_ops step_drawn = {.begin = begin_drawn,
                                              .end = end_drawn};

static int take_batch(void *arg, const struct wr_step *step, weir_err *err)
{
    struct accel_steps *s = arg;
    struct wr_run_accel *a = s->a;

    wr_hist_add(a->waits, step->got_ns - step->asked_ns);
    if (a->job->plan->digest)
        a->digest += wr_run_digest(step->batch, s->index, a->global,
                                   a->job->world);
    a->samples += step->batch ? step->count : a->job->batch;
    return 0;
}

/* Waits for all others; their slowest one decides when the next step begins. */
static int meet(struct wr_run_accel *a, uint64_t *ret_barrier, weir_err *err)
{
    uint64_t mine = a->clock.end_ns, all = mine;
    int r = wr_gate_max(a->job->gate, mine, &all, err);

    if (r < 0)
        return r;
    *ret_barrier = all - mine;
    a->clock.end_ns = all;
    wr_accelerator_woke(&a->clock, wr_clock_ns());
    return 0;
}

static void note(struct wr_run_accel *a, const struct wr_run_times *t)
{
    a->t.compute += t->compute;
    a->t.wait += t->wait;
    a->t.barrier += t->barrier;
    a->train_ns += t->wall;
    if (!a->steps)
        a->first_wait_ns = t->wait;
    else if (t->wait > t->compute / 100 && t->wait > BLOCKED_NS)
        a->stalls++;
    a->steps++;
}

/* After a step of either kind. */
static int end_step(struct accel_steps *s, const struct wr_step *step,
                    weir_err *err)
{
    struct wr_run_accel *a = s->a;
    int r;

    wr_run_block_step(&a->block, step->got_ns - step->asked_ns,
                      step->free_ns - step->got_ns);
    s->index++;
    s->number++;
    r = meet(a, &s->t.barrier, err);
    s->t.wall = a->clock.end_ns - s->before_ns;
    return r;
}

/* --- what all stand still for --- */

/* Accelerator 0 does `work`, the others wait; *total gets the time. */
static int stand_still(struct wr_run_accel *a,
                       int (*work)(struct wr_run_accel *, uint64_t, weir_err *),
                       uint64_t arg, uint64_t *total, weir_err *err)
{
    uint64_t before = a->clock.end_ns, end;
    int r = a->number == 0 ? work(a, arg, err) : 0;

    if (r < 0)
        return r;
    r = wr_gate_max(a->job->gate, wr_clock_ns(), &end, err);
    if (r < 0)
        return r;
    *total += end - before;
    a->clock = (struct wr_accelerator_clock){.end_ns = end};
    return 0;
}

static int save_work(struct wr_run_accel *a, uint64_t epoch, weir_err *err)
{
    wr_run_tell(a->job, "saving", a);
    return wr_run_saver_save(&a->job->saver, epoch, err);
}

static int prepare_work(struct wr_run_accel *a, uint64_t epoch, weir_err *err)
{
    return wr_run_before_epoch(a->job, epoch, err);
}

static void begin_block(struct wr_run_accel *a)
{
    const struct wr_workload *w = a->job->plan->w;

    wr_run_block_begin(&a->block, w->output.exclude_start,
                       w->output.exclude_end, wr_clock_ns());
}

/* Adds the block to its epoch, weighted by its steps. */
static int end_block(struct wr_run_accel *a, uint64_t epoch, uint64_t block,
                     weir_err *err)
{
    struct wr_run_epoch *e = &a->epochs[epoch];
    struct wr_run_block_result r = wr_run_block_end(&a->block, wr_clock_ns(),
                                                    a->job->batch);
    double weight = a->job->steps ? (double)r.steps / (double)a->job->steps : 0;

    e->au_dlio += r.au * weight;
    e->dlio_per_s += r.per_s * weight;
    return a->number == 0 ? wr_run_note_block(a->job, epoch, block, a, err) : 0;
}

static int save_here(struct wr_run_accel *a, uint64_t epoch, uint64_t block,
                     weir_err *err)
{
    int r = end_block(a, epoch, block, err);

    if (r == 0)
        r = stand_still(a, save_work, epoch, &a->t.save, err);
    begin_block(a);
    return r;
}

/* --- an epoch --- */

static int note_step(void *arg, const struct wr_step *step, weir_err *err)
{
    struct accel_steps *s = arg;
    struct wr_run_accel *a = s->a;
    int r = end_step(s, step, err);

    if (r < 0)
        return r;
    note(a, &s->t);
    if (a->number == 0) {
        wr_run_note_step(a->job, a, &s->t);
        r = wr_run_keep_step(a->job, a, err);
    }
    if (r == 0 && wr_run_saver_due_step(&a->job->saver, s->epoch, s->index))
        r = save_here(a, s->epoch, s->block++, err);
    return r;
}

static int do_steps(struct accel_steps *s, uint64_t count,
                    int (*each)(void *, const struct wr_step *, weir_err *),
                    weir_err *err)
{
    return wr_loop(&(struct wr_loop){.next = next_batch,
                                     .feed = s,
                                     .ops = &step_drawn,
                                     .machine = s,
                                     .take = take_batch,
                                     .note = each,
                                     .arg = s,
                                     .stopped = s->a->job->plan->stopped,
                                     .steps = count},
                   err);
}

static int steps_of_epoch(struct wr_run_accel *a, uint64_t epoch, weir_err *err)
{
    struct wr_run_job *job = a->job;
    struct accel_steps s = {.a = a,
                            .feed = &a->feed,
                            .law = &job->plan->w->train.computation,
                            .stream = a->global,
                            .number = epoch * job->steps,
                            .epoch = epoch,
                            .block = 1};
    int r;

    begin_block(a);
    r = do_steps(&s, job->steps, note_step, err);
    return r < 0 ? r : end_block(a, epoch, s.block, err);
}

static int note_eval(void *arg, const struct wr_step *step, weir_err *err)
{
    struct accel_steps *s = arg;
    struct wr_run_accel *a = s->a;
    int r = end_step(s, step, err);

    if (r < 0 || a->number)
        return r;
    wr_run_tell(a->job, "evaluating", a);
    return wr_run_keep_step(a->job, a, err);
}

/* An evaluation: all of it is one time, its steps are no training's. */
static int evaluate(struct wr_run_accel *a, uint64_t epoch, weir_err *err)
{
    struct wr_run_job *job = a->job;
    struct wr_run_feed feed;
    struct accel_steps s = {.a = a,
                            .feed = &feed,
                            .law = &job->plan->w->eval.time,
                            .stream = EVAL_STREAM + a->global,
                            .number = epoch * job->eval_steps};
    weir_pipeline_config cfg;
    uint64_t start = a->clock.end_ns, trained = a->samples;
    int r;

    begin_block(a);
    wr_run_shard(job, a->global, &job->eval, &cfg);
    r = wr_run_feed_open(&feed, &job->eval, &cfg, a->meter, err);
    if (a->number == 0)
        wr_run_tell(job, "evaluating", a);
    if (r == 0)
        r = do_steps(&s, job->eval_steps, note_eval, err);
    wr_run_feed_close(&feed);
    a->t.eval += a->clock.end_ns - start;
    a->samples = trained; /* samples of training alone count */
    if (r == 0 && a->number == 0)
        r = wr_run_note_block(job, epoch, WR_RUN_EVAL_BLOCK, a, err);
    return r;
}

static bool eval_is_due(const struct wr_run_job *job, uint64_t epoch)
{
    const struct wr_workload *w = job->plan->w;
    uint64_t n = epoch + 1;

    return job->eval_steps && w->workflow.evaluation &&
           n >= w->eval.after_epoch &&
           (n - w->eval.after_epoch) % WR_MAX(w->eval.epochs_between, 1u) == 0;
}

static void sum_up(struct wr_run_accel *a, uint64_t epoch,
                   const struct wr_run_times *from, uint64_t start,
                   uint64_t samples)
{
    struct wr_run_epoch *e = &a->epochs[epoch];
    struct wr_meter_counts now;

    wr_meter_take(a->meter, &now);
    e->t = (struct wr_run_times){
        .wall = a->clock.end_ns - start,
        .compute = a->t.compute - from->compute,
        .wait = a->t.wait - from->wait,
        .barrier = a->t.barrier - from->barrier,
        .save = a->t.save - from->save,
        .eval = a->t.eval - from->eval,
    };
    e->steps = a->job->steps;
    e->samples = a->samples - samples;
    e->bytes = now.bytes - a->reads->bytes;
    if (a->number == 0)
        e->bytes += wr_run_pool_epoch(&a->job->pool);
    e->reads = now.reads - a->reads->reads;
    if (a->number == 0) /* it alone may know of the next epoch already */
        e->resident = a->job->resident;
    e->end_wall_ns = wr_clock_wall_ns();
    a->t.wall += e->t.wall;
    *a->reads = now;
}

static int run_epoch(struct wr_run_accel *a, uint64_t epoch, weir_err *err)
{
    struct wr_run_job *job = a->job;
    struct wr_run_times from;
    uint64_t start, samples = a->samples, ignored = 0;
    int r = 0;

    if (epoch) /* before the first one it is done already */
        r = stand_still(a, prepare_work, epoch, &ignored, err);
    from = a->t;
    start = a->clock.end_ns;
    a->epochs[epoch].start_wall_ns = wr_clock_wall_ns();
    if (r == 0)
        r = steps_of_epoch(a, epoch, err);
    if (r == 0 && eval_is_due(job, epoch))
        r = evaluate(a, epoch, err);
    if (r == 0 && wr_run_saver_due_epoch(&job->saver, epoch + 1))
        r = stand_still(a, save_work, epoch, &a->t.save, err);
    if (r == 0)
        sum_up(a, epoch, &from, start, samples);
    return r;
}

/* --- all of it --- */

/* Reads all that this accelerator will ever read, once, into the tier in memory
 * that the training takes it from. */
static int load_all(struct wr_run_accel *a, const weir_pipeline_config *cfg,
                    weir_err *err)
{
    struct wr_run_feed_spec spec = a->job->feed;
    weir_pipeline_config once = *cfg;
    uint64_t start = wr_clock_ns();
    struct wr_run_feed feed;
    int r;

    if (!a->job->memory_tier)
        return 0;
    spec.consume = WR_WL_DROP;
    spec.preprocess.law = WR_WL_NONE;
    once.order = WEIR_ORDER_SEQUENTIAL;
    once.epochs = 1;
    once.remainder = WEIR_REMAINDER_KEEP;
    r = wr_run_feed_open(&feed, &spec, &once, a->meter, err);
    if (r < 0)
        return r;
    r = wr_loop(&(struct wr_loop){.next = wr_run_feed_next,
                                  .feed = &feed,
                                  .ops = &wr_step_nothing,
                                  .steps = UINT64_MAX},
                err);
    wr_run_feed_close(&feed);
    a->load_ns = wr_clock_ns() - start;
    return r;
}

/* The feed is opened before the clock starts, as a program opens its data before
 * it trains; the wait for the first batch counts. */
static int open_feed(struct wr_run_accel *a, weir_err *err)
{
    struct wr_run_job *job = a->job;
    weir_pipeline_config cfg;
    uint64_t now;
    int r = 0;

    if (!wr_run_pool_is_on(&job->pool)) {
        wr_run_shard(job, a->global, &job->feed, &cfg);
        r = wr_run_feed_open(&a->feed, &job->feed, &cfg, a->meter, err);
        if (r == 0)
            r = load_all(a, &cfg, err);
    }
    if (r == 0)
        r = wr_gate_max(job->gate, wr_clock_ns(), &now, err);
    if (r < 0)
        return r;
    a->clock = (struct wr_accelerator_clock){.end_ns = now};
    if (a->number == 0) {
        job->ret->start_ns = now;
        job->ret->start_wall_ns = wr_clock_wall_ns();
        job->series_ns = now;
    }
    return 0;
}

static int train(struct wr_run_accel *a, weir_err *err)
{
    int r = open_feed(a, err);

    for (uint64_t e = 0; r == 0 && e < a->job->epochs; e++)
        r = run_epoch(a, e, err);
    return r;
}

void *wr_run_accel_main(void *arg)
{
    struct wr_run_accel *a = arg;
    weir_err err;
    int r = train(a, &err);

    if (r < 0)
        wr_gate_fail(a->job->gate, &err);
    return NULL;
}
