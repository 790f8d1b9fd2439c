/* patient.h - a store around the slow tier's that nobody waits for in vain.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls that look at the slow tier themselves go through it. Each request is
 * made by a thread of its own, with memory of its own, while the caller waits;
 * one that no answer comes to is left behind with both (strand.h), and the
 * caller gets WEIR_ETIMEDOUT. What is read lands in the caller's memory by the
 * caller's hand, or not at all. Threads that may be left behind themselves, as
 * the one that drains, go straight through. */
#ifndef WR_CHECKPOINT_PATIENT_H
#define WR_CHECKPOINT_PATIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/storage.h"
#include "tier/tier.h"
#include "weir/error.h"

/* wr_tier_open that way, and the tier's store is one of these from then on.
 * Requests are given up after `most_ns` in which none was answered; UINT64_MAX:
 * never. */
int wr_patient_open(const char *url, const char *label, bool create,
                    uint64_t most_ns, struct wr_tier **ret, weir_err *err);
/* The same for a tier that is open. */
int wr_patient_tier(struct wr_tier *t, uint64_t most_ns, weir_err *err);

/* From here on, in this thread: straight through. Any store; others than these
 * have nothing to do. */
void wr_patient_enter(struct wr_store *st);
void wr_patient_leave(struct wr_store *st);

/* A call begins: after one request was given up, the others are, at once, until
 * the next call begins. */
void wr_patient_begin(struct wr_store *st);
/* 0, or WEIR_ETIMEDOUT when a request was given up since. */
int wr_patient_check(struct wr_store *st, weir_err *err);

#endif
