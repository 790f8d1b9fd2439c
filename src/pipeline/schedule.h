/* schedule.h - who does what next: the meeting point of workers and consumer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A batch is planned, its samples are handed out as tickets, read, decoded by
 * whichever worker is free, and settled strictly in batch order: only then
 * are the places of bad samples filled from the tail of the epoch, so that
 * the result does not depend on who was faster.
 *
 *   planned -> tickets -> (read) -> arrived -> (decode) -> done -> settled
 *           -> ready -> out (with the consumer) -> released
 *
 * One lock guards everything in struct wr_sched and all batches and epochs
 * below it; it is a leaf lock, held for microseconds, never over I/O or
 * decoding. Data behind a batch's pointer are written by the workers that
 * hold its tickets and read by the consumer after it is ready. */
#ifndef WR_PIPELINE_SCHEDULE_H
#define WR_PIPELINE_SCHEDULE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "pipeline/arena.h"
#include "pipeline/arrays.h"
#include "pipeline/badlist.h"
#include "pipeline/cache.h"
#include "pipeline/custom.h"
#include "pipeline/epoch.h"
#include "pipeline/tune.h"
#include "pipeline/unit.h"
#include "pipeline/varying.h"
#include "storage/storage.h"

enum wr_batch_phase {
    WR_BATCH_FREE,
    WR_BATCH_FILLING,
    WR_BATCH_JOINING, /* settled; its varying fields are being joined */
    WR_BATCH_READY,
    WR_BATCH_OUT,
};

struct wr_batch {
    weir_batch pub;         /* first: the consumer's pointer is this one */
    struct wr_sched *sched; /* borrowed */
    enum wr_batch_phase phase;
    struct wr_epoch *epoch; /* ref */
    uint64_t seq;           /* number over all epochs */
    uint64_t index;         /* in its epoch */
    uint32_t handed;        /* tickets given out */
    uint32_t planned;       /* tickets there are */
    uint32_t pending;       /* slots on their way */
    uint32_t valid;         /* slots that belong to this batch */
    bool padding;  /* valid is final; slots behind it are being padded */
    uint32_t pads; /* slots that the last round of padding tried to fill */
    uint64_t pads_tried; /* samples tried as padding, good and bad */
    uint64_t pads_bad;   /* tries since one was good */
    size_t taken_after;  /* entries of epoch->taken once this was settled */
    void *data;          /* of the pool of buffers, NULL: none yet; owned, where
                            batches carry no data */
    uint32_t *labels;    /* owned: cfg.batch entries, as the next two */
    uint64_t *ids, *lengths;
    weir_batch_field *fields;   /* owned: arrays.count entries */
    struct wr_varying *varying; /* owned: arrays.varying entries */
    struct wr_batch *next_join; /* the next one that is to be joined */
    struct wr_hole *holes;      /* owned, as their texts: until it is settled;
                                   of a custom one, until it is released */
    size_t hole_count, hole_cap;
};

/* One sample on its way. Records belong to a worker and are given back to it
 * by whoever decoded them. */
struct wr_task {
    struct wr_batch *batch; /* borrowed */
    uint32_t slot;
    uint64_t id;
    struct wr_read *reads; /* borrowed from the owner: of its parts */
    atomic_uint pending;   /* parts on their way, and one while they are being
                              started; whoever ends the last has the task */
    uint32_t label;
    struct wr_cache_hit hit;    /* from_cache: where it was found */
    bool from_cache, is_tensor; /* is_tensor: the bytes need no decoding */
    struct wr_worker *owner;    /* borrowed */
    int code;                   /* 0 or WEIR_E... */
    char *text;                 /* owned; of the error */
};

#define WR_PICK_MAX 8 /* samples taken at once when they are quick */

struct wr_ticket {
    struct wr_batch *batch; /* borrowed */
    uint32_t slot;
    bool fill;
    bool missed; /* neither a tier nor a unit has it: that is settled */
    uint64_t id;
};

/* Work by batch and slot, the lowest first; one place for each task there
 * is. */
struct wr_heap {
    struct wr_todo *at; /* owned */
    size_t count;
};

struct wr_todo {
    uint64_t seq; /* of the batch that it is for, or is wanted first by */
    uint32_t slot;
    union {
        struct wr_task *task; /* borrowed, as the next */
        struct wr_shared *unit;
    };
};

/* What a worker is to do next: samples, or a unit, or nothing. */
struct wr_picked {
    struct wr_task *tasks[WR_PICK_MAX]; /* one that is work, or several that are
                                           quick */
    unsigned count;
    struct wr_shared *unit; /* or NULL; the next piece is to be fed */
    bool
        parked; /* It is not storage alone that is to be waited for: others wait
                    for a buffer that the consumer may give back (while it
                    waits for a batch itself, only storage can help), or the
                    pipeline closes. */
};

struct wr_sched {
    weir_pipeline_config cfg;
    const weir_dataset *ds;         /* borrowed */
    const struct wr_custom *custom; /* borrowed; NULL: none */
    bool same_order;                /* every epoch has that of the first */
    struct wr_arrays arrays;        /* of a batch */
    struct wr_spares spares;        /* for what varies */
    bool wants_data;        /* batches carry more than the index knows */
    bool into_slot;         /* reads go straight into the slot */
    bool copies;            /* a sample is a small copy: nothing is decoded */
    bool large;             /* samples are so large that each is work */
    struct wr_cache *cache; /* borrowed; NULL: none */
    bool cache_decoded;     /* it keeps tensors */
    struct wr_units *units; /* borrowed */
    bool delivers;          /* samples need more than their bytes' arrival */

    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work;  /* workers: tickets, or something to decode */
    pthread_cond_t ready; /* consumer: a batch, or the end */
    unsigned idle;        /* workers waiting on `work` */

