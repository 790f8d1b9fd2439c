/* bench_tables.c - tables and charts of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/bench_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/batches.h"
#include "report/chart.h"
#include "report/pivot.h"
#include "report/sizes.h"
#include "report/say.h"
#include "result/get.h"
#include "result/stats.h"

#define SETTINGS   7 /* columns */
#define PAGE_CACHE 1 /* of them */
#define MB         1e6
#define ALL        SIZE_MAX
#define FAR_APART  8. /* times, from which on each record has its own axis */
#define APART_MAX  8  /* records that have */
#define ALWAYS     (1u << 0 | 1u << 1 | 1u << 3)

enum {
    RECORD = 1u << SETTINGS,
    OTHERS = RECORD << 1,
    BATCHES = RECORD << 2,
};

/* The column of setting k. */
static const struct wr_column *setting(size_t k)
{
    const struct wr_column *c = wr_bench_case_columns;

    while (c->only != 1u << k)
        c++;
    return c;
}

/* --- cells --- */

static double spread(const struct wr_row *r)
{
    double v[WR_CASE_RUNS_MAX];
    size_t n = wr_stats_sort(v, WR_BENCH_NUMBERS(r->row, samples_per_s, v));

    return n > 1
               ? 50 * (v[n - 1] - v[0]) / wr_bench_median(r->row)->samples_per_s
               : NAN;
}

static double evenness(const struct wr_row *r)
{
    const struct wr_bench_values *m = wr_bench_median(r->row);

    return m->gap_p50_ms > 0 ? m->gap_p99_ms / m->gap_p50_ms : NAN;
}

static double stalls(const struct wr_row *r)
{
    struct wr_batches b;

    wr_batches_of(r->row, NULL, &b);
    return b.rows ? (double)b.stalls : NAN;
}

/* Settings that differ and have no column of their own, of one row. */
static char *other_settings(const struct wr_cases *c, size_t row, char *buf,
                            size_t cap)
{
    *buf = '\0';
    for (size_t i = 0; i < c->varying_count; i++) {
        size_t k = 0;

        while (k < SETTINGS && strcmp(setting(k)->key, c->varying[i]))
            k++;
        if (k == SETTINGS)
            wr_case_setting(&c->v[row], c->varying[i], buf, cap);
    }
    return buf;
}

static const char *others(const struct wr_column *c, const struct wr_row *r,
                          char *buf, size_t cap)
{
    return other_settings(r->c, r->k, buf, cap);
}

static const char *verdict(const struct wr_column *c, const struct wr_row *r,
                           char *buf, size_t cap)
{
    const struct wr_bench_result_values *v = &wr_bench_case(r->row)->result;

    return v->starved ? "starved" : v->verdict;
}

static const char *counts(const struct wr_column *c, const struct wr_row *r,
                          char *buf, size_t cap)
{
    return r->i < r->row->warm_up ? "warm-up" : "yes";
}

/* --- columns --- */

#define RUN(member)                                                            \
    WR_COLUMN(RUN, wr_bench_vals, struct wr_bench_values, member)
#define MEDIAN(member)                                                         \
    WR_COLUMN(MEDIAN, wr_bench_vals, struct wr_bench_values, member)
#define RESULT(member)                                                         \
    WR_COLUMN(CASE, wr_bench_case_vals, struct wr_bench_case_values,           \
              result.member)
#define SETTING(bit, key_)                                                     \
    .only = 1u << (bit), .text = wr_cell_setting, .key = key_
#define NAME                                                                   \
    .head = "case", .help = "the settings that differ among the cases",        \
    .side = '<', .text = wr_cell_name

/* Settings that are the same in all rows and not ALWAYS shown stand above the
 * table, to keep it narrow. */
