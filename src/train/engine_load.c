/* engine_load.c - engines in modules: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/module.h"

#ifdef WR_ONEDNN_PACKAGE
#define BUILT 1
#else
#define BUILT             0
#define WR_ONEDNN_PACKAGE "libdnnl-dev"
#endif

/* WEIR_ENOENT: there is none; WEIR_ENOTSUP: and this weir was built without
 * it. */
static int find_module(const char *name, char buf[PATH_MAX], weir_err *err)
{
    const char *named = wr_module_named();
    weir_err why;
    int r = wr_module_find(name, "src/train", buf, &why);

    if (r == 0)
        return 0;
    if (r != WEIR_ENOENT)
        return wr_fail(err, r, "engine '%s': %s", name, why.msg);
    if (named)
        return wr_fail(err, WEIR_ENOENT,
                       "engine '%s': no weir-%s.so in WEIR_MODULES, '%s'", name,
                       name, named);
    if (!BUILT)
        return wr_fail(err, WEIR_ENOTSUP,
                       "engine '%s': this weir was built without it (Debian: "
                       "install libdnnl-dev and build again, meson "
                       "-Donednn=enabled)",
                       name);
    return wr_fail(err, WEIR_ENOENT,
                   "engine '%s': no weir-%s.so beside weir nor in '%s' "
                   "(WEIR_MODULES names another folder)",
                   name, name, wr_module_installed());
}

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

static int no_module(const char *path, const char *why, weir_err *err)
{
    bool lacks = why && strstr(why, "libdnnl") && strstr(why, "No such file");

    return wr_fail(err, WEIR_ENOENT, "'%s': cannot load: %s%s", path,
                   why ? why : "no reason given",
                   lacks ? " (Debian: install " WR_ONEDNN_PACKAGE ")" : "");
}

static bool is_alike(const struct wr_engine_module *m)
{
    return m->version == WEIR_VERSION &&
           m->ops_bytes == sizeof(struct wr_engine_ops) &&
           m->net_bytes == sizeof(struct wr_net);
}

int wr_engine_load(const char *name, const struct wr_engine_ops **ret,
                   weir_err *err)
{
    const struct wr_engine_module *module;
    char path[PATH_MAX], symbol[64];
    void *handle;
    int r = find_module(name, path, err);

    if (r < 0)
        return r;
    prepare_openmp();
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return no_module(path, dlerror(), err);
    snprintf(symbol, sizeof(symbol), "wr_engine_%s", name);
    module = dlsym(handle, symbol);
    if (!module)
        return wr_fail(err, WEIR_EFORMAT, "'%s': no engine: it has no %s", path,
                       symbol);
    if (!is_alike(module))
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': belongs to another version of weir; install or "
                       "build both together",
                       path);
    *ret = module->ops;
    return 0;
}
