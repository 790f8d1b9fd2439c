/* drain_pass.c - works off what waits for the slow tier.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/lineage.h"
#include "tier/step.h"

#define SAY_NS WR_NS_PER_SEC

enum work { WORK_NONE, WORK_COPY, WORK_COPY_ANEW, WORK_VERIFY };

struct wr_drain_job {
    uint64_t step, bytes;
    char id[WR_MANIFEST_ID]; /* of the copy on the near tier */
    enum work work;
    bool failed; /* in this pass */
};

/* --- what failed --- */

static void count_failed(struct wr_drainer *d)
{
    pthread_mutex_lock(&d->c->lock);
    d->c->stats.failed++;
    pthread_mutex_unlock(&d->c->lock);
}

/* An attempt failed that will be repeated; `step` as the log has it. Its kind is
 * told once: a trainer that goes on saving must not be stopped by every
 * attempt. */
static void note_failure(struct wr_drainer *d, uint64_t step, const weir_err *e)
{
    count_failed(d);
    if (wr_ckpt_trouble(d->c, WR_LOG_ATTEMPT, step, e,
                        d->threaded && d->told != e->code))
        d->told = e->code;
    pthread_mutex_lock(&d->lock);
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static bool is_given_up(struct wr_drainer *d, uint64_t step, const char *id)
{
    bool is;

    pthread_mutex_lock(&d->c->lock);
    is = wr_log_given_up(&d->c->log, step, id);
    pthread_mutex_unlock(&d->c->lock);
    return is;
}

/* What looks whole is marked as what it is, or the next pass tries again. */
static bool mark_damaged(const struct wr_drainer *d, uint64_t step,
                         const char *id, int code, const char *why)
{
    return id[0] && wr_step_is_damage(code) &&
           wr_tier_mark_damaged(d->c->near, step, id, why, NULL) == 0;
}

/* The step never gets to the far tier, because of `e` (of damage: without the
 * step's name): who waits for it is told, and *err is what they are told. */
static void give_up(struct wr_drainer *d, uint64_t step, const char *id,
                    const weir_err *e, weir_err *err)
{
    struct wr_log_entry n = {
        .step = step,
        .marked = mark_damaged(d, step, id, e->code, e->msg),
        .due = d->threaded,
        .err = *e,
    };

    snprintf(n.id, sizeof(n.id), "%s", id);
    if (wr_step_is_damage(e->code))
        wr_step_say_damaged(d->c->near, step, e->code, &n.err);
    n.reason = strlen(n.err.msg) - WR_MIN(strlen(n.err.msg), strlen(e->msg));
    if (err)
        *err = n.err;
    if (wr_ckpt_lost(d->c, &n)) /* else the next pass finds what is there */
        count_failed(d);
}

/* --- what there is to do --- */

static void keep_first(int *first, int r, const weir_err *e, weir_err *err)
{
    if (r == 0 || *first < 0)
        return;
    *first = wr_fail_as(err, r, e);
}

static int put_job(struct wr_drainer *d, const struct wr_drain_job *j,
                   weir_err *err)
{
    if (!wr_grow(&d->jobs, &d->cap, d->count + 1, sizeof(*d->jobs)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    d->jobs[d->count++] = *j;
    return 0;
}

/* A copy of the near tier is damaged: whether what the far one has is of an older
 * save, as far as that is known. */
static bool is_older_save(struct wr_drainer *d, const struct wr_copy *far,
                          const struct wr_copy *near)
{
    const struct wr_ckpt_time *t;
    bool older = false;

    if (near->gist.id[0])
        return strcmp(near->gist.id, far->gist.id) != 0 &&
               wr_copy_compare(near, far) > 0;
    pthread_mutex_lock(&d->c->lock);
    t = wr_ckpt_time_find(d->c, far->gist.turn.step);
    if (t && t->level >= WEIR_LEVEL_FAST && t->id[0])
        older = strcmp(t->id, far->gist.id) != 0;
    pthread_mutex_unlock(&d->c->lock);
    return older;
}

/* The near copy is damaged and there is no other. */
static int lost_copy(struct wr_drainer *d, uint64_t step,
                     const struct wr_copy *near, weir_err *err)
{
    if (is_given_up(d, step, near->gist.id))
        return 0;
    give_up(d, step, near->gist.id, &near->why, err);
    return near->why.code;
}

/* A copy that looks whole: whether it was given up, and still is. One whose mark
 * was taken away is tried again. */
static bool stays_given_up(struct wr_drainer *d, uint64_t step, const char *id)
{
    struct wr_log_entry *e, was = {0};

    pthread_mutex_lock(&d->c->lock);
    e = wr_log_given_up(&d->c->log, step, id);
    if (e)
        was = *e;
    if (e && e->marked)
        e->step = WR_STEP_NONE;
    pthread_mutex_unlock(&d->c->lock);
    if (!e || was.marked)
        return false;
    was.marked = mark_damaged(d, step, id, was.err.code,
                              was.err.msg + was.reason);
    pthread_mutex_lock(&d->c->lock);
    e = wr_log_given_up(&d->c->log, step, id);
    if (e)
        e->marked = was.marked;
    pthread_mutex_unlock(&d->c->lock);
    return true;
}

/* Another machine has saved since this fast tier was written: its steps would
 * stand above the newer ones, or take their numbers. */
static int refuse_stale(struct wr_drainer *d, uint64_t step,
                        const struct wr_copy *near, weir_err *err)
{
    const weir_ckpt *c = d->c;
    weir_err e;

    if (is_given_up(d, step, near->gist.id))
        return 0;
    wr_fail(
        &e, WEIR_ESTALE,
        "step %" PRIu64 " on '%s' is not drained: '%s' has newer steps of "
        "another machine (generation above %" PRIu64 "); 'weir ckpt adopt "
        "%s %s' drains it all the same, 'weir ckpt discard %s %s' removes it",
        step, c->near->shown, c->far->shown, c->fast_generation, c->cfg.fast,
        c->cfg.slow, c->cfg.fast, c->cfg.slow);
    give_up(d, step, near->gist.id, &e, err);
    return e.code;
}

/* The level that the save which wrote this manifest has reached; `most` when it
 * is none of this run. */
static enum weir_level known_level(weir_ckpt *c, uint64_t seq,
                                   enum weir_level most)
{
    const struct wr_ckpt_time *t;
    enum weir_level level;

    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    level = t ? t->level : most;
    pthread_mutex_unlock(&c->lock);
    return level;
}

/* The same save is there. Where the attempt that brought it, or its mark, there
 * failed in the end, that end is done once more before anyone is told. */
static int work_left(struct wr_drainer *d, uint64_t step,
                     const struct wr_copy *far, enum work *ret, weir_err *err)
{
    weir_ckpt *c = d->c;
    uint64_t seq = wr_ckpt_seq_of(c, step, far->gist.id);
    enum weir_level known = known_level(c, seq, WEIR_LEVEL_VERIFIED);
    int r = known < WEIR_LEVEL_SLOW ? wr_tier_sync_root(c->far, err)
                                    : wr_tier_settle(c->far, err);

    if (r < 0)
        return r;
    if (known < WEIR_LEVEL_SLOW)
        wr_ckpt_reached(c, seq, WEIR_LEVEL_SLOW);
    *ret = c->cfg.verify &&
                   (far->is < WEIR_COPY_VERIFIED || known < WEIR_LEVEL_VERIFIED)
               ? WORK_VERIFY
               : WORK_NONE;
    return 0;
}

static int find_job(struct wr_drainer *d, uint64_t step, weir_err *err)
{
    struct wr_drain_job j = {.step = step};
    struct wr_copy near, far;
    int r;

    r = wr_step_look(d->c->near, step, &near, err);
    if (r < 0 || near.is == WEIR_COPY_NONE)
        return r;
    j.bytes = near.gist.bytes;
    memcpy(j.id, near.gist.id, sizeof(j.id));
    j.work = WORK_COPY;
    r = wr_step_look(d->c->far, step, &far, err);
    if (r < 0) {
        /* It still counts as behind: a far tier that does not answer must not
         * let saves fill the near one. */
        j.failed = true;
        put_job(d, &j, NULL);
        return r;
    }
    if (d->stale && near.is >= WEIR_COPY_COMPLETE &&
        (far.is <= WEIR_COPY_DAMAGED || strcmp(near.gist.id, far.gist.id) != 0))
        return refuse_stale(d, step, &near, err);
    if (near.is == WEIR_COPY_DAMAGED)
        return far.is > WEIR_COPY_DAMAGED && !is_older_save(d, &far, &near)
                   ? 0
                   : lost_copy(d, step, &near, err);
    if (far.is > WEIR_COPY_DAMAGED && strcmp(near.gist.id, far.gist.id) != 0 &&
        wr_copy_compare(&near, &far) < 0)
        return refuse_stale(d, step, &near, err);
    if (far.is > WEIR_COPY_DAMAGED && !strcmp(near.gist.id, far.gist.id))
        r = work_left(d, step, &far, &j.work, err);
    if (r == 0 && j.work == WORK_NONE)
        wr_drainer_settle(d, step);
    if (r < 0 || j.work == WORK_NONE || stays_given_up(d, step, near.gist.id))
        return r;
    return put_job(d, &j, err);
}

/* Forgets what was given up and is not among the steps any more. */
static void forget_gone(struct wr_drainer *d, const uint64_t *steps,
                        size_t count)
{
    struct wr_log *l = &d->c->log;

    pthread_mutex_lock(&d->c->lock);
    for (size_t i = 0; i < l->count; i++) {
        struct wr_log_entry *e = &l->all[i];
        size_t k = 0;

        while (k < count && steps[k] != e->step)
            k++;
        if (e->kind == WR_LOG_END && k == count)
            e->step = WR_STEP_NONE;
    }
    pthread_mutex_unlock(&d->c->lock);
}

static uint64_t work_bytes(const struct wr_drainer *d,
                           const struct wr_drain_job *j)
{
    return j->failed                                     ? 0
           : j->work == WORK_NONE                        ? 0
           : j->work == WORK_VERIFY || !d->c->cfg.verify ? j->bytes
                                                         : 2 * j->bytes;
}

static unsigned count_work(const struct wr_drainer *d, enum work work)
{
    unsigned n = 0;

    for (size_t i = 0; i < d->count; i++)
        n += d->jobs[i].work == work && !d->jobs[i].failed;
    return n;
}

/* With the lock held: the steps that wait, out of the jobs and of what was
 * published since they were looked for. When memory is short some are missing
 * until the next time. */
static void list_waiting(struct wr_drainer *d)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->waiting_count; i++)
        if (d->waiting[i].unseen)
            d->waiting[kept++] = d->waiting[i];
    d->waiting_count = kept;
    for (size_t i = 0; i < d->count; i++)
        if (d->jobs[i].work == WORK_COPY)
            wr_drainer_put(d, d->jobs[i].step, d->jobs[i].bytes,
                           /* unseen= */ false);
}

/* Notes what is left to be done. Failed copies are still behind. */
static void note_left(struct wr_drainer *d)
{
    uint64_t left = 0, behind;

    for (size_t i = 0; i < d->count; i++)
        left += work_bytes(d, &d->jobs[i]);
    pthread_mutex_lock(&d->lock);
    list_waiting(d);
    behind = d->waiting_count;
    d->bytes_total = d->bytes_done + left;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_mutex_lock(&d->c->lock);
    d->c->stats.behind = behind;
    pthread_cond_broadcast(&d->c->changed); /* for saves that hold back */
    pthread_mutex_unlock(&d->c->lock);
}

/* What failed in this pass stays so. */
static void keep_failed(struct wr_drainer *d, const struct wr_drain_job *old,
                        size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < d->count; i++) {
        while (at < count && old[at].step < d->jobs[i].step)
            at++;
        if (at < count && old[at].step == d->jobs[i].step)
            d->jobs[i].failed |= old[at].failed;
    }
}

