/* array_writer.c - the registry of writers of arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_writer.h"

#include <string.h>

#include "base/mem.h"

static const struct wr_array_writer_ops *const writers[] = {
#define ENTRY(name, help) &wr_array_writer_##name,
    WR_ARRAY_WRITER_MAP(ENTRY)
#undef ENTRY
};

const struct wr_array_writer_ops *wr_array_writer_at(unsigned k)
{
    return k < WR_ARRAY_LEN(writers) ? writers[k] : NULL;
}

const struct wr_array_writer_ops *wr_array_writer_find(const char *name)
{
    for (unsigned k = 0; wr_array_writer_at(k); k++)
        if (!strcmp(writers[k]->name, name))
            return writers[k];
    return NULL;
}
