/* meet.h - how ranks find each other at a listening socket.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 listens; the others connect and say which rank they are. When all have
 * come rank 0 stops listening and welcomes them. Where that is (a path, an
 * address) is a const table, struct wr_meet_ops. */
#ifndef WR_COMM_MEET_H
#define WR_COMM_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/wire.h"

#define WR_MEET_CHANNEL 64 /* bytes of a channel's name, NUL included */
#define WR_MEET_TOKEN   32 /* bytes */

struct wr_meet {
    const struct wr_meet_ops *ops;
    const char *path; /* of the socket; or addresses: see the ops */
    const char *channel;
    const unsigned char *token; /* of WR_MEET_TOKEN bytes, which all ranks know
                                   and strangers do not; NULL: all zeros */
    uint32_t rank, world;
    uint64_t timeout_ms;
    int listener;     /* rank 0, if > 0: listens already; closed by the call */
    uint32_t attempt; /* set by wr_meet_join: counts the calls of connect */
};

struct wr_meet_ops {
    /* optional: whether the path can be used at all. */
    int (*check)(const struct wr_meet *m, weir_err *err);
    /* required, rank 0: a descriptor that listens and does not block. */
    int (*listen)(const struct wr_meet *m, uint64_t deadline_ns, weir_err *err);
    /* required, the others: 0 and a descriptor that does not block; 1 if nobody
     * listens (yet). */
    int (*connect)(const struct wr_meet *m, uint64_t deadline_ns, int *ret_fd,
                   weir_err *err);
    /* optional: whether the process at the other end may come. */
    bool (*is_ours)(int fd);
    /* optional: sets up a connection that was accepted. */
    void (*tune)(int fd);
    /* optional: rank 0 stops listening. */
    void (*leave)(const struct wr_meet *m);
};

/* Rank 0: wires of the ranks 1 to world - 1, all of them with fd -1. After a
 * failure those that came are to be given up. */
int wr_meet_host(const struct wr_meet *m, struct wr_wire *wires, weir_err *err);

/* Any other rank: the wire to rank 0. */
int wr_meet_join(const struct wr_meet *m, struct wr_wire *wire, weir_err *err);

/* Of one machine, at a Unix socket: wr_meet.path is the path of the socket. Only
 * processes of the same user may come. */
extern const struct wr_meet_ops wr_meet_unix;

/* Of several machines, at a TCP port: wr_meet.path is one address of rank 0 or
 * several, "HOST:PORT[,HOST:PORT...]". An IPv6 address has brackets around it.
 * Rank 0 listens at the first one, and at no other where that can be. Anybody may
 * connect there: the token decides who is a rank. It is sent as it is, so whoever
 * can read the network learns it. A machine that died or lost its network is
 * noticed within 10 s. */
extern const struct wr_meet_ops wr_meet_tcp;

/* Listens at a port that the system chooses, for this machine alone or for all;
 * returns the descriptor (> 0). */
int wr_meet_tcp_listen(bool one_host, uint16_t *ret_port, weir_err *err);

#endif
