/* trace.c - traces of programs as sections of a report, and as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The record is made of a trace by src/trace/record.c. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/say.h"
#include "report/trace_charts.h"
#include "report/view.h"
#include "report/view_monitor.h"
#include "result/get.h"
#include "result/trace.h"

#define TRACES_MAX   24 /* that have sections of their own */
#define FINDINGS_MAX ((size_t)64)
#define ROWS_FOLDED  30 /* a table with more is folded */
#define ROWS_PRINTED 12 /* of a table of the text */

/* What sentences have beside the values of a trace, and of one of its findings. */
#define FACTS(V)                                                               \
    V(GROUP(trace), trace, FIRST, .flags = WR_SAY_OPEN)                        \
    V(GROUP(trace_finding), finding, FIRST) /* the worst; or each in turn */   \
    V(FLAG, found, FIRST)                                                      \
    V(REAL, cost, FIRST) /* of the finding, if it is known */                  \
    V(TEXT, per, FIRST)  /* "epoch" */                                         \
    V(TEXT, usual_sizes, FIRST)                                                \
    V(REAL, times, FIRST) /* that the data set was read */                     \
    V(REAL, read_once, FIRST)                                                  \
    V(REAL, sequential, FIRST)                                                 \
    V(REAL, consecutive, FIRST)                                                \
    V(REAL, request_bytes_per_s, FIRST)                                        \
    V(REAL, cached, FIRST)                                                     \
    V(REAL, resident, FIRST)

struct trace_facts {
    FACTS(WR_VAL_MEMBER)
    char sizes_text[WR_VIEW_NAME];
};
#define THIS struct trace_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

/* --- sentences --- */

static const struct wr_sentence described[] = {
    {"{run.program}", .fact = "Program"},
    {"{run.processes:0}: {run.mains:0} main, {run.workers:0} workers "
     "({run.workers_at_once:0} at once), {run.ranks:0} ranks",
     .fact = "Processes"},
    {"{run.events:number}", .fact = "Events"},
    {"{run.merged:0} traces, by weir trace merge", .when = "run.merged>0",
     .fact = "Made of"},
    {"{run.lost_events:0} events were over the budget: counts are exact, times "
     "and orders are of the rest.",
     .when = "run.lost_events>0", .warning = true},
    {"{run.lost_records:0} of the kernel's records are lost: counts of "
     "programs that only it sees are too low.",
     .when = "run.lost_records>0", .warning = true},
    {"The tables of epochs, phases and saves have only the first rows, "
     "{run.left_out:0} are left out.",
     .when = "run.left_out>0", .warning = true},
    {"The trace is not complete: {run.damage}.", .warning = true},
    {NULL}};

static const struct wr_sentence shares[] = {
    {.text = "I/O takes {run.io_share:1%} of the run of {run.seconds:time}, "
             "{run.process_share:1%} of the time of each process."},
    {NULL}};

static const struct wr_sentence nothing_found[] = {
    {"Nothing to change was found.", .when = "!found"}, {NULL}};

static const struct wr_sentence data_set[] = {
    {"{data_set.files:number} files[, {data_set.file_bytes:bytes}]"
     "[; {data_set.read_bytes:bytes} read][, {data_set.unique_bytes:bytes} of "
     "it different][ ({times:2} times)]",
     .fact = "Data set"},
    {"{data_set.access}", .fact = "File access"},
    {"{read_once:1%}", .fact = "Files read once"},
    {"{data_set.reads:number}[: <{sequential:1%} sequential|{consecutive:1%} "
     "consecutive>][; <{data_set.read_s:time} in "
     "reads|{data_set.metadata_s:time} in metadata calls>]",
     .fact = "Its reads"},
    {"{usual_sizes}", .fact = "Usual sizes"},
    {"{request_bytes_per_s:bytes}/s[; {data_set.opens:number} opens]",
     .fact = "Each request"},
    {"{data_set.device_bytes:bytes}: {cached:1%} of what was read came from "
     "the page cache",
     .fact = "Devices gave"},
    {"{resident:1%} of the data set at the end", .fact = "In memory"},
    {"{data_set.shared_files:number} files were read by more than one rank",
     .when = "run.ranks>1", .fact = "Shared"},
    {"{run.batches:number}, with pauses of more than {run.batch_gap_s:s} "
     "between them",
     .when = "run.batches>0", .fact = "Batches"},
    {NULL}};

/* One of them. */
static const struct wr_sentence lost[] = {
    {"a risk", .when = "finding.risk", .fact = "Lost"},
    {"not known", .when = "!finding.risk !cost", .fact = "Lost"},
    {"{cost:time} per {per}", .fact = "Lost"},
    {NULL}};

