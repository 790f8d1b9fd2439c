/* kind.c - the registry of what a data set can become.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include "base/mem.h"
#include "base/named.h"

/* One line per kind. */
static const struct wr_convert_kind *const kinds[] = {
    &wr_convert_tfrecord, &wr_convert_tar, &wr_convert_jpeg,
    &wr_convert_tensor,   &wr_convert_npy,
};

const struct wr_convert_kind *wr_convert_kind_find(const char *name)
{
    const struct wr_convert_kind *kind = wr_named_ops(
        kinds, WR_ARRAY_LEN(kinds), name);
    const struct wr_writer_ops *records = wr_writer_find(name);

    if (kind)
        return kind;
    if (wr_array_writer_find(name))
        return &wr_convert_arrays;
    return records && records->fields ? &wr_convert_rows : NULL;
}
