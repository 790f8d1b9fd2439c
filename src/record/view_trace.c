/* view_trace.c - traces of programs as sections of a report.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The record is made of a trace by src/trace/record.c, and never written. */
#include "record/view.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/trace_charts.h"
#include "record/trace_tables.h"
#include "record/view_monitor.h"
#include "record/view_say.h"

#define FINDINGS_MAX 64
#define TRACES_MAX   24 /* that have sections of their own */

/* --- the top of the page --- */

static bool costs(const json_t *f)
{
    return wr_get_number(f, "seconds") > 0 && !wr_get_true(f, "risk");
}

static const char *per(const json_t *f)
{
    return wr_get_true(f, "once") ? "run" : "epoch";
}

static void headlines(struct wr_doc *d, const json_t *j)
{
    const json_t *worst = json_array_get(wr_get_list(j, "findings"), 0);
    double share = wr_get_number(j, "run.io_share");
    char text[32], label[WR_VIEW_NAME];

    if (wr_get_number(j, "run.seconds") > 0)
        wr_doc_headline(
            d, "the run", "%s",
            wr_say_time(wr_get_number(j, "run.seconds"), text, sizeof(text)));
    if (share >= 0)
        wr_doc_headline(d, "of it with calls on files", "%.1f %%", 100 * share);
    if (!costs(worst))
        return;
    snprintf(label, sizeof(label), "lost per %s: %.100s", per(worst),
             wr_get_text(worst, "title"));
    wr_doc_headline(
        d, label, "%s",
        wr_say_time(wr_get_number(worst, "seconds"), text, sizeof(text)));
}

static void say_io(struct wr_doc *d, const struct wr_view_record *r, bool named)
{
    const json_t *run = wr_get_object(r->json, "run");
    char time[32];

    wr_doc_summary(
        d,
        "%s%sI/O takes %.1f %% of the run of %s, %.1f %% of the "
        "time of each process.",
        named ? r->label : "", named ? ": " : "",
        100 * fmax(0, wr_get_number(run, "io_share")),
        wr_say_time(fmax(0, wr_get_number(run, "seconds")), time, sizeof(time)),
        100 * fmax(0, wr_get_number(run, "process_share")));
}

static void trace_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    const json_t *findings = wr_get_list(r->json, "findings");

    for (size_t i = 0; i < n && i < room; i++)
        say_io(d, &r[i], n > 1);
    if (n > 1 || room < 2)
        return;
    headlines(d, r->json);
    if (!json_array_size(findings))
        wr_doc_summary(d, "Nothing to change was found.");
    for (size_t i = 0; i < json_array_size(findings) && i + 1 < room; i++)
        wr_doc_summary(d, "%s",
                       wr_get_text(json_array_get(findings, i), "what"));
}

/* --- findings --- */

static struct wr_doc_section *section(struct wr_doc *d, const char *title,
                                      const struct wr_view_record *r, bool many)
{
    char text[WR_VIEW_NAME];

    snprintf(text, sizeof(text), "%s%s%.200s", title, many ? ": " : "",
             many ? r->label : "");
    return wr_doc_section(d, text);
}

static void cost_of(const json_t *f, char *buf, size_t cap)
{
    char time[32];

    if (!costs(f))
        snprintf(buf, cap, "%s",
                 wr_get_true(f, "risk") ? "a risk" : "not known");
    else
        snprintf(buf, cap, "%s per %s",
                 wr_say_time(wr_get_number(f, "seconds"), time, sizeof(time)),
                 per(f));
}

static void overview(struct wr_doc *d, const struct wr_view_record *r,
                     bool many)
{
    const json_t *list = wr_get_list(r->json, "findings");
    struct wr_doc_section *s = section(d, "Findings", r, many);
    struct wr_doc_table *t;
    char cost[64];

    if (!json_array_size(list)) {
        wr_doc_note(s, false, "Nothing to change was found.");
        return;
    }
    t = wr_doc_table(s, "What costs time, the most first",
                     "<finding|>lost|>in the run|>expected gain|<how sure");
    for (size_t i = 0; i < json_array_size(list) && i < FINDINGS_MAX; i++) {
        const json_t *f = json_array_get(list, i);
        double gain = wr_get_number(f, "gain");
        double whole = wr_get_number(f, "run_seconds");

        cost_of(f, cost, sizeof(cost));
        wr_doc_cell(t, "%.8s: %.200s", wr_get_text(f, "code"),
                    wr_get_text(f, "title"));
        wr_doc_cell(t, "%s", cost);
        wr_doc_tone(t, costs(f) ? WR_DOC_BAD : WR_DOC_PLAIN);
        wr_say_time_cell(t, costs(f) ? whole : NAN);
        wr_say_time_cell(t, gain > 0 ? gain : NAN);
        wr_doc_cell(t, "%s", wr_get_text(f, "sure"));
    }
}

