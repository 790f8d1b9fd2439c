/* remarks.h - what a user should know of a data set, in a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_REMARKS_H
#define WR_FORMAT_REMARKS_H

#include "format/format.h"

#define WR_REMARK_BYTES 1024u /* are enough for any */

/* "7 files ignored: .gif 4, .heic 3" into buf; false: there are none. */
bool wr_remark_ignored(const struct wr_index *ix, char *buf, size_t cap);

/* Each remark in turn, k counted from 0; false: there are no more. */
bool wr_remark_at(const weir_dataset *ds, unsigned k, char *buf, size_t cap);

#endif
