/* tensors.c - what each rank saves in a checkpoint.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The formulas are those of DLIO: layers of a Llama-like transformer, cut by
 * tensor and pipeline parallelism, the optimizer's state cut by ZeRO. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "workload/choices.h"
#include "workload/derive.h"

#define MAX_BYTES 1e15 /* of one tensor */

/* The place of a rank, and the tensors found so far. */
struct rank_state {
    const struct wr_workload *w;
    uint64_t data, copies;    /* its copy of the model, and how many */
    uint64_t stage;           /* of the pipeline */
    bool has_model, has_rest; /* it saves parameters; optimizer and others */
    struct wr_wl_tensor *list;
    size_t count, cap;
};

static const char *safetensors_type(const char *type)
{
    static const char *const names[][2] = {
        {"fp16", "F16"}, {"bf16", "BF16"}, {"fp32", "F32"},
        {"fp64", "F64"}, {"int8", "I8"},   {"uint8", "U8"},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(names); i++)
        if (!strcmp(names[i][0], type))
            return names[i][1];
    return "U8";
}

static int add(struct rank_state *s, const char *name, const char *type,
               double elements, weir_err *err)
{
    struct wr_wl_tensor *t;
    int bytes = 1;

    wr_choice_find(wr_wl_state_types, type, &bytes, NULL);
    if (elements * bytes > MAX_BYTES)
        return wr_fail(err, WEIR_ELIMIT,
                       "model: tensor %s of a checkpoint has %.3g bytes", name,
                       elements * bytes);
    if (elements < 1)
        return 0;
    if (!wr_grow(&s->list, &s->cap, s->count + 1, sizeof(*s->list)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    t = &s->list[s->count++];
    *t = (struct wr_wl_tensor){
        .dtype = safetensors_type(type),
        .elements = (uint64_t)elements,
        .bytes = (uint64_t)elements * (uint64_t)bytes,
    };
    snprintf(t->name, sizeof(t->name), "%s", name);
    return 0;
}

/* Elements of the tensors of layer `i`: 0 is the embedding, then the layers, the
 * head, and the last norm. Returns how many there are. */
static unsigned layer_elements(const struct wr_workload *w, uint64_t i,
                               double ret[WR_WL_LIST])
{
    uint64_t layers = (uint64_t)w->model.num_layers;
    double h = (double)w->model.hidden, ffn = (double)w->model.ffn_hidden;
    double kv = h / (double)w->model.heads * (double)w->model.kv_heads;
    const double inner[] = {h, h * (h + 2 * kv), h * h,
                            h, 2 * h * ffn,      h * ffn};

    if (w->model.layer_parameters.count) {
        for (unsigned k = 0; k < w->model.layer_parameters.count; k++)
            ret[k] = (double)w->model.layer_parameters.item[k];
        return w->model.layer_parameters.count;
    }
    if (i == 0 || i == layers + 1)
        ret[0] = (double)w->model.vocab * h;
    else if (i == layers + 2)
        ret[0] = h;
    else
        memcpy(ret, inner, sizeof(inner));
    return i == 0 || i > layers ? 1 : (unsigned)WR_ARRAY_LEN(inner);
}

static int add_layer(struct rank_state *s, uint64_t i, weir_err *err)
{
    double elements[WR_WL_LIST];
    unsigned count = layer_elements(s->w, i, elements);
    double parts = (double)s->w->model.tensor;
    int r = 0;

    if (s->w->model.zero_stage == 3)
        parts *= (double)s->copies;
    for (unsigned k = 0; k < count && r == 0; k++) {
        char name[64];

        snprintf(name, sizeof(name), "layer.%" PRIu64 ".%u", i, k);
        r = add(s, name, s->w->model.datatype, elements[k] / parts, err);
    }
    return r;
}

/* The stage's layers; the first stages take one more where they do not divide.
 * The embedding belongs to the first stage, head and norm to the last. */
static int add_layers(struct rank_state *s, weir_err *err)
{
    uint64_t layers = (uint64_t)s->w->model.num_layers;
    uint64_t stages = s->w->model.pipeline;
    uint64_t each = layers / stages, more = layers % stages;
    uint64_t first = 1 + s->stage * each + WR_MIN(s->stage, more);
    uint64_t end = first + each + (s->stage < more);
    bool whole = !s->w->model.layer_parameters.count;
    int r = 0;

    if (whole && s->stage == 0)
        first = 0;
    if (whole && s->stage == stages - 1)
        end = layers + 3;
    for (uint64_t i = first; i < end && r == 0; i++)
        r = add_layer(s, i, err);
    return r;
}

/* Explicit groups: twice each, and all of them once more. */
static int add_groups(struct rank_state *s, weir_err *err)
{
    const struct wr_wl_list *g = &s->w->model.optimization_groups;
    double sum = 0;
    int r = 0;

    for (unsigned i = 0; i < 2 * g->count && r == 0; i++) {
        char name[64];

        snprintf(name, sizeof(name), "optimizer.%u.%c", i / 2, "ab"[i % 2]);
        r = add(s, name, "int8", (double)g->item[i / 2], err);
        if (i % 2)
            sum += (double)g->item[i / 2];
    }
    return r < 0 ? r : add(s, "optimizer.combined", "int8", sum, err);
}

double wr_workload_parameters(const struct wr_workload *w)
{
    double elements[WR_WL_LIST], sum = 0;
    uint64_t layers = (uint64_t)w->model.num_layers;

    if (w->model.num_layers <= 0)
        return 0;
    for (unsigned k = layer_elements(w, 1, elements); k > 0; k--)
        sum += elements[k - 1] * (double)layers;
    if (!w->model.layer_parameters.count)
        sum += 2 * (double)w->model.vocab * (double)w->model.hidden +
               (double)w->model.hidden;
    return sum;
}

static int add_optimizer(struct rank_state *s, weir_err *err)
{
    const struct wr_workload *w = s->w;
    double share = wr_workload_parameters(w) / (double)w->model.tensor /
                   (double)w->model.pipeline;
    int r = 0;

    if (w->model.optimization_groups.count)
        return add_groups(s, err);
    if (w->model.num_layers <= 0 || w->model.layer_parameters.count)
        return 0;
    if (w->model.zero_stage > 0)
        share /= (double)s->copies;
    for (unsigned i = 0; i < 6 && r == 0; i++) {
        char name[64];

        snprintf(name, sizeof(name), "optimizer.%u", i);
        r = add(s, name, w->model.optimizer_datatype,
                i % 2 ? 5 * (double)w->model.hidden : share, err);
    }
    return r;
}

/* Where rank stands in the grid tensor x pipeline x data. */
static int place_rank(struct rank_state *s, uint64_t rank, uint64_t world,
                      weir_err *err)
{
    const struct wr_workload *w = s->w;
    uint64_t model = w->model.tensor * w->model.pipeline, whole = world;

    if (w->checkpoint.subset) {
        whole = (uint64_t)w->model.data * model;
        if (whole < world)
            return wr_fail(err, WEIR_EINVAL,
                           "%" PRIu64 " accelerators are no subset of %" PRIu64
                           " (data x tensor x pipeline)",
                           world, whole);
    }
    if (whole % model)
        return wr_fail(
            err, WEIR_EINVAL,
            "%" PRIu64 " accelerators are not a multiple of tensor x "
            "pipeline, %" PRIu64 " (checkpoint.mode=subset saves a part)",
            world, model);
    s->copies = whole / model;
    s->data = rank / model;
    s->stage = rank / w->model.tensor % w->model.pipeline;
    s->has_model = w->model.zero_stage == 3 || s->data == 0;
    s->has_rest = w->model.zero_stage > 0 || s->data == 0;
    return 0;
}

int wr_workload_tensors(const struct wr_workload *w, uint64_t rank,
                        uint64_t world, struct wr_wl_tensor **ret,
                        size_t *ret_count, weir_err *err)
{
    struct rank_state s = {.w = w};
    bool transformer = w->model.type && !strcmp(w->model.type, "transformer");
    int r = place_rank(&s, rank, world, err);

    if (r == 0 && !transformer && s.has_model)
        r = add(&s, "model", "int8", (double)w->model.size_bytes, err);
    if (r == 0 && s.has_model && w->model.num_layers > 0)
        r = add_layers(&s, err);
    if (r == 0 && s.has_rest)
        r = add_optimizer(&s, err);
    if (r < 0) {
        free(s.list);
        return r;
    }
    *ret = s.list;
    *ret_count = s.count;
    return 0;
}
