/* find_faults.c - D13: mapped files are read page by page.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.05

static uint64_t most_faults(const struct wr_trace_use *u)
{
    return u->fault_ns;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t faults = 0, ns = 0, mapped = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role == WR_TRACE_ROLE_AMBIENT)
            continue;
        faults += u->faults;
        ns += u->fault_ns;
        mapped += u->mmaps;
    }
    f->seconds = wr_find_lost(a, (double)ns);
    f->gain = 0.8 * f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (f->seconds * wr_find_epochs(a) < SHARE * wr_find_run(a) || !faults)
        return false;
    snprintf(f->what, sizeof(f->what),
             "Mapped files are read page by page: each first touch waits for "
             "the device.");
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " major page faults in %" PRIu64 " mappings, %.2f ms "
             "each.",
             faults, mapped, (double)ns / (double)faults * 1e-6);
    snprintf(f->change, sizeof(f->change),
             "Ask for the pages before they are used: "
             "mm.madvise(mmap.MADV_WILLNEED), or read them: "
             "np.load(path) without mmap_mode");
    wr_find_files(a, f, most_faults);
    return true;
}

const struct wr_trace_finding_rule wr_find_faults = {
    "D13", "page faults of mapped files", look};
