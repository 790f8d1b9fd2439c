/* state.c - what training has learned so far: all that a checkpoint holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define COPIES 3 /* of each parameter: its weight and two moments */

static const char *const suffixes[COPIES] = {"", ".moment1", ".moment2"};

/* Names and shapes of one layer's weights or biases, in all copies. */
struct state_part {
    const struct wr_layer *layer;
    bool bias;
};

static void set_shape(weir_tensor *t, const struct state_part *p)
{
    const struct wr_layer *l = p->layer;

    t->dtype = WEIR_F32;
    t->shape[0] = p->bias ? l->bias_count : l->out_c;
    t->ndim = 1;
    if (p->bias)
        return;
    if (l->kind == WR_LAYER_CONV) {
        t->shape[t->ndim++] = l->kernel;
        t->shape[t->ndim++] = l->kernel;
        t->shape[t->ndim++] = l->in_c;
    } else {
        t->shape[t->ndim++] = l->weight_count / l->out_c;
    }
}

static int add_tensor(struct wr_train_state *s, const struct state_part *p,
                      const char *suffix, float *base, weir_err *err)
{
    weir_tensor *t = &s->tensors[s->count];
    char *name;

    if (asprintf(&name, "%s.%s%s", p->layer->name, p->bias ? "bias" : "weight",
                 suffix) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t->name = name;
    t->data = base + (p->bias ? p->layer->bias : p->layer->weight);
    set_shape(t, p);
    s->count++;
    return 0;
}

static int add_tensors(struct wr_train_state *s, const struct wr_net *net,
                       weir_err *err)
{
    float *const bases[COPIES] = {s->params, s->moment1, s->moment2};
    int r = 0;

    s->tensors = calloc(net->layer_count * 2 * COPIES, sizeof(*s->tensors));
    if (!s->tensors)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; k < COPIES; k++)
        for (size_t i = 0; i < net->layer_count && r == 0; i++) {
            struct state_part weight = {&net->layers[i], false};
            struct state_part bias = {&net->layers[i], true};

            if (!net->layers[i].weight_count)
                continue;
            r = add_tensor(s, &weight, suffixes[k], bases[k], err);
            if (r == 0)
                r = add_tensor(s, &bias, suffixes[k], bases[k], err);
        }
    return r;
}

static void fill_moments(struct wr_train_state *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t r = wr_mix64(i + 1);

        s->moment1[i] = (float)(int32_t)(uint32_t)r * 0x1p-40f;
        s->moment2[i] = (float)(uint32_t)(r >> 32) * 0x1p-50f;
    }
}

int wr_train_state_init(struct wr_train_state *s, const struct wr_net *net,
                        uint64_t seed, bool filler, weir_err *err)
{
    size_t count = net->param_count;
    int r;

    *s = (struct wr_train_state){.bytes = count * COPIES * sizeof(float)};
    s->memory = wr_big_alloc(s->bytes);
    if (!s->memory)
        return wr_fail(err, WEIR_ENOMEM,
                       "out of memory: weights and moments take %zu MB",
                       s->bytes / 1000000);
    s->params = s->memory;
    s->moment1 = s->params + count;
    s->moment2 = s->moment1 + count;
    r = add_tensors(s, net, err);
    if (r < 0) {
        wr_train_state_done(s);
        return r;
    }
    wr_net_fill(net, seed, s->params);
    if (filler)
        fill_moments(s, count);
    return 0;
}

void wr_train_state_done(struct wr_train_state *s)
{
    for (size_t i = 0; i < s->count; i++)
        free((char *)(uintptr_t)s->tensors[i].name);
    free(s->tensors);
    free(s->position);
    wr_big_free(s->memory, s->bytes);
    *s = (struct wr_train_state){0};
}

int wr_train_state_advance(struct wr_train_state *s, const weir_pipeline *p,
                           weir_err *err)
{
    size_t need = p ? weir_pipeline_state(p, s->position, s->position_cap) : 0;

    if (need > s->position_cap) {
        if (!wr_grow(&s->position, &s->position_cap, need, 1))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        need = weir_pipeline_state(p, s->position, s->position_cap);
    }
    s->position_len = need;
    s->step++;
    return 0;
}

uint64_t wr_train_state_digest(const struct wr_train_state *s)
{
    return XXH3_64bits(s->params, s->bytes / COPIES);
}

bool wr_train_state_is_finite(const struct wr_train_state *s)
{
    size_t count = s->bytes / COPIES / sizeof(float);
    uint32_t bits, bad = 0;

    /* Of NaN and infinity all bits of the exponent are set. */
    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, &s->params[i], sizeof(bits));
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}
