/* cluster.h - many nodes on one file system, step by step, in virtual time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A node's batches of one step are one read, of fluid bytes and opens: nodes
 * that read at the same time share the file system's bandwidth and metadata rate
 * evenly, none beyond its client's limit and what its requests in flight can
 * ask for. Reading, decoding and computing overlap as far as prefetch allows.
 * All nodes meet at the end of each step, and only then may another one be begun.
 *
 * Storage that is not shared is a device in each node. A save is an equal part
 * from each node: to the slow tier, which all share, or to the fast one, which
 * each node has; drains flow beside the reads, and get as much of the device as a
 * read does. Of workers that take turns only the rate is seen here, not how their
 * batches come together; node.h has that. */
#ifndef WR_PLAN_CLUSTER_H
#define WR_PLAN_CLUSTER_H

#include "plan/node.h"

/* `lump`: accelerators of a node are one, whose time is drawn from the
 * distribution of the slowest; nodes are one where they are all alike because
 * nothing of their reading is drawn. Both are exact, and said in the result.
 * Otherwise each is simulated; a sum over the samples of a step is one draw in any
 * case. WEIR_ECANCELED when it was stopped, WEIR_EINVAL for more than
 * WR_PLAN_MAX_STEPS or a step that never ends. The plan was checked. */
int wr_plan_cluster(const struct wr_plan *p, const struct wr_plan_how *how,
                    bool lump, struct wr_plan_result *ret, weir_err *err);

#endif
