/* export.c - a trace as CSV, for Chrome's and Perfetto's viewers, and as the
 * counters that darshan-parser prints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "trace/analysis_private.h"

struct export_job {
    const struct wr_trace_file *f;
    FILE *out;
    bool begun;
};

static const char *path_of(const struct export_job *x, uint32_t file)
{
    return file == WR_TRACE_NO_FILE ? "" : wr_trace_file_name(x->f, file)->path;
}

/* Whatever a name has: in quotes, with quotes doubled, controls as \xNN, and a '
 * in front of what a spreadsheet would run. */
static void put_csv(FILE *out, const char *s)
{
    char shown[4096];

    wr_text_show(s, /* controls= */ true, shown, sizeof(shown));
    fputs(wr_text_is_formula(shown) ? "\"'" : "\"", out);
    for (const char *c = shown; *c; c++) {
        if (*c == '"')
            putc('"', out);
        putc(*c, out);
    }
    putc('"', out);
}

static void put_json(FILE *out, const char *s)
{
    char shown[4096], quoted[sizeof(shown) * WR_TEXT_ESCAPED];

    wr_text_show(s, /* controls= */ true, shown, sizeof(shown));
    putc('"', out);
    fwrite(quoted, 1,
           wr_text_escape(shown, strlen(shown), /* html= */ false, quoted),
           out);
    putc('"', out);
}

static void csv_event(const struct export_job *x,
                      const struct wr_trace_event *e)
{
    const struct wr_trace_process *p = wr_trace_file_process(x->f, e->process);

    fprintf(x->out,
            "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ",%d,%" PRIu32 ",%d,%s,",
            e->start_ns / 1000000000, e->start_ns % 1000000000, e->dur_ns,
            (int)p->pid, e->thread, (int)p->rank, wr_trace_op_name(e->op));
    put_csv(x->out, path_of(x, e->file));
    putc(',', x->out);
    put_csv(x->out, path_of(x, e->file2));
    if (e->offset == UINT64_MAX)
        fprintf(x->out, ",");
    else
        fprintf(x->out, ",%" PRIu64, e->offset);
    fprintf(x->out, ",%" PRIu64 ",%d,%u\n", e->bytes, (int)e->error, e->flags);
}

static int csv_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    const struct export_job *x = arg;

    for (size_t k = 0; k < n; k++)
        csv_event(x, &e[k]);
    return ferror(x->out) ? WEIR_EIO : 0;
}

/* Callers see a failed write when they close the stream; the walk ends early. */
static int walked(struct export_job *x, int r, weir_err *err)
{
    if (ferror(x->out))
        return wr_fail(err, WEIR_EIO, "cannot write");
    return r;
}

int wr_trace_export_csv(struct wr_trace_file *f, FILE *out, weir_err *err)
{
    struct export_job x = {.f = f, .out = out};

    fprintf(out, "start_s,duration_ns,pid,tid,rank,call,file,file2,offset,"
                 "bytes,errno,flags\n");
    return walked(&x, wr_trace_file_walk(f, csv_events, &x, err), err);
}

static void chrome_event(struct export_job *x, const struct wr_trace_event *e)
{
    const struct wr_trace_process *p = wr_trace_file_process(x->f, e->process);

    fprintf(x->out,
            "%s\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64
            ".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64
            ",\"pid\":%d,\"tid\":%" PRIu32 ",\"args\":{\"file\":",
            x->begun ? "," : "", wr_trace_op_name(e->op),
            wr_trace_class_name(wr_trace_op_class(e->op)), e->start_ns / 1000,
            e->start_ns % 1000, e->dur_ns / 1000, e->dur_ns % 1000, (int)p->pid,
            e->thread);
    put_json(x->out, path_of(x, e->file));
    fprintf(x->out, ",\"bytes\":%" PRIu64, e->bytes);
    if (e->offset != UINT64_MAX)
        fprintf(x->out, ",\"offset\":%" PRIu64, e->offset);
    if (e->error)
        fprintf(x->out, ",\"errno\":%d", (int)e->error);
    fprintf(x->out, "}}");
    x->begun = true;
}

