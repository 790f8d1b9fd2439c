/* batches.c - the times of each batch of a run, and its stalls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/batches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "result/bench.h"
#include "result/get.h"
#include "result/stats.h"

#define SERIES_MAX 6   /* in one chart: points lie on each other */
#define CHARTS_MAX 8   /* of one experiment */
#define ROWS_MIN   20  /* batches of a case; fewer tell nothing */
#define LOG_FROM   30. /* longest by median from which y is logarithmic */

/* The columns of one run. */
struct columns {
    const json_t *t, *wait, *gap;
    size_t count;
};

static struct columns columns_of(const json_t *o)
{
    struct columns c = {wr_get_list(o, "t_ms"), wr_get_list(o, "wait_ms"),
                        wr_get_list(o, "gap_ms"), 0};

    c.count = WR_MIN(json_array_size(c.t), json_array_size(c.gap));
    return c;
}

static double median_gap(const struct columns *c)
{
    double *v = malloc(WR_MAX(c->count, (size_t)1) * sizeof(*v)), median;

    if (!v)
        return NAN;
    for (size_t i = 0; i < c->count; i++)
        v[i] = wr_get_at(c->gap, i);
    median = wr_stats_quantile(v, wr_stats_sort(v, c->count), 0.5);
    free(v);
    return median;
}

void wr_batches_of(const struct wr_case *row, struct wr_points *to,
                   struct wr_batches *ret)
{
    double medians[WR_CASE_RUNS_MAX];
    size_t runs = WR_MIN(row->list.count, (size_t)WR_CASE_RUNS_MAX);

    *ret = (struct wr_batches){.merged = 1, .longest_ms = NAN};
    for (size_t k = 0; k < runs; k++) {
        const struct wr_bench_values *run = wr_bench_run(row, k);
        struct columns c = columns_of(run->batch_times);
        double limit;

        medians[k] = median_gap(&c);
        limit = fmax(WR_STALL_TIMES * medians[k], WR_STALL_MS);
        ret->merged = fmax(ret->merged,
                           wr_get_number(run->batch_times, "merged"));
        ret->rows += c.count;
        for (size_t i = 0; i < c.count; i++) {
            double gap = wr_get_at(c.gap, i);
            bool stall = i > 0 && (gap > limit || wr_get_at(c.wait, i) > limit);

            ret->stalls += stall;
            if (i > 0)
                ret->longest_ms = fmax(ret->longest_ms, gap);
            if (to)
                wr_points_add(to, wr_get_at(c.t, i) / 1e3, gap, stall);
        }
    }
    ret->median_ms = wr_stats_median(medians, runs);
}

/* What the chart of one record has. */
struct batch_plan {
    size_t record, first, cases; /* from case `first`, so many with batches */
    bool log_y;                  /* their times differ by magnitudes */
    double merged;               /* batches in a point, at most */
};

/* The next chart: cases of one record from case k on. */
static struct batch_plan look(const struct wr_cases *rows, size_t k)
{
    struct batch_plan p = {
        .record = rows->v[k].record, .first = k, .merged = 1};
    struct wr_batches b;

    for (; k < rows->count && p.cases < SERIES_MAX &&
           rows->v[k].record == p.record;
         k++) {
        wr_batches_of(&rows->v[k], NULL, &b);
        if (b.rows < ROWS_MIN)
            continue;
        p.cases++;
        p.log_y |= b.longest_ms > LOG_FROM * b.median_ms;
        p.merged = fmax(p.merged, b.merged);
    }
    return p;
}

static struct wr_doc_chart *begin(struct wr_doc_section *s,
                                  const struct wr_cases *rows,
                                  const struct batch_plan *p)
{
    const struct wr_view_record *r = &rows->records[p->record];
    bool many = rows->record_count > 1;
    char title[WR_VIEW_NAME], note[WR_VIEW_NAME], merged[64] = "";
    const struct wr_doc_chart_spec spec = {
        WR_DOC_POINTS,
        title,
        "seconds since the pipeline was opened",
        "ms since the batch before",
        note,
        .log_y = p->log_y};

    snprintf(title, sizeof(title), "Time of each batch%s%s", many ? ": " : "",
             many ? r->label : "");
    if (p->merged > 1)
        snprintf(merged, sizeof(merged),
                 "; the longest of up to %.0f batches is one point",
                 fmin(p->merged, 1e9));
    snprintf(note, sizeof(note),
             "All counted runs%s. Marked: stalls, over %g times the median and "
             "over %g ms.",
             merged, WR_STALL_TIMES, WR_STALL_MS);
    return wr_doc_chart(s, &spec);
}

/* Draws one chart; returns the case after its last. */
static size_t draw(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_cases *rows, const struct batch_plan *p,
                   size_t limit)
{
    struct wr_cases one = *rows;
    struct wr_doc_chart *chart = begin(s, rows, p);
    struct wr_points points = {0};
    size_t drawn = 0, k = p->first;
    char label[WR_VIEW_NAME];
    struct wr_batches b;

    one.record_count = 1; /* the title names the record */
    for (; drawn < p->cases; k++) {
        wr_batches_of(&rows->v[k], &points, &b);
        if (b.rows < ROWS_MIN) {
            points.count = points.marks = 0;
            continue;
        }
        wr_cases_name(&one, k, "batches", label, sizeof(label));
        wr_points_draw(&points, d, wr_doc_series(chart, label), limit);
        drawn++;
    }
    wr_points_done(&points);
    return k;
}

void wr_batches_draw(struct wr_scope *v)
{
    const struct wr_cases *rows = &v->c;
    size_t charts = 0, k = 0, limit = wr_view_share(rows->count);

    while (k < rows->count) {
        const struct batch_plan p = look(rows, k);

        if (!p.cases) { /* nor has any other of this record that is left */
            while (k < rows->count && rows->v[k].record == p.record)
                k++;
            continue;
        }
        if (charts++ == CHARTS_MAX) {
            wr_doc_note(v->s, false,
                        "The batches of further cases are not drawn.");
            return;
        }
        k = draw(v->d, v->s, rows, &p, limit);
    }
}
