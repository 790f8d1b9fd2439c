/* find_respawn.c - D04: workers are started anew in every epoch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

/* When generation `g` of workers was born, and when it first read. */
static bool born(const struct wr_trace_analysis *a, uint32_t g,
                 uint64_t *ret_born, uint64_t *ret_read)
{
    uint64_t from = UINT64_MAX, read = UINT64_MAX;

    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_actor *p = &a->actors[k];

        if (p->generation != g)
            continue;
        from = WR_MIN(from, wr_trace_file_process(a->file, k)->start_ns);
        read = WR_MIN(read, p->first_set_ns);
    }
    *ret_born = from;
    *ret_read = read;
    return from != UINT64_MAX && read != UINT64_MAX && read > from;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double sum = 0;
    unsigned n = 0;

    for (uint32_t g = 2; g <= a->generations; g++) {
        struct wr_trace_finding_example *x = &f->examples[f->example_count];
        uint64_t from, read;

        if (!born(a, g, &from, &read))
            continue;
        sum += (double)(read - from) * 1e-9;
        n++;
        if (f->example_count == WR_TRACE_FINDING_EXAMPLES)
            continue;
        *x = (struct wr_trace_finding_example){.at_ns = from,
                                               .file = WR_TRACE_NO_FILE};
        wr_format_ns(x->detail, sizeof(x->detail), (double)(read - from));
        f->example_count++;
    }
    if (!n)
        return false;
    f->seconds = sum / wr_find_epochs(a);
    f->gain = f->seconds;
    f->sure = WR_TRACE_FINDING_SURE;
    snprintf(f->what, sizeof(f->what),
             "Every epoch starts its workers anew: the first batch waits for "
             "%.2f s.",
             sum / n);
    snprintf(f->evidence, sizeof(f->evidence),
             "%u generations of %u workers in %.0f epochs; from their birth to "
             "their first read %.2f s on average.",
             a->generations, a->workers_at_once, wr_find_epochs(a), sum / n);
    snprintf(f->change, sizeof(f->change),
             "DataLoader(..., num_workers=%u, persistent_workers=True)",
             a->workers_at_once);
    return sum / n > 1 || sum > 0.01 * wr_find_run(a);
}

const struct wr_trace_finding_rule wr_find_respawn = {
    "D04", "epoch-start stall: workers are started anew", look};
