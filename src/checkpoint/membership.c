/* membership.c - which store a tier belongs to, by its link and its manifests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/membership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"

#define TRIES    5 /* at a link that cannot be read */
#define PAUSE_NS (10 * WR_NS_PER_MS)

/* --- what a tier is --- */

/* An error that says nothing about it may pass. */
static int read_link(struct wr_tier *t, struct wr_tier_link *ret, weir_err *err)
{
    int r = 0;

    for (int i = 0; i < TRIES; i++) {
        r = wr_tier_link_read(t, ret, err);
        if (!wr_step_is_unread(r))
            break;
        wr_clock_sleep_until(wr_clock_ns() + PAUSE_NS);
    }
    return r;
}

static int read_generation(struct wr_tier *t, struct wr_generation *ret,
                           weir_err *err)
{
    int r = 0;

    for (int i = 0; i < TRIES; i++) {
        r = wr_tier_generation(t, ret, err);
        if (!wr_step_is_unread(r))
            break;
        wr_clock_sleep_until(wr_clock_ns() + PAUSE_NS);
    }
    return r;
}

/* What this process is short of may be there in a moment. */
static int glance(struct wr_tier *t, uint64_t step, struct wr_copy *ret,
                  weir_err *err)
{
    int r = 0;

    for (int i = 0; i < TRIES; i++) {
        r = wr_step_glance(t, step, ret, err);
        if (!wr_err_is_lack(r))
            break;
        wr_clock_sleep_until(wr_clock_ns() + PAUSE_NS);
    }
    return r;
}

/* The gists of all good steps of a tier; free(). Who only reads is not stopped
 * by one that cannot be read for whatever reason: a restore tells it. */
static int read_gists(struct wr_tier *t, bool reads, struct wr_gist **ret,
                      size_t *ret_count, size_t *ret_steps, weir_err *err)
{
    struct wr_gist *all = NULL;
    uint64_t *steps = NULL;
    size_t count, good = 0;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r == 0 && !(all = calloc(count + 1, sizeof(*all))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; r == 0 && i < count; i++) {
        struct wr_copy c;

        r = glance(t, steps[i], &c, err);
        if (r == 0 && c.is >= WEIR_COPY_COMPLETE)
            all[good++] = c.gist;
        if (wr_step_is_unread(r) && (reads || !wr_err_is_lack(r)))
            r = 0; /* one that cannot be read stops nobody */
    }
    free(steps);
    if (r < 0) {
        free(all);
        return r;
    }
    *ret = all;
    *ret_count = good;
    *ret_steps = count;
    return 0;
}

/* The store that most of the steps are of; NULL: they are of none. Steps that
 * were adopted from another store are there, too. */
static const char *common_store(const struct wr_gist *g, size_t count)
{
    const char *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < count; i++) {
        size_t n = 0;

        for (size_t j = 0; j < count; j++)
            n += !strcmp(g[i].store, g[j].store);
        if (g[i].store[0] && n > most) {
            most = n;
            best = g[i].store;
        }
        if (most > count / 2)
            break;
    }
    return best;
}

static void raise_to(struct wr_generation *to, uint64_t number,
                     const char *nonce)
{
    if (number < to->number || (number == to->number && to->nonce[0]))
        return;
    to->number = number;
    memcpy(to->nonce, nonce, sizeof(to->nonce));
}

/* Of the highest number two writers, where one went on from a backup. */
static void count_saved(struct wr_membership *m, uint64_t number,
                        const char *nonce)
{
    if (number > m->saved.number)
        m->twin = (struct wr_generation){0};
    else if (number == m->saved.number && nonce[0] && m->saved.nonce[0] &&
             strcmp(nonce, m->saved.nonce) != 0)
        raise_to(&m->twin, number, nonce);
    raise_to(&m->saved, number, nonce);
}

static int add_writers(const struct wr_gist *g, struct wr_writers *to,
                       weir_err *err)
{
    int r = wr_writers_add(to, g->turn.generation, g->turn.nonce, err);

    return r < 0 || !g->continues
               ? r
               : wr_writers_add(to, g->from.generation, g->from.nonce, err);
}

/* What the manifests know of the writers of this store. */
static int count_writers(const struct wr_gist *g, size_t count,
                         struct wr_membership *m, weir_err *err)
{
    int r = 0;

    for (size_t i = 0; i < count && r == 0; i++) {
        if (strcmp(g[i].store, m->link.store) != 0 || !g[i].store[0])
            continue;
        count_saved(m, g[i].turn.generation, g[i].turn.nonce);
        raise_to(&m->highest, g[i].from.generation, g[i].from.nonce);
        if (m->writers)
            r = add_writers(&g[i], m->writers, err);
    }
    raise_to(&m->highest, m->saved.number, m->saved.nonce);
    return r;
}

