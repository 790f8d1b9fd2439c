/* replay_take.h - which requests of a trace can be issued again, and where.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_REPLAY_TAKE_H
#define WR_MEASURE_REPLAY_TAKE_H

#include "measure/replay.h"
#include "trace/file.h"

/* What is taken from a trace: requests on ordinary files, by number of their
 * name. */
struct wr_replay_take {
    const struct wr_trace_file *trace;  /* borrowed */
    struct wr_replay_request *requests; /* owned */
    size_t count, cap;
    uint64_t *threads; /* owned: process << 32 | tid, by number */
    size_t thread_count, thread_cap;
    uint64_t *read_bytes; /* owned: by file */
    bool *written;        /* owned: by file */
    uint64_t others;      /* requests that cannot be replayed */
};

/* Walks over the trace; wr_replay_take_done also after a failure. */
int wr_replay_take(struct wr_trace_file *f, struct wr_replay_take *ret,
                   weir_err *err);
void wr_replay_take_done(struct wr_replay_take *t);

/* The traced folder that lies at `store` now: the one below which most files
 * that were read are found there. *ret is fresh memory and ends without a slash
 * ("" is the root). WEIR_ENOENT: none of them is there. */
int wr_replay_base(const struct wr_replay_take *t, struct wr_store *store,
                   char **ret, weir_err *err);

/* `path` below `base`, or NULL: it lies elsewhere. "" is the base itself. */
const char *wr_replay_below(const char *base, const char *path);

#endif
