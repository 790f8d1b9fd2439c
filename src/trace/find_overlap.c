/* find_overlap.c - D05: ranks or workers read what others have read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define RATIO 1.05

static uint64_t most_readers(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && __builtin_popcountll(u->groups) > 1
               ? u->bytes_read
               : 0;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double epochs = wr_find_epochs(a), ratio;
    uint64_t shared = 0;

    if (a->mains < 2 && a->workers_at_once < 2)
        return false;
    if (a->ranks > 1 && a->same_bytes > a->set_bytes / 3)
        return false; /* which is S02 */
    for (size_t k = 0; k < a->use_count; k++)
        shared += most_readers(&a->uses[k]);
    if (!a->set_unique || shared < a->set_bytes / 20)
        return false;
    ratio = (double)a->set_bytes / ((double)a->set_unique * epochs);
    if (ratio < RATIO)
        return false;
    f->seconds = wr_find_window(a) * (1 - 1 / ratio); /* as many batches less */
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "%s read the same data in one epoch: %.2f times what the data set "
             "has.",
             a->ranks > 1 ? "Ranks" : "Workers", ratio);
    snprintf(f->evidence, sizeof(f->evidence),
             "%.1f MB read in %.0f epochs of %.1f MB; %.0f %% of it from files "
             "that several of them read.",
             (double)a->set_bytes * 1e-6, epochs, (double)a->set_unique * 1e-6,
             100 * (double)shared / (double)a->set_bytes);
    snprintf(f->change, sizeof(f->change), "%s",
             a->ranks > 1
                 ? "DataLoader(..., sampler=DistributedSampler(dataset)) and "
                   "sampler.set_epoch(epoch); tf.data: ds.shard(world, rank) "
                   "before reading; WebDataset: wds.split_by_node"
                 : "IterableDataset: take every n-th item by "
                   "torch.utils.data.get_worker_info(); WebDataset: "
                   "wds.split_by_worker");
    wr_find_files(a, f, most_readers);
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_overlap = {"D05", "shards overlap",
                                                      look};