const struct wr_column wr_bench_case_columns[] = {
    {"record", "of several records", '<', RECORD, .text = wr_cell_record},
    {"case", "other settings that differ among the cases", '<', OTHERS,
     .text = others},
    {"stages", "what is done to each sample (--stages)", '<',
     SETTING(0, "stages")},
    {"page-cache", "its state before every run (--page-cache)", '<',
     SETTING(PAGE_CACHE, "page_cache")},
    {"decode", "how JPEG is decoded (--decode)", '<', SETTING(2, "decode")},
    {"threads", "workers (--threads)", '>', SETTING(3, "threads")},
    {"depth", "reads in flight per worker (--depth)", '>', SETTING(4, "depth")},
    {"prefetch", "finished batches kept ahead (--prefetch)", '>',
     SETTING(5, "prefetch")},
    {"batch", "samples per batch (--batch)", '>', SETTING(6, "batch")},
    {.help = "rate, median of the counted runs",
     .side = '>',
     MEDIAN(samples_per_s),
     .show = WR_SHOW_BRIEF},
    {"+-",
     "spread: half of the runs' range as a fraction of the median; -: "
     "one run only",
     '>', .number = spread, .show = WR_SHOW_PERCENT},
    {.side = '>', MEDIAN(bytes_per_s), .fewer = 1},
    {.side = '+', MEDIAN(cpu_s_per_1000), .fewer = 1},
    {.side = '+', MEDIAN(peak_bytes)},
    {.side = '+', MEDIAN(first_batch_ms), .fewer = 1},
    {"p99/p50",
     "how evenly batches come: 99th percentile of the time between two "
     "batches, divided by the median",
     '+', .number = evenness, .digits = 2},
    {"stalls", "batches that took over three times the median (weir report)",
     '>', BATCHES, .number = stalls},
    {.side = '>', RESULT(of_decode_limit)},
    {.side = '-', RESULT(of_read_limit)},
    {.side = '<', RESULT(verdict), .text = verdict},
    {.head = NULL}};

const struct wr_column wr_bench_run_columns[] = {
    {NAME},
    {"run", "number of the run of a case", '>', .number = wr_cell_place},
    {"counts", "warm-up: the run is not counted", '<', .text = counts},
    {.side = '>', RUN(start_s)},
    {.side = '>', RUN(seconds)},
    {.side = '>', RUN(samples_per_s)},
    {.side = '>', RUN(bytes_per_s), .help = ""},
    {.side = '>', RUN(gap_p50_ms)},
    {.side = '>', RUN(gap_p99_ms)},
    {.side = '>', RUN(requests)},
    {.side = '>', RUN(resident)},
    {.side = '>', RUN(times.consumer_wait_s)},
    {.side = '<', RUN(verdict)},
    {.head = NULL}};

const struct wr_column wr_bench_rank_columns[] = {
    {NAME},
    {.side = '>', RUN(rank)},
    {.side = '<', RUN(host)},
    {.side = '>', RUN(seconds), .help = "how long its share took"},
    {.side = '>', RUN(samples)},
    {.side = '>', RUN(samples_per_s), .help = "that it reached alone"},
    {.side = '>', RUN(peak_bytes)},
    {.side = '<', RUN(verdict), .help = "what limited it"},
    {.head = NULL}};

/* --- what stands above the table, or is left out --- */

bool wr_bench_is_starved(const struct wr_case *row)
{
    return wr_bench_case(row)->result.starved;
}

/* What a record was made on, if that was emulated. */
static bool device_of(const struct wr_cases *c, size_t record, char *buf,
                      size_t cap)
{
    return wr_view_is_emulated(c->records[record].json) &&
           *wr_view_device(c->records[record].json, buf, cap);
}

static bool are_emulated(const struct wr_cases *c)
{
    char device[WR_VIEW_NAME];

    for (size_t k = 0; k < c->record_count; k++)
        if (!device_of(c, k, device, sizeof(device)))
            return false;
    return c->record_count > 0;
}

/* What all records were made on. */
static bool common_device(const struct wr_cases *c, char *buf, size_t cap)
{
    char other[WR_VIEW_NAME];

    for (size_t k = 0; k < c->record_count; k++)
        if (!device_of(c, k, k ? other : buf, k ? sizeof(other) : cap) ||
            (k && strcmp(buf, other)))
            return false;
    return c->record_count > 0;
}

/* Whether the table has a column for setting k. */
static bool is_column(const struct wr_cases *c, size_t k)
{
    if (wr_cases_varies(c, setting(k)->key))
        return true;
    /* What is in the page cache is no part of an emulated device. */
    return ALWAYS >> k & 1 && !(k == PAGE_CACHE && are_emulated(c));
}

char *wr_bench_common(const struct wr_cases *c, char *buf, size_t cap)
{
    char value[WR_VIEW_NAME];
    bool emulated = are_emulated(c);

    *buf = '\0';
    if (c->count && wr_bench_case(c->v)->ranks.count > 1 &&
        !wr_cases_varies(c, "world"))
        wr_say(buf, cap, "%zu ranks", wr_bench_case(c->v)->ranks.count);
    if (common_device(c, value, sizeof(value)))
        wr_say(buf, cap, "%s", value);
    for (size_t k = 0; c->count && k < SETTINGS; k++) {
        const json_t *v = json_object_get(c->v[0].settings, setting(k)->key);

        if (!is_column(c, k) && *wr_get_shown(v, value, sizeof(value)))
            wr_say(buf, cap, "%s%s %s", setting(k)->head,
                   emulated && k == PAGE_CACHE ? " below it" : "", value);
    }
    return buf;
}