/* Who was superseded drains nothing any more. */
static int look_at_lineage(struct wr_drainer *d, weir_err *err)
{
    int r = wr_lineage_check(d->c, err);

    return r < 0 ? r : wr_lineage_is_stale(d->c, &d->stale, err);
}

/* Looks at the tiers. The first error is returned at the end: one step that
 * cannot be looked at holds up no other. */
static int scan(struct wr_drainer *d, weir_err *err)
{
    struct wr_drain_job *old = d->jobs;
    size_t old_count = d->count, count;
    uint64_t *steps;
    weir_err why;
    int r, first = 0;

    /* What is published from now on is looked at the next time. */
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->waiting_count; i++)
        d->waiting[i].unseen = false;
    pthread_mutex_unlock(&d->lock);
    r = look_at_lineage(d, &why);
    if (r == 0)
        r = wr_tier_steps(d->c->near, &steps, &count, &why);
    if (r < 0) {
        note_failure(d, WEIR_LATEST, &why);
        *err = why;
        return r;
    }
    pthread_mutex_lock(&d->lock);
    wr_drainer_keep_settled(d, steps, count);
    pthread_mutex_unlock(&d->lock);
    d->jobs = NULL;
    d->count = d->cap = 0;
    forget_gone(d, steps, count);
    for (size_t i = 0; i < count; i++) {
        if (wr_drainer_is_settled(d, steps[i]))
            continue;
        r = find_job(d, steps[i], &why);
        keep_first(&first, r, &why, err);
        if (r < 0 && r != WEIR_ESTALE &&
            !wr_step_is_damage(r)) /* those were given up */
            note_failure(d, steps[i], &why);
    }
    free(steps);
    keep_failed(d, old, old_count);
    free(old);
    note_left(d);
    return first;
}

