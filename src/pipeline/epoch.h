/* epoch.h - one epoch as one rank sees it: its samples, its batches, its tail.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Local number j of this rank is the (j * world + rank)-th position that is
 * still to come in the epoch. Batches take local numbers from the front; bad
 * samples are replaced by local numbers from the back (the tail). */
#ifndef WR_PIPELINE_EPOCH_H
#define WR_PIPELINE_EPOCH_H

#include "pipeline/order.h"
#include "pipeline/state.h"

struct wr_epoch {
    uint64_t number;
    uint32_t rank, world;
    struct wr_order order;
    struct wr_state start; /* owned: what was over already when it began */
    uint64_t local;        /* samples of this rank */
    uint64_t batches;      /* planned for this rank */
    uint64_t tail;         /* local numbers from here on are used up */
    uint64_t pad;          /* samples repeated so far (WEIR_REMAINDER_PAD) */
    uint64_t good;         /* samples in settled batches */
    uint64_t *taken; /* owned: positions that filled holes, in that order */
    size_t taken_count, taken_cap;
    uint32_t refs; /* batches, and the plan while it is the current one */
};

/* Epoch `number` of a data set of `n` samples, of which the config's part is
 * fed. `resume` (may be NULL) tells where it begins;
 * its list is moved into the epoch. NULL when memory is short. */
struct wr_epoch *wr_epoch_new(const weir_pipeline_config *cfg, uint64_t n,
                              uint64_t number, struct wr_state *resume);
void wr_epoch_unref(struct wr_epoch *e);

/* Position in the epoch and sample of local number j < local. */
uint64_t wr_epoch_position(const struct wr_epoch *e, uint64_t j);
uint64_t wr_epoch_sample(const struct wr_epoch *e, uint64_t j);

/* The next sample to repeat as padding. */
uint64_t wr_epoch_pad(struct wr_epoch *e);

/* Takes the last local number from the tail and notes its position; false
 * when memory is short. */
bool wr_epoch_take_tail(struct wr_epoch *e);

#endif
