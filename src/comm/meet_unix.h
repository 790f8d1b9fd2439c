/* meet_unix.h - ranks of one machine meet at a Unix socket.
 * SPDX-License-Identifier: Apache-2.0
 *
 * wr_meet.path is the path of the socket. Only processes of the same user may
 * come. */
#ifndef WR_COMM_MEET_UNIX_H
#define WR_COMM_MEET_UNIX_H

#include "comm/meet.h"

extern const struct wr_meet_ops wr_meet_unix;

#endif
