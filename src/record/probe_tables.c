/* probe_tables.c - tables of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/probe_tables.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "record/get.h"
#include "record/sizes.h"

#define MB         1e6
#define POINTS_MAX 256 /* saturation points of a record; no probe has more */

const struct wr_probe_percentile wr_probe_percentiles[WR_PROBE_PERCENTILES] = {
    {"latency_us.p50", "p50"},     {"latency_us.p95", "p95"},
    {"latency_us.p99", "p99"},     {"latency_us.p999", "p99.9"},
    {"latency_us.max", "longest"},
};

char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf)
{
    snprintf(buf, WR_VIEW_NAME, "%s%s%s",
             c->record_count > 1 ? c->records[c->v[k].record].label : "",
             c->record_count > 1 ? ": " : "",
             wr_get_text(c->v[k].json, "name"));
    return buf;
}

char *wr_probe_block(const json_t *test, char *buf, size_t cap)
{
    double block = wr_get_number(test, "block");

    if (block > 0)
        return wr_sizes_text(block, buf, cap);
    snprintf(buf, cap, "mix of sizes");
    return buf;
}

void wr_probe_test_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "Tests, medians of the passes",
        "<test|>MB/s|>per second|>lowest|>highest|>mean us|>p50 us|>p95 us|"
        ">p99 us|>p99.9 us|>max us|>CPU s/GB|<skipped");
    char name[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++) {
        const struct wr_case *row = &c->v[k];
        const json_t *res = wr_get_object(row->json, "result");
        bool several = wr_case_runs(row) > 1; /* one has no spread */

        wr_doc_cell(t, "%s", wr_probe_name(c, k, name));
        wr_doc_number(t, wr_get_number(res, "bytes_per_s") / MB, 1);
        wr_doc_number(t, wr_get_number(res, "ops_per_s"), 1);
        wr_doc_number(t, several ? wr_get_number(res, "ops_per_s_min") : NAN,
                      1);
        wr_doc_number(t, several ? wr_get_number(res, "ops_per_s_max") : NAN,
                      1);
        wr_doc_number(t, wr_case_median(row, "latency_us.mean"), 1);
        for (size_t i = 0; i < WR_PROBE_PERCENTILES; i++)
            wr_doc_number(t, wr_case_median(row, wr_probe_percentiles[i].key),
                          1);
        wr_doc_number(t, wr_get_number(res, "cpu_s_per_gb"), 3);
        wr_doc_cell(t, "%s", wr_get_text(row->json, "skipped"));
    }
    wr_view_cut(s, "tests", c->count + c->left_out);
}

void wr_probe_pass_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "Passes",
        "<test|>pass|>began s|>seconds|>MB/s|>per second|>p50 us|>p99 us|"
        ">in cache %");
    char name[WR_VIEW_NAME];
    size_t rows = 0;

    wr_doc_fold(t);
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < wr_case_runs(&c->v[k]); i++) {
            const json_t *run = wr_case_run(&c->v[k], i);
            double resident = wr_get_number(run, "resident");

            if (rows++ >= WR_VIEW_ROWS)
                continue;
            wr_doc_cell(t, "%s", wr_probe_name(c, k, name));
            wr_doc_number(t, (double)(i + 1), 0);
            wr_doc_number(t, wr_get_number(run, "start_s"), 1);
            wr_doc_number(t, wr_get_number(run, "seconds"), 3);
            wr_doc_number(t, wr_get_number(run, "bytes_per_s") / MB, 1);
            wr_doc_number(t, wr_get_number(run, "ops_per_s"), 1);
            wr_doc_number(t, wr_get_number(run, "latency_us.p50"), 1);
            wr_doc_number(t, wr_get_number(run, "latency_us.p99"), 1);
            wr_doc_number(t, resident >= 0 ? 100 * resident : NAN, 1);
        }
    wr_view_cut(s, "passes", rows);
}

void wr_probe_saturation_table(struct wr_doc_section *s,
                               const struct wr_cases *c)
{
    struct wr_doc_table *t = NULL;
    size_t rows = 0;
    char block[32];

    for (size_t r = 0; r < c->record_count; r++) {
        const json_t *list = wr_get_list(c->records[r].json, "saturation");

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *o = json_array_get(list, i);

            if (rows++ >= POINTS_MAX)
                return;
            if (!t)
                t = wr_doc_table(s, "Depth beyond which nothing is gained",
                                 "<record|<what|<block|<direct|>workers|>depth|"
                                 ">per second|<");
            wr_doc_cell(t, "%s", c->records[r].label);
            wr_doc_cell(t, "%s %s", wr_get_text(o, "pattern"),
                        wr_get_text(o, "op"));
            wr_doc_cell(t, "%s", wr_probe_block(o, block, sizeof(block)));
            wr_doc_cell(t, "%s", wr_get_true(o, "direct") ? "yes" : "no");
            wr_doc_number(t, wr_get_number(o, "workers"), 0);
            wr_doc_number(t, wr_get_number(o, "depth"), 0);
            wr_doc_number(t, wr_get_number(o, "ops_per_s"), 0);
            wr_doc_cell(t, "%s",
                        wr_get_true(o, "reached") ? "" : "no more was tried");
        }
    }
}
