/* tensor_decode.h - stored tensors -> tensors as they were asked for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stored type as it lies, or u8 -> f32 or f16, normalized, where the last
 * dimension is a channel; u8 pictures (HWC) may change their layout. */
#ifndef WR_FORMAT_TENSOR_DECODE_H
#define WR_FORMAT_TENSOR_DECODE_H

#include "format/format.h"

/* Hooks for struct wr_format_ops. */
int wr_tensor_shape(const struct wr_index *ix, const weir_pipeline_config *cfg,
                    struct wr_tensor_shape *ret, weir_err *err);
int wr_tensor_decoder_new(const struct wr_index *ix,
                          const weir_pipeline_config *cfg,
                          struct wr_decoder **ret, weir_err *err);

#endif