static int chrome_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct export_job *x = arg;

    for (size_t k = 0; k < n; k++)
        chrome_event(x, &e[k]);
    return ferror(x->out) ? WEIR_EIO : 0;
}

int wr_trace_export_chrome(struct wr_trace_file *f, FILE *out, weir_err *err)
{
    struct export_job x = {.f = f, .out = out};
    int r;

    fprintf(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (size_t k = 0; k < wr_trace_file_processes(f); k++) {
        const struct wr_trace_process *p = wr_trace_file_process(f, k);

        fprintf(out,
                "%s\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,"
                "\"args\":{\"name\":",
                x.begun ? "," : "", (int)p->pid);
        put_json(out, p->argv ? p->argv : "?");
        fprintf(out, "}}");
        x.begun = true;
    }
    r = wr_trace_file_walk(f, chrome_events, &x, err);
    fprintf(out, "\n]}\n");
    return walked(&x, r, err);
}

/* --- counters of each file and rank, as Darshan has them --- */

#define TRACKED 16

enum { DIR_READ, DIR_WRITE, DIRS };

struct value_count {
    uint64_t value, count;
};

struct darshan_record {
    uint64_t key; /* stdio, file, process + 1: as the lines are sorted */
    bool wrote;
    uint64_t opens, seeks, stats, mmaps, fsyncs, fdsyncs, flushes;
    uint64_t rename_sources, rename_targets, switches, unaligned;
    uint64_t calls[DIRS], bytes[DIRS], max_byte[DIRS], seq[DIRS], consec[DIRS];
    uint64_t last_byte[DIRS], sizes[DIRS][WR_TRACE_SIZES];
    uint64_t ns[DIRS], last_ns[DIRS], max_ns[DIRS], max_size[DIRS];
    uint64_t meta_ns, last_meta_ns;
    uint64_t start[4], end[4]; /* open, read, write, close */
    struct value_count access[TRACKED], stride[TRACKED];
};

struct darshan_walk {
    struct wr_trace_file *f;
    const struct wr_trace_analysis *a;
    struct wr_map records; /* of struct darshan_record */
    bool no_memory;
};

static uint32_t process_of(const struct darshan_record *r)
{
    return (uint32_t)(r->key & INT32_MAX) - 1;
}

static uint32_t file_of(const struct darshan_record *r)
{
    return (uint32_t)(r->key >> 31);
}

static bool is_stdio(const struct darshan_record *r)
{
    return r->key >> 63;
}

static struct darshan_record *
record_of(struct darshan_walk *w, const struct wr_trace_event *e, uint32_t file)
{
    const uint64_t stdio = e->flags & WR_TRACE_STDIO ? 1 : 0;
    const uint64_t key = stdio << 63 | (uint64_t)file << 31 | (e->process + 1);
    struct darshan_record *r = wr_map_find(&w->records, key);

    if (r)
        return r;
    r = wr_map_add(&w->records, key);
    if (r)
        memset(r->start, 0xff, sizeof(r->start));
    w->no_memory |= !r;
    return r;
}

static void track(struct value_count *list, uint64_t value)
{
    for (size_t k = 0; k < TRACKED; k++)
        if (!list[k].count || list[k].value == value) {
            list[k].value = value;
            list[k].count++;
            return;
        }
}

/* What of the call does not overlap the one before. */
static uint64_t alone(uint64_t *last, const struct wr_trace_event *e)
{
    uint64_t end = e->start_ns + e->dur_ns, from = WR_MAX(e->start_ns, *last);

    if (end <= *last)
        return 0;
    *last = end;
    return end - from;
}

static void stamp(struct darshan_record *r, int which,
                  const struct wr_trace_event *e)
{
    r->start[which] = WR_MIN(r->start[which], e->start_ns);
    r->end[which] = WR_MAX(r->end[which], e->start_ns + e->dur_ns);
}

static void moved(struct darshan_record *r, int dir,
                  const struct wr_trace_event *e, uint64_t block)
{
    uint64_t offset = e->offset == UINT64_MAX ? r->last_byte[dir] + 1
                                              : e->offset;
    uint64_t last = r->last_byte[dir];

    r->switches += r->calls[!dir] && r->wrote != (dir == DIR_WRITE);
    r->wrote = dir == DIR_WRITE;
    r->calls[dir]++;
    r->bytes[dir] += e->bytes;
    r->seq[dir] += offset > last;
    r->consec[dir] += offset == last + 1;
    if (offset > last && last)
        track(r->stride, offset - last - 1);
    r->last_byte[dir] = offset + e->bytes - 1;
    if (e->bytes)
        r->max_byte[dir] = WR_MAX(r->max_byte[dir], offset + e->bytes - 1);
    r->unaligned += block && offset % block;
    r->sizes[dir][wr_trace_size_index(e->bytes)]++;
    track(r->access, e->bytes);
    r->ns[dir] += alone(&r->last_ns[dir], e);
    if (e->dur_ns >= r->max_ns[dir]) {
        r->max_ns[dir] = e->dur_ns;
        r->max_size[dir] = e->bytes;
    }
    stamp(r, dir == DIR_READ ? 1 : 2, e);
}

static void other(struct darshan_record *r, const struct wr_trace_event *e)
{
    r->opens += e->op == WR_TRACE_OPEN;
    r->seeks += e->op == WR_TRACE_SEEK;
    r->stats += e->op == WR_TRACE_STAT;
    r->mmaps += e->op == WR_TRACE_MMAP;
    r->fsyncs += e->op == WR_TRACE_SYNC;
    r->fdsyncs += e->op == WR_TRACE_DATASYNC;
    r->rename_sources += e->op == WR_TRACE_RENAME;
    if (e->op == WR_TRACE_OPEN)
        stamp(r, 0, e);
    if (e->op == WR_TRACE_CLOSE)
        stamp(r, 3, e);
    if (wr_trace_op_class(e->op) == WR_TRACE_CLASS_SYNC)
        r->ns[DIR_WRITE] += alone(&r->last_ns[DIR_WRITE], e);
    else
        r->meta_ns += alone(&r->last_meta_ns, e);
}

static void on_event(struct darshan_walk *w, const struct wr_trace_event *e)
{
    enum wr_trace_class class = wr_trace_op_class(e->op);
    const struct wr_trace_mount *m;
    struct darshan_record *r;

    if (e->file == WR_TRACE_NO_FILE || class >= WR_TRACE_CLASS_PROCESS ||
        e->flags & WR_TRACE_FAILED || e->op == WR_TRACE_FAULT ||
        wr_trace_file_name(w->f, e->file)->kind != WR_TRACE_DATA)
        return;
    r = record_of(w, e, e->file);
    if (!r)
        return;
    m = wr_trace_mount_of(w->a, wr_trace_file_name(w->f, e->file)->path);
    if (class == WR_TRACE_CLASS_READ)
        moved(r, DIR_READ, e, m ? m->block : 0);
    else if (class == WR_TRACE_CLASS_WRITE)
        moved(r, DIR_WRITE, e, m ? m->block : 0);
    else
        other(r, e);
    if (e->op == WR_TRACE_RENAME && e->file2 != WR_TRACE_NO_FILE &&
        (r = record_of(w, e, e->file2)))
        r->rename_targets++;
}

static int on_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct darshan_walk *w = arg;

    for (size_t k = 0; k < n; k++)
        on_event(w, &e[k]);
    return w->no_memory ? WEIR_ENOMEM : 0;
}

