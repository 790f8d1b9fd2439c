/* view_trace.c - traces of programs as sections of a report, and as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The record is made of a trace by src/trace/record.c. */
#include "record/view.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/trace_charts.h"
#include "record/view_monitor.h"
#include "record/view_say.h"

#define FINDINGS_MAX ((size_t)64)
#define TRACES_MAX   24 /* that have sections of their own */
#define ROWS_FOLDED  30 /* a table with more is folded */
#define ROWS_PRINTED 12 /* of a table of the text */

/* --- tables --- */

#define OF(name, member)                                                       \
    WR_COLUMN(RUN, wr_trace_##name##_vals, struct wr_trace_##name##_values,    \
              member)
#define TIME .show = WR_SHOW_TIME
#define RATE .show = WR_SHOW_RATE

static void size_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    double bytes = wr_number_at(r->run, c->at);
    char text[32];

    if (bytes >= 0)
        wr_doc_shown(t, bytes, "%s",
                     wr_format_bytes(text, sizeof(text), bytes));
    else
        wr_doc_cell(t, "-");
}

static double epoch_time(const struct wr_row *r)
{
    const struct wr_trace_epoch_values *e = r->run;

    return e->to_s - e->from_s;
}

static double epoch_rate(const struct wr_row *r)
{
    const struct wr_trace_epoch_values *e = r->run;

    return e->read_bytes / epoch_time(r);
}

static double phase_time(const struct wr_row *r)
{
    const struct wr_trace_phase_values *p = r->run;

    return p->to_s - p->from_s;
}

static double save_time(const struct wr_row *r)
{
    const struct wr_trace_save_values *s = r->run;

    return s->to_s - s->from_s;
}

static double save_rate(const struct wr_row *r)
{
    const struct wr_trace_save_values *s = r->run;

    return s->bytes / save_time(r);
}

static const char *save_waits(const struct wr_column *c, const struct wr_row *r,
                              char *buf, size_t cap)
{
    const struct wr_trace_save_values *s = r->run;

    return s->waits ? "yes" : "no";
}

static const char *size_edge(const struct wr_column *c, const struct wr_row *r,
                             char *buf, size_t cap)
{
    return wr_trace_size_text(r->run, buf, cap);
}

#define SIZE_AT(member) offsetof(struct wr_trace_size_values, member)

/* Of all in the table, in percent. */
static double size_count_share(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return 100 * v->count / wr_trace_sum(&r->row->list, SIZE_AT(count));
}

static double size_time_share(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return 100 * v->seconds / wr_trace_sum(&r->row->list, SIZE_AT(seconds));
}

static double size_rate(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return v->bytes / v->seconds;
}

static const struct wr_column epoch_columns[] = {
    {.head = "epoch", .side = '>', .number = wr_cell_place},
    {.head = "from s", .side = '>', OF(epoch, from_s)},
    {.head = "time", .side = '>', .number = epoch_time, TIME},
    {.head = "files", .side = '>', OF(epoch, files)},
    {.head = "read", .side = '>', OF(epoch, read_bytes), .cell = size_cell},
    {.head = "rate", .side = '>', .number = epoch_rate, RATE},
    {.head = "reads", .side = '>', OF(epoch, reads)},
    {.head = "in reads", .side = '>', OF(epoch, read_s), TIME},
    {.head = NULL}};

static const struct wr_column phase_columns[] = {
    {.head = "phase", .side = '<', OF(phase, kind)},
    {.head = "from s", .side = '>', OF(phase, from_s)},
    {.head = "time", .side = '>', .number = phase_time, TIME},
    {.head = "read", .side = '>', OF(phase, read_bytes), .cell = size_cell},
    {.head = "written",
     .side = '>',
     OF(phase, written_bytes),
     .cell = size_cell},
    {.head = "metadata calls", .side = '>', OF(phase, metadata)},
    {.head = NULL}};

static const struct wr_column save_columns[] = {
    {.head = "save", .side = '>', .number = wr_cell_place},
    {.head = "from s", .side = '>', OF(save, from_s)},
    {.head = "time", .side = '>', .number = save_time, TIME},
    {.head = "size", .side = '>', OF(save, bytes), .cell = size_cell},
    {.head = "rate", .side = '+', .number = save_rate, RATE},
    {.head = "writing", .side = '+', OF(save, write_s), TIME},
    {.head = "syncing", .side = '+', OF(save, sync_s), TIME},
    {.head = "main thread waits", .side = '<', .text = save_waits},
    {.head = "largest file", .side = '<', OF(save, path)},
    {.head = NULL}};

