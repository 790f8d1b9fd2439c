/* probe_tables.h - tables of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PROBE_TABLES_H
#define WR_RECORD_PROBE_TABLES_H

#include "record/view.h"

#define WR_PROBE_PERCENTILES 5

/* Of the latency: where they stand in a run, and what they are called. */
extern const struct wr_probe_percentile {
    const char *key, *name;
} wr_probe_percentiles[WR_PROBE_PERCENTILES];

/* "run-a: random read 4 KiB, depth 32, direct" into buf (WR_VIEW_NAME). */
char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf);

/* The block of a test: "4 KiB", or "mix of sizes". */
char *wr_probe_block(const json_t *test, char *buf, size_t cap);

/* A row a test, a row a pass, and the depths that suffice. */
void wr_probe_test_table(struct wr_doc_section *s, const struct wr_cases *c);
void wr_probe_pass_table(struct wr_doc_section *s, const struct wr_cases *c);
void wr_probe_saturation_table(struct wr_doc_section *s,
                               const struct wr_cases *c);

#endif
