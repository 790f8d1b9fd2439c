/* rank.h - the place of a process in a job, as its environment says it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Asked by a traced process, and by the collector of one that it only sees. */
#ifndef WR_TRACE_PRELOAD_RANK_H
#define WR_TRACE_PRELOAD_RANK_H

#include <stddef.h>
#include <stdint.h>

/* `environment`: "NAME=value" with a NUL behind each, len bytes, as
 * /proc/PID/environ has it; NULL: that of this process. -1: none. */
void wr_rank_of(const char *environment, size_t len, int32_t *ret_rank,
                int32_t *ret_world);

#endif