char *wr_bench_heading(const struct wr_cases *c, size_t k, char *buf,
                       size_t cap)
{
    const struct wr_case *row = &c->v[k];
    double workers = wr_bench_middle(row)->in_force.threads;
    char device[WR_VIEW_NAME], value[128];
    bool emulated = device_of(c, row->record, device, sizeof(device));

    snprintf(buf, cap, "%s", wr_get_text(row->settings, "stages"));
    if (c->record_count > 1)
        wr_say(buf, cap, "%s", c->records[row->record].label);
    if (emulated)
        wr_say(buf, cap, "%s", device);
    if (!emulated || is_column(c, PAGE_CACHE))
        wr_say(buf, cap, "%s cache%s", wr_get_text(row->settings, "page_cache"),
               emulated ? " below it" : "");
    if (workers > 0)
        wr_say(buf, cap, "%.0f thread%s", workers, workers == 1 ? "" : "s");
    for (size_t i = 0; i < SETTINGS; i++)
        if (!(ALWAYS >> i & 1) && is_column(c, i))
            wr_say(buf, cap, "%s %s", setting(i)->head,
                   wr_get_shown(json_object_get(row->settings, setting(i)->key),
                                value, sizeof(value)));
    if (*other_settings(c, k, device, sizeof(device)))
        wr_say(buf, cap, "%s", device);
    return buf;
}

/* The columns that these cases need. */
static unsigned shown_of(const struct wr_scope *v)
{
    unsigned shown = v->c.record_count > 1 ? RECORD : 0;
    char text[WR_VIEW_NAME];

    for (size_t k = 0; k < SETTINGS; k++)
        shown |= is_column(&v->c, k) ? 1u << k : 0;
    for (size_t k = 0; k < v->c.count; k++) {
        struct wr_batches b;

        wr_batches_of(&v->c.v[k], NULL, &b);
        shown |= b.rows && !v->brief ? BATCHES : 0;
        shown |= *other_settings(&v->c, k, text, sizeof(text)) ? OTHERS : 0;
    }
    return shown;
}

const struct wr_table_rule wr_bench_case_table = {
    "Cases, medians of the counted runs", "cases", wr_bench_case_columns,
    .which = shown_of};

const struct wr_table_rule wr_bench_run_table = {
    "Runs", "runs", wr_bench_run_columns,
    offsetof(struct wr_bench_case_values, runs), .fold = true};

const struct wr_table_rule wr_bench_rank_table = {
    "Ranks",
    "ranks",
    wr_bench_rank_columns,
    offsetof(struct wr_bench_case_values, ranks),
    .least = 1,
    .fold = true};

/* The data of all experiments, once. */
void wr_bench_data_table(struct wr_scope *v)
{
    struct wr_doc_table *t = wr_doc_table(
        v->s, "Data sets",
        "<record|<data set|<format|>samples|>MB|>files|>consumer ms");

    wr_doc_fold(t);
    for (size_t i = 0; i < v->n && i < WR_VIEW_ROWS; i++) {
        const json_t *ds = wr_get_object(v->r[i].json, "dataset");

        wr_doc_cell(t, "%s", v->r[i].label);
        wr_doc_cell(t, "%s", wr_get_text(ds, "url"));
        wr_doc_cell(t, "%s", wr_get_text(ds, "format"));
        wr_doc_number(t, wr_get_number(ds, "samples"), 0);
        wr_doc_number(t, wr_get_number(ds, "bytes") / MB, 1);
        wr_doc_number(t, wr_get_number(ds, "files"), 0);
        wr_doc_number(t, wr_get_number(v->r[i].json, "consumer_ms"), 1);
    }
    wr_sizes_draw(v->d, v->s, &v->c, "dataset.sizes");
    wr_sizes_table(v->s, &v->c, "dataset.sizes");
}

/* --- charts --- */

double wr_bench_setting(const struct wr_case *row, const char *key)
{
    return wr_get_number(row->settings, key);
}

bool wr_bench_is_read(const struct wr_cases *c)
{
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(wr_get_text(c->v[k].settings, "stages"), "read"))
            return false;
    return c->count > 0;
}

/* A value of the counted runs with its spread. */
static void add_rate(struct wr_pivot *p, const char *series, const char *label,
                     double at, const struct wr_case *row)
{
    bool bytes = !strcmp(wr_get_text(row->settings, "stages"), "read");
    size_t rate = bytes ? offsetof(struct wr_bench_values, bytes_per_s)
                        : offsetof(struct wr_bench_values, samples_per_s);
    double v[WR_CASE_RUNS_MAX], unit = bytes ? MB : 1;
    size_t n = wr_stats_sort(v, wr_case_numbers(row, rate, v));

    wr_pivot_add(p, series, label, at, wr_number_at(row->median, rate) / unit);
    if (n > 1)
        wr_pivot_range(p, v[0] / unit, v[n - 1] / unit);
}

