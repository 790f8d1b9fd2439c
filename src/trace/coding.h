/* coding.h - events as columns of small numbers, and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One chunk of a trace file: docs/formats/trace.md. Neighbours in time look alike
 * column by column, not event by event; what follows from the event before in the
 * same thread (its file, where its next read begins) takes no bytes. */
#ifndef WR_TRACE_CODING_H
#define WR_TRACE_CODING_H

#include <stddef.h>

#include "trace/event.h"
#include "trace/pack.h"
#include "weir/error.h"

#define WR_CODING_EVENTS_MAX 65536 /* in one chunk */

/* Sorts `events` by the time they ended, then appends them to `out`. */
int wr_coding_encode(struct wr_trace_event *events, size_t count,
                     struct wr_pack *out, weir_err *err);

/* Exactly `count` events (at most WR_CODING_EVENTS_MAX) from `bytes`, which must
 * be used up. Numbers of files and processes are not checked; kinds are. */
int wr_coding_decode(struct wr_packed bytes, size_t count,
                     struct wr_trace_event *ret_events, weir_err *err);

#endif
