/* wrap.h - what stores around another store have in common.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wrapping store changes some of what goes in and out, and lets all else pass.
 * Its requests are copied: the store inside sees the copy, and the original is
 * handed over when the copy is done and its time has come. */
#ifndef WR_STORAGE_WRAP_H
#define WR_STORAGE_WRAP_H

#include "base/due.h"
#include "storage/storage.h"

/* First members of every wrapping store and its objects. */
struct wr_wrap_store {
    struct wr_store store;
    struct wr_store *inner; /* owned */
};

struct wr_wrap_object {
    struct wr_object object;
    struct wr_object *inner; /* owned */
};

/* Cuts "PARAMETER:URL", what stands behind "NAME:", at its first colon.
 * *ret_parameter is fresh memory, *ret_url lies in `rest`. `usage` is for the
 * message, "emu:PROFILE:PATH". */
int wr_wrap_split(const char *rest, const char *usage, char **ret_parameter,
                  const char **ret_url, weir_err *err);

/* A request on its way. */
struct wr_wrap_io {
    struct wr_io inner;  /* what the store inside sees; first: its queue knows
                           only this */
    struct wr_due due;   /* not handed over before; 0 unless `begin` sets it */
    struct wr_io *outer; /* borrowed: the caller's */
    bool arrived;        /* the queue inside is done with it */
    bool is_due;
    struct wr_wrap_io *next;
};

/* What a wrapping store does to requests. */
struct wr_wrap_hooks {
    size_t io_bytes; /* of its own kind of request, struct wr_wrap_io first */
    bool lazy;       /* the store inside may begin late (wr_queue_config) */
    /* io->inner is a copy of the caller's and may be changed. False: it is not
     * to be done inside, io->inner has its result. */
    bool (*begin)(struct wr_store *st, struct wr_wrap_io *io, uint64_t now_ns);
    /* optional: the caller's has the result, which may be changed; then it is
     * handed over. */
    void (*end)(struct wr_wrap_io *io);
};

/* For an ops table's queue_open. */
int wr_wrap_queue_open(struct wr_store *st, const struct wr_queue_config *cfg,
                       const struct wr_wrap_hooks *hooks, struct wr_queue **ret,
                       weir_err *err);

/* For the ops table: these pass through. */
bool wr_wrap_forgets(struct wr_store *st);
bool wr_wrap_local_path(struct wr_store *st, const char *path, char *buf,
                        size_t cap);

#endif
