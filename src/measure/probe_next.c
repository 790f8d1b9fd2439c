/* probe_next.c - which request of a test comes next.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_private.h"

#include "base/mem.h"
#include "base/rng.h"

uint64_t wr_probe_largest(const struct wr_probe_place *p,
                          const struct wr_probe_test *t)
{
    if (t->op == WR_PROBE_SYNC)
        return WR_PROBE_SYNC_BLOCK;
    if (wr_probe_is_files(t) || !t->block)
        return wr_probe_mix_max(&p->plan->mix);
    return t->block;
}

uint64_t wr_probe_big_bytes(const struct wr_probe_job *job)
{
    return wr_probe_is_write(job->test) ? job->place->plan->file_bytes
                                        : job->place->read_bytes;
}

static uint64_t roll(struct wr_probe_worker *w)
{
    return wr_rng_at(w->crew->job->place->plan->seed,
                     w->crew->job->stream << 16 | w->index, w->dice++);
}

static uint64_t next_length(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    if (job->test->op == WR_PROBE_SYNC)
        return WR_PROBE_SYNC_BLOCK;
    return job->test->block
               ? job->test->block
               : wr_probe_mix_pick(&job->place->plan->mix, roll(w));
}

/* Pages that were read once are in the cache: buffered tests end at the end of
 * the worker's region. Past the cache, and where each write is synced, they
 * begin again. */
static bool next_sequential(struct wr_probe_worker *w, uint64_t len,
                            uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (w->at + len > w->last) {
        if (!t->direct && t->op != WR_PROBE_SYNC)
            return false;
        w->at = w->first;
    }
    *ret = w->at;
    w->at += t->direct ? WR_ALIGN_UP(len, (uint64_t)WR_DIRECT_ALIGN) : len;
    return true;
}

/* Buffered: each place of the file once, in the order of a permutation that
 * all workers share, so that nothing is met in the cache. */
static bool next_random(struct wr_probe_worker *w, uint64_t len, uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;
    uint64_t align = t->block && t->block % WR_DIRECT_ALIGN == 0
                         ? t->block
                         : WR_DIRECT_ALIGN;
    uint64_t k;

    if (t->direct) {
        k = (wr_probe_big_bytes(w->crew->job) - len) / align + 1;
        *ret = (uint64_t)(((unsigned __int128)roll(w) * k) >> 64) * align;
        return true;
    }
    k = w->crew->next++;
    if (k >= w->crew->perm.n)
        return false;
    *ret = wr_perm_at(&w->crew->perm, k) *
           wr_probe_largest(w->crew->job->place, t);
    return true;
}

bool wr_probe_goes_on(struct wr_probe_worker *w, uint64_t now_ns)
{
    bool first = !w->began;

    w->began = true;
    return (first || now_ns < w->crew->end_ns) && !w->crew->halt;
}

bool wr_probe_next_range(struct wr_probe_worker *w, uint64_t now_ns,
                         uint64_t *ret_offset, uint64_t *ret_len)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (!wr_probe_goes_on(w, now_ns))
        return false;
    *ret_len = next_length(w);
    return t->pattern == WR_PROBE_RANDOM && t->op != WR_PROBE_SYNC
               ? next_random(w, *ret_len, ret_offset)
               : next_sequential(w, *ret_len, ret_offset);
}
