/* block.h - a block of steps as DLIO counts it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * DLIO's utilization is the measured time of computing over the time of the
 * block, without the first steps and the last ones (output.metric.exclude_*); its
 * samples/s divide by the same time and leave two steps out. */
#ifndef WR_RUN_BLOCK_H
#define WR_RUN_BLOCK_H

#include <stdint.h>

#define WR_RUN_BLOCK_TAIL 64 /* steps that can be left out at the end */

struct wr_run_block_tally {
    uint64_t start_ns, start_wall_ns;
    uint64_t steps;
    uint64_t load_ns, last_ns; /* of the last step: loading, computing */
    unsigned exclude_start, exclude_end;
    uint64_t compute_ns;  /* of steps behind the first ones */
    uint64_t excluded_ns; /* of the first ones, loading included */
    uint64_t tail_compute[WR_RUN_BLOCK_TAIL], tail_proc[WR_RUN_BLOCK_TAIL];
};

struct wr_run_block_result {
    uint64_t steps;
    double au;    /* 0 to 1; 0: nothing was computed */
    double per_s; /* samples/s */
};

void wr_run_block_begin(struct wr_run_block_tally *b, uint64_t exclude_start,
                        uint64_t exclude_end, uint64_t now_ns);
void wr_run_block_step(struct wr_run_block_tally *b, uint64_t load_ns,
                       uint64_t compute_ns);
struct wr_run_block_result wr_run_block_end(const struct wr_run_block_tally *b,
                                            uint64_t now_ns, uint64_t batch);

#endif
