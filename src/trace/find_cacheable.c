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

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t memory = wr_trace_file_info(a->file)->available_bytes;
    double again = (double)(a->set_bytes - a->set_unique), later, epochs;
    char root[512], quoted[600];

    epochs = wr_find_epochs(a);
    if (a->epoch_count < 2 || a->device_read == UINT64_MAX || again <= 0 ||
        (double)a->set_unique > 0.8 * (double)memory ||
        a->device_read <= a->set_unique)
        return false;
    later = (double)(a->device_read - a->set_unique) / again;
    later = later > 1 ? 1 : later;
    if (later < 0.2)
        return false;
    f->seconds = wr_find_lost(a, (double)a->set_ns) * later *
                 (1 - (double)a->set_unique / (double)a->set_bytes);
    f->gain = 0.9 * f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (!wr_find_matters(a, f->seconds))
        return false;
    wr_find_root(a, root, sizeof(root));
    snprintf(f->what, sizeof(f->what),
             "The data set (%.1f GB) fits into memory (%.1f GB free), and is "
             "still read from storage in each epoch.",
             (double)a->set_unique * 1e-9, (double)memory * 1e-9);
    snprintf(f->evidence, sizeof(f->evidence),
             "%.0f epochs; the device gave %.1f GB, the data set has %.1f GB: "
             "%.0f %% of what was read again came from storage.",
             epochs, (double)a->device_read * 1e-9,
             (double)a->set_unique * 1e-9, 100 * later);
    snprintf(f->change, sizeof(f->change), "weir cache warm %s",
             wr_find_quote(root, quoted, sizeof(quoted)));
    wr_find_files(a, f, most_read);
    return true;
}

const struct wr_trace_finding_rule wr_find_cacheable = {
    "D07", "the data set fits into memory", look};
