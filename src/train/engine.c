/* engine.c - what computes the network: the list of engines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "train/reference.h"

/* --- engines in modules: shared objects that are loaded on demand --- */

#ifdef WR_ONEDNN_PACKAGE
#define UNBUILT NULL
#else
#define UNBUILT                                                                \
    "it (Debian: install libdnnl-dev and build again, meson -Donednn=enabled)"
#define WR_ONEDNN_PACKAGE "libdnnl-dev"
#endif

/* OpenMP reads its environment when it is loaded.
 * - Its waiting threads spin by default, on cores that the pipeline needs.
 * - A value of OMP_NUM_THREADS that it does not understand makes it print to
 *   stderr, into the progress line; the engine is told its number of threads,
 *   so that nothing is lost without it. */
static void prepare_openmp(void)
{
    setenv("OMP_WAIT_POLICY", "passive", /* overwrite= */ 0);
    unsetenv("OMP_NUM_THREADS");
}

int wr_engine_load(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err)
{
    char who[64], symbol[64];
    const struct wr_module m = {
        .who = who,
        .name = name,
        .tree = "src/train",
        .unbuilt = UNBUILT,
        .library = "libdnnl",
        .package = WR_ONEDNN_PACKAGE,
        .prepare = prepare_openmp,
        .symbol = symbol,
        .bytes = WR_ENGINE_BYTES,
    };
    const void *module;
    int r;

    snprintf(who, sizeof(who), "engine '%s'", name);
    snprintf(symbol, sizeof(symbol), "wr_engine_%s", name);
    r = wr_module_load(&m, &module, err);
    if (r == 0)
        *ret = ((const struct wr_engine_module *)module)->ops;
    return r;
}

/* --- what computes the network: the list of engines --- */

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
