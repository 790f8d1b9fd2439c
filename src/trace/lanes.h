/* lanes.h - what threads did when, and how long reads took when: for pictures.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A second walk over the events, in memory that does not depend on their
 * number: few threads, few stretches of time. */
#ifndef WR_TRACE_LANES_H
#define WR_TRACE_LANES_H

#include "trace/analysis.h"

#define WR_LANES_MAX   64  /* threads, those with most time in calls */
#define WR_LANE_BINS   300 /* of time */
#define WR_LANE_LEVELS 24  /* of latency: powers of two */
#define WR_LANE_LOWEST 10  /* level 0: below 2^(10 + 1) ns, about 2 us */

struct wr_trace_lane {
    uint32_t process, tid;
    uint64_t first_ns, last_ns;  /* the thread was seen */
    uint64_t busy[WR_LANE_BINS]; /* ns in calls on files */
};

struct wr_trace_lanes {
    uint64_t bin_ns;
    size_t bin_count;
    struct wr_trace_lane *lanes; /* owned: by process, then by thread */
    size_t count;
    size_t threads;                               /* in all that used files */
    uint64_t reads[WR_LANE_LEVELS][WR_LANE_BINS]; /* of ordinary files */
};

/* Release with wr_trace_lanes_free. */
int wr_trace_lanes_of(struct wr_trace_file *f,
                      const struct wr_trace_analysis *a,
                      struct wr_trace_lanes **ret, weir_err *err);
void wr_trace_lanes_free(struct wr_trace_lanes *l);

#endif
