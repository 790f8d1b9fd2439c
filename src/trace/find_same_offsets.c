/* find_same_offsets.c - S02: every rank reads the same places of the same files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define SHARE 0.02

static uint64_t most_shared(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && __builtin_popcountll(u->groups) > 1
               ? u->bytes_read
               : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double share = a->ranks > 1 ? 1 - 1.0 / a->ranks : 0;

    if (a->ranks < 2 ||
        (double)a->same_bytes < 0.5 * share * (double)a->set_bytes)
        return false;
    f->seconds = wr_find_window(a) * share; /* so many batches less */
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "All %u ranks read the same places of the same files: each sees "
             "the whole data set, not its share.",
             a->ranks);
    snprintf(f->evidence, sizeof(f->evidence),
             "%" PRIu64
             " files are read by several ranks, %.0f %% of the bytes "
             "at the same places.",
             a->shared_files,
             100 * (double)a->same_bytes / (share * (double)a->set_bytes));
    snprintf(f->change, sizeof(f->change),
             "DataLoader(..., sampler=DistributedSampler(dataset, "
             "num_replicas=%u, rank=rank)); tf.data: ds.shard(%u, rank)",
             a->ranks, a->ranks);
    wr_find_files(a, f, most_shared);
    return f->seconds * wr_find_epochs(a) >= SHARE * wr_find_run(a);
}

const struct wr_trace_finding_rule wr_find_same_offsets = {
    "S02", "every rank reads the same", look};
