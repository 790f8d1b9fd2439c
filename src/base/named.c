/* named.c - the entry of a list by its name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/named.h"

#include <string.h>

int wr_named_index(const void *list, size_t count, size_t size,
                   const char *name)
{
    for (size_t k = 0; k < count; k++) {
        const char *const *e = (const void *)((const char *)list + k * size);

        if (!*e)
            break;
        if (!strcmp(*e, name))
            return (int)k;
    }
    return -1;
}

const void *wr_named_find(const void *list, size_t count, size_t size,
                          const char *name)
{
    int k = wr_named_index(list, count, size, name);

    return k < 0 ? NULL : (const char *)list + (size_t)k * size;
}

int wr_named_text(const void *list, size_t count, size_t size, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (!strcmp((const char *)list + k * size, name))
            return (int)k;
    return -1;
}

const void *wr_named_ops(const void *list, size_t count, const char *name)
{
    const void *const *at = list;

    for (size_t k = 0; k < count && at[k]; k++)
        if (!strcmp(*(const char *const *)at[k], name))
            return at[k];
    return NULL;
}
