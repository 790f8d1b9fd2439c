/* behind.c - how far the slow tier is behind, and room on the fast one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/lineage.h"
#include "checkpoint/watch.h"
#include "tier/link.h"

#define LOOKS    8                    /* at steps that wait, two times */
#define LOOK_NS  (500 * WR_NS_PER_MS) /* between two looks at the lock */
#define PAUSE_NS (50 * WR_NS_PER_MS)  /* for a drain that works */
#define STALE_NS (5 * WR_NS_PER_SEC)  /* nobody waited, so nobody looked */

uint64_t wr_ckpt_note_lost(weir_ckpt *c, uint64_t step,
                           const struct wr_copy *copy)
{
    struct wr_log_entry e = {.step = step, .due = true, .err = copy->why};

    if (c->cfg.role != WEIR_CKPT_SAVE || c->drainer || c->cfg.rank > 0)
        return 0;
    memcpy(e.id, copy->gist.id, sizeof(e.id));
    wr_step_say_damaged(c->near, step, e.err.code, &e.err);
    return wr_ckpt_lost(c, &e);
}

bool wr_ckpt_is_missing(weir_ckpt *c, const struct wr_copy *near, uint64_t step)
{
    struct wr_copy far;

    return !wr_tier_has(c->far, step) ||
           wr_step_glance(c->far, step, &far, NULL) < 0 ||
           far.is <= WEIR_COPY_DAMAGED ||
           (strcmp(near->gist.id, far.gist.id) != 0 &&
            wr_copy_compare(near, &far) > 0);
}

/* Whether somebody will bring a step of the near tier to the far one, which is
 * called. Its bytes when it will. */
static bool ckpt_will_drain(weir_ckpt *c, uint64_t step, uint64_t *ret_bytes)
{
    struct wr_copy copy;

    *ret_bytes = 0;
    if (wr_step_look(c->near, step, &copy, NULL) < 0)
        return !wr_tier_has(c->far, step); /* when in doubt it waits */
    if (copy.is == WEIR_COPY_DAMAGED && !wr_tier_has(c->far, step))
        wr_ckpt_note_lost(c, step, &copy);
    *ret_bytes = copy.gist.bytes;
    return copy.is > WEIR_COPY_DAMAGED && wr_ckpt_is_missing(c, &copy, step);
}

/* Brings what is known of steps of the near tier in line with those that are
 * there. */
static int match_known(weir_ckpt *c, const uint64_t *steps, size_t count,
                       weir_err *err)
{
    struct wr_near_step *old = c->ahead, *all = calloc(count + 1, sizeof(*all));
    size_t at = 0, old_count = c->ahead_count;
    bool anew;

    if (!all)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_lock(&c->lock);
    anew = c->ahead_lost;
    c->ahead_lost = false;
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; i < count; i++) {
        while (at < old_count && old[at].step < steps[i])
            at++;
        if (!anew && at < old_count && old[at].step == steps[i])
            all[i] = old[at];
        all[i].step = steps[i];
    }
    free(old);
    c->ahead = all;
    c->ahead_count = count;
    return 0;
}

static void look_ahead(weir_ckpt *c, struct wr_near_step *a)
{
    a->is = ckpt_will_drain(c, a->step, &a->bytes) ? WR_AHEAD_WAITS
            : wr_tier_has(c->far, a->step)         ? WR_AHEAD_DRAINED
                                                   : WR_AHEAD_LOST;
}

/* Looks at those of which nothing is known, or nothing good, and at some of those
 * that waited at the last look, so that a save costs no more for a long backlog:
 * the oldest, which are drained first, and others in turn. */
static void look_at_some(weir_ckpt *c)
{
    size_t waits = 0, turn = c->ahead_turn, first, last;

    for (size_t i = 0; i < c->ahead_count; i++)
        waits += c->ahead[i].is == WR_AHEAD_WAITS;
    first = waits > LOOKS ? LOOKS + turn % (waits - LOOKS) : waits;
    last = first + LOOKS;
    c->ahead_turn = last < waits ? last - LOOKS : 0;
    waits = 0;
    for (size_t i = 0; i < c->ahead_count; i++) {
        struct wr_near_step *a = &c->ahead[i];
        bool waited = a->is == WR_AHEAD_WAITS;
        bool due = waits < LOOKS || (waits >= first && waits < last);

        waits += waited;
        if (a->is != WR_AHEAD_DRAINED && (!waited || due))
            look_ahead(c, a);
    }
}

static struct wr_backlog sum_ahead(const weir_ckpt *c)
{
    struct wr_backlog b = {0};

    for (size_t i = 0; i < c->ahead_count; i++)
        if (c->ahead[i].is == WR_AHEAD_WAITS) {
            b.steps++;
            b.bytes += c->ahead[i].bytes;
        }
    return b;
}

/* Steps of the near tier that the far one does not have; a wr_watch_fn. Never too
 * few, and what is too many is so. */
