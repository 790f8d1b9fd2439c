/* custom.h - pipelines whose order and decoders are those of another room.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For who looks at every sample once, in an order of his own, and wants to know
 * which one was bad in its place: `weir convert` and `weir inspect`. One epoch;
 * a bad sample leaves its slot empty, and nothing is moved or fills it. And for
 * `weir run`, whose descriptions may ask for one order in all epochs. */
#ifndef WR_PIPELINE_CUSTOM_H
#define WR_PIPELINE_CUSTOM_H

#include "format/format.h"
#include "weir/pipeline.h"

struct wr_custom {
    void *arg; /* borrowed: of the functions below */
    /* The samples, by position; blocks of neighbours are read together where
     * cfg.order is sequential. Any thread. */
    uint64_t count;
    uint64_t (*sample_at)(void *arg, uint64_t position);
    /* NULL: fields are decoded as cfg says. Else the first picture or tensor is
     * handed to a decoder of this kind, one for each thread, which makes an
     * entry of so many bytes of it. */
    int (*decoder_new)(void *arg, struct wr_decoder **ret, weir_err *err);
    size_t entry;
    bool quick; /* it takes hardly longer than a lock: samples are handed to it
                   several at a time */
    /* NULL, or what is done with each batch before it is delivered: in order,
     * one at a time, by a worker that has made it, mostly. On failure the
     * pipeline fails. */
    int (*settled)(void *arg, const weir_batch *b, weir_err *err);
    /* Of samples that are read alone, and as they are, no more than this; 0:
     * all. */
    size_t head;
    struct wr_left_out *left; /* borrowed: as wr_unpack.left */
};

/* As weir_pipeline_open; `c` is copied. cfg->fields is not looked at where there
 * is a decoder, nor are epochs, ranks and the remainder. */
int wr_pipeline_open_custom(weir_pipeline **ret, const weir_dataset *ds,
                            const weir_pipeline_config *cfg,
                            const struct wr_custom *c, weir_err *err);

/* As weir_pipeline_open, but every epoch has the order of the first. Its states
 * are those of a pipeline that shuffles anew: they are not to be resumed from. */
int wr_pipeline_open_same(weir_pipeline **ret, const weir_dataset *ds,
                          const weir_pipeline_config *cfg, weir_err *err);

/* A slot of a batch that has no sample. */
struct wr_hole {
    uint32_t slot;
    uint64_t id;
    int code;
    char *text; /* what is wrong; NULL: memory was short */
};

/* The holes of a batch of such a pipeline, by slot; borrowed. */
const struct wr_hole *wr_batch_holes(const weir_batch *b, size_t *ret_count);

#endif
