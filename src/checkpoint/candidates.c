/* candidates.c - the copies that a restore may take, best first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/candidates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "checkpoint/lineage.h"
#include "tier/link.h"
#include "tier/step.h"

#define LOOKS         5 /* at a manifest that cannot be read */
#define LOOK_NS       (10 * WR_NS_PER_MS)
#define LACK_APART_NS (60 * WR_NS_PER_SEC)

/* Looking anew, at most; each time some step was taken away in between. */
#define RESTARTS 32
/* A copy that could not be read is tried so often. */
#define TRIES 4
/* A step that is not there is looked for once more so often: when it is replaced
 * by a newer save of its number, it is away for two renames where the file system
 * cannot swap. */
#define ABSENT_LOOKS 2

struct wr_tier *wr_ckpt_tier(const weir_ckpt *c, uint32_t tier)
{
    return tier == 0 ? c->near : tier == 1 ? c->far : NULL;
}

/* --- what there is --- */

static int falling(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int newest_first(const void *a, const void *b)
{
    const struct wr_candidate *x = a, *y = b;
    int by = falling(x->rank, y->rank);

    if (by == 0)
        by = falling(x->generation, y->generation);
    if (by == 0)
        by = falling(x->seq, y->seq);
    if (by == 0)
        by = falling(x->step, y->step);
    return by ? by : (x->tier > y->tier) - (x->tier < y->tier);
}

/* The slow tier has this save, too. */
static bool is_drained(const struct wr_candidates *k, uint64_t step,
                       const struct wr_copy *near)
{
    struct wr_copy far;

    return wr_step_look(k->c->far, step, &far, NULL) == 0 &&
           !strcmp(far.gist.id, near->gist.id);
}

/* A lack of memory or descriptors is waited out once in a call, however many
 * copies there are: each look has waited for itself already. One that comes long
 * after the last one is another one. False: it lasts. */
static bool wait_for_lack(struct wr_candidates *k)
{
    if (k->lack_ns && wr_clock_ns() - k->lack_ns > LACK_APART_NS)
        k->lack_ns = 0;
    return wr_lack_pause(&k->lack_ns);
}

/* Whether it is worth to try again what ended so. */
static bool waits_on(struct wr_candidates *k, int r)
{
    if (wr_err_is_lack(r))
        return wait_for_lack(k);
    wr_clock_sleep_until(wr_clock_ns() + LOOK_NS);
    return true;
}

/* "step 7 on the fast tier" */
static void name_copy(const struct wr_candidates *k,
                      const struct wr_candidate *n, char *buf, size_t cap)
{
    if (k->c->far)
        snprintf(buf, cap, "step %" PRIu64 " on the %s tier", n->step,
                 wr_ckpt_tier(k->c, n->tier)->label);
    else
        snprintf(buf, cap, "step %" PRIu64, n->step);
}

/* A lack lasts. With one step it may be that step's; where there is a second one,
 * nothing will be learned of any copy, and it ends the call. */
static int note_lack(struct wr_candidates *k, const struct wr_candidate *n,
                     const weir_err *why, weir_err *err)
{
    char name[60];

    if (!k->lacking || k->lacking_step == n->step) {
        k->lacking = true;
        k->lacking_step = n->step;
        return 0;
    }
    name_copy(k, n, name, sizeof(name));
    wr_fail_as(err, why->code, why);
    return wr_fail_prefix(err, why->code, "%s cannot be read", name);
}

/* Where a copy belongs. An error that says nothing about it may pass. */
static int place(struct wr_candidates *k, struct wr_candidate *n, weir_err *err)
{
    struct wr_tier *t = wr_ckpt_tier(k->c, n->tier);
    struct wr_copy c;
    weir_err why;
    int r = 0;

    for (unsigned i = 0; i < LOOKS || wr_err_is_lack(r); i++) {
        r = wr_step_look(t, n->step, &c, &why);
        if (!wr_step_is_unread(r) || !waits_on(k, r))
            break;
    }
    if (wr_err_is_lack(r) && note_lack(k, n, &why, err) < 0)
        return r;
    n->unread = r < 0;
    n->good = r == 0 && c.is >= WEIR_COPY_COMPLETE;
    n->rank = !n->good || c.own ? 2 : 0;
    n->generation = n->good ? c.gist.turn.generation : 0;
    n->seq = n->good ? c.gist.turn.seq : UINT64_MAX;
    if (n->good && n->tier == 0 && k->stale && !is_drained(k, n->step, &c))
        n->rank = WR_MIN(n->rank, 1);
    return 0;
}

static int add_tier(struct wr_candidates *k, uint32_t tier, weir_err *err)
{
    struct wr_tier *t = wr_ckpt_tier(k->c, tier);
    struct wr_candidate *all;
    uint64_t *steps;
    size_t count;
    int r;

    if (!t)
        return 0;
    r = wr_tier_steps(t, &steps, &count, err);
    if (r < 0)
        return r;
    all = realloc(k->all, (k->count + count + 1) * sizeof(*all));
    if (!all) {
        free(steps);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    k->all = all;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_candidate *n = &k->all[k->count++];

        *n = (struct wr_candidate){.step = steps[i], .tier = tier};
        r = place(k, n, err);
    }
    free(steps);
    return r;
}

/* Whether a writer may have saved of whom nothing that can be read is left. */
static bool has_unknown_writer(const struct wr_candidates *k)
{
    struct wr_generation g = {0};
    uint64_t last, known = 0;

    if (wr_tier_generation(wr_ckpt_last(k->c), &g, NULL) < 0)
        return true;
    last = g.number;
    if (k->c->generation) /* this one has not saved before */
        last = WR_MIN(last, k->c->generation - 1);
    for (size_t i = 0; i < k->count; i++)
        if (k->all[i].good)
            known = WR_MAX(known, k->all[i].generation);
    return last > known;
}

/* Nothing tells what a copy was counted as that is damaged or cannot be read. It
 * is looked at before what it may be newer than: right before the newest one up
 * to its number, and when it can only not be read perhaps before all. */
static void guess(struct wr_candidates *k)
{
    for (size_t i = 0; i < k->count; i++) {
        struct wr_candidate *n = &k->all[i];
        const struct wr_candidate *best = NULL;

        for (size_t j = 0; j < k->count && !n->good; j++) {
            const struct wr_candidate *m = &k->all[j];

            if (m->good && m->step <= n->step &&
                (!best || newest_first(m, best) < 0))
                best = m;
        }
        if (best) {
            n->rank = best->rank;
            n->generation = best->generation;
            n->seq = best->seq;
        }
        if (n->unread && has_unknown_writer(k)) {
            n->rank = 2;
            n->generation = UINT64_MAX;
        }
    }
}

/* Until this run has saved: then nothing older is the newest. */
static bool has_notice(weir_ckpt *c)
{
    bool saved;

    pthread_mutex_lock(&c->lock);
    saved = c->stats.bytes_saved > 0;
    pthread_mutex_unlock(&c->lock);
    return c->notice[0] && !saved;
}

static int add_passed(struct wr_candidates *k, const char *text, weir_err *err)
{
    size_t len = strlen(text) + 1;

    if (!wr_grow(&k->passed, &k->passed_cap, k->passed_len + len, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(k->passed + k->passed_len, text, len);
    k->passed_len += len;
    return 0;
}

/* Generations tell most of it, too, where it cannot be told. */
static void ask_stale(struct wr_candidates *k)
{
    int r;

    do
        r = wr_lineage_is_stale(k->c, &k->stale, NULL);
    while (wr_err_is_lack(r) && wait_for_lack(k));
    k->stale = r == 0 && k->stale;
}

/* The near tier is stale: its copies are looked at once more, which waits for
 * memory with each. */
static int place_stale(struct wr_candidates *k, weir_err *err)
{
    int r = 0;

    for (size_t i = 0; i < k->count && k->stale && r == 0; i++)
        if (k->all[i].tier == 0)
            r = place(k, &k->all[i], err);
    return r;
}

/* Whether a tier has the steps that were listed, before they are sorted. */
static bool is_as_listed(struct wr_candidates *k, uint32_t tier)
{
    struct wr_tier *t = wr_ckpt_tier(k->c, tier);
    size_t count = 0, at = 0;
    uint64_t *steps = NULL;

    if (!t || wr_tier_steps(t, &steps, &count, NULL) < 0)
        return true; /* whoever reads it finds out why */
    for (size_t i = 0; i < k->count && at <= count; i++)
        if (k->all[i].tier == tier &&
            (at == count || k->all[i].step != steps[at++]))
            at = count + 1;
    free(steps);
    return at == count;
}

/* The near tier first: a step that is drained meanwhile and then leaves it is
 * then seen on the far one. Whether that one makes the near one stale is asked
 * before it is listed: what has done so is then among what is looked at. */
static int look_once(struct wr_candidates *k, weir_err *err)
{
    int r;

    k->count = k->at = 0;
    k->passed_len = 0;
    k->damaged = 0;
    k->tries = 0;
    k->stuck = false;
    k->stale = false;
    r = has_notice(k->c) ? add_passed(k, k->c->notice, err) : 0;
    if (r == 0)
        r = add_tier(k, 0, err);
    if (r == 0) {
        ask_stale(k);
        r = add_tier(k, 1, err);
    }
    return r < 0 ? r : place_stale(k, err);
}

/* What is replaced or retired while it is looked at is for a moment not there, and
 * an older step must not be taken for the newest then. */
static int look(struct wr_candidates *k, weir_err *err)
{
    int r;

    do
        r = look_once(k, err);
    while (r == 0 && !(is_as_listed(k, 0) && is_as_listed(k, 1)) &&
           k->restarts++ < RESTARTS);
    if (r < 0)
        return r;
    guess(k);
    qsort(k->all, k->count, sizeof(*k->all), newest_first);
    return 0;
}

int wr_candidates_init(struct wr_candidates *k, weir_ckpt *c, uint64_t wanted,
                       weir_err *err)
{
    *k = (struct wr_candidates){.c = c, .wanted = wanted};
    return look(k, err);
}

void wr_candidates_done(struct wr_candidates *k)
{
    free(k->all);
    free(k->passed);
    *k = (struct wr_candidates){0};
}

/* --- what is not taken --- */

static int keep_why(struct wr_candidates *k, const struct wr_candidate *n,
                    const char *why, weir_err *err)
{
    char name[60], text[600];

    name_copy(k, n, name, sizeof(name));
    snprintf(text, sizeof(text), "%s: %s", name, why);
    k->tries = 0;
    return add_passed(k, text, err);
}

static int pass_over(struct wr_candidates *k, const struct wr_candidate *n,
                     const char *why, weir_err *err)
{
    k->damaged++;
    return keep_why(k, n, why, err);
}

/* A copy could not be read. It is given again, or, in the end, only another copy
 * of the same save (`id`, "" when its manifest could not be read) is. */
static int try_again(struct wr_candidates *k, const struct wr_candidate *n,
                     const char *id, const weir_err *why, weir_err *err)
{
    char name[60];

    bool lack = wr_err_is_lack(why->code);

    if (lack && k->stuck && wr_err_is_lack(k->unread.code))
        return wr_fail_as(err, k->unread.code, &k->unread);
    if (lack && wait_for_lack(k)) {
        k->at--;
        return 0;
    }
    if (!lack && ++k->tries < TRIES) {
        wr_clock_sleep_until(wr_clock_ns() +
                             (k->c->retry_ns << (k->tries - 1)));
        k->at--;
        return 0;
    }
    if (!k->stuck) {
        k->stuck = true;
        k->unread = *why;
        snprintf(k->only, sizeof(k->only), "%s", id);
        name_copy(k, n, name, sizeof(name));
        wr_fail_prefix(&k->unread, why->code, "%s cannot be read", name);
    }
    return keep_why(k, n, why->msg, err);
}

/* It was taken away: there may be a newer one now, or a copy on the other
 * tier. */
static int start_anew(struct wr_candidates *k, const struct wr_candidate *n,
                      weir_err *err)
{
    if (k->restarts++ < RESTARTS)
        return look(k, err);
    return pass_over(k, n, "is taken away again and again while it is read",
                     err);
}

int wr_candidates_pass(struct wr_candidates *k, const char *id,
                       const weir_err *why, weir_err *err)
{
    const struct wr_candidate n = k->all[k->at - 1];
    struct wr_tier *t = wr_ckpt_tier(k->c, n.tier);
    struct wr_manifest now;
    int r = wr_tier_manifest(t, n.step, &now, NULL);

    if (r == WEIR_ENOENT)
        return start_anew(k, &n, err);
    if (r == 0) {
        bool other = strcmp(now.id, id) != 0;

        wr_manifest_done(&now);
        if (other)
            return start_anew(k, &n, err);
    }
    if (wr_step_is_unread(why->code))
        return try_again(k, &n, id, why, err);
    return pass_over(k, &n, why->msg, err);
}

/* --- what is --- */

static int highest_first(const void *a, const void *b)
{
    const struct wr_candidate *x = a, *y = b;

    return falling(x->step, y->step);
}

/* "; there are steps 90, 100 and 120 (nearest of 12)" */
static void list_nearest(const struct wr_candidates *k, char *buf, size_t cap)
{
    uint64_t near[4];
    size_t below = 0, shown = 0, steps = 0, used = 0;

    qsort(k->all, k->count, sizeof(*k->all), highest_first);
    for (size_t i = 0; i < k->count; i++) {
        uint64_t step = k->all[i].step;

        if (i > 0 && step == k->all[i - 1].step)
            continue;
        steps++;
        /* falling: keep the last two above, the first two below */
        if (step > k->wanted && shown == 2) {
            near[0] = near[1];
            near[1] = step;
        } else if (step > k->wanted || below++ < 2) {
            near[shown++] = step;
        }
    }
    buf[0] = '\0';
    for (size_t i = 0; i < shown && used < cap; i++)
        used += (size_t)snprintf(
            buf + used, cap - used, "%s%" PRIu64,
            i == 0 ? (shown == 1 ? "; there is step " : "; there are steps ")
            : i + 1 == shown ? " and "
                             : ", ",
            near[shown - 1 - i]);
    if (steps > shown && used < cap)
        snprintf(buf + used, cap - used, " (nearest of %zu)", steps);
    if (steps == 0)
        snprintf(buf, cap, "; there are no steps");
}

/* Whoever wants an older step has to say so. */
static int nothing_read(const struct wr_candidates *k, weir_err *err)
{
    if (!err)
        return k->unread.code;
    *err = k->unread;
    if (k->wanted == WEIR_LATEST && !wr_err_is_lack(err->code))
        snprintf(err->msg, sizeof(err->msg),
                 "%.400s; an older step is only taken when it is asked for by "
                 "its number (--step)",
                 k->unread.msg);
    return err->code;
}

static int nothing_left(const struct wr_candidates *k, weir_err *err)
{
    char list[160];

    if (k->stuck)
        return nothing_read(k, err);
    if (k->damaged > 0)
        return wr_fail(err, WEIR_EDAMAGED,
                       "nothing can be restored: %zu damaged cop%s; %s",
                       k->damaged, k->damaged == 1 ? "y" : "ies", k->passed);
    if (k->wanted == WEIR_LATEST && has_notice(k->c))
        return wr_fail(err, WEIR_ESTATE, "there are no steps; %s",
                       k->c->notice);
    if (k->wanted == WEIR_LATEST)
        return 0;
    list_nearest(k, list, sizeof(list));
    return wr_fail(err, WEIR_ENOENT, "step %" PRIu64 " is not there%s",
                   k->wanted, list);
}

/* The copy that was given last can be read by now: whether it has its place
 * further behind. It is put there. */
static bool is_elsewhere(struct wr_candidates *k)
{
    struct wr_candidate *n = &k->all[--k->at];

    if (n->unread && place(k, n, NULL) < 0)
        n->good = false;
    if (!n->good) { /* it has none: whoever reads it finds out why */
        k->at++;
        return false;
    }
    qsort(n, k->count - k->at, sizeof(*n), newest_first);
    return true;
}

static int next_of(struct wr_candidates *k, struct wr_candidate *ret,
                   struct wr_manifest *ret_m, weir_err *err)
{
    while (k->at < k->count) {
        const struct wr_candidate n = k->all[k->at++];
        struct wr_tier *t = wr_ckpt_tier(k->c, n.tier);
        weir_err why;
        int r;

        if (k->wanted != WEIR_LATEST && n.step != k->wanted)
            continue;
        r = wr_tier_manifest(t, n.step, ret_m, &why);
        if (r == 0 && k->stuck && strcmp(ret_m->id, k->only) != 0) {
            wr_manifest_done(ret_m);
            continue;
        }
        if (r == 0 && !n.good && is_elsewhere(k)) {
            wr_manifest_done(ret_m);
            continue;
        }
        if (r == 0) {
            *ret = n;
            return 1;
        }
        r = r == WEIR_ENOENT       ? start_anew(k, &n, err)
            : wr_step_is_unread(r) ? try_again(k, &n, "", &why, err)
                                   : pass_over(k, &n, why.msg, err);
        if (r < 0)
            return r;
    }
    return nothing_left(k, err);
}

int wr_candidates_next(struct wr_candidates *k, struct wr_candidate *ret,
                       struct wr_manifest *ret_m, weir_err *err)
{
    weir_err why;
    int r = next_of(k, ret, ret_m, &why);

    for (unsigned i = 0; i < ABSENT_LOOKS && (r == 0 || r == WEIR_ENOENT) &&
                         !k->damaged && !k->stuck;
         i++) {
        wr_clock_sleep_until(wr_clock_ns() + LOOK_NS);
        r = look(k, &why);
        if (r == 0)
            r = next_of(k, ret, ret_m, &why);
    }
    return wr_fail_as(err, r, &why);
}
