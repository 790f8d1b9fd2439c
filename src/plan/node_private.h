/* node_private.h - one node in virtual time: what its parts have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_NODE_PRIVATE_H
#define WR_PLAN_NODE_PRIVATE_H

#include "plan/course.h"
#include "plan/node.h"
#include "plan/share.h"

/* What happens at a moment. */
enum wr_sim_event {
    WR_SIM_OPENED,  /* the metadata server has opened the file of a task */
    WR_SIM_READ,    /* the bytes of a task are there */
    WR_SIM_STEP,    /* an accelerator has computed */
    WR_SIM_REDUCED, /* the all-reduce is over */
    WR_SIM_STARTED, /* the workers of an epoch are there */
    WR_SIM_COPIED,  /* the snapshot of a save */
    WR_SIM_MOVED,   /* a part of a save is where a mover brings it */
};

/* Streams of random numbers. */
enum wr_sim_stream {
    WR_SIM_BYTES = 1,
    WR_SIM_CPU,
    WR_SIM_COLLATE,
    WR_SIM_COMPUTE,
    WR_SIM_REQUEST,
    WR_SIM_ORDER,
    WR_SIM_CACHED,
};

/* One sample on its way. */
struct wr_sim_task {
    uint64_t batch;
    uint64_t sample; /* position over all epochs */
    double bytes;
    bool decoded; /* came from a cache of tensors */
};

struct wr_sim_worker {
    uint32_t *spare;      /* owned: tasks that it may use */
    uint32_t spare_count; /* of `depth` */
    uint32_t reads;       /* in flight */
    bool busy;            /* it decodes, or collates */
    bool collates;
    uint32_t task;       /* what it decodes */
    uint64_t batch;      /* what it works on */
    uint64_t unit;       /* that it asked for last, from 1 on; TOGETHER: that of
                            the first worker is everybody's */
    double unit_ns;      /* when it is there */
    uint64_t next_batch; /* IN_TURNS: whose samples it takes */
    uint32_t next_slot;
};

/* A batch between its beginning and its end. */
struct wr_sim_batch {
    uint64_t seq;
    uint32_t pending; /* samples that are not decoded */
    bool ready;
    double ready_ns;
};

enum wr_sim_doing { WR_SIM_WAITS, WR_SIM_COMPUTES, WR_SIM_MEETS, WR_SIM_SAVES };

/* Brings saves to a tier, one after the other. */
struct wr_sim_mover {
    struct wr_device *from; /* borrowed; NULL: memory */
    struct wr_device *to;   /* borrowed; NULL: there is no such tier */
    bool busy;
    uint64_t next;    /* save */
    double asked;     /* bytes of it */
    uint32_t pending; /* chunks on their way */
    unsigned acts;    /* of publishing it */
};

enum { WR_SIM_WRITER, WR_SIM_DRAINER, WR_SIM_MOVERS };

struct wr_sim {
    const struct wr_plan *p;
    const struct wr_plan_how *how;
    struct wr_plan_course run; /* in ns */
    struct wr_plan_heap events;

    /* storage */
    struct wr_device *device, *cache, *fast, *slow; /* owned; slow may be
                                                       `device` */
    double client_free_ns; /* the node's link has sent all until then */
    double opens_free_ns;
    uint32_t reads; /* in flight */

    /* the loader */
    struct wr_plan_share cores;
    struct wr_sim_worker *workers; /* owned */
    struct wr_sim_task *tasks;     /* owned: workers * depth */
    uint32_t *spare;               /* owned: of all workers */
    struct wr_plan_heap *arrived;  /* owned: one, or one a worker */
    uint32_t idle;                 /* workers that do not decode */
    uint64_t open_batch;           /* TOGETHER: whose samples are next */
    uint32_t open_slot;
    uint64_t objects, buffers; /* batches begun, decoded into, beyond those
                                  released */
    struct wr_sim_batch *ring; /* owned */
    uint64_t ring_count;
    uint64_t total; /* batches of the whole run */
    uint64_t wanted, handed, released;
    double epoch_from_ns; /* APART: no batch of this epoch is begun before */

    /* accelerators */
    uint32_t doing[WR_SIM_SAVES + 1]; /* accelerators */
    uint8_t *accel;                   /* owned: enum wr_sim_doing of each */
    uint32_t met;
    double hand_ns; /* whoever hands batches over has a core again */

    /* saves */
    struct wr_sim_mover movers[WR_SIM_MOVERS];
    uint64_t save_ready; /* that the writer may take */

    /* what is noted */
    double reading_ns;
    size_t span_cap;
    struct wr_plan_span *open_spans; /* owned: of each lane */
    uint32_t lanes;
    double queue_ns; /* the batch before left the queue */
};

/* Puts an event on the list. */
void wr_sim_at(struct wr_sim *s, double at_ns, enum wr_sim_event kind,
               uint32_t id);
struct wr_sim_batch *wr_sim_batch(struct wr_sim *s, uint64_t seq);

/* node_feed.c */
void wr_sim_opened(struct wr_sim *s, uint32_t task);
bool wr_sim_feed_init(struct wr_sim *s);
void wr_sim_feed_done(struct wr_sim *s);
/* Everything that can be begun now is. */
void wr_sim_feed(struct wr_sim *s);
void wr_sim_arrived(struct wr_sim *s, uint32_t task);
/* A worker is done with what it had a core for. */
void wr_sim_worked(struct wr_sim *s, uint32_t worker);
/* Whether what the next batch lacks is a core. */
bool wr_sim_lacks_cores(const struct wr_sim *s);

/* node.c */
void wr_sim_life_worker(struct wr_sim *s, uint32_t worker);

#endif
