/* kind.c - the registry of what a data set can become.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include <string.h>

#include "base/mem.h"

/* One line per kind. */
static const struct wr_convert_kind *const kinds[] = {
    &wr_convert_tfrecord, &wr_convert_tar, &wr_convert_jpeg,
    &wr_convert_tensor,   &wr_convert_npy,
};

const struct wr_convert_kind *wr_convert_kind_at(unsigned k)
{
    return k < WR_ARRAY_LEN(kinds) ? kinds[k] : NULL;
}

const struct wr_convert_kind *wr_convert_kind_find(const char *name)
{
    for (unsigned k = 0; wr_convert_kind_at(k); k++)
        if (!strcmp(kinds[k]->name, name))
            return kinds[k];
    return NULL;
}
