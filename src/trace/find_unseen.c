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

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t kernel = 0, unseen, paged = paged_in(a);

    if (a->counted_read != UINT64_MAX)
        kernel = a->counted_read;
    if (a->device_read != UINT64_MAX && a->device_read > paged)
        kernel = WR_MAX(kernel, a->device_read - paged);
    if (a->lost_events || kernel <= a->traced_read)
        return false; /* lost events are told elsewhere */
    unseen = kernel - a->traced_read;
    if (unseen < LEAST || (double)unseen < SHARE * (double)kernel)
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "The trace does not show %.0f %% of what was read: io_uring, "
             "mapped files or a static program.",
             100 * (double)unseen / (double)kernel);
    snprintf(f->evidence, sizeof(f->evidence),
             "The kernel counted %.1f MB (from devices %.1f MB), the trace has "
             "%.1f MB.",
             (double)kernel * 1e-6,
             a->device_read == UINT64_MAX ? 0 : (double)a->device_read * 1e-6,
             (double)a->traced_read * 1e-6);
    snprintf(f->change, sizeof(f->change), "weir trace --kernel -- %.400s",
             wr_trace_file_info(a->file)->command
                 ? wr_trace_file_info(a->file)->command
                 : "COMMAND");
    return true;
}

const struct wr_trace_finding_rule wr_find_unseen = {"D21", "unseen I/O", look};
