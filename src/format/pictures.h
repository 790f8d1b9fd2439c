/* pictures.h - the decoder of fields that are encoded pictures.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_PICTURES_H
#define WR_FORMAT_PICTURES_H

#include "format/decode.h"

int wr_pictures_shape(const struct wr_field_want *want,
                      struct wr_tensor_shape *ret, weir_err *err);
int wr_pictures_decoder_new(const struct wr_field_want *want,
                            struct wr_decoder **ret, weir_err *err);

/* Does it end as names of pictures do, of any kind that is known? */
bool wr_is_picture_name(const char *name);

#endif
