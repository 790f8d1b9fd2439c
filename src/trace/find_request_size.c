/* find_request_size.c - S01: requests are smaller than the file system's stripes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_trace_mount *m = wr_find_mount(a);
    const struct wr_trace_common *c = &a->common_reads[0];
    char root[512], quoted[600], path[600];
    double share = (double)(a->set_ns) * 1e-9 / wr_find_readers(a);

    if (!m || !m->network || m->block < 65536 || c->bytes < 4096 ||
        c->bytes >= m->block || c->count * 2 < a->set_reads ||
        a->set_sizes / WR_MAX(1, a->set_files) < m->block ||
        share < 0.02 * wr_find_run(a))
        return false;
    wr_find_root(a, root, sizeof(root));
    wr_find_quote(root, quoted, sizeof(quoted));
    wr_find_quote(m->path, path, sizeof(path));
    f->sure = WR_TRACE_FINDING_MAYBE;
    snprintf(f->what, sizeof(f->what),
             "Most reads ask for %.0f KB of a file system that works in pieces "
             "of %.0f KB.",
             (double)c->bytes * 1e-3, (double)m->block * 1e-3);
    snprintf(f->evidence, sizeof(f->evidence),
             "%.0f %% of %" PRIu64
             " reads have that size; %.40s on %.40s. What "
             "it costs is not in the trace.",
             100 * (double)c->count / (double)a->set_reads, a->set_reads,
             m->type, m->path);
    snprintf(f->change, sizeof(f->change),
             "TFRecordDataset(files, buffer_size=%" PRIu64
             ") (or lfs setstripe "
             "-S %" PRIu64 " for the folder); weir probe %.200s measures both",
             m->block, c->bytes, path);
    return true;
}

const struct wr_trace_finding_rule wr_find_request_size = {
    "S01", "requests below the stripe size", look};
