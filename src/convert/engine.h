/* engine.h - chunks of samples, worked on by any thread, appended in order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker takes the next chunk of a MiB, reads and converts its samples
 * into memory, and appends what is next to be appended to the shard, its own
 * chunk or others' that wait. The next chunk is read meanwhile. A thread of
 * its own syncs the shards whose last chunk is there and gives them their
 * names. So one shard keeps all cores busy, and the bytes depend on nothing
 * but the order of the chunks. */
#ifndef WR_CONVERT_ENGINE_H
#define WR_CONVERT_ENGINE_H

#include "convert/kind.h"
#include "convert/reader.h"

struct wr_engine_config {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_stage *stage;             /* borrowed */
    struct wr_reader_config reader;
    const bool *complete; /* borrowed: by shard */
    unsigned threads;
    uint64_t total; /* bytes of the samples to be worked on */
};

struct wr_engine_result {
    uint64_t bytes; /* of the samples worked on */
    struct wr_convert_saving saving;
};

/* Makes all shards that are not complete. */
int wr_engine_run(const struct wr_engine_config *cfg,
                  struct wr_engine_result *ret, weir_err *err);

#endif
