/* lineage.c - which tiers belong together, and which of two saves is newer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/lineage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "tier/aside.h"
#include "tier/link.h"

#define TRIES    5 /* at a link that cannot be read */
#define PAUSE_NS (10 * WR_NS_PER_MS)

/* The highest generation of a good step of a tier; 0: none. */
static int newest_generation(struct wr_tier *t, uint64_t *ret, weir_err *err)
{
    uint64_t *steps, most = 0;
    size_t count;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy c;

        r = wr_step_glance(t, steps[i], &c, err);
        if (r == 0 && c.is >= WEIR_COPY_COMPLETE)
            most = WR_MAX(most, c.generation);
        if (wr_step_is_unread(r) && !wr_err_is_lack(r))
            r = 0; /* one that cannot be read stops nobody */
    }
    free(steps);
    if (r == 0)
        *ret = most;
    return r;
}

/* --- what a tier is --- */

/* A tier before it is looked into any further. */
enum kin {
    KIN_NEW,  /* missing, or without steps and unknown to any store */
    KIN_OLD,  /* has steps of an earlier version */
    KIN_LAST, /* has the id of a store */
    KIN_FAST, /* belongs to one */
};

struct tier_kin {
    enum kin is;
    struct wr_tier_link link;
};

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

static int look_at_kin(struct wr_tier *t, bool reads, struct tier_kin *ret,
                       weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r;

    *ret = (struct tier_kin){.is = KIN_NEW};
    if (!t)
        return 0;
    r = read_link(t, &ret->link, err);
    if (r == WEIR_EDAMAGED && reads) /* which changes nothing */
        r = 0;
    if (r < 0)
        return r;
    if (ret->link.kind != WR_LINK_NONE) {
        ret->is = ret->link.kind == WR_LINK_LAST ? KIN_LAST : KIN_FAST;
        return 0;
    }
    r = wr_tier_steps(t, &steps, &count, err);
    if (r < 0)
        return r;
    free(steps);
    ret->is = count > 0 ? KIN_OLD : KIN_NEW;
    return 0;
}

/* --- which belong together --- */

static int not_there(const weir_ckpt *c, weir_err *err)
{
    const char *last = c->cfg.slow ? c->cfg.slow : c->cfg.fast;

    return wr_fail(err, WEIR_ENOENT,
                   "'%s': there is no store (must_exist); is it mounted?",
                   last);
}

/* The far tier is missing or empty, but the near one is not new. */
static int not_mounted(const weir_ckpt *c, enum kin near, weir_err *err)
{
    const char *fast = c->cfg.fast, *slow = c->cfg.slow;

    if (near == KIN_LAST)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': is no store, and '%s' is one of its own; 'weir "
                       "ckpt adopt %s %s' makes it the fast tier of a new one",
                       slow, fast, fast, slow);
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': is empty, but '%s' %s: is it mounted? 'weir ckpt "
                   "adopt %s %s' makes a new store of them",
                   slow, fast,
                   near == KIN_FAST ? "belongs to a store" : "has saved steps",
                   fast, slow);
}

static int not_together(const weir_ckpt *c, const char *why, weir_err *err)
{
    return wr_fail(err, WEIR_ESTATE,
                   "'%s' and '%s' do not belong together: %s; name the tiers "
                   "of one store, or join them with 'weir ckpt adopt %s %s'",
                   c->cfg.fast, c->cfg.slow, why, c->cfg.fast, c->cfg.slow);
}

static int judge_pair(const weir_ckpt *c, const struct tier_kin *near,
                      const struct tier_kin *far, weir_err *err)
{
    bool joins = near->is == KIN_NEW || near->is == KIN_OLD;

    switch (far->is) {
    case KIN_NEW:
        if (near->is != KIN_NEW)
            return not_mounted(c, near->is, err);
        return c->cfg.must_exist ? not_there(c, err) : 0;
    case KIN_OLD:
        return joins
                   ? 0
                   : not_together(c, "the slow one is of no known store", err);
    case KIN_FAST:
        return not_together(c, "the slow one is the fast tier of a store", err);
    case KIN_LAST:
        break;
    }
    if (near->is == KIN_LAST)
        return not_together(c, "both are stores of their own", err);
    if (!joins && strcmp(near->link.store, far->link.store) != 0)
        return not_together(c, "the fast one is of another store", err);
    return 0;
}

