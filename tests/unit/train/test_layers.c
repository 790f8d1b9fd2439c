/* test_layers.c - each kind of layer against plain loops, over odd shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "train/conv.h"
#include "train/layers.h"

/* A layer with its arrays; w and dw hold the bias behind the weights. */
struct bench {
    struct wr_layer l;
    struct wr_compute c;
    size_t xs, ys, ws; /* floats of the batch, and of the parameters */
    float *x, *y, *w, *dw, *dx, *dy;
    double *want_y, *want_dw, *want_dx;
};

static void *must(size_t n, size_t size)
{
    void *p = calloc(n, size);

    assert_non_null(p);
    return p;
}

static float *random_floats(size_t n, uint64_t stream)
{
    struct wr_rng rng = {.seed = 9, .stream = stream};
    float *p = must(n, sizeof(*p));

    for (size_t i = 0; i < n; i++)
        p[i] = (float)(wr_rng_unit(&rng) * 2 - 1);
    return p;
}

static void shape(struct wr_layer *l)
{
    bool dense = l->kind == WR_LAYER_DENSE;
    size_t taps = dense ? wr_layer_in_count(l)
                        : (size_t)l->kernel * l->kernel * l->in_c;

    l->name = "test";
    l->out_h = l->out_w = 1;
    if (!dense) {
        l->out_h = (l->in_h + 2 * l->pad - l->kernel) / l->stride + 1;
        l->out_w = (l->in_w + 2 * l->pad - l->kernel) / l->stride + 1;
    }
    l->weight_count = l->kind == WR_LAYER_POOL ? 0 : taps * l->out_c;
    l->bias_count = l->kind == WR_LAYER_POOL ? 0 : l->out_c;
    l->bias = l->weight_count;
}

static void set_up(struct bench *b, struct wr_layer l, uint32_t batch)
{
    bool dense = l.kind == WR_LAYER_DENSE;

    shape(&l);
    *b = (struct bench){.l = l, .c = {.batch = batch}};
    b->xs = batch * wr_layer_in_count(&l);
    b->ys = batch * wr_layer_out_count(&l);
    b->ws = l.weight_count + l.bias_count;
    b->x = random_floats(b->xs, 0);
    b->w = random_floats(b->ws, 1);
    b->dy = random_floats(b->ys, 2);
    b->y = must(b->ys, sizeof(float));
    b->dw = must(b->ws, sizeof(float));
    b->dx = must(b->xs, sizeof(float));
    b->want_y = must(b->ys, sizeof(double));
    b->want_dw = must(b->ws, sizeof(double));
    b->want_dx = must(b->xs, sizeof(double));
    b->c.scratch_count = wr_lines(
        dense ? wr_dense_scratch(batch)
              : WR_MAX(wr_conv_scratch(&l), wr_conv_grad_scratch()));
    b->c.scratch = wr_big_alloc(4 * b->c.scratch_count * sizeof(float));
    b->c.shared = must(
        dense ? wr_dense_shared(&l, batch)
              : WR_MAX(wr_conv_shared(&l), wr_conv_grad_shared(&l, batch)),
        sizeof(float));
    assert_non_null(b->c.scratch);
}

static void tear_down(struct bench *b)
{
    void *owned[] = {b->x,  b->y,      b->w,       b->dw,      b->dx,
                     b->dy, b->want_y, b->want_dw, b->want_dx, b->c.shared};

    for (size_t i = 0; i < WR_ARRAY_LEN(owned); i++)
        free(owned[i]);
    wr_big_free(b->c.scratch, 4 * b->c.scratch_count * sizeof(float));
}

/* Calls f(b, x, w, y) for each product that the layer is a sum of; a dense
 * layer is a convolution whose kernel is the whole picture. */
static void products(struct bench *b,
                     void (*f)(struct bench *, size_t, size_t, size_t))
{
    const struct wr_layer *l = &b->l;
    bool dense = l->kind == WR_LAYER_DENSE;
    uint32_t kh = dense ? l->in_h : l->kernel, kw = dense ? l->in_w : l->kernel;
    size_t taps = (size_t)kh * kw * l->in_c;

    for (size_t y = 0; y < b->ys; y++)
        for (size_t t = 0; t < taps; t++) {
            size_t pixel = y / l->out_c, o = y % l->out_c;
            size_t row = pixel / l->out_w % l->out_h * l->stride +
                         t / l->in_c / kw - l->pad;
            size_t col = pixel % l->out_w * l->stride + t / l->in_c % kw -
                         l->pad;
            size_t picture = pixel / l->out_w / l->out_h;

            if (row < l->in_h && col < l->in_w) /* below 0: very large */
                f(b,
                  ((picture * l->in_h + row) * l->in_w + col) * l->in_c +
                      t % l->in_c,
                  o * taps + t, y);
        }
}

static void add_product(struct bench *b, size_t x, size_t w, size_t y)
{
    b->want_y[y] += (double)b->x[x] * b->w[w];
    b->want_dw[w] += (double)b->x[x] * b->dy[y];
    b->want_dx[x] += (double)b->w[w] * b->dy[y];
}

static void expect(struct bench *b)
{
    products(b, add_product);
    for (size_t i = 0; i < b->ys; i++) {
        b->want_y[i] += b->w[b->l.bias + i % b->l.out_c];
        b->want_dw[b->l.bias + i % b->l.out_c] += b->dy[i];
        if (b->l.relu && b->want_y[i] < 0)
            b->want_y[i] = 0;
    }
    for (size_t i = 0; i < b->xs; i++)
        b->want_dx[i] = b->x[i] > 0 ? b->want_dx[i] : 0;
}

