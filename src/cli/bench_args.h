/* bench_args.h - the settings of `weir bench`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_BENCH_ARGS_H
#define WR_CLI_BENCH_ARGS_H

#include "cli/command.h"
#include "cli/session.h"
#include "measure/bench.h"

struct bench_args {
    /* what is done */
    struct wr_enum_list stages, decode, page_cache;
    struct wr_uint_list threads, depth, prefetch, batch;
    uint64_t repeat;
    const char *accelerator;
    double consumer_ms;        /* the old name: ms=... */
    weir_pipeline_config feed; /* what all cases have in common */
    int normalize;
    struct wr_open_args open;
    /* results */
    bool limits, digest, json;
    const char *csv, *record;
    double monitor_hz;
    double min_rate, min_of_decode, min_of_read;
};

extern const struct wr_option wr_bench_options[];
void wr_bench_defaults(void *args);

#endif