/* The next one; NULL: none. */
static struct wr_drain_job *pick(struct wr_drainer *d)
{
    enum work first = WORK_COPY;

    if (count_work(d, WORK_VERIFY) > 1 ||
        count_work(d, WORK_COPY) + count_work(d, WORK_COPY_ANEW) == 0)
        first = WORK_VERIFY;
    for (size_t i = 0; i < d->count; i++) {
        struct wr_drain_job *j = &d->jobs[i];

        if (!j->failed && j->work != WORK_NONE &&
            (j->work == WORK_VERIFY) == (first == WORK_VERIFY))
            return j;
    }
    return NULL;
}

/* --- doing it --- */

/* A trainer in another process waits as long as this goes on. A short pass needs
 * no such signs: the trainer sees its steps arrive. */
static void say_progress(struct wr_drainer *d)
{
    uint64_t now_ns = wr_clock_ns();

    if (!d->said_ns)
        d->said_ns = now_ns;
    if (now_ns < d->said_ns + SAY_NS)
        return;
    wr_ckpt_tell_work(d->c, d->done, d->at_bytes);
    d->said_ns = now_ns;
}

static int add_bytes(void *arg, uint64_t bytes)
{
    struct wr_drainer *d = arg;
    const weir_ckpt_config *cfg = &d->c->cfg;
    uint64_t done, total;
    bool end;

    d->at_bytes += bytes;
    say_progress(d);
    pthread_mutex_lock(&d->lock);
    d->bytes_done += bytes;
    done = d->bytes_done;
    total = WR_MAX(d->bytes_total, done);
    end = d->threaded && (d->stop || d->pauses > 0);
    pthread_mutex_unlock(&d->lock);
    if (!d->threaded && cfg->progress)
        end = cfg->progress(cfg->progress_arg, done, total) != 0;
    return end;
}

