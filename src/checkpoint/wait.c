/* wait.c - waiting until a step is as safe as asked for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What this process does itself is told by weir_ckpt.changed. What others do (a
 * draining process, rank 0, an earlier run) is seen by looking at the tiers now
 * and then. */
#include "checkpoint/saver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/watch.h"

#define LOOK_FIRST_NS (20 * WR_NS_PER_MS)
#define LOOK_LAST_NS  (200 * WR_NS_PER_MS)
#define LOOK_GONE_NS  WR_NS_PER_SEC /* whether a step was taken away */

static int timed_out(const weir_ckpt *c, uint64_t step, enum weir_level level,
                     weir_err *err)
{
    static const char *const names[] = {
        [WEIR_LEVEL_SNAPSHOT] = "copied",
        [WEIR_LEVEL_FAST] = "on the fast tier",
        [WEIR_LEVEL_SLOW] = "on the slow tier",
        [WEIR_LEVEL_VERIFIED] = "verified",
    };
    bool only = !c->far &&
                (level == WEIR_LEVEL_FAST || level == WEIR_LEVEL_SLOW);

    return wr_fail(err, WEIR_ETIMEDOUT, "step %" PRIu64 " is not %s yet", step,
                   only ? "saved" : names[level]);
}

/* --- by looking at the tiers --- */

struct looking {
    uint64_t step;
    enum weir_level level;
    bool own;                /* the step is of a save of this run */
    char id[WR_MANIFEST_ID]; /* of its manifest; "": not known */
};

/* Whether this process hears of the levels above FAST by itself. */
static bool hears(const weir_ckpt *c)
{
    return c->cfg.rank == 0 && (!c->far || c->drainer);
}

/* The only copy is damaged; that is told here. */
static int tell_lost(weir_ckpt *c, uint64_t step, const struct wr_copy *copy,
                     weir_err *err)
{
    struct wr_log_entry *e;

    wr_ckpt_note_lost(c, step, copy);
    pthread_mutex_lock(&c->lock);
    e = wr_log_given_up(&c->log, step, copy->gist.id);
    if (e)
        e->due = false;
    pthread_mutex_unlock(&c->lock);
    wr_fail_as(err, copy->why.code, &copy->why);
    return wr_step_say_damaged(c->near, step, copy->why.code, err);
}

/* What the last tier says of a save. */
struct sight {
    uint64_t step, level, verified;
    char id[WR_WATCH_ID]; /* "": of any */
};

/* A wr_watch_fn. It may have an older save of that step. */
static int look_last(weir_ckpt *c, void *what, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(c);
    struct sight *s = what;
    struct wr_manifest m;
    bool other;
    int r = wr_tier_manifest(last, s->step, &m, err);

    if (r < 0)
        return r;
    other = s->id[0] && strcmp(m.id, s->id) != 0;
    s->verified = wr_tier_is_verified(last, &m);
    wr_manifest_done(&m);
    if (other)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': has another save of step %" PRIu64, last->shown,
                       s->step);
    /* Who brings it may not have synced it yet, and marks only what it has. */
    return c->far && s->level < WEIR_LEVEL_VERIFIED
               ? wr_tier_sync_root(last, err)
               : 0;
}

/* 1: reached, 0: not yet, else why it never will. The near tier first: a step
 * leaves it only after it came to the far one. */
static int look(weir_ckpt *c, const struct looking *w, weir_err *err)
{
    enum weir_level level = w->level;
    uint64_t step = w->step;
    struct wr_copy copy = {0};
    struct sight s = {.step = step, .level = level};
    bool near, done;
    weir_err e;
    int r;

    if (c->far)
        wr_step_look(c->near, step, &copy, NULL);
    near = copy.is > WEIR_COPY_DAMAGED &&
           (!w->id[0] || !strcmp(w->id, copy.gist.id));
    if (near && level <= WEIR_LEVEL_FAST)
        return 1;
    memcpy(s.id, w->id[0] ? w->id : copy.gist.id, sizeof(w->id));
    r = wr_watch_ask(c, look_last, &s, sizeof(s), WR_WATCH_BRIEFLY, &e);
    if ((r == WEIR_ENOENT && near) || (r == WEIR_ETIMEDOUT && c->watch))
        return 0;
    if (r == WEIR_ENOENT && copy.is == WEIR_COPY_DAMAGED)
        return tell_lost(c, step, &copy, err);
    if (r < 0)
        return wr_fail_as(err, r, &e);
    done = level < WEIR_LEVEL_VERIFIED || s.verified;
    if (!done && c->far && !near)
        return wr_fail(err, WEIR_ESTATE,
                       "step %" PRIu64 " has left the fast tier and was not "
                       "verified",
                       step);
    return done;
}

