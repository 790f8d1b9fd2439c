/* shard.c - which samples an accelerator reads: the access of a workload.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/shard.h"

#include "base/mem.h"
#include "run/job.h"

enum wr_wl_access wr_run_access(const struct wr_run_job *job)
{
    const struct wr_run_plan *p = job->plan;
    enum wr_wl_access a = p->access != WR_WL_ACCESS_AUTO ? p->access
                                                         : p->w->reader.access;

    if (p->compat_dlio && a != WR_WL_ACCESS_SAME)
        return WR_WL_ACCESS_SHARED; /* DLIO deals out ranges */
    return a == WR_WL_ACCESS_POSIX ? WR_WL_ACCESS_AUTO : a;
}

static uint64_t object_of(const struct wr_index *ix, uint64_t sample)
{
    struct wr_part part;

    wr_index_part(ix, 0, sample, &part);
    return part.object;
}

/* The first sample below `n` that lies in object `object` or behind it. Samples
 * lie in the order of their objects. */
static uint64_t first_in(const struct wr_index *ix, uint64_t object, uint64_t n)
{
    uint64_t low = 0, high = n;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (object_of(ix, mid) < object)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Where share k of `world` begins among the first `n` samples: at a file where
 * files are dealt out. With fewer files than shares they have to share some. */
static uint64_t share_begin(const struct wr_run_job *job,
                            const struct wr_run_feed_spec *spec, uint64_t k,
                            uint64_t n)
{
    const struct wr_index *ix = spec->ds->index;
    uint64_t files = n ? object_of(ix, n - 1) + 1 : 0;

    if (k >= job->world)
        return n;
    if (wr_run_access(job) == WR_WL_ACCESS_MULTI && files >= job->world)
        return first_in(ix, files * k / job->world, n);
    return (uint64_t)((unsigned __int128)n * k / job->world);
}

static bool has_ranges(enum wr_wl_access a)
{
    return a == WR_WL_ACCESS_MULTI || a == WR_WL_ACCESS_SHARED;
}

void wr_run_shard(const struct wr_run_job *job, uint64_t global,
                  const struct wr_run_feed_spec *spec,
                  weir_pipeline_config *ret)
{
    enum wr_wl_access access = wr_run_access(job);
    uint64_t n = spec->cfg.sample_count;

    *ret = spec->cfg;
    if (access == WR_WL_ACCESS_SAME)
        return;
    if (has_ranges(access) && spec->ds) {
        ret->sample_first = share_begin(job, spec, global, n);
        ret->sample_count = share_begin(job, spec, global + 1, n) -
                            ret->sample_first;
        return;
    }
    ret->rank = (uint32_t)global;
    ret->world = (uint32_t)job->world;
}

uint64_t wr_run_shard_steps(const struct wr_run_job *job,
                            const struct wr_run_feed_spec *spec,
                            uint64_t samples)
{
    enum wr_wl_access access = wr_run_access(job);
    uint64_t batch = spec->cfg.batch, least = samples / job->world;

    if (access == WR_WL_ACCESS_SAME)
        return samples / batch;
    for (uint64_t k = 0; has_ranges(access) && spec->ds && k < job->world; k++)
        least = WR_MIN(least, share_begin(job, spec, k + 1, samples) -
                                  share_begin(job, spec, k, samples));
    return least / batch;
}
