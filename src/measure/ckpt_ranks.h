/* ckpt_ranks.h - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_CKPT_RANKS_H
#define WR_MEASURE_CKPT_RANKS_H

#include "measure/ckpt_bench.h"
#include "measure/together.h"

/* A rank and one way of saving; sent as it is, between equal programs. */
struct wr_ckpt_bench_rank {
    char host[65];
    double stall; /* median of its own */
    uint64_t bytes, memory;
};

/* All ranks, after each has saved: every time becomes that of the slowest. */
int wr_ckpt_join_save(const struct wr_together *t, struct wr_ckpt_bench_save *s,
                      weir_err *err);

/* All ranks, at the end of a way: the slowest restore; on rank 0 also the list
 * of ranks, and the memory of all. `bytes` is this rank's state. */
int wr_ckpt_join_case(const struct wr_together *t, uint64_t bytes,
                      struct wr_ckpt_bench_case *k, weir_err *err);

#endif
