/* lax.h - stores that break one rule of a safe save each.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wrapped around a good store they make of the product what it would be without
 * the step that is left out. A test of power cuts that does not notice is no
 * test. */
#ifndef LAX_H
#define LAX_H

#include <stdio.h>

#include "storage/storage.h"

enum lax_flags {
    LAX_NO_FSYNC = 1,      /* files are not synced */
    LAX_NO_DIRSYNC = 2,    /* folders are not synced */
    LAX_NO_ROOTSYNC = 4,   /* the store's own folder is not synced, nor that of
                              its writer */
    LAX_NO_TMPDIRSYNC = 8, /* tmp-* folders are not synced */
    LAX_NO_RENAME = 16,    /* steps are written where they will be seen */
    LAX_RETRY_SYNC = 32,   /* a sync that fails is tried again; for media
                              whose syncs fail */
};

struct lax_variant {
    const char *name;
    unsigned flags;
};

/* Those that any medium shows, one flag each; the last one has no name. */
extern const struct lax_variant lax_variants[];

/* Takes `inner`, which may be of any backend that opens objects for writing. */
struct wr_store *lax_wrap(struct wr_store *inner, unsigned flags);

/* Opens a folder as a tier is, made when it is missing, and wraps it unless
 * `flags` is 0. NULL: it says why to `out`. */
struct wr_store *lax_folder(const char *path, unsigned flags, FILE *out);

#endif
