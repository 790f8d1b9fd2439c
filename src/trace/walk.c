/* walk.c - one event of the walk: whose it is, and where it counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/mem.h"
#include "trace/analysis_private.h"

static void io_add(struct wr_trace_io *io, const struct wr_trace_event *e,
                   enum wr_trace_class class)
{
    io->ops[class]++;
    io->ns[class] += e->dur_ns;
    io->opens += e->op == WR_TRACE_OPEN;
    io->stats += e->op == WR_TRACE_STAT || e->op == WR_TRACE_ACCESS;
    io->dirs += e->op == WR_TRACE_OPENDIR || e->op == WR_TRACE_READDIR;
    io->failed += !!(e->flags & WR_TRACE_FAILED);
    if (class == WR_TRACE_CLASS_READ) {
        io->zero_reads += !e->bytes;
        io->bytes_read += e->bytes;
    } else if (class == WR_TRACE_CLASS_WRITE) {
        io->bytes_written += e->bytes;
    }
}

/* Keeps the longest calls, the longest first. */
static void count_slow(struct wr_trace_analysis *a,
                       const struct wr_trace_event *e)
{
    size_t n = a->slowest_count, k;

    if (n == WR_TRACE_SLOWEST && e->dur_ns <= a->slowest[n - 1].dur_ns)
        return;
    if (n < WR_TRACE_SLOWEST)
        a->slowest_count = ++n;
    for (k = n - 1; k && a->slowest[k - 1].dur_ns < e->dur_ns; k--)
        a->slowest[k] = a->slowest[k - 1];
    a->slowest[k] = *e;
}

static void on_file(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_thread *t, struct wr_trace_bin *bin)
{
    struct wr_trace_analysis *a = w->a;
    uint64_t end = e->start_ns + e->dur_ns;

    wr_cover_add(&w->run, e->start_ns, end);
    wr_cover_add(&w->processes[e->process], e->start_ns, end);
    t->ops++;
    t->ns += e->dur_ns;
    t->bytes += e->bytes * (wr_trace_op_class(e->op) <= WR_TRACE_CLASS_WRITE);
    count_slow(a, e);
    if (e->file != WR_TRACE_NO_FILE)
        wr_trace_use_event(w, e, t, bin);
}

static void on_code(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_bin *bin)
{
    uint64_t end = e->start_ns + e->dur_ns;
    struct wr_trace_use *u = &w->a->uses[e->file];

    wr_cover_add(&w->run, e->start_ns, end);
    wr_cover_add(&w->processes[e->process], e->start_ns, end);
    bin->runtime_ops++;
    bin->runtime_ns += e->dur_ns;
    u->others++;
    u->meta_ns += e->dur_ns;
    u->first_ns = WR_MIN(u->first_ns, e->start_ns);
}

void wr_trace_walk_event(struct wr_trace_walk *w,
                         const struct wr_trace_event *e)
{
    struct wr_trace_analysis *a = w->a;
    enum wr_trace_class class = wr_trace_op_class(e->op);
    unsigned kind = e->file == WR_TRACE_NO_FILE ? WR_TRACE_DATA
                                                : w->kinds[e->file];
    unsigned shown = kind == WR_KIND_AMBIENT ? WR_TRACE_RUNTIME : kind;
    struct wr_trace_thread *t = wr_thread_of(w, e->process, e->thread);
    struct wr_trace_bin *bin;

    if (!t)
        return;
    a->end_ns = WR_MAX(a->end_ns, e->start_ns + e->dur_ns);
    t->first_ns = WR_MIN(t->first_ns, e->start_ns);
    t->last_ns = WR_MAX(t->last_ns, e->start_ns + e->dur_ns);
    bin = wr_trace_bin_at(a, e->start_ns);
    if (class == WR_TRACE_CLASS_MARK) {
        bin->marks++;
        a->steps++;
    }
    if (class >= WR_TRACE_CLASS_PROCESS)
        return;
    if (e->op == WR_TRACE_AIO_READ)
        a->async_read += e->bytes;
    io_add(&a->kinds[shown], e, class);
    io_add(kind == WR_TRACE_DATA ? &a->actors[e->process].data
                                 : &a->actors[e->process].ambient,
           e, class);
    if (kind == WR_TRACE_DATA)
        on_file(w, e, t, bin);
    else if (shown == WR_TRACE_RUNTIME)
        on_code(w, e, bin);
}