static int count_missing(weir_ckpt *c, void *what, weir_err *err)
{
    struct wr_backlog *missing = what;
    uint64_t *steps;
    size_t count;
    int r = wr_lineage_check(c, err);

    if (r == 0)
        r = wr_tier_steps(c->near, &steps, &count, err);
    if (r < 0)
        return r;
    r = match_known(c, steps, count, err);
    free(steps);
    if (r < 0)
        return r;
    look_at_some(c);
    *missing = sum_ahead(c);
    if (!wr_ckpt_too_many(c, missing))
        return 0;
    for (size_t i = 0; i < c->ahead_count; i++)
        if (c->ahead[i].is == WR_AHEAD_WAITS)
            look_ahead(c, &c->ahead[i]);
    *missing = sum_ahead(c);
    /* Who holds back waits for another process. Whether there is one must not
     * be unknown for ever. */
    if (wr_ckpt_too_many(c, missing))
        r = wr_tier_ask_claimed(c->far, err);
    return WR_MIN(r, 0);
}

/* A far tier that does not answer gets no steps: those that it lacked, and what
 * was saved since, are behind. That is *ret also when asking it fails. */
static int ask_missing(weir_ckpt *c, struct wr_backlog *ret, weir_err *err)
{
    struct wr_backlog missing = {0};
    weir_err why = {0};
    int r = wr_watch_ask(c, count_missing, &missing, sizeof(missing),
                         WR_WATCH_BRIEFLY, &why);

    pthread_mutex_lock(&c->lock);
    if (r == 0) {
        c->stats.behind = missing.steps;
        c->behind_bytes = missing.bytes;
    }
    if (r == WEIR_EFENCED)
        wr_ckpt_set_fenced(c, &why);
    *ret = (struct wr_backlog){c->stats.behind, c->behind_bytes};
    pthread_mutex_unlock(&c->lock);
    return r == WEIR_ETIMEDOUT ? 0 : wr_fail_as(err, r, &why);
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

    *ret = wr_ckpt_too_many(c, &behind);
    return r;
}