/* --- printing --- */

/* Where the lines of a record go, and what they have in common. */
struct darshan_line {
    FILE *out;
    const char *module;
    int rank;
    uint64_t id, block;
    char path[4096];
    const char *mount, *type;
};

static void begin(const struct darshan_line *l, const char *name)
{
    fprintf(l->out, "%s\t%d\t%" PRIu64 "\t%s_%s\t", l->module, l->rank, l->id,
            l->module, name);
}

static void finish(const struct darshan_line *l)
{
    fprintf(l->out, "\t%s\t%s\t%s\n", l->path, l->mount, l->type);
}

static void count(const struct darshan_line *l, const char *name, uint64_t v)
{
    begin(l, name);
    fprintf(l->out, "%" PRIu64, v);
    finish(l);
}

static void time_of(const struct darshan_line *l, const char *name, uint64_t ns)
{
    begin(l, name);
    fprintf(l->out, "%.6f", ns == UINT64_MAX ? 0.0 : (double)ns * 1e-9);
    finish(l);
}

static int by_count(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;

    return (x->count < y->count) - (x->count > y->count);
}

static void print_common(const struct darshan_line *l, const char *name,
                         struct value_count *list)
{
    char text[32];

    qsort(list, TRACKED, sizeof(*list), by_count);
    for (int part = 0; part < 2; part++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof(text), "%s%d_%s", name, k + 1,
                     part ? "COUNT" : name);
            count(l, text, part ? list[k].count : list[k].value);
        }
}

