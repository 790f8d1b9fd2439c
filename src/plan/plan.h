/* plan.h - how fast will this train? A description, and two ways to answer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plan describes resources (storage, cores, accelerators, tiers of
 * checkpoints) and the flow of batches through them. Nothing here knows a clock
 * or a file: the answer is a function of the description.
 *
 * - **Bounds** (bounds.h): what each resource could do alone; instant.
 * - **Simulation** (node.h): every sample of one node, through the device model
 *   that `emu:` uses; queues, jitter, the start of an epoch, saves.
 *   (cluster.h): every step of many nodes that share one file system.
 *
 * The life of a sample in a node: a record (there are workers * depth) is taken
 * for it when its batch may be begun; its bytes are read; a worker decodes it,
 * once its batch has a buffer; the batch is handed over when all samples of it
 * and all batches before it are there. Then the record is free again. */
#ifndef WR_PLAN_PLAN_H
#define WR_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/device.h"
#include "weir/error.h"

/* What a description may say at most. */
#define WR_PLAN_MAX_NODES        1000000u
#define WR_PLAN_MAX_ACCELERATORS 1024u /* of a node */
#define WR_PLAN_MAX_WORKERS      4096u
#define WR_PLAN_MAX_BATCH        (1u << 20)
#define WR_PLAN_MAX_STEPS        100000000u
#define WR_PLAN_MAX_SECONDS      1e7 /* of a single thing */

enum wr_plan_law { WR_PLAN_FIXED, WR_PLAN_LOGNORMAL, WR_PLAN_EXPONENTIAL };

/* Something that is drawn for each sample, request or step. */
struct wr_plan_draw {
    enum wr_plan_law law;
    double mean; /* seconds, bytes or a factor */
    double cv;   /* deviation over mean; of a lognormal one */
};

struct wr_plan_data {
    uint64_t samples;            /* of an epoch, all nodes */
    struct wr_plan_draw bytes;   /* stored, of one sample */
    uint64_t samples_per_object; /* 1: each is a file that is opened for it */
    bool sequential;             /* read in order: neighbours come together */
    uint64_t unit_bytes; /* then in requests of so many bytes; 0: one sample
                            each */
    bool shuffled_units; /* which come in any order: `--order block` */
    double tensor_bytes; /* of a sample that is stored decoded, a byte for each
                            number; 0: not known */
};

struct wr_plan_storage {
    struct wr_device_profile profile; /* of a node, or what all nodes share */
    bool shared;                      /* by all nodes */
    double client_bytes_per_s;        /* a node gets no more; 0: no limit */
    double opens_per_s;               /* all nodes together; 0: no limit */
    double vary; /* cv of a node's time to read a batch (cluster), of a request
                    (node) */
};

/* How workers divide the work. */
enum wr_plan_style {
    WR_PLAN_TOGETHER, /* all on the samples of the same batches: weir, tf.data */
    WR_PLAN_IN_TURNS, /* each loads whole batches, which are delivered in order:
                         PyTorch's DataLoader */
};

struct wr_plan_loader {
    enum wr_plan_style style;
    uint32_t workers;  /* of a node */
    uint32_t depth;    /* samples on their way per worker */
    uint32_t prefetch; /* finished batches kept ahead (TOGETHER), or batches per
                          worker (IN_TURNS); 0: a batch is begun when the
                          accelerator waits for it */
    bool in_place;     /* samples are read right into the batch */
    struct wr_plan_draw cpu_s; /* of a core, per sample */
    double fast_cpu_s; /* with the fast decoder; 0: not known, or in use */
    struct wr_plan_draw batch_cpu_s; /* per batch, by one core: collating */
    uint32_t cores;                  /* of a node */
    bool apart;     /* an epoch is begun when the last one is over */
    double start_s; /* and so long after that: workers start anew */
};

struct wr_plan_compute {
    uint32_t accelerators; /* of a node */
    uint32_t batch;        /* samples of one accelerator's step */
    struct wr_plan_draw step_s;
    double reduce_s; /* all-reduce, after the slowest has computed */
};

/* What makes later epochs cheaper. */
struct wr_plan_cache {
    double share; /* of the samples that are there from the second epoch on */
    bool decoded; /* they take no decoding */
    bool page_cache; /* the kernel's: read with the CPU time of a warm file */
    struct wr_device_profile profile; /* where they lie; name "": memory */
};

enum wr_plan_way {
    WR_PLAN_NO_SAVES,
    WR_PLAN_DIRECT, /* training waits until the slow tier has it */
    WR_PLAN_BURST,  /* until the fast tier has it; drained behind */
    WR_PLAN_ASYNC,  /* until it is copied in memory */
};

