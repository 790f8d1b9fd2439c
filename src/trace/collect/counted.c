/* counted.c - exact counts of each file in each process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/counted.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/counts.h"

struct wr_counted_file *wr_counted_of(struct wr_counted *c, uint32_t process,
                                      uint32_t file)
{
    const uint64_t key = ((uint64_t)process + 1) << 32 | file;
    struct wr_map_number *at = wr_map_find(&c->numbers, key);
    struct wr_counted_file *f;

    if (at)
        return &c->files[at->number];
    c->numbers.size = sizeof(*at);
    if (!wr_grow(&c->files, &c->cap, c->count + 1, sizeof(*c->files)) ||
        !(at = wr_map_add(&c->numbers, key)))
        return NULL;
    at->number = (uint32_t)c->count;
    f = &c->files[c->count++];
    *f = (struct wr_counted_file){.counts = {.process = process, .file = file}};
    return f;
}

void wr_counted_clear(struct wr_counted *c)
{
    free(c->files);
    wr_map_done(&c->numbers);
    *c = (struct wr_counted){0};
}

/* --- one event --- */

void wr_counted_add(struct wr_counted_file *f, const struct wr_trace_event *e)
{
    struct wr_trace_counts *c = &f->counts;

    if (!c->last_ns || e->start_ns < c->first_ns)
        c->first_ns = e->start_ns;
    c->last_ns = WR_MAX(c->last_ns, e->start_ns + e->dur_ns);
    wr_counts_event(c, f->next, e, /* shared= */ false);
}
