/* report.c - an analysis as text: findings first, then the numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define TOP   10 /* files */
#define SHOWN 12 /* rows of phases and epochs */

struct report_writer {
    const struct wr_trace_analysis *a;
    FILE *out;
    unsigned width;
};

static void line(const struct report_writer *w, size_t indent, const char *fmt,
                 ...) __attribute__((format(printf, 3, 4)));

/* Wraps; blanks in front of the text are `indent`. */
static void line(const struct report_writer *w, size_t indent, const char *fmt,
                 ...)
{
    char text[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(w->out, "%*s", (int)indent, "");
    wr_text_print(w->out, text,
                  (struct wr_text_wrap){
                      .at = indent, .indent = indent, .width = w->width});
}

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static const char *path_of(const struct report_writer *w, uint32_t file,
                           char *buf, size_t cap)
{
    if (file == WR_TRACE_NO_FILE)
        return "";
    return wr_text_show(wr_trace_file_name(w->a->file, file)->path,
                        /* controls= */ true, buf, cap);
}

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* --- findings --- */

static void print_finding(const struct report_writer *w,
                          const struct wr_trace_finding *f)
{
    char path[1024];

    if (f->risk)
        fprintf(w->out, "\n%s  %s (a risk)\n", f->rule->code, f->rule->title);
    else if (f->seconds <= 0)
        fprintf(w->out, "\n%s  %s\n", f->rule->code, f->rule->title);
    else
        fprintf(w->out, "\n%s  %s: %.2f s per %s\n", f->rule->code,
                f->rule->title, f->seconds, f->once ? "run" : "epoch");
    line(w, 5, "%s %s", f->what, f->evidence);
    for (size_t k = 0; k < f->example_count; k++)
        line(w, 5, "at %.3f s: %s%s%s", seconds(f->examples[k].at_ns),
             path_of(w, f->examples[k].file, path, sizeof(path)),
             f->examples[k].file != WR_TRACE_NO_FILE && f->examples[k].detail[0]
                 ? ", "
                 : "",
             f->examples[k].detail);
    line(w, 5, "change: %s", f->change);
    if (f->gain > 0)
        line(w, 5, "expected: %.2f s less per %s (%s)", f->gain,
             f->once ? "run" : "epoch", wr_finding_sure_name(f->sure));
}

static void print_findings(const struct report_writer *w,
                           const struct wr_trace_findings *f)
{
    if (!f->count)
        fprintf(w->out, "\nNothing to change was found.\n");
    for (size_t k = 0; k < f->count; k++)
        print_finding(w, &f->list[k]);
}

/* --- what it did --- */

static void print_head(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;
    const struct wr_trace_info *info = wr_trace_file_info(a->file);
    const char *damage = wr_trace_file_damage(a->file);
    char text[1024];

    line(w, 0, "%s",
         wr_text_show(info->command ? info->command : "?", true, text,
                      sizeof(text)));
    line(w, 0,
         "I/O takes %.1f %% of the run of %.2f s (%.1f %% of each process's "
         "time).",
         100 * a->io_share, seconds(a->end_ns), 100 * a->process_share);
    line(w, 0,
         "Processes: %zu, of these %u main and %u workers (%u at once); ranks: "
         "%u; events: %" PRIu64 ".",
         a->actor_count, a->mains, a->workers, a->workers_at_once, a->ranks,
         a->events);
    if (a->lost_events)
        line(w, 0,
             "%" PRIu64 " events were over the budget: counts are exact, times "
             "and orders are of the rest.",
             a->lost_events);
    if (info->lost_records)
        line(w, 0,
             "%" PRIu64 " of the kernel's records are lost: counts of programs "
             "that only it sees are too low.",
             info->lost_records);
    if (info->merged)
        line(w, 0, "Made of %u traces by weir trace merge.", info->merged);
    if (damage)
        line(w, 0, "The trace is not complete: %s.", damage);
}

static void print_set(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;
    double reads = (double)a->set_reads;
    char text[160];

    if (!a->set_files)
        return;
    fprintf(w->out, "\nData set\n");
    line(w, 2,
         "%" PRIu64 " files (%.1f MB, %.0f KB each); %.1f MB read, %.1f MB of "
         "it different (%.2f times); %.1f %% of the files were read once.",
         a->set_files, (double)a->set_sizes * 1e-6,
         (double)a->set_sizes / (double)a->set_files * 1e-3,
         (double)a->set_bytes * 1e-6, (double)a->set_unique * 1e-6,
         a->set_unique ? (double)a->set_bytes / (double)a->set_unique : 0,
         share((double)a->read_once, (double)a->set_files));
    line(w, 2,
         "%" PRIu64 " reads: %.1f %% sequential, %.1f %% consecutive; %.1f "
         "MB/s per request; %" PRIu64 " opens, %.2f s of metadata calls "
         "against %.2f s of reads.",
         a->set_reads, share((double)a->set_sequential, reads),
         share((double)a->set_consecutive, reads),
         a->set_ns ? (double)a->set_bytes / (double)a->set_ns * 1e3 : 0,
         a->set_opens, seconds(a->set_meta_ns), seconds(a->set_ns));
    line(w, 2, "File access: %s.", wr_trace_access_text(a, text, sizeof(text)));
    if (a->device_read != UINT64_MAX && a->set_counted && a->set_bytes)
        line(
            w, 2,
            "Devices gave %.1f MB: %.1f %% of what was read came from the page "
            "cache.",
            (double)a->device_read * 1e-6,
            100 - share((double)WR_MIN(a->device_read, a->set_bytes),
                        (double)a->set_bytes));
    if (a->resident_of)
        line(w, 2, "%.1f %% of the data set was in memory at the end.",
             share((double)a->resident, (double)a->resident_of));
    if (a->ranks > 1)
        line(w, 2, "%" PRIu64 " files were read by more than one rank.",
             a->shared_files);
}

static void print_sizes(const struct report_writer *w, const char *title,
                        const struct wr_trace_size *sizes)
{
    uint64_t all = 0, ns = 0;
    char edge[32];

    for (size_t k = 0; k < WR_TRACE_SIZES; k++) {
        all += sizes[k].count;
        ns += sizes[k].ns;
    }
    if (!all)
        return;
    fprintf(w->out, "\n%-20s %12s %7s %10s %7s %10s\n", title, "requests", "%",
            "time s", "%", "MB/s each");
    for (size_t k = 0; k < WR_TRACE_SIZES; k++) {
        const struct wr_trace_size *s = &sizes[k];

        if (!s->count)
            continue;
        if (wr_trace_size_edge(k) == UINT64_MAX)
            snprintf(edge, sizeof(edge), "  over 1 GiB");
        else
            snprintf(edge, sizeof(edge), "  to %" PRIu64 " B",
                     wr_trace_size_edge(k));
        fprintf(w->out, "%-20s %12" PRIu64 " %7.1f %10.3f %7.1f %10.1f\n", edge,
                s->count, share((double)s->count, (double)all), seconds(s->ns),
                share((double)s->ns, (double)ns),
                s->ns ? (double)s->bytes / (double)s->ns * 1e3 : 0);
    }
}

static void print_common(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;

    for (size_t k = 0; k < WR_TRACE_COMMON && a->common_reads[k].count; k++)
        if (a->common_reads[k].count * 20 > a->set_reads)
            line(w, 2, "%.1f %% of reads ask for %" PRIu64 " bytes.",
                 share((double)a->common_reads[k].count, (double)a->set_reads),
                 a->common_reads[k].bytes);
}

static void print_latencies(const struct report_writer *w)
{
    static const char *const names[] = {"read (data set)", "open", "stat",
                                        "write", "sync"};

    fprintf(w->out, "\n%-20s %12s %10s %10s %10s %10s\n", "Latencies", "calls",
            "p50 ms", "p99 ms", "p99.9 ms", "max ms");
    for (size_t k = 0; k < WR_ARRAY_LEN(names); k++) {
        const struct wr_hist *h = w->a->latency[k];

        if (h->count)
            fprintf(w->out,
                    "  %-18s %12" PRIu64 " %10.3f %10.3f %10.3f %10.3f\n",
                    names[k], h->count, (double)wr_hist_quantile(h, 0.5) * 1e-6,
                    (double)wr_hist_quantile(h, 0.99) * 1e-6,
                    (double)wr_hist_quantile(h, 0.999) * 1e-6,
                    (double)h->max * 1e-6);
    }
}

static void print_phases(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;

    fprintf(w->out, "\n%-20s %10s %10s %12s %12s %10s\n", "Phases", "from s",
            "for s", "read MB", "written MB", "metadata");
    for (size_t k = 0; k < a->phase_count && k < SHOWN; k++) {
        const struct wr_trace_phase *p = &a->phases[k];

        fprintf(w->out, "  %-18s %10.2f %10.2f %12.1f %12.1f %10" PRIu64 "\n",
                wr_trace_phase_name(p->kind), seconds(p->start_ns),
                seconds(p->end_ns - p->start_ns),
                (double)(p->sums.set_bytes + p->sums.other_read_bytes) * 1e-6,
                (double)p->sums.written_bytes * 1e-6, p->sums.meta_ops);
    }
    if (a->phase_count > SHOWN)
        fprintf(w->out, "  and %zu more\n", a->phase_count - SHOWN);
}

static void print_epochs(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;

    if (!a->epoch_count)
        return;
    fprintf(w->out, "\n%-20s %10s %10s %12s %12s %10s\n", "Epochs", "from s",
            "for s", "read MB", "files", "reads s");
    for (size_t k = 0; k < a->epoch_count && k < SHOWN; k++) {
        const struct wr_trace_epoch *e = &a->epochs[k];

        fprintf(w->out, "  %-18zu %10.2f %10.2f %12.1f %12" PRIu64 " %10.2f\n",
                k + 1, seconds(e->start_ns), seconds(e->end_ns - e->start_ns),
                (double)e->set_bytes * 1e-6, e->files, seconds(e->set_ns));
    }
    if (a->epoch_count > SHOWN)
        fprintf(w->out, "  and %zu more\n", a->epoch_count - SHOWN);
    if (a->batches)
        line(w, 2,
             "Pauses between batches are longer than %.1f ms: %" PRIu64
             " of them.",
             (double)a->gap_split_ns * 1e-6, a->batches);
}

static void print_saves(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;
    char path[1024];

    if (!a->save_count)
        return;
    fprintf(w->out, "\n%-20s %10s %10s %12s %12s\n", "Saves", "from s", "for s",
            "MB", "main waits");
    for (size_t k = 0; k < a->save_count && k < SHOWN; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        fprintf(w->out, "  %-18zu %10.2f %10.2f %12.1f %12s  %s\n", k + 1,
                seconds(s->start_ns), seconds(s->end_ns - s->start_ns),
                (double)s->bytes * 1e-6, s->main_thread ? "yes" : "no",
                path_of(w, s->file, path, sizeof(path)));
    }
    if (a->save_count > SHOWN)
        fprintf(w->out, "  and %zu more\n", a->save_count - SHOWN);
}

/* --- top files --- */

static void print_top(const struct report_writer *w)
{
    const struct wr_trace_analysis *a = w->a;
    uint32_t top[TOP];
    size_t n = wr_trace_top_files(a, top, TOP);
    char path[1024];

    if (!n)
        return;
    fprintf(w->out, "\n%-20s %10s %10s %12s\n", "Top files: time s", "calls",
            "read MB", "written MB");
    for (size_t k = 0; k < n; k++) {
        const struct wr_trace_use *u = &a->uses[top[k]];

        fprintf(w->out, "  %-18.3f %10" PRIu64 " %10.1f %12.1f  %s\n",
                seconds(wr_trace_use_ns(u)),
                (uint64_t)u->opens + u->reads + u->writes + u->stats,
                (double)u->bytes_read * 1e-6, (double)u->bytes_written * 1e-6,
                path_of(w, top[k], path, sizeof(path)));
    }
}

void wr_trace_report(const struct wr_trace_analysis *a,
                     const struct wr_trace_findings *findings,
                     struct wr_trace_report_style style, FILE *out)
{
    const struct report_writer w = {
        .a = a, .out = out, .width = style.width ? style.width : 80};

    print_head(&w);
    print_findings(&w, findings);
    print_set(&w);
    print_common(&w);
    print_sizes(&w, "Reads (data set)", a->read_sizes);
    print_sizes(&w, "Writes", a->write_sizes);
    print_latencies(&w);
    print_phases(&w);
    print_epochs(&w);
    print_saves(&w);
    print_top(&w);
}
