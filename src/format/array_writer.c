/* array_writer.c - the registry of writers of arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_writer.h"

#include "base/mem.h"
#include "base/named.h"

static const struct wr_array_writer_ops *const writers[] = {
#define ARRAY_WRITER(name, help) &wr_array_writer_##name,
#include "format/formats.def"
};

const struct wr_array_writer_ops *wr_array_writer_at(unsigned k)
{
    return k < WR_ARRAY_LEN(writers) ? writers[k] : NULL;
}

const struct wr_array_writer_ops *wr_array_writer_find(const char *name)
{
    return wr_named_ops(writers, WR_ARRAY_LEN(writers), name);
}
