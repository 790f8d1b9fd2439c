/* catalog.c - the descriptions that are built into the command.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/catalog.h"

#include "base/named.h"
#include "workload/entries.h"

const struct wr_catalog_entry *wr_catalog_at(size_t k)
{
    for (size_t i = 0; i <= k; i++)
        if (!wr_catalog_entries[i].name)
            return NULL;
    return &wr_catalog_entries[k];
}

const struct wr_catalog_entry *wr_catalog_find(const char *name)
{
    return wr_named_find(WR_NAMED_OPEN(wr_catalog_entries), name);
}
