/* engine.c - what computes the network: the list of engines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/reference.h"

/* Those that are part of the program. */
static const struct wr_engine_ops *const engines[] = {
    &wr_engine_reference,
};

const char *wr_engine_name(size_t i)
{
    return i < WR_ARRAY_LEN(engines) ? engines[i]->name : NULL;
}

const char *wr_engine_help(size_t i)
{
    return i < WR_ARRAY_LEN(engines) ? engines[i]->help : NULL;
}

int wr_engine_find(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(engines); i++)
        if (!strcmp(engines[i]->name, name)) {
            *ret = engines[i];
            return 0;
        }
    return wr_fail(err, WEIR_EINVAL, "there is no engine '%s'", name);
}