/* The only tier, and no one else writes there: what an earlier run did not
 * verify is read back by this one. */
static void want_verified(weir_ckpt *c, uint64_t step, enum weir_level level)
{
    if (!c->saver || c->far || c->cfg.rank > 0 || !c->cfg.verify ||
        level < WEIR_LEVEL_VERIFIED)
        return;
    pthread_mutex_lock(&c->lock);
    wr_saver_want_verified(c->saver, step);
    pthread_mutex_unlock(&c->lock);
}

/* An attempt to drain the step that failed while the caller waited for it: the
 * trouble is told once, and more attempts follow, but nobody waits for them for
 * ever. With the lock held. */
static int drain_failed(weir_ckpt *c, uint64_t step, enum weir_level level,
                        uint64_t *seen, weir_err *err)
{
    uint64_t number;
    int r = 0;

    if (c->drainer && level > WEIR_LEVEL_FAST)
        r = wr_drainer_failed(c->drainer, step, seen, &number, err);
    if (r < 0)
        wr_log_told(&c->log, number);
    return r;
}

/* What may be heard while looking: that nobody will bring the step further.
 * `own` is the step of a save of this run; what goes wrong elsewhere is left to
 * the next call then, because the save goes on. */
static int hear(weir_ckpt *c, const struct looking *w, uint64_t *seen,
                weir_err *err)
{
    int r = 0;

    r = wr_ckpt_fenced(c, err);
    if (r == 0 && !w->own)
        r = wr_ckpt_take_trouble(c, NULL, err);
    if (r == 0 && !w->own && c->drainer && w->level > WEIR_LEVEL_FAST)
        r = wr_drainer_gave_up(c->drainer, w->step, err);
    /* What rank 0 does is seen, but not that it is gone. */
    if (r == 0 && c->cfg.rank > 0 && c->saver)
        r = wr_comm_alive(c->comm, err);
    if (r == 0 && w->level > WEIR_LEVEL_FAST)
        r = wr_ckpt_check_drained(c, err);
    if (r < 0)
        return r;
    pthread_mutex_lock(&c->lock);
    r = drain_failed(c, w->step, w->level, seen, err);
    pthread_mutex_unlock(&c->lock);
    return r;
}

static int wait_looking(weir_ckpt *c, const struct looking *w,
                        uint64_t deadline_ns, weir_err *err)
{
    uint64_t pause_ns = LOOK_FIRST_NS, seen = UINT64_MAX, step = w->step;
    enum weir_level level = w->level;
    bool wanted = false;

    for (;;) {
        uint64_t now_ns;
        int r = look(c, w, err);

        if (r != 0)
            return WR_MIN(r, 0);
        if (level == WEIR_LEVEL_VERIFIED && !c->cfg.verify && hears(c))
            return wr_fail(err, WEIR_ESTATE,
                           "step %" PRIu64 ": nothing is verified without "
                           "'verify'",
                           step);
        if (!wanted)
            want_verified(c, step, level);
        wanted = true;
        now_ns = wr_clock_ns();
        if (now_ns >= deadline_ns)
            return timed_out(c, step, level, err);
        r = hear(c, w, &seen, err);
        if (r < 0)
            return r;
        pthread_mutex_lock(&c->lock);
        wr_ckpt_sleep(c, WR_MIN(deadline_ns, now_ns + pause_ns));
        pthread_mutex_unlock(&c->lock);
        pause_ns = WR_MIN(2 * pause_ns, LOOK_LAST_NS);
    }
}

/* --- by what this process knows --- */

