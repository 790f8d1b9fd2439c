/* find_scan.c - D11: the data set is scanned before training begins.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define LONG  5.0  /* seconds */
#define SHARE 0.05 /* of the run */
#define LEAST 100  /* calls */

static uint64_t most_looked_at(const struct wr_trace_use *u)
{
    return u->entries ? (uint64_t)u->entries + u->stats : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double wall = 0, idle = 0;
    uint64_t ops = 0;
    bool trains = false;

    for (size_t k = 0; k < a->phase_count; k++) {
        const struct wr_trace_phase *p = &a->phases[k];

        trains = p->kind == WR_TRACE_PHASE_TRAIN;
        if (trains)
            break;
        if (p->kind == WR_TRACE_PHASE_IDLE && ops)
            idle += (double)(p->end_ns - p->start_ns) * 1e-9;
        if (p->kind != WR_TRACE_PHASE_SCAN)
            continue;
        /* Between two calls of a scan it waits for the first one. */
        wall += (double)(p->end_ns - p->start_ns) * 1e-9 + idle;
        idle = 0;
        ops += p->sums.scan_ops;
    }
    if (!trains || !wr_find_trains(a) || ops < LEAST ||
        (wall < LONG && wall < SHARE * wr_find_run(a)))
        return false;
    f->seconds = wall;
    f->gain = 0.95 * wall;
    f->once = true;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "Training begins after a scan of the data set's folders: %.1f s.",
             wall);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " calls of stat, opendir and readdir before the first "
             "batch.",
             ops);
    snprintf(f->change, sizeof(f->change),
             "Keep the list: torch.save(dataset.samples, 'samples.pt') once, "
             "then load it instead of ImageFolder(root)");
    wr_find_files(a, f, most_looked_at);
    return true;
}

const struct wr_trace_finding_rule wr_find_scan = {
    "D11", "folders are scanned at the start", look};
