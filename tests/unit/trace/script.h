/* script.h - a made-up training: epochs of batches, with or without workers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_TRACE_SCRIPT_H
#define TEST_TRACE_SCRIPT_H

#include <stdbool.h>

#include "maker.h"

struct script {
    unsigned epochs, files, batch;
    unsigned workers; /* 0: the main thread reads */
    bool respawn;     /* new workers in each epoch */
    uint64_t size, read_ns, decode_ns, compute_ns;
    uint64_t spawn_ns;  /* from the birth of a worker to its first read */
    uint64_t start_ns;  /* of the first epoch */
    const char *folder; /* "/data/train" unless set */
    unsigned ranks;     /* 0: no job */
    bool same;          /* all ranks read everything */
    unsigned reads;     /* per file; 0: 1 */
    int64_t parent;     /* of the main process; 0: none, else number + 1 */
};

/* What it came to. */
struct script_end {
    uint64_t end_ns;
    uint32_t main, first_file;
};

struct script_end script_run(struct maker *m, const struct script *s);

#endif