static void count_drained(struct wr_drainer *d, const struct wr_drain_job *j,
                          uint64_t took_ns)
{
    weir_ckpt *c = d->c;
    uint64_t seq = wr_ckpt_seq_of(c, j->step, j->id);
    struct wr_ckpt_time *t;

    pthread_mutex_lock(&c->lock);
    c->stats.drained++;
    c->stats.bytes_drained += j->bytes;
    t = wr_ckpt_time_at(c, seq);
    if (t)
        t->t.drain_ns = took_ns;
    pthread_mutex_unlock(&c->lock);
    wr_ckpt_reached(c, seq, WEIR_LEVEL_SLOW);
}

static int do_copy(struct wr_drainer *d, struct wr_drain_job *j, weir_err *err)
{
    struct wr_byte_meter meter = {add_bytes, d};
    uint64_t begun_ns = wr_clock_ns();
    weir_ckpt *c = d->c;
    int r;

    d->at_bytes = 0;
    r = j->work == WORK_COPY
            ? wr_step_copy(c->near, c->far, j->step, &meter, err)
            : wr_step_copy_anew(c->near, c->far, j->step, &meter, err);
    wr_stock_touch(c, j->step);
    if (r == 0) /* it is there, but nobody may rely on it */
        r = wr_lineage_check(c, err);
    if (r < 0)
        return r;
    d->done++;
    count_drained(d, j, wr_clock_ns() - begun_ns);
    j->work = c->cfg.verify ? WORK_VERIFY : WORK_NONE;
    return 0;
}

