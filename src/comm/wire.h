/* wire.h - framed messages on connected sockets, many at once, with a deadline.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A frame is a head and a body. Each has the number of the call that it belongs
 * to, so that ranks that do not do the same are noticed. What comes in is
 * checked before memory is taken for it. */
#ifndef WR_COMM_WIRE_H
#define WR_COMM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_wire_kind {
    WR_WIRE_WELCOME = 1, /* the answer to a hello: all have come */
    WR_WIRE_PART,
    WR_WIRE_BROADCAST,
    WR_WIRE_FAILURE, /* why the other end gave up */
    WR_WIRE_MAX,
    WR_WIRE_SHARE,
    WR_WIRE_KINDS,
};

struct wr_wire_head {
    uint32_t magic, kind;
    uint64_t call, len;
};

/* One connection. */
struct wr_wire {
    int fd;        /* owned; -1: none. Does not block */
    uint32_t rank; /* who is at the other end */
    bool gone;     /* the other end was closed or died */
    bool skip;     /* takes no part in the next wr_wire_run */
    /* the frame that is under way */
    bool complete, sending;
    size_t done; /* bytes, head included */
    struct wr_wire_head head;
    char *body; /* owned: what came in; NUL behind its end */
};

/* What is to be sent to, or received from, each of some wires. */
struct wr_wire_job {
    bool send;
    enum wr_wire_kind kind;
    uint64_t call;
    const void *bytes; /* with send */
    size_t len;
    uint64_t timeout_ms;
};

/* When a call that begins now must have ended, by wr_clock_ns(). */
uint64_t wr_wire_deadline(uint64_t timeout_ms);
/* For poll(): what is left until then, rounded up; 0: nothing. */
int wr_wire_left_ms(uint64_t deadline_ns);

/* Adds what is there to the *have bytes at `to`, without waiting: 1 when `upto`
 * are there, 0 when not yet, -1 when the other end is gone. */
int wr_wire_pull(int fd, void *to, size_t *have, size_t upto);

/* Returns when the frames of all wires are sent or there (in `body`, which
 * wr_wire_take takes). Fails when one is gone, gave up, does something else, or
 * is late. */
int wr_wire_run(struct wr_wire *wires, size_t count,
                const struct wr_wire_job *job, weir_err *err);
/* Whoever calls frees it. */
char *wr_wire_take(struct wr_wire *w, size_t *ret_len);

/* Fails when the other end was closed or died, with its reason if it gave one.
 * Takes nothing in while the other end is there. */
int wr_wire_alive(struct wr_wire *w, weir_err *err);
/* Tells the other end why, if that goes without waiting, and closes. */
void wr_wire_give_up(struct wr_wire *w, const weir_err *why);
void wr_wire_close(struct wr_wire *w);

#endif