/* The link is not there: the manifests take its place. */
static void derive(const struct wr_gist *g, size_t count, bool fast,
                   struct wr_membership *m)
{
    const char *store = common_store(g, count);

    if (!store)
        return;
    m->derived = true;
    m->link.kind = fast ? WR_LINK_FAST : WR_LINK_LAST;
    memcpy(m->link.store, store, sizeof(m->link.store));
}

int wr_membership_ask(struct wr_tier *t, struct wr_membership *m, weir_err *err)
{
    struct wr_gist *gists;
    size_t count;
    int r;

    if (!t)
        return 0;
    r = read_gists(t, m->reads, &gists, &count, &m->steps, err);
    if (r < 0)
        return r;
    r = count_writers(gists, count, m, err);
    free(gists);
    return r;
}

/* Without a link, or one that makes no sense. */
static int look_at_manifests(struct wr_tier *t, bool fast,
                             struct wr_membership *m, weir_err *err)
{
    struct wr_gist *gists;
    size_t count;
    int r = read_gists(t, m->reads, &gists, &count, &m->steps, err);

    if (r < 0)
        return r;
    derive(gists, count, fast, m);
    r = count_writers(gists, count, m, err);
    free(gists);
    if (r == 0 && m->derived && fast) {
        m->link.generation = m->saved.number;
        memcpy(m->link.nonce, m->saved.nonce, sizeof(m->link.nonce));
    }
    return r;
}

static int count_steps(struct wr_tier *t, size_t *ret, weir_err *err)
{
    uint64_t *steps;
    int r = wr_tier_steps(t, &steps, ret, err);

    if (r == 0)
        free(steps);
    return r;
}

int wr_membership_look(struct wr_tier *t, bool fast, bool reads,
                       struct wr_membership *ret, weir_err *err)
{
    struct wr_membership m = {.reads = reads};
    struct wr_generation g;
    weir_err why;
    int r, link;

    *ret = m;
    if (!t)
        return 0;
    link = read_link(t, &m.link, &why);
    if (link < 0 && link != WEIR_EDAMAGED)
        return wr_fail_as(err, link, &why);
    r = m.link.kind == WR_LINK_NONE ? look_at_manifests(t, fast, &m, err)
                                    : count_steps(t, &m.steps, err);
    if (r < 0)
        return r;
    if (link < 0 && !m.derived && !reads)
        return wr_fail_as(err, link, &why);
    m.is = m.link.kind == WR_LINK_LAST   ? WR_MEMBER_LAST
           : m.link.kind == WR_LINK_FAST ? WR_MEMBER_FAST
           : m.steps                     ? WR_MEMBER_OLD
                                         : WR_MEMBER_NEW;
    raise_to(&m.highest, m.link.generation, m.link.nonce);
    if (m.is == WR_MEMBER_LAST) {
        r = read_generation(t, &g, err);
        if (r < 0)
            return r;
        raise_to(&m.highest, g.number, g.nonce);
    }
    *ret = m;
    return 0;
}

/* --- which belong together --- */

static const char *last_url(const weir_ckpt *c)
{
    return c->cfg.slow ? c->cfg.slow : c->cfg.fast;
}

static int not_there(const weir_ckpt *c, weir_err *err)
{
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': there is no store (%s); is it mounted?", last_url(c),
                   c->cfg.store ? "store" : "must_exist");
}

/* The far tier is missing or empty, but the near one is not new. */
static int not_mounted(const weir_ckpt *c, enum wr_member near, weir_err *err)
{
    const char *fast = c->cfg.fast, *slow = c->cfg.slow;

    if (near == WR_MEMBER_LAST)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': is not a store, and '%s' is one of its own; "
                       "'weir ckpt adopt %s %s' makes it the fast tier of one",
                       slow, fast, fast, slow);
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': is empty, but '%s' %s: is it mounted? 'weir ckpt "
                   "adopt %s %s' makes a store of them",
                   slow, fast,
                   near == WR_MEMBER_FAST ? "belongs to a store"
                                          : "has saved steps",
                   fast, slow);
}

static int not_together(const weir_ckpt *c, const char *why, weir_err *err)
{
    return wr_fail(err, WEIR_ESTATE,
                   "'%s' and '%s' do not belong together: %s; name the tiers "
                   "of one store, or join them with 'weir ckpt adopt %s %s'",
                   c->cfg.fast, c->cfg.slow, why, c->cfg.fast, c->cfg.slow);
}

static void say_older(weir_ckpt *c, uint64_t is, uint64_t seen, bool went_on)
{
    snprintf(c->notice, sizeof(c->notice),
             "'%.130s' is older than '%.130s' remembers (generation %" PRIu64
             ", not %" PRIu64 "): was it restored from a backup?%s",
             c->cfg.slow, c->cfg.fast, is, seen,
             went_on ? " Others saved there since: what only the fast tier has "
                       "is stale ('weir ckpt adopt' or 'discard' it)"
                     : "");
}