static int do_verify(struct wr_drainer *d, struct wr_drain_job *j,
                     weir_err *err)
{
    struct wr_byte_meter meter = {add_bytes, d};
    weir_ckpt *c = d->c;
    int r;

    d->at_bytes = 0;
    r = wr_step_verify(c->far, j->step, /* mark= */ true, &meter, err);
    wr_stock_touch(c, j->step);
    if (wr_step_is_damage(r))
        return wr_fail_prefix(err, r,
                              "step %" PRIu64 " on the %s tier is damaged",
                              j->step, c->far->label);
    if (r < 0)
        return r;
    d->done++;
    j->work = WORK_NONE;
    pthread_mutex_lock(&c->lock);
    c->stats.verified++;
    pthread_mutex_unlock(&c->lock);
    wr_ckpt_reached(c, wr_ckpt_seq_of(c, j->step, j->id), WEIR_LEVEL_VERIFIED);
    return 0;
}

/* Whether it is worth to try again at once: retention has taken something away.
 */
static bool made_room(struct wr_drainer *d)
{
    uint64_t before, after;

    pthread_mutex_lock(&d->c->lock);
    before = d->c->stats.pruned;
    pthread_mutex_unlock(&d->c->lock);
    wr_ckpt_tell_anew(d->c);
    wr_ckpt_retain(d->c, NULL); /* some may have gone all the same */
    pthread_mutex_lock(&d->c->lock);
    after = d->c->stats.pruned;
    pthread_mutex_unlock(&d->c->lock);
    return after > before;
}

static int copy_and_check(struct wr_drainer *d, struct wr_drain_job *j,
                          weir_err *err)
{
    int r = do_copy(d, j, err);

    if (r == WEIR_ENOSPC && made_room(d))
        r = do_copy(d, j, err);
    return r;
}

/* A copy that does not read back as it was written is written once more. */
static int check_and_copy(struct wr_drainer *d, struct wr_drain_job *j,
                          weir_err *err)
{
    weir_err why;
    int r = do_verify(d, j, &why);

    if (wr_step_is_damage(r)) {
        pthread_mutex_lock(&d->c->lock);
        d->c->stats.retried++;
        pthread_mutex_unlock(&d->c->lock);
        j->work = WORK_COPY_ANEW;
        r = copy_and_check(d, j, &why);
        if (r == 0)
            r = do_verify(d, j, &why);
        if (wr_step_is_damage(r) && j->work == WORK_VERIFY)
            r = why.code = WEIR_EIO; /* the far tier, not the step */
    }
    return wr_fail_as(err, r, &why);
}

