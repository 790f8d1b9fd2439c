/* reference.h - the engine in plain C: no dependency, and repeatable bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * On one machine its results are the same bits for any number of threads, so a
 * run that is resumed gives what an undisturbed one gives. Processors with and
 * without FMA round differently (gemm.h). */
#ifndef WR_TRAIN_REFERENCE_H
#define WR_TRAIN_REFERENCE_H

#include "train/engine.h"

extern const struct wr_engine_ops wr_engine_reference;

#endif
