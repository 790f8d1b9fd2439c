/* entries.h - the table of the catalog, made at build time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_ENTRIES_H
#define WR_WORKLOAD_ENTRIES_H

#include "workload/catalog.h"

/* Sorted by group and name; ends with a NULL name. */
extern const struct wr_catalog_entry wr_catalog_entries[];

#endif
