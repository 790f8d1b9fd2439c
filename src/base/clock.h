/* clock.h - monotonic time in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define WR_NS_PER_SEC UINT64_C(1000000000)
#define WR_NS_PER_MS  UINT64_C(1000000)

static inline uint64_t wr_clock_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * WR_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* CPU time of the calling thread. */
static inline uint64_t wr_clock_thread_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * WR_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Sleeps until wr_clock_ns() reaches `deadline_ns`. */
void wr_clock_sleep_until(uint64_t deadline_ns);

#endif
