/* retention.c - which steps may go. A function of what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/retention.h"

#define NOWHERE SIZE_MAX

/* What was seen of the newer steps while walking from the newest down. */
struct walk {
    uint32_t good;     /* steps of the chain with a whole copy somewhere */
    uint32_t left;     /* abandoned ones */
    uint32_t drained;  /* whole fast copies that are safe on the slow tier */
    size_t fast, slow; /* newest whole copy of each tier; NOWHERE */
    size_t fast_v, slow_v; /* newest verified one */
    bool verified;         /* a step of the chain, on the last tier (without
                              `verify`: is there) */
};

static bool is_good(enum weir_copy c)
{
    return c >= WEIR_COPY_COMPLETE;
}

/* The first one from above stays: newest of its kind. */
static bool is_first(size_t *seen, bool is, size_t at)
{
    if (!is || *seen != NOWHERE)
        return false;
    *seen = at;
    return true;
}

static bool is_wanted(const struct wr_retention *r,
                      const struct wr_stock_step *e, const struct walk *w)
{
    if (r->keep_last == 0 || e->pinned)
        return true;
    if (e->abandoned)
        return !w->verified || w->left < r->keep_abandoned;
    return w->good < r->keep_last ||
           (r->keep_every > 0 && e->step % r->keep_every == 0);
}

/* The fast tier, as a buffer before a slow one. */
static bool buffer_stays(const struct wr_retention *r,
                         const struct wr_stock_step *e, struct walk *w,
                         bool wanted, size_t at)
{
    bool drained = wr_retention_drained(r, e);
    bool verified = is_first(&w->fast_v, e->fast == WEIR_COPY_VERIFIED, at);

    if (!is_good(e->fast))
        return e->fast == WEIR_COPY_DAMAGED && wanted && !drained;
    if (!drained)
        return true;
    w->drained++;
    return w->drained <= r->keep_fast ||
           (verified && e->slow != WEIR_COPY_VERIFIED);
}

static bool last_stays(enum weir_copy copy, size_t *good, size_t *verified,
                       bool wanted, size_t at)
{
    bool newest = is_first(good, is_good(copy), at);
    bool checked = is_first(verified, copy == WEIR_COPY_VERIFIED, at);

    return copy != WEIR_COPY_NONE && (wanted || newest || checked);
}

/* A stale copy is for somebody to decide about. */
static bool goes(enum weir_copy copy, bool stays)
{
    return copy != WEIR_COPY_NONE && copy != WEIR_COPY_STALE && !stays;
}

static void judge_step(const struct wr_retention *r,
                       const struct wr_stock_step *e, struct walk *w, size_t at,
                       struct wr_fate *ret)
{
    bool fast = false, slow = false, wanted;

    if (e->step <= r->after) {
        wanted = is_wanted(r, e, w);
        if (r->two_tiers) {
            fast = buffer_stays(r, e, w, wanted, at);
            slow = last_stays(e->slow, &w->slow, &w->slow_v,
                              wanted || (fast && is_good(e->fast)), at);
        } else {
            fast = last_stays(e->fast, &w->fast, &w->fast_v, wanted, at);
        }
        if (is_good(e->fast) || is_good(e->slow))
            *(e->abandoned ? &w->left : &w->good) += 1;
        w->verified |= !e->abandoned && (r->two_tiers ? e->slow : e->fast) >=
                                            (r->verify ? WEIR_COPY_VERIFIED
                                                       : WEIR_COPY_COMPLETE);
    }
    ret->fast_goes = goes(e->fast, fast);
    ret->slow_goes = goes(e->slow, slow);
}

size_t wr_retention_judge(const struct wr_retention *r,
                          const struct wr_stock_step *steps, size_t count,
                          struct wr_fate *ret)
{
    struct walk w = {
        .fast = NOWHERE, .slow = NOWHERE, .fast_v = NOWHERE, .slow_v = NOWHERE};
    size_t go = 0;

    for (size_t i = count; i-- > 0;) {
        judge_step(r, &steps[i], &w, i, &ret[i]);
        go += ret[i].fast_goes || ret[i].slow_goes;
    }
    return go;
}
