/* ckpt_record.h - the record of a benchmark of checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_CKPT_RECORD_H
#define WR_MEASURE_CKPT_RECORD_H

#include <jansson.h>

#include "measure/ckpt_bench.h"
#include "measure/monitor.h"

/* What goes into a record. */
struct wr_ckpt_record {
    const struct wr_ckpt_bench_plan *plan;
    const struct wr_ckpt_bench_report *report;
    const char *like;                 /* what state was saved */
    struct wr_store *store;           /* borrowed: the folder, for the host */
    const struct wr_monitor *monitor; /* stopped */
};

/* NULL when memory is short. */
json_t *wr_ckpt_record(const struct wr_ckpt_record *b);

#endif
