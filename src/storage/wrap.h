/* wrap.h - what stores around another store have in common.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wrapping store changes some of what goes in and out, and lets all else pass.
 * Its calls come as one struct to one hook, which makes them on the store inside
 * or not. Its requests are copied: the store inside sees the copy, and the
 * original is handed over when the copy is done and its time has come. */
#ifndef WR_STORAGE_WRAP_H
#define WR_STORAGE_WRAP_H

#include "base/clock.h"
#include "storage/storage.h"

struct wr_wrap_hooks;

/* First members of every wrapping store and its objects. */
struct wr_wrap_store {
    struct wr_store store;
    struct wr_store *inner; /* owned, unless its close says otherwise */
    const struct wr_wrap_hooks *hooks;
};

struct wr_wrap_object {
    struct wr_object object;
    struct wr_object *inner;  /* owned */
    struct wr_wrap_store *st; /* borrowed: its store */
    const char *path;         /* borrowed: lies behind the object */
    enum wr_open_mode mode;
};

/* Cuts "PARAMETER:URL", what stands behind "NAME:", at its first colon.
 * *ret_parameter is fresh memory, *ret_url lies in `rest`. `usage` is for the
 * message, "emu:PROFILE:PATH". */
int wr_wrap_split(const char *rest, const char *usage, char **ret_parameter,
                  const char **ret_url, weir_err *err);

/* --- calls --- */

enum wr_wrap_op {
    WR_WRAP_STAT,
    WR_WRAP_LIST,
    WR_WRAP_OPEN,
    WR_WRAP_CHANGE,
    WR_WRAP_SPACE,
    WR_WRAP_FORGETS,
    WR_WRAP_READ, /* from here on of an object */
    WR_WRAP_WRITE,
    WR_WRAP_SYNC,
    WR_WRAP_LOCK,
    WR_WRAP_LOCKED,
    WR_WRAP_RESIZE,
    WR_WRAP_CLOSE,
};

/* One call that a wrapping store is asked for, and where its results go. */
struct wr_wrap_call {
    enum wr_wrap_op op;
    const char *path;         /* of the entry or the object; "": the store */
    struct wr_wrap_object *o; /* the wrapping one, for OPEN the coming one */
    struct wr_store *inner;   /* what it is made on */
    struct wr_object *object; /* or this; the result of OPEN */
    const char *to;           /* CHANGE */
    enum wr_change change;    /* CHANGE */
    enum wr_open_mode mode;   /* OPEN */
    wr_list_fn fn;            /* LIST */
    void *arg;                /* LIST */
    void *buf;                /* READ */
    const void *bytes;        /* WRITE */
    size_t len;               /* READ, WRITE */
    uint64_t offset;          /* READ, WRITE */
    uint64_t size;            /* RESIZE */
    bool sync;                /* CLOSE */
    struct wr_stat *ret_stat; /* STAT */
    uint64_t *ret_bytes;      /* SPACE */
};

/* Makes it on the store inside. FORGETS returns 0 or 1, others what the ops
 * table says. */
int64_t wr_wrap_do(struct wr_wrap_call *c, weir_err *err);

/* --- requests --- */

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

/* --- what a wrapping store does to both --- */

struct wr_wrap_hooks {
    /* required: makes a call, which it may change, or does not; returns what
     * the call does. An object is freed after its CLOSE. */
    int64_t (*call)(struct wr_store *st, struct wr_wrap_call *c, weir_err *err);
    size_t object_bytes; /* of its own kind of object, struct wr_wrap_object
                            first, the rest zero until OPEN */

    /* For wr_wrap_queue_open. */
    size_t io_bytes; /* of its own kind of request, struct wr_wrap_io first */
    bool lazy;       /* the store inside may begin late (wr_queue_config) */
    /* optional: io->inner is a copy of the caller's and may be changed. False:
     * it is not to be done inside, io->inner has its result. */
    bool (*begin)(struct wr_store *st, struct wr_wrap_io *io, uint64_t now_ns);
    /* optional: the caller's has the result, which may be changed; then it is
     * handed over. */
    void (*end)(struct wr_wrap_io *io);
};

/* For the ops table of every wrapping store: all but open and close, and the
 * queue where it has one of its own. A local path passes without a call. */
int wr_wrap_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                 weir_err *err);
int wr_wrap_list(struct wr_store *st, const char *path, wr_list_fn fn,
                 void *arg, weir_err *err);
int wr_wrap_object_open(struct wr_store *st, const char *path,
                        enum wr_open_mode mode, struct wr_object **ret,
                        weir_err *err);
int wr_wrap_change(struct wr_store *st, enum wr_change what, const char *path,
                   const char *to, weir_err *err);
int wr_wrap_queue_open(struct wr_store *st, const struct wr_queue_config *cfg,
                       struct wr_queue **ret, weir_err *err);
int wr_wrap_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err);
bool wr_wrap_forgets(struct wr_store *st);
bool wr_wrap_local_path(struct wr_store *st, const char *path, char *buf,
                        size_t cap);

#endif
