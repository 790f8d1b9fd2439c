/* view_bench.c - records of weir bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "record/batches.h"
#include "record/get.h"
#include "record/pivot.h"
#include "record/sizes.h"
#include "record/stats.h"
#include "record/view_monitor.h"

#define MB            1e6
#define NOTES_MAX     8             /* of one kind */
#define PAIRS_MAX     ((size_t)512) /* cases that are looked through in pairs */
#define COLD_RESIDENT 0.02          /* more in the page cache is not cold */

/* A number of a setting, NaN for "auto" or none. */
static double setting(const struct wr_case *row, const char *key)
{
    return wr_get_number(row->settings, key);
}

/* The label, or `none` where nothing differs. */
static char *label_or(const struct wr_cases *c, size_t k, const char *without,
                      const char *none, char *buf)
{
    wr_cases_label(c, k, without, buf, WR_VIEW_NAME);
    if (!*buf)
        snprintf(buf, WR_VIEW_NAME, "%s", none);
    return buf;
}

/* Whether the records were made on several devices, whose names are filled
 * in, and whether each has one that no other has. */
static bool devices_differ(const struct wr_cases *c,
                           char (*names)[WR_VIEW_NAME], bool *ret_each)
{
    bool differ = false;

    *ret_each = true;
    for (size_t i = 0; i < c->record_count; i++) {
        wr_view_device(c->records[i].json, names[i], WR_VIEW_NAME);
        *ret_each &= *names[i] != '\0';
        for (size_t k = 0; k < i; k++) {
            bool same = !strcmp(names[i], names[k]);

            differ |= !same;
            *ret_each &= !same;
        }
    }
    return differ;
}

/* Medians by threads where threads were swept, else by case. */
static void rate_chart(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_cases *c, const char *path,
                       const char *unit)
{
    bool by_threads = wr_cases_varies(c, "threads");
    double scale = !strcmp(path, "bytes_per_s") ? MB : 1;
    char label[WR_VIEW_NAME], series[WR_VIEW_NAME], title[WR_VIEW_NAME];
    struct wr_pivot p = {0};
    struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                     .title = title,
                                     .x = by_threads ? "threads" : "case",
                                     .y = unit,
                                     .note = "Medians of the counted runs."};

    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];
        double value = wr_case_median(row, path) / scale;

        if (by_threads) {
            const json_t *v = wr_get(row->settings, "threads");

            wr_get_shown(v, label, sizeof(label));
            label_or(c, k, "threads", unit, series);
            wr_pivot_add(&p, series, label,
                         json_number_value(v) > 0 ? json_number_value(v)
                                                  : INFINITY,
                         value);
        } else {
            label_or(c, k, NULL, "all", label);
            wr_pivot_add(&p, unit, label, NAN, value);
        }
    }
    snprintf(title, sizeof(title), "%s by %s",
             scale == MB ? "Bandwidth" : "Samples per second",
             by_threads ? "threads" : "case");
    wr_pivot_draw(&p, d, s, &spec);
}

/* The rates, by devices where records were made on several: then these name
 * the series, with the record where a device has more than one. */
static void rate_charts(struct wr_doc *d, struct wr_doc_section *s,
                        const struct wr_cases *c)
{
    size_t n = c->record_count;
    char(*names)[WR_VIEW_NAME] = calloc(n + 1, sizeof(*names));
    struct wr_view_record *records = calloc(n + 1, sizeof(*records));
    struct wr_cases by_device = *c;
    bool differ, each;

    if (!names || !records) {
        wr_doc_fail(d);
        goto out;
    }
    differ = devices_differ(c, names, &each);
    for (size_t i = 0; differ && i < n; i++) {
        char device[WR_VIEW_NAME / 2];

        snprintf(device, sizeof(device), "%s", names[i]);
        if (!each)
            snprintf(names[i], sizeof(names[i]), "%s (%s)", c->records[i].label,
                     *device ? device : "?");
        records[i] = c->records[i];
        records[i].label = names[i];
        by_device.records = records;
    }
    rate_chart(d, s, &by_device, "bytes_per_s", "MB/s");
    rate_chart(d, s, &by_device, "samples_per_s", "samples/s");
out:
    free(names);
    free(records);
}

