/* learn.c - one step of learning: forward, loss, backward, Adam.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/learn.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "base/thread.h"
#include "base/units.h"
#include "measure/loop.h"
#include "pipeline/split.h"

/* --- whether the machine has the memory that computing takes --- */

uint64_t wr_memory_needed(const struct wr_net *net, uint32_t batch)
{
    uint64_t outs = 0;

    for (size_t i = 0; i < net->layer_count; i++)
        outs += wr_layer_out_count(&net->layers[i]);
    return sizeof(float) * (net->param_count + outs * batch);
}

/* What can be had without swapping, and within the control group's limit;
 * UINT64_MAX when it is not known. */
static uint64_t free_bytes(void)
{
    uint64_t available = UINT64_MAX;
    struct wr_procfs_field field = {"MemAvailable:", 1024, &available};
    struct wr_cgroup group = {0};
    char text[4096];

    if (wr_procfs_read_path("/proc/meminfo", text, sizeof(text)) > 0)
        wr_procfs_fields(text, &field, 1);
    wr_cgroup_limits("", &group);
    return group.memory_bytes ? WR_MIN(available, group.memory_bytes)
                              : available;
}

int wr_memory_check(const struct wr_net *net, uint32_t batch, weir_err *err)
{
    uint64_t needed = wr_memory_needed(net, batch), is_free = free_bytes();
    char want[32], have[32];

    if (needed <= is_free)
        return 0;
    return wr_fail(err, WEIR_ENOMEM,
                   "out of memory: a batch of %" PRIu32
                   " at width %g takes at least %s, and %s are free (a smaller "
                   "--batch or --width takes less)",
                   batch, net->spec.width,
                   wr_format_bytes(want, sizeof(want), (double)needed),
                   wr_format_bytes(have, sizeof(have), (double)is_free));
}

/* --- one step of learning: forward, loss, backward, Adam --- */

static size_t input_bytes(const struct wr_learner *l)
{
    const struct wr_net_spec *s = &l->net->spec;

    return (size_t)l->plan->feed.batch * s->height * s->cols * s->channels *
           sizeof(float);
}

static size_t logit_bytes(const struct wr_learner *l)
{
    return (size_t)l->plan->feed.batch * l->net->spec.classes * sizeof(float);
}

static size_t grad_bytes(const struct wr_learner *l)
{
    return l->net->param_count * sizeof(float);
}

static int allocate(struct wr_learner *l, weir_err *err)
{
    l->grads = wr_big_alloc(grad_bytes(l));
    l->logits = wr_big_alloc(logit_bytes(l));
    l->dlogits = wr_big_alloc(logit_bytes(l));
    if (l->grads && l->logits && l->dlogits)
        return 0;
    return wr_fail(err, WEIR_ENOMEM,
                   "out of memory: gradients take %zu MB (a smaller --width "
                   "takes less)",
                   grad_bytes(l) / 1000000);
}

int wr_learner_open(struct wr_learner *l, const struct wr_train_plan *plan,
                    const struct wr_net *net, struct wr_train_state *state,
                    weir_err *err)
{
    unsigned threads = plan->compute_threads ? plan->compute_threads
                                             : wr_cpu_count();
    struct wr_engine_spec spec = {
        .net = net, .batch = plan->feed.batch, .threads = threads};
    int r;

    *l = (struct wr_learner){.plan = plan,
                             .net = net,
                             .state = state,
                             .adam = WR_ADAM_USUAL(plan->learning_rate)};
    /* First: who takes more memory than there is is killed, not refused. */
    r = wr_memory_check(net, spec.batch, err);
    if (r == 0)
        r = allocate(l, err);
    if (r == 0)
        r = wr_pool_new(&l->pool, threads, "adam", err);
    if (r == 0)
        r = plan->engine->open(&spec, &l->engine, err);
    if (r < 0)
        wr_learner_close(l);
    return r;
}

void wr_learner_close(struct wr_learner *l)
{
    if (!l->plan)
        return;
    if (l->engine)
        l->plan->engine->close(l->engine);
    wr_pool_free(l->pool);
    wr_big_free(l->grads, grad_bytes(l));
    wr_big_free(l->logits, logit_bytes(l));
    wr_big_free(l->dlogits, logit_bytes(l));
    wr_big_free(l->padded, input_bytes(l));
    *l = (struct wr_learner){0};
}

/* --- what can be wrong with a batch --- */

