/* test_reference.c - the whole engine: gradients, bits, learning, refusals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/reference.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fault/failmalloc.h"
#include "base/mem.h"
#include "trainkit.h"

#define PROBES 24u /* per tensor */

/* The loss with one weight moved by h. */
static double moved(struct trainkit *k, size_t i, float h)
{
    float old = k->params[i];
    double loss;

    k->params[i] = old + h;
    loss = trainkit_loss(k);
    k->params[i] = old;
    return loss;
}

/* Of some random places the one with the steepest gradient: next to 0 a
 * relative error says nothing. */
static size_t steep_place(const struct trainkit *k, size_t from, size_t n,
                          struct wr_rng *rng)
{
    size_t best = from + wr_rng_below(rng, n);

    for (int i = 0; i < 20; i++) {
        size_t at = from + wr_rng_below(rng, n);

        if (fabsf(k->grads[at]) > fabsf(k->grads[best]))
            best = at;
    }
    return best;
}

/* Counts probes that are within 5 %, where the loss is smooth: both sides have
 * the same slope, no maximum or ReLU switches in between. */
static void probe(struct trainkit *k, size_t i, unsigned *near, unsigned *all)
{
    const float h = 4e-3f;
    double here = trainkit_loss(k);
    double left = (here - moved(k, i, -h)) / h;
    double right = (moved(k, i, h) - here) / h;
    double slope = (left + right) / 2;

    if (fabs(left - right) > .2 * fabs(slope))
        return;
    ++*all;
    *near += fabs(slope - k->grads[i]) <= .05 * fabs(slope);
}

static void probe_layer(struct trainkit *k, const struct wr_layer *l,
                        struct wr_rng *rng)
{
    size_t from[] = {l->weight, l->bias};
    size_t count[] = {l->weight_count, l->bias_count};

    for (int t = 0; t < 2; t++) {
        unsigned near = 0, all = 0;

        for (unsigned i = 0; i < PROBES; i++)
            probe(k, steep_place(k, from[t], count[t], rng), &near, &all);
        print_message("%s.%s: %u of %u within 5 %%\n", l->name,
                      t ? "bias" : "weight", near, all);
        assert_true(all >= PROBES / 2);
        assert_true(near * 100 >= all * 95);
    }
}

static void gradients_are_finite_differences(void **state)
{
    const struct wr_net_spec spec = {0.04, 7, 79, 83, 3};
    struct wr_rng rng = {.seed = 11};
    struct trainkit k;

    (void)state;
    trainkit_open(&k, &spec, 3, 1);
    trainkit_step(&k);
    for (size_t i = 0; i < k.net.layer_count; i++)
        if (k.net.layers[i].weight_count)
            probe_layer(&k, &k.net.layers[i], &rng);
    trainkit_close(&k);
}

/* Weights, moments and gradients after some steps, in one allocation. */
static float *after_steps(const struct wr_net_spec *spec, uint32_t batch,
                          unsigned threads, size_t *ret_bytes)
{
    struct trainkit k;
    size_t bytes;
    float *all;

    trainkit_open(&k, spec, batch, threads);
    for (uint64_t step = 1; step <= 3; step++) {
        trainkit_step(&k);
        trainkit_adam(&k, 1e-3, step);
    }
    bytes = k.net.param_count * sizeof(float);
    all = malloc(4 * bytes + k.logits_count * sizeof(float));
    assert_non_null(all);
    memcpy(all, k.params, bytes);
    memcpy(all + k.net.param_count, k.mean, bytes);
    memcpy(all + 2 * k.net.param_count, k.square, bytes);
    memcpy(all + 3 * k.net.param_count, k.grads, bytes);
    memcpy(all + 4 * k.net.param_count, k.logits,
           k.logits_count * sizeof(float));
    *ret_bytes = 4 * bytes + k.logits_count * sizeof(float);
    trainkit_close(&k);
    return all;
}

static void threads_change_no_bit(void **state)
{
    static const struct {
        struct wr_net_spec spec;
        uint32_t batch;
    } nets[] = {
        {{0.05, 10, 96, 90, 3}, 7},
        {{0.4, 3, 99, 99, 1}, 5}, /* more than one block of everything */
        {{0.1, 33, 224, 224, 3}, 17},
    };

    (void)state;
    for (size_t n = 0; n < WR_ARRAY_LEN(nets); n++) {
        size_t bytes;
        float *one = after_steps(&nets[n].spec, nets[n].batch, 1, &bytes);

        for (unsigned threads = 2; threads <= 4; threads++) {
            float *many = after_steps(&nets[n].spec, nets[n].batch, threads,
                                      &bytes);

            assert_memory_equal(one, many, bytes);
            free(many);
        }
        free(one);
    }
}

