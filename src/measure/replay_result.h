/* replay_result.h - requests in their order, and what came out of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_REPLAY_RESULT_H
#define WR_MEASURE_REPLAY_RESULT_H

#include "measure/replay.h"

/* The requests of one thread. */
struct wr_replay_part {
    struct wr_replay_request *first; /* borrowed */
    size_t count;
};

/* Sorts the plan's requests by thread and time and gives each thread its own;
 * `ret` has a place for each. Returns when the first one began. */
uint64_t wr_replay_deal(const struct wr_replay_plan *p,
                        struct wr_replay_part *ret);

/* The pause before a request, when those before it ended at `ended_ns` as
 * traced. */
static inline uint64_t wr_replay_pause(const struct wr_replay_plan *p,
                                       const struct wr_replay_request *q,
                                       uint64_t ended_ns)
{
    return p->asap || q->start_ns < ended_ns ? 0 : q->start_ns - ended_ns;
}

/* Counts what the requests say of themselves. */
void wr_replay_sum_up(const struct wr_replay_plan *p,
                      struct wr_replay_result *ret);

#endif
