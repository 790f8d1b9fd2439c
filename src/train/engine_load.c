/* engine_load.c - engines in modules: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine_load.h"

#include <stdio.h>
#include <stdlib.h>

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