static const struct wr_sentence advice[] = {
    {"{finding.gain:time} less per {per}[ ({finding.sure})]",
     .when = "finding.gain>0", .fact = "Expected"},
    {.text = "Evidence: {finding.evidence}"},
    {.text = "Change: {finding.change}"},
    {NULL}};

static const struct wr_sentence *const sentences[] = {
    described, shares, nothing_found, data_set, lost, advice, NULL};

/* --- facts --- */

static double share_of(double part, double whole)
{
    return whole > 0 ? fmax(0, part) / whole : 0;
}

static bool costs(const struct wr_trace_finding_values *f)
{
    return f->seconds > 0 && !f->risk;
}

static void finding_facts(struct trace_facts *f,
                          const struct wr_trace_finding_values *finding)
{
    f->finding = *finding;
    f->cost = costs(finding) ? finding->seconds : NAN;
    f->per = finding->once ? "run" : "epoch";
}

static void set_facts(struct trace_facts *f,
                      const struct wr_trace_set_values *o)
{
    for (size_t k = 0; k < o->common.count; k++) {
        const struct wr_trace_common_values *c = wr_list_at(&o->common, k);

        wr_say(f->sizes_text, sizeof(f->sizes_text),
               "%.1f %% of reads ask for %.0f bytes",
               100 * share_of(c->count, o->reads), fmax(0, c->bytes));
    }
    f->usual_sizes = f->sizes_text;
    if (o->unique_bytes > 0)
        f->times = fmax(0, o->read_bytes) / o->unique_bytes;
    f->read_once = share_of(o->read_once, o->files);
    f->sequential = share_of(o->sequential, o->reads);
    f->consecutive = share_of(o->consecutive, o->reads);
    if (o->read_s > 0)
        f->request_bytes_per_s = o->read_bytes / o->read_s;
    if (o->device_bytes >= 0 && o->read_bytes > 0)
        f->cached = 1 - fmin(o->device_bytes, o->read_bytes) / o->read_bytes;
    if (o->resident_of > 0)
        f->resident = share_of(o->resident_bytes, o->resident_of);
}

static void facts_of(const struct wr_view_record *r, struct trace_facts *ret)
{
    const struct wr_trace_values *v = wr_trace_values_of(r);

    wr_vals_clear(&facts, ret);
    *ret->sizes_text = '\0';
    ret->trace = *v;
    ret->found = v->findings.count > 0;
    if (ret->found)
        finding_facts(ret, v->findings.v);
    set_facts(ret, &v->data_set);
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    facts_of(&c->records[record], ret);
}

/* --- tables --- */

#define OF(name, member)                                                       \
    WR_COLUMN(RUN, wr_trace_##name##_vals, struct wr_trace_##name##_values,    \
              member)
#define TIME  .show = WR_SHOW_TIME
#define RATE  .show = WR_SHOW_RATE
#define BYTES .show = WR_SHOW_BYTES

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

static const char *finding_name(const struct wr_column *c,
                                const struct wr_row *r, char *buf, size_t cap)
{
    const struct wr_trace_finding_values *f = r->run;

    snprintf(buf, cap, "%.8s: %.200s", f->code, f->title);
    return buf;
}

static void lost_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    char text[WR_SAY_BYTES] = "";
    struct trace_facts f;

    wr_vals_clear(&facts, &f);
    finding_facts(&f, r->run);
    for (const struct wr_sentence *s = lost; s->text && !*text; s++)
        wr_sentence(s, &facts, &f, text, sizeof(text));
    wr_doc_cell(t, "%s", text);
    wr_doc_tone(t, costs(r->run) ? WR_DOC_BAD : WR_DOC_PLAIN);
}

static double run_cost(const struct wr_row *r)
{
    const struct wr_trace_finding_values *f = r->run;

    return costs(f) ? f->run_seconds : NAN;
}

static double finding_gain(const struct wr_row *r)
{
    const struct wr_trace_finding_values *f = r->run;

    return f->gain > 0 ? f->gain : NAN;
}

static const struct wr_column finding_columns[] = {
    {"finding", NULL, '<', .text = finding_name},
    {"lost", NULL, '>', .cell = lost_cell},
    {"in the run", NULL, '>', .number = run_cost, TIME},
    {"expected gain", NULL, '>', .number = finding_gain, TIME},
    {"how sure", NULL, '<', OF(finding, sure)},
    {.head = NULL}};

