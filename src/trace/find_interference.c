/* find_interference.c - D16: reads are slow while a checkpoint is written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SLOWER 3.0
#define LEAST  100

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_hist *quiet = a->latency[WR_TRACE_LAT_READ_QUIET];
    const struct wr_hist *saving = a->latency[WR_TRACE_LAT_READ_SAVING];
    double q, s, usual;

    if (quiet->count < LEAST || saving->count < LEAST)
        return false;
    q = (double)wr_hist_quantile(quiet, 0.99);
    s = (double)wr_hist_quantile(saving, 0.99);
    usual = (double)quiet->sum / (double)quiet->count * (double)saving->count;
    if (s < SLOWER * q || (double)saving->sum <= usual)
        return false;
    f->seconds = wr_find_lost(a, (double)saving->sum - usual);
    f->gain = 0.7 * f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Reads of the data set are slower while something is written.");
    snprintf(f->evidence, sizeof(f->evidence),
             "The slowest 1 %% of reads take %.2f ms while writing, %.2f ms "
             "else (%" PRIu64 " and %" PRIu64 " reads).",
             s * 1e-6, q * 1e-6, saving->count, quiet->count);
    snprintf(f->change, sizeof(f->change),
             "Write checkpoints to another device than the data set's, or in "
             "pieces: weir ckpt bench FOLDER shows what each way costs");
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_interference = {
    "D16", "saving slows reading down", look};
