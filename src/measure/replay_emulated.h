/* replay_emulated.h - a replay on an emulated device, in virtual time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is read, written or waited for: threads, page cache and device are
 * computed. What a mount of the device (mount/mount.h) asks it for, this asks for:
 * pages with read-ahead, the opening of a file together with its first read,
 * writes and syncs as they come; to look a name up costs nothing. */
#ifndef WR_MEASURE_REPLAY_EMULATED_H
#define WR_MEASURE_REPLAY_EMULATED_H

#include "measure/replay_result.h"

/* Fills in the requests of a plan that has a profile, and *ret_span_ns: from the
 * first request to the end of the last. */
int wr_replay_emulated(const struct wr_replay_plan *plan, uint64_t *ret_span_ns,
                       weir_err *err);

#endif
