/* open.c - how long opening a data set takes, once, from start to samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-open DATASET [INDEX-DIR]     without a folder: no index file
 *
 * Prints one JSON object. The command does more than open (weir inspect reads
 * headers), so this stands beside `find`. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "format/format.h"

int main(int argc, char **argv)
{
    weir_dataset *ds = NULL;
    weir_dataset_config cfg;
    uint64_t start, took_ns;
    weir_err err;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench-open DATASET [INDEX-DIR]\n");
        return 2;
    }
    weir_dataset_defaults(&cfg);
    cfg.index_dir = argv[2];
    cfg.no_index_cache = argc == 2;
    start = wr_clock_ns();
    if (weir_dataset_open(&ds, argv[1], &cfg, &err) < 0) {
        fprintf(stderr, "bench-open: %s\n", err.msg);
        return 1;
    }
    took_ns = wr_clock_ns() - start;
    printf("{\"seconds\": %.6f, \"reused\": %s, \"samples\": %" PRIu64
           ", \"memory_bytes\": %zu}\n",
           (double)took_ns / 1e9,
           weir_dataset_index_reused(ds) ? "true" : "false",
           weir_dataset_count(ds), wr_index_memory(ds->index));
    weir_dataset_close(&ds);
    return 0;
}
