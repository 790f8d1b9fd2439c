/* gaps.h - pauses of a thread, by their length: which are between batches?
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that reads samples pauses a little after each one, to decode it, and
 * longer after a batch: it computes, or waits for its turn. The two make two
 * heaps in a histogram of the pauses. */
#ifndef WR_TRACE_GAPS_H
#define WR_TRACE_GAPS_H

#include <stdint.h>

#define WR_GAP_BUCKETS 176 /* four per octave, from 1 ns to 4 hours */

struct wr_gaps {
    uint64_t total, total_ns;
    uint32_t count[WR_GAP_BUCKETS];
    uint64_t sum_ns[WR_GAP_BUCKETS];
};

void wr_gaps_add(struct wr_gaps *g, uint64_t ns);
void wr_gaps_merge(struct wr_gaps *g, const struct wr_gaps *other);
/* The length from which on a pause is one between batches; 0: there is one heap
 * only, or too little to tell. */
uint64_t wr_gaps_split(const struct wr_gaps *g);
/* How many pauses are at least `ns` long (a value of wr_gaps_split), and their
 * sum. */
uint64_t wr_gaps_above(const struct wr_gaps *g, uint64_t ns,
                       uint64_t *ret_count);

#endif
