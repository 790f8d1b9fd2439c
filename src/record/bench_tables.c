/* bench_tables.c - tables of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/bench_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/batches.h"
#include "record/bench_words.h"
#include "result/get.h"
#include "result/stats.h"
#include "record/view_say.h"

#define MB         1e6
#define SETTINGS   7 /* the first columns; the others have results */
#define PAGE_CACHE 1 /* of them */
#define ALWAYS     (1u << 0 | 1u << 1 | 1u << 3)

enum {
    RECORD = 1u << SETTINGS,
    OTHERS = RECORD << 1,
    BATCHES = RECORD << 2,
};

/* As they are called in a record, in the order of the columns. */
static const char *const keys[SETTINGS] = {
    "stages", "page_cache", "decode", "threads", "depth", "prefetch", "batch"};

/* Settings that are the same in all rows and not ALWAYS shown stand above the
 * table, to keep it narrow. */
const struct wr_column wr_bench_case_columns[] = {
    {.head = "record",
     .help = "of several records",
     .side = '<',
     .only = RECORD},
    {.head = "case",
     .help = "other settings that differ among the cases",
     .side = '<',
     .only = OTHERS},
    {.head = "stages",
     .help = "what is done to each sample (--stages)",
     .side = '<',
     .only = 1u << 0},
    {.head = "page-cache",
     .help = "its state before every run (--page-cache)",
     .side = '<',
     .only = 1u << 1},
    {.head = "decode",
     .help = "how JPEG is decoded (--decode)",
     .side = '<',
     .only = 1u << 2},
    {.head = "threads",
     .help = "workers (--threads)",
     .side = '>',
     .only = 1u << 3},
    {.head = "depth",
     .help = "reads in flight per worker (--depth)",
     .side = '>',
     .only = 1u << 4},
    {.head = "prefetch",
     .help = "finished batches kept ahead (--prefetch)",
     .side = '>',
     .only = 1u << 5},
    {.head = "batch",
     .help = "samples per batch (--batch)",
     .side = '>',
     .only = 1u << 6},
    {.head = "samples/s",
     .help = "rate, median of the counted runs",
     .side = '>'},
    {.head = "+-",
     .help = "spread: half of the runs' range as a fraction of the median; -: "
             "one run only",
     .side = '>'},
    {.head = "MB/s",
     .help = "bytes read from storage per second, 10^6",
     .side = '>'},
    {.head = "CPU s/1000",
     .help = "CPU seconds per 1,000 samples, all threads",
     .side = '+'},
    {.head = "peak MB",
     .help = "peak resident memory of the process",
     .side = '+'},
    {.head = "1st ms",
     .help = "from the start of the run to the first batch",
     .side = '+'},
    {.head = "p99/p50",
     .help = "how evenly batches come: 99th percentile of the time between two "
             "batches, divided by the median",
     .side = '+'},
    {.head = "stalls",
     .help = "batches that took over three times the median (weir report)",
     .side = '>',
     .only = BATCHES},
    {.head = "of decode",
     .help = "rate as a fraction of what the same threads reach when they only "
             "decode, from memory",
     .side = '>'},
    {.head = "of read",
     .help = "rate as a fraction of what plain pread threads reach on the same "
             "bytes",
     .side = '-'},
    {.head = "verdict",
     .help = "what limits it: storage-bound, decode-bound, convert-bound or "
             "consumer-bound; starved: other programs used the cores",
     .side = '<'},
    {.head = NULL}};

const struct wr_column wr_bench_run_columns[] = {
    {.head = "case",
     .help = "the settings that differ among the cases",
     .side = '<'},
    {.head = "run", .help = "number of the run of a case", .side = '>'},
    {.head = "counts", .help = "warm-up: the run is not counted", .side = '<'},
    {.head = "began s",
     .help = "when it began, on the time axis of the charts",
     .side = '>'},
    {.head = "seconds", .help = "how long it took", .side = '>'},
    {.head = "samples/s", .side = '>'},
    {.head = "MB/s", .side = '>'},
    {.head = "gap p50",
     .help = "time between two batches, median, in ms",
     .side = '>'},
    {.head = "gap p99", .help = "the same, 99th percentile", .side = '>'},
    {.head = "requests", .help = "reads that were asked for", .side = '>'},
    {.head = "in cache %",
     .help = "part of the data in the page cache before the run",
     .side = '>'},
    {.head = "waited s",
     .help = "time that the consumer waited for batches",
     .side = '>'},
    {.head = "verdict", .side = '<'},
    {.head = NULL}};

const struct wr_column wr_bench_rank_columns[] = {
    {.head = "case",
     .help = "the settings that differ among the cases",
     .side = '<'},
    {.head = "rank",
     .help = "in the run whose rate is the median",
     .side = '>'},
    {.head = "host", .side = '<'},
    {.head = "seconds", .help = "how long its share took", .side = '>'},
    {.head = "samples", .help = "of its share", .side = '>'},
    {.head = "samples/s", .help = "that it reached alone", .side = '>'},
    {.head = "peak MB",
     .help = "peak resident memory of the process",
     .side = '>'},
    {.head = "verdict", .help = "what limited it", .side = '<'},
    {.head = NULL}};

