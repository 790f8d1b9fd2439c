/* objects.h - objects that hold many samples, opened once and kept open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PIPELINE_OBJECTS_H
#define WR_PIPELINE_OBJECTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/format.h"

struct wr_objects {
    const weir_dataset *ds;  /* borrowed */
    atomic_uchar *looked;    /* owned: by object number, what wr_objects_same
                               found; NULL: there is no cache */
    pthread_mutex_t lock;    /* guards the rest; a leaf lock */
    struct wr_object **open; /* owned: by object number */
    uint64_t count;
    bool full; /* no more are kept open: descriptors are short */
};

/* cached: wr_objects_same will be asked. */
int wr_objects_init(struct wr_objects *o, const weir_dataset *ds, bool cached,
                    weir_err *err);
void wr_objects_done(struct wr_objects *o);

/* Is it still the object that was indexed? It may have changed since, and what
 * a tier kept of it does not show that: so each is looked at (one stat) before
 * that is used, once, as a stat per sample would cost what the tier saves. Any
 * thread. */
bool wr_objects_same(struct wr_objects *o, uint64_t object, const char *path);

/* The open object (borrowed), or NULL: read it by path. `path` is its path. */
struct wr_object *wr_objects_get(struct wr_objects *o, uint64_t object,
                                 const char *path);

#endif
