/* learn.c - one step of learning: forward, loss, backward, Adam.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/learn.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "train/memory.h"

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

int wr_learner_judge(struct wr_learner *l, const weir_batch *b,
                     struct wr_loss *ret, weir_err *err)
{
    int r = forward(l, b, NULL, ret, err);

    if (r == 0 && !ret->is_finite)
        r = fail_number(l, "the held-out loss is", l->state->step, err);
    return r;
}