/* Tensors have the shape that they are stored in, whatever was asked for. */
static int check_shape(const struct wr_learner *l, const weir_batch *b,
                       weir_err *err)
{
    const struct wr_net_spec *s = &l->net->spec;

    if (b->dtype == WEIR_F32 && b->ndim == 4 && b->shape[1] == s->height &&
        b->shape[2] == s->cols && b->shape[3] == s->channels)
        return 0;
    if (b->ndim != 4)
        return wr_fail(err, WEIR_EINVAL,
                       "the samples have %u dimension%s, and pictures have 3: "
                       "row, column, channel",
                       b->ndim - 1, b->ndim == 2 ? "" : "s");
    if (b->shape[3] != s->channels)
        return wr_fail(err, WEIR_EINVAL,
                       "the samples are tensors of %" PRIu64 " channels, and "
                       "the network takes %" PRIu32,
                       b->shape[3], s->channels);
    return wr_fail(err, WEIR_EINVAL,
                   "the samples are tensors of %" PRIu64 "x%" PRIu64
                   " pixels, and not of %" PRIu32 "x%" PRIu32
                   ": give --size %" PRIu64 "x%" PRIu64,
                   b->shape[2], b->shape[1], s->cols, s->height, b->shape[2],
                   b->shape[1]);
}

static int fail_label(const struct wr_learner *l, const weir_batch *b,
                      uint32_t i, weir_err *err)
{
    char name[200] = "?";
    weir_sample s;

    if (l->plan->ds && b->ids)
        weir_dataset_sample(l->plan->ds, b->ids[i], name, sizeof(name), &s,
                            NULL);
    if (b->labels[i] == WEIR_NO_LABEL)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': sample %" PRIu64 " has no label: there is "
                       "nothing to learn from it; leave it out or label it",
                       name, b->ids ? b->ids[i] : i);
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': sample %" PRIu64 " has label %" PRIu32
                   ", and there are %" PRIu32 " classes, counted from 0",
                   name, b->ids ? b->ids[i] : i, b->labels[i],
                   l->net->spec.classes);
}

static int check_batch(const struct wr_learner *l, const weir_batch *b,
                       weir_err *err)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->labels[i] >= l->net->spec.classes)
            return fail_label(l, b, i, err);
    return check_shape(l, b, err);
}

static int fail_number(const struct wr_learner *l, const char *what,
                       uint64_t step, weir_err *err)
{
    return wr_fail(err, WEIR_ESTATE,
                   "iteration %" PRIu64 ": %s no longer a number: start again "
                   "with a --learning-rate below %g",
                   step, what, l->plan->learning_rate);
}

int wr_learner_check(const struct wr_learner *l, weir_err *err)
{
    return wr_train_state_is_finite(l->state)
               ? 0
               : fail_number(l, "a weight is", l->state->step, err);
}

/* --- computing --- */

/* The batch with zeros behind it, as long as the engine wants it. */
static const float *fill_up(struct wr_learner *l, const weir_batch *b,
                            weir_err *err)
{
    if (b->count == l->plan->feed.batch)
        return b->data;
    if (!l->padded)
        l->padded = wr_big_alloc(input_bytes(l));
    if (!l->padded) {
        wr_fail(err, WEIR_ENOMEM, "out of memory: a batch takes %zu MB",
                input_bytes(l) / 1000000);
        return NULL;
    }
    memcpy(l->padded, b->data, b->bytes);
    memset((char *)l->padded + b->bytes, 0, input_bytes(l) - b->bytes);
    return l->padded;
}

static int forward(struct wr_learner *l, const weir_batch *b, float *dlogits,
                   struct wr_loss *ret, weir_err *err)
{
    const struct wr_loss_batch rows = {.logits = l->logits,
                                       .labels = b->labels,
                                       .rows = l->plan->feed.batch,
                                       .valid = b->count,
                                       .classes = l->net->spec.classes};
    const float *input;
    int r = check_batch(l, b, err);

    if (r < 0)
        return r;
    input = fill_up(l, b, err);
    if (!input)
        return WEIR_ENOMEM;
    r = l->plan->engine->forward(l->engine, l->state->params, input, l->logits,
                                 err);
    if (r == 0)
        r = wr_loss_of(&rows, dlogits, ret, err);
    return r;
}

