/* foreign.h - files of other software that weir does not read, by name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_FOREIGN_H
#define WR_FORMAT_FOREIGN_H

#include "storage/storage.h"

/* "a Parquet file; write ..." (static), or NULL: it may be text. Negative in
 * *ret_lack: resources lacked to tell. */
const char *wr_foreign_name(struct wr_store *st, const char *path,
                            int *ret_lack);

#endif
