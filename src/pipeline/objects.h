/* objects.h - objects that hold many samples, opened once and kept open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PIPELINE_OBJECTS_H
#define WR_PIPELINE_OBJECTS_H

#include <pthread.h>

#include "format/format.h"

struct wr_objects {
    const weir_dataset *ds;  /* borrowed */
    pthread_mutex_t lock;    /* guards the rest; a leaf lock */
    struct wr_object **open; /* owned: by object number */
    uint64_t count;
    bool full; /* no more are kept open: descriptors are short */
};

int wr_objects_init(struct wr_objects *o, const weir_dataset *ds,
                    weir_err *err);
void wr_objects_done(struct wr_objects *o);

/* The open object (borrowed), or NULL: read it by path. `path` is its path. */
struct wr_object *wr_objects_get(struct wr_objects *o, uint64_t object,
                                 const char *path);

#endif
