/* bench_store.h - benchmarks save only where benchmarks have saved before.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a benchmark saves is random, and retention removes older steps: in the
 * store of a real training run both destroy. A store that a benchmark made, or
 * found empty, has a mark, a file in `.weir`. Whoever else opens the store to
 * save takes the mark away (tier/claim.c), so that it never stands beside steps
 * that are worth something. */
#ifndef WR_MEASURE_BENCH_STORE_H
#define WR_MEASURE_BENCH_STORE_H

#include "weir/error.h"

/* Whether a benchmark may save at `url`: the folder is missing, holds no steps
 * and nothing that is not weir's, or has the mark. WEIR_ESTATE: it may not. */
int wr_bench_store_check(const char *url, weir_err *err);

/* Marks the folder, which is there: after it was opened for saving, and before
 * the first save. */
int wr_bench_store_mark(const char *url, weir_err *err);

#endif
