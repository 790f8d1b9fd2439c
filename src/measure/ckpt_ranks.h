/* ckpt_ranks.h - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_CKPT_RANKS_H
#define WR_MEASURE_CKPT_RANKS_H

#include "measure/ckpt_bench.h"
#include "measure/together.h"

/* All ranks, after each has saved: every time becomes that of the slowest. */
int wr_ckpt_join_save(const struct wr_together *t,
                      struct wr_ckpt_save_values *s, weir_err *err);

/* All ranks, at the end of a way, with the bytes of its own state in the result:
 * the slowest restore; on rank 0 also the list of ranks, and the bytes and the
 * memory of all. */
int wr_ckpt_join_case(const struct wr_together *t, struct wr_ckpt_bench_case *k,
                      weir_err *err);

#endif
