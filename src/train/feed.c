/* feed.c - the batches that training takes: from a data set, or from memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/feed.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "format/format.h"

uint32_t wr_train_classes(const struct wr_train_plan *plan)
{
    return plan->classes || !plan->ds ? plan->classes
                                      : weir_dataset_class_count(plan->ds);
}

int wr_train_is_stopped(void *arg)
{
    const struct wr_train_plan *plan = arg;

    return plan->stopped && plan->stopped();
}

/* --- batches from memory --- */

static size_t pixel_count(const weir_pipeline_config *cfg)
{
    return (size_t)cfg->batch * cfg->picture.height * cfg->picture.width *
           cfg->picture.channels;
}

/* Pixels and labels stay the same, so that the loss can fall: complaints about
 * benchmarks with labels drawn anew say that it cannot. */
static void fill(struct wr_train_feed *f, const weir_pipeline_config *cfg,
                 uint32_t classes)
{
    size_t count = pixel_count(cfg);

    for (size_t i = 0; i < count; i++)
        f->pixels[i] = (float)(wr_mix64(i + 1) >> 40) * 0x1p-22f - 2.0f;
    for (uint32_t i = 0; i < cfg->batch; i++)
        f->labels[i] = i % WR_MAX(classes, 1u);
}

static int open_fixed(struct wr_train_feed *f, const struct wr_train_plan *plan,
                      weir_err *err)
{
    const weir_pipeline_config *cfg = &plan->feed;
    size_t bytes = pixel_count(cfg) * sizeof(float);

    f->fixed.bytes = bytes;
    f->pixels = wr_big_alloc(bytes);
    f->labels = calloc(cfg->batch, sizeof(*f->labels));
    if (!f->pixels || !f->labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory: a batch takes %zu MB",
                       bytes / 1000000);
    fill(f, cfg, wr_train_classes(plan));
    f->fixed = (weir_batch){
        .data = f->pixels,
        .bytes = bytes,
        .count = cfg->batch,
        .unique = cfg->batch,
        .ndim = 4,
        .shape = {cfg->batch, cfg->picture.height, cfg->picture.width,
                  cfg->picture.channels},
        .dtype = WEIR_F32,
        .labels = f->labels,
    };
    return 0;
}

/* --- both --- */

/* Whether a pipeline gives them as f32; others it gives as they are stored. */
static bool is_f32(const weir_field *s)
{
    bool pixels = s && s->ndim == 3 && (s->dims[2] == 1 || s->dims[2] == 3);

    return !s || s->dtype == WEIR_F32 || (s->dtype == WEIR_U8 && pixels);
}

/* All batches are full: a step that is cheaper than the others would tell
 * nothing, and the network's memory has one size. */
static void set_up(weir_pipeline_config *cfg, const struct wr_train_plan *plan,
                   const struct wr_train_start *start)
{
    *cfg = plan->feed;
    cfg->remainder = WEIR_REMAINDER_PAD;
    cfg->epochs = plan->epochs;
    cfg->max_batches = plan->iterations ? plan->iterations - start->from : 0;
    cfg->resume = start->states;
    cfg->resume_len = start->lengths;
    cfg->resume_count = start->count;
    cfg->stopped = wr_train_is_stopped;
    cfg->stopped_arg = (void *)(uintptr_t)plan;
    if (plan->ds && !is_f32(wr_index_tensor(plan->ds->index))) /* nothing is
                                                                  computed */
        cfg->picture.dtype = wr_index_tensor(plan->ds->index)->dtype;
}

/* One sample without a label would end the training once its turn comes. */
static int check_labels(const struct wr_train_plan *plan, weir_err *err)
{
    uint64_t count = weir_dataset_count(plan->ds);
    struct wr_part part;
    char name[200] = "?";
    weir_sample s;

    if (!weir_dataset_class_count(plan->ds))
        return 0; /* none has one, or they are inside the samples */
    for (uint64_t i = 0; i < count; i++) {
        wr_index_part(plan->ds->index, 0, i, &part);
        if (part.label != WEIR_NO_LABEL)
            continue;
        weir_dataset_sample(plan->ds, i, name, sizeof(name), &s, NULL);
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': has no label: there is nothing to learn from "
                       "it; leave it out or label it",
                       name);
    }
    return 0;
}

int wr_train_feed_check(const struct wr_train_plan *plan, weir_err *err)
{
    if (plan->accelerator.kind != WR_ACCELERATOR_CPU || !plan->ds ||
        plan->synthetic)
        return 0;
    if (is_f32(wr_index_tensor(plan->ds->index)))
        return check_labels(plan, err);
    return wr_fail(err, WEIR_EINVAL,
                   "the samples are tensors that cannot be learned from: they "
                   "must be f32 or u8, of rows, columns and 3 channels in this "
                   "order (weir convert PICTURES FOLDER --to tensor makes "
                   "such)");
}

int wr_train_feed_open(struct wr_train_feed *f,
                       const struct wr_train_plan *plan,
                       const struct wr_train_start *start, weir_err *err)
{
    weir_pipeline_config cfg;
    int r;

    *f = (struct wr_train_feed){.left = UINT64_MAX};
    if (plan->iterations)
        f->left = plan->iterations - start->from;
    set_up(&cfg, plan, start);
    r = plan->synthetic ? open_fixed(f, plan, err)
                        : weir_pipeline_open(&f->pipeline, plan->ds, &cfg, err);
    if (r < 0)
        wr_train_feed_close(f);
    return r;
}

void wr_train_feed_close(struct wr_train_feed *f)
{
    weir_pipeline_close(&f->pipeline);
    wr_big_free(f->pixels, f->fixed.bytes);
    free(f->labels);
    *f = (struct wr_train_feed){0};
}

int wr_train_feed_next(void *feed, const weir_batch **ret, weir_err *err)
{
    struct wr_train_feed *f = feed;

    if (f->pipeline)
        return weir_pipeline_next(f->pipeline, ret, err);
    if (!f->left)
        return 0;
    f->left--;
    *ret = &f->fixed;
    return 1;
}

uint64_t wr_train_feed_per_epoch(const struct wr_train_feed *f)
{
    return f->pipeline ? weir_pipeline_batches_per_epoch(f->pipeline) : 0;
}
