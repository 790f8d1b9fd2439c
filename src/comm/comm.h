/* comm.h - ranks: processes that do something together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A backend is one const table (struct wr_comm_ops) and one line in comm.c. All
 * ranks call the same functions in the same order; each returns when the others
 * have come, or fails after the timeout, or when a rank has died. After a
 * failure the comm is of no more use: every call fails with the same message. A
 * comm belongs to one thread.
 */
#ifndef WR_COMM_COMM_H
#define WR_COMM_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_comm_config {
    const char *url; /* "local:PATH", "local:@NAME", "tcp:HOST:PORT", "mpi:",
                            as wr_launch_find says it; NULL with world 1 */
    const char *channel; /* several comms of the same ranks: each its name */
    uint32_t rank, world;
    uint64_t timeout_ms; /* of each call, and of meeting */
};

struct wr_comm_part {
    const void *bytes;
    size_t len;
};

/* The beginning of a star (star.h). */
struct wr_comm {
    const struct wr_comm_ops *ops;
    const void *module; /* borrowed: of the backend */
    uint32_t rank, world;
    uint64_t timeout_ms;
    bool failed; /* for good */
    weir_err failure;
};

/* A part of a file that all ranks read. */
struct wr_comm_read {
    const char *path;
    uint64_t offset;
    size_t len;
    uint32_t readers; /* ranks that access the storage; 0: MPI decides */
};

struct wr_comm_ops {
    const char *name; /* the URL's scheme */
    const char *help; /* one line */
    /* meets the others. */
    int (*open)(const char *rest, const struct wr_comm_config *cfg,
                struct wr_comm **ret, weir_err *err);
    /* optional: `len` bytes of `root` into the `buf` of all others; NULL: over
     * the wires. */
    int (*share)(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                 weir_err *err);
    /* optional: reads a file together. 1: that failed, and the comm is still
     * good; `err` says why. */
    int (*read_all)(struct wr_comm *c, const struct wr_comm_read *what,
                    void *buf, weir_err *err);
};

/* At most so many bytes in one part. */
#define WR_COMM_MAX ((size_t)256 << 20)

/* World 1 needs no backend: all calls return at once. */
int wr_comm_open(const struct wr_comm_config *cfg, struct wr_comm **ret,
                 weir_err *err);
void wr_comm_close(struct wr_comm *c); /* takes NULL */

/* Each rank gives `len` bytes (may differ, may be 0); rank 0 gets all of them, by
 * rank. *ret is fresh memory of rank 0 (one free() for the array and the bytes),
 * NULL elsewhere. Others than rank 0 return when their bytes are on the way. */
int wr_comm_gather(struct wr_comm *c, const void *bytes, size_t len,
                   struct wr_comm_part **ret, weir_err *err);

/* Rank 0's bytes to all; *ret is fresh memory (free()) on every rank, NUL behind
 * its end. */
int wr_comm_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                      char **ret, size_t *ret_len, weir_err *err);
/* For who waits for something else than a call: fails when a rank has died (for
 * rank 0 any, for the others rank 0). Not together with the others. */
int wr_comm_alive(struct wr_comm *c, weir_err *err);

/* Every rank says how it went (`code` 0 or WEIR_E..., `mine` its message): 0
 * when all went well, else on every rank the code and message of the lowest
 * rank that failed, "rank 3: ..." in front of it (world > 1). The comm itself
 * stays good, unless c->failed says that it is the one that failed. */
int wr_comm_agree(struct wr_comm *c, int code, const weir_err *mine,
                  weir_err *err);

/* The smallest of the ranks' values, on every rank. */
int wr_comm_min(struct wr_comm *c, uint64_t value, uint64_t *ret,
                weir_err *err);

/* The largest of the values of the ranks that `in` marks, on each of them; see
 * wr_star_max. wr_barrier_max does this faster. */
int wr_comm_max(struct wr_comm *c, const bool *in, uint64_t value,
                uint64_t *ret, weir_err *err);

/* The bytes at `buf` of rank `root` are copied to `buf` of all other ranks. All
 * give the same `len`, which may be of any size. Until the process ends after a
 * failure MPI may still write to `buf`: then do not free it. */
int wr_comm_share(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                  weir_err *err);

/* All ranks read the same bytes of a file by MPI-IO (MPI_File_read_at_all).
 * A file that cannot be read is an error on all ranks, and the comm stays good;
 * so it does with WEIR_ENOTSUP, where the ranks did not meet by MPI. As for `buf`
 * and other failures see wr_comm_share. */
int wr_comm_read_all(struct wr_comm *c, const struct wr_comm_read *what,
                     void *buf, weir_err *err);

/* Something else than a call failed, for good: the others are told why, and all
 * calls fail with it from now on. */
void wr_comm_give_up(struct wr_comm *c, const weir_err *why);

extern const struct wr_comm_ops wr_comm_local;
extern const struct wr_comm_ops wr_comm_tcp;
extern const struct wr_comm_ops wr_comm_mpi;

#endif
