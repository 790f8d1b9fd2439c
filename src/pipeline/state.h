/* state.h - how far an epoch is: a few integers, as bytes and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything before `position` has been delivered or found bad, and of what
 * lies behind it the positions in `taken` (they filled the places of bad
 * samples). That is all there is to know, whatever the number of ranks, but for
 * the number that the epoch began with where its order depends on it, and how
 * many batches came, which the position does not tell once it has changed. */
#ifndef WR_PIPELINE_STATE_H
#define WR_PIPELINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_state {
    uint64_t seed, epoch, position;
    uint64_t samples;  /* in the data set, or the part of it that is fed */
    uint64_t order_id; /* wr_order_id */
    uint64_t split_id; /* wr_split_id; states from before had 0 there */
    uint32_t batches;  /* of the epoch that each rank has had, whatever the
                         ranks and the batch size were; states from before
                         had 0 there */
    uint32_t rank, world;
    uint32_t
        dealt; /* ranks that the epoch's blocks are dealt to, see order.h */
    uint64_t *taken; /* owned; sorted, all >= position */
    size_t taken_count, taken_cap;
};

void wr_state_done(struct wr_state *s);

/* Adds a position to `taken`, keeping it sorted; false when memory is short. */
bool wr_state_take(struct wr_state *s, uint64_t position);

/* Moves `position` ahead and forgets what it passes. */
void wr_state_advance(struct wr_state *s, uint64_t position);

/* Bytes of the state; written to `buf` when they fit in `cap`. */
size_t wr_state_write(const struct wr_state *s, void *buf, size_t cap);

/* Reads a state; *ret is to be ended with wr_state_done. */
int wr_state_read(const void *buf, size_t len, struct wr_state *ret,
                  weir_err *err);

/* Joins the states of all ranks of one step into one. */
int wr_state_merge(const void *const *bufs, const size_t *lens, size_t count,
                   struct wr_state *ret, weir_err *err);

/* Positions still to come, and the k-th of them. */
uint64_t wr_state_remaining(const struct wr_state *s);
uint64_t wr_state_position_at(const struct wr_state *s, uint64_t k);

#endif