static void assert_near(const float *got, const double *want, size_t n,
                        const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (fabs(got[i] - want[i]) > 2e-5 * (1 + fabs(want[i])))
            fail_msg("%s[%zu] of %zu is %g, not %g", what, i, n, got[i],
                     want[i]);
}

/* With three threads; the bits for other numbers are test_reference.c's. */
static void compute(struct bench *b)
{
    const struct wr_layer *l = &b->l;

    assert_int_equal(wr_pool_new(&b->c.pool, 3, "test", NULL), 0);
    memcpy(b->dx, b->x, b->xs * sizeof(float));
    if (l->kind == WR_LAYER_DENSE) {
        wr_dense_forward(&b->c, l, b->w, b->x, b->y);
        wr_dense_grad(&b->c, l, b->x, b->dy, b->dw);
        wr_dense_input(&b->c, l, b->w, b->dy, b->dx);
    } else {
        wr_conv_forward(&b->c, l, b->w, b->x, b->y);
        wr_conv_grad(&b->c, l, b->x, b->dy, b->dw);
        if (l->stride == 1)
            wr_conv_input(&b->c, l, b->w, b->dy, b->dx);
    }
    wr_pool_free(b->c.pool);
}

static void check(struct wr_layer l, uint32_t batch)
{
    struct bench b;

    set_up(&b, l, batch);
    expect(&b);
    compute(&b);
    assert_near(b.y, b.want_y, b.ys, "y");
    assert_near(b.dw, b.want_dw, b.ws, "dw");
    if (l.stride == 1)
        assert_near(b.dx, b.want_dx, b.xs, "dx");
    tear_down(&b);
}

static struct wr_layer conv(uint32_t kernel, uint32_t stride, uint32_t pad,
                            uint32_t in, uint32_t out)
{
    return (struct wr_layer){.kind = WR_LAYER_CONV,
                             .kernel = kernel,
                             .stride = stride,
                             .pad = pad,
                             .relu = out % 2,
                             .in_h = 9 + kernel,
                             .in_w = 7 + kernel,
                             .in_c = in,
                             .out_c = out};
}

static void convolutions_are_right(void **state)
{
    (void)state;
    check(conv(1, 1, 0, 1, 1), 1);
    check(conv(3, 1, 1, 5, 7), 3);
    check(conv(3, 1, 0, 16, 17), 2);
    check(conv(5, 1, 2, 33, 18), 5); /* more than one block of columns */
    check(conv(3, 1, 2, 2, 3), 17);  /* all of the padding there can be */
    check(conv(4, 1, 1, 3, 32), 2);
    check(conv(11, 4, 0, 3, 9), 4);
    check(conv(5, 3, 2, 4, 6), 3);
}

static void dense_layers_are_right(void **state)
{
    static const uint32_t sizes[][4] = {{1, 1, 1, 1},    {3, 5, 2, 1},
                                        {7, 16, 3, 1},   {16, 49, 300, 1},
                                        {17, 97, 65, 2}, {5, 300, 1031, 1}};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(sizes); i++)
        check((struct wr_layer){.kind = WR_LAYER_DENSE,
                                .stride = 1,
                                .relu = i % 2,
                                .out_c = sizes[i][1],
                                .in_c = sizes[i][2],
                                .in_h = sizes[i][3],
                                .in_w = 1},
              sizes[i][0]);
}

/* Few levels, so that there are equal ones: the first must win. */
static void pools_are_right(void **state)
{
    struct wr_layer l = {.kind = WR_LAYER_POOL, .kernel = 3, .stride = 2};
    uint8_t *choice;
    struct bench b;

    (void)state;
    l.in_h = 10; /* the last row is in no window */
    l.in_w = 7;
    l.in_c = l.out_c = 67;
    set_up(&b, l, 2);
    choice = must(b.ys, 1);
    for (size_t i = 0; i < b.xs; i++)
        b.x[i] = roundf(b.x[i] * 3);
    b.x[67 + 40] = NAN; /* not the first of its window */
    assert_int_equal(wr_pool_new(&b.c.pool, 2, "test", NULL), 0);
    wr_maxpool_forward(&b.c, &b.l, b.x, b.y, choice);
    wr_maxpool_backward(&b.c, &b.l, b.dy, choice, b.dx);
    wr_pool_free(b.c.pool);
    for (size_t i = 0; i < b.ys; i++) {
        size_t pixel = i / l.out_c, c = i % l.out_c, best = SIZE_MAX;
        size_t top = (pixel / 12 * 10 + pixel / 3 % 4 * 2) * 7 + pixel % 3 * 2;

        for (size_t t = 0; t < 9; t++) {
            size_t at = (top + t / 3 * 7 + t % 3) * l.in_c + c;

            if (best == SIZE_MAX || b.x[at] > b.x[best] || isnan(b.x[at]))
                best = at;
        }
        assert_memory_equal(&b.y[i], &b.x[best], sizeof(float));
        b.want_dx[best] += b.dy[i];
    }
    assert_true(isnan(b.y[40]));
    assert_near(b.dx, b.want_dx, b.xs, "dx");
    free(choice);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_right),
        cmocka_unit_test(dense_layers_are_right),
        cmocka_unit_test(pools_are_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