static const struct wr_column latency_columns[] = {
    {.head = "call", .side = '<', OF(latency, call)},
    {.head = "calls", .side = '>', OF(latency, count)},
    {.head = "total", .side = '>', OF(latency, total_s), TIME},
    {.head = "p50", .side = '>', OF(latency, p50_s), TIME},
    {.head = "p99", .side = '>', OF(latency, p99_s), TIME},
    {.head = "p99.9", .side = '>', OF(latency, p999_s), TIME},
    {.head = "max", .side = '>', OF(latency, max_s), TIME},
    {.head = NULL}};

static const struct wr_column size_columns[] = {
    {.head = "up to", .side = '>', .text = size_edge},
    {.head = "requests", .side = '>', OF(size, count)},
    {.head = "of them",
     .side = '>',
     .number = size_count_share,
     .digits = 1,
     .show = WR_SHOW_PERCENT},
    {.head = "bytes", .side = '>', OF(size, bytes), .cell = size_cell},
    {.head = "time", .side = '>', OF(size, seconds), TIME},
    {.head = "of it",
     .side = '>',
     .number = size_time_share,
     .digits = 1,
     .show = WR_SHOW_PERCENT},
    {.head = "each", .side = '>', .number = size_rate, RATE},
    {.head = NULL}};

static const struct wr_column file_columns[] = {
    {.head = "time", .side = '>', OF(file, seconds), TIME},
    {.head = "opens", .side = '+', OF(file, opens)},
    {.head = "reads", .side = '+', OF(file, reads)},
    {.head = "read", .side = '>', OF(file, read_bytes), .cell = size_cell},
    {.head = "writes", .side = '+', OF(file, writes)},
    {.head = "written",
     .side = '>',
     OF(file, written_bytes),
     .cell = size_cell},
    {.head = "file", .side = '<', OF(file, path)},
    {.head = NULL}};

static const struct wr_column example_columns[] = {
    {.head = "at s", .side = '>', OF(example, at_s)},
    {.head = "what", .side = '<', OF(example, detail)},
    {.head = "file", .side = '<', OF(example, path)},
    {.head = NULL}};

/* One row for each of a list, at most as many as may be shown. */
static void list_table(struct wr_doc_section *s, const char *title,
                       const struct wr_column *columns, const struct wr_list *l,
                       size_t most)
{
    const struct wr_case of = {.list = *l};
    struct wr_doc_table *t;

    if (!l->count)
        return;
    t = wr_doc_table_of(s, title, columns, 0);
    for (size_t i = 0; i < l->count && i < most; i++)
        wr_cells(t, columns, 0,
                 &(struct wr_row){.i = i, .row = &of, .run = wr_list_at(l, i)});
    if (l->count > ROWS_FOLDED)
        wr_doc_fold(t);
    if (l->count > most)
        wr_doc_note(s, most == WR_VIEW_ROWS,
                    "%s: the first %zu of %zu are in the table.", title, most,
                    l->count);
}

/* Without the sizes that nothing has. */
static void size_table(struct wr_doc_section *s, const char *title,
                       const struct wr_list *l)
{
    const struct wr_case of = {.list = *l};
    struct wr_doc_table *t;

    if (!(wr_trace_sum(l, SIZE_AT(count)) > 0))
        return;
    t = wr_doc_table_of(s, title, size_columns, 0);
    for (size_t i = 0; i < l->count && i < WR_VIEW_ROWS; i++) {
        const struct wr_trace_size_values *v = wr_list_at(l, i);

        if (v->count > 0)
            wr_cells(t, size_columns, 0,
                     &(struct wr_row){.i = i, .row = &of, .run = v});
    }
}

static void request_tables(struct wr_doc_section *s,
                           const struct wr_trace_values *v)
{
    size_table(s, "Reads of the data set by size", &v->read_sizes);
    size_table(s, "Writes by size", &v->write_sizes);
    list_table(s, "Calls and their times", latency_columns, &v->latencies,
               WR_VIEW_ROWS);
}

static void time_tables(struct wr_doc_section *s,
                        const struct wr_trace_values *v, size_t most)
{
    list_table(s, "Epochs", epoch_columns, &v->epochs, most);
    list_table(s, "Phases", phase_columns, &v->phases, most);
    list_table(s, "Checkpoints and other saves", save_columns, &v->saves, most);
}

/* --- findings --- */

static bool costs(const struct wr_trace_finding_values *f)
{
    return f && f->seconds > 0 && !f->risk;
}

