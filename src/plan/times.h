/* times.h - the times of batches, from the log of any training.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_TIMES_H
#define WR_PLAN_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_PLAN_TIMES_MAX ((size_t)10000000)

struct wr_plan_times {
    double *ms;      /* owned: time of each batch, from the one before */
    uint64_t *batch; /* owned: its number; rising, through all epochs */
    size_t count;
    uint64_t epoch_batches; /* where numbers start anew; 0: they do not */
    size_t skipped; /* lines with other text; comments are not counted */
};

void wr_plan_times_done(struct wr_plan_times *t);

/* "batch, ms" in two columns, with any words, headings or further text around
 * them, as training logs have it ("batch_results: 917 , 1040"). Columns that a
 * heading names are found by their names, numbers in a line by the words and
 * units beside them. Without a unit times are milliseconds, except where a line
 * says "time 0.193", as PyTorch's examples do: seconds. Numbers that start anew
 * are a new epoch. Messages name the line. */
int wr_plan_times_parse(const char *text, size_t len, const char *name,
                        struct wr_plan_times *ret, weir_err *err);

#endif
