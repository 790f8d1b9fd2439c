/* onednn_plan.h - the network as programs of oneDNN's primitives.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_ONEDNN_PLAN_H
#define WR_TRAIN_ONEDNN_PLAN_H

#include "train/engine.h"
#include "train/onednn_run.h"

/* A layer, and the memory around it. Where a primitive wants another layout
 * than its input has, there are two: as it comes, and as it is used. */
struct wr_dnnl_layer {
    const struct wr_layer *layer;          /* borrowed from the net */
    dnnl_primitive_desc_t forward;         /* owned, while planning */
    dnnl_memory_t weights, bias;           /* the caller's, at each run */
    dnnl_memory_t grad_weights, grad_bias; /* likewise */
    dnnl_memory_t src, src_used;
    dnnl_memory_t weights_used;
    dnnl_memory_t dst;
    dnnl_memory_t workspace; /* of a pool: where its maxima were */
};

struct wr_dnnl_plan {
    struct wr_dnnl dnnl;
    struct wr_dnnl_layer layers[WR_NET_LAYERS];
    size_t layer_count;
    uint32_t batch;
    dnnl_memory_t input, logits, grad_logits; /* the caller's, at each run */
    struct wr_dnnl_program forward, backward;
};

/* Plans both passes and allocates what lies between them. wr_dnnl_plan_done
 * takes a plan in any state after it was zeroed. */
int wr_dnnl_plan_init(struct wr_dnnl_plan *p, const struct wr_engine_spec *spec,
                      weir_err *err);
void wr_dnnl_plan_done(struct wr_dnnl_plan *p);

#endif
