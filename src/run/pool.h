/* pool.h - batches that few ranks read and all get.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In each step the ranks that read have a batch for all, and share it; by MPI-IO
 * all ranks ask for the same bytes together, and the library chooses who reads.
 * Every rank gets all the bytes, as the broadcast that the analysis of ten
 * workloads describes. Nothing overlaps with computing but what a reading rank's
 * own pipeline reads ahead. */
#ifndef WR_RUN_POOL_H
#define WR_RUN_POOL_H

#include <stdbool.h>

#include "run/feed.h"

struct wr_run_job;
struct wr_run_accel;

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
