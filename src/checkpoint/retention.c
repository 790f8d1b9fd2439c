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
    size_t latest;         /* good one that was saved last; known before */
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

/* Of those with the same time the highest. */
static size_t find_latest(const struct wr_retention *r,
                          const weir_ckpt_entry *steps, size_t count)
{
    size_t latest = NOWHERE;

    for (size_t i = 0; i < count && steps[i].step <= r->after; i++)
        if ((is_good(steps[i].fast) || is_good(steps[i].slow)) &&
            (latest == NOWHERE || steps[i].time_ns >= steps[latest].time_ns))
            latest = i;
    return latest;
}

void wr_retention_judge(const struct wr_retention *r,
                        const weir_ckpt_entry *steps, size_t count,
                        struct wr_verdict *ret)
{
    struct walk w = {.fast = NOWHERE,
                     .slow = NOWHERE,
                     .fast_v = NOWHERE,
                     .slow_v = NOWHERE,
                     .latest = find_latest(r, steps, count)};

    for (size_t i = count; i-- > 0;) {
        const weir_ckpt_entry *e = &steps[i];
        bool fast = false, slow = false, wanted;

        if (e->step <= r->after) {
            wanted = is_wanted(r, e, &w, i);
            if (r->two_tiers) {
                fast = buffer_stays(r, e, &w, wanted, i);
                slow = last_stays(e->slow, &w.slow, &w.slow_v,
                                  wanted || (fast && is_good(e->fast)), i);
            } else {
                fast = last_stays(e->fast, &w.fast, &w.fast_v, wanted, i);
            }
            w.good += is_good(e->fast) || is_good(e->slow);
        }
        ret[i].fast_goes = e->fast != WEIR_COPY_NONE && !fast;
        ret[i].slow_goes = e->slow != WEIR_COPY_NONE && !slow;
    }
}
