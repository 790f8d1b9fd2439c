/* feed.h - the batches of one accelerator.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pipeline of its own, whose reads are measured; or nothing at all, if there is
 * nothing to read. A time per sample that the description gives for preprocessing
 * is emulated as DLIO's readers spend it: each of so many readers sleeps, batches
 * come no faster than that, and are kept ahead as far as prefetching goes. */
#ifndef WR_RUN_FEED_H
#define WR_RUN_FEED_H

#include "format/format.h"
#include "storage/meter.h"
#include "weir/pipeline.h"
#include "workload/derive.h"

#define WR_FEED_AHEAD 64 /* batches kept ahead, at most */

/* What the accelerators of a process have in common. */
struct wr_run_feed_spec {
    const weir_dataset *ds;   /* borrowed; NULL: nothing is read */
    weir_pipeline_config cfg; /* rank, world and range are those of one */
    enum wr_wl_consume consume;
    struct wr_wl_time preprocess; /* per sample */
    uint64_t readers;             /* that spend it */
    uint64_t seed;
    bool same_order; /* in every epoch */
};

struct wr_run_feed {
    const struct wr_run_feed_spec *spec; /* borrowed */
    weir_pipeline *pipeline;             /* owned; NULL: nothing is read */
    weir_dataset view;                   /* the data set, measured */
    weir_field_config *fields;           /* owned */
    struct wr_meter *meter;              /* borrowed */
    uint64_t stream;                     /* of the draws */
    /* preprocessing: when batch `count` was made, and taken, by its number
     * modulo WR_FEED_AHEAD */
    uint64_t count, made_ns;
    uint64_t taken_ns[WR_FEED_AHEAD];
};

/* One accelerator of the spec: rank, world and range in `cfg`. */
int wr_run_feed_open(struct wr_run_feed *f, const struct wr_run_feed_spec *spec,
                     const weir_pipeline_config *cfg, struct wr_meter *meter,
                     weir_err *err);
void wr_run_feed_close(struct wr_run_feed *f);

/* As weir_pipeline_next; *ret is NULL where nothing is read. 0: the data ended. */
int wr_run_feed_next(void *feed, const weir_batch **ret, weir_err *err);

/* What was delivered, as a number that does not depend on who got it: the sum
 * over the samples of a hash of bytes and position. `step` counts the batches of
 * this accelerator in the epoch, `of` is {number, world}. */
uint64_t wr_run_digest(const weir_batch *b, uint64_t step, uint64_t number,
                       uint64_t world);

#endif
