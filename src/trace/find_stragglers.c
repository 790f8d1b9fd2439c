/* find_stragglers.c - D03: one worker is slow, and all wait for it in turn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SLOWER 3.0
#define BUSY   0.6

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double slowest = 0, sum = 0, rest, busiest = 0, busy = 0;
    double share = 0; /* of its time in which the slowest one reads */
    uint32_t who = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];
        double mean;

        if (a->actors[t->process].job != WR_TRACE_JOB_WORKER ||
            t->set_reads < 50)
            continue;
        mean = (double)t->set_ns / (double)t->set_reads;
        sum += mean;
        busy += (double)t->set_ns;
        busiest = WR_MAX(busiest, (double)t->set_ns);
        n++;
        if (mean > slowest) {
            slowest = mean;
            who = t->process;
            share = (double)t->set_ns /
                    (double)(t->last_set - t->first_set + 1);
        }
    }
    if (n < 3 || share < BUSY)
        return false;
    rest = (sum - slowest) / (n - 1);
    if (slowest < SLOWER * rest)
        return false;
    /* Whoever is free takes the next batch: all work as long as the mean. */
    f->seconds = (busiest - busy / n) * 1e-9 / wr_find_epochs(a);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_MAYBE;
    snprintf(f->what, sizeof(f->what),
             "One worker is slow: batches come in order, so every %u-th one is "
             "late.",
             a->workers_at_once);
    snprintf(f->evidence, sizeof(f->evidence),
             "Process %d spends %.2f ms per read, the others %.2f ms.",
             (int)wr_trace_file_process(a->file, who)->pid, slowest * 1e-6,
             rest * 1e-6);
    snprintf(f->change, sizeof(f->change),
             "DataLoader(..., prefetch_factor=8, in_order=False) (PyTorch 2.6 "
             "on); tf.data: options.deterministic = False");
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_stragglers = {
    "D03", "every N-th batch is slow", look};
