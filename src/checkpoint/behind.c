/* behind.c - how far the slow tier is behind, and room on the fast one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/lineage.h"
#include "checkpoint/watch.h"

#define LOOK_NS  (500 * WR_NS_PER_MS) /* between two looks at the lock */
#define PAUSE_NS (50 * WR_NS_PER_MS)  /* for a drain that works */
#define STALE_NS (5 * WR_NS_PER_SEC)  /* nobody waited, so nobody looked */

uint64_t wr_ckpt_note_lost(weir_ckpt *c, uint64_t step,
                           const struct wr_copy *copy)
{
    struct wr_log_entry e = {.step = step, .due = true, .err = copy->why};

    if (c->cfg.role != WEIR_CKPT_SAVE || c->drainer || c->cfg.rank > 0)
        return 0;
    memcpy(e.id, copy->id, sizeof(e.id));
    wr_step_say_damaged(c->near, step, e.err.code, &e.err);
    return wr_ckpt_lost(c, &e);
}

bool wr_ckpt_will_drain(weir_ckpt *c, uint64_t step, uint64_t *ret_bytes)
{
    struct wr_copy copy;

    *ret_bytes = 0;
    if (wr_tier_has(c->far, step))
        return false;
    if (wr_step_look(c->near, step, &copy, NULL) < 0)
        return true; /* when in doubt it waits */
    if (copy.is == WEIR_COPY_DAMAGED)
        wr_ckpt_note_lost(c, step, &copy);
    *ret_bytes = copy.bytes;
    return copy.is > WEIR_COPY_DAMAGED;
}

/* Steps of the near tier that the far one does not have; a wr_watch_fn. */
static int count_missing(weir_ckpt *c, void *what, weir_err *err)
{
    struct wr_backlog *missing = what;
    uint64_t *steps, bytes;
    size_t count;
    int r = wr_lineage_check(c, err);

    if (r == 0)
        r = wr_tier_steps(c->near, &steps, &count, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++) {
        if (!wr_ckpt_will_drain(c, steps[i], &bytes))
            continue;
        missing->steps++;
        missing->bytes += bytes;
    }
    free(steps);
    return 0;
}

/* A far tier that does not answer gets no steps: those that it lacked, and what
 * was saved since, are behind. */
static int ask_missing(weir_ckpt *c, struct wr_backlog *ret, weir_err *err)
{
    struct wr_backlog missing = {0};
    int r = wr_watch_ask(c, count_missing, &missing, sizeof(missing),
                         WR_WATCH_BRIEFLY, err);

    if (r < 0 && r != WEIR_ETIMEDOUT)
        return r;
    pthread_mutex_lock(&c->lock);
    if (r == 0) {
        c->stats.behind = missing.steps;
        c->behind_bytes = missing.bytes;
    }
    *ret = (struct wr_backlog){c->stats.behind, c->behind_bytes};
    pthread_mutex_unlock(&c->lock);
    return 0;
}

int wr_ckpt_behind(weir_ckpt *c, struct wr_backlog *ret, weir_err *err)
{
    if (c->drainer || !c->far) {
        *ret = c->drainer ? wr_drainer_backlog(c->drainer)
                          : (struct wr_backlog){0};
        return 0;
    }
    return ask_missing(c, ret, err);
}

bool wr_ckpt_too_many(const weir_ckpt *c, const struct wr_backlog *b)
{
    const weir_ckpt_config *cfg = &c->cfg;

    return (cfg->max_behind > 0 && b->steps >= cfg->max_behind) ||
           (cfg->max_behind_bytes > 0 && b->bytes >= cfg->max_behind_bytes);
}

int wr_ckpt_is_behind(weir_ckpt *c, bool *ret, weir_err *err)
{
    struct wr_backlog behind;
    int r = wr_ckpt_behind(c, &behind, err);

    if (r == 0)
        *ret = wr_ckpt_too_many(c, &behind);
    return r;
}

