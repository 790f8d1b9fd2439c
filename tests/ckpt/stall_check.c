/* stall_check.c - what must be there after a stalled process had its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "said.h"
#include "stall.h"

#define FINAL 70 /* the step that is saved in peace, in the end */

/* A step that must be restorable. */
struct want {
    enum weir_level level; /* 0: it need not be */
    enum stall_party who;
};

/* What the store is seen through. */
enum view {
    VIEW_NEW,  /* the tiers of the new writer */
    VIEW_OLD,  /* the fast tier of the stalled one, and the slow tier */
    VIEW_SLOW, /* the slow tier alone */
};

struct checking {
    struct stall *st;
    struct want want[STALL_STEPS];
    bool contest; /* the stalled one may have won the store, rightly */
    enum view view;
    weir_ckpt *c;
    weir_ckpt_entry *entries;
    size_t count;
};

static const char *name_of(int who)
{
    static const char *const names[] = {"one that was never saved",
                                        "the one before", "the stalled one's",
                                        "the new writer's", "the last one's"};

    return names[who + 1];
}

static const struct stall_call *calls_of(const struct checking *k,
                                         enum stall_party who, size_t *ret)
{
    *ret = k->st->log->count[who];
    return k->st->log->calls[who];
}

static bool is_saved(const struct stall_call *call)
{
    return call->what == STALL_DO_SAVE && call->returned && call->r == 0;
}

/* --- what is due --- */

/* An open that was under way when the new writer came may come after it, by
 * force or because the store is free again. One that neither was forced nor
 * found the store free has to be refused, but on another machine nothing tells
 * the two apart. */
static bool is_contest(const struct stall *st)
{
    const struct stall_call *open = &st->log->calls[STALL_OLD][0];

    return !open->in_time &&
           (st->s->job == STALL_OPEN_FORCE || (st->s->how & STALL_CLOSES) ||
            (st->s->how & STALL_OTHER));
}

static bool new_used(const struct checking *k, uint64_t step)
{
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_NEW, &count);

    for (size_t i = 0; i < count; i++)
        if (calls[i].what == STALL_DO_SAVE && calls[i].step == step)
            return true;
    return false;
}

/* The highest step that the stalled one had begun to save. */
static uint64_t old_top(const struct checking *k)
{
    uint64_t top = stall_top(k->st);
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);

    for (size_t i = 0; i < count; i++)
        if (calls[i].what == STALL_DO_SAVE && calls[i].begun)
            top = calls[i].step;
    return top;
}

/* The stalled one was to take it away, or the new writer did. */
static bool may_go(const struct checking *k, uint64_t step)
{
    const struct stall_scenario *s = k->st->s;

    if (k->st->log->back && step > k->st->log->back)
        return true;
    switch (s->job) {
    case STALL_RETAIN:
        return step + 2 <= old_top(k) && step != STALL_PINNED;
    case STALL_PRUNE:
    case STALL_OPEN_PRUNE:
        return step + 2 <= stall_top(k->st) && step != STALL_PINNED;
    case STALL_GO_BACK:
        return step > 3;
    case STALL_REMOVE:
        return step == 4;
    default:
        return false;
    }
}

static void want_before(struct checking *k)
{
    const struct stall_scenario *s = k->st->s;

    for (uint64_t i = 1; i <= stall_top(k->st); i++) {
        bool fast = (s->prep == STALL_WAITING || s->prep == STALL_STALE) &&
                    (i == 5 || i == 6);

        if (may_go(k, i) ||
            (fast && ((s->how & STALL_OTHER) || s->prep == STALL_STALE)))
            continue;
        k->want[i] = (struct want){fast ? WEIR_LEVEL_FAST : WEIR_LEVEL_VERIFIED,
                                   STALL_BEFORE};
    }
}

/* What the stalled one was promised. If the promise came late, the step was
 * there when the new writer came, and what that one did with it is all right;
 * or it has to be there now. */
static void want_old(struct checking *k)
{
    const struct stall_scenario *s = k->st->s;
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);

    for (size_t i = 0; i < count; i++) {
        const struct stall_call *call = &calls[i];
        uint64_t step = call->step;

        if (!is_saved(call))
            continue;
        if (!call->begun && !(s->how & STALL_OTHER) && !k->contest)
            stall_fail(k->st,
                       "the stalled one saved step %u after it was "
                       "fenced off",
                       (unsigned)step);
        if ((s->how & STALL_OTHER) && call->level < WEIR_LEVEL_SLOW)
            continue;
        if ((call->in_time || k->st->log->seen[step]) &&
            (may_go(k, step) || new_used(k, step)))
            continue;
        k->want[step] = (struct want){call->level, STALL_OLD};
    }
}

