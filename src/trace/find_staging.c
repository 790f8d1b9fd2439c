/* find_staging.c - S05: the data set is read over the network in each epoch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.05

static uint64_t most_read(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && u->passes > 1 ? u->read_ns : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_trace_mount *m = wr_find_mount(a);
    uint64_t memory = wr_trace_file_info(a->file)->available_bytes;
    double epochs = wr_find_epochs(a), lost;
    char root[512], quoted[600];

    if (!m || !m->network || a->epoch_count < 2)
        return false;
    if ((double)a->set_unique <= 0.8 * (double)memory ||
        (a->device_read != UINT64_MAX && a->set_counted &&
         a->device_read < a->set_bytes / 2))
        return false; /* D07, or the page cache serves it already */
    lost = wr_find_lost(a, (double)(a->set_ns + a->set_meta_ns)) *
           (epochs - 1) / epochs;
    if (lost * epochs < SHARE * wr_find_run(a))
        return false;
    f->seconds = lost;
    f->gain = 0.7 * lost;
    f->sure = WR_TRACE_FINDING_MAYBE;
    wr_find_root(a, root, sizeof(root));
    snprintf(f->what, sizeof(f->what),
             "The data set is read over the network (%.60s) in every epoch.",
             m->type);
    snprintf(f->evidence, sizeof(f->evidence),
             "%.0f epochs of %.1f GB from %.60s; %.0f MB/s per request.",
             epochs, (double)a->set_unique * 1e-9, m->path,
             (double)a->set_bytes / (double)WR_MAX(1, a->set_ns) * 1e3);
    snprintf(f->change, sizeof(f->change),
             "Copy it to a local disk first: weir stage %.300s "
             "/local/ssd:%.0fGB",
             wr_find_quote(root, quoted, sizeof(quoted)),
             (double)a->set_unique * 1e-9 + 1);
    wr_find_files(a, f, most_read);
    return true;
}

const struct wr_trace_finding_rule wr_find_staging = {
    "S05", "stage the data set on a local disk", look};