/* What of the runtime the consumer waited, with and without prefetching. */
static void prefetch_chart(struct wr_doc *d, struct wr_doc_section *s,
                           const struct wr_cases *c)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Runtime with and without prefetch",
        .x = "case",
        .y = "seconds",
        .note = "Medians of the counted runs: the time the consumer worked, "
                "and the time it waited for a batch."};
    bool none = false, some = false;
    char label[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    for (size_t k = 0; k < c->count; k++) {
        none |= setting(&c->v[k], "prefetch") == 0;
        some |= setting(&c->v[k], "prefetch") >= 1;
    }
    if (!none || !some)
        return;
    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];

        label_or(c, k, NULL, "all", label);
        wr_pivot_add(&p, "consumer works", label, NAN,
                     wr_case_median(row, "times.consumer_busy_s"));
        wr_pivot_add(&p, "consumer waits", label, NAN,
                     wr_case_median(row, "times.consumer_wait_s"));
    }
    wr_pivot_draw(&p, d, s, &spec);
}

/* Whether two rows have the same settings but for the prefetch. */
static bool twins(const struct wr_case *a, const struct wr_case *b)
{
    json_t *x = json_copy((json_t *)(uintptr_t)a->settings);
    json_t *y = json_copy((json_t *)(uintptr_t)b->settings);
    bool same;

    json_object_del(x, "prefetch");
    json_object_del(y, "prefetch");
    same = a->record == b->record && x && y && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

/* "prefetch 4 instead of 0: 12.1 s -> 8.0 s (34 % less)". */
static void prefetch_notes(struct wr_doc_section *s, const struct wr_cases *c)
{
    char label[WR_VIEW_NAME];
    size_t notes = 0;

    for (size_t k = 0; k < WR_MIN(c->count, PAIRS_MAX); k++) {
        if (setting(&c->v[k], "prefetch") != 0)
            continue;
        for (size_t i = 0; i < WR_MIN(c->count, PAIRS_MAX); i++) {
            double off, on, p = setting(&c->v[i], "prefetch");

            if (notes == NOTES_MAX || !(p >= 1) || !twins(&c->v[k], &c->v[i]))
                continue;
            off = wr_case_median(&c->v[k], "seconds");
            on = wr_case_median(&c->v[i], "seconds");
            if (!(off > 0) || !(on > 0))
                continue;
            wr_cases_label(c, k, "prefetch", label, sizeof(label));
            wr_doc_note(s, false,
                        "%s%sPrefetch %.0f instead of none: %.2f s instead of "
                        "%.2f s (%.0f %% %s).",
                        label, *label ? ": " : "", p, on, off,
                        fabs(1 - on / off) * 100, on <= off ? "less" : "more");
            notes++;
        }
    }
}

static void stage_chart(struct wr_doc *d, struct wr_doc_section *s,
                        const struct wr_cases *c)
{
    static const struct {
        const char *path, *name;
    } parts[] = {
        {"times.storage_wait_s", "waiting for storage"},
        {"times.decode_s", "decoding"},
        {"times.resample_s", "resizing, converting"},
        {"times.submit_s", "submitting reads"},
        {"times.idle_s", "idle"},
    };
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the workers' time went",
        .x = "case",
        .y = "seconds of all workers",
        .note = "Medians of the counted runs."};
    char label[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < WR_ARRAY_LEN(parts); i++)
            wr_pivot_add(&p, parts[i].name, label_or(c, k, NULL, "all", label),
                         NAN, wr_case_median(&c->v[k], parts[i].path));
    wr_pivot_draw(&p, d, s, &spec);
}

static bool is_starved(const struct wr_case *row)
{
    return json_is_true(wr_get(row->json, "result.starved"));
}