/* Whether one of the drainer's flags is set that others set. */
static bool is_set(struct wr_drainer *d, const bool *flag)
{
    bool set;

    pthread_mutex_lock(&d->lock);
    set = *flag;
    pthread_mutex_unlock(&d->lock);
    return set;
}

/* The next pass tries again, and no step waits for it. Close waits for it: the
 * last step that was drained is to leave the fast tier, too. Not after that gave
 * up: the fast tier may have another writer by now. */
static int retain_if_due(struct wr_drainer *d, weir_err *err)
{
    int r = d->due && !is_set(d, &d->left) ? wr_ckpt_retain(d->c, err) : 0;

    d->due &= r < 0;
    if (r < 0 && r != WEIR_ECANCELED)
        note_failure(d, WR_STEP_NONE, err);
    return r;
}

static void set_at(struct wr_drainer *d, uint64_t step)
{
    pthread_mutex_lock(&d->lock);
    d->at = step;
    pthread_mutex_unlock(&d->lock);
}

/* One job and what follows from it. Errors that end the pass are returned:
 * canceled, fenced off. */
static int do_job(struct wr_drainer *d, struct wr_drain_job *j, weir_err *err)
{
    uint64_t step = j->step;
    weir_err e = {0};
    int r;

    set_at(d, step);
    r = j->work == WORK_VERIFY ? check_and_copy(d, j, &e)
                               : copy_and_check(d, j, &e);
    set_at(d, WR_STEP_NONE);
    if (r == 0) {
        d->due |= j->work == WORK_NONE;
        r = retain_if_due(d, err);
        d->told = r < 0 ? d->told : 0;
        return r;
    }
    j->failed = true;
    if (r == WEIR_ENOENT && !wr_tier_has(d->c->near, step)) {
        j->work = WORK_NONE; /* taken away meanwhile */
        return 0;
    }
    if (err)
        *err = e;
    if (r == WEIR_ECANCELED)
        return r;
    if (wr_step_is_damage(r) || r == WEIR_EEXIST) {
        j->work = WORK_NONE;
        give_up(d, step, j->id, &e, err);
    } else {
        wr_fail_prefix(&e, r, "draining step %" PRIu64, step);
        note_failure(d, step, &e);
        if (err)
            *err = e;
    }
    return r;
}

static bool take_wake(struct wr_drainer *d)
{
    bool woken;

    pthread_mutex_lock(&d->lock);
    woken = d->woken;
    d->woken = false;
    pthread_mutex_unlock(&d->lock);
    return woken;
}

static void forget_pass(struct wr_drainer *d)
{
    d->count = 0;
    d->said_ns = 0;
    pthread_mutex_lock(&d->lock);
    d->bytes_done = d->bytes_total = 0;
    pthread_mutex_unlock(&d->lock);
}

int wr_drain_pass(struct wr_drainer *d, weir_err *err)
{
    bool look = true;
    int first = 0;

    forget_pass(d);
    for (;;) {
        struct wr_drain_job *j;
        weir_err e;
        int r = 0;

        if (look) {
            r = scan(d, &e);
            if (r == 0)
                r = retain_if_due(d, &e);
        }
        keep_first(&first, r, &e, err);
        if (r == WEIR_EFENCED)
            break;
        j = pick(d);
        r = j ? do_job(d, j, &e) : 0;
        keep_first(&first, r, &e, err);
        if (!j || r == WEIR_ECANCELED || r == WEIR_EFENCED ||
            is_set(d, &d->stop))
            break;
        note_left(d);
        look = take_wake(d);
    }
    return first;
}
