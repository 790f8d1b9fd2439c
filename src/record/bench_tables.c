/* bench_tables.c - tables of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/bench_tables.h"

#include <math.h>

#include "record/batches.h"
#include "record/get.h"
#include "record/stats.h"

#define MB 1e6

bool wr_bench_is_starved(const struct wr_case *row)
{
    return json_is_true(wr_get(row->json, "result.starved"));
}

void wr_bench_case_table(struct wr_doc_section *s, const struct wr_cases *c)
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
        wr_doc_cell(t, "%s", wr_cases_name(c, k, "all", label, sizeof(label)));
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
                    wr_bench_is_starved(row) ? "starved"
                                             : wr_get_text(res, "verdict"));
    }
    wr_view_cut(s, "cases", c->count + c->left_out);
}

void wr_bench_run_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "Runs",
        "<case|>run|<counts|>began s|>seconds|>samples/s|>MB/s|>requests|"
        ">in cache %|>waited s|<verdict");
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
            wr_doc_number(t, wr_get_number(run, "requests"), 0);
            wr_doc_number(t, resident >= 0 ? 100 * resident : NAN, 1);
            wr_doc_number(t, wr_get_number(run, "times.consumer_wait_s"), 3);
            wr_doc_cell(t, "%s", wr_get_text(run, "verdict"));
        }
    wr_view_cut(s, "runs", rows);
}