static void print_sizes(const struct darshan_line *l,
                        const struct darshan_record *r)
{
    static const char *const names[WR_TRACE_SIZES] = {
        "0_100", "100_1K", "1K_10K",   "10K_100K", "100K_1M",
        "1M_4M", "4M_10M", "10M_100M", "100M_1G",  "1G_PLUS"};
    char text[40];

    for (int dir = 0; dir < DIRS; dir++)
        for (size_t k = 0; k < WR_TRACE_SIZES; k++) {
            snprintf(text, sizeof(text), "SIZE_%s_%s", dir ? "WRITE" : "READ",
                     names[k]);
            count(l, text, r->sizes[dir][k]);
        }
}

static void print_times(const struct darshan_line *l,
                        const struct darshan_record *r)
{
    static const char *const calls[] = {"OPEN", "READ", "WRITE", "CLOSE"};
    char text[40];

    for (int k = 0; k < 8; k++) {
        snprintf(text, sizeof(text), "F_%s_%s_TIMESTAMP", calls[k % 4],
                 k < 4 ? "START" : "END");
        time_of(l, text, k < 4 ? r->start[k] : r->end[k - 4]);
    }
    time_of(l, "F_READ_TIME", r->ns[DIR_READ]);
    time_of(l, "F_WRITE_TIME", r->ns[DIR_WRITE]);
    time_of(l, "F_META_TIME", r->meta_ns);
}

static void print_posix(const struct darshan_line *l, struct darshan_record *r)
{
    count(l, "OPENS", r->opens);
    count(l, "FILENOS", 0);
    count(l, "DUPS", 0);
    count(l, "READS", r->calls[DIR_READ]);
    count(l, "WRITES", r->calls[DIR_WRITE]);
    count(l, "SEEKS", r->seeks);
    count(l, "STATS", r->stats);
    count(l, "MMAPS", r->mmaps);
    count(l, "FSYNCS", r->fsyncs);
    count(l, "FDSYNCS", r->fdsyncs);
    count(l, "RENAME_SOURCES", r->rename_sources);
    count(l, "RENAME_TARGETS", r->rename_targets);
    count(l, "RENAMED_FROM", 0);
    count(l, "BYTES_READ", r->bytes[DIR_READ]);
    count(l, "BYTES_WRITTEN", r->bytes[DIR_WRITE]);
    count(l, "MAX_BYTE_READ", r->max_byte[DIR_READ]);
    count(l, "MAX_BYTE_WRITTEN", r->max_byte[DIR_WRITE]);
    count(l, "CONSEC_READS", r->consec[DIR_READ]);
    count(l, "CONSEC_WRITES", r->consec[DIR_WRITE]);
    count(l, "SEQ_READS", r->seq[DIR_READ]);
    count(l, "SEQ_WRITES", r->seq[DIR_WRITE]);
    count(l, "RW_SWITCHES", r->switches);
    count(l, "FILE_NOT_ALIGNED", r->unaligned);
    count(l, "FILE_ALIGNMENT", l->block);
    count(l, "MAX_READ_TIME_SIZE", r->max_size[DIR_READ]);
    count(l, "MAX_WRITE_TIME_SIZE", r->max_size[DIR_WRITE]);
    print_sizes(l, r);
    print_common(l, "STRIDE", r->stride);
    print_common(l, "ACCESS", r->access);
    print_times(l, r);
    time_of(l, "F_MAX_READ_TIME", r->max_ns[DIR_READ]);
    time_of(l, "F_MAX_WRITE_TIME", r->max_ns[DIR_WRITE]);
}

