/* tensor_decode.h - stored tensors -> tensors as they were asked for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The stored type as it lies, always for types that pictures do not come out
 * as, or u8 -> f32 or f16, normalized, where the last dimension is a channel; u8
 * pictures (HWC) may change their layout. */
#ifndef WR_FORMAT_TENSOR_DECODE_H
#define WR_FORMAT_TENSOR_DECODE_H

#include "format/decode.h"

/* Of a field whose dimensions do not vary. */
int wr_tensor_shape(const weir_field *s, const struct wr_field_want *want,
                    struct wr_tensor_shape *ret, weir_err *err);
int wr_tensor_decoder_new(const weir_field *s, const struct wr_field_want *want,
                          struct wr_decoder **ret, weir_err *err);

#endif
