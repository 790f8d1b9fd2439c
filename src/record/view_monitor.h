/* view_monitor.h - what the machine did meanwhile, as charts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_VIEW_MONITOR_H
#define WR_RECORD_VIEW_MONITOR_H

#include "record/view.h"

/* Adds to a section what was measured beside the runs: I/O, CPU and memory of
 * one record with its runs as bands, I/O of several; nothing when none was
 * watched. */
void wr_view_monitor(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_cases *rows);

/* The same in numbers: means of disks and of the machine. */
void wr_view_monitor_tables(struct wr_doc_section *s,
                            const struct wr_cases *rows);

/* Both as items of a section. */
void wr_show_monitor(struct wr_scope *v);
void wr_show_monitor_tables(struct wr_scope *v);

#endif
