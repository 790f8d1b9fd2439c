/* gate.h - all accelerators reach the end of a step together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a process meet here; the last one to come asks the other ranks,
 * then all go on with the largest value that anyone brought. A failure opens the
 * gate for good: everyone gets its message. */
#ifndef WR_RUN_GATE_H
#define WR_RUN_GATE_H

#include <stdint.h>

#include "weir/error.h"

struct wr_gate;

/* How the ranks agree on the largest value; called by one thread at a time. */
typedef int wr_gate_ranks(void *arg, uint64_t value, uint64_t *ret,
                          weir_err *err);

/* For `members` threads; `ranks` NULL: this process is alone. */
int wr_gate_new(struct wr_gate **ret, unsigned members, wr_gate_ranks *ranks,
                void *arg, weir_err *err);
void wr_gate_free(struct wr_gate *g); /* takes NULL */

/* Returns when all have come: the largest value. */
int wr_gate_max(struct wr_gate *g, uint64_t value, uint64_t *ret,
                weir_err *err);

/* Of a thread that comes no more. The first failure counts. */
void wr_gate_fail(struct wr_gate *g, const weir_err *why);

/* The failure, or 0. */
int wr_gate_failed(struct wr_gate *g, weir_err *err);

#endif
