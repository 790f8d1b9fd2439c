/* counted.c - exact counts of each file in each process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/counts.h"

static size_t hash_of(uint32_t process, uint32_t file, size_t slots)
{
    uint64_t h = ((uint64_t)process << 32 | file) *
                 UINT64_C(0x9e3779b97f4a7c15);

    return (h >> 20) & (slots - 1);
}

static void place(struct wr_counted *c, size_t index)
{
    const struct wr_trace_counts *k = &c->files[index].counts;
    size_t at = hash_of(k->process, k->file, c->slot_count);

    while (c->slots[at])
        at = (at + 1) & (c->slot_count - 1);
    c->slots[at] = (uint32_t)index + 1;
}

static bool grow(struct wr_counted *c)
{
    size_t wanted = c->slot_count ? c->slot_count * 2 : 1024;
    uint32_t *slots;

    if (!wr_grow(&c->files, &c->cap, c->count + 1, sizeof(*c->files)))
        return false;
    if (c->count * 2 < c->slot_count)
        return true;
    slots = calloc(wanted, sizeof(*slots));
    if (!slots)
        return false;
    free(c->slots);
    c->slots = slots;
    c->slot_count = wanted;
    for (size_t i = 0; i < c->count; i++)
        place(c, i);
    return true;
}

struct wr_counted_file *wr_counted_of(struct wr_counted *c, uint32_t process,
                                      uint32_t file)
{
    struct wr_counted_file *f;

    if (c->slot_count) {
        size_t at = hash_of(process, file, c->slot_count);

        for (; c->slots[at]; at = (at + 1) & (c->slot_count - 1)) {
            f = &c->files[c->slots[at] - 1];
            if (f->counts.process == process && f->counts.file == file)
                return f;
        }
    }
    if (!grow(c))
        return NULL;
    f = &c->files[c->count++];
    memset(f, 0, sizeof(*f));
    f->counts.process = process;
    f->counts.file = file;
    place(c, c->count - 1);
    return f;
}

void wr_counted_clear(struct wr_counted *c)
{
    free(c->files);
    free(c->slots);
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
