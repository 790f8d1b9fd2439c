/* engine_load.c - engines in modules: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/engine_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#ifdef WR_ONEDNN_PACKAGE
#define BUILT 1
#else
#define BUILT             0
#define WR_ONEDNN_PACKAGE "libdnnl-dev"
#endif

/* Folders relative to that of the running program: a build tree's, an
 * installation's wherever it was moved to. */
static const char *const beside[] = {"src/train", WR_MODULE_BESIDE};

/* The folder of the running program; false when it is not known. */
static bool own_folder(char *buf, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", buf, cap - 1);
    char *slash;

    if (n <= 0)
        return false;
    buf[n] = '\0';
    slash = strrchr(buf, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Whether FOLDER/weir-NAME.so can be read; the path is in buf. */
static bool is_in(const char *folder, const char *name, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/weir-%s.so", folder, name);

    return n > 0 && (size_t)n < cap && access(buf, R_OK) == 0;
}

static bool is_beside(const char *name, char *buf, size_t cap)
{
    char own[PATH_MAX / 2], folder[PATH_MAX];

    if (!own_folder(own, sizeof(own)))
        return false;
    for (size_t i = 0; i < WR_ARRAY_LEN(beside); i++) {
        snprintf(folder, sizeof(folder), "%s/%s", own, beside[i]);
        if (is_in(folder, name, buf, cap))
            return true;
    }
    return false;
}

/* WEIR_ENOENT: there is none; WEIR_ENOTSUP: and this weir was built without
 * it. */
static int find_module(const char *name, char *buf, size_t cap, weir_err *err)
{
    const char *named = secure_getenv("WEIR_MODULES");

    if (named && *named) {
        if (is_in(named, name, buf, cap))
            return 0;
        return wr_fail(err, WEIR_ENOENT,
                       "engine '%s': no weir-%s.so in WEIR_MODULES, '%s'", name,
                       name, named);
    }
    if (is_beside(name, buf, cap) || is_in(WR_MODULE_DIR, name, buf, cap))
        return 0;
    if (!BUILT)
        return wr_fail(err, WEIR_ENOTSUP,
                       "engine '%s': this weir was built without it (Debian: "
                       "install libdnnl-dev and build again, meson "
                       "-Donednn=enabled)",
                       name);
    return wr_fail(err, WEIR_ENOENT,
                   "engine '%s': no weir-%s.so beside weir nor in '%s' "
                   "(WEIR_MODULES names another folder)",
                   name, name, WR_MODULE_DIR);
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
    int r = find_module(name, path, sizeof(path), err);

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