bool wr_bench_is_starved(const struct wr_case *row)
{
    return json_is_true(wr_get(row->json, "result.starved"));
}

static bool device_of(const struct wr_cases *c, char *buf, size_t cap)
{
    return wr_view_is_emulated(c->records->json) &&
           *wr_view_device(c->records->json, buf, cap);
}

/* Whether the table has a column for setting k. */
static bool is_column(const struct wr_cases *c, size_t k)
{
    char device[WR_VIEW_NAME];

    if (wr_cases_varies(c, keys[k]))
        return true;
    /* What is in the page cache is no part of an emulated device. */
    return ALWAYS >> k & 1 &&
           !(k == PAGE_CACHE && device_of(c, device, sizeof(device)));
}

/* Settings that differ and have no column of their own, of one row. */
static char *other_settings(const struct wr_cases *c, size_t row, char *buf,
                            size_t cap)
{
    *buf = '\0';
    for (size_t i = 0; i < c->varying_count; i++) {
        size_t k = 0;

        while (k < SETTINGS && strcmp(keys[k], c->varying[i]))
            k++;
        if (k == SETTINGS)
            wr_case_setting(&c->v[row], c->varying[i], buf, cap);
    }
    return buf;
}

static const char *name_of(size_t setting)
{
    const struct wr_column *c = wr_bench_case_columns;

    while (c->only != 1u << setting)
        c++;
    return c->head;
}

char *wr_bench_common(const struct wr_cases *c, char *buf, size_t cap)
{
    char value[128];
    bool emulated = device_of(c, value, sizeof(value));

    *buf = '\0';
    if (c->count && json_array_size(wr_get_list(c->v[0].json, "ranks")) > 1 &&
        !wr_cases_varies(c, "world"))
        wr_say(buf, cap, "%zu ranks",
               json_array_size(wr_get_list(c->v[0].json, "ranks")));
    if (emulated)
        wr_say(buf, cap, "%s", value);
    for (size_t k = 0; c->count && k < SETTINGS; k++) {
        const json_t *v = json_object_get(c->v[0].settings, keys[k]);

        if (!is_column(c, k) && *wr_get_shown(v, value, sizeof(value)))
            wr_say(buf, cap, "%s%s %s", name_of(k),
                   emulated && k == PAGE_CACHE ? " below it" : "", value);
    }
    return buf;
}

char *wr_bench_heading(const struct wr_cases *c, size_t k, char *buf,
                       size_t cap)
{
    const struct wr_case *row = &c->v[k];
    double workers = wr_get_number(wr_bench_middle(row), "in_force.threads");
    char device[WR_VIEW_NAME], value[128];
    bool emulated = device_of(c, device, sizeof(device));

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
            wr_say(buf, cap, "%s %s", name_of(i),
                   wr_get_shown(json_object_get(row->settings, keys[i]), value,
                                sizeof(value)));
    if (*other_settings(c, k, device, sizeof(device)))
        wr_say(buf, cap, "%s", device);
    return buf;
}

/* The columns that these cases need. */
static unsigned shown_of(const struct wr_cases *c, bool brief)
{
    unsigned shown = c->record_count > 1 ? RECORD : 0;
    char text[WR_VIEW_NAME];

    for (size_t k = 0; k < SETTINGS; k++)
        shown |= is_column(c, k) ? 1u << k : 0;
    for (size_t k = 0; k < c->count; k++) {
        struct wr_batches b;

        wr_batches_of(&c->v[k], NULL, &b);
        shown |= b.rows && !brief ? BATCHES : 0;
        shown |= *other_settings(c, k, text, sizeof(text)) ? OTHERS : 0;
    }
    return shown;
}

static void add_settings(struct wr_doc_table *t, const struct wr_cases *c,
                         size_t k, unsigned shown)
{
    char text[WR_VIEW_NAME];

    if (shown & RECORD)
        wr_doc_cell(t, "%s", c->records[c->v[k].record].label);
    if (shown & OTHERS)
        wr_doc_cell(t, "%s", other_settings(c, k, text, sizeof(text)));
    for (size_t i = 0; i < SETTINGS; i++)
        if (shown >> i & 1)
            wr_doc_cell(t, "%s",
                        wr_get_shown(json_object_get(c->v[k].settings, keys[i]),
                                     text, sizeof(text)));
}

