/* merge.h - several traces of one job become one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory goes with files, processes and traces, not with events. The output is
 * there as a whole, or not at all. */
#ifndef WR_TRACE_MERGE_H
#define WR_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* How the clocks of the traces are brought together. */
enum wr_merge_align {
    WR_MERGE_AUTO,  /* by wall clocks; fails if they cannot be right */
    WR_MERGE_WALL,  /* by wall clocks, whatever they say */
    WR_MERGE_START, /* all began at one moment */
};

struct wr_merge_config {
    const char *output; /* must not exist */
    char *const *inputs;
    size_t count;
    int align; /* enum wr_merge_align */
    /* Something that the user should know; may be NULL. */
    void (*note)(void *arg, const char *text);
    /* True: give up; may be NULL. */
    bool (*stop)(void);
    void *arg;
};

struct wr_merge_sum {
    size_t traces, hosts, processes, names, ranks;
    uint64_t events;
    uint64_t spread_ns; /* from the first start to the last one */
};

int wr_trace_merge(const struct wr_merge_config *cfg, struct wr_merge_sum *ret,
                   weir_err *err);

#endif
