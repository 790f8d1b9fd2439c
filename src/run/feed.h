/* feed.h - the batches of one accelerator.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pipeline of its own, whose reads are measured; or nothing at all, if there is
 * nothing to read. A time per sample that the description gives for preprocessing
 * is emulated as DLIO's readers spend it: each of so many readers sleeps, batches
 * come no faster than that, and are kept ahead as far as prefetching goes. */
#ifndef WR_RUN_FEED_H
#define WR_RUN_FEED_H

#include <stdbool.h>

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

struct wr_run_job;
struct wr_run_accel;

/* Batches that few ranks read and all get: in each step the ranks that read have
 * a batch for all, and share it; by MPI-IO all ranks ask for the same bytes
 * together, and the library chooses who reads. Every rank gets all the bytes, as
 * the broadcast that the analysis of ten workloads describes. Nothing overlaps
 * with computing but what a reading rank's own pipeline reads ahead. */
struct wr_run_pool {
    struct wr_run_job *job; /* borrowed; NULL: each accelerator reads */
    bool mpi_io;
    uint32_t readers;
    bool reads; /* this rank is one of them */
    struct wr_run_feed_spec spec;
    struct wr_run_feed feed; /* of a rank that reads */
    uint8_t *buffer;         /* owned: what came from others */
    size_t cap;
    uint64_t next;  /* by MPI-IO: the position of the next batch */
    uint64_t count; /* samples of an epoch */
    struct wr_meter_counts *counts; /* owned: reads by MPI-IO */
    uint64_t last_object, last_end; /* of the last one */
    uint64_t noted;                 /* bytes of epochs that are over */
};

int wr_run_pool_open(struct wr_run_pool *p, struct wr_run_job *job,
                     weir_err *err);
void wr_run_pool_close(struct wr_run_pool *p);

static inline bool wr_run_pool_is_on(const struct wr_run_pool *p)
{
    return p->job;
}

/* Bytes that were read by MPI-IO since this was asked last; 0: by pipelines. */
uint64_t wr_run_pool_epoch(struct wr_run_pool *p);

/* In place of wr_run_feed_next, by all accelerators of a process: 1, and *ret is
 * NULL: the bytes are in the process's buffer. */
int wr_run_pool_next(struct wr_run_pool *p, struct wr_run_accel *a,
                     const weir_batch **ret, weir_err *err);

#endif
