/* clock.c - monotonic time in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>
#include <sys/prctl.h>

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
