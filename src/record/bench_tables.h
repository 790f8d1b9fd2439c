/* bench_tables.h - tables of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_BENCH_TABLES_H
#define WR_RECORD_BENCH_TABLES_H

#include "record/view.h"

/* Whether others had the cores while it was measured. */
bool wr_bench_is_starved(const struct wr_case *row);

/* A row a case, and a row a run. */
void wr_bench_case_table(struct wr_doc_section *s, const struct wr_cases *c);
void wr_bench_run_table(struct wr_doc_section *s, const struct wr_cases *c);

#endif
