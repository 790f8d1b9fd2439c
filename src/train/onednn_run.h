/* onednn_run.h - oneDNN's objects, and programs: lists of primitives to run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plan (onednn.c) adds steps to a program once; each training step runs
 * it from the first to the last. Memory and primitives belong to the context
 * and live until it is stopped. */
#ifndef WR_TRAIN_ONEDNN_RUN_H
#define WR_TRAIN_ONEDNN_RUN_H

#include <dnnl.h>
#include <stdbool.h>
#include <stddef.h>

#include "train/net.h"
#include "weir/error.h"

/* --- what versions 2 and 3 of the C API do differently: version 2 describes an
 * operation in a structure and makes a primitive's descriptor of it; version 3
 * has one call for both, and memory descriptors are opaque. Nothing else needs to
 * know which it is. --- */

/* A memory descriptor that belongs to somebody else. */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t wr_dnnl_desc;
#else
typedef const dnnl_memory_desc_t *wr_dnnl_desc;
#endif

/* Dimensions with a layout: `exact`, if any, else `tag`, where
 * dnnl_format_tag_any leaves the choice to the primitive. */
struct wr_dnnl_shape {
    wr_dnnl_desc exact; /* borrowed */
    int ndims;          /* 0: there is no such tensor */
    dnnl_dims_t dims;
    dnnl_format_tag_t tag;
};

/* What a layer does, as oneDNN wants it described. */
struct wr_dnnl_op {
    enum wr_layer_kind kind;
    struct wr_dnnl_shape src, weights, bias, dst;
    dnnl_dims_t kernel, stride, pad;
    bool relu; /* fused into the forward pass */
};

enum wr_dnnl_pass {
    WR_DNNL_FORWARD,
    WR_DNNL_BACK_DATA,   /* src and dst are their gradients */
    WR_DNNL_BACK_WEIGHTS /* weights, bias and dst are their gradients */
};

/* The descriptor of the primitive that does `pass`; `forward` is that of the
 * forward pass (NULL for itself). Release with dnnl_primitive_desc_destroy. */
dnnl_status_t wr_dnnl_describe(dnnl_engine_t engine,
                               const struct wr_dnnl_op *op,
                               enum wr_dnnl_pass pass,
                               const_dnnl_primitive_desc_t forward,
                               dnnl_primitive_desc_t *ret);

/* --- objects and programs --- */

#define WR_DNNL_ARGS 4 /* of one primitive, at most */

/* One primitive with its arguments, or (primitive NULL) the gradient of a ReLU:
 * `grad` becomes 0 where `out`, laid out alike, is not positive. */
struct wr_dnnl_step {
    char what[48]; /* "conv2 forward", for messages */
    dnnl_primitive_t primitive;
    int arg_count;
    dnnl_exec_arg_t args[WR_DNNL_ARGS];
    float *grad;      /* borrowed from the context's buffers */
    const float *out; /* likewise */
    size_t floats;
};

struct wr_dnnl_program {
    struct wr_dnnl_step *steps; /* owned */
    size_t count, cap;
};

struct wr_dnnl_object {
    dnnl_memory_t memory;       /* owned, or NULL */
    dnnl_primitive_t primitive; /* owned, or NULL */
    void *buffer;               /* owned; NULL for the caller's memory */
    size_t bytes;
};

struct wr_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    struct wr_dnnl_object *objects; /* owned */
    size_t object_count, object_cap;
    size_t bytes; /* in buffers */
};

/* 0, or the error of the call of that name that returned `s`. */
int wr_dnnl_check(dnnl_status_t s, const char *call, const char *what,
                  weir_err *err);

/* Opens the engine and its stream. wr_dnnl_stop takes a context in any state
 * after it was zeroed. */
int wr_dnnl_start(struct wr_dnnl *d, weir_err *err);
void wr_dnnl_stop(struct wr_dnnl *d);

/* Memory laid out as `desc`, with a buffer of its own, zeroed; and memory whose
 * buffer the caller names at each run (wr_dnnl_lend). */
int wr_dnnl_alloc(struct wr_dnnl *d, wr_dnnl_desc desc, const char *what,
                  dnnl_memory_t *ret, weir_err *err);
int wr_dnnl_foreign(struct wr_dnnl *d, const struct wr_dnnl_shape *shape,
                    const char *what, dnnl_memory_t *ret, weir_err *err);
int wr_dnnl_lend(dnnl_memory_t memory, const float *buffer, const char *what,
                 weir_err *err);

/* The layout of a memory object. */
wr_dnnl_desc wr_dnnl_desc_of(dnnl_memory_t memory);

/* Appends the primitive that `pd` describes to a program; the rest of `step` is
 * filled by the caller. Nothing of it is kept but the copy. */
int wr_dnnl_add(struct wr_dnnl *d, struct wr_dnnl_program *p,
                const_dnnl_primitive_desc_t pd, struct wr_dnnl_step *step,
                weir_err *err);

/* Appends the gradient of a ReLU; the two are laid out alike. */
int wr_dnnl_add_mask(struct wr_dnnl_program *p, const char *what,
                     dnnl_memory_t grad, dnnl_memory_t out, weir_err *err);

/* Appends a reorder from one memory object into another. */
int wr_dnnl_add_reorder(struct wr_dnnl *d, struct wr_dnnl_program *p,
                        const char *what, const dnnl_memory_t from_to[2],
                        weir_err *err);

int wr_dnnl_run(struct wr_dnnl *d, const struct wr_dnnl_program *p,
                weir_err *err);
void wr_dnnl_program_done(struct wr_dnnl_program *p);

#endif
