/* cluster_private.h - many nodes in virtual time: what the parts have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_CLUSTER_PRIVATE_H
#define WR_PLAN_CLUSTER_PRIVATE_H

#include "plan/cluster.h"
#include "plan/course.h"
#include "plan/share.h"

/* What happens at a moment, besides flows that end. */
enum wr_cluster_timer {
    WR_CLUSTER_MET,     /* the step is over on all nodes */
    WR_CLUSTER_GO,      /* the stall of a save is over */
    WR_CLUSTER_WRITTEN, /* the fast tier has a save */
    WR_CLUSTER_STARTED, /* the workers of an epoch are there */
    WR_CLUSTER_TIMERS
};

/* What a node's step asks of storage and cores, and at which rates it may. */
struct wr_cluster_load {
    double samples;           /* of a node's step */
    double alone, most, full; /* samples per second, as in share.h */
    double first_s;           /* until the first bytes are there */
    double cpu_s;             /* of all cores that decode, per step */
    double collate_s;         /* of the same, per step */
    double decode_tail_s;     /* decoding of what was read last */
    double core_part; /* of a wait for bytes: a record is held while it is
                          decoded, and so not asked for meanwhile */
    double cache_s;   /* to read the cached samples of a step */
    bool read_varies; /* nodes are not alike */
    bool cores_vary;
};

/* One of the nodes that are simulated. */
struct wr_cluster_node {
    uint64_t read;    /* steps whose bytes are there */
    double decoded_s; /* when the step before was */
    double cache_s;   /* the node's cache has given out all until then */
    bool reading;
};

struct wr_cluster_read {
    double begun_s, done_s;
};

/* Brings saves to the slow tier, one after the other. */
struct wr_cluster_writer {
    uint32_t device;
    uint64_t queued, done; /* saves */
};

struct wr_cluster {
    const struct wr_plan *p;
    const struct wr_plan_how *how;
    bool lump;
    struct wr_plan_course run;        /* in seconds */
    bool canceled;                    /* `stopped` said so */
    uint64_t work;                    /* since `stopped` was asked */
    double timers[WR_CLUSTER_TIMERS]; /* INFINITY: none */

    /* devices: those that are read, then the slow tier */
    struct wr_plan_fluid *devices; /* owned */
    uint32_t device_count, inputs;
    struct wr_plan_heap events; /* ends of flows; the kind is the stamp of the
                                   device, so that older ones are known */
    uint32_t *stamps;           /* owned: of each device */
    uint32_t *changed;          /* owned: devices whose event is to be made */
    uint32_t changed_count;
    bool *is_changed; /* owned: of each device */

    /* nodes */
    struct wr_cluster_load load;
    struct wr_cluster_node *nodes; /* owned */
    uint32_t node_count;
    double each;                   /* nodes that one stands for */
    struct wr_cluster_read *reads; /* owned: `ahead` of each node */
    uint64_t ahead;   /* steps that may be begun beyond those that are over */
    uint64_t buffers; /* steps that may be decoded beyond them */
    double *met_s;    /* owned: when the last `buffers` steps were over */
    double begun_from_s; /* no read is begun before; INFINITY: not known */

    /* steps */
    uint64_t total;
    bool in_step;
    uint32_t waiting;   /* nodes whose end of the step is not known */
    double latest_s;    /* the slowest accelerator has computed */
    double step_part_s; /* of the step, what is not for others */

    /* saves */
    struct wr_cluster_writer *writers; /* owned */
    uint32_t writer_count;
    double copy_s, fast_s, publish_s, write_bytes;
};

/* So much was done: is it to be stopped? About a microsecond each. */
bool wr_cluster_worked(struct wr_cluster *c, uint64_t work);

/* cluster_load.c */
void wr_cluster_load(const struct wr_plan *p, uint64_t ahead,
                     struct wr_cluster_load *ret);
/* Samples that a node reads for a step, and the seconds that its cores take. */
double wr_cluster_read_work(const struct wr_cluster *c, uint32_t node,
                            uint64_t step);
double wr_cluster_core_work(const struct wr_cluster *c, uint32_t node,
                            uint64_t step);
bool wr_cluster_is_cached(const struct wr_cluster *c, uint64_t step);
/* Of the slowest accelerator of a simulated node, and of the mean one. */
void wr_cluster_compute(struct wr_cluster *c, uint32_t node, double *ret_max_s,
                        double *ret_mean_s);

#endif
