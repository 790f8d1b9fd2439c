/* tune.h - threads, depth and prefetch, adjusted from what was waited for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: the pipeline reports what happened since the last step and gets back
 * what to change. More depth or prefetch is a trial: kept when the rate rose,
 * taken back when it did not. */
#ifndef WR_PIPELINE_TUNE_H
#define WR_PIPELINE_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be set; also which of them may be touched, and their bounds. */
struct wr_knobs {
    uint32_t threads, depth, prefetch;
};

/* Sums since the beginning. */
struct wr_tune_sums {
    uint64_t now_ns, batches, samples;
    uint64_t consumer_wait_ns;
    uint64_t storage_wait_ns, idle_ns; /* of all workers */
};

enum wr_knob { WR_KNOB_THREADS, WR_KNOB_DEPTH, WR_KNOB_PREFETCH, WR_KNOB_NONE };

struct wr_tune {
    bool is_auto[WR_KNOB_NONE];
    uint32_t now[WR_KNOB_NONE], most[WR_KNOB_NONE];
    struct wr_tune_sums last;
    enum wr_knob trial; /* being tried; WR_KNOB_NONE: nothing is */
    uint32_t before;    /* its value */
    double rate_before; /* samples per second then */
    char why[80];
    unsigned rest[WR_KNOB_NONE];   /* steps for which it is left alone */
    unsigned idle_steps;           /* in a row with workers mostly idle */
    double starved, storage, idle; /* at the last step, parts of the time */
    unsigned steps;                /* that were looked at */
    char log[2000];
    size_t log_len;
};

/* `first` is where it begins; fixed ones stay there. */
void wr_tune_init(struct wr_tune *t, const struct wr_knobs *first,
                  const struct wr_knobs *most, const bool is_auto[3]);

/* True when there is anything to adjust. */
bool wr_tune_is_on(const struct wr_tune *t);

/* Long enough after the last step for another one? */
bool wr_tune_is_due(const struct wr_tune *t, uint64_t now_ns, uint64_t batches);

/* One step; true: *ret is to be put in force. */
bool wr_tune_step(struct wr_tune *t, const struct wr_tune_sums *sums,
                  struct wr_knobs *ret);

/* What the last step asked for cannot be had, because of `why`: it is as before,
 * and not tried again for a while. */
void wr_tune_refuse(struct wr_tune *t, const char *why);

/* What is in force and how it came about, as snprintf. */
size_t wr_tune_text(const struct wr_tune *t, char *buf, size_t cap);

#endif
