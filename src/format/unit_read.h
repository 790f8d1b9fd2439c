/* unit_read.h - all of a unit at once, outside of a pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_UNIT_READ_H
#define WR_FORMAT_UNIT_READ_H

#include "format/format.h"

/* Is the unit a gzip object, which is better read from its beginning on? */
bool wr_unit_is_stream(const struct wr_unit *u);

/* What unit `k` inflates to, in fresh memory. The message names no file. */
int wr_unit_read(const weir_dataset *ds, uint64_t k, uint8_t **ret,
                 weir_err *err);

#endif