/* Why a save got no further; the error is then delivered. */
static int deliver(struct wr_log_entry *e, weir_err *err)
{
    e->due = false;
    return wr_fail_as(err, e->err.code, &e->err);
}

/* Whether the near tier has this save; when in doubt it has. */
static bool is_near(weir_ckpt *c, uint64_t step, const char *id)
{
    struct wr_copy copy;

    return wr_step_glance(c->near, step, &copy, NULL) < 0 ||
           copy.is == WEIR_COPY_DAMAGED ||
           (copy.is != WEIR_COPY_NONE && (!id[0] || !strcmp(id, copy.gist.id)));
}

/* Sleeps; whether the save has left the near tier, of which nothing may be
 * heard. With the lock held, which is given up meanwhile. */
static bool sleep_or_gone(weir_ckpt *c, const struct wr_ckpt_time *t,
                          uint64_t deadline_ns)
{
    uint64_t step = t->t.step, look_ns = wr_clock_ns() + LOOK_GONE_NS;
    char id[WR_MANIFEST_ID];
    bool gone;

    if (t->level < WEIR_LEVEL_FAST) {
        wr_ckpt_sleep(c, deadline_ns);
        return false;
    }
    wr_ckpt_sleep(c, WR_MIN(deadline_ns, look_ns));
    if (wr_clock_ns() < look_ns)
        return false;
    memcpy(id, t->id, sizeof(id));
    pthread_mutex_unlock(&c->lock);
    gone = !is_near(c, step, id);
    pthread_mutex_lock(&c->lock);
    return gone;
}

/* With the lock held. 1: to be found out by looking. Trouble that is none of
 * this save is left to the next call: the save goes on. */
static int wait_here(weir_ckpt *c, uint64_t seq, enum weir_level level,
                     uint64_t deadline_ns, weir_err *err)
{
    uint64_t seen = UINT64_MAX;
    bool gone = false;

    for (;;) {
        const struct wr_ckpt_time *t = wr_ckpt_time_at(c, seq);
        struct wr_log_entry *end = wr_log_end(&c->log, seq);
        int r = 0;

        if (!t)
            return 1;
        if (t->level >= level)
            return 0;
        if (end)
            return deliver(end, err);
        if (c->fenced.code && t->level >= WEIR_LEVEL_FAST)
            return wr_fail_as(err, c->fenced.code, &c->fenced);
        if (t->level >= WEIR_LEVEL_FAST &&
            (gone || !hears(c) ||
             (level == WEIR_LEVEL_VERIFIED && !c->cfg.verify)))
            return 1;
        if (t->level >= WEIR_LEVEL_FAST)
            r = drain_failed(c, t->t.step, level, &seen, err);
        if (r == 0 && t->level >= WEIR_LEVEL_FAST)
            r = wr_ckpt_check_answers(c, err);
        if (r < 0)
            return r;
        if (wr_clock_ns() >= deadline_ns)
            return timed_out(c, t->t.step, level, err);
        gone = sleep_or_gone(c, t, deadline_ns);
    }
}

int wr_ckpt_wait_seq(weir_ckpt *c, uint64_t seq, enum weir_level level,
                     uint64_t deadline_ns, weir_err *err)
{
    struct looking w = {.level = level, .own = true};
    const struct wr_ckpt_time *t;
    int r;

    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    w.step = t ? t->t.step : 0;
    r = t ? wait_here(c, seq, level, deadline_ns, err) : 0;
    t = wr_ckpt_time_at(c, seq);
    if (t)
        memcpy(w.id, t->id, sizeof(w.id));
    pthread_mutex_unlock(&c->lock);
    return r == 1 ? wait_looking(c, &w, deadline_ns, err) : r;
}

/* --- the call --- */

int wr_newest_add(struct wr_newest *n, struct wr_tier *t, weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r < 0)
        return r;
    if (count)
        n->step = WR_MAX(n->step, steps[count - 1]);
    n->any |= count > 0;
    free(steps);
    return 0;
}

/* A wr_watch_fn. */
static int look_newest(weir_ckpt *c, void *what, weir_err *err)
{
    return wr_newest_add(what, c->far, err);
}

