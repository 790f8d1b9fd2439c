/* batches.c - the times of each batch of a run, and its stalls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/batches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "record/get.h"
#include "record/stats.h"

#define SERIES_MAX 6   /* in one chart: points lie on each other */
#define CHARTS_MAX 20  /* in one report */
#define LOG_FROM   30. /* longest by median from which y is logarithmic */

/* The columns of one run. */
struct columns {
    const json_t *t, *wait, *gap;
    size_t count;
};

static struct columns columns_of(const json_t *run)
{
    const json_t *o = wr_get_object(run, "batch_times");
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
    size_t runs = WR_MIN(wr_case_runs(row), (size_t)WR_CASE_RUNS_MAX);

    *ret = (struct wr_batches){.merged = 1, .longest_ms = NAN};
    for (size_t k = 0; k < runs; k++) {
        const json_t *run = wr_case_run(row, k);
        struct columns c = columns_of(run);
        double limit;

        medians[k] = median_gap(&c);
        limit = fmax(WR_STALL_TIMES * medians[k], WR_STALL_MS);
        ret->merged = fmax(ret->merged,
                           wr_get_number(run, "batch_times.merged"));
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

/* Cases that have batches, and whether their times differ by magnitudes. */
static size_t look(const struct wr_cases *rows, bool *ret_log, double *ret_most)
{
    struct wr_batches b;
    size_t n = 0;

    *ret_log = false;
    *ret_most = 1;
    for (size_t k = 0; k < rows->count; k++) {
        wr_batches_of(&rows->v[k], NULL, &b);
        n += b.rows > 0;
        *ret_log |= b.longest_ms > LOG_FROM * b.median_ms;
        *ret_most = fmax(*ret_most, b.merged);
    }
    return n;
}

void wr_batches_draw(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_cases *rows)
{
    char title[WR_VIEW_NAME], note[WR_VIEW_NAME], label[WR_VIEW_NAME];
    struct wr_points points = {0};
    struct wr_doc_chart *chart = NULL;
    struct wr_batches b;
    double most;
    bool log_y;
    size_t n = look(rows, &log_y, &most), drawn = 0;
    size_t shown = WR_MIN(n, (size_t)SERIES_MAX * CHARTS_MAX);
    size_t charts = (shown + SERIES_MAX - 1) / SERIES_MAX;
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = title,
        .x = "seconds since the pipeline was opened",
        .y = "ms since the batch before",
        .note = note,
        .log_y = log_y};

    snprintf(note, sizeof(note),
             "All counted runs. Marked: stalls, over %g times the median and "
             "over %g ms.",
             WR_STALL_TIMES, WR_STALL_MS);
    if (most > 1)
        snprintf(note, sizeof(note),
                 "All counted runs; the longest of up to %.0f batches is one "
                 "point. Marked: stalls, over %g times the median and over "
                 "%g ms.",
                 most, WR_STALL_TIMES, WR_STALL_MS);
    for (size_t k = 0; k < rows->count && drawn < shown; k++) {
        wr_batches_of(&rows->v[k], &points, &b);
        if (!b.rows)
            continue;
        if (drawn % SERIES_MAX == 0) {
            snprintf(title, sizeof(title), "Time of each batch");
            if (charts > 1)
                snprintf(title, sizeof(title),
                         "Time of each batch (%zu of %zu)",
                         drawn / SERIES_MAX + 1, charts);
            chart = wr_doc_chart(s, &spec);
        }
        wr_cases_label(rows, k, NULL, label, sizeof(label));
        wr_points_draw(&points, d,
                       wr_doc_series(chart, *label ? label : "batches"),
                       wr_view_share(shown));
        drawn++;
    }
    wr_points_done(&points);
    if (n > shown)
        wr_doc_note(s, false, "The batches of %zu more cases are not drawn.",
                    n - shown);
}
