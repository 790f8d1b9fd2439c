/* loop.c - batches in, a step on each: the loop of all that consume batches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/loop.h"

#include "base/clock.h"
#include "base/error.h"

/* --- what a step is --- */

static void begin_emulated(void *arg, struct wr_step *s)
{
    struct wr_emulated *e = arg;

    wr_accelerator_start(e->of, &e->clock, s->count);
}

static int end_emulated(void *arg, struct wr_step *s, weir_err *err)
{
    struct wr_emulated *e = arg;

    return wr_accelerator_wait(&e->clock, e->stopped)
               ? 0
               : wr_fail(err, WEIR_ECANCELED, "stopped");
}

const struct wr_step_ops wr_step_nothing = {.begin = NULL, .end = NULL};
const struct wr_step_ops wr_step_emulated = {.begin = begin_emulated,
                                             .end = end_emulated};

/* --- the loop --- */

int wr_loop_next(void *pipeline, const weir_batch **ret, weir_err *err)
{
    return weir_pipeline_next(pipeline, ret, err);
}

/* 1: it is done; 0: there are no more batches. */
static int do_step(const struct wr_loop *l, weir_err *err)
{
    struct wr_step s = {.asked_ns = wr_clock_ns()};
    int r = l->next(l->feed, &s.batch, err);

    if (r <= 0)
        return r;
    s.got_ns = wr_clock_ns();
    s.count = s.batch ? s.batch->count : 0;
    if (l->ops->begin)
        l->ops->begin(l->machine, &s);
    r = l->take ? l->take(l->arg, &s, err) : 0;
    if (r == 0 && l->ops->end)
        r = l->ops->end(l->machine, &s, err);
    s.done_ns = wr_clock_ns();
    if (!l->keeps)
        weir_batch_release(s.batch);
    s.batch = NULL;
    s.free_ns = wr_clock_ns();
    if (r == 0 && l->note)
        r = l->note(l->arg, &s, err);
    return r < 0 ? r : 1;
}

int wr_loop(const struct wr_loop *l, weir_err *err)
{
    int r = 1;

    for (uint64_t k = 0; r > 0 && k < l->steps; k++) {
        r = do_step(l, err);
        if (r > 0 && l->stopped && l->stopped())
            r = wr_fail(err, WEIR_ECANCELED, "stopped");
    }
    return r < 0 ? r : 0;
}
