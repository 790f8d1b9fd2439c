/* catalog.h - the descriptions that are built into the command, or in a file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_CATALOG_H
#define WR_WORKLOAD_CATALOG_H

#include <stddef.h>

/* One file of workloads/, embedded when weir was built. */
struct wr_catalog_entry {
    const char *name;  /* "unet3d_a100" */
    const char *group; /* "seed", "mlperf", "checkpoint", ... its folder */
    const char *text;
    size_t len;
};

/* Sorted by group and name; NULL past the end. */
const struct wr_catalog_entry *wr_catalog_at(size_t k);
const struct wr_catalog_entry *wr_catalog_find(const char *name);

#endif