/* The rates of one record, or of all (ALL): medians by threads where threads
 * were swept, else by case. */
static void rate_chart(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_cases *c, size_t record)
{
    bool by_threads = wr_cases_varies(c, "threads"), one = record != ALL;
    const char *unit = wr_bench_is_read(c) ? "MB/s" : "samples/s";
    char label[WR_VIEW_NAME], series[WR_VIEW_NAME], title[WR_VIEW_NAME];
    struct wr_cases named = *c;
    struct wr_pivot p = {0};
    const struct wr_doc_chart_spec spec = {
        WR_DOC_BARS, title, by_threads ? "threads" : "", unit,
        .note = "Medians of the counted runs; whiskers: lowest and highest."};

    if (one)
        named.record_count = 1; /* the title names it */
    for (size_t k = 0; k < c->count; k++) {
        const json_t *v = wr_get(c->v[k].settings, "threads");
        double at = json_number_value(v);

        if (one && c->v[k].record != record)
            continue;
        if (!by_threads) {
            wr_cases_name(&named, k, "all", label, sizeof(label));
            add_rate(&p, unit, label, NAN, &c->v[k]);
            continue;
        }
        wr_get_shown(v, label, sizeof(label));
        if (!*wr_cases_label(&named, k, "threads", series, sizeof(series)))
            snprintf(series, sizeof(series), "%s", unit);
        add_rate(&p, series, label, at > 0 ? at : INFINITY, &c->v[k]);
    }
    snprintf(title, sizeof(title), "%s%s%s%s",
             wr_bench_is_read(c) ? "Bandwidth" : "Samples per second",
             by_threads ? " by threads" : "", one ? ": " : "",
             one ? c->records[record].label : "");
    wr_pivot_draw(&p, d, s, &spec);
}

/* Whether the fastest record leaves nothing to see of the slowest. */
static bool are_far_apart(const struct wr_cases *c)
{
    double least = INFINITY, most = 0;

    for (size_t r = 0; r < c->record_count; r++) {
        double best = 0;

        for (size_t k = 0; k < c->count; k++)
            if (c->v[k].record == r)
                best = fmax(best, wr_bench_median(&c->v[k])->samples_per_s);
        least = fmin(least, best);
        most = fmax(most, best);
    }
    return most > FAR_APART * least;
}

void wr_bench_rates(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;

    rate_chart(v->d, v->s, c, ALL);
    if (c->record_count < 2 || c->record_count > APART_MAX || !are_far_apart(c))
        return;
    for (size_t r = 0; r < c->record_count; r++)
        rate_chart(v->d, v->s, c, r);
}

/* What of the runtime the consumer waited, with and without prefetching. */
const struct wr_chart_rule wr_bench_prefetch_chart = {
    .is = {WR_DOC_STACKED, "Runtime with and without prefetch", "", "seconds",
           "Medians of the counted runs: the time the consumer worked, "
           "and the time it waited for a batch."},
    .from = WR_FROM_MEDIAN,
    .of = &wr_bench_vals,
    .series = WR_SERIES({"times.consumer_busy_s", "consumer works", 1},
                        {"times.consumer_wait_s", "consumer waits", 1}),
    .label = wr_chart_case};

bool wr_bench_has_prefetch(const struct wr_scope *v)
{
    bool none = false, some = false;

    for (size_t k = 0; k < v->c.count; k++) {
        none |= wr_bench_setting(&v->c.v[k], "prefetch") == 0;
        some |= wr_bench_setting(&v->c.v[k], "prefetch") >= 1;
    }
    return none && some;
}

const struct wr_chart_rule wr_bench_stage_chart = {
    .is = {WR_DOC_STACKED, "Where the workers' time went", "",
           "seconds of all workers", "Medians of the counted runs."},
    .from = WR_FROM_MEDIAN,
    .of = &wr_bench_vals,
    .series = WR_SERIES({"times.storage_wait_s", "waiting for storage", 1},
                        {"times.decode_s", "decoding", 1},
                        {"times.resample_s", "resizing, converting", 1},
                        {"times.submit_s", "submitting reads", 1},
                        {"times.idle_s", "idle", 1}),
    .label = wr_chart_case};

bool wr_bench_is_worked(const struct wr_scope *v)
{
    return !wr_bench_is_read(&v->c);
}