/* A save that began when the new writer had the tier is told so, and none is
 * told that its data are damaged. */
static void check_told(struct checking *k)
{
    bool same = !(k->st->s->how & STALL_OTHER) && !k->contest;
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);

    for (size_t i = 0; i < count; i++) {
        const struct stall_call *call = &calls[i];
        bool fenced = same && !call->begun && call->what == STALL_DO_SAVE;

        if (call->in_time || !call->returned || call->r >= 0)
            continue;
        if (fenced ? call->r != WEIR_EFENCED
                   : call->r == WEIR_EDAMAGED || call->r == WEIR_EFORMAT)
            stall_fail(k->st, "the stalled one was told %d: %s", call->r,
                       call->text);
    }
}

static void want_new(struct checking *k)
{
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_NEW, &count);

    for (size_t i = 0; i < count; i++) {
        const struct stall_call *call = &calls[i];

        if (call->returned && call->r == 0) {
            if (is_saved(call))
                k->want[call->step] = (struct want){call->level, STALL_NEW};
            continue;
        }
        if (!(k->contest && call->returned && (call->r == WEIR_EFENCED)))
            stall_fail(k->st, "the new writer, %s%s %u: %s",
                       call->again ? "once more, " : "",
                       call->what == STALL_DO_OPEN   ? "open"
                       : call->what == STALL_DO_SAVE ? "save"
                                                     : "close",
                       (unsigned)call->step, call->text);
    }
}

/* --- looking --- */

static bool open_view(struct checking *k, enum view view)
{
    weir_ckpt_config cfg;
    weir_err err;

    k->view = view;
    stall_config(k->st, view == VIEW_OLD ? STALL_OLD : STALL_NEW, &cfg);
    cfg.role = WEIR_CKPT_READ;
    if (view == VIEW_SLOW) {
        cfg.fast = cfg.slow;
        cfg.slow = NULL;
    }
    if (weir_ckpt_open(&k->c, &cfg, &err) < 0)
        return stall_fail(k->st, "to look: %s", err.msg);
    if (weir_ckpt_list(k->c, &k->entries, &k->count, &err) < 0)
        return stall_fail(k->st, "to list: %s", err.msg);
    return true;
}

static void close_view(struct checking *k)
{
    free(k->entries);
    k->entries = NULL;
    k->count = 0;
    weir_ckpt_close(&k->c, NULL);
}

/* Restores; -2: it is not so, and that was told. */
static int read_step(struct checking *k, uint64_t step, uint64_t *ret_step)
{
    static const char *const views[] = {"", " on the old fast tier",
                                        " on the slow tier"};
    weir_ckpt_found *f = NULL;
    int who = -1, r;
    weir_err err;

    r = stall_restore(k->c, step, &who, &f, &err);
    if (r < 0) {
        stall_fail(k->st, "restore of %d%s: %s", (int)step, views[k->view],
                   err.msg);
        return -2;
    }
    if (r == 0) {
        stall_fail(k->st, "there is nothing%s", views[k->view]);
        return -2;
    }
    if (f->passed_over_count)
        stall_fail(k->st, "restore of %d%s passed over %s", (int)step,
                   views[k->view], f->passed_over[0]);
    *ret_step = f->step;
    weir_ckpt_found_free(&f);
    return who;
}

static const struct weir_ckpt_entry *find_entry(const struct checking *k,
                                                uint64_t step)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->entries[i].step == step &&
            (k->entries[i].fast > 0 || k->entries[i].slow > 0))
            return &k->entries[i];
    return NULL;
}

