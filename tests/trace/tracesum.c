/* tracesum.c - prints what a trace has of each file and process, for scripts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: tracesum FILE
 *
 * Lines of tabs: "file KIND OPENS READS BYTES WRITES BYTES STATS OTHERS PATH",
 * "process NUMBER PARENT PID STATUS RANK RCHAR WCHAR LOST ARGV", "command ARGV",
 * "op NAME COUNT FAILED", "mark TEXT", "counted OPENS READS BYTES WRITES BYTES",
 * "damage TEXT". */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/file.h"

static const char *const kinds[] = {[WR_TRACE_DATA] = "data",
                                    [WR_TRACE_RUNTIME] = "runtime",
                                    [WR_TRACE_SYSTEM] = "system",
                                    [WR_TRACE_SHM] = "shared memory",
                                    [WR_TRACE_STREAM] = "stream"};

struct tracesum_file {
    uint64_t opens, reads, bytes_read, writes, bytes_written, stats, others;
    uint64_t opens_failed;
    bool stdio; /* streams of libc were used on it */
};

struct tracesum {
    struct wr_trace_file *trace;
    struct tracesum_file *files;
    size_t count;
    uint64_t ops[WR_TRACE_OPS], failed[WR_TRACE_OPS];
    struct tracesum_file counted;
};

static void add(struct tracesum_file *f, const struct wr_trace_event *e)
{
    switch (wr_trace_op_class(e->op)) {
    case WR_TRACE_CLASS_READ:
        f->reads++;
        f->bytes_read += e->op == WR_TRACE_FAULT ? 0 : e->bytes;
        return;
    case WR_TRACE_CLASS_WRITE:
        f->writes++;
        f->bytes_written += e->bytes;
        return;
    default:
        break;
    }
    if (e->op == WR_TRACE_OPEN && e->error)
        f->opens_failed++;
    else if (e->op == WR_TRACE_OPEN || e->op == WR_TRACE_OPENDIR)
        f->opens++;
    else if (e->op == WR_TRACE_STAT || e->op == WR_TRACE_ACCESS)
        f->stats++;
    else
        f->others++;
}

static int on_events(void *arg, const struct wr_trace_event *events,
                     size_t count)
{
    struct tracesum *s = arg;

    for (size_t i = 0; i < count; i++) {
        const struct wr_trace_event *e = &events[i];

        if (e->op >= WR_TRACE_OPS)
            continue;
        s->ops[e->op]++;
        s->failed[e->op] += e->error != 0;
        if (e->file < s->count) {
            add(&s->files[e->file], e);
            s->files[e->file].stdio |= (e->flags & WR_TRACE_STDIO) != 0;
        }
        if (e->op == WR_TRACE_MARK && e->file < s->count)
            printf("mark\t%s\n", wr_trace_file_name(s->trace, e->file)->path);
    }
    return 0;
}

static int on_counts(void *arg, const struct wr_trace_counts *c)
{
    struct tracesum *s = arg;

    s->counted.opens += c->opens;
    s->counted.reads += c->reads + c->stdio_reads;
    s->counted.bytes_read += c->bytes_read + c->stdio_bytes_read;
    s->counted.writes += c->writes + c->stdio_writes;
    s->counted.bytes_written += c->bytes_written + c->stdio_bytes_written;
    return 0;
}

static void print(const struct tracesum *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct tracesum_file *f = &s->files[i];
        const struct wr_trace_name *n = wr_trace_file_name(s->trace, i);

        printf("file\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
               "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
               kinds[n->kind], f->opens, f->reads, f->bytes_read, f->writes,
               f->bytes_written, f->stats, f->others, n->path);
        if (f->stdio)
            printf("stdio\t%s\n", n->path);
    }
    for (size_t i = 0; i < wr_trace_file_processes(s->trace); i++) {
        const struct wr_trace_process *p = wr_trace_file_process(s->trace, i);

        printf("process\t%zu\t%d\t%d\t%d\t%d\t%" PRId64 "\t%" PRId64
               "\t%" PRIu64 "\t%s\n",
               i, p->parent, p->pid, p->status, p->rank, (int64_t)p->rchar,
               (int64_t)p->wchar, p->lost_events, p->argv);
    }
    printf("command\t%s\n", wr_trace_file_info(s->trace)->command);
    for (unsigned op = 0; op < WR_TRACE_OPS; op++)
        if (s->ops[op])
            printf("op\t%s\t%" PRIu64 "\t%" PRIu64 "\n", wr_trace_op_name(op),
                   s->ops[op], s->failed[op]);
    printf("counted\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
           "\t%" PRIu64 "\n",
           s->counted.opens, s->counted.reads, s->counted.bytes_read,
           s->counted.writes, s->counted.bytes_written);
    if (wr_trace_file_damage(s->trace))
        printf("damage\t%s\n", wr_trace_file_damage(s->trace));
}

int main(int argc, char **argv)
{
    struct tracesum s = {0};
    weir_err err;

    if (argc != 2)
        return 2;
    if (wr_trace_file_open(&s.trace, argv[1], &err) < 0) {
        fprintf(stderr, "tracesum: %s\n", err.msg);
        return 1;
    }
    s.count = wr_trace_file_names(s.trace);
    s.files = calloc(s.count + 1, sizeof(*s.files));
    if (!s.files || wr_trace_file_walk(s.trace, on_events, &s, &err) < 0 ||
        wr_trace_file_walk_counts(s.trace, on_counts, &s, &err) < 0) {
        fprintf(stderr, "tracesum: cannot read the events\n");
        return 1;
    }
    print(&s);
    free(s.files);
    wr_trace_file_close(s.trace);
    return 0;
}
