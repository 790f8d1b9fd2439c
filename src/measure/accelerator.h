/* accelerator.h - what computes on each batch: here, or emulated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An emulated accelerator takes a time per batch and no core: the thread that
 * feeds it sleeps until the step is over, as it would beside a real one. The
 * times are kept by absolute deadlines, so that a wake-up that comes late makes
 * one step look longer and the next one shorter, but never the run. */
#ifndef WR_MEASURE_ACCELERATOR_H
#define WR_MEASURE_ACCELERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_accelerator_kind {
    WR_ACCELERATOR_NONE,     /* nothing: the input alone */
    WR_ACCELERATOR_CPU,      /* computed here */
    WR_ACCELERATOR_EMULATED, /* a time per batch */
};

struct wr_accelerator {
    char name[32];
    enum wr_accelerator_kind kind;
    double fixed_ms, per_sample_ms; /* of a step, if it is emulated */
    char source[160];               /* where the times are from */
};

/* The accelerators that have a name: NULL after the last one. */
const struct wr_accelerator *wr_accelerator_at(size_t k);

/* A name (cpu, none, K4000, ..., in any case) or "ms=1500". The message lists
 * the names. */
int wr_accelerator_parse(const char *text, struct wr_accelerator *ret,
                         weir_err *err);

/* Time of a step with `batch` samples; 0 unless it is emulated. */
double wr_accelerator_step_ms(const struct wr_accelerator *a, uint32_t batch);

/* "K4000 (emulated), 1,500 ms per batch of 64", into `buf`, which is returned.
 * Batch 0, where there are several sizes: "..., 300 ms + 18.75 ms per sample". */
char *wr_accelerator_text(const struct wr_accelerator *a, uint32_t batch,
                          char *buf, size_t cap);

/* The time of one emulated accelerator; zeroed at first. */
struct wr_accelerator_clock {
    uint64_t end_ns;  /* of the step that was started last; 0: none was */
    uint64_t late_ns; /* the wake-up after it came so much later */
};

/* The rule, without a clock: a step that is started at `now_ns` begins then, but
 * not before the last one ended, and what the last wake-up was late does not
 * count. Returns its end. */
uint64_t wr_accelerator_begin(struct wr_accelerator_clock *c, uint64_t now_ns,
                              uint64_t step_ns);
void wr_accelerator_woke(struct wr_accelerator_clock *c, uint64_t now_ns);

/* Starts a step now, and returns at once. */
void wr_accelerator_start(const struct wr_accelerator *a,
                          struct wr_accelerator_clock *c, uint32_t batch);

/* Sleeps until the step is over. `stopped` (may be NULL) is polled every 0.2 s;
 * the result is false if it ended the sleep. */
bool wr_accelerator_wait(struct wr_accelerator_clock *c, bool (*stopped)(void));

#endif