static void case_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "Cases, medians of the counted runs",
        "<case|>samples/s|>lowest|>highest|>MB/s|>of decode|>of read|"
        ">first ms|>gap p50|>gap p99|>stalls|>CPU s/1000|>peak MB|<verdict");
    char label[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++) {
        const struct wr_case *row = &c->v[k];
        const json_t *res = wr_get_object(row->json, "result");
        double of_decode = wr_get_number(res, "of_decode_limit");
        double of_read = wr_get_number(res, "of_read_limit");
        double v[WR_CASE_RUNS_MAX];
        size_t n = wr_case_values(row, "samples_per_s", v);
        struct wr_batches b;

        n = wr_stats_sort(v, n);
        wr_batches_of(row, NULL, &b);
        wr_doc_cell(t, "%s", label_or(c, k, NULL, "all", label));
        wr_doc_number(t, wr_stats_quantile(v, n, 0.5), 1);
        wr_doc_number(t, n > 1 ? wr_stats_quantile(v, n, 0) : NAN, 1);
        wr_doc_number(t, n > 1 ? wr_stats_quantile(v, n, 1) : NAN, 1);
        wr_doc_number(t, wr_case_median(row, "bytes_per_s") / MB, 1);
        wr_doc_number(t, of_decode > 0 ? of_decode : NAN, 2);
        wr_doc_number(t, of_read > 0 ? of_read : NAN, 2);
        wr_doc_number(t, wr_case_median(row, "first_batch_ms"), 1);
        wr_doc_number(t, wr_case_median(row, "gap_p50_ms"), 2);
        wr_doc_number(t, wr_case_median(row, "gap_p99_ms"), 2);
        wr_doc_number(t, b.rows ? (double)b.stalls : NAN, 0);
        wr_doc_number(t, wr_case_median(row, "cpu_s_per_1000"), 3);
        wr_doc_number(t, wr_case_median(row, "peak_bytes") / MB, 0);
        wr_doc_cell(t, "%s",
                    is_starved(row) ? "starved" : wr_get_text(res, "verdict"));
    }
    wr_view_cut(s, "cases", c->count + c->left_out);
}

static void run_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "Runs",
        "<case|>run|<counts|>began s|>seconds|>samples/s|>MB/s|>requests|"
        ">in cache %|>waited s|<verdict");
    char label[WR_VIEW_NAME];
    size_t rows = 0;

    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < json_array_size(c->v[k].runs); i++) {
            const json_t *run = json_array_get(c->v[k].runs, i);
            double resident = wr_get_number(run, "resident");

            if (rows++ >= WR_VIEW_ROWS)
                continue;
            wr_doc_cell(t, "%s", label_or(c, k, NULL, "all", label));
            wr_doc_number(t, (double)(i + 1), 0);
            wr_doc_cell(t, "%s", i < c->v[k].warm_up ? "warm-up" : "yes");
            wr_doc_number(t, wr_get_number(run, "start_s"), 1);
            wr_doc_number(t, wr_get_number(run, "seconds"), 3);
            wr_doc_number(t, wr_get_number(run, "samples_per_s"), 1);
            wr_doc_number(t, wr_get_number(run, "bytes_per_s") / MB, 1);
            wr_doc_number(t, wr_get_number(run, "requests"), 0);
            wr_doc_number(t, resident >= 0 ? 100 * resident : NAN, 1);
            wr_doc_number(t, wr_get_number(run, "times.consumer_wait_s"), 3);
            wr_doc_cell(t, "%s", wr_get_text(run, "verdict"));
        }
    wr_view_cut(s, "runs", rows);
}

/* Who had the cores in the first of its runs that was starved. */
static const json_t *starved_cores(const struct wr_case *row)
{
    for (size_t i = row->warm_up; i < json_array_size(row->runs); i++) {
        const json_t *cores = wr_get_object(json_array_get(row->runs, i),
                                            "cores");

        if (json_is_true(wr_get(cores, "starved")))
            return cores;
    }
    return NULL;
}

static void warn_starved(struct wr_doc_section *s, const struct wr_cases *c)
{
    char label[WR_VIEW_NAME], text[WR_VIEW_NAME];
    size_t notes = 0, count = 0;

    for (size_t k = 0; k < c->count; k++) {
        const json_t *cores = is_starved(&c->v[k]) ? starved_cores(&c->v[k])
                                                   : NULL;

        count += cores != NULL;
        if (!cores || notes++ >= NOTES_MAX)
            continue;
        wr_doc_note(s, true,
                    "%s: Starved: %s. The figures are too low, and what limits "
                    "it cannot be told: measure again on an idle machine.",
                    label_or(c, k, NULL, "all", label),
                    wr_view_cores(cores, text, sizeof(text)));
    }
    if (count > NOTES_MAX)
        wr_doc_note(s, true, "%zu of %zu cases were starved.", count, c->count);
}

