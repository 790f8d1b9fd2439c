/* orphans.h - saves what a collector that was killed has left in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_ORPHANS_H
#define WR_TRACE_COLLECT_ORPHANS_H

#include "trace/file.h"

struct wr_orphans {
    const char *prefix; /* of the files, "" or a folder with '/' */
    const struct wr_trace_info *info; /* of the machine */
    void (*say)(void *arg, const char *text);
    void *arg;
};

/* Each becomes recovered-PID.wtrace (if there is one, recovered-PID-2.wtrace), by
 * the number of its collector, and one line of text. What cannot be saved stays in
 * memory, whole, for the next time. Those of other users, and those whose collector
 * or program still lives, are not touched. */
void wr_orphans_save(const struct wr_orphans *o);

#endif
