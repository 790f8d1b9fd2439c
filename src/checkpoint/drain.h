/* drain.h - what the thread that drains and its passes share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is to be done stands in the folders; nothing here has to survive. A pass
 * looks at the fast tier and works off what it finds: copies, the oldest first,
 * and copies that are to be read back (weir_ckpt_config.verify). A step that
 * waits to be copied goes before one that waits to be read back, so that a burst
 * of saves gets to the slow tier first; but only one step may wait to be read
 * back meanwhile, because until then it takes up room on the fast tier. After
 * each step retention makes room.
 *
 * What fails is left for the next pass and the others go on. Passes follow after
 * 1, 2, 4, ... 60 seconds then, or when a step is saved. A copy on the fast tier
 * that is damaged will not get better: it is given up until it is saved anew, and
 * marked (WR_MARK_DAMAGED), so that the trainer knows, which may be another
 * process, and does not wait for it. Who takes the mark away, because it could be
 * read after all, has it tried once more. */
#ifndef WR_CHECKPOINT_DRAIN_H
#define WR_CHECKPOINT_DRAIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/store.h"
#include "checkpoint/strand.h"

struct wr_drain_job; /* one step and what is to be done about it */

/* A step that waits to be copied. */
struct wr_drain_wait {
    uint64_t step, bytes;
    bool unseen; /* published since the last look */
};

struct wr_drainer {
    weir_ckpt *c; /* borrowed; a reference when it is left behind */
    bool threaded;
    struct wr_strand strand;

    /* of the thread that drains */
    struct wr_drain_job *jobs; /* owned; rising */
    size_t count, cap;
    uint64_t *settled; /* owned; rising: drained, and nothing is left to be done
                          about them; of a near tier of this writer */
    size_t settled_count, settled_cap;
    bool due;          /* retention */
    bool stale;        /* the fast tier: what it has alone is not drained */
    uint64_t done;     /* copies made and read back */
    uint64_t at_bytes; /* of the one that it is at */
    uint64_t said_ns;  /* when that was said; 0: not in this pass */
    int told; /* code of the last trouble, 0 since something went well */

    pthread_mutex_t lock; /* guards what is below; weir_ckpt.lock is never
                             taken while it is held */
    pthread_cond_t changed;
    bool stop, woken, busy;
    bool anew;       /* no step counts as settled at the next look */
    bool left;       /* the store was closed and did not wait any longer */
    bool over;       /* fenced off: the thread has ended */
    unsigned pauses; /* callers that keep it from working */
    struct wr_drain_wait *waiting; /* owned: steps to be copied */
    size_t waiting_count, waiting_cap;
    uint64_t at;     /* the step that is being copied; WR_STEP_NONE */
    weir_err result; /* of the last pass; code 0: it went well */
    uint64_t bytes_done, bytes_total; /* of this pass */
    uint64_t seen_ns;   /* when the far tier was last seen to answer, ... */
    uint64_t seen_work; /* and what it had done by then */
};

/* With the lock held: one more step waits. False: out of memory. */
bool wr_drainer_put(struct wr_drainer *d, uint64_t step, uint64_t bytes,
                    bool unseen);

/* The step is drained, and needs no look any more; only where this process knows
 * of every change of the near tier. */
void wr_drainer_settle(struct wr_drainer *d, uint64_t step);
/* Those that are still there stay settled, but for steps that were published since
 * the last look. With the lock held. */
void wr_drainer_keep_settled(struct wr_drainer *d, const uint64_t *steps,
                             size_t count);
bool wr_drainer_is_settled(const struct wr_drainer *d, uint64_t step);

/* Works off all that is there. Returns the first error; all that will be tried
 * again are in the log, and told when there is a thread. */
int wr_drain_pass(struct wr_drainer *d, weir_err *err);

#endif