static bool check_wanted(struct checking *k)
{
    static const char *const views[] = {"", " on the old fast tier",
                                        " on the slow tier"};
    bool single = k->st->s->prep == STALL_ONE || k->view == VIEW_SLOW;

    for (uint64_t i = 0; i < STALL_STEPS && !k->st->log->why[0]; i++) {
        const struct want *w = &k->want[i];
        const weir_ckpt_entry *e = find_entry(k, i);
        uint64_t step;
        int who;

        if (w->level <
            (k->view == VIEW_SLOW ? WEIR_LEVEL_SLOW : WEIR_LEVEL_FAST))
            continue;
        if (!e)
            return stall_fail(k->st, "step %u (%s) is lost%s", (unsigned)i,
                              name_of(w->who), views[k->view]);
        who = read_step(k, i, &step);
        if (who >= -1 && who != (int)w->who)
            return stall_fail(k->st, "step %u is %s, not %s%s", (unsigned)i,
                              name_of(who), name_of(w->who), views[k->view]);
        if (w->level == WEIR_LEVEL_VERIFIED &&
            (single ? e->fast : e->slow) != WEIR_COPY_VERIFIED)
            return stall_fail(k->st, "step %u (%s) is not verified%s",
                              (unsigned)i, name_of(w->who), views[k->view]);
    }
    return !k->st->log->why[0];
}

static bool check_pin(struct checking *k, uint64_t step, bool pinned)
{
    const weir_ckpt_entry *e = find_entry(k, step);

    if (!e || e->pinned == pinned)
        return true;
    return stall_fail(k->st, "step %u is %spinned", (unsigned)step,
                      pinned ? "not " : "");
}

/* Nothing is damaged, and nothing came that the new writer had not seen. */
static bool check_list(struct checking *k)
{
    const struct stall_scenario *s = k->st->s;
    const struct stall_log *log = k->st->log;

    for (size_t i = 0; i < k->count && !log->why[0]; i++) {
        const weir_ckpt_entry *e = &k->entries[i];
        uint64_t step;
        int who;

        if (e->fast == WEIR_COPY_DAMAGED || e->slow == WEIR_COPY_DAMAGED ||
            e->fast == WEIR_COPY_UNKNOWN || e->slow == WEIR_COPY_UNKNOWN)
            return stall_fail(k->st, "step %u: %s", (unsigned)e->step,
                              e->problem);
        if (e->fast <= 0 && e->slow <= 0)
            continue;
        who = read_step(k, e->step, &step);
        if (who == -1)
            stall_fail(k->st, "step %u was never saved so", (unsigned)e->step);
        if (k->contest || ((s->how & STALL_OTHER) && (s->how & STALL_IDLE)) ||
            who < 0 || who >= STALL_NEW)
            continue;
        if (!log->seen[e->step] || (log->back && e->step > log->back))
            return stall_fail(k->st, "step %u (%s) came after the take-over",
                              (unsigned)e->step, name_of(who));
    }
    return !k->st->log->why[0];
}

/* The last one that was promised to `who`, above level `least`; 0: none. */
static uint64_t last_saved(const struct checking *k, enum stall_party who,
                           enum weir_level least)
{
    uint64_t last = 0;
    size_t count;
    const struct stall_call *calls = calls_of(k, who, &count);

    for (size_t i = 0; i < count; i++)
        if (is_saved(&calls[i]) && calls[i].level >= least)
            last = calls[i].step;
    return last;
}

static bool check_latest(struct checking *k)
{
    enum weir_level least = k->view == VIEW_NEW ? WEIR_LEVEL_FAST
                                                : WEIR_LEVEL_SLOW;
    uint64_t due = last_saved(k, STALL_NEW, least), step = 0;
    int who;

    if (!due && k->view != VIEW_NEW)
        return true; /* it did not drain */
    who = read_step(k, WEIR_LATEST, &step);
    if (who < 0 || (who == STALL_NEW && step == due))
        return who >= 0;
    /* Fenced off while it waited for a higher level. */
    if (k->contest && who == STALL_NEW && step > due && new_used(k, step))
        return true;
    if (k->contest && who == STALL_OLD &&
        step == last_saved(k, STALL_OLD, WEIR_LEVEL_FAST))
        return true;
    return stall_fail(k->st, "the newest is step %u (%s), not %u",
                      (unsigned)step, name_of(who), (unsigned)due);
}

/* What the stalled one's job is, if it was told that it is done. */
static bool check_job(struct checking *k)
{
    const struct stall_scenario *s = k->st->s;
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);
    bool done = false;

    for (size_t i = 0; i < count; i++)
        done |= calls[i].what == STALL_DO_OTHER && calls[i].returned &&
                calls[i].r == 0;
    if (!done)
        return true;
    if (s->job == STALL_REMOVE && !new_used(k, 4) && find_entry(k, 4))
        return stall_fail(k->st, "step 4 is there, but was removed");
    if (s->job != STALL_ADOPT && s->job != STALL_DRAIN &&
        s->job != STALL_OPEN_DRAIN)
        return true;
    for (uint64_t i = 5; i <= 6; i++)
        if (k->view == VIEW_SLOW && !may_go(k, i) && !find_entry(k, i))
            return stall_fail(k->st, "step %u was drained, but is not there",
                              (unsigned)i);
    return true;
}

