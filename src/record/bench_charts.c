/* bench_charts.c - charts of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/bench_charts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/bench_tables.h"
#include "result/get.h"
#include "record/pivot.h"
#include "result/stats.h"

#define MB        1e6
#define ALL       SIZE_MAX
#define FAR_APART 8. /* times, from which on each record has its own axis */
#define APART_MAX 8  /* records that have */

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
        .kind = WR_DOC_BARS,
        .title = title,
        .x = by_threads ? "threads" : "",
        .y = unit,
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

        if (!*c->records[r].label)
            return false;
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
void wr_bench_prefetch(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Runtime with and without prefetch",
        .x = "",
        .y = "seconds",
        .note = "Medians of the counted runs: the time the consumer worked, "
                "and the time it waited for a batch."};
    bool none = false, some = false;
    char label[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    for (size_t k = 0; k < c->count; k++) {
        none |= wr_bench_setting(&c->v[k], "prefetch") == 0;
        some |= wr_bench_setting(&c->v[k], "prefetch") >= 1;
    }
    if (!none || !some)
        return;
    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];

        wr_cases_name(c, k, "all", label, sizeof(label));
        wr_pivot_add(&p, "consumer works", label, NAN,
                     wr_bench_median(row)->times.consumer_busy_s);
        wr_pivot_add(&p, "consumer waits", label, NAN,
                     wr_bench_median(row)->times.consumer_wait_s);
    }
    wr_pivot_draw(&p, v->d, v->s, &spec);
}

void wr_bench_stages(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
#define AT(member) offsetof(struct wr_bench_values, times.member)
    static const struct {
        size_t at;
        const char *name;
    } parts[] = {
        {AT(storage_wait_s), "waiting for storage"},
        {AT(decode_s), "decoding"},
        {AT(resample_s), "resizing, converting"},
        {AT(submit_s), "submitting reads"},
        {AT(idle_s), "idle"},
    };
#undef AT
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the workers' time went",
        .x = "",
        .y = "seconds of all workers",
        .note = "Medians of the counted runs."};
    char label[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    if (wr_bench_is_read(c)) /* they only wait */
        return;
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < WR_ARRAY_LEN(parts); i++)
            wr_pivot_add(&p, parts[i].name,
                         wr_cases_name(c, k, "all", label, sizeof(label)), NAN,
                         wr_number_at(c->v[k].median, parts[i].at));
    wr_pivot_draw(&p, v->d, v->s, &spec);
}
