/* wt.h - the header of .wt files: docs/formats/wt.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_WT_H
#define WR_FORMAT_WT_H

#include <stddef.h>
#include <stdint.h>

#include "format/tensor.h"

#define WR_WT_HEADER  128u
#define WR_WT_ALIGN   4096u
#define WR_WT_MAGIC   "WEIRTNS1"
#define WR_WT_VERSION 1u
#define WR_WT_LABELS  1u /* flag: labels are present */

/* Parses the header at the start of a file of `file_size` bytes. */
int wr_wt_parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                struct wr_tensor_file *ret, weir_err *err);

#endif
