/* tensor_decode.h - stored tensors -> tensors as they were asked for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In C order and the processor's byte order, however they are stored. As the
 * type that is stored, or another one that was asked for; u8 with channels as
 * the last dimension are pictures: normalized to f32 or f16, and in the
 * layout that pictures have. */
#ifndef WR_FORMAT_TENSOR_DECODE_H
#define WR_FORMAT_TENSOR_DECODE_H

#include "format/decode.h"

/* Of a field whose dimensions do not vary. */
int wr_tensor_shape(const struct wr_field *f, const struct wr_field_want *want,
                    struct wr_tensor_shape *ret, weir_err *err);
int wr_tensor_decoder_new(const struct wr_field *f,
                          const struct wr_field_want *want,
                          struct wr_decoder **ret, weir_err *err);

#endif