/* The slow tier does not know a writer that used this fast tier: it was restored
 * from a backup, or is a copy of before. While the fast tier has what that
 * writer saved last, nothing older is taken for the newest: that is told. Else
 * somebody decides. */
static int judge_age(weir_ckpt *c, struct wr_membership *near,
                     struct wr_membership *far, weir_err *err)
{
    const struct wr_generation *seen = &near->highest, *is = &far->highest;
    bool went_on = false;
    int r = 0;

    c->notice[0] = '\0';
    if (near->is == WR_MEMBER_FAST && seen->number > is->number)
        r = wr_membership_ask(c->far, far, err);
    if (r == 0 && near->is == WR_MEMBER_FAST && seen->number > is->number)
        r = wr_membership_ask(c->near, near, err);
    if (r < 0 || near->is != WR_MEMBER_FAST || seen->number <= is->number)
        return r;
    r = wr_writers_lack(c->near, &far->saved, &went_on, err);
    if (r < 0)
        return r;
    say_older(c, is->number, seen->number, went_on);
    if (near->saved.number == seen->number || c->cfg.role == WEIR_CKPT_READ)
        return 0;
    return wr_fail(err, WEIR_ESTATE,
                   "%s Newer steps are missing; 'weir ckpt adopt %s %s' goes "
                   "on from what is there",
                   c->notice, c->cfg.fast, c->cfg.slow);
}

static int judge_pair(weir_ckpt *c, struct wr_membership *near,
                      struct wr_membership *far, weir_err *err)
{
    bool joins = near->is == WR_MEMBER_NEW || near->is == WR_MEMBER_OLD;

    switch (far->is) {
    case WR_MEMBER_NEW:
        if (near->is != WR_MEMBER_NEW)
            return not_mounted(c, near->is, err);
        return c->cfg.must_exist || c->cfg.store ? not_there(c, err) : 0;
    case WR_MEMBER_OLD:
        return joins
                   ? 0
                   : not_together(c, "the slow one is of no known store", err);
    case WR_MEMBER_FAST:
        return not_together(c, "the slow one is the fast tier of a store", err);
    case WR_MEMBER_LAST:
        break;
    }
    if (near->is == WR_MEMBER_LAST)
        return not_together(c, "both are stores of their own", err);
    if (!joins && strcmp(near->link.store, far->link.store) != 0)
        return not_together(c, "the fast one is of another store", err);
    return judge_age(c, near, far, err);
}

static int judge_one(const weir_ckpt *c, const struct wr_membership *m,
                     weir_err *err)
{
    if (m->is == WR_MEMBER_NEW && (c->cfg.must_exist || c->cfg.store))
        return not_there(c, err);
    if (m->is != WR_MEMBER_FAST || c->cfg.role == WEIR_CKPT_READ)
        return 0;
    return wr_fail(err, WEIR_ESTATE,
                   "'%s': is the fast tier of a store; name its slow tier too, "
                   "or make it a store of its own with 'weir ckpt adopt %s'",
                   c->cfg.fast, c->cfg.fast);
}

/* The store that was asked for, and a start from nothing only where nothing
 * says that there was something. */
static int judge_wanted(const weir_ckpt *c, const struct wr_membership *near,
                        const struct wr_membership *last, weir_err *err)
{
    const char *id = last->link.store;

    if (c->cfg.store && strcmp(c->cfg.store, id) != 0)
        return wr_fail(err, WEIR_ESTATE,
                       "'%s': is %s%s, not store %s; is the right file system "
                       "mounted?",
                       last_url(c), id[0] ? "store " : "a store without an id",
                       id, c->cfg.store);
    if (c->cfg.role != WEIR_CKPT_SAVE || !c->cfg.slow ||
        (!c->cfg.must_exist && !c->cfg.store) || near->steps || last->steps ||
        last->highest.number == 0)
        return 0;
    if (last->highest.number == 1 && near->link.generation == 1)
        return 0; /* it was here, and has saved nothing */
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': steps are missing: it has none, but %" PRIu64
                   " writer%s opened it. What was not drained is on the fast "
                   "tier of another machine ('weir ckpt drain' there), or "
                   "lost; without must_exist and store a run starts from "
                   "nothing",
                   last_url(c), last->highest.number,
                   last->highest.number == 1 ? "" : "s");
}

int wr_membership_judge(weir_ckpt *c, struct wr_membership *near,
                        struct wr_membership *far, weir_err *err)
{
    int r = c->cfg.slow ? judge_pair(c, near, far, err)
                        : judge_one(c, near, err);

    return r < 0 ? r : judge_wanted(c, near, c->cfg.slow ? far : near, err);
}