static const char *per(const struct wr_trace_finding_values *f)
{
    return f->once ? "run" : "epoch";
}

static void cost_of(const struct wr_trace_finding_values *f, char *buf,
                    size_t cap)
{
    char time[32];

    if (!costs(f))
        snprintf(buf, cap, "%s", f->risk ? "a risk" : "not known");
    else
        snprintf(buf, cap, "%s per %s",
                 wr_say_time(f->seconds, time, sizeof(time)), per(f));
}

static struct wr_doc_section *section(struct wr_doc *d, const char *title,
                                      const struct wr_view_record *r, bool many)
{
    char text[WR_VIEW_NAME];

    snprintf(text, sizeof(text), "%s%s%.200s", title, many ? ": " : "",
             many ? r->label : "");
    return wr_doc_section(d, text);
}

static void overview(struct wr_doc *d, const struct wr_view_record *r,
                     bool many)
{
    const struct wr_list *l = &wr_trace_values_of(r)->findings;
    struct wr_doc_section *s = section(d, "Findings", r, many);
    struct wr_doc_table *t;
    char cost[64];

    if (!l->count) {
        wr_doc_note(s, false, "Nothing to change was found.");
        return;
    }
    t = wr_doc_table(s, "What costs time, the most first",
                     "<finding|>lost|>in the run|>expected gain|<how sure");
    for (size_t i = 0; i < WR_MIN(l->count, FINDINGS_MAX); i++) {
        const struct wr_trace_finding_values *f = wr_list_at(l, i);

        cost_of(f, cost, sizeof(cost));
        wr_doc_cell(t, "%.8s: %.200s", f->code, f->title);
        wr_doc_cell(t, "%s", cost);
        wr_doc_tone(t, costs(f) ? WR_DOC_BAD : WR_DOC_PLAIN);
        wr_say_time_cell(t, costs(f) ? f->run_seconds : NAN);
        wr_say_time_cell(t, f->gain > 0 ? f->gain : NAN);
        wr_doc_cell(t, "%s", f->sure);
    }
}

static void each_finding(struct wr_doc *d, const struct wr_list *l)
{
    for (size_t k = 0; k < WR_MIN(l->count, FINDINGS_MAX); k++) {
        const struct wr_trace_finding_values *f = wr_list_at(l, k);
        char title[WR_VIEW_NAME], cost[64], time[32];
        struct wr_doc_section *s;

        snprintf(title, sizeof(title), "%.8s: %.200s", f->code, f->title);
        s = wr_doc_section(d, title);
        cost_of(f, cost, sizeof(cost));
        wr_doc_lead(s, "%s", f->what);
        wr_doc_fact(s, "Lost", "%s", cost);
        if (f->gain > 0)
            wr_doc_fact(s, "Expected", "%s less per %s (%s)",
                        wr_say_time(f->gain, time, sizeof(time)), per(f),
                        f->sure);
        wr_doc_note(s, false, "Evidence: %s", f->evidence);
        wr_doc_note(s, false, "Change: %s", f->change);
        list_table(s, "Examples", example_columns, &f->examples, WR_VIEW_ROWS);
    }
}

/* --- the top of the page --- */

static void headlines(struct wr_doc *d, const struct wr_trace_values *v)
{
    const struct wr_trace_finding_values *worst = v->findings.count
                                                      ? v->findings.v
                                                      : NULL;
    char text[32], label[WR_VIEW_NAME];

    if (v->run.seconds > 0)
        wr_doc_headline(d, "the run", "%s",
                        wr_say_time(v->run.seconds, text, sizeof(text)));
    if (v->run.io_share >= 0)
        wr_doc_headline(d, "of it with calls on files", "%.1f %%",
                        100 * v->run.io_share);
    if (!costs(worst))
        return;
    snprintf(label, sizeof(label), "lost per %s: %.100s", per(worst),
             worst->title);
    wr_doc_headline(d, label, "%s",
                    wr_say_time(worst->seconds, text, sizeof(text)));
}

/* "I/O takes 2.1 % of the run of 3.4 s, ..." */
static char *io_sentence(const struct wr_trace_values *v, char *buf, size_t cap)
{
    char time[32];

    snprintf(buf, cap,
             "I/O takes %.1f %% of the run of %s, %.1f %% of the time of each "
             "process.",
             100 * fmax(0, v->run.io_share),
             wr_say_time(fmax(0, v->run.seconds), time, sizeof(time)),
             100 * fmax(0, v->run.process_share));
    return buf;
}