int wr_learner_step(struct wr_learner *l, const weir_batch *b, double *ret_loss,
                    weir_err *err)
{
    const struct wr_train_state *s = l->state;
    const struct wr_adam_state weights = {.params = s->params,
                                          .mean = s->moment1,
                                          .square = s->moment2,
                                          .grads = l->grads,
                                          .count = l->net->param_count};
    struct wr_loss loss;
    int r = forward(l, b, l->dlogits, &loss, err);

    /* Before the weights take it in: those of the last step are good still. */
    if (r == 0 && !loss.is_finite)
        r = fail_number(l, "the loss is", s->step + 1, err);
    if (r == 0)
        r = l->plan->engine->backward(l->engine, s->params, l->dlogits,
                                      l->grads, err);
    if (r < 0)
        return r;
    wr_adam_step(l->pool, &l->adam, s->step + 1, &weights);
    *ret_loss = loss.mean;
    return 0;
}

/* Classifies a batch, which may be short, and learns nothing. */
static int learner_judge(struct wr_learner *l, const weir_batch *b,
                         struct wr_loss *ret, weir_err *err)
{
    int r = forward(l, b, NULL, ret, err);

    if (r == 0 && !ret->is_finite)
        r = fail_number(l, "the held-out loss is", l->state->step, err);
    return r;
}

/* --- how good the network is on samples that it never learned from --- */

uint64_t wr_validate_count(const struct wr_train_plan *plan)
{
    const weir_pipeline_config *cfg = &plan->feed;
    struct wr_split s = wr_split_of(cfg);

    if (!plan->ds || weir_split_part(cfg->holdout, 0, 0) == WEIR_PART_ALL)
        return 0; /* not a part that there is */
    s.part = WEIR_PART_HELD_OUT;
    return wr_split_count(&s, weir_dataset_count(plan->ds));
}

/* As training is fed, but once, in order, and without chance: all of what is
 * random would make two validations differ. */
static void set_up(const struct wr_train_plan *plan, weir_pipeline_config *cfg)
{
    *cfg = plan->feed;
    cfg->part = WEIR_PART_HELD_OUT;
    cfg->order = WEIR_ORDER_SEQUENTIAL;
    cfg->remainder = WEIR_REMAINDER_KEEP;
    cfg->epochs = 1;
    cfg->max_batches = 0;
    cfg->picture.flip = 0;
    if (cfg->picture.crop == WEIR_CROP_RANDOM)
        cfg->picture.crop = WEIR_CROP_CENTER;
    cfg->cache = NULL; /* its size was meant for what is read again and again */
    cfg->resume_count = 0;
    cfg->stopped = wr_train_is_stopped;
    cfg->stopped_arg = (void *)(uintptr_t)plan;
}

/* One pass. */
struct judging {
    struct wr_learner *learner; /* borrowed */
    uint64_t *counts;           /* owned: of labels */
    struct wr_train_validation v;
    double loss; /* sum */
};

/* Labels are below the number of classes: the learner has looked. */
static void count_labels(struct judging *j, const weir_batch *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t n = ++j->counts[b->labels[i]];

        j->v.most = WR_MAX(j->v.most, n);
    }
}

static int judge_batch(void *arg, struct wr_step *s, weir_err *err)
{
    struct judging *j = arg;
    struct wr_loss loss;
    int r = learner_judge(j->learner, s->batch, &loss, err);

    if (r < 0)
        return r;
    j->v.samples += s->count;
    j->v.right += loss.correct;
    j->loss += loss.mean * s->count;
    count_labels(j, s->batch);
    return 0;
}

static const struct wr_step_ops step_judge = {.end = judge_batch};

static int judge_all(struct judging *j, weir_pipeline *p, weir_err *err)
{
    struct wr_train_validation *v = &j->v;
    int r = wr_loop(&(struct wr_loop){.next = wr_loop_next,
                                      .feed = p,
                                      .ops = &step_judge,
                                      .machine = j,
                                      .steps = UINT64_MAX},
                    err);

    v->loss = v->samples ? j->loss / (double)v->samples : 0;
    return r;
}

int wr_validate(struct wr_learner *l, struct wr_train_tally *t, weir_err *err)
{
    struct judging j = {
        .learner = l,
        .counts = calloc(l->net->spec.classes, sizeof(*j.counts)),
        .v = {.step = l->state->step, .at_s = wr_train_tally_now(t)}};
    uint64_t start = wr_clock_ns();
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    int r;

    set_up(l->plan, &cfg);
    r = j.counts ? weir_pipeline_open(&p, l->plan->ds, &cfg, err)
                 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = judge_all(&j, p, err);
    free(j.counts);
    if (p)
        wr_train_tally_bad(t, p);
    weir_pipeline_close(&p);
    j.v.seconds = (double)(wr_clock_ns() - start) * 1e-9;
    if (r == 0)
        wr_train_tally_validation(t, &j.v);
    return r;
}
