/* engine.c - what computes the network: the list of engines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/engine_load.h"
#include "train/reference.h"

/* Those in modules come first: they are faster where they can be loaded. */
static const char *const modules[] = {"onednn"};

/* Those that are part of the program. */
static const struct wr_engine_ops *const engines[] = {
    &wr_engine_reference,
};

const char *wr_engine_name(size_t i)
{
    if (i < WR_ARRAY_LEN(modules))
        return modules[i];
    i -= WR_ARRAY_LEN(modules);
    return i < WR_ARRAY_LEN(engines) ? engines[i]->name : NULL;
}

int wr_engine_find(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(engines); i++)
        if (!strcmp(engines[i]->name, name)) {
            *ret = engines[i];
            return 0;
        }
    for (size_t i = 0; i < WR_ARRAY_LEN(modules); i++)
        if (!strcmp(modules[i], name))
            return wr_engine_load(name, ret, err);
    return wr_fail(err, WEIR_EINVAL, "'%s' is not one of %s or %s", name,
                   wr_engine_name(0), wr_engine_name(1));
}
