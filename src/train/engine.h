/* engine.h - what computes the network: one table of functions each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_ENGINE_H
#define WR_TRAIN_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "train/net.h"
#include "weir/error.h"
#include "base/error.h"
#include "base/module.h"
#include "weir/weir.h"

struct wr_engine_spec {
    const struct wr_net *net; /* borrowed, until close */
    uint32_t batch;           /* pictures of every call: pad a short batch with
                               * zeros, and their rows of dlogits too */
    unsigned threads;         /* at least 1, the caller included */
};

/* Calls of one engine come from one thread at a time. Nothing allocates after
 * open. */
struct wr_engine_ops {
    const char *name; /* as the user chooses it */
    int (*open)(const struct wr_engine_spec *spec, void **ret, weir_err *err);
    /* Input [batch][row][column][channel] -> logits [batch][classes]; keeps
     * what backward needs. `input` must stay as it is until then. */
    int (*forward)(void *engine, const float *params, const float *input,
                   float *logits, weir_err *err);
    /* Gradients of all weights (written, not added) from d loss / d logits of
     * the last forward: once for each forward, with the same weights. */
    int (*backward)(void *engine, const float *params, const float *dlogits,
                    float *grads, weir_err *err);
    void (*close)(void *engine); /* NULL is fine */
};

/* The engine of this name. One that is a module is loaded here and stays. */
int wr_engine_find(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err);

/* Name of engine number i, whether or not it can be loaded here; NULL behind the
 * last. */
const char *wr_engine_name(size_t i);

/* --- engines in modules: oneDNN and what it needs (OpenMP, OpenCL, C++) are 45
 * MB that only training wants; everything else starts without them. A module
 * exports one symbol, wr_engine_NAME, a struct wr_engine_module --- */

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

/* A backward takes what the forward before it left, once. */
static inline bool wr_engine_use_forward(bool *is_forward, weir_err *err)
{
    if (*is_forward) {
        *is_forward = false;
        return true;
    }
    wr_fail(err, WEIR_ESTATE, "backward needs a forward before it, each time");
    return false;
}

#endif