/* Another thread may have looked after `now_ns`. */
static uint64_t age(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* A wr_watch_fn. */
static int look_claimed(weir_ckpt *c, void *what, weir_err *err)
{
    uint64_t *claimed = what;

    *claimed = wr_tier_is_claimed(c->far);
    return 0;
}

/* Whether a process drains; true also when it cannot be told. */
static bool is_claimed(weir_ckpt *c)
{
    uint64_t claimed = true;

    return wr_watch_ask(c, look_claimed, &claimed, sizeof(claimed),
                        WR_WATCH_BRIEFLY, NULL) < 0 ||
           claimed;
}

/* With the lock held: how long nobody has drained, as of `now_ns`; looks when
 * the last look was too long ago for that. */
static uint64_t undrained(weir_ckpt *c, uint64_t now_ns, uint64_t look_ns)
{
    bool claimed;

    if (!c->looked_ns || age(now_ns, c->looked_ns) > STALE_NS)
        c->undrained_ns = c->looked_ns = 0;
    if (!c->looked_ns || age(now_ns, c->looked_ns) >= look_ns) {
        pthread_mutex_unlock(&c->lock);
        claimed = is_claimed(c);
        pthread_mutex_lock(&c->lock);
        c->looked_ns = now_ns;
        if (claimed || !c->undrained_ns)
            c->undrained_ns = claimed ? 0 : now_ns;
    }
    return c->undrained_ns ? age(now_ns, c->undrained_ns) : 0;
}

uint64_t wr_ckpt_drain_timeout_ns(const weir_ckpt *c)
{
    uint64_t ms = c->cfg.drain_timeout_ms;

    return ms == 0 ? UINT64_MAX
                   : WR_MIN(ms, UINT64_MAX / 4 / WR_NS_PER_MS) * WR_NS_PER_MS;
}

int wr_ckpt_check_answers(weir_ckpt *c, weir_err *err)
{
    uint64_t silent_ns;

    if (!c->far || c->cfg.role != WEIR_CKPT_SAVE)
        return 0;
    silent_ns = c->drainer ? wr_drainer_silent_ns(c->drainer)
                           : wr_watch_silent_ns(c->watch);
    if (silent_ns < wr_ckpt_drain_timeout_ns(c))
        return 0;
    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': the slow tier has not answered for %.1f seconds (is "
                   "the storage there?)",
                   c->far->shown, (double)silent_ns / (double)WR_NS_PER_SEC);
}

int wr_ckpt_check_drained(weir_ckpt *c, weir_err *err)
{
    uint64_t now_ns = wr_clock_ns(), most_ns = wr_ckpt_drain_timeout_ns(c);
    bool drained;
    int r = wr_ckpt_check_answers(c, err);

    if (r < 0 || !c->far || c->cfg.drain || c->cfg.role != WEIR_CKPT_SAVE)
        return r;
    pthread_mutex_lock(&c->lock);
    drained = undrained(c, now_ns, LOOK_NS) < most_ns ||
              undrained(c, now_ns, /* look_ns= */ 0) < most_ns;
    pthread_mutex_unlock(&c->lock);
    if (drained)
        return 0;
    return wr_fail(err, WEIR_ESTATE,
                   "no process drains '%s' to '%s' (weir ckpt drain --watch)",
                   c->near->shown, c->far->shown);
}

int wr_ckpt_pause(weir_ckpt *c, uint64_t *seen, struct wr_pause_end *ret)
{
    int r = 0;

    ret->number = 0;
    pthread_mutex_lock(&c->lock);
    wr_ckpt_sleep(c, wr_clock_ns() + PAUSE_NS);
    if (c->drainer)
        r = wr_drainer_failed(c->drainer, WEIR_LATEST, seen, &ret->number,
                              &ret->why);
    pthread_mutex_unlock(&c->lock);
    return r < 0 ? r : wr_ckpt_check_drained(c, &ret->why);
}

/* Which step, and whether its copy on the far tier is as good as it will get. */
struct safe {
    uint64_t step, is;
};

/* A wr_watch_fn. */
static int look_safe(weir_ckpt *c, void *what, weir_err *err)
{
    struct safe *s = what;
    struct wr_manifest m;
    int r = wr_tier_manifest(c->far, s->step, &m, err);

    if (r < 0)
        return r;
    s->is = !c->cfg.verify || wr_tier_is_verified(c->far, &m);
    wr_manifest_done(&m);
    return 0;
}

static bool is_safe(weir_ckpt *c, uint64_t step)
{
    struct safe s = {step, 0};

    return !wr_tier_marked(c->near, WR_MARK_PIN, step, NULL, 0) &&
           wr_watch_ask(c, look_safe, &s, sizeof(s), WR_WATCH_BRIEFLY, NULL) ==
               0 &&
           s.is;
}

int wr_ckpt_check_drain(weir_ckpt *c, weir_err *err)
{
    int r = c->drainer ? wr_drainer_fails(c->drainer, err) : 0;

    return r < 0 ? r : wr_ckpt_check_drained(c, err);
}

bool wr_ckpt_make_room(weir_ckpt *c)
{
    bool made = false;
    uint64_t *steps;
    size_t count;

    if (!c->far || wr_tier_steps(c->near, &steps, &count, NULL) < 0)
        return false;
    for (size_t i = 0; i < count && !made; i++)
        made = is_safe(c, steps[i]) &&
               wr_tier_retire(c->near, steps[i], NULL) == 0;
    free(steps);
    return made;
}