static int judge_one(const weir_ckpt *c, const struct tier_kin *kin,
                     weir_err *err)
{
    if (kin->is == KIN_NEW && c->cfg.must_exist)
        return not_there(c, err);
    if (kin->is != KIN_FAST || c->cfg.role == WEIR_CKPT_READ)
        return 0;
    return wr_fail(err, WEIR_ESTATE,
                   "'%s': is the fast tier of a store; name its slow tier too, "
                   "or make it a store of its own with 'weir ckpt adopt %s'",
                   c->cfg.fast, c->cfg.fast);
}

static void note_kin(weir_ckpt *c, const struct tier_kin *near,
                     const struct tier_kin *far)
{
    const char *id = far->link.store[0] ? far->link.store : near->link.store;

    if (c->near)
        wr_tier_set_store(c->near, id);
    if (c->far)
        wr_tier_set_store(c->far, id);
    c->fast_generation = near->link.generation;
}

/* Looks whether the tiers belong together, and notes what they are of. */
static int judge(weir_ckpt *c, weir_err *err)
{
    struct tier_kin near, far;
    bool reads = c->cfg.role == WEIR_CKPT_READ;
    int r = look_at_kin(c->near, reads, &near, err);

    if (r == 0)
        r = look_at_kin(c->far, reads, &far, err);
    if (r == 0)
        r = c->cfg.slow ? judge_pair(c, &near, &far, err)
                        : judge_one(c, &near, err);
    if (r < 0)
        return r;
    note_kin(c, &near, &far);
    return 0;
}

/* --- opening --- */

/* NULL for one that is missing and may be made later. */
static int open_tier(const char *url, const char *label, bool may_miss,
                     struct wr_store **given, struct wr_tier **ret,
                     weir_err *err)
{
    struct wr_store *st = *given;
    weir_err why;
    int r;

    *given = NULL;
    if (st)
        return wr_tier_wrap(st, url, label, ret, err);
    r = wr_tier_open(url, label, /* create= */ false, ret, &why);
    if (r == WEIR_ENOENT && may_miss)
        return 0;
    if (r == WEIR_ENOENT)
        return wr_fail(err, r, "%s; is it mounted?", why.msg);
    return wr_fail_as(err, r, &why);
}

/* Also when it is there: who made it may not have synced its entry. */
static int make_tier(const char *url, const char *label, struct wr_tier **t,
                     weir_err *err)
{
    struct wr_tier *made;
    int r = wr_tier_open(url, label, /* create= */ true, &made, err);

    if (r < 0)
        return r;
    if (*t) {
        wr_tier_close(made);
        return 0;
    }
    *t = made;
    return 0;
}

/* Rank 0 of a role that saves makes folders; those of a test are there. */
static int make_missing(weir_ckpt *c, bool near_given, bool far_given,
                        weir_err *err)
{
    int r = 0;

    if (!near_given)
        r = make_tier(c->cfg.fast, "fast", &c->near, err);
    if (r == 0 && c->cfg.slow && !far_given)
        r = make_tier(c->cfg.slow, "slow", &c->far, err);
    return r;
}

/* Twice the same folder would drain a step onto itself. */
static int check_apart(const weir_ckpt *c, weir_err *err)
{
    struct wr_stat a, b;
    int r;

    if (!c->near || !c->far)
        return 0;
    r = c->near->store->ops->stat(c->near->store, "", &a, err);
    if (r == 0)
        r = c->far->store->ops->stat(c->far->store, "", &b, err);
    if (r == 0 && a.ino && a.dev == b.dev && a.ino == b.ino)
        r = wr_fail(err, WEIR_EINVAL, "slow: '%s' is the same folder as '%s'",
                    c->cfg.slow, c->cfg.fast);
    return r;
}

