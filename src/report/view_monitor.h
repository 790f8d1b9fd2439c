/* view_monitor.h - what the machine did meanwhile, as charts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_VIEW_MONITOR_H
#define WR_REPORT_VIEW_MONITOR_H

#include "report/view.h"

/* Of both tables. */
extern const struct wr_column wr_monitor_columns[];

/* "Meanwhile: disk vda read 410 MB/s, 63 % busy; 1.9 of 2 cores busy, ..." of
 * a record and the seconds between; false, and "" in buf, when
 * it was not watched or too short to tell. */
bool wr_meanwhile(const json_t *record, double from_s, double to_s, char *buf,
                  size_t cap);

/* Items of a section: what was measured beside the runs, I/O, CPU and memory of
 * one record with its runs as bands, I/O of several; and means of disks and of the
 * machine. Nothing when none was watched. */
void wr_show_monitor(struct wr_scope *v);
void wr_show_monitor_tables(struct wr_scope *v);

#endif
