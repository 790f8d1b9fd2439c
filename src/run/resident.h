/* resident.h - how much of a data set is in the page cache, by a sample of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_RESIDENT_H
#define WR_RUN_RESIDENT_H

#include "format/format.h"

/* 0 to 1 of the bytes of some hundred files, evenly spread; -1: not known. */
double wr_run_resident(const weir_dataset *ds);

#endif
