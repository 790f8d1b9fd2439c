/* inspect_stats.h - sizes and classes of a data set, out of its index.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_INSPECT_STATS_H
#define WR_CLI_INSPECT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

#define WR_INSPECT_BINS 40

struct wr_inspect_bin {
    uint64_t from, to; /* from <= size < to; the last one has no end: 0 */
    uint64_t count;
};

struct wr_inspect_stats {
    uint64_t count, bytes, min, median, p90, p99, max;
    double mean;
    unsigned bins; /* 0: all samples have one size */
    struct wr_inspect_bin bin[WR_INSPECT_BINS];
    uint32_t classes;
    uint64_t *class_samples;    /* owned: [classes]; NULL: none, or too many */
    uint32_t smallest, largest; /* labels, when class_samples is there */
    uint64_t unlabelled;        /* samples without a label */
};

/* WEIR_ECANCELED after Ctrl-C. End with wr_inspect_stats_done. */
int wr_inspect_stats(const weir_dataset *ds, struct wr_inspect_stats *ret,
                     weir_err *err);
void wr_inspect_stats_done(struct wr_inspect_stats *s);

#endif
