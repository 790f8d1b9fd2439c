/* clock.h - time in nanoseconds, and waiting for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

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

#endif
