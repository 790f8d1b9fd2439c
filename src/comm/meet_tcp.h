/* meet_tcp.h - ranks of several machines meet at a TCP port.
 * SPDX-License-Identifier: Apache-2.0
 *
 * wr_meet.path is one address of rank 0 or several: "HOST:PORT[,HOST:PORT...]".
 * An IPv6 address has brackets around it. Rank 0 listens at the first one, and
 * at no other where that can be. Anybody may connect there: the token decides who
 * is a rank. It is sent as it is, so whoever can read the network learns it.
 * A machine that died or lost its network is noticed within 10 s. */
#ifndef WR_COMM_MEET_TCP_H
#define WR_COMM_MEET_TCP_H

#include "comm/meet.h"

extern const struct wr_meet_ops wr_meet_tcp;

/* Listens at a port that the system chooses, for this machine alone or for all;
 * returns the descriptor (> 0). */
int wr_meet_tcp_listen(bool one_host, uint16_t *ret_port, weir_err *err);

#endif
