/* mpi_load.c - finding and loading the module for an MPI library.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/mpi_load.h"

#include <dlfcn.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/module.h"
#include "base/named.h"

#ifdef WR_HAVE_OPENMPI
#define OPENMPI_UNBUILT NULL
#else
#define OPENMPI_UNBUILT UNBUILT("openmpi", "libopenmpi-dev")
#endif
#ifdef WR_HAVE_MPICH
#define MPICH_UNBUILT NULL
#else
#define MPICH_UNBUILT UNBUILT("mpich", "libmpich-dev")
#endif

struct mpi_kind {
    const char *name, *library;
    struct wr_module module;
};

#define UNBUILT(name, dev)                                                     \
    "weir-mpi-" name ".so (Debian: install " dev                               \
    " and build again, meson -D" name "=enabled; or set WEIR_MPI=none)"
#define MODULE(id, without, package_name)                                      \
    {                                                                          \
        .who = "ranks by MPI", .name = "mpi-" id, .tree = "src/comm",          \
        .unbuilt = (without), .library = "", .package = (package_name),        \
        .symbol = "wr_mpi", .bytes = sizeof(struct wr_mpi_args)                \
    }

static const struct mpi_kind kinds[] = {
    {"openmpi", "libmpi.so.40",
     MODULE("openmpi", OPENMPI_UNBUILT, "openmpi-bin")},
    {"mpich", "libmpich.so.12", MODULE("mpich", MPICH_UNBUILT, "mpich")},
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

int wr_mpi_load(const char *name, const struct wr_mpi_module **ret,
                weir_err *err)
{
    const struct mpi_kind *kind = wr_named_find(WR_NAMED(kinds), name);
    const void *module;
    int r = kind ? wr_module_load(&kind->module, &module, err)
                 : wr_fail(err, WEIR_EINVAL,
                           "'%s': no MPI that weir knows (openmpi and mpich "
                           "are)",
                           name);

    if (r == 0)
        *ret = module;
    return r;
}
