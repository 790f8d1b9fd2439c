/* record.h - a trace as a record, which views of src/report show.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_RECORD_H
#define WR_TRACE_RECORD_H

#include <jansson.h>
#include <stdbool.h>

#include "weir/error.h"

/* Reads and analyses a trace; its record has the command "trace". `probe`: see
 * wr_trace_judge, or NULL. `brief`: without what needs another walk over all
 * events, threads and reads over time. Release with json_decref. */
int wr_trace_record_load(const char *path, const json_t *probe, bool brief,
                         json_t **ret, weir_err *err);

#endif
