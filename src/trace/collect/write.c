/* write.c - what the collector writes into the trace.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "monitor/pagecache.h"
#include "trace/collect/state.h"
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

#define MOST_COUNTED 200000 /* counts that are kept before they are written */
#define MOST_ASKED   100000 /* files whose residency is asked for */

bool wr_collect_failed(struct wr_collect *c, int r, const weir_err *err)
{
    if (r >= 0)
        return false;
    if (!c->failure.code)
        c->failure = *err;
    wr_trace_writer_drop(c->writer);
    c->writer = NULL;
    return true;
}

void wr_collect_flush(struct wr_collect *c)
{
    weir_err err;

    if (c->writer && c->batch_count)
        wr_collect_failed(
            c,
            wr_trace_writer_events(c->writer, c->batch, c->batch_count, &err),
            &err);
    c->batch_count = 0;
}

void wr_collect_counts(struct wr_collect *c)
{
    weir_err err;

    for (size_t i = 0; i < c->counted.count && c->writer; i++)
        wr_collect_failed(c,
                          wr_trace_writer_counts(
                              c->writer, &c->counted.files[i].counts, 1, &err),
                          &err);
    wr_counted_clear(&c->counted);
}

static void add_up(struct wr_collect *c, const struct wr_trace_event *e)
{
    enum wr_trace_class class = wr_trace_op_class(e->op);
    bool data = e->file != WR_TRACE_NO_FILE &&
                wr_names_kind(c->names, e->file) == WR_TRACE_DATA;

    c->sum.events++;
    if (e->flags & WR_TRACE_SAMPLED)
        return; /* its tally counts it */
    if (class == WR_TRACE_CLASS_READ && e->op != WR_TRACE_FAULT) {
        c->sum.bytes_read += e->bytes;
        c->sum.data_read += data ? e->bytes : 0;
        c->sum.operations++;
    } else if (class == WR_TRACE_CLASS_WRITE) {
        c->sum.bytes_written += e->bytes;
        c->sum.data_written += data ? e->bytes : 0;
        c->sum.operations++;
    }
}

void wr_collect_event(struct wr_collect *c, const struct wr_trace_event *e)
{
    struct wr_counted_file *f;

    add_up(c, e);
    if (e->file != WR_TRACE_NO_FILE && !(e->flags & WR_TRACE_SAMPLED) &&
        e->op < WR_TRACE_FORK) {
        if (c->counted.count >= MOST_COUNTED)
            wr_collect_counts(c);
        f = wr_counted_of(&c->counted, e->process, e->file);
        if (f)
            wr_counted_add(f, e);
    }
    if (c->batch_count == WR_COLLECT_BATCH)
        wr_collect_flush(c);
    c->batch[c->batch_count++] = *e;
}

static uint64_t size_of(const char *path, int kind)
{
    struct stat st;

    if (kind != WR_TRACE_DATA || *path != '/' || stat(path, &st) < 0 ||
        !S_ISREG(st.st_mode))
        return UINT64_MAX;
    return (uint64_t)st.st_size;
}

uint32_t wr_collect_name(struct wr_collect *c, const char *path)
{
    bool is_new = false;
    uint32_t number = wr_names_number(c->names, path, strlen(path), &is_new);
    char shown[8192];
    weir_err err;
    int kind;

    if (!is_new || number == WR_TRACE_NO_FILE)
        return number;
    kind = wr_names_kind(c->names, number);
    c->sum.data_files += kind == WR_TRACE_DATA;
    if (c->writer)
        wr_collect_failed(
            c,
            wr_trace_writer_name(
                c->writer, number,
                wr_names_shown(c->names, path, shown, sizeof(shown)), kind,
                size_of(path, kind), &err),
            &err);
    return number;
}

uint64_t wr_collect_since(uint64_t now, uint64_t base)
{
    return now == UINT64_MAX || now < base ? UINT64_MAX : now - base;
}