static void trace_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    const struct wr_trace_values *v = wr_trace_values_of(r);
    char text[WR_VIEW_NAME];

    for (size_t i = 0; i < n && i < room; i++)
        wr_doc_summary(
            d, "%s%s%s", n > 1 ? r[i].label : "", n > 1 ? ": " : "",
            io_sentence(wr_trace_values_of(&r[i]), text, sizeof(text)));
    if (n > 1 || room < 2)
        return;
    headlines(d, v);
    if (!v->findings.count)
        wr_doc_summary(d, "Nothing to change was found.");
    for (size_t i = 0; i < v->findings.count && i + 1 < room; i++) {
        const struct wr_trace_finding_values *f = wr_list_at(&v->findings, i);

        wr_doc_summary(d, "%s", f->what);
    }
}

/* --- the program --- */

static void describe(struct wr_doc_section *s, const struct wr_trace_values *v)
{
    const struct wr_trace_run_values *run = &v->run;
    char n[32];

    wr_doc_fact(s, "Program", "%s", run->program);
    wr_doc_fact(s, "Processes",
                "%.0f: %.0f main, %.0f workers (%.0f at once), %.0f ranks",
                fmax(0, run->processes), fmax(0, run->mains),
                fmax(0, run->workers), fmax(0, run->workers_at_once),
                fmax(0, run->ranks));
    wr_doc_fact(s, "Events", "%s",
                wr_say_number(fmax(0, run->events), n, sizeof(n)));
    if (run->merged > 0)
        wr_doc_fact(s, "Made of", "%.0f traces, by weir trace merge",
                    run->merged);
    if (run->lost_events > 0)
        wr_doc_note(s, true,
                    "%.0f events were over the budget: counts are exact, times "
                    "and orders are of the rest.",
                    run->lost_events);
    if (run->lost_records > 0)
        wr_doc_note(s, true,
                    "%.0f of the kernel's records are lost: counts of programs "
                    "that only it sees are too low.",
                    run->lost_records);
    if (run->left_out > 0)
        wr_doc_note(s, true,
                    "The tables of epochs, phases and saves have only the "
                    "first rows, %.0f are left out.",
                    run->left_out);
    if (*run->damage)
        wr_doc_note(s, true, "The trace is not complete: %s.", run->damage);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * fmax(0, part) / whole : 0;
}

static void describe_requests(struct wr_doc_section *s,
                              const struct wr_trace_set_values *o)
{
    char sizes[WR_VIEW_NAME] = "", text[32], n[32];

    for (size_t k = 0; k < o->common.count; k++) {
        const struct wr_trace_common_values *c = wr_list_at(&o->common, k);

        wr_say(sizes, sizeof(sizes), "%.1f %% of reads ask for %.0f bytes",
               percent(c->count, o->reads), fmax(0, c->bytes));
    }
    if (*sizes)
        wr_doc_fact(s, "Usual sizes", "%s", sizes);
    if (o->read_s > 0 && o->read_bytes >= 0)
        wr_doc_fact(
            s, "Each request", "%s/s; %s opens",
            wr_format_bytes(text, sizeof(text), o->read_bytes / o->read_s),
            wr_say_number(fmax(0, o->opens), n, sizeof(n)));
}

/* Where it came from, as far as that is known. */
static void describe_source(struct wr_doc_section *s,
                            const struct wr_trace_values *v)
{
    const struct wr_trace_set_values *o = &v->data_set;
    char text[32];

    if (o->device_bytes >= 0 && o->read_bytes > 0)
        wr_doc_fact(
            s, "Devices gave",
            "%s: %.1f %% of what was read came from the page cache",
            wr_format_bytes(text, sizeof(text), o->device_bytes),
            100 - percent(fmin(o->device_bytes, o->read_bytes), o->read_bytes));
    if (o->resident_of > 0)
        wr_doc_fact(s, "In memory", "%.1f %% of the data set at the end",
                    percent(o->resident_bytes, o->resident_of));
    if (v->run.ranks > 1)
        wr_doc_fact(
            s, "Shared", "%s files were read by more than one rank",
            wr_say_number(fmax(0, o->shared_files), text, sizeof(text)));
}

