/* bench_tables.h - tables and charts of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_BENCH_TABLES_H
#define WR_REPORT_BENCH_TABLES_H

#include "result/bench.h"
#include "report/view.h"

/* What the columns of the two tables mean; the first ones of cases are those
 * of reports alone. */
#define WR_BENCH_REPORT_COLUMNS 2
extern const struct wr_column wr_bench_case_columns[];
extern const struct wr_column wr_bench_run_columns[];
extern const struct wr_column wr_bench_rank_columns[];

/* Whether others had the cores while it was measured. */
bool wr_bench_is_starved(const struct wr_case *row);

/* "4 ranks, emulated hdd, decode exact, depth 32": settings that are no columns of the
 * table of cases because all have the same. Returns buf. */
char *wr_bench_common(const struct wr_cases *c, char *buf, size_t cap);

/* "all, warm cache, 2 threads, depth 8": a case by where it was read from, and
 * by each setting in which the cases differ. Returns buf. */
char *wr_bench_heading(const struct wr_cases *c, size_t k, char *buf,
                       size_t cap);

/* A row a case, a row a run, and a row a rank of cases that several ran together. */
extern const struct wr_table_rule wr_bench_case_table, wr_bench_run_table,
    wr_bench_rank_table;

/* The data of all records, and the sizes of its samples. */
void wr_bench_data_table(struct wr_scope *v);

/* A number of a setting, NaN for "auto" or none. */
double wr_bench_setting(const struct wr_case *row, const char *key);

/* Whether nothing was decoded in any case: rates are bytes then. */
bool wr_bench_is_read(const struct wr_cases *c);

/* How fast, by threads where threads were swept. */
void wr_bench_rates(struct wr_scope *v);

/* What of the runtime the consumer waited, with and without prefetching. */
extern const struct wr_chart_rule wr_bench_prefetch_chart;
bool wr_bench_has_prefetch(const struct wr_scope *v);

/* Where the workers' time went; not of reading alone, which only waits. */
extern const struct wr_chart_rule wr_bench_stage_chart;
bool wr_bench_is_worked(const struct wr_scope *v);

#endif