struct wr_plan_save {
    enum wr_plan_way way;
    uint64_t every; /* steps */
    double bytes;   /* of all nodes */
    struct wr_device_profile slow, fast;
    bool on_input;           /* the slow tier is the storage that is read */
    double copy_bytes_per_s; /* in memory, of one node: ASYNC */
    double own_s;            /* the saver's own time per save: serializing */
    uint32_t kept; /* saves that the fast tier has room for; 0: no limit */
};

struct wr_plan_failure {
    double node_mtbf_s; /* 0: nothing fails */
    double restart_s;   /* until training goes on, less the restore */
};

struct wr_plan {
    struct wr_plan_data data;
    struct wr_plan_storage storage;
    struct wr_plan_loader loader;
    struct wr_plan_compute compute;
    struct wr_plan_cache cache;
    struct wr_plan_save save;
    struct wr_plan_failure failure;
    uint32_t nodes;
    uint32_t epochs;
    uint64_t max_steps;  /* of an epoch at most; 0: what the samples give */
    uint64_t eval_steps; /* after each epoch; without gradients */
    double eval_s;       /* of one of these steps */
    uint64_t seed;
};

/* One node, one accelerator, prefetch 1, fixed times: a plan to start from.
 * Data, step time and storage are still to be said. */
void wr_plan_defaults(struct wr_plan *p);

/* Whether all of it can be: names what is missing, contradictory or absurd
 * ("workers: 0: at least one is needed"). WEIR_EINVAL. */
int wr_plan_check(const struct wr_plan *p, weir_err *err);

/* Steps of an epoch: every accelerator of every node takes one batch. */
uint64_t wr_plan_steps(const struct wr_plan *p);

/* Number `k` of the stream: a function of (seed, stream, k), never negative. */
double wr_plan_drawn(const struct wr_plan_draw *d, uint64_t seed,
                     uint64_t stream, uint64_t k);

/* The largest of `n` independent draws, by one of its distribution. */
double wr_plan_drawn_max(const struct wr_plan_draw *d, double n, uint64_t seed,
                         uint64_t stream, uint64_t k);

/* Its mean. */
double wr_plan_mean_max(const struct wr_plan_draw *d, double n);

/* --- what comes out --- */

/* What an accelerator does or waits for. */
enum wr_plan_part {
    WR_PLAN_COMPUTES,
    WR_PLAN_FOR_STORAGE, /* input is late, and the cores wait for bytes */
    WR_PLAN_FOR_CORES,   /* input is late, and the cores are what is short */
    WR_PLAN_FOR_OTHERS,  /* the slowest accelerator, and the all-reduce */
    WR_PLAN_FOR_SAVES,
    WR_PLAN_PARTS
};

struct wr_plan_epoch {
    double seconds;
    uint64_t steps;
    double samples_per_s;
    double part_s[WR_PLAN_PARTS]; /* mean of the accelerators: sum = seconds */
};

/* One stretch of a lane of the life of a batch. */
enum wr_plan_span_kind {
    WR_PLAN_SPAN_READ,
    WR_PLAN_SPAN_DECODE,
    WR_PLAN_SPAN_QUEUED, /* the batch is ready and waits */
    WR_PLAN_SPAN_COMPUTE,
    WR_PLAN_SPAN_WAIT, /* the lane's owner waits */
    WR_PLAN_SPAN_SAVE,
    WR_PLAN_SPAN_KINDS
};

struct wr_plan_span {
    double from_s, to_s;
    uint32_t lane; /* below `workers`: a worker; then the queue; then
                      accelerators; then saves */
    uint32_t batch;
    enum wr_plan_span_kind kind;
};

struct wr_plan_result {
    double seconds;       /* of the whole run */
    double first_batch_s; /* until the first batch was there */
    double samples_per_s; /* of all nodes; evaluations and saves included */
    double steady_per_s;  /* of the last epoch, its first steps left out */
    double utilization;   /* computing over all, of the whole run */
    double storage_busy, cores_busy; /* 0..1 */
    struct wr_plan_epoch *epochs;    /* owned */
    size_t epoch_count, epoch_cap;
    double part_s[WR_PLAN_PARTS]; /* of the whole run */
    double *step_s;               /* owned: each step from start to start */
    size_t step_count, step_cap;
    struct wr_plan_span *spans; /* owned: of the first batches */
    size_t span_count;
    double save_stall_s;           /* mean of one save; NaN: none */
    double save_durable_s;         /* until the slow tier has it, mean; NaN */
    uint64_t saves, saves_blocked; /* that waited for the one before */
    bool lumped;                   /* equal nodes or accelerators were one */
    char lumped_why[160];
};

void wr_plan_result_done(struct wr_plan_result *r);

#endif