/* Another thread may have looked after `now_ns`. */
static uint64_t age(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

/* Whether both tiers have the same save of a step. */
static bool is_on_both(weir_ckpt *c, uint64_t step)
{
    struct wr_copy near, far;

    return wr_step_glance(c->near, step, &near, NULL) == 0 &&
           wr_step_glance(c->far, step, &far, NULL) == 0 &&
           strcmp(near.gist.id, far.gist.id) == 0;
}

/* Steps that the far tier does not have, or only an older save of. */
static int count_absent(weir_ckpt *c, uint64_t *ret, weir_err *err)
{
    uint64_t *near, *far = NULL, absent = 0;
    size_t nears, fars = 0, at = 0;
    int r = wr_tier_steps(c->near, &near, &nears, err);

    if (r < 0)
        return r;
    r = wr_tier_steps(c->far, &far, &fars, err);
    for (size_t i = 0; i < nears; i++) {
        while (at < fars && far[at] < near[i])
            at++;
        absent += at == fars || far[at] != near[i] || !is_on_both(c, near[i]);
    }
    free(near);
    if (r < 0)
        return r;
    free(far);
    *ret = absent;
    return 0;
}

/* A wr_watch_fn. Who drains another fast tier is known by that one's id; a copy of
 * this tier has the same id, and is at another place. */
static int look_at_drain(weir_ckpt *c, void *what, weir_err *err)
{
    struct wr_drain_seen *d = what;
    struct wr_tier_work w = {0};
    char here[WR_PLACE_TEXT];
    bool same;

    wr_ckpt_say_place(c, here);
    if (wr_tier_is_claimed(c->far)) {
        wr_tier_work_ask(c->far, &w);
        same = !w.from[0] || !c->near_id[0] || !strcmp(w.from, c->near_id);
        d->by = same ? WR_DRAIN_OWN : WR_DRAIN_OTHER;
        snprintf(d->who, sizeof(d->who), "%.*s", (int)sizeof(d->who) - 1,
                 w.text);
        if (same && strstr(w.text, here)) {
            d->done = w.done;
            d->bytes = w.bytes;
        }
    }
    return count_absent(c, &d->missing, err);
}

/* With the lock held: takes what was seen now. Whether something got on: a step
 * has arrived, or whoever drains has done more than ever since then. An attempt
 * that is repeated in vain does not get further than the ones before. */
static bool take_seen(weir_ckpt *c, struct wr_drain_seen *now)
{
    const struct wr_drain_seen *was = &c->drain;
    bool came = now->missing < was->missing || now->done > was->done;
    bool on = came || now->bytes > was->bytes;

    if (!came)
        now->bytes = WR_MAX(now->bytes, was->bytes);
    else if (now->missing < was->missing)
        now->bytes = 0;
    c->drain = *now;
    return on;
}

/* With the lock held: how long nothing was drained, as of `now_ns`; looks when
 * the last look was too long ago for that. Who holds the far tier does not matter
 * for it: a drainer may stand still, fail, or be another one's. */
static uint64_t undrained(weir_ckpt *c, uint64_t now_ns, uint64_t look_ns)
{
    struct wr_drain_seen seen = {0};
    bool first = !c->looked_ns || age(now_ns, c->looked_ns) > STALE_NS;
    int r;

    if (first || age(now_ns, c->looked_ns) >= look_ns) {
        pthread_mutex_unlock(&c->lock);
        r = wr_watch_ask(c, look_at_drain, &seen, sizeof(seen),
                         WR_WATCH_BRIEFLY, NULL);
        pthread_mutex_lock(&c->lock);
        c->looked_ns = now_ns;
        if ((r == 0 && take_seen(c, &seen)) || first)
            c->undrained_ns = now_ns;
    }
    return age(now_ns, c->undrained_ns);
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

/* Why nothing is drained, as far as it is known. */
static int say_undrained(const weir_ckpt *c, const struct wr_drain_seen *d,
                         uint64_t ns, weir_err *err)
{
    const char *who = d->who[0] ? d->who : "a process that does not say who";

    if (d->by == WR_DRAIN_NONE)
        return wr_fail(err, WEIR_ESTATE,
                       "no process drains '%s' to '%s' (weir ckpt drain "
                       "--watch)",
                       c->near->shown, c->far->shown);
    if (d->by == WR_DRAIN_OTHER)
        return wr_fail(err, WEIR_ESTATE,
                       "no process drains '%s': '%s' is held by %s (weir ckpt "
                       "drain --watch --take-over)",
                       c->near->shown, c->far->shown, who);
    return wr_fail(
        err, WEIR_ESTATE,
        "nothing was drained from '%s' for %.1f seconds: '%s' is held "
        "by %s, which fails or stands still; look at what it says, or "
        "replace it (weir ckpt drain --watch --take-over)",
        c->near->shown, (double)ns / (double)WR_NS_PER_SEC, c->far->shown, who);
}

int wr_ckpt_check_drained(weir_ckpt *c, weir_err *err)
{
    uint64_t now_ns = wr_clock_ns(), most_ns = wr_ckpt_drain_timeout_ns(c), ns;
    struct wr_drain_seen seen;
    int r = wr_ckpt_check_answers(c, err);

    if (r < 0 || !c->far || c->cfg.drain || c->cfg.role != WEIR_CKPT_SAVE)
        return r;
    pthread_mutex_lock(&c->lock);
    ns = undrained(c, now_ns, LOOK_NS);
    if (ns >= most_ns)
        ns = undrained(c, now_ns, /* look_ns= */ 0);
    seen = c->drain;
    pthread_mutex_unlock(&c->lock);
    return ns < most_ns ? 0 : say_undrained(c, &seen, ns, err);
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

/* Which save, and whether its copy on the far tier is as good as it will get. */
struct safe {
    uint64_t step, is;
    char id[WR_WATCH_ID]; /* the far tier may have an older save; "": any */
};

/* A wr_watch_fn. */
static int look_safe(weir_ckpt *c, void *what, weir_err *err)
{
    struct safe *s = what;
    struct wr_manifest m;
    int r = wr_tier_manifest(c->far, s->step, &m, err);

    if (r < 0)
        return r;
    s->is = (!s->id[0] || strcmp(m.id, s->id) == 0) &&
            (!c->cfg.verify || wr_tier_is_verified(c->far, &m));
    wr_manifest_done(&m);
    /* Who brings it may not have synced it yet, and marks only what it has. */
    return s->is && !c->cfg.verify ? wr_tier_sync_root(c->far, err) : 0;
}

static bool is_safe(weir_ckpt *c, uint64_t step)
{
    struct safe s = {.step = step};
    struct wr_copy near;

    if (wr_tier_marked(c->near, WR_MARK_PIN, step, NULL, 0) ||
        wr_step_look(c->near, step, &near, NULL) < 0 ||
        near.is == WEIR_COPY_NONE)
        return false;
    if (near.is > WEIR_COPY_DAMAGED)
        memcpy(s.id, near.gist.id, sizeof(near.gist.id));
    return wr_watch_ask(c, look_safe, &s, sizeof(s), WR_WATCH_BRIEFLY, NULL) ==
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
    for (size_t i = 0; i < count && !made; i++) {
        made = is_safe(c, steps[i]) &&
               wr_tier_retire(c->near, steps[i], NULL) == 0;
        if (made)
            wr_stock_touch(c, steps[i]);
    }
    free(steps);
    return made;
}

/* --- steps that never get to the slow tier, so that newer ones are saved --- */

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
        o->found = steps[i] >= o->from && ckpt_will_drain(c, steps[i], &bytes);
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
