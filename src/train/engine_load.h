/* engine_load.h - engines in modules: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * oneDNN and what it needs (OpenMP, OpenCL, C++) are 45 MB that only training
 * wants; everything else starts without them. A module exports one symbol,
 * wr_engine_NAME, a struct wr_engine_module. */
#ifndef WR_TRAIN_ENGINE_LOAD_H
#define WR_TRAIN_ENGINE_LOAD_H

#include "base/module.h"
#include "train/engine.h"
#include "weir/error.h"
#include "weir/weir.h"

/* A module sees the structures of engine.h. */
struct wr_engine_module {
    struct wr_module_made made;
    const struct wr_engine_ops *ops;
};

#define WR_ENGINE_BYTES                                                        \
    (sizeof(struct wr_engine_ops) << 16 | sizeof(struct wr_net))
#define WR_ENGINE_MODULE(table)                                                \
    {                                                                          \
        .made = {WEIR_VERSION, WR_ENGINE_BYTES}, .ops = (table)                \
    }

/* Loads the module of the engine `name` from the first folder that has it: see
 * base/module.h.
 * It is never unloaded: OpenMP's threads live in it. Call this before other
 * threads are started, because it sets OpenMP's environment. */
int wr_engine_load(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err);

#endif
