/* onednn_version.h - what versions 2 and 3 of oneDNN's C API do differently.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Version 2 describes an operation in a structure and makes a primitive's
 * descriptor of it; version 3 has one call for both, and memory descriptors
 * are opaque. Nothing else needs to know which it is. */
#ifndef WR_TRAIN_ONEDNN_VERSION_H
#define WR_TRAIN_ONEDNN_VERSION_H

#include <dnnl.h>
#include <stdbool.h>

#include "train/net.h"

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

/* A memory object of this shape without a buffer: it gets one for each run. */
dnnl_status_t wr_dnnl_border(dnnl_engine_t engine,
                             const struct wr_dnnl_shape *shape,
                             dnnl_memory_t *ret);

#endif
