/* pictures.h - the decoder that formats of encoded pictures share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_PICTURES_H
#define WR_FORMAT_PICTURES_H

#include "format/format.h"

/* Hooks for struct wr_format_ops. */
int wr_pictures_shape(const struct wr_index *ix,
                      const weir_pipeline_config *cfg,
                      struct wr_tensor_shape *ret, weir_err *err);
int wr_pictures_decoder_new(const struct wr_index *ix,
                            const weir_pipeline_config *cfg,
                            struct wr_decoder **ret, weir_err *err);

/* Does it end as names of pictures do, of any kind that is known? */
bool wr_is_picture_name(const char *name);

#endif
