/* pause.c - time that passes in a run, and can be interrupted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/pause.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "run/job.h"

int wr_run_pause(const struct wr_run_job *job, double seconds, weir_err *err)
{
    uint64_t end = wr_clock_ns() + (uint64_t)(fmin(seconds, 1e6) * 1e9), now;

    while ((now = wr_clock_ns()) < end) {
        if (job->plan->stopped && job->plan->stopped())
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        wr_clock_sleep_until(WR_MIN(end, now + 100 * WR_NS_PER_MS));
    }
    return 0;
}
