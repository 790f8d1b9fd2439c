/* patient_core.h - what the parts of a patient store share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_PATIENT_CORE_H
#define WR_CHECKPOINT_PATIENT_CORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/storage.h"
#include "storage/wrap.h"

#define WR_PATIENT_DIRECT 4u

struct wr_patient_worker; /* patient_errand.c */

/* Lives as long as one thread uses it. */
struct wr_patient {
    atomic_uint refs;
    struct wr_store *inner; /* owned: closed with the last reference */
    char *shown;            /* owned */
    uint64_t most_ns;
    atomic_uint_fast64_t answered_ns; /* when a request last was */
    atomic_uint_fast64_t silent_ns;   /* of what was given up; 0: nothing */
    atomic_uint left;                 /* threads that were left behind */

    pthread_mutex_t turn; /* one request at a time; guards the worker */
    struct wr_patient_worker *worker; /* owned; NULL: none yet */

    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    pthread_t direct[WR_PATIENT_DIRECT];
    unsigned direct_count;
};

/* An open file that a request may be stuck at. */
struct wr_patient_held {
    atomic_uint refs;
    struct wr_object *inner; /* owned: closed with the last reference */
};

struct wr_patient_store {
    struct wr_wrap_store wrap; /* its `inner` is the core's */
    struct wr_patient *core;   /* ref */
};

struct wr_patient_object {
    struct wr_wrap_object wrap;   /* its `inner` is that of `held` */
    struct wr_patient_held *held; /* ref */
};

struct wr_errand_entry {
    char *name; /* owned */
    enum wr_kind kind;
    uint64_t size;
};

/* One call with all that it needs: it may outlive the caller's. */
struct wr_errand {
    struct wr_wrap_call call;     /* what it points to is below */
    struct wr_patient_held *held; /* ref; NULL: not of a file */
    char *path, *to;              /* owned */
    uint8_t *bytes;               /* owned: read, or to be written */

    int64_t result;
    weir_err err;
    struct wr_stat stat;
    uint64_t space;
    bool opened;                   /* call.object is owned: not handed over */
    struct wr_errand_entry *found; /* owned */
    size_t count, cap;
};

/* --- patient_errand.c --- */

void wr_patient_unref(struct wr_patient *k);
void wr_patient_drop(struct wr_patient_held *h); /* takes NULL */
/* Whether this thread goes straight through. */
bool wr_patient_is_direct(struct wr_patient *k);
/* Whether requests are given up at once: one was in this call, or too many
 * threads were left behind. */
bool wr_patient_gave_up(const struct wr_patient *k);
/* A request is given up: the thread at it is left behind. */
void wr_patient_give_up(struct wr_patient *k, uint64_t begun_ns);
/* Until when one that began then is waited for, as things are. */
uint64_t wr_patient_until(const struct wr_patient *k, uint64_t begun_ns);
int wr_patient_say(const struct wr_patient *k, weir_err *err);

void wr_errand_free(struct wr_errand *e); /* takes NULL */
int wr_errand_no_memory(weir_err *err);
/* A copy of the call; NULL: memory is short. */
struct wr_errand *wr_errand_new(const struct wr_wrap_call *c);
/* Takes the errand (NULL: memory is short). On 0 it is answered and to be freed
 * by the caller; its own result is e->result. */
int wr_errand_send(struct wr_patient *k, struct wr_errand *e, weir_err *err);
/* Makes a call on the store inside, in this thread. `h` is for CLOSE. */
int64_t wr_patient_do(struct wr_wrap_call *c, struct wr_patient_held *h,
                      weir_err *err);
/* With the turn: nobody asks any more. */
void wr_patient_worker_end(struct wr_patient *k);

/* --- patient_queue.c --- */

int wr_patient_queue_open(struct wr_patient *k,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err);

#endif
