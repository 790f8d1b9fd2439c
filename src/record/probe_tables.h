/* probe_tables.h - tables of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PROBE_TABLES_H
#define WR_RECORD_PROBE_TABLES_H

#include "record/view.h"
#include "result/probe.h"

#define WR_PROBE_PERCENTILES 5

/* Of the latency: where they stand in the values of a run, and what they are
 * called. */
extern const struct wr_probe_percentile {
    size_t at;
    const char *name;
} wr_probe_percentiles[WR_PROBE_PERCENTILES];

/* "run-a: random read 4 KiB, depth 32, direct" into buf (WR_VIEW_NAME). */
char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf);

/* The block of a test: "4 KiB", or "mix of sizes". */
char *wr_probe_block(double bytes, char *buf, size_t cap);

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

/* What could not be run, a note for each reason. */
void wr_probe_skipped(struct wr_scope *v);

#endif