static void print_stdio(const struct darshan_line *l,
                        const struct darshan_record *r)
{
    count(l, "OPENS", r->opens);
    count(l, "READS", r->calls[DIR_READ]);
    count(l, "WRITES", r->calls[DIR_WRITE]);
    count(l, "SEEKS", r->seeks);
    count(l, "BYTES_READ", r->bytes[DIR_READ]);
    count(l, "BYTES_WRITTEN", r->bytes[DIR_WRITE]);
    count(l, "MAX_BYTE_READ", r->max_byte[DIR_READ]);
    count(l, "MAX_BYTE_WRITTEN", r->max_byte[DIR_WRITE]);
    print_times(l, r);
}

static void print_record(const struct darshan_walk *w, struct darshan_record *r,
                         FILE *out)
{
    const char *path = wr_trace_file_name(w->f, file_of(r))->path;
    const struct wr_trace_mount *m = wr_trace_mount_of(w->a, path);
    int rank = w->a->actors[process_of(r)].rank;
    struct darshan_line l = {.out = out,
                             .module = is_stdio(r) ? "STDIO" : "POSIX",
                             .rank = rank >= 0 ? rank : (int)process_of(r),
                             .id = wr_mix64(file_of(r) + UINT64_C(1)),
                             .block = m ? m->block : 0,
                             .mount = m ? m->path : "UNKNOWN",
                             .type = m ? m->type : "UNKNOWN"};

    wr_text_show(path, /* controls= */ true, l.path, sizeof(l.path));
    if (is_stdio(r))
        print_stdio(&l, r);
    else
        print_posix(&l, r);
}

/* Free entries, whose key is 0, come last. */
static int by_module(const void *a, const void *b)
{
    uint64_t x = ((const struct darshan_record *)a)->key - 1;
    uint64_t y = ((const struct darshan_record *)b)->key - 1;

    return (x > y) - (x < y);
}

static void print_all(struct darshan_walk *w, FILE *out)
{
    struct darshan_record *list = (void *)w->records.at;
    const struct wr_trace_info *info = wr_trace_file_info(w->f);
    char text[1024];

    fprintf(out, "# exe: %s\n# nprocs: %zu\n# run time: %.4f\n",
            wr_text_show(info->command ? info->command : "?", true, text,
                         sizeof(text)),
            w->a->actor_count, (double)w->a->end_ns * 1e-9);
    fprintf(out, "#<module>\t<rank>\t<record id>\t<counter>\t<value>\t"
                 "<file name>\t<mount pt>\t<fs type>\n");
    if (w->records.count)
        qsort(list, w->records.cap, sizeof(*list), by_module);
    for (size_t k = 0; k < w->records.count; k++)
        print_record(w, &list[k], out);
}

int wr_trace_export_darshan(struct wr_trace_file *f, FILE *out, weir_err *err)
{
    struct wr_trace_analysis *a = NULL;
    struct darshan_walk w = {.f = f,
                             .records.size = sizeof(struct darshan_record)};
    int r = wr_trace_analyse(f, &a, err);

    if (r < 0)
        return r;
    w.a = a;
    r = wr_trace_file_walk(f, on_events, &w, err);
    if (w.no_memory)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        print_all(&w, out);
    wr_map_done(&w.records);
    wr_trace_analysis_free(a);
    return r;
}
