/* validate.c - how good the network is on samples that it never learned from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/validate.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/loop.h"
#include "pipeline/split.h"

uint64_t wr_validate_count(const struct wr_train_plan *plan)
{
    const weir_pipeline_config *cfg = &plan->feed;
    struct wr_split s = wr_split_of(cfg);

    if (!plan->ds || weir_split_part(cfg->holdout, 0, 0) == WEIR_PART_ALL)
        return 0; /* not a part that there is */
    s.part = WEIR_PART_HELD_OUT;
    return wr_split_count(&s, weir_dataset_count(plan->ds));
}

/* As training is fed, but once, in order, and without chance: all of what is
 * random would make two validations differ. */
static void set_up(const struct wr_train_plan *plan, weir_pipeline_config *cfg)
{
    *cfg = plan->feed;
    cfg->part = WEIR_PART_HELD_OUT;
    cfg->order = WEIR_ORDER_SEQUENTIAL;
    cfg->remainder = WEIR_REMAINDER_KEEP;
    cfg->epochs = 1;
    cfg->max_batches = 0;
    cfg->picture.flip = 0;
    if (cfg->picture.crop == WEIR_CROP_RANDOM)
        cfg->picture.crop = WEIR_CROP_CENTER;
    cfg->cache = NULL; /* its size was meant for what is read again and again */
    cfg->resume_count = 0;
    cfg->stopped = wr_train_is_stopped;
    cfg->stopped_arg = (void *)(uintptr_t)plan;
}

/* One pass. */
struct judging {
    struct wr_learner *learner; /* borrowed */
    uint64_t *counts;           /* owned: of labels */
    struct wr_train_validation v;
    double loss; /* sum */
};

/* Labels are below the number of classes: the learner has looked. */
static void count_labels(struct judging *j, const weir_batch *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t n = ++j->counts[b->labels[i]];

        j->v.most = WR_MAX(j->v.most, n);
    }
}

static int judge_batch(void *arg, struct wr_step *s, weir_err *err)
{
    struct judging *j = arg;
    struct wr_loss loss;
    int r = wr_learner_judge(j->learner, s->batch, &loss, err);

    if (r < 0)
        return r;
    j->v.samples += s->count;
    j->v.right += loss.correct;
    j->loss += loss.mean * s->count;
    count_labels(j, s->batch);
    return 0;
}

static const struct wr_step_ops step_judge = {.end = judge_batch};

static int judge_all(struct judging *j, weir_pipeline *p, weir_err *err)
{
    struct wr_train_validation *v = &j->v;
    int r = wr_loop(&(struct wr_loop){.next = wr_loop_next,
                                      .feed = p,
                                      .ops = &step_judge,
                                      .machine = j,
                                      .steps = UINT64_MAX},
                    err);

    v->loss = v->samples ? j->loss / (double)v->samples : 0;
    return r;
}

int wr_validate(struct wr_learner *l, struct wr_train_tally *t, weir_err *err)
{
    struct judging j = {
        .learner = l,
        .counts = calloc(l->net->spec.classes, sizeof(*j.counts)),
        .v = {.step = l->state->step, .at_s = wr_train_tally_now(t)}};
    uint64_t start = wr_clock_ns();
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    int r;

    set_up(l->plan, &cfg);
    r = j.counts ? weir_pipeline_open(&p, l->plan->ds, &cfg, err)
                 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = judge_all(&j, p, err);
    free(j.counts);
    if (p)
        wr_train_tally_bad(t, p);
    weir_pipeline_close(&p);
    j.v.seconds = (double)(wr_clock_ns() - start) * 1e-9;
    if (r == 0)
        wr_train_tally_validation(t, &j.v);
    return r;
}
