/* probe_tables.h - tables and charts of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_PROBE_TABLES_H
#define WR_REPORT_PROBE_TABLES_H

#include "report/chart.h"
#include "result/probe.h"

/* "run-a: random read 4 KiB, depth 32, direct" into buf (WR_VIEW_NAME). */
char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf);

/* What the columns of the tables mean; the first of tests and depths is one of
 * reports alone. */
extern const struct wr_column wr_probe_test_columns[];
extern const struct wr_column wr_probe_depth_columns[];
extern const struct wr_column wr_probe_pass_columns[];

enum wr_probe_kind {
    WR_PROBE_KIND_SEQ,
    WR_PROBE_KIND_RANDOM,
    WR_PROBE_KIND_MIX,
    WR_PROBE_KIND_FILES,
    WR_PROBE_KIND_SYNC,
    WR_PROBE_KINDS
};

/* Tests that belong together: one table each. */
enum wr_probe_kind wr_probe_kind_of(const struct wr_case *row);

/* Tables of tests by their kind, a row a pass, and the depths that suffice. */
void wr_probe_test_tables(struct wr_scope *v);
extern const struct wr_table_rule wr_probe_pass_table;
void wr_probe_depth_table(struct wr_scope *v);

/* Medians of the tests, a series a record; requests and bandwidth by depth;
 * latencies; the passes. */
extern const struct wr_chart_rule wr_probe_sequential_chart,
    wr_probe_small_chart, wr_probe_parts_chart, wr_probe_pass_chart;
void wr_probe_depth_charts(struct wr_scope *v);
extern const struct wr_chart_rule wr_probe_latency_chart, wr_probe_p99_chart;
bool wr_probe_is_few(const struct wr_scope *v);
bool wr_probe_is_many(const struct wr_scope *v);

#endif
