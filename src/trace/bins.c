/* bins.c - what happened when: a fixed number of stretches of time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "trace/analysis_private.h"

void wr_trace_bin_add(struct wr_trace_bin *to, const struct wr_trace_bin *b)
{
    to->set_bytes += b->set_bytes;
    to->set_reads += b->set_reads;
    to->set_ns += b->set_ns;
    to->eval_bytes += b->eval_bytes;
    to->other_read_bytes += b->other_read_bytes;
    to->written_bytes += b->written_bytes;
    to->write_ns += b->write_ns;
    to->sync_ns += b->sync_ns;
    to->meta_ops += b->meta_ops;
    to->meta_ns += b->meta_ns;
    to->scan_ops += b->scan_ops;
    to->scan_ns += b->scan_ns;
    to->runtime_ops += b->runtime_ops;
    to->runtime_ns += b->runtime_ns;
    to->pass_sum += b->pass_sum;
    to->marks += b->marks;
    to->max_read_ns = WR_MAX(to->max_read_ns, b->max_read_ns);
}

/* Neighbours become one: the run lasts longer than was thought. */
static void halve(struct wr_trace_analysis *a)
{
    for (size_t k = 0; k < WR_TRACE_BINS / 2; k++) {
        struct wr_trace_bin sum = a->bins[2 * k];

        wr_trace_bin_add(&sum, &a->bins[2 * k + 1]);
        a->bins[k] = sum;
    }
    memset(a->bins + WR_TRACE_BINS / 2, 0,
           WR_TRACE_BINS / 2 * sizeof(*a->bins));
    a->bin_ns *= 2;
    a->bin_count = (a->bin_count + 1) / 2;
}

struct wr_trace_bin *wr_trace_bin_at(struct wr_trace_analysis *a, uint64_t ns)
{
    size_t k;

    while (ns / a->bin_ns >= WR_TRACE_BINS)
        halve(a);
    k = (size_t)(ns / a->bin_ns);
    a->bin_count = WR_MAX(a->bin_count, k + 1);
    return &a->bins[k];
}
