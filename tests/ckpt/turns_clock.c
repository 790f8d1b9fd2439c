/* turns_clock.c - a wall clock that is wrong; linked with --wrap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns_clock.h"

#include <stdatomic.h>
#include <time.h>

static atomic_int_fast64_t skew_s;

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

void turns_clock_skew(int64_t seconds)
{
    skew_s = seconds;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
    int r = __real_clock_gettime(id, ts);

    if (r == 0 && id == CLOCK_REALTIME)
        ts->tv_sec += (time_t)skew_s;
    return r;
}
