/* find_unseen.c - D21: the kernel counted more than the trace has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE      0.05
#define READ_AHEAD (UINT64_C(1) << 20)
#define LEAST      (UINT64_C(16) << 20)

/* What devices may have given for mapped code: not much more than is read ahead
 * for each fault. */
static uint64_t paged_in(const struct wr_trace_analysis *a)
{
    uint64_t faults = 0;

    for (size_t k = 0; k < a->actor_count; k++) {
        uint64_t n = wr_trace_file_process(a->file, k)->major_faults;

        faults += n == UINT64_MAX ? 0 : n;
    }
    return WR_MIN(faults, UINT64_MAX / READ_AHEAD) * READ_AHEAD;
}

/* The kernel counts system calls, and what devices gave; requests of rings are
 * in the second alone. */
static uint64_t missing(const struct wr_trace_analysis *a)
{
    uint64_t calls = a->traced_read - a->async_read, n = 0;
    uint64_t known = a->traced_read + paged_in(a);

    if (a->counted_read != UINT64_MAX && a->counted_read > calls)
        n = a->counted_read - calls;
    if (a->device_read != UINT64_MAX && a->device_read > known)
        n = WR_MAX(n, a->device_read - known);
    return n;
}

static void say_what(const struct wr_trace_info *info, double share,
                     struct wr_trace_finding *f)
{
    if (!info->by_kernel) {
        snprintf(f->what, sizeof(f->what),
                 "The trace does not show %.0f %% of what was read: io_uring, "
                 "mapped files or a static program.",
                 share);
        snprintf(f->change, sizeof(f->change), "weir trace --kernel -- %.400s",
                 info->command ? info->command : "COMMAND");
        return;
    }
    snprintf(f->what, sizeof(f->what),
             "The trace does not show %.0f %% of what was read, though the "
             "kernel was asked: %s.",
             share,
             info->lost_records ? "records were lost"
                                : "mapped files, or programs of 32 bits");
    snprintf(f->change, sizeof(f->change), "%s",
             info->lost_records
                 ? "trace a shorter run, or leave weir trace a core of its own"
                 : "none: reads of mapped memory have no calls to record");
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_trace_info *info = wr_trace_file_info(a->file);
    uint64_t kernel = a->traced_read, unseen = missing(a);

    kernel += unseen;
    if (a->lost_events) /* which is told elsewhere */
        return false;
    if (unseen < LEAST || (double)unseen < SHARE * (double)kernel)
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_SURE;
    say_what(info, 100 * (double)unseen / (double)kernel, f);
    snprintf(f->evidence, sizeof(f->evidence),
             "The kernel counted %.1f MB (from devices %.1f MB), the trace has "
             "%.1f MB.",
             (double)kernel * 1e-6,
             a->device_read == UINT64_MAX ? 0 : (double)a->device_read * 1e-6,
             (double)a->traced_read * 1e-6);
    return true;
}

const struct wr_trace_finding_rule wr_find_unseen = {"D21", "unseen I/O", look};
