/* find_metadata.c - D10: opening files takes longer than reading them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define LEAST 100 /* opens */

static uint64_t most_meta(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->meta_ns : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    char root[512], from[600], to[620];

    if (!wr_find_loads(a) || a->set_opens < LEAST ||
        a->set_meta_ns <= a->set_ns)
        return false;
    f->seconds = wr_find_lost(a, (double)a->set_meta_ns);
    f->gain = 0.95 * f->seconds;
    f->sure = WR_TRACE_FINDING_SURE;
    if (!wr_find_matters(a, f->seconds))
        return false;
    wr_find_root(a, root, sizeof(root));
    snprintf(to, sizeof(to), "%s-shards", root);
    snprintf(f->what, sizeof(f->what),
             "Opening and closing files takes longer than reading them.");
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " opens of %" PRIu64 " files of %.1f KB: %.1f s of "
             "metadata calls, %.1f s of reads.",
             a->set_opens, a->set_files,
             (double)a->set_sizes / (double)a->set_files * 1e-3,
             (double)a->set_meta_ns * 1e-9, (double)a->set_ns * 1e-9);
    wr_find_quote(root, from, sizeof(from));
    wr_find_quote(to, root, sizeof(root));
    snprintf(f->change, sizeof(f->change),
             "weir convert %.180s %.180s --to tar --shard-size 256MiB", from,
             root);
    wr_find_files(a, f, most_meta);
    return true;
}

const struct wr_trace_finding_rule wr_find_metadata = {
    "D10", "metadata-bound: pack small files", look};