static const struct wr_column epoch_columns[] = {
    {"epoch", NULL, '>', .number = wr_cell_place},
    {"from s", NULL, '>', OF(epoch, from_s)},
    {"time", NULL, '>', .number = epoch_time, TIME},
    {"files", NULL, '>', OF(epoch, files)},
    {"read", NULL, '>', OF(epoch, read_bytes), BYTES},
    {"rate", NULL, '>', .number = epoch_rate, RATE},
    {"reads", NULL, '>', OF(epoch, reads)},
    {"in reads", NULL, '>', OF(epoch, read_s), TIME},
    {.head = NULL}};

static const struct wr_column phase_columns[] = {
    {"phase", NULL, '<', OF(phase, kind)},
    {"from s", NULL, '>', OF(phase, from_s)},
    {"time", NULL, '>', .number = phase_time, TIME},
    {"read", NULL, '>', OF(phase, read_bytes), BYTES},
    {"written", NULL, '>', OF(phase, written_bytes), BYTES},
    {"metadata calls", NULL, '>', OF(phase, metadata)},
    {.head = NULL}};

static const struct wr_column save_columns[] = {
    {"save", NULL, '>', .number = wr_cell_place},
    {"from s", NULL, '>', OF(save, from_s)},
    {"time", NULL, '>', .number = save_time, TIME},
    {"size", NULL, '>', OF(save, bytes), BYTES},
    {"rate", NULL, '+', .number = save_rate, RATE},
    {"writing", NULL, '+', OF(save, write_s), TIME},
    {"syncing", NULL, '+', OF(save, sync_s), TIME},
    {"main thread waits", NULL, '<', .text = save_waits},
    {"largest file", NULL, '<', OF(save, path)},
    {.head = NULL}};

static const struct wr_column latency_columns[] = {
    {"call", NULL, '<', OF(latency, call)},
    {"calls", NULL, '>', OF(latency, count)},
    {"total", NULL, '>', OF(latency, total_s), TIME},
    {"p50", NULL, '>', OF(latency, p50_s), TIME},
    {"p99", NULL, '>', OF(latency, p99_s), TIME},
    {"p99.9", NULL, '>', OF(latency, p999_s), TIME},
    {"max", NULL, '>', OF(latency, max_s), TIME},
    {.head = NULL}};

static const struct wr_column file_columns[] = {
    {"time", NULL, '>', OF(file, seconds), TIME},
    {"opens", NULL, '+', OF(file, opens)},
    {"reads", NULL, '+', OF(file, reads)},
    {"read", NULL, '>', OF(file, read_bytes), BYTES},
    {"writes", NULL, '+', OF(file, writes)},
    {"written", NULL, '>', OF(file, written_bytes), BYTES},
    {"file", NULL, '<', OF(file, path)},
    {.head = NULL}};

static const struct wr_column example_columns[] = {
    {"at s", NULL, '>', OF(example, at_s)},
    {"what", NULL, '<', OF(example, detail)},
    {"file", NULL, '<', OF(example, path)},
    {.head = NULL}};

#define RULE(heading, of, member)                                              \
    {                                                                          \
        .title = heading, .rows = #member, .columns = of##_columns,            \
        .list = offsetof(struct wr_trace_values, member), .least = 1,          \
        .fold_from = ROWS_FOLDED + 1, .printed = heading,                      \
        .printed_rows = ROWS_PRINTED                                           \
    }

static const struct wr_table_rule
    finding_table = RULE("What costs time, the most first", finding, findings),
    epoch_table = RULE("Epochs", epoch, epochs),
    phase_table = RULE("Phases", phase, phases),
    save_table = RULE("Checkpoints and other saves", save, saves),
    latency_table = RULE("Calls and their times", latency, latencies),
    file_table = RULE("Files with most time in calls", file, files);

static void example_table(struct wr_doc_section *s, const struct wr_list *l)
{
    struct wr_doc_table *t;

    if (!l->count)
        return;
    t = wr_doc_table_of(s, "Examples", example_columns, 0);
    for (size_t i = 0; i < WR_MIN(l->count, (size_t)WR_VIEW_ROWS); i++)
        wr_cells(t, example_columns, 0,
                 &(struct wr_row){.i = i, .run = wr_list_at(l, i)});
    if (l->count > ROWS_FOLDED)
        wr_doc_fold(t);
    wr_view_cut(s, "examples", l->count);
}

