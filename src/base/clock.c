/* clock.c - monotonic time in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/mem.h"

/* --- a heap of things that are due at a time, the earliest first --- */

static bool is_before(const struct wr_due *a, const struct wr_due *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void wr_due_done(struct wr_due_heap *h)
{
    free(h->items);
    *h = (struct wr_due_heap){0};
}

bool wr_due_reserve(struct wr_due_heap *h, size_t count)
{
    return wr_grow(&h->items, &h->cap, count, sizeof(*h->items));
}

bool wr_due_push(struct wr_due_heap *h, struct wr_due *item)
{
    size_t i = h->count, up;

    if (!wr_due_reserve(h, h->count + 1))
        return false;
    item->order = h->pushed++;
    for (; i > 0; i = up) {
        up = (i - 1) / 2;
        if (!is_before(item, h->items[up]))
            break;
        h->items[i] = h->items[up];
    }
    h->items[i] = item;
    h->count++;
    return true;
}

/* Puts the last one where the first was taken out, and mends the order. */
static void refill_top(struct wr_due_heap *h)
{
    struct wr_due *last = h->items[--h->count];
    size_t i = 0, down;

    for (;; i = down) {
        down = 2 * i + 1;
        if (down >= h->count)
            break;
        if (down + 1 < h->count &&
            is_before(h->items[down + 1], h->items[down]))
            down++;
        if (!is_before(h->items[down], last))
            break;
        h->items[i] = h->items[down];
    }
    h->items[i] = last;
}

struct wr_due *wr_due_pop(struct wr_due_heap *h, uint64_t now_ns)
{
    struct wr_due *first;

    if (h->count == 0 || h->items[0]->at_ns > now_ns)
        return NULL;
    first = h->items[0];
    refill_top(h);
    return first;
}

uint64_t wr_due_next(const struct wr_due_heap *h)
{
    return h->count ? h->items[0]->at_ns : WR_DUE_NEVER;
}

/* --- clocks --- */

#define MAX_MARGIN_NS 60000u
#define STEP_NS       400u

void wr_clock_sleep_until(uint64_t deadline_ns)
{
    struct timespec ts = {
        .tv_sec = (time_t)(deadline_ns / WR_NS_PER_SEC),
        .tv_nsec = (long)(deadline_ns % WR_NS_PER_SEC),
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}

void wr_clock_sleep_closely(uint64_t deadline_ns)
{
    int slack = prctl(PR_GET_TIMERSLACK);

    prctl(PR_SET_TIMERSLACK, 1ul);
    wr_clock_sleep_until(deadline_ns);
    prctl(PR_SET_TIMERSLACK, slack > 0 ? (unsigned long)slack : 0ul);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Steps of three up and one down settle where three of four sleeps are in time.
 * Threads may lose a step of each other's; no harm. */
static void learn(struct wr_clock_sleeper *s, uint64_t late_ns)
{
    unsigned margin = atomic_load_explicit(&s->margin_ns, memory_order_relaxed);

    if (late_ns > margin)
        margin += 3 * STEP_NS;
    else
        margin -= margin < STEP_NS ? margin : STEP_NS;
    if (margin <= MAX_MARGIN_NS)
        atomic_store_explicit(&s->margin_ns, margin, memory_order_relaxed);
}

void wr_clock_sleep_exactly(struct wr_clock_sleeper *s, uint64_t deadline_ns)
{
    unsigned margin = atomic_load_explicit(&s->margin_ns, memory_order_relaxed);
    uint64_t now = wr_clock_ns();

    if (now + margin < deadline_ns) {
        wr_clock_sleep_closely(deadline_ns - margin);
        now = wr_clock_ns();
        learn(s, now - (deadline_ns - margin));
    }
    while (now < deadline_ns) {
        relax();
        now = wr_clock_ns();
    }
}
