/* retention.c - which steps may go. A function of what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/retention.h"

#define NOWHERE SIZE_MAX

/* What was seen of the newer steps while walking from the newest down. */
struct walk {
    uint32_t good;     /* steps with a whole copy somewhere */
    uint32_t drained;  /* whole fast copies that are safe on the slow tier */
    size_t fast, slow; /* newest whole copy of each tier; NOWHERE */
    size_t fast_v, slow_v; /* newest verified one */
    size_t latest;         /* good one that was saved last, as it was counted */
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

static bool is_wanted(const struct wr_retention *r, const weir_ckpt_entry *e,
                      const struct walk *w, size_t at)
{
    return r->keep_last == 0 || w->good < r->keep_last || e->pinned ||
           at == w->latest ||
           (r->keep_every > 0 && e->step % r->keep_every == 0);
}

/* The fast tier, as a buffer before a slow one. */
static bool buffer_stays(const struct wr_retention *r, const weir_ckpt_entry *e,
                         struct walk *w, bool wanted, size_t at)
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

static bool is_newer(const weir_ckpt_entry *a, const weir_ckpt_entry *b)
{
    if (a->generation != b->generation)
        return a->generation > b->generation;
    return a->seq != b->seq ? a->seq > b->seq : a->step > b->step;
}

static size_t find_latest(const struct wr_retention *r,
                          const weir_ckpt_entry *steps, size_t count)
{
    size_t latest = NOWHERE;

    for (size_t i = 0; i < count && steps[i].step <= r->after; i++)
        if ((is_good(steps[i].fast) || is_good(steps[i].slow)) &&
            (latest == NOWHERE || is_newer(&steps[i], &steps[latest])))
            latest = i;
    return latest;
}

/* A stale copy is for somebody to decide about. */
static bool goes(enum weir_copy copy, bool stays)
{
    return copy != WEIR_COPY_NONE && copy != WEIR_COPY_STALE && !stays;
}

static void judge_step(const struct wr_retention *r, const weir_ckpt_entry *e,
                       struct walk *w, size_t at, struct wr_fate *ret)
{
    bool fast = false, slow = false, wanted;

    if (e->step <= r->after) {
        wanted = is_wanted(r, e, w, at);
        if (r->two_tiers) {
            fast = buffer_stays(r, e, w, wanted, at);
            slow = last_stays(e->slow, &w->slow, &w->slow_v,
                              wanted || (fast && is_good(e->fast)), at);
        } else {
            fast = last_stays(e->fast, &w->fast, &w->fast_v, wanted, at);
        }
        w->good += is_good(e->fast) || is_good(e->slow);
    }
    ret->fast_goes = goes(e->fast, fast);
    ret->slow_goes = goes(e->slow, slow);
}

/* Whether generations rise with the steps, as they do unless a run went back. */
static bool is_rising(const weir_ckpt_entry *steps, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (steps[i].generation < steps[i - 1].generation)
            return false;
    return true;
}

/* The next one below steps[at] by (generation, step), where they do not rise;
 * `at` NOWHERE: the highest. */
static size_t search_below(const weir_ckpt_entry *steps, size_t count,
                           size_t at)
{
    size_t best = NOWHERE;

    for (size_t i = count; i-- > 0;) {
        uint64_t g = steps[i].generation;
        bool below = at == NOWHERE || g < steps[at].generation ||
                     (g == steps[at].generation && i < at);

        if (below && (best == NOWHERE || g > steps[best].generation))
            best = i;
    }
    return best;
}

void wr_retention_judge(const struct wr_retention *r,
                        const weir_ckpt_entry *steps, size_t count,
                        struct wr_fate *ret)
{
    struct walk w = {.fast = NOWHERE,
                     .slow = NOWHERE,
                     .fast_v = NOWHERE,
                     .slow_v = NOWHERE,
                     .latest = find_latest(r, steps, count)};
    bool rising = is_rising(steps, count);
    size_t at = NOWHERE;

    for (size_t i = count; i-- > 0;) {
        at = rising ? i : search_below(steps, count, at);
        judge_step(r, &steps[at], &w, at, &ret[at]);
    }
}
