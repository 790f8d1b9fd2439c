/* find_cacheable.c - D07: a data set that fits into memory is read from storage again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

static uint64_t most_read(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && u->passes > 1 ? u->bytes_read : 0;
}

/* What reads of all epochs but the first took longer than from memory, in ns. */
static double waited(const struct wr_trace_analysis *a)
{
    double ns = 0, cached = 0;

    for (size_t k = 1; k < a->epoch_count; k++) {
        ns += (double)a->epochs[k].set_ns;
        cached += wr_find_cached((double)a->epochs[k].set_reads,
                                 (double)a->epochs[k].set_bytes);
    }
    return ns > 2 * cached ? ns - cached : 0;
}

static double later_s(const struct wr_trace_analysis *a)
{
    double s = 0;

    for (size_t k = 1; k < a->epoch_count; k++)
        s += (double)a->epochs[k].set_ns * 1e-9;
    return s;
}

/* The share of what was read again that came from storage; where the kernel does
 * not count that, the time of reads says it. */
static double from_storage(const struct wr_trace_analysis *a)
{
    double again = (double)(a->set_bytes - a->set_unique), share;

    if (a->device_read == UINT64_MAX || !a->set_counted)
        return 1;
    if (a->device_read <= a->set_unique)
        return 0;
    share = (double)(a->device_read - a->set_unique) / again;
    return share < 1 ? share : 1;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t memory = wr_trace_file_info(a->file)->available_bytes;
    double later;
    char root[512], quoted[600];

    if (a->epoch_count < 2 || a->set_bytes <= a->set_unique ||
        (double)a->set_unique > 0.8 * (double)memory)
        return false;
    later = from_storage(a);
    if (later < 0.2)
        return false;
    f->seconds = wr_find_lost(a, waited(a));
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (!wr_find_matters(a, f->seconds))
        return false;
    wr_find_root(a, root, sizeof(root));
    snprintf(f->what, sizeof(f->what),
             "The data set (%.1f GB) fits into memory (%.1f GB free), and is "
             "still read from storage in each epoch.",
             (double)a->set_unique * 1e-9, (double)memory * 1e-9);
    snprintf(f->evidence, sizeof(f->evidence),
             "%zu epochs; %.0f %% of what was read again came from storage; "
             "reads of the later epochs took %.1f s, from memory %.1f s.",
             a->epoch_count, 100 * later, later_s(a),
             later_s(a) - waited(a) * 1e-9);
    snprintf(f->change, sizeof(f->change),
             "cp -r %.300s /dev/shm/ and train from there; tf.data: "
             "ds.cache(); PyTorch: keep what __getitem__ has read in a dict",
             wr_find_quote(root, quoted, sizeof(quoted)));
    wr_find_files(a, f, most_read);
    return true;
}

const struct wr_trace_finding_rule wr_find_cacheable = {
    "D07", "the data set fits into memory", look};
