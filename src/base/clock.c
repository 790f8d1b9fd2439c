/* clock.c - monotonic time in nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <errno.h>

void wr_clock_sleep_until(uint64_t deadline_ns)
{
    struct timespec ts = {
        .tv_sec = (time_t)(deadline_ns / WR_NS_PER_SEC),
        .tv_nsec = (long)(deadline_ns % WR_NS_PER_SEC),
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
        ;
}