/* What a reader must know before the numbers. */
static void warn(struct wr_doc_section *s, const struct wr_cases *c)
{
    char label[WR_VIEW_NAME];
    size_t notes = 0;

    for (size_t k = 0; k < c->count && notes < NOTES_MAX; k++) {
        const struct wr_case *row = &c->v[k];
        double bad = wr_get_number(row->json, "bad_count");
        double v[WR_CASE_RUNS_MAX];
        size_t n = wr_stats_sort(v, wr_case_values(row, "resident", v));
        double most = wr_stats_quantile(v, n, 1);

        label_or(c, k, NULL, "all", label);
        if (bad > 0) {
            wr_doc_note(s, true, "%s: %.0f samples could not be read.", label,
                        bad);
            notes++;
        }
        if (!strcmp(wr_get_text(row->settings, "page_cache"), "cold") &&
            most > COLD_RESIDENT) {
            wr_doc_note(s, true,
                        "%s: %.0f %% of the data was in the page cache before "
                        "a cold run.",
                        label, 100 * most);
            notes++;
        }
        if (wr_case_runs(row) < 2) {
            wr_doc_note(s, true, "%s: only one run counts: no spread.", label);
            notes++;
        }
    }
}

/* What took the batches, if it was emulated, with the source of its times. */
static void describe_accelerator(struct wr_doc_section *s, const json_t *record)
{
    const json_t *a = wr_get_object(record, "accelerator");
    double step_ms = wr_get_number(a, "step_ms");

    if (step_ms > 0)
        wr_doc_fact(s, "Accelerator", "%s (emulated), %g ms a batch; %s",
                    wr_get_text(a, "name"), step_ms, wr_get_text(a, "source"));
}

static void describe(struct wr_doc_section *s, const struct wr_view_record *r,
                     size_t n)
{
    struct wr_doc_table *t = NULL;
    char bytes[32];

    wr_view_host(s, r, n);
    if (n > 1)
        t = wr_doc_table(s, "Data sets",
                         "<record|<data set|<format|>samples|>MB|>files|"
                         ">consumer ms");
    for (size_t i = 0; i < n && i < WR_VIEW_ROWS; i++) {
        const json_t *ds = wr_get_object(r[i].json, "dataset");
        double size = wr_get_number(ds, "bytes");

        if (n == 1) {
            wr_doc_fact(s, "Data set", "%s (%s), %.0f samples, %s",
                        wr_get_text(ds, "url"), wr_get_text(ds, "format"),
                        fmax(0, wr_get_number(ds, "samples")),
                        wr_format_bytes(bytes, sizeof(bytes), fmax(0, size)));
            if (wr_get_object(r[i].json, "accelerator"))
                describe_accelerator(s, r[i].json);
            else if (wr_get_number(r[i].json, "consumer_ms") > 0)
                wr_doc_fact(s, "Consumer", "%g ms of work a batch",
                            wr_get_number(r[i].json, "consumer_ms"));
            continue;
        }
        wr_doc_cell(t, "%s", r[i].label);
        wr_doc_cell(t, "%s", wr_get_text(ds, "url"));
        wr_doc_cell(t, "%s", wr_get_text(ds, "format"));
        wr_doc_number(t, wr_get_number(ds, "samples"), 0);
        wr_doc_number(t, size / MB, 1);
        wr_doc_number(t, wr_get_number(ds, "files"), 0);
        wr_doc_number(t, wr_get_number(r[i].json, "consumer_ms"), 1);
    }
}

static void bench_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    static const struct wr_cases_spec spec = {.rows = "cases",
                                              .settings = "settings"};
    struct wr_doc_section *s = wr_view_section(d, "Benchmark", r, n);
    struct wr_cases c;

    wr_cases_init(&c, r, n, &spec);
    if (c.failed)
        wr_doc_fail(d);
    describe(s, r, n);
    if (!c.count)
        wr_doc_note(s, true, "No case was measured.");
    warn_starved(s, &c);
    warn(s, &c);
    prefetch_notes(s, &c);
    rate_charts(d, s, &c);
    prefetch_chart(d, s, &c);
    stage_chart(d, s, &c);
    wr_batches_draw(d, s, &c);
    wr_sizes_draw(d, s, &c, "dataset.sizes");
    if (c.count) {
        case_table(s, &c);
        run_table(s, &c);
    }
    wr_sizes_table(s, &c, "dataset.sizes");
    wr_view_monitor(d, "Benchmark: what the machine did", &c);
    wr_cases_done(&c);
}

const struct wr_view wr_view_bench = {.command = "bench", .build = bench_build};
