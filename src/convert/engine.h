/* engine.h - samples from the pipeline into shards, in order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline's workers read the samples and make of them what the kind wants
 * (decoded fields, or bytes: adder.h); a batch is written to its shard by one of
 * them, in order, while its bytes are still in the processor's cache. The
 * calling thread looks after the user. A thread of its own syncs the shards whose
 * last sample is there and gives them their names. So one shard keeps all cores
 * busy, and the bytes depend on nothing but the order of the samples. */
#ifndef WR_CONVERT_ENGINE_H
#define WR_CONVERT_ENGINE_H

#include "convert/kind.h"

struct wr_engine_config {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_sink *sink;               /* borrowed */
    const bool *complete;               /* borrowed: by shard */
    unsigned threads;
    uint64_t total; /* bytes of the samples to be worked on */
};

struct wr_engine_result {
    uint64_t bytes; /* of the samples worked on */
    struct wr_convert_saving saving;
};

/* The list of the samples that a shard lacks, in a hidden file of the part. */
void wr_engine_bad_name(uint64_t shard, char buf[WR_CONVERT_NAME_MAX]);

/* Makes all shards that are not complete. */
int wr_engine_run(const struct wr_engine_config *cfg,
                  struct wr_engine_result *ret, weir_err *err);

#endif
