/* find_slow_tier.c - S06: checkpoints go to a slow shared file system.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.01

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double all = wr_find_pauses(a, true, f);
    const struct wr_trace_mount *m;
    uint64_t bytes = 0;
    double seconds = 0;
    unsigned n = 0;

    if (all <= 0 || all < SHARE * wr_find_run(a))
        return false;
    m = wr_trace_mount_of(
        a, wr_trace_file_name(a->file, f->examples[0].file)->path);
    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        if (!wr_find_is_checkpoint(s))
            continue;
        n += s->bursts;
        bytes += s->bytes;
        seconds += (double)s->pause_ns * 1e-9;
    }
    f->seconds = all / wr_find_epochs(a);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Training waits while checkpoints go to a shared file system "
             "(%.60s).",
             m ? m->type : "?");
    snprintf(f->evidence, sizeof(f->evidence),
             "%u saves of %.1f MB at %.0f MB/s, %.0f %% of the run.", n,
             (double)bytes / n * 1e-6, (double)bytes / seconds * 1e-6,
             100 * all / wr_find_run(a));
    snprintf(f->change, sizeof(f->change),
             "Save to a local disk and copy on in the background: weir ckpt "
             "drain --watch /local/ssd/ckpt %.200s/ckpt",
             m ? m->path : "/shared");
    return true;
}

const struct wr_trace_finding_rule wr_find_slow_tier = {
    "S06", "checkpoints on a slow tier", look};
