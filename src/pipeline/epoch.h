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

/* Takes its order from `c`; before anything else is asked. */
void wr_epoch_set_order(struct wr_epoch *e, const weir_pipeline_config *cfg,
                        const struct wr_custom *c);

/* Takes the order of epoch 0, of `n` samples; before anything else is asked. */
void wr_epoch_set_first(struct wr_epoch *e, const weir_pipeline_config *cfg,
                        uint64_t n);

/* The sample of local number j < local. */
uint64_t wr_epoch_sample(const struct wr_epoch *e, uint64_t j);

/* The k-th sample to repeat as padding of the batch that ends at local number
 * `behind`: the first ones for the last batch, later ones for those in front
 * of it. A function of the place in the epoch: the same after a resume. */
uint64_t wr_epoch_pad(const struct wr_epoch *e, uint64_t behind, uint64_t k);

/* Takes the last local number from the tail and notes its position; false
 * when memory is short. */
bool wr_epoch_take_tail(struct wr_epoch *e);

#endif