/* A section for each finding. */
static void each_finding(struct wr_scope *v)
{
    const struct wr_list *l = &wr_trace_values_of(v->r)->findings;
    struct trace_facts f;

    wr_vals_clear(&facts, &f);
    for (size_t k = 0; k < WR_MIN(l->count, FINDINGS_MAX); k++) {
        const struct wr_trace_finding_values *finding = wr_list_at(l, k);
        char title[WR_VIEW_NAME];
        struct wr_doc_section *s = wr_doc_section(
            v->d, finding_name(NULL, &(struct wr_row){.run = finding}, title,
                               sizeof(title)));

        finding_facts(&f, finding);
        wr_doc_lead(s, "%s", finding->what);
        wr_sentences(s, "", lost, &facts, &f);
        wr_sentences(s, "", advice, &facts, &f);
        example_table(s, &finding->examples);
    }
}

/* --- the top of the page --- */

static void headlines(struct wr_doc *d, const struct trace_facts *f)
{
    char text[32], label[WR_VIEW_NAME];

    if (f->trace.run.seconds > 0)
        wr_doc_headline(d, "the run", "%s",
                        wr_say_time(f->trace.run.seconds, text, sizeof(text)));
    if (f->trace.run.io_share >= 0)
        wr_doc_headline(d, "of it with calls on files", "%.1f %%",
                        100 * f->trace.run.io_share);
    if (!(f->cost > 0))
        return;
    snprintf(label, sizeof(label), "lost per %s: %.100s", f->per,
             f->finding.title);
    wr_doc_headline(d, label, "%s", wr_say_time(f->cost, text, sizeof(text)));
}

static void trace_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    const struct wr_list *l = &wr_trace_values_of(r)->findings;
    struct trace_facts f;

    for (size_t i = 0; i < n && i < room; i++) {
        facts_of(&r[i], &f);
        wr_sentences_top(d, n > 1 ? r[i].label : "", shares, &facts, &f, 1);
    }
    if (n > 1 || room < 2)
        return;
    headlines(d, &f);
    wr_sentences_top(d, "", nothing_found, &facts, &f, 1);
    for (size_t i = 0; i < l->count && i + 1 < room; i++) {
        const struct wr_trace_finding_values *finding = wr_list_at(l, i);

        wr_doc_summary(d, "%s", finding->what);
    }
}

/* --- sections --- */

static bool is_watched(const struct wr_scope *v)
{
    return wr_get_object(v->r->json, "monitor") != NULL;
}

static bool has_set(const struct wr_scope *v)
{
    return wr_trace_values_of(v->r)->data_set.files > 0;
}

static void say_who(struct wr_scope *v)
{
    wr_doc_note(v->s, false,
                "\"This process\" is weir, which recorded; the traced program "
                "is part of the whole machine.");
}

static const struct wr_section sections[] = {
    {"Findings", .plain = true, .of = WR_OF_EACH,
     .items = WR_ITEMS({.say = {nothing_found}}, {.table = &finding_table},
                       {.show = each_finding})},
    {"Program", .plain = true, .of = WR_OF_EACH,
     .items = WR_ITEMS({.show = wr_show_host}, {.say = {described}},
                       {.say = {data_set}, .is_needed = has_set},
                       {.show = wr_trace_time_charts}, {.table = &epoch_table},
                       {.table = &phase_table}, {.table = &save_table})},
    {"Requests", .plain = true, .of = WR_OF_EACH,
     .items = WR_ITEMS({.show = wr_trace_request_charts},
                       {.show = wr_trace_size_tables},
                       {.table = &latency_table})},
    {"Files", .plain = true, .of = WR_OF_EACH,
     .items = WR_ITEMS({.table = &file_table})},
    {"The machine meanwhile", .plain = true, .of = WR_OF_EACH,
     .is_needed = is_watched,
     .items = WR_ITEMS({.show = say_who}, {.show = wr_show_monitor},
                       {.show = wr_show_monitor_tables})},
    {.items = NULL}};

/* What weir trace prints at its end: no charts, and the first rows of tables. */
static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.say = {described, shares, nothing_found}},
                       {.show = each_finding})},
    {"What it read", .is_needed = has_set,
     .items = WR_ITEMS({.say = {data_set}})},
    {.items = WR_ITEMS({.show = wr_trace_size_tables},
                       {.table = &latency_table})},
    {"What it did",
     .items = WR_ITEMS({.table = &epoch_table}, {.table = &phase_table},
                       {.table = &save_table}, {.table = &file_table})},
    {.items = NULL}};

const struct wr_view wr_view_trace = {.command = "trace",
                                      .summarize = trace_summarize,
                                      .rows = &wr_trace_spec,
                                      .sections = sections,
                                      .printed = printed,
                                      .facts = &facts,
                                      .find_facts = find_facts,
                                      .sentences = sentences,
                                      .most = TRACES_MAX};
