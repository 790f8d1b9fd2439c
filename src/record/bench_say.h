/* bench_say.h - what benchmarks come to, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_BENCH_SAY_H
#define WR_RECORD_BENCH_SAY_H

#include "record/experiment.h"

/* At most `room` sentences on top of the page, of all experiments. */
void wr_bench_say(struct wr_doc *d, const struct wr_view_group *e, size_t n,
                  size_t room);

/* "Prefetch 4 instead of none: 8.0 s instead of 12.1 s (34 % less)." */
void wr_bench_prefetch_notes(struct wr_scope *v);

#endif
