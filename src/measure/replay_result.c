/* replay_result.c - requests in their order, and what came out of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/replay_result.h"

#include <stdlib.h>

#include "base/mem.h"

static int by_thread_and_start(const void *a, const void *b)
{
    const struct wr_replay_request *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

uint64_t wr_replay_deal(const struct wr_replay_plan *p,
                        struct wr_replay_part *ret)
{
    uint64_t origin = UINT64_MAX;

    qsort(p->requests, p->request_count, sizeof(*p->requests),
          by_thread_and_start);
    for (size_t k = 0; k < p->request_count; k++) {
        struct wr_replay_request *q = &p->requests[k];

        origin = WR_MIN(origin, q->start_ns);
        if (!ret[q->thread].count++)
            ret[q->thread].first = q;
    }
    return origin;
}

/* --- what came out --- */

static void note_missing(struct wr_replay_result *r, uint32_t file)
{
    r->missing++;
    for (uint32_t k = 0; k < r->missing_count; k++)
        if (r->missing_files[k] == file)
            return;
    if (r->missing_count < WR_REPLAY_NAMED)
        r->missing_files[r->missing_count++] = file;
}

static void count_request(struct wr_replay_result *r,
                          const struct wr_replay_request *q)
{
    struct wr_replay_class *c = &r->classes[q->op];

    if (q->outcome == WR_REPLAY_MISSING) {
        note_missing(r, q->file);
        return;
    }
    if (q->outcome == WR_REPLAY_FAILED) {
        r->failed++;
        return;
    }
    r->cut += q->outcome == WR_REPLAY_SHORT;
    r->done++;
    if (q->op == WR_REPLAY_READ || q->op == WR_REPLAY_WRITE)
        c->bytes += q->bytes;
    wr_hist_add(&c->traced, q->dur_ns);
    wr_hist_add(&c->replayed, q->took_ns);
}

void wr_replay_sum_up(const struct wr_replay_plan *p,
                      struct wr_replay_result *r)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t k = 0; k < p->request_count; k++) {
        const struct wr_replay_request *q = &p->requests[k];

        first = WR_MIN(first, q->start_ns);
        last = WR_MAX(last, q->start_ns + q->dur_ns);
        count_request(r, q);
    }
    r->traced_ns = last > first ? last - first : 0;
}

const char *wr_replay_op_name(unsigned op)
{
    static const char *const names[WR_REPLAY_OPS] = {
        [WR_REPLAY_OPEN] = "open", [WR_REPLAY_CLOSE] = "close",
        [WR_REPLAY_READ] = "read", [WR_REPLAY_WRITE] = "write",
        [WR_REPLAY_SYNC] = "sync", [WR_REPLAY_STAT] = "stat",
        [WR_REPLAY_LIST] = "list",
    };

    return op < WR_REPLAY_OPS ? names[op] : "?";
}

uint64_t wr_replay_sum(const struct wr_replay_result *r, bool traced)
{
    uint64_t sum = 0;

    for (unsigned op = 0; op < WR_REPLAY_OPS; op++)
        sum += traced ? r->classes[op].traced.sum : r->classes[op].replayed.sum;
    return sum;
}