static uint64_t own_part(uint64_t now, uint64_t base, uint64_t reaped)
{
    uint64_t all = wr_collect_since(now, base);

    return all == UINT64_MAX ? all : all - WR_MIN(all, reaped);
}

/* What the program did itself: the kernel adds the counters of children to
 * those of the process that waited for them, and goes on counting when a process
 * executes another program. */
struct wr_tap_io wr_collect_own_io(const struct wr_tapped *t)
{
    const struct wr_tap_io *io = &t->kept.io, *b = &t->kept.base;
    const struct wr_tap_io *r = &t->reaped;

    return (struct wr_tap_io){
        .rchar = own_part(io->rchar, b->rchar, r->rchar),
        .wchar = own_part(io->wchar, b->wchar, r->wchar),
        .read_bytes = own_part(io->read_bytes, b->read_bytes, r->read_bytes),
        .write_bytes = own_part(io->write_bytes, b->write_bytes,
                                r->write_bytes),
        .major_faults = wr_collect_since(io->major_faults, b->major_faults)};
}

/* The text of a process that was forked is its parent's. */
static const char *inherited(const struct wr_tapped *t, size_t offset)
{
    const char *s = (const char *)&t->kept + offset;

    while (!*s && t->parent) {
        t = t->parent;
        s = (const char *)&t->kept + offset;
    }
    return s;
}

/* Without arguments: the program alone. */
static const char *shown_argv(const struct wr_collect *c, const char *program,
                              const char *argv)
{
    const char *slash = strrchr(program, '/');

    return c->no_arguments ? (slash ? slash + 1 : program) : argv;
}

void wr_collect_process(struct wr_collect *c, const struct wr_tapped *t)
{
    const struct wr_tap_process *k = &t->kept;
    const char *program = inherited(t,
                                    offsetof(struct wr_tap_process, program));
    const char *argv = inherited(t, offsetof(struct wr_tap_process, argv));
    struct wr_tap_io io = wr_collect_own_io(t);
    char cwd[8192], shown[8192];
    struct wr_trace_process p = {
        .pid = k->pid,
        .parent = t->parent ? (int32_t)t->parent->process : -1,
        .rank = k->rank,
        .world = k->world,
        .start_ns = wr_collect_ns(c, k->start),
        .end_ns = t->end_ns,
        .status = t->status,
        .threads = k->threads,
        .program = wr_names_shown(c->names, program, shown, sizeof(shown)),
        .argv = shown_argv(c, program, argv),
        .cwd = wr_names_shown(c->names, t->cwd ? t->cwd : "", cwd, sizeof(cwd)),
        .host = c->host,
        .rchar = io.rchar,
        .wchar = io.wchar,
        .read_bytes = io.read_bytes,
        .write_bytes = io.write_bytes,
        .major_faults = io.major_faults,
        .lost_events = k->lost_events};
    weir_err err;

    if (c->writer)
        wr_collect_failed(
            c, wr_trace_writer_process(c->writer, t->process, &p, &err), &err);
}

void wr_collect_residency(struct wr_collect *c)
{
    size_t asked = 0;
    weir_err err;

    for (uint32_t i = 0; i < wr_names_count(c->names) && c->writer; i++) {
        const char *path = wr_names_path(c->names, i);
        struct wr_residency r;
        struct stat st;
        int fd;

        if (wr_names_kind(c->names, i) != WR_TRACE_DATA || *path != '/')
            continue;
        if (asked++ >= MOST_ASKED)
            return;
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOATIME);
        if (fd < 0)
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (wr_residency_of(fd, false, &r, &err) == 0 &&
            r.means != WR_RESIDENCY_UNKNOWN)
            wr_collect_failed(c,
                              wr_trace_writer_resident(c->writer, i,
                                                       r.resident_bytes,
                                                       r.bytes, &err),
                              &err);
        close(fd);
    }
}
