/* text_write.h - elements of fields as text, for writers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TEXT_WRITE_H
#define WR_FORMAT_TEXT_WRITE_H

#include "codec/number.h"
#include "format/writer.h"

/* Appends `n` numbers of `f`, with a comma between: as few digits as are read
 * as the same number. What is not finite is written as `words` says: NaN,
 * infinity, minus infinity. */
int wr_text_write_numbers(struct wr_bytes *to, const weir_field *f,
                          struct wr_slice numbers, const char *const words[3],
                          weir_err *err);

int wr_text_write(struct wr_bytes *to, const char *text, size_t len,
                  weir_err *err);

#endif
