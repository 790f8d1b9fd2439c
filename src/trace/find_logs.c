/* find_logs.c - D20: small writes to logs hold up the main thread.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.01

static uint64_t most_logged(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_OUTPUT && !(u->fault & WR_TRACE_SAVED)
               ? u->write_ns + u->sync_ns
               : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t ns = 0, n = 0;
    double all;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];

        if (a->actors[t->process].job != WR_TRACE_JOB_MAIN ||
            t->tid != (uint32_t)wr_trace_file_process(a->file, t->process)->pid)
            continue;
        ns += t->small_output_ns;
        n += t->small_outputs;
    }
    all = (double)ns * 1e-9 / WR_MAX(1, a->mains);
    if (all < SHARE * wr_find_run(a) || n < 10 || !wr_find_trains(a))
        return false;
    f->seconds = all / wr_find_epochs(a);
    f->gain = 0.9 * f->seconds;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "Small writes and syncs of logs take %.1f %% of the main thread's "
             "time.",
             100 * all / wr_find_run(a));
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " writes below 4 KiB and syncs, %.2f ms each.", n,
             (double)ns / (double)n * 1e-6);
    snprintf(f->change, sizeof(f->change),
             "SummaryWriter(..., max_queue=1000, flush_secs=60); "
             "open(log, 'a', buffering=1 << 16) and no fsync per line");
    wr_find_files(a, f, most_logged);
    return true;
}

const struct wr_trace_finding_rule wr_find_logs = {"D20", "logs in the step",
                                                   look};
