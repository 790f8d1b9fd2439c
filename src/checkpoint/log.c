/* log.c - what went wrong in the background: which save, at which level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/thread.h"
#include "checkpoint/store.h"

/* --- how far each save got, what went wrong meanwhile, statistics --- */

/* Who noticed it first says how. */
void wr_ckpt_set_fenced(weir_ckpt *c, const weir_err *e)
{
    if (c->fenced.code == 0)
        c->fenced = *e;
    pthread_cond_broadcast(&c->changed); /* for who waits for a level */
}

int wr_ckpt_fenced(weir_ckpt *c, weir_err *err)
{
    int r;

    pthread_mutex_lock(&c->lock);
    r = wr_fail_as(err, c->fenced.code, &c->fenced);
    pthread_mutex_unlock(&c->lock);
    return r;
}

/* With the lock held. */
static uint64_t add(weir_ckpt *c, const struct wr_log_entry *e)
{
    uint64_t saves = c->stats.saves;

    if (e->err.code == WEIR_EFENCED)
        wr_ckpt_set_fenced(c, &e->err);
    return wr_log_add(&c->log, e,
                      saves > WR_TIMES_KEPT ? saves - WR_TIMES_KEPT + 1 : 1);
}

bool wr_ckpt_trouble(weir_ckpt *c, enum wr_log_kind kind, uint64_t step,
                     const weir_err *e, bool tell)
{
    struct wr_log_entry n = {
        .kind = kind, .level = WEIR_LEVEL_SLOW, .step = step, .err = *e};

    pthread_mutex_lock(&c->lock);
    n.due = tell && !wr_log_due(&c->log);
    add(c, &n);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return n.due;
}

void wr_ckpt_end_save(weir_ckpt *c, uint64_t seq, enum weir_level level,
                      const weir_err *e, bool tell)
{
    add(c, &(struct wr_log_entry){.kind = WR_LOG_END,
                                  .level = level,
                                  .seq = seq,
                                  .step = WR_STEP_NONE,
                                  .due = tell,
                                  .err = *e});
}

