/* trainkit.c - a small network with an engine, a batch and its arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trainkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/pool.h"
#include "train/adam.h"

void trainkit_fill(float *x, size_t n, struct wr_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(wr_rng_unit(rng) * 2 - 1);
}

static float *floats(size_t n)
{
    float *p = calloc(n, sizeof(*p));

    assert_non_null(p);
    return p;
}

static void allocate(struct trainkit *k)
{
    k->input_count = k->spec.batch * wr_layer_in_count(&k->net.layers[0]);
    k->logits_count = (size_t)k->spec.batch * k->net.spec.classes;
    k->params = floats(k->net.param_count);
    k->grads = floats(k->net.param_count);
    k->mean = floats(k->net.param_count);
    k->square = floats(k->net.param_count);
    k->input = floats(k->input_count);
    k->logits = floats(k->logits_count);
    k->dlogits = floats(k->logits_count);
    k->labels = calloc(k->spec.batch, sizeof(*k->labels));
    assert_non_null(k->labels);
}

void trainkit_open(struct trainkit *k, const struct wr_net_spec *net,
                   uint32_t batch, unsigned threads)
{
    struct wr_rng rng = {.seed = 3};
    weir_err err;

    *k = (struct trainkit){.spec = {&k->net, batch, threads}};
    assert_int_equal(wr_net_init(&k->net, net, &err), 0);
    assert_int_equal(wr_engine_find("reference", &k->ops, &err), 0);
    assert_int_equal(k->ops->open(&k->spec, &k->engine, &err), 0);
    allocate(k);
    wr_net_fill(&k->net, 1, k->params);
    for (size_t i = 0; i < k->net.layer_count; i++) {
        const struct wr_layer *l = &k->net.layers[i];

        trainkit_fill(k->params + l->bias, l->bias_count, &rng);
        for (size_t b = 0; b < l->bias_count; b++)
            k->params[l->bias + b] *= .1f;
    }
    trainkit_fill(k->input, k->input_count, &rng);
    for (uint32_t i = 0; i < batch; i++)
        k->labels[i] = (uint32_t)wr_rng_below(&rng, net->classes);
}

void trainkit_close(struct trainkit *k)
{
    k->ops->close(k->engine);
    free(k->params);
    free(k->grads);
    free(k->mean);
    free(k->square);
    free(k->input);
    free(k->logits);
    free(k->dlogits);
    free(k->labels);
}

double trainkit_loss(struct trainkit *k)
{
    struct wr_loss_batch batch = {k->logits, k->labels, k->spec.batch,
                                  k->spec.batch, k->net.spec.classes};
    struct wr_loss loss;

    assert_int_equal(
        k->ops->forward(k->engine, k->params, k->input, k->logits, NULL), 0);
    assert_int_equal(wr_loss_of(&batch, k->dlogits, &loss, NULL), 0);
    assert_true(loss.is_finite);
    return loss.mean;
}

double trainkit_step(struct trainkit *k)
{
    double loss = trainkit_loss(k);

    assert_int_equal(
        k->ops->backward(k->engine, k->params, k->dlogits, k->grads, NULL), 0);
    return loss;
}

void trainkit_adam(struct trainkit *k, double rate, uint64_t step)
{
    const struct wr_adam adam = WR_ADAM_USUAL(rate);
    const struct wr_adam_state state = {k->params, k->mean, k->square, k->grads,
                                        k->net.param_count};
    struct wr_pool *pool;

    assert_int_equal(wr_pool_new(&pool, k->spec.threads, "adam", NULL), 0);
    wr_adam_step(pool, &adam, step, &state);
    wr_pool_free(pool);
}
