/* find_outliers.c - D18: single calls that take a hundred times as long as usual.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define TIMES 100
#define LEAST 1000
#define STALL_NS                                                               \
    (UINT64_C(20) * 1000000) /* shorter: the thread may have lacked a core */

/* The time of all values from `from` on, each range of two percent by its
 * middle. */
static double tail_of(const struct wr_hist *h, uint64_t from)
{
    double sum = 0;

    for (uint64_t lo = from; lo && lo <= h->max && lo < UINT64_MAX / 2;) {
        uint64_t next = lo + lo / 50 + 1;

        sum += (double)wr_hist_count_between(h, lo, next) *
               ((double)lo + (double)next) / 2;
        lo = next;
    }
    return sum;
}

static void examples(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    for (size_t k = 0; k < a->slowest_count && k < WR_TRACE_FINDING_EXAMPLES;
         k++) {
        const struct wr_trace_event *e = &a->slowest[k];
        char took[32];

        f->examples[k] = (struct wr_trace_finding_example){.at_ns = e->start_ns,
                                                           .file = e->file};
        snprintf(f->examples[k].detail, sizeof(f->examples[k].detail), "%s %s",
                 wr_trace_op_name(e->op),
                 wr_format_ns(took, sizeof(took), (double)e->dur_ns));
        f->example_count++;
    }
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    const struct wr_hist *h = a->latency[WR_TRACE_LAT_SET_READ];
    uint64_t usual, rare;

    if (h->count < LEAST)
        return false;
    usual = wr_hist_quantile(h, 0.5);
    rare = wr_hist_quantile(h, 0.999);
    if (!usual || rare / TIMES < usual || rare < STALL_NS)
        return false;
    f->seconds = wr_find_lost(a, tail_of(h, usual * TIMES));
    f->gain = 0;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "Some reads take over %d times as long as usual: the storage "
             "stalls now and then.",
             TIMES);
    snprintf(f->evidence, sizeof(f->evidence),
             "Half of the reads take at most %.3f ms, one of a thousand %.1f "
             "ms, the slowest %.1f ms.",
             (double)usual * 1e-6, (double)rare * 1e-6, (double)h->max * 1e-6);
    snprintf(f->change, sizeof(f->change),
             "Look at the storage at these times (throttling, a busy server); "
             "keep more batches ahead meanwhile: prefetch_factor=8");
    examples(a, f);
    return wr_find_matters(a, f->seconds);
}

const struct wr_trace_finding_rule wr_find_outliers = {
    "D18", "single calls stall", look};
