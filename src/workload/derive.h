/* derive.h - what follows from a description, for so many accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_DERIVE_H
#define WR_WORKLOAD_DERIVE_H

#include "workload/workload.h"

struct wr_derived {
    uint64_t world; /* accelerators */
    uint64_t samples_train, samples_eval;
    /* Steps of each accelerator in an epoch, the cap included. Of data in memory
     * and of synthetic ones the cap alone: they are used again. */
    uint64_t steps;
    uint64_t eval_steps; /* of each evaluation */
    /* One sample as it is stored, and the tensor's sides. */
    double sample_bytes;  /* mean, headers left out */
    double dataset_bytes; /* train and eval */
    double epoch_bytes;   /* that all accelerators read in an epoch */
    double step_s;        /* mean computing time */
    /* One accelerator that never waits. */
    double bytes_per_s, samples_per_s, files_per_s; /* 0: it has no end */
    uint64_t checkpoints;                           /* of the whole run */
    double checkpoint_bytes;                        /* of one, all ranks */
    double rank_checkpoint_bytes; /* the largest share of a rank */
    double parameters;            /* 0: not described */
    double batch_bytes;           /* one batch in memory, as stored */
    /* The rules of MLPerf Storage: samples that fit them for this world and so
     * much memory of all hosts. */
    uint64_t rule_samples;
    double seconds; /* the run takes at least, at full utilization */
};

/* `memory_bytes` is that of all hosts together. */
int wr_workload_derive(const struct wr_workload *w, uint64_t world,
                       double memory_bytes, struct wr_derived *ret,
                       weir_err *err);

/* Mean of the law, 0 where there is none. */
double wr_wl_time_mean(const struct wr_wl_time *t);

/* Draw number `k` of a stream: a function of (seed, stream, k), in seconds,
 * never negative. */
double wr_wl_time_draw(const struct wr_wl_time *t, uint64_t seed,
                       uint64_t stream, uint64_t k);

/* Sides of file `i` of the training or evaluation set (i counts on from the
 * training files in the latter): two sides from record_length_bytes and its
 * deviation, or record_dims. A function of (seed, i). */
void wr_workload_sides(const struct wr_workload *w, uint64_t seed, uint64_t i,
                       struct wr_wl_dims *ret);

/* DLIO's name of a file below the data folder: "train/07/img_007_of_168.npz". */
int wr_workload_file_name(const struct wr_workload *w, bool eval, uint64_t i,
                          char *buf, size_t cap);

/* Bytes of one element of `element_type`; 0: not a type of NumPy's numbers. */
unsigned wr_wl_element_bytes(const char *type);

/* Parameters of the model; 0: not described. */
double wr_workload_parameters(const struct wr_workload *w);

/* Tensors that rank `rank` of `world` saves (one struct each, in order), by the
 * formulas of DLIO for layers, ZeRO stages and optimizer states: *ret is fresh
 * memory (free()). */
struct wr_wl_tensor {
    char name[64];
    const char *dtype; /* "F16", "F32", "U8", ...: of safetensors */
    uint64_t elements, bytes;
};
int wr_workload_tensors(const struct wr_workload *w, uint64_t rank,
                        uint64_t world, struct wr_wl_tensor **ret,
                        size_t *ret_count, weir_err *err);

#endif
