/* clock.h - time in nanoseconds, waiting for it, and what is due at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <stdbool.h>
#include <stddef.h>

#define WR_NS_PER_SEC UINT64_C(1000000000)
#define WR_NS_PER_MS  UINT64_C(1000000)

static inline uint64_t wr_clock_of(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * WR_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static inline uint64_t wr_clock_ns(void)
{
    return wr_clock_of(CLOCK_MONOTONIC);
}

/* Since 1970; may jump. For what other programs and machines compare. */
static inline uint64_t wr_clock_wall_ns(void)
{
    return wr_clock_of(CLOCK_REALTIME);
}

/* CPU time of the calling thread; of the process. */
static inline uint64_t wr_clock_thread_cpu_ns(void)
{
    return wr_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t wr_clock_process_cpu_ns(void)
{
    return wr_clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Sleeps until wr_clock_ns() reaches `deadline_ns`. */
void wr_clock_sleep_until(uint64_t deadline_ns);

/* The same without the timer slack of the thread (50 us by default): as late as
 * the machine wakes threads up, and no more. Does not spin. */
void wr_clock_sleep_closely(uint64_t deadline_ns);

/* How late sleeps end here, learned from them. Zeroed at first; threads may
 * share one. */
struct wr_clock_sleeper {
    atomic_uint margin_ns;
};

/* The same to a few microseconds: sleeps a little shorter than asked for, and
 * spins for the rest.
 * The rest is as long as most sleeps here are late, and never over 60 us. */
void wr_clock_sleep_exactly(struct wr_clock_sleeper *s, uint64_t deadline_ns);

/* --- a heap of things that are due at a time, the earliest first ---
 *
 * Knows no clock: `now` is given, so that its tests run in virtual time. */

#define WR_DUE_NEVER UINT64_MAX

/* First member of what is kept in the heap. */
struct wr_due {
    uint64_t at_ns;
    uint64_t order; /* set by push: equal times leave as they came */
};

struct wr_due_heap {
    struct wr_due **items; /* owned array of borrowed things */
    size_t count, cap;
    uint64_t pushed;
};

void wr_due_done(struct wr_due_heap *h); /* zeroed memory is an empty heap */

/* Memory for `count` things, so that pushing up to so many never fails. */
bool wr_due_reserve(struct wr_due_heap *h, size_t count);

/* False when memory is short: then it is not in the heap. */
bool wr_due_push(struct wr_due_heap *h, struct wr_due *item);

/* Takes out the earliest one that is due at `now_ns`; NULL: none is. */
struct wr_due *wr_due_pop(struct wr_due_heap *h, uint64_t now_ns);

/* When the earliest one is due; WR_DUE_NEVER when there is none. */
uint64_t wr_due_next(const struct wr_due_heap *h);

#endif
