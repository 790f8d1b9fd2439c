/* kind.c - the registry of what a data set can become.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include "base/mem.h"
#include "base/named.h"

/* Those with a name of their own. */
static const struct wr_convert_kind *const kinds[] = {
    &wr_convert_jpeg, &wr_convert_tensor, &wr_convert_npy};

const struct wr_convert_kind *wr_convert_kind_find(const char *name)
{
    const struct wr_convert_kind *kind = wr_named_ops(
        kinds, WR_ARRAY_LEN(kinds), name);
    const struct wr_writer_ops *writer = wr_writer_find(name);

    if (kind)
        return kind;
    if (wr_array_writer_find(name))
        return &wr_convert_arrays;
    if (!writer)
        return NULL;
    return writer->fields  ? &wr_convert_rows
           : writer->paths ? &wr_convert_archives
                           : &wr_convert_records;
}
