/* find_record_files.c - S03: record files hold too few samples.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SMALL (UINT64_C(1) << 20)
#define LARGE (UINT64_C(64) << 20)

static uint64_t most_meta(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->meta_ns : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    char root[512], from[600], to[620];
    uint64_t size = a->set_sizes / WR_MAX(1, a->set_files);
    double share = (double)a->set_meta_ns /
                   (double)WR_MAX(1, a->set_ns + a->set_meta_ns);

    if (!wr_find_loads(a) || a->set_files < 100 || size < SMALL ||
        size > LARGE || share < 0.1 ||
        a->set_meta_ns > a->set_ns) /* which is D10 */
        return false;
    f->seconds = wr_find_lost(a, (double)a->set_meta_ns);
    f->gain = 0.9 * f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (!wr_find_matters(a, f->seconds))
        return false;
    wr_find_root(a, root, sizeof(root));
    snprintf(to, sizeof(to), "%s-packed", root);
    snprintf(f->what, sizeof(f->what),
             "The data set is in %" PRIu64 " files of %.1f MB: opening them "
             "takes %.0f %% of the time.",
             a->set_files, (double)size * 1e-6, 100 * share);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64 " opens; %.1f s of metadata calls, %.1f s of reads.",
             a->set_opens, (double)a->set_meta_ns * 1e-9,
             (double)a->set_ns * 1e-9);
    wr_find_quote(root, from, sizeof(from));
    wr_find_quote(to, root, sizeof(root));
    snprintf(f->change, sizeof(f->change),
             "weir convert %.180s %.180s --to tfrecord --shard-size 1GiB", from,
             root);
    wr_find_files(a, f, most_meta);
    return true;
}

const struct wr_trace_finding_rule wr_find_record_files = {
    "S03", "few samples per record file", look};
