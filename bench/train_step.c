/* train_step.c - what one training step takes, by either engine.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-train ENGINE BATCH THREADS [WIDTH]
 *
 * A step is forward, loss, backward and Adam, on one batch of 224x224x3 and 102
 * classes. Prints "ready ENGINE", then, for each line that it reads, does one
 * step and prints its milliseconds of wall clock and of CPU; at the end of the
 * input, "peak" and the bytes that the process had at most. So a driver can
 * let several programs take turns. Exits with 77 when the engine cannot be
 * loaded here. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/adam.h"
#include "train/engine.h"
#include "train/loss.h"

#define CLASSES 102u
#define SIDE    224u
#define RATE    1e-6 /* steps stay alike: nothing is learned */

struct stepper {
    struct wr_net net;
    const struct wr_engine_ops *ops;
    void *engine;         /* owned */
    struct wr_pool *pool; /* owned; of Adam */
    uint32_t batch;
    uint64_t done;
    float *input, *logits, *dlogits; /* owned by the process */
    float *params, *grads, *mean, *square;
    uint32_t *labels;
};

static float *floats(size_t n)
{
    float *p = wr_big_alloc(n * sizeof(float));

    if (!p) {
        fputs("bench-train: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void fill(struct stepper *s)
{
    size_t pixels = (size_t)s->batch * SIDE * SIDE * 3;
    struct wr_rng rng = {.seed = 1};

    s->params = floats(s->net.param_count);
    s->grads = floats(s->net.param_count);
    s->mean = floats(s->net.param_count);
    s->square = floats(s->net.param_count);
    s->input = floats(pixels);
    s->logits = floats((size_t)s->batch * CLASSES);
    s->dlogits = floats((size_t)s->batch * CLASSES);
    s->labels = (uint32_t *)(void *)floats(s->batch);
    wr_net_fill(&s->net, 1, s->params);
    for (size_t i = 0; i < pixels; i++)
        s->input[i] = (float)(wr_rng_unit(&rng) * 2 - 1);
    for (uint32_t i = 0; i < s->batch; i++)
        s->labels[i] = (uint32_t)wr_rng_below(&rng, CLASSES);
}

static int open_all(struct stepper *s, char **argv, double width, weir_err *err)
{
    struct wr_net_spec spec = {width, CLASSES, SIDE, SIDE, 3};
    struct wr_engine_spec engine = {&s->net, (uint32_t)atoi(argv[2]),
                                    (unsigned)atoi(argv[3])};
    int r = wr_engine_find(argv[1], &s->ops, err);

    s->batch = engine.batch;
    if (r == 0)
        r = wr_net_init(&s->net, &spec, err);
    if (r == 0)
        r = s->ops->open(&engine, &s->engine, err);
    if (r == 0)
        r = wr_pool_new(&s->pool, engine.threads, "adam", err);
    return r;
}

static int step(struct stepper *s, weir_err *err)
{
    const struct wr_adam adam = WR_ADAM_USUAL(RATE);
    struct wr_adam_state state = {s->params, s->mean, s->square, s->grads,
                                  s->net.param_count};
    struct wr_loss_batch batch = {s->logits, s->labels, s->batch, s->batch,
                                  CLASSES};
    struct wr_loss loss;
    int r = s->ops->forward(s->engine, s->params, s->input, s->logits, err);

    if (r == 0)
        r = wr_loss_of(&batch, s->dlogits, &loss, err);
    if (r == 0)
        r = s->ops->backward(s->engine, s->params, s->dlogits, s->grads, err);
    if (r == 0)
        wr_adam_step(s->pool, &adam, ++s->done, &state);
    return r;
}

static double cpu_ms(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static int serve(struct stepper *s, weir_err *err)
{
    struct rusage u;
    int r = 0, c;

    printf("ready %s\n", s->ops->name);
    fflush(stdout);
    while (r == 0 && (c = getchar()) != EOF) {
        uint64_t begin = wr_clock_ns();
        double cpu = cpu_ms();

        if (c != '\n')
            continue;
        r = step(s, err);
        printf("%.3f %.3f\n", (double)(wr_clock_ns() - begin) / 1e6,
               cpu_ms() - cpu);
        fflush(stdout);
    }
    getrusage(RUSAGE_SELF, &u);
    printf("peak %lld\n", (long long)u.ru_maxrss * 1024);
    return r;
}

int main(int argc, char **argv)
{
    struct stepper s = {0};
    weir_err err = {0};
    int r;

    if (argc != 4 && argc != 5) {
        fputs("usage: bench-train ENGINE BATCH THREADS [WIDTH]\n", stderr);
        return 2;
    }
    r = open_all(&s, argv, argc > 4 ? atof(argv[4]) : 1, &err);
    if (r == 0) {
        fill(&s);
        r = serve(&s, &err);
    }
    if (r < 0)
        fprintf(stderr, "bench-train: %s\n", err.msg);
    if (s.engine)
        s.ops->close(s.engine);
    wr_pool_free(s.pool);
    return r == 0 ? 0 : r == WEIR_ENOENT || r == WEIR_ENOTSUP ? 77 : 1;
}
