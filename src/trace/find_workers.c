/* find_workers.c - D02: too few or too many workers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define BUSY 0.9
#define IDLE 0.4

static void too_few(const struct wr_trace_analysis *a, double busy,
                    double window, struct wr_trace_finding *f)
{
    unsigned n = a->workers_at_once;
    unsigned cores = wr_trace_file_info(a->file)->cores;
    unsigned more = WR_MIN(2 * n, WR_MAX(n + 1, cores));

    f->seconds = window / wr_find_epochs(a) * (1 - (double)n / more);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_MAYBE;
    snprintf(f->what, sizeof(f->what),
             "All %u workers work all the time: the trainer is faster than "
             "they are, and waits.",
             n);
    snprintf(f->evidence, sizeof(f->evidence),
             "Workers are busy %.0f %% of the time; they never wait for the "
             "trainer. The machine has %u cores.",
             100 * busy, cores);
    snprintf(f->change, sizeof(f->change),
             "DataLoader(..., num_workers=%u) (up to this much, if storage and "
             "cores keep up); tf.data: num_parallel_calls=%u",
             more, more);
}

static void too_many(const struct wr_trace_analysis *a, double busy,
                     struct wr_trace_finding *f)
{
    unsigned n = (unsigned)(a->workers_at_once * busy / 0.8 + 1);

    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "There are more workers (%u) than cores (%u), and they wait most "
             "of the time: they cost memory and start-up.",
             a->workers_at_once, wr_trace_file_info(a->file)->cores);
    snprintf(f->evidence, sizeof(f->evidence), "Workers are busy %.0f %%.",
             100 * busy);
    snprintf(f->change, sizeof(f->change), "DataLoader(..., num_workers=%u)",
             n);
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double busy = wr_find_busy(a),
           window = wr_find_window(a) * wr_find_epochs(a);
    unsigned cores = wr_trace_file_info(a->file)->cores;

    if (busy < 0 || a->gaps.total < 64 || window < 0.2 * wr_find_run(a))
        return false;
    if (busy > BUSY && a->workers_at_once < cores) {
        too_few(a, busy, window, f);
        return wr_find_matters(a, f->seconds);
    }
    if (busy < IDLE && a->workers_at_once > cores) {
        too_many(a, busy, f);
        return true;
    }
    return false;
}

const struct wr_trace_finding_rule wr_find_workers = {
    "D02", "too few or too many workers", look};
