/* block.c - a block of steps as DLIO counts it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/block.h"

#include "base/clock.h"
#include "base/mem.h"

void wr_run_block_begin(struct wr_run_block_tally *b, uint64_t exclude_start,
                        uint64_t exclude_end, uint64_t now_ns)
{
    *b = (struct wr_run_block_tally){
        .start_ns = now_ns,
        .start_wall_ns = wr_clock_wall_ns(),
        .exclude_start = (unsigned)WR_MIN(exclude_start, UINT64_C(1) << 30),
        .exclude_end = (unsigned)WR_MIN(exclude_end,
                                        (uint64_t)WR_RUN_BLOCK_TAIL),
    };
}

void wr_run_block_step(struct wr_run_block_tally *b, uint64_t load_ns,
                       uint64_t compute_ns)
{
    uint64_t k = b->steps++;

    b->load_ns = load_ns;
    b->last_ns = compute_ns;
    if (k < b->exclude_start) {
        b->excluded_ns += load_ns + compute_ns;
        return;
    }
    b->compute_ns += compute_ns;
    b->tail_compute[k % WR_RUN_BLOCK_TAIL] = compute_ns;
    b->tail_proc[k % WR_RUN_BLOCK_TAIL] = load_ns + compute_ns;
}

struct wr_run_block_result wr_run_block_end(const struct wr_run_block_tally *b,
                                            uint64_t now_ns, uint64_t batch)
{
    uint64_t excluded = b->excluded_ns, compute = b->compute_ns;
    struct wr_run_block_result ret = {.steps = b->steps};
    uint64_t behind = b->steps - WR_MIN(b->steps, (uint64_t)b->exclude_start);
    double seconds;

    for (uint64_t k = 0; k < WR_MIN(behind, (uint64_t)b->exclude_end); k++) {
        uint64_t at = (b->steps - 1 - k) % WR_RUN_BLOCK_TAIL;

        excluded += b->tail_proc[at];
        compute -= b->tail_compute[at];
    }
    seconds = (double)(now_ns - b->start_ns - excluded) * 1e-9;
    if (now_ns <= b->start_ns + excluded)
        return ret;
    ret.au = (double)compute * 1e-9 / seconds;
    ret.per_s = ((double)b->steps - 2) * (double)batch / seconds;
    return ret;
}