/* A late promise on a fast tier that the new writer does not use: the copy is
 * there, whatever it is called. */
static bool check_left(struct checking *k)
{
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);

    for (size_t i = 0; i < count; i++) {
        bool there = false;

        if (!is_saved(&calls[i]) || may_go(k, calls[i].step))
            continue;
        for (size_t e = 0; e < k->count; e++)
            there |= k->entries[e].step == calls[i].step;
        if (!there)
            return stall_fail(k->st, "the stalled one's step %u is lost",
                              (unsigned)calls[i].step);
    }
    return true;
}

/* --- the end --- */

static bool check_peace(struct checking *k)
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err = {0};
    int r;

    stall_config(k->st, STALL_NEW, &cfg);
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        r = stall_save(c, STALL_LAST, FINAL, WEIR_LEVEL_VERIFIED, &err);
    if (r == 0)
        r = weir_ckpt_drain(c, &err);
    if (r == 0)
        r = weir_ckpt_close(&c, &err);
    weir_ckpt_close(&c, NULL);
    return r == 0 || stall_fail(k->st, "the next writer: %s", err.msg);
}

/* What the new writer pinned: its first step, or the first three. */
static bool check_pins(struct checking *k)
{
    unsigned pins = (k->st->s->how & STALL_REOPENS) ? 3 : 1;
    bool good = true;
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_NEW, &count);

    for (size_t i = 0; i < count && good && pins; i++)
        if (calls[i].what == STALL_DO_SAVE && pins--)
            good = check_pin(k, calls[i].step, true);
    return good;
}

static bool check_once(struct checking *k, enum view view)
{
    const struct stall_log *log = k->st->log;
    /* Whoever drains for an idle one may carry a pin over that is just taken
     * off: nothing was taken over there. */
    bool unpinned = log->unpinned && !(k->st->s->how & STALL_IDLE);
    bool good = open_view(k, view) && check_latest(k) && check_job(k);

    if (good && view == VIEW_NEW)
        good = check_wanted(k) && check_list(k) &&
               check_pin(k, STALL_PINNED, true) &&
               (!unpinned || check_pin(k, log->unpinned, false)) &&
               check_pins(k);
    if (good && view == VIEW_SLOW)
        good = check_wanted(k);
    if (good && view == VIEW_OLD)
        good = check_left(k);
    close_view(k);
    return good;
}

/* The new writer restored what was promised before it came. */
static bool check_restored(struct checking *k)
{
    const struct stall_scenario *s = k->st->s;
    size_t count;
    const struct stall_call *calls = calls_of(k, STALL_OLD, &count);
    uint64_t least = s->job == STALL_GO_BACK ? 3
                     : s->prep == STALL_WAITING && (s->how & STALL_OTHER)
                         ? 4
                         : stall_top(k->st);

    for (size_t i = 0; i < count; i++)
        if (is_saved(&calls[i]) && calls[i].in_time &&
            calls[i].level >=
                ((s->how & STALL_OTHER) ? WEIR_LEVEL_SLOW : WEIR_LEVEL_FAST))
            least = calls[i].step;
    if (k->st->log->back || k->st->log->restored >= least)
        return true;
    return stall_fail(k->st, "the new writer restored step %u, but %u is newer",
                      (unsigned)k->st->log->restored, (unsigned)least);
}

int stall_check(struct stall *st)
{
    struct checking k = {.st = st, .contest = is_contest(st)};
    bool two = st->s->prep != STALL_ONE, good;

    said_by_me(st->said);
    want_before(&k);
    want_old(&k);
    want_new(&k);
    check_told(&k);
    good = !st->log->why[0] && check_restored(&k) && check_once(&k, VIEW_NEW) &&
           (!two || check_once(&k, VIEW_SLOW)) &&
           (!(st->s->how & STALL_OTHER) || check_once(&k, VIEW_OLD));
    /* A stalled one that won on another machine has the newest steps. */
    if (good && !(k.contest && (st->s->how & STALL_OTHER))) {
        good = check_peace(&k) && open_view(&k, VIEW_NEW) && check_wanted(&k);
        close_view(&k);
    }
    return good ? 0 : 1;
}
