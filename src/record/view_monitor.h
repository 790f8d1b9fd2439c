/* view_monitor.h - what the machine did meanwhile, as charts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_VIEW_MONITOR_H
#define WR_RECORD_VIEW_MONITOR_H

#include "record/view.h"

/* A section with I/O, CPU and memory over time, when any of the records was
 * watched. `rows` are their cases or tests: their runs begin somewhere on the
 * time axis. */
void wr_view_monitor(struct wr_doc *d, const char *title,
                     const struct wr_cases *rows);

#endif
