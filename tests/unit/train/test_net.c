/* test_net.c - the network's shapes and sizes are the published ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/net.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct wr_net_spec usual = {1, 102, 224, 224, 3};

/* Each layer's output of TF-slim's alexnet_v2 for 224 x 224. */
static void shapes_are_those_of_slim(void **state)
{
    static const uint32_t shapes[WR_NET_LAYERS][3] = {
        {54, 54, 64},  {26, 26, 64},  {26, 26, 192}, {12, 12, 192},
        {12, 12, 384}, {12, 12, 384}, {12, 12, 256}, {5, 5, 256},
        {1, 1, 4096},  {1, 1, 4096},  {1, 1, 102},
    };
    struct wr_net net;

    (void)state;
    assert_int_equal(wr_net_init(&net, &usual, NULL), 0);
    assert_int_equal(net.layer_count, WR_NET_LAYERS);
    for (size_t i = 0; i < WR_NET_LAYERS; i++) {
        const struct wr_layer *l = &net.layers[i];

        assert_int_equal(l->out_h, shapes[i][0]);
        assert_int_equal(l->out_w, shapes[i][1]);
        assert_int_equal(l->out_c, shapes[i][2]);
        assert_int_equal(wr_layer_out_count(l),
                         shapes[i][0] * shapes[i][1] * shapes[i][2]);
        if (i)
            assert_int_equal(wr_layer_in_count(l), wr_layer_out_count(l - 1));
    }
    assert_int_equal(wr_layer_in_count(&net.layers[0]), 224 * 224 * 3);
}

/* Weights follow each other without a gap, and are counted as published. */
static void sizes_are_those_of_slim(void **state)
{
    struct wr_net net;
    size_t end = 0;

    (void)state;
    assert_int_equal(wr_net_init(&net, &usual, NULL), 0);
    for (size_t i = 0; i < WR_NET_LAYERS; i++) {
        const struct wr_layer *l = &net.layers[i];

        if (l->kind == WR_LAYER_POOL) {
            assert_int_equal(l->weight_count + l->bias_count, 0);
            continue;
        }
        assert_int_equal(l->weight, end);
        assert_int_equal(l->bias, end + l->weight_count);
        assert_int_equal(l->bias_count, l->out_c);
        end = l->bias + l->bias_count;
    }
    assert_int_equal(end, net.param_count);
    assert_int_equal(net.param_count, 46624806);
}

static void assert_refused(struct wr_net_spec spec, int code, const char *word)
{
    struct wr_net net;
    weir_err err;

    memset(&net, 0x5a, sizeof(net));
    assert_int_equal(wr_net_init(&net, &spec, &err), code);
    assert_int_equal(net.layer_count, (size_t)0x5a5a5a5a5a5a5a5a);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
}

static void wrong_specifications_are_refused(void **state)
{
    (void)state;
    assert_refused((struct wr_net_spec){1, 0, 224, 224, 3}, WEIR_EINVAL,
                   "class");
    assert_refused((struct wr_net_spec){1, 2, 224, 224, 0}, WEIR_EINVAL,
                   "channels");
    assert_refused((struct wr_net_spec){0, 2, 224, 224, 3}, WEIR_EINVAL,
                   "width 0");
    assert_refused((struct wr_net_spec){-1, 2, 224, 224, 3}, WEIR_EINVAL,
                   "width -1");
    assert_refused((struct wr_net_spec){NAN, 2, 224, 224, 3}, WEIR_EINVAL,
                   "width");
    assert_refused((struct wr_net_spec){1e9, 2, 224, 224, 3}, WEIR_EINVAL,
                   "width 1e+09");
    assert_refused((struct wr_net_spec){1, 2, 0, 224, 3}, WEIR_EINVAL,
                   "conv1 gets 224x0 and needs 11x11");
    assert_refused((struct wr_net_spec){1, 2, 64, 64, 3}, WEIR_EINVAL,
                   "64x64 are too small for the network: pool5");
    assert_refused((struct wr_net_spec){1, 2, 9000, 224, 3}, WEIR_ELIMIT,
                   "224x9000");
    assert_refused((struct wr_net_spec){16, 2, 8192, 8192, 3}, WEIR_ELIMIT,
                   "too many weights");
    assert_refused((struct wr_net_spec){1, UINT32_MAX, 224, 224, 3},
                   WEIR_ELIMIT, "too many weights");
}

/* The smallest pictures that pass leave pool5 a single window. */
static void small_nets_have_at_least_one_channel(void **state)
{
    const struct wr_net_spec tiny = {0.0001, 1, 67, 67, 1};
    struct wr_net net;

    (void)state;
    assert_int_equal(wr_net_init(&net, &tiny, NULL), 0);
    for (size_t i = 0; i < WR_NET_LAYERS; i++)
        assert_int_equal(net.layers[i].out_c, 1);
    assert_int_equal(net.layers[7].out_h * net.layers[7].out_w, 1);
    assert_int_equal(
        wr_net_init(&net, &(struct wr_net_spec){.25, 5, 224, 224, 3}, NULL), 0);
    assert_int_equal(net.layers[0].out_c, 16);
    assert_int_equal(net.layers[10].out_c, 5);
}

static void assert_spread(const struct wr_layer *l, const float *params)
{
    double sum = 0, squares = 0, n = (double)l->weight_count;
    double var = 2.0 * l->out_c / n; /* 2 / fan-in */

    for (size_t i = 0; i < l->weight_count; i++) {
        double w = params[l->weight + i];

        sum += w;
        squares += w * w;
    }
    assert_true(fabs(sum / n) < 5 * sqrt(var / n));
    assert_true(fabs(squares / n / var - 1) < 5 * sqrt(2 / n));
    for (size_t i = 0; i < l->bias_count; i++)
        assert_true(params[l->bias + i] == 0);
}

static void initial_weights_are_a_function_of_the_seed(void **state)
{
    const struct wr_net_spec spec = {0.125, 10, 96, 96, 3};
    struct wr_net net;
    float *a, *b;
    size_t bytes;

    (void)state;
    assert_int_equal(wr_net_init(&net, &spec, NULL), 0);
    bytes = net.param_count * sizeof(float);
    a = malloc(bytes);
    b = malloc(bytes);
    assert_non_null(a);
    assert_non_null(b);
    wr_net_fill(&net, 7, a);
    wr_net_fill(&net, 7, b);
    assert_memory_equal(a, b, bytes);
    wr_net_fill(&net, 8, b);
    assert_int_not_equal(memcmp(a, b, bytes), 0);
    for (size_t i = 0; i < WR_NET_LAYERS; i++)
        if (net.layers[i].weight_count)
            assert_spread(&net.layers[i], a);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_those_of_slim),
        cmocka_unit_test(sizes_are_those_of_slim),
        cmocka_unit_test(wrong_specifications_are_refused),
        cmocka_unit_test(small_nets_have_at_least_one_channel),
        cmocka_unit_test(initial_weights_are_a_function_of_the_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
