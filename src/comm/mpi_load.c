/* mpi_load.c - finding and loading the module for an MPI library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/mpi_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/named.h"

#ifdef WR_HAVE_OPENMPI
#define OPENMPI_BUILT true
#else
#define OPENMPI_BUILT false
#endif
#ifdef WR_HAVE_MPICH
#define MPICH_BUILT true
#else
#define MPICH_BUILT false
#endif

struct mpi_kind {
    const char *name, *library;
    const char *package, *dev; /* Debian's, to run and to build */
    bool built;
};

static const struct mpi_kind kinds[] = {
    {"openmpi", "libmpi.so.40", "openmpi-bin", "libopenmpi-dev", OPENMPI_BUILT},
    {"mpich", "libmpich.so.12", "mpich", "libmpich-dev", MPICH_BUILT},
};

const char *wr_mpi_loaded(void)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++) {
        void *handle = dlopen(kinds[k].library, RTLD_NOLOAD | RTLD_LAZY);

        if (!handle)
            continue;
        dlclose(handle); /* the count that dlopen added */
        return kinds[k].name;
    }
    return NULL;
}

static int not_found(const struct mpi_kind *kind, const weir_err *why,
                     weir_err *err)
{
    const char *named = wr_module_named();

    if (why->code != WEIR_ENOENT)
        return wr_fail(err, why->code, "ranks by MPI: %s", why->msg);
    if (named)
        return wr_fail(err, WEIR_ENOENT,
                       "ranks by MPI: no weir-mpi-%s.so in WEIR_MODULES, '%s'",
                       kind->name, named);
    if (!kind->built)
        return wr_fail(err, WEIR_ENOTSUP,
                       "ranks by MPI: this weir was built without weir-mpi-"
                       "%s.so (Debian: install %s and build again, meson "
                       "-D%s=enabled; or set WEIR_MPI=none)",
                       kind->name, kind->dev, kind->name);
    return wr_fail(err, WEIR_ENOENT,
                   "ranks by MPI: no weir-mpi-%s.so beside weir nor in '%s' "
                   "(WEIR_MODULES names other folders)",
                   kind->name, wr_module_installed());
}

static int not_loaded(const struct mpi_kind *kind, const char *path,
                      weir_err *err)
{
    const char *why = dlerror();
    bool lacks = why && strstr(why, "No such file");

    return wr_fail(err, WEIR_ENOENT, "'%s': cannot load: %s%s%s%s", path,
                   why ? why : "no reason given",
                   lacks ? " (Debian: install " : "",
                   lacks ? kind->package : "", lacks ? ")" : "");
}

static int load(const struct mpi_kind *kind, const struct wr_mpi_module **ret,
                weir_err *err)
{
    const struct wr_mpi_module *module;
    char path[PATH_MAX], name[32];
    weir_err why;
    void *handle;
    int r;

    snprintf(name, sizeof(name), "mpi-%s", kind->name);
    r = wr_module_find(name, "src/comm", path, &why);
    if (r < 0)
        return not_found(kind, &why, err);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        return not_loaded(kind, path, err);
    module = dlsym(handle, "wr_mpi");
    if (!module)
        return wr_fail(err, WEIR_EFORMAT, "'%s': no module for MPI", path);
    if (module->version != WEIR_VERSION ||
        module->args_bytes != sizeof(struct wr_mpi_args))
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': belongs to another version of weir; install or "
                       "build both together",
                       path);
    *ret = module;
    return 0;
}

int wr_mpi_load(const char *name, const struct wr_mpi_module **ret,
                weir_err *err)
{
    const struct mpi_kind *kind = wr_named_find(WR_NAMED(kinds), name);

    if (kind)
        return load(kind, ret, err);
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': no MPI that weir knows (openmpi and mpich are)",
                   name);
}
