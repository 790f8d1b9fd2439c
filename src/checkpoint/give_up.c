/* give_up.c - steps that never get to the slow tier, so that newer ones are saved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checkpoint/watch.h"

/* The lowest step from `from` on that waits for the far tier. */
struct oldest {
    uint64_t from, step, found;
};

/* A wr_watch_fn. */
static int look_oldest(weir_ckpt *c, void *what, weir_err *err)
{
    struct oldest *o = what;
    uint64_t *steps, bytes;
    size_t count;
    int r = wr_tier_steps(c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && !o->found; i++) {
        o->step = steps[i];
        o->found = steps[i] >= o->from &&
                   wr_ckpt_will_drain(c, steps[i], &bytes);
    }
    free(steps);
    return 0;
}

/* A far tier that does not answer has none of them. */
static bool find_oldest(weir_ckpt *c, uint64_t from, const uint64_t *steps,
                        size_t count, uint64_t *ret)
{
    struct oldest o = {.from = from};
    int r;

    if (c->drainer)
        return wr_drainer_oldest(c->drainer, from, ret);
    r = wr_watch_ask(c, look_oldest, &o, sizeof(o), WR_WATCH_BRIEFLY, NULL);
    for (size_t i = 0; r == WEIR_ETIMEDOUT && i < count && !o.found; i++) {
        o.step = steps[i];
        o.found = steps[i] >= from;
    }
    *ret = o.step;
    return o.found;
}

/* The step that was published last in this run. */
static uint64_t last_saved(weir_ckpt *c)
{
    uint64_t step = WEIR_LATEST, seq = 0;

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < WR_TIMES_KEPT; i++) {
        const struct wr_ckpt_time *t = &c->times[i];

        if (t->seq > seq && t->level >= WEIR_LEVEL_FAST) {
            seq = t->seq;
            step = t->t.step;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return step;
}

/* Who waits for it is told. */
static void note(weir_ckpt *c, uint64_t step, uint64_t by)
{
    const struct wr_ckpt_time *t;
    weir_err e;

    if (c->drainer)
        wr_drainer_drop(c->drainer, step);
    pthread_mutex_lock(&c->lock);
    c->stats.given_up++;
    t = wr_ckpt_time_find(c, step);
    wr_fail(&e, WEIR_ECANCELED,
            "step %" PRIu64 " was given up for step %" PRIu64
            " before it was drained",
            step, by);
    if (t)
        wr_ckpt_end_save(c, t->seq, WEIR_LEVEL_SLOW, &e,
                         /* tell= */ false); /* it was asked for */
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* The step of the near tier that was saved last: of a run that went back that is
 * not the highest. */
static uint64_t newest_of(weir_ckpt *c, const uint64_t *steps, size_t count)
{
    struct wr_copy best = {0}, copy;
    uint64_t newest = steps[count - 1];

    for (size_t i = 0; i < count; i++) {
        if (wr_step_glance(c->near, steps[i], &copy, NULL) < 0 ||
            copy.is <= WEIR_COPY_DAMAGED ||
            (best.is && wr_copy_compare(&copy, &best) < 0))
            continue;
        newest = steps[i];
        best = copy;
    }
    return newest;
}

static bool give_up_one(weir_ckpt *c, uint64_t by, const uint64_t *steps,
                        size_t count)
{
    uint64_t last = last_saved(c), newest = newest_of(c, steps, count);
    uint64_t from = 0, step;

    for (; find_oldest(c, from, steps, count, &step); from = step + 1) {
        if (step == by || step == last || step == newest ||
            wr_tier_marked(c->near, WR_MARK_PIN, step, NULL, 0))
            continue;
        if (!wr_tier_has(c->near, step)) { /* and the drain does not know yet */
            if (c->drainer)
                wr_drainer_drop(c->drainer, step);
            continue;
        }
        if (wr_tier_discard(c->near, step, NULL) < 0)
            return false;
        wr_stock_touch(c, step);
        note(c, step, by);
        return true;
    }
    return false;
}

bool wr_ckpt_give_up(weir_ckpt *c, uint64_t by)
{
    uint64_t *steps;
    size_t count;
    bool done;

    if (c->cfg.behind != WEIR_BEHIND_OLDEST || !c->far ||
        wr_tier_steps(c->near, &steps, &count, NULL) < 0)
        return false;
    done = count > 0 && give_up_one(c, by, steps, count);
    free(steps);
    return done;
}

void wr_ckpt_keep_limit(weir_ckpt *c, uint64_t by)
{
    const weir_ckpt_config *cfg = &c->cfg;
    struct wr_backlog b;

    while (wr_ckpt_behind(c, &b, NULL) == 0 &&
           ((cfg->max_behind > 0 && b.steps > cfg->max_behind) ||
            (cfg->max_behind_bytes > 0 && b.bytes > cfg->max_behind_bytes)) &&
           wr_ckpt_give_up(c, by))
        ;
}