static void add_results(struct wr_doc_table *t, const struct wr_case *row,
                        unsigned shown)
{
    const json_t *res = wr_get_object(row->json, "result");
    double of_decode = wr_get_number(res, "of_decode_limit");
    double of_read = wr_get_number(res, "of_read_limit");
    double v[WR_CASE_RUNS_MAX], rate, p50 = wr_case_median(row, "gap_p50_ms");
    size_t n = wr_stats_sort(v, wr_case_values(row, "samples_per_s", v));
    struct wr_batches b;

    rate = wr_stats_quantile(v, n, 0.5);
    wr_batches_of(row, NULL, &b);
    wr_doc_number(t, rate, rate < 100 ? 1 : 0);
    wr_doc_percent(t, n > 1 ? 50 * (v[n - 1] - v[0]) / rate : NAN, 0);
    wr_doc_number(t, wr_case_median(row, "bytes_per_s") / MB, 0);
    wr_doc_number(t, wr_case_median(row, "cpu_s_per_1000"), 2);
    wr_doc_number(t, wr_case_median(row, "peak_bytes") / MB, 0);
    wr_doc_number(t, wr_case_median(row, "first_batch_ms"), 0);
    wr_doc_number(t, p50 > 0 ? wr_case_median(row, "gap_p99_ms") / p50 : NAN,
                  2);
    if (shown & BATCHES)
        wr_doc_number(t, b.rows ? (double)b.stalls : NAN, 0);
    wr_doc_number(t, of_decode > 0 ? of_decode : NAN, 2);
    wr_doc_number(t, of_read > 0 ? of_read : NAN, 2);
    wr_doc_cell(t, "%s",
                wr_bench_is_starved(row) ? "starved"
                                         : wr_get_text(res, "verdict"));
}

void wr_bench_case_table(struct wr_doc_section *s, const char *title,
                         const struct wr_cases *c)
{
    unsigned shown = shown_of(c, /* brief= */ !*title);
    struct wr_doc_table *t = wr_doc_table_of(s, title, wr_bench_case_columns,
                                             shown);

    for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++) {
        add_settings(t, c, k, shown);
        add_results(t, &c->v[k], shown);
    }
    wr_view_cut(s, "cases", c->count + c->left_out);
}

void wr_bench_run_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table_of(s, "Runs", wr_bench_run_columns,
                                             0);
    char label[WR_VIEW_NAME];
    size_t rows = 0;

    wr_doc_fold(t);
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < json_array_size(c->v[k].runs); i++) {
            const json_t *run = json_array_get(c->v[k].runs, i);
            double resident = wr_get_number(run, "resident");

            if (rows++ >= WR_VIEW_ROWS)
                continue;
            wr_doc_cell(t, "%s",
                        wr_cases_name(c, k, "all", label, sizeof(label)));
            wr_doc_number(t, (double)(i + 1), 0);
            wr_doc_cell(t, "%s", i < c->v[k].warm_up ? "warm-up" : "yes");
            wr_doc_number(t, wr_get_number(run, "start_s"), 1);
            wr_doc_number(t, wr_get_number(run, "seconds"), 3);
            wr_doc_number(t, wr_get_number(run, "samples_per_s"), 1);
            wr_doc_number(t, wr_get_number(run, "bytes_per_s") / MB, 1);
            wr_doc_number(t, wr_get_number(run, "gap_p50_ms"), 2);
            wr_doc_number(t, wr_get_number(run, "gap_p99_ms"), 2);
            wr_doc_number(t, wr_get_number(run, "requests"), 0);
            wr_doc_number(t, resident >= 0 ? 100 * resident : NAN, 1);
            wr_doc_number(t, wr_get_number(run, "times.consumer_wait_s"), 3);
            wr_doc_cell(t, "%s", wr_get_text(run, "verdict"));
        }
    wr_view_cut(s, "runs", rows);
}

static size_t add_ranks(struct wr_doc_table *t, const struct wr_cases *c,
                        size_t k, size_t rows)
{
    const json_t *list = wr_get_list(c->v[k].json, "ranks");
    char label[WR_VIEW_NAME];

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        if (rows++ >= WR_VIEW_ROWS)
            continue;
        wr_doc_cell(t, "%s", wr_cases_name(c, k, "all", label, sizeof(label)));
        wr_doc_number(t, wr_get_number(o, "rank"), 0);
        wr_doc_cell(t, "%s", wr_get_text(o, "host"));
        wr_doc_number(t, wr_get_number(o, "seconds"), 3);
        wr_doc_number(t, wr_get_number(o, "samples"), 0);
        wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
        wr_doc_number(t, wr_get_number(o, "peak_bytes") / MB, 0);
        wr_doc_cell(t, "%s", wr_get_text(o, "verdict"));
    }
    return rows;
}

void wr_bench_rank_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t;
    size_t rows = 0;

    for (size_t k = 0; k < c->count; k++)
        rows += json_array_size(wr_get_list(c->v[k].json, "ranks"));
    if (!rows)
        return;
    t = wr_doc_table_of(s, "Ranks", wr_bench_rank_columns, 0);
    wr_doc_fold(t);
    rows = 0;
    for (size_t k = 0; k < c->count; k++)
        rows = add_ranks(t, c, k, rows);
    wr_view_cut(s, "ranks", rows);
}
