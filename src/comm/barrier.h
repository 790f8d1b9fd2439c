/* barrier.h - the end of a step for all ranks, in microseconds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of one host wait for each other at a page of shared memory, which
 * belongs to no file: nothing is left when they are killed. The first ranks of
 * the hosts combine through the comm. Where memory cannot be shared all goes
 * through the comm.
 *
 * A barrier belongs to the thread that its comm belongs to. After a failure
 * every call fails with the same message. */
#ifndef WR_COMM_BARRIER_H
#define WR_COMM_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_comm;
struct wr_barrier;

/* All ranks of `c` together; `c` must live longer than the barrier. */
int wr_barrier_open(struct wr_comm *c, struct wr_barrier **ret, weir_err *err);
void wr_barrier_close(struct wr_barrier *b); /* takes NULL; waits for nobody */

/* All ranks together: returns when all have come, with the largest of their
 * values. Fails when a rank died (noticed within a second on its own host) or
 * the comm's timeout has passed, with a message that names the rank; the comm is
 * then failed too. */
int wr_barrier_max(struct wr_barrier *b, uint64_t value, uint64_t *ret_max,
                   weir_err *err);

/* wr_comm_share (comm.h), but through shared memory where all ranks are on one
 * host, which is faster with more than two ranks. */
int wr_barrier_share(struct wr_barrier *b, void *buf, size_t len, uint32_t root,
                     weir_err *err);

/* wr_comm_give_up of the barrier's comm, of which ranks that wait here learn at
 * once: before they notice that this one has left. */
void wr_barrier_give_up(struct wr_barrier *b, const weir_err *why);

/* Whether all ranks are on one host, as far as the barrier knows. */
bool wr_barrier_one_host(const struct wr_barrier *b);

/* Whether ranks of a host meet in shared memory; for messages and tests. */
bool wr_barrier_is_shared(const struct wr_barrier *b);

#endif
