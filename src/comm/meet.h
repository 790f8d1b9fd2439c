/* meet.h - how ranks of one machine find each other at a socket.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 listens at a path; the others connect and say who they are. When all
 * have come the path is removed and each is welcomed. */
#ifndef WR_COMM_MEET_H
#define WR_COMM_MEET_H

#include <stdint.h>

#include "comm/wire.h"

#define WR_MEET_CHANNEL 64 /* bytes of a channel's name, NUL included */

struct wr_meet {
    const char *path; /* of the socket */
    const char *channel;
    uint32_t rank, world;
    uint64_t timeout_ms;
};

/* Rank 0: wires of the ranks 1 to world - 1, all of them with fd -1. After a
 * failure those that came are to be given up. */
int wr_meet_host(const struct wr_meet *m, struct wr_wire *wires, weir_err *err);

/* Any other rank: the wire to rank 0. */
int wr_meet_join(const struct wr_meet *m, struct wr_wire *wire, weir_err *err);

#endif
