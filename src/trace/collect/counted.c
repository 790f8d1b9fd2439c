/* counted.c - exact counts of each file in each process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/preload/shared.h"

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

static void add_read(struct wr_counted_file *f, const struct wr_trace_event *e)
{
    struct wr_trace_counts *c = &f->counts;

    c->read_ns += e->dur_ns;
    c->max_read_ns = WR_MAX(c->max_read_ns, e->dur_ns);
    if (e->flags & WR_TRACE_STDIO) {
        c->stdio_reads++;
        c->stdio_bytes_read += e->bytes;
        return;
    }
    c->reads++;
    c->bytes_read += e->bytes;
    c->size_reads[wr_tap_size_class(e->bytes)]++;
    c->zero_reads += e->bytes == 0;
    if (e->offset == UINT64_MAX || !e->bytes)
        return;
    c->sequential_reads += c->reads > 1 && e->offset >= f->next_read;
    c->consecutive_reads += c->reads > 1 && e->offset == f->next_read;
    f->next_read = e->offset + e->bytes;
    c->max_offset_read = WR_MAX(c->max_offset_read, f->next_read - 1);
}

static void add_write(struct wr_counted_file *f, const struct wr_trace_event *e)
{
    struct wr_trace_counts *c = &f->counts;

    c->write_ns += e->dur_ns;
    c->max_write_ns = WR_MAX(c->max_write_ns, e->dur_ns);
    if (e->flags & WR_TRACE_STDIO) {
        c->stdio_writes++;
        c->stdio_bytes_written += e->bytes;
        return;
    }
    c->writes++;
    c->bytes_written += e->bytes;
    c->size_writes[wr_tap_size_class(e->bytes)]++;
    if (e->offset == UINT64_MAX || !e->bytes)
        return;
    c->sequential_writes += c->writes > 1 && e->offset >= f->next_write;
    c->consecutive_writes += c->writes > 1 && e->offset == f->next_write;
    f->next_write = e->offset + e->bytes;
    c->max_offset_written = WR_MAX(c->max_offset_written, f->next_write - 1);
}

static void add_other(struct wr_trace_counts *c, const struct wr_trace_event *e)
{
    switch (e->op) {
    case WR_TRACE_OPEN:
        c->opens++;
        break;
    case WR_TRACE_CLOSE:
        c->closes++;
        break;
    case WR_TRACE_SEEK:
        c->seeks++;
        break;
    case WR_TRACE_STAT:
    case WR_TRACE_ACCESS:
        c->stats++;
        break;
    case WR_TRACE_SYNC:
    case WR_TRACE_DATASYNC:
    case WR_TRACE_SYNC_ALL:
    case WR_TRACE_MSYNC:
        c->syncs++;
        break;
    case WR_TRACE_MMAP:
        c->mmaps++;
        break;
    default:
        c->others++;
    }
    c->meta_ns += e->dur_ns;
}

void wr_counted_add(struct wr_counted_file *f, const struct wr_trace_event *e)
{
    struct wr_trace_counts *c = &f->counts;

    if (!c->last_ns || e->start_ns < c->first_ns)
        c->first_ns = e->start_ns;
    c->last_ns = WR_MAX(c->last_ns, e->start_ns + e->dur_ns);
    switch (e->op) {
    case WR_TRACE_READ:
    case WR_TRACE_COPY_IN:
    case WR_TRACE_AIO_READ:
        add_read(f, e);
        break;
    case WR_TRACE_WRITE:
    case WR_TRACE_COPY_OUT:
    case WR_TRACE_AIO_WRITE:
        add_write(f, e);
        break;
    default:
        add_other(c, e);
    }
}

void wr_counted_merge(struct wr_trace_counts *to,
                      const struct wr_trace_counts *more)
{
    bool is_empty = !to->last_ns;
    uint64_t first = is_empty ? more->first_ns
                              : WR_MIN(to->first_ns, more->first_ns);
    uint64_t last = WR_MAX(to->last_ns, more->last_ns);
    uint64_t read_ns = WR_MAX(to->max_read_ns, more->max_read_ns);
    uint64_t write_ns = WR_MAX(to->max_write_ns, more->max_write_ns);
    uint64_t read_end = WR_MAX(to->max_offset_read, more->max_offset_read);
    uint64_t write_end = WR_MAX(to->max_offset_written,
                                more->max_offset_written);
    uint64_t *a = &to->opens;
    const uint64_t *b = &more->opens;

    /* All from `opens` on are counters of 64 bits; the few maxima are put right
     * after. */
    for (size_t i = 0;
         i <
         (sizeof(*to) - offsetof(struct wr_trace_counts, opens)) / sizeof(*a);
         i++)
        a[i] += b[i];
    to->first_ns = first;
    to->last_ns = last;
    to->max_read_ns = read_ns;
    to->max_write_ns = write_ns;
    to->max_offset_read = read_end;
    to->max_offset_written = write_end;
}
