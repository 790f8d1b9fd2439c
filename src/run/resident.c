/* resident.c - how much of a data set is in the page cache, by a sample of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/resident.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/mem.h"
#include "monitor/residency.h"

#define FILES 256u

static bool look(const weir_dataset *ds, uint64_t object,
                 struct wr_residency *ret)
{
    const struct wr_storage_ops *ops = ds->store->ops;
    char name[PATH_MAX], path[PATH_MAX];
    bool known;
    int fd;

    if (!ops->local_path ||
        wr_index_object_path(ds->index, object, name, sizeof(name)) >=
            sizeof(name) ||
        !ops->local_path(ds->store, name, path, sizeof(path)))
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    known = wr_residency_of(fd, /* mincore_only= */ false, ret, NULL) == 0 &&
            ret->means != WR_RESIDENCY_UNKNOWN;
    close(fd);
    return known;
}

double wr_run_resident(const weir_dataset *ds)
{
    uint64_t files = wr_index_object_count(ds->index);
    uint64_t n = WR_MIN(files, (uint64_t)FILES), all = 0, in = 0;

    for (uint64_t k = 0; k < n; k++) {
        struct wr_residency r;

        if (!look(ds, files * k / n, &r))
            return -1;
        all += r.bytes;
        in += r.resident_bytes;
    }
    return all ? (double)in / (double)all : -1;
}