int wr_lineage_open(weir_ckpt *c, struct wr_store *given[2], weir_err *err)
{
    bool near_given = given[0] != NULL, far_given = given[1] != NULL;
    bool first = c->cfg.rank == 0;
    bool adopts = c->cfg.role == WEIR_CKPT_ADOPT;
    bool makes = first && (c->cfg.role == WEIR_CKPT_SAVE || adopts);
    int r;

    r = open_tier(c->cfg.fast, "fast", makes && !adopts, &given[0], &c->near,
                  err);
    if (r == 0 && c->cfg.slow)
        r = open_tier(c->cfg.slow, "slow", makes, &given[1], &c->far, err);
    if (r == 0)
        r = check_apart(c, err);
    if (r == 0 && !adopts)
        r = judge(c, err);
    if (r < 0 || !makes)
        return r;
    r = make_missing(c, near_given, far_given, err);
    return r < 0 ? r : check_apart(c, err);
}

/* --- beginning --- */

static int set_id(weir_ckpt *c, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(c);
    int r = 0;

    if (!last->store_id[0])
        r = wr_tier_link_make(last, last->store_id, err);
    if (r == 0 && c->far)
        wr_tier_set_store(c->near, last->store_id);
    return r;
}

/* What only the near tier has would be drained above what another machine has
 * saved since, and takes the numbers of steps that this one will save. */
int wr_lineage_set_aside(weir_ckpt *c, weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy near, far;

        r = wr_step_look(c->near, steps[i], &near, err);
        if (r == 0)
            r = wr_step_look(c->far, steps[i], &far, err);
        if (r < 0 || near.is < WEIR_COPY_COMPLETE ||
            (far.is >= WEIR_COPY_COMPLETE && !strcmp(near.id, far.id)))
            continue;
        r = wr_aside_put(c->near, steps[i], near.id, err);
    }
    free(steps);
    return r < 0 ? r : wr_tier_sync_root(c->near, err);
}

/* The fast tier is this writer's from now on. */
static int link_fast(weir_ckpt *c, weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_FAST,
                                .generation = c->generation};

    memcpy(link.store, c->far->store_id, sizeof(link.store));
    return wr_tier_link_write(c->near, &link, err);
}

int wr_lineage_begin(weir_ckpt *c, weir_err *err)
{
    uint64_t near = 0, far = 0;
    bool stale = false;
    int r = set_id(c, err);

    if (r == 0)
        r = newest_generation(c->near, &near, err);
    if (r == 0 && c->far)
        r = newest_generation(c->far, &far, err);
    if (r < 0)
        return r;
    stale = c->far && far > c->fast_generation;
    near = WR_MAX(near, far);
    r = wr_tier_generation_take(
        wr_ckpt_last(c), WR_MAX(near, c->fast_generation), &c->generation, err);
    if (r == 0 && stale)
        r = wr_lineage_set_aside(c, err);
    if (r == 0 && c->far)
        r = link_fast(c, err);
    if (r == 0)
        c->fast_generation = c->generation;
    return r;
}

/* --- later --- */

/* Beside a process that drains the trainer may have made the store, or opened it
 * anew. */
static int read_links(weir_ckpt *c, weir_err *err)
{
    struct tier_kin near, far;
    int r;

    if (c->generation || c->cfg.role == WEIR_CKPT_ADOPT)
        return 0;
    r = look_at_kin(c->near, /* reads= */ true, &near, err);
    if (r == 0)
        r = look_at_kin(c->far, /* reads= */ true, &far, err);
    if (r == 0 && c->cfg.role != WEIR_CKPT_READ)
        r = judge_pair(c, &near, &far, err);
    if (r == 0)
        note_kin(c, &near, &far);
    return r;
}

int wr_lineage_is_stale(weir_ckpt *c, bool *ret, weir_err *err)
{
    uint64_t last = 0, newest = 0;
    int r;

    if (!c->far) {
        *ret = false;
        return 0;
    }
    r = read_links(c, err);
    if (r == 0)
        r = wr_tier_generation(c->far, &last, err);
    /* Mostly nobody else has been there. */
    if (r == 0 && last > c->fast_generation)
        r = newest_generation(c->far, &newest, err);
    if (r == 0)
        *ret = newest > c->fast_generation;
    return r;
}

int wr_lineage_check(weir_ckpt *c, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(c);
    uint64_t n;
    int r;

    if (!c->generation)
        return 0;
    r = wr_tier_generation(last, &n, err);
    if (r < 0 || n <= c->generation)
        return r;
    return wr_fail(err, WEIR_EFENCED,
                   "'%s': another writer opened this store (generation %" PRIu64
                   ", this one's is %" PRIu64 ")",
                   last->shown, n, c->generation);
}