int wr_ckpt_take_trouble(weir_ckpt *c, bool *ret_ends, weir_err *err)
{
    struct wr_log_entry *e;
    int r = 0;

    pthread_mutex_lock(&c->lock);
    e = c->cfg.rank == 0 ? wr_log_due(&c->log) : NULL;
    if (e) {
        e->due = false;
        if (ret_ends)
            *ret_ends = e->err.code == WEIR_EFENCED ||
                        (e->kind == WR_LOG_END && e->level <= WEIR_LEVEL_FAST);
        r = wr_fail_as(err, e->err.code, &e->err);
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

int weir_ckpt_problem(weir_ckpt *c, weir_err *err)
{
    int r = wr_ckpt_check(c, err);

    return r < 0 ? r : wr_ckpt_take_trouble(c, NULL, err);
}

struct wr_ckpt_time *wr_ckpt_time_new(weir_ckpt *c, uint64_t step,
                                      uint64_t begun_ns)
{
    uint64_t seq = ++c->stats.saves;
    struct wr_ckpt_time *t = &c->times[(seq - 1) % WR_TIMES_KEPT];

    memset(t, 0, sizeof(*t));
    t->t.step = step;
    t->begun_ns = begun_ns;
    t->seq = seq;
    return t;
}

struct wr_ckpt_time *wr_ckpt_time_at(weir_ckpt *c, uint64_t seq)
{
    struct wr_ckpt_time *t = &c->times[(seq - 1) % WR_TIMES_KEPT];

    return seq > 0 && t->seq == seq ? t : NULL;
}

struct wr_ckpt_time *wr_ckpt_time_find(weir_ckpt *c, uint64_t step)
{
    struct wr_ckpt_time *found = NULL;

    for (size_t i = 0; i < WR_TIMES_KEPT; i++) {
        struct wr_ckpt_time *t = &c->times[i];

        if (t->seq > 0 && t->t.step == step && (!found || t->seq > found->seq))
            found = t;
    }
    return found;
}

void wr_ckpt_time_note(struct wr_ckpt_time *t, enum weir_level level)
{
    uint64_t *const when[] = {
        [WEIR_LEVEL_SNAPSHOT] = &t->t.snapshot_ns,
        [WEIR_LEVEL_FAST] = &t->t.fast_ns,
        [WEIR_LEVEL_SLOW] = &t->t.slow_ns,
        [WEIR_LEVEL_VERIFIED] = &t->t.verified_ns,
    };

    if (*when[level] == 0)
        *when[level] = wr_clock_ns() - t->begun_ns;
    if (t->level < level)
        t->level = level;
}

void wr_ckpt_reached(weir_ckpt *c, uint64_t seq, enum weir_level level)
{
    struct wr_ckpt_time *t;

    pthread_mutex_lock(&c->lock);
    t = wr_ckpt_time_at(c, seq);
    if (t)
        wr_ckpt_time_note(t, level);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* With the lock held. */
static uint64_t seq_of(const weir_ckpt *c, uint64_t step, const char *id)
{
    uint64_t seq = 0;

    for (size_t i = 0; i < WR_TIMES_KEPT; i++) {
        const struct wr_ckpt_time *t = &c->times[i];

        if (t->seq > 0 && t->t.step == step && !strcmp(t->id, id))
            seq = t->seq;
    }
    return seq;
}

uint64_t wr_ckpt_seq_of(weir_ckpt *c, uint64_t step, const char *id)
{
    uint64_t seq;

    pthread_mutex_lock(&c->lock);
    seq = seq_of(c, step, id);
    pthread_mutex_unlock(&c->lock);
    return seq;
}

uint64_t wr_ckpt_lost(weir_ckpt *c, struct wr_log_entry *e)
{
    const struct wr_ckpt_time *t;
    uint64_t number = 0;

    pthread_mutex_lock(&c->lock);
    t = e->id[0] ? wr_ckpt_time_at(c, seq_of(c, e->step, e->id))
                 : wr_ckpt_time_find(c, e->step);
    e->kind = WR_LOG_END;
    e->level = WEIR_LEVEL_SLOW;
    e->seq = t ? t->seq : 0;
    if ((e->id[0] || !t || t->level >= WEIR_LEVEL_FAST) &&
        !wr_log_given_up(&c->log, e->step, e->id))
        number = add(c, e);
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return number;
}

void wr_ckpt_sleep(weir_ckpt *c, uint64_t until_ns)
{
    wr_cond_wait_until(&c->changed, &c->lock, until_ns);
}

int weir_ckpt_times_sized(const weir_ckpt *c, uint64_t step,
                          weir_ckpt_times *ret, size_t size)
{
    weir_ckpt *w = (weir_ckpt *)(uintptr_t)c; /* only its lock changes */
    const struct wr_ckpt_time *t;
    int r = ret ? wr_ckpt_check(c, NULL) : WEIR_EINVAL;

    if (r < 0)
        return r;
    pthread_mutex_lock(&w->lock);
    t = step == WEIR_LATEST ? wr_ckpt_time_at(w, w->stats.saves)
                            : wr_ckpt_time_find(w, step);
    if (t)
        wr_sized_give(ret, size, &t->t, sizeof(t->t));
    pthread_mutex_unlock(&w->lock);
    return t ? 0 : WEIR_ENOENT;
}

void weir_ckpt_stats_sized(const weir_ckpt *c, weir_ckpt_stats *ret,
                           size_t size)
{
    weir_ckpt *w = (weir_ckpt *)(uintptr_t)c; /* only its lock changes */
    weir_ckpt_stats own = {0};

    if (!ret)
        return;
    if (wr_ckpt_check(c, NULL) < 0) { /* nothing was done by this process */
        wr_sized_give(ret, size, &own, sizeof(own));
        return;
    }
    pthread_mutex_lock(&w->lock);
    own = w->stats;
    pthread_mutex_unlock(&w->lock);
    if (c->drainer)
        own.behind = wr_drainer_backlog(c->drainer).steps;
    wr_sized_give(ret, size, &own, sizeof(own));
}

/* --- what went wrong in the background: which save, at which level --- */

#define FIRST  64
#define UNTOLD 128 /* entries that were not told are kept up to here */

bool wr_log_init(struct wr_log *l)
{
    return wr_grow(&l->all, &l->cap, FIRST, sizeof(*l->all));
}

void wr_log_done(struct wr_log *l)
{
    free(l->all);
}

/* Whether somebody may ask for it. */
static bool is_wanted(const struct wr_log *l, const struct wr_log_entry *e,
                      uint64_t oldest, size_t attempts)
{
    if (e->due && l->count < UNTOLD)
        return true;
    switch (e->kind) {
    case WR_LOG_NOTE:
        return false;
    case WR_LOG_ATTEMPT:
        return attempts <= WR_LOG_ATTEMPTS;
    case WR_LOG_END:
        break;
    }
    return e->step != WR_STEP_NONE || (e->seq && e->seq >= oldest);
}

static void prune(struct wr_log *l, uint64_t oldest)
{
    size_t attempts = 1, kept = 0; /* with the one that comes */

    for (size_t i = 0; i < l->count; i++)
        attempts += l->all[i].kind == WR_LOG_ATTEMPT;
    for (size_t i = 0; i < l->count; i++) {
        bool wanted = is_wanted(l, &l->all[i], oldest, attempts);

        attempts -= l->all[i].kind == WR_LOG_ATTEMPT;
        if (wanted && kept++ < i)
            l->all[kept - 1] = l->all[i];
    }
    l->count = kept;
}

uint64_t wr_log_add(struct wr_log *l, const struct wr_log_entry *e,
                    uint64_t oldest)
{
    prune(l, oldest);
    if (!wr_grow(&l->all, &l->cap, l->count + 1, sizeof(*l->all))) {
        if (!l->count)
            return ++l->last;
        memmove(l->all, l->all + 1, --l->count * sizeof(*l->all));
    }
    l->all[l->count] = *e;
    l->all[l->count].number = ++l->last;
    l->count++;
    return l->last;
}

struct wr_log_entry *wr_log_due(struct wr_log *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i].due)
            return &l->all[i];
    return NULL;
}

void wr_log_told(struct wr_log *l, uint64_t number)
{
    for (size_t i = 0; i < l->count; i++)
        l->all[i].due &= l->all[i].number != number;
}

struct wr_log_entry *wr_log_end(struct wr_log *l, uint64_t seq)
{
    for (size_t i = l->count; seq && i-- > 0;)
        if (l->all[i].kind == WR_LOG_END && l->all[i].seq == seq)
            return &l->all[i];
    return NULL;
}

struct wr_log_entry *wr_log_given_up(struct wr_log *l, uint64_t step,
                                     const char *id)
{
    for (size_t i = 0; i < l->count; i++) {
        struct wr_log_entry *e = &l->all[i];

        if (e->kind == WR_LOG_END && e->step == step &&
            (!id || !strcmp(e->id, id)))
            return e;
    }
    return NULL;
}

const struct wr_log_entry *wr_log_attempt(const struct wr_log *l, uint64_t step,
                                          uint64_t since)
{
    for (size_t i = l->count; i-- > 0 && l->all[i].number > since;) {
        const struct wr_log_entry *e = &l->all[i];

        if (e->kind == WR_LOG_ATTEMPT &&
            (step == WEIR_LATEST || e->step == WEIR_LATEST || e->step == step))
            return e;
    }
    return NULL;
}