/* The newest step of an earlier run, where there is one. */
static int wait_newest(weir_ckpt *c, enum weir_level level,
                       uint64_t deadline_ns, weir_err *err)
{
    struct looking w = {.level = level};
    uint64_t left_ns = deadline_ns - WR_MIN(wr_clock_ns(), deadline_ns);
    struct wr_newest n = {0};
    int r = wr_newest_add(&n, c->near, err);

    if (r == 0 && c->far)
        r = wr_watch_ask(c, look_newest, &n, sizeof(n),
                         WR_MIN(WR_MAX(left_ns, WR_WATCH_BRIEFLY),
                                wr_ckpt_drain_timeout_ns(c)),
                         err);
    w.step = n.step;
    return r < 0 || !n.any ? r : wait_looking(c, &w, deadline_ns, err);
}

/* It gets no further, and its caller knows. */
static bool is_over(weir_ckpt *c, uint64_t seq)
{
    const struct wr_log_entry *end;
    bool over;

    pthread_mutex_lock(&c->lock);
    end = wr_log_end(&c->log, seq);
    over = !wr_ckpt_time_at(c, seq) || (end && !end->due);
    pthread_mutex_unlock(&c->lock);
    return over;
}

/* It was on the near tier: that it is not there means that it was taken away. */
static bool was_there(weir_ckpt *c, uint64_t seq)
{
    const struct wr_ckpt_time *t;
    bool was;

    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    was = !t || t->level >= WEIR_LEVEL_FAST;
    pthread_mutex_unlock(&c->lock);
    return was;
}

/* All saves of this run, but those that were taken away meanwhile. */
static int wait_all(weir_ckpt *c, enum weir_level level, uint64_t deadline_ns,
                    weir_err *err)
{
    uint64_t last, seq;
    int r;

    pthread_mutex_lock(&c->lock);
    last = c->stats.saves;
    pthread_mutex_unlock(&c->lock);
    if (last == 0)
        return wait_newest(c, level, deadline_ns, err);
    seq = last > WR_TIMES_KEPT ? last - WR_TIMES_KEPT + 1 : 1;
    for (; seq <= last; seq++) {
        if (is_over(c, seq))
            continue;
        r = wr_ckpt_wait_seq(c, seq, level, deadline_ns, err);
        if (r < 0 && !(r == WEIR_ENOENT && was_there(c, seq)))
            return r;
    }
    return 0;
}

int weir_ckpt_wait(weir_ckpt *c, uint64_t step, enum weir_level level,
                   int64_t timeout_ms, weir_err *err)
{
    uint64_t begun_ns = wr_clock_ns(), deadline_ns = UINT64_MAX, seq = 0;
    const struct looking w = {.step = step, .level = level};
    const struct wr_ckpt_time *t;
    int r = wr_ckpt_check(c, err);

    if (r == 0) /* first: nothing that was saved since counts */
        r = wr_ckpt_fenced(c, err);
    if (r == 0)
        r = wr_ckpt_take_trouble(c, NULL, err);
    if (r < 0)
        return r;
    if (level < WEIR_LEVEL_SNAPSHOT || level > WEIR_LEVEL_VERIFIED)
        return wr_fail(err, WEIR_EINVAL, "level: there is no level %d",
                       (int)level);
    if (timeout_ms >= 0 && (uint64_t)timeout_ms < UINT64_MAX / WR_NS_PER_MS / 2)
        deadline_ns = begun_ns + (uint64_t)timeout_ms * WR_NS_PER_MS;
    if (step == WEIR_LATEST) {
        r = wait_all(c, level, deadline_ns, err);
    } else {
        pthread_mutex_lock(&c->lock);
        t = wr_ckpt_time_find(c, step);
        seq = t ? t->seq : 0;
        pthread_mutex_unlock(&c->lock);
        r = seq ? wr_ckpt_wait_seq(c, seq, level, deadline_ns, err)
                : wait_looking(c, &w, deadline_ns, err);
    }
    pthread_mutex_lock(&c->lock);
    c->stats.stall_ns += wr_clock_ns() - begun_ns;
    pthread_mutex_unlock(&c->lock);
    return r;
}
