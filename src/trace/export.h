/* export.h - a trace in the forms of other programs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_EXPORT_H
#define WR_TRACE_EXPORT_H

#include <stdio.h>

#include "trace/analysis.h"

/* One line per event, with a heading. */
int wr_trace_export_csv(struct wr_trace_file *f, FILE *out, weir_err *err);
/* Complete events ("ph":"X") for chrome://tracing and Perfetto. */
int wr_trace_export_chrome(struct wr_trace_file *f, FILE *out, weir_err *err);
/* As `darshan-parser` prints: counters of modules POSIX and STDIO, by its names
 * and definitions, one record per process and file. */
int wr_trace_export_darshan(struct wr_trace_file *f, FILE *out, weir_err *err);

#endif