static void one_finding(struct wr_doc *d, const json_t *f)
{
    double gain = wr_get_number(f, "gain");
    char title[WR_VIEW_NAME], cost[64], time[32];
    struct wr_doc_section *s;

    snprintf(title, sizeof(title), "%.8s: %.200s", wr_get_text(f, "code"),
             wr_get_text(f, "title"));
    s = wr_doc_section(d, title);
    cost_of(f, cost, sizeof(cost));
    wr_doc_lead(s, "%s", wr_get_text(f, "what"));
    wr_doc_fact(s, "Lost", "%s", cost);
    if (gain > 0)
        wr_doc_fact(s, "Expected", "%s less per %s (%s)",
                    wr_say_time(gain, time, sizeof(time)), per(f),
                    wr_get_text(f, "sure"));
    wr_doc_note(s, false, "Evidence: %s", wr_get_text(f, "evidence"));
    wr_doc_note(s, false, "Change: %s", wr_get_text(f, "change"));
    wr_trace_example_table(s, f);
}

static void findings(struct wr_doc *d, const struct wr_view_record *r,
                     bool many)
{
    const json_t *list = wr_get_list(r->json, "findings");

    overview(d, r, many);
    for (size_t k = 0; k < json_array_size(list) && k < FINDINGS_MAX; k++)
        one_finding(d, json_array_get(list, k));
}

/* --- the program --- */

static void describe(struct wr_doc_section *s, const json_t *j)
{
    const json_t *run = wr_get_object(j, "run");
    const char *damage = wr_get_text(run, "damage");
    double lost = wr_get_number(run, "lost_events");
    double left_out = wr_get_number(run, "left_out");
    char n[32];

    wr_doc_fact(s, "Program", "%s", wr_get_text(run, "program"));
    wr_doc_fact(s, "Processes",
                "%.0f: %.0f main, %.0f workers (%.0f at once), %.0f ranks",
                fmax(0, wr_get_number(run, "processes")),
                fmax(0, wr_get_number(run, "mains")),
                fmax(0, wr_get_number(run, "workers")),
                fmax(0, wr_get_number(run, "workers_at_once")),
                fmax(0, wr_get_number(run, "ranks")));
    wr_doc_fact(
        s, "Events", "%s",
        wr_say_number(fmax(0, wr_get_number(run, "events")), n, sizeof(n)));
    if (lost > 0)
        wr_doc_note(s, true,
                    "%.0f events were over the budget: counts are exact, times "
                    "and orders are of the rest.",
                    lost);
    if (left_out > 0)
        wr_doc_note(s, true,
                    "The tables of epochs, phases and saves have only the "
                    "first rows, %.0f are left out.",
                    left_out);
    if (*damage)
        wr_doc_note(s, true, "The trace is not complete: %s.", damage);
}

static double percent(const json_t *o, const char *part, const char *whole)
{
    double w = wr_get_number(o, whole);

    return w > 0 ? 100 * fmax(0, wr_get_number(o, part)) / w : 0;
}

static void describe_set(struct wr_doc_section *s, const json_t *j)
{
    const json_t *o = wr_get_object(j, "data_set");
    double files = wr_get_number(o, "files");
    char size[32], read[32], unique[32], n[32];

    if (!(files > 0))
        return;
    wr_doc_fact(s, "Data set", "%s files, %s; %s read, %s of it different",
                wr_say_number(files, n, sizeof(n)),
                wr_format_bytes(size, sizeof(size),
                                fmax(0, wr_get_number(o, "file_bytes"))),
                wr_format_bytes(read, sizeof(read),
                                fmax(0, wr_get_number(o, "read_bytes"))),
                wr_format_bytes(unique, sizeof(unique),
                                fmax(0, wr_get_number(o, "unique_bytes"))));
    wr_doc_fact(s, "File access", "%s", wr_get_text(o, "access"));
    wr_doc_fact(s, "Files read once", "%.1f %%",
                percent(o, "read_once", "files"));
    wr_doc_fact(
        s, "Its reads",
        "%s: %.1f %% sequential, %.1f %% consecutive; %s in reads, %s "
        "in metadata calls",
        wr_say_number(fmax(0, wr_get_number(o, "reads")), n, sizeof(n)),
        percent(o, "sequential", "reads"), percent(o, "consecutive", "reads"),
        wr_say_time(fmax(0, wr_get_number(o, "read_s")), size, sizeof(size)),
        wr_say_time(fmax(0, wr_get_number(o, "metadata_s")), read,
                    sizeof(read)));
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
    const json_t *j = r->json;

    wr_view_host(s, r);
    describe(s, j);
    describe_set(s, j);
    wr_trace_rate_chart(s, j);
    wr_trace_calls_chart(s, j);
    wr_trace_lanes_chart(s, j);
    wr_trace_epoch_table(s, j);
    wr_trace_phase_table(s, j);
    wr_trace_save_table(s, j);
    s = section(d, "Requests", r, many);
    wr_trace_heat_chart(s, j);
    wr_trace_latency_chart(s, j);
    wr_trace_sizes_chart(s, j, "read_sizes", "Sizes of reads of the data set");
    wr_trace_sizes_chart(s, j, "write_sizes", "Sizes of writes");
    wr_trace_latency_table(s, j);
    wr_trace_file_table(section(d, "Files", r, many), j);
    machine(d, r, many);
}

static void trace_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    for (size_t i = 0; i < n && i < TRACES_MAX; i++) {
        findings(d, &r[i], n > 1);
        sections(d, &r[i], n > 1);
    }
}

const struct wr_view wr_view_trace = {
    .command = "trace", .summarize = trace_summarize, .build = trace_build};