/* Stripes whose direction is the class, at a random place, in noise. */
static void draw_batch(struct trainkit *k, struct wr_rng *rng)
{
    static const float dir[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    const struct wr_net_spec *s = &k->net.spec;
    float *x = k->input;

    trainkit_fill(k->input, k->input_count, rng);
    for (uint32_t b = 0; b < k->spec.batch; b++) {
        uint32_t label = (uint32_t)wr_rng_below(rng, 4);
        float phase = (float)wr_rng_unit(rng) * 6.28f;

        k->labels[b] = label;
        for (uint32_t y = 0; y < s->height; y++)
            for (uint32_t c = 0; c < s->cols; c++, x++)
                *x = .3f * *x + sinf(phase + .6f * (dir[label][0] * (float)y +
                                                    dir[label][1] * (float)c));
    }
}

static void it_learns(void **state)
{
    const struct wr_net_spec spec = {0.08, 4, 67, 67, 1};
    struct wr_rng rng = {.seed = 5};
    struct trainkit k;
    double first, last = 0;

    (void)state;
    trainkit_open(&k, &spec, 16, 2);
    draw_batch(&k, &rng);
    first = trainkit_loss(&k);
    for (uint64_t step = 1; step <= 150; step++) {
        double loss;

        draw_batch(&k, &rng);
        loss = trainkit_step(&k);
        last += step > 140 ? loss / 10 : 0;
        trainkit_adam(&k, 2e-3, step);
    }
    print_message("loss %.3f, at the end %.4f\n", first, last);
    assert_true(first > 1);
    assert_true(last < .1 * first);
    trainkit_close(&k);
}

/* A NaN must not be lost in a ReLU or a maximum: it is how a run that diverged
 * is noticed. */
static void a_nan_reaches_the_logits(void **state)
{
    const struct wr_net_spec spec = {0.05, 4, 80, 80, 1};
    struct trainkit k;

    (void)state;
    trainkit_open(&k, &spec, 2, 1);
    k.params[k.net.layers[0].weight] = NAN;
    assert_int_equal(
        k.ops->forward(k.engine, k.params, k.input, k.logits, NULL), 0);
    for (size_t i = 0; i < k.logits_count; i++)
        assert_true(isnan(k.logits[i]));
    trainkit_close(&k);
}

static void backward_needs_a_forward(void **state)
{
    const struct wr_net_spec spec = {0.05, 4, 80, 80, 1};
    struct trainkit k;
    weir_err err;

    (void)state;
    trainkit_open(&k, &spec, 2, 1);
    assert_int_equal(
        k.ops->backward(k.engine, k.params, k.dlogits, k.grads, &err),
        WEIR_ESTATE);
    trainkit_step(&k);
    assert_int_equal(
        k.ops->backward(k.engine, k.params, k.dlogits, k.grads, &err),
        WEIR_ESTATE);
    trainkit_close(&k);
}

static int open_with(const struct wr_net *net, uint32_t batch, weir_err *err)
{
    const struct wr_engine_spec spec = {net, batch, 2};
    void *engine = NULL;
    int r = wr_engine_reference.open(&spec, &engine, err);

    assert_true(r < 0 ? !engine : !!engine);
    wr_engine_reference.close(engine);
    return r;
}

static void too_much_is_refused(void **state)
{
    struct wr_net net;
    weir_err err;

    (void)state;
    assert_int_equal(
        wr_net_init(&net, &(struct wr_net_spec){1, 102, 2000, 2000, 3}, NULL),
        0);
    assert_int_equal(open_with(&net, 0, &err), WEIR_EINVAL);
    assert_int_equal(open_with(&net, 65537, &err), WEIR_EINVAL);
    assert_int_equal(open_with(&net, 65536, &err), WEIR_ENOMEM);
    assert_non_null(strstr(err.msg, "batch of 65536"));
    net.layers[2].stride = 2;
    assert_int_equal(open_with(&net, 2, &err), WEIR_ENOTSUP);
}

static void memory_that_is_short_is_said(void **state)
{
    struct wr_net net;
    unsigned long n = 0;
    weir_err err;
    int r;

    (void)state;
    if (!fm_can_fail())
        skip();
    assert_int_equal(
        wr_net_init(&net, &(struct wr_net_spec){.05, 4, 67, 67, 1}, NULL), 0);
    do {
        fm_start(n++, ULONG_MAX);
        r = open_with(&net, 2, &err);
        fm_stop();
        if (r < 0 && r != WEIR_ENOMEM)
            fail_msg("allocation %lu: %d, %s", n - 1, r, err.msg);
    } while (r < 0 && n < 100);
    assert_int_equal(r, 0);
    assert_true(n > 3);
}

static void engines_have_names(void **state)
{
    const struct wr_engine_ops *ops = NULL;
    weir_err err;

    (void)state;
    assert_string_equal(wr_engine_name(1), "reference");
    assert_null(wr_engine_name(2));
    assert_int_equal(wr_engine_find("refrence", &ops, &err), WEIR_EINVAL);
    assert_null(ops);
    assert_non_null(strstr(err.msg, "refrence"));
    assert_int_equal(wr_engine_find("reference", &ops, &err), 0);
    assert_ptr_equal(ops, &wr_engine_reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(it_learns),
        cmocka_unit_test(a_nan_reaches_the_logits),
        cmocka_unit_test(backward_needs_a_forward),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(memory_that_is_short_is_said),
        cmocka_unit_test(engines_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