static void describe_set(struct wr_doc_section *s,
                         const struct wr_trace_values *v)
{
    const struct wr_trace_set_values *o = &v->data_set;
    char size[32], read[32], unique[32], n[32], times[32] = "";

    if (!(o->files > 0))
        return;
    if (o->unique_bytes > 0)
        snprintf(times, sizeof(times), " (%.2f times)",
                 fmax(0, o->read_bytes) / o->unique_bytes);
    wr_doc_fact(
        s, "Data set", "%s files, %s; %s read, %s of it different%s",
        wr_say_number(o->files, n, sizeof(n)),
        wr_format_bytes(size, sizeof(size), fmax(0, o->file_bytes)),
        wr_format_bytes(read, sizeof(read), fmax(0, o->read_bytes)),
        wr_format_bytes(unique, sizeof(unique), fmax(0, o->unique_bytes)),
        times);
    wr_doc_fact(s, "File access", "%s", o->access);
    wr_doc_fact(s, "Files read once", "%.1f %%",
                percent(o->read_once, o->files));
    wr_doc_fact(s, "Its reads",
                "%s: %.1f %% sequential, %.1f %% consecutive; %s in reads, %s "
                "in metadata calls",
                wr_say_number(fmax(0, o->reads), n, sizeof(n)),
                percent(o->sequential, o->reads),
                percent(o->consecutive, o->reads),
                wr_say_time(fmax(0, o->read_s), size, sizeof(size)),
                wr_say_time(fmax(0, o->metadata_s), read, sizeof(read)));
    describe_requests(s, o);
    describe_source(s, v);
    if (v->run.batches > 0)
        wr_doc_fact(s, "Batches",
                    "%s, with pauses of more than %s between them",
                    wr_say_number(v->run.batches, n, sizeof(n)),
                    wr_format_ns(size, sizeof(size),
                                 fmax(0, v->run.batch_gap_s * 1e9)));
}

static void machine(struct wr_doc *d, const struct wr_view_record *r, bool many)
{
    static const struct wr_cases_spec none = {.rows = "none"};
    struct wr_doc_section *s;
    struct wr_cases c;

    if (!wr_get_object(r->json, "monitor"))
        return;
    wr_cases_init(&c, r, 1, &none);
    s = section(d, "The machine meanwhile", r, many);
    wr_doc_note(s, false,
                "\"This process\" is weir, which recorded; the traced program "
                "is part of the whole machine.");
    wr_view_monitor(d, s, &c);
    wr_view_monitor_tables(s, &c);
    wr_cases_done(&c);
}

static void sections(struct wr_doc *d, const struct wr_view_record *r,
                     bool many)
{
    struct wr_doc_section *s = section(d, "Program", r, many);
    const struct wr_trace_values *v = wr_trace_values_of(r);

    wr_view_host(s, r);
    describe(s, v);
    describe_set(s, v);
    wr_trace_rate_chart(s, v);
    wr_trace_calls_chart(s, v);
    wr_trace_lanes_chart(s, v);
    time_tables(s, v, WR_VIEW_ROWS);
    s = section(d, "Requests", r, many);
    wr_trace_heat_chart(s, v);
    wr_trace_latency_chart(s, v);
    wr_trace_sizes_chart(s, &v->read_sizes, "Sizes of reads of the data set");
    wr_trace_sizes_chart(s, &v->write_sizes, "Sizes of writes");
    request_tables(s, v);
    list_table(section(d, "Files", r, many), "Files with most time in calls",
               file_columns, &v->files, WR_VIEW_ROWS);
    machine(d, r, many);
}

static void trace_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    for (size_t i = 0; i < n && i < TRACES_MAX; i++) {
        overview(d, &r[i], n > 1);
        each_finding(d, &wr_trace_values_of(&r[i])->findings);
        sections(d, &r[i], n > 1);
    }
}

/* What weir trace prints at its end: no charts, and the first rows of tables. */
static void trace_result(struct wr_doc *d, const struct wr_view_record *r)
{
    const struct wr_trace_values *v = wr_trace_values_of(r);
    struct wr_doc_section *s = wr_doc_section(d, "");
    char text[WR_VIEW_NAME];

    describe(s, v);
    wr_doc_note(s, false, "%s", io_sentence(v, text, sizeof(text)));
    if (!v->findings.count)
        wr_doc_note(s, false, "Nothing to change was found.");
    each_finding(d, &v->findings);
    if (v->data_set.files > 0)
        describe_set(wr_doc_section(d, "What it read"), v);
    request_tables(wr_doc_section(d, ""), v);
    s = wr_doc_section(d, "What it did");
    time_tables(s, v, ROWS_PRINTED);
    list_table(s, "Files with most time in calls", file_columns, &v->files,
               ROWS_PRINTED);
}

const struct wr_view wr_view_trace = {.command = "trace",
                                      .summarize = trace_summarize,
                                      .build = trace_build,
                                      .result = trace_result};