    struct wr_batch *batches; /* owned: `batch_count` objects */
    unsigned batch_count;
    struct wr_batch **by_seq; /* owned: ring of batch_count */
    void **buffers;           /* owned: all buffers */
    unsigned buffer_count;    /* there are now; room for buffer_most */
    unsigned buffer_most;
    struct wr_knobs knobs; /* in force: cfg has the most of each */
    void **free_buffers;   /* owned: stack of those without a batch */
    unsigned free_buffer_count;
    atomic_size_t ring_most; /* bytes of a worker's ring; of budget.c */

    struct wr_epoch *epoch; /* ref: the one being planned; NULL at the end */
    uint64_t epoch_batch;   /* next batch of it to plan */
    struct wr_batch *open;  /* batch whose tickets are given out; or NULL */
    uint64_t planned;       /* batches planned: next seq */
    uint64_t buffered;      /* batches from this seq on have no buffer yet */
    uint64_t settled;       /* batches below this seq are settled */
    uint64_t passed;        /* batches below this seq went to the consumer */
    uint64_t outstanding;   /* planned and not yet released */
    unsigned out;           /* batches with the consumer */
    struct wr_batch *joins; /* settled ones that nobody joins yet */
    unsigned joining;       /* those, and the ones that somebody does */
    uint64_t handed;        /* batches below this seq custom->settled had */
    bool handing;           /* it has one */
    uint64_t vanished;      /* batches that turned out to be empty */
    uint64_t wanted;        /* batches the consumer asked for */
    bool starved;           /* the consumer waits for a batch */

    struct wr_ticket *fills; /* owned: FIFO */
    size_t fill_head, fill_count, fill_cap;
    struct wr_heap arrived; /* tasks whose bytes are there */
    struct wr_heap packed;  /* units that are to be fed to their filters */

    struct wr_badlist bad;
    uint64_t epoch_bad; /* of the epoch being settled */
    char first_bad[sizeof(((weir_err *)NULL)->msg)]; /* why, of the first one */
    bool closing;
    weir_err failure; /* code != 0: what next() fails with */
};

/* cfg->threads workers with cfg->depth tasks each; `resume` may be NULL, its
 * list is taken over. Call wr_sched_done also after a failure. */
int wr_sched_init(struct wr_sched *s, const weir_dataset *ds,
                  const weir_pipeline_config *cfg, struct wr_state *resume,
                  weir_err *err);
void wr_sched_done(struct wr_sched *s);

/* Puts threads, depth and prefetch in force, none above cfg's; a prefetch that
 * was larger before stays. Fails when there is no memory for the batches. */
int wr_sched_set(struct wr_sched *s, const struct wr_knobs *knobs,
                 weir_err *err);

/* --- for workers --- */

/* Collects what others gave back to `w`, then up to w's spare records' number
 * of tickets into w->tickets; none when there is nothing to read now. Large
 * samples are taken one by one, because a read from the page cache is done by
 * who submits it: w->more says that there are others. When the pipeline closes,
 * those that it holds are dropped. */
void wr_sched_take(struct wr_sched *s, struct wr_worker *w);
/* Samples that are there and want decoding: those in w->arrived, or of reads
 * that are linked by next_waiting. */
void wr_sched_arrive(struct wr_sched *s, const struct wr_worker *w);
/* What is wanted first of all that can be done. */
void wr_sched_pick(struct wr_sched *s, const struct wr_worker *w,
                   struct wr_picked *ret);
/* Samples that are finished, well or badly; their records go back to their
 * owners. One that lacked resources is not bad: it ends the run. */
void wr_sched_finish(struct wr_sched *s, struct wr_task *const *tasks,
                     unsigned n);
/* Sleeps until there is something to decode, or to read by `w`, or `limit_ns`
 * (0: none) have passed; false when the pipeline closes. */
bool wr_sched_wait(struct wr_sched *s, struct wr_worker *w, uint64_t limit_ns);

/* Nobody waits for samples any more: the pipeline closes or has failed. */
bool wr_sched_is_over(struct wr_sched *s);

/* --- for the consumer --- */

int wr_sched_next(struct wr_sched *s, struct wr_batch **ret, weir_err *err);
void wr_sched_release(struct wr_sched *s, struct wr_batch *b);
/* Wakes everybody up for the end. */
void wr_sched_close(struct wr_sched *s);

/* --- between schedule.c and settle.c --- */

/* The batches and room for buffer_most buffers; wr_batches_done also after a
 * failure. */
int wr_batches_init(struct wr_sched *s, weir_err *err);
void wr_batches_done(struct wr_sched *s);
/* So many buffers; the consumer alone. */
int wr_batches_grow(struct wr_sched *s, unsigned want, weir_err *err);

/* --- between schedule.c, load.c and settle.c, with the lock held --- */

/* Joins the varying fields of batches that were settled; gives up the lock
 * meanwhile. */
void wr_sched_join(struct wr_sched *s);

/* Batches get buffers strictly in order: can this one have its own now? */
bool wr_sched_can_buffer(const struct wr_sched *s, const struct wr_batch *b);
void wr_sched_ensure_buffer(struct wr_sched *s, const struct wr_batch *b);
/* May this worker begin anything? */
bool wr_sched_is_active(const struct wr_sched *s, const struct wr_worker *w);
/* Is there an arrived sample that can go into its slot, or a unit to feed? */
bool wr_sched_has_arrival(const struct wr_sched *s);

void wr_sched_settle(struct wr_sched *s);
void wr_batch_forget_holes(struct wr_batch *b);
void wr_sched_give_buffer_back(struct wr_sched *s, struct wr_batch *b);
void wr_sched_wake(struct wr_sched *s);

#endif
