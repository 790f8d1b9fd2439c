/* index_check.h - does an index that came from a file hold together?
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_INDEX_CHECK_H
#define WR_FORMAT_INDEX_CHECK_H

#include "format/index.h"

/* Everything that reading the index relies on: NULL, or what is wrong with it
 * (static). One pass over each array. */
const char *wr_index_check(const struct wr_index *ix);

/* That no path in it leads out of the data set, by a '/' in front or by "..":
 * NULL, or what is wrong. For formats that find their files themselves. */
const char *wr_index_check_below(const struct wr_index *ix);

#endif
