/* inflated.h - packed objects, whole in memory while samples are taken.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inside gzip nothing can be read without all that lies before it. So such an
 * object is inflated once and kept until others need the room. */
#ifndef WR_CONVERT_INFLATED_H
#define WR_CONVERT_INFLATED_H

#include <pthread.h>

#include "format/format.h"

/* Kept at most, except that the objects in use are kept in any case. */
#define WR_INFLATED_BYTES (UINT64_C(1) << 30)

struct wr_inflated_object {
    uint64_t unit;
    unsigned users; /* 0: may go */
    uint64_t used;  /* when it was used last */
    bool ready;     /* else a thread is at it */
    uint8_t *bytes; /* owned; NULL when it failed */
    uint64_t len;
    weir_err failed; /* why */
};

struct wr_inflated {
    const weir_dataset *ds; /* borrowed */
    pthread_mutex_t lock;   /* guards the rest; a leaf lock */
    pthread_cond_t ready;
    struct wr_inflated_object **list; /* owned */
    size_t count, cap;
    uint64_t bytes, clock;
};

int wr_inflated_init(struct wr_inflated *z, const weir_dataset *ds,
                     weir_err *err);
void wr_inflated_done(struct wr_inflated *z);

/* Samples in any order are only possible when all fits. */
int wr_inflated_check(const weir_dataset *ds, bool shuffle, weir_err *err);

/* The unit, inflated (by this thread, or by one that was first); to be given
 * back. One that failed is not tried again while it is known. */
int wr_inflated_get(struct wr_inflated *z, uint64_t unit,
                    struct wr_inflated_object **ret, weir_err *err);
void wr_inflated_put(struct wr_inflated *z, struct wr_inflated_object *o);

#endif
