/* life.h - the beginning and the end of a traced process, and its children.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_PRELOAD_LIFE_H
#define WR_TRACE_PRELOAD_LIFE_H

#include "trace/preload/tap.h"

/* Before another program is executed: takes the counters. */
void wr_tap_executes(void);
/* Keeps what children need in their environment (process.c). */
void wr_tap_keep_environment(const char *folder, const char *preload);

#endif
