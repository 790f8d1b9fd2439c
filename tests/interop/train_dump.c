/* train_dump.c - one training step's loss and gradients, for another to check.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: train-dump                                   names of the engines
 *        train-dump ENGINE WIDTH BATCH THREADS SEED FOLDER
 *
 * Writes params.f32, input.f32, labels.u32, logits.f32, grads.f32 into
 * the folder and prints one line per layer (name kind out in kernel stride pad
 * relu weight bias), then "loss L correct C". Exits with 77 when the engine is
 * known but not installed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "train/engine.h"
#include "train/loss.h"

#define CLASSES 102u

struct dump {
    struct wr_net net;
    const struct wr_engine_ops *ops;
    void *engine;
    struct wr_engine_spec spec;
    float *params, *grads, *input, *logits, *dlogits;
    uint32_t *labels;
    size_t input_count, logits_count;
};

static void die(const weir_err *err)
{
    fprintf(stderr, "train-dump: %s\n", err->msg);
    exit(err->code == WEIR_ENOENT || err->code == WEIR_ENOTSUP ? 77 : 1);
}

static void *must(void *p)
{
    if (!p) {
        fputs("train-dump: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static float *floats(size_t n)
{
    return must(wr_big_alloc(n * sizeof(float)));
}

static void set_up(struct dump *d, char **argv)
{
    const struct wr_net_spec spec = {atof(argv[2]), CLASSES, 224, 224, 3};
    weir_err err;

    d->spec = (struct wr_engine_spec){&d->net, (uint32_t)atoi(argv[3]),
                                      (unsigned)atoi(argv[4])};
    if (wr_engine_find(argv[1], &d->ops, &err) < 0 ||
        wr_net_init(&d->net, &spec, &err) < 0 ||
        d->ops->open(&d->spec, &d->engine, &err) < 0)
        die(&err);
    d->input_count = d->spec.batch * wr_layer_in_count(&d->net.layers[0]);
    d->logits_count = (size_t)d->spec.batch * CLASSES;
    d->params = floats(d->net.param_count);
    d->grads = floats(d->net.param_count);
    d->input = floats(d->input_count);
    d->logits = floats(d->logits_count);
    d->dlogits = floats(d->logits_count);
    d->labels = must(calloc(d->spec.batch, sizeof(*d->labels)));
}

/* Biases that are not 0, so that they are seen to be used. */
static void fill(struct dump *d, uint64_t seed)
{
    struct wr_rng rng = {.seed = seed};

    wr_net_fill(&d->net, seed, d->params);
    for (size_t i = 0; i < d->net.layer_count; i++)
        for (size_t k = 0; k < d->net.layers[i].bias_count; k++)
            d->params[d->net.layers[i].bias + k] = (float)(wr_rng_unit(&rng) -
                                                           .5) *
                                                   .2f;
    for (size_t i = 0; i < d->input_count; i++)
        d->input[i] = (float)(wr_rng_unit(&rng) * 2 - 1);
    for (uint32_t i = 0; i < d->spec.batch; i++)
        d->labels[i] = (uint32_t)wr_rng_below(&rng, CLASSES);
}

static struct wr_loss step(struct dump *d)
{
    struct wr_loss_batch batch = {d->logits, d->labels, d->spec.batch,
                                  d->spec.batch, CLASSES};
    struct wr_loss loss = {0};
    weir_err err;

    if (d->ops->forward(d->engine, d->params, d->input, d->logits, &err) < 0 ||
        wr_loss_of(&batch, d->dlogits, &loss, &err) < 0 ||
        d->ops->backward(d->engine, d->params, d->dlogits, d->grads, &err) < 0)
        die(&err);
    return loss;
}

static void save(const char *folder, const char *name, const void *data,
                 size_t size)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
        perror(path);
        exit(1);
    }
}

static void dump(struct dump *d, const char *folder)
{
    static const char *const kinds[] = {"conv", "pool", "dense"};
    struct wr_loss loss = step(d);

    save(folder, "params.f32", d->params, d->net.param_count * 4);
    save(folder, "input.f32", d->input, d->input_count * 4);
    save(folder, "labels.u32", d->labels, d->spec.batch * 4);
    save(folder, "logits.f32", d->logits, d->logits_count * 4);
    save(folder, "grads.f32", d->grads, d->net.param_count * 4);
    for (size_t i = 0; i < d->net.layer_count; i++) {
        const struct wr_layer *l = &d->net.layers[i];

        printf("%s %s %u %zu %u %u %u %d %zu %zu\n", l->name, kinds[l->kind],
               l->out_c,
               l->kind == WR_LAYER_DENSE ? wr_layer_in_count(l) : l->in_c,
               l->kernel, l->stride, l->pad, l->relu, l->weight, l->bias);
    }
    printf("loss %.9g correct %u\n", loss.mean, loss.correct);
}

static void tear_down(struct dump *d)
{
    d->ops->close(d->engine);
    wr_big_free(d->params, d->net.param_count * sizeof(float));
    wr_big_free(d->grads, d->net.param_count * sizeof(float));
    wr_big_free(d->input, d->input_count * sizeof(float));
    wr_big_free(d->logits, d->logits_count * sizeof(float));
    wr_big_free(d->dlogits, d->logits_count * sizeof(float));
    free(d->labels);
}

int main(int argc, char **argv)
{
    struct dump d = {0};

    for (size_t i = 0; argc == 1 && wr_engine_name(i); i++)
        puts(wr_engine_name(i));
    if (argc == 1)
        return 0;
    if (argc != 7) {
        fputs("train-dump: wrong number of arguments\n", stderr);
        return 2;
    }
    set_up(&d, argv);
    fill(&d, strtoull(argv[5], NULL, 10));
    dump(&d, argv[6]);
    tear_down(&d);
    return 0;
}
