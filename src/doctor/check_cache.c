/* check_cache.c - the page cache, and the folder that keeps indexes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/index_cache.h"
#include "monitor/pagecache.h"

void wr_check_residency(const struct wr_doctor *d, struct wr_finding *f)
{
    int fd = memfd_create("weir-doctor", MFD_CLOEXEC);
    struct wr_residency r = {.means = WR_RESIDENCY_UNKNOWN};

    if (fd >= 0 && write(fd, "x", 1) == 1)
        wr_residency_of(fd, /* mincore_only= */ false, &r, NULL);
    if (fd >= 0)
        close(fd);
    if (r.means == WR_RESIDENCY_CACHESTAT) {
        wr_observed(f, "cachestat: what is cached and dirty is known");
    } else if (r.means == WR_RESIDENCY_MINCORE) {
        wr_observed(f, "mincore: what is cached is known (dirty: Linux 6.5)");
    } else {
        wr_observed(f, "not known: neither cachestat nor mincore answers");
        wr_means(f, "weir cannot verify that a cold run was cold.");
        wr_remedy(f, WR_HEALTH_MISSING,
                  "docker run --security-opt seccomp=unconfined ...");
    }
}

void wr_check_drop(const struct wr_doctor *d, struct wr_finding *f)
{
    char path[PATH_MAX];

    wr_doctor_path(d, "/proc/sys/vm/drop_caches", path, sizeof(path));
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) {
        wr_observed(f, "allowed: cold runs are cold");
        return;
    }
    wr_observed(f, "not allowed: %s", strerror(errno));
    wr_means(f, "Cold runs drop the pages of the files that they read, and "
                "verify it; folders and inodes stay cached, so opening files "
                "is not quite cold.");
    wr_remedy(f, WR_HEALTH_LIMITED, "sudo weir cache drop --all --metadata");
}

/* The folder or the nearest one above it that exists; 0 when it can be written
 * to, else an errno. */
static int writable(const char *folder)
{
    char path[PATH_MAX];
    size_t len = strlen(folder);
    struct stat st;

    if (len >= sizeof(path))
        return ENAMETOOLONG;
    memcpy(path, folder, len + 1);
    while (stat(path, &st)) {
        char *slash = strrchr(path, '/');

        if (errno != ENOENT)
            return errno;
        if (!slash)
            memcpy(path, ".", 2);
        else
            slash[slash == path] = '\0';
    }
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) ? errno : 0;
}

void wr_check_index(const struct wr_doctor *d, struct wr_finding *f)
{
    const char *named = secure_getenv("WEIR_INDEX_DIR");
    char *folder = wr_index_cache_folder();
    int e = folder ? writable(folder) : 0;
    weir_err why;

    if (!folder && named) {
        wr_observed(f, "turned off: WEIR_INDEX_DIR is empty");
        wr_remedy(f, WR_HEALTH_LIMITED, "unset WEIR_INDEX_DIR");
    } else if (!folder) {
        wr_observed(f, "none: HOME is not set");
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else if (e) {
        wr_observed(f, "cannot write to '%.150s': %s", folder, strerror(e));
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else if (wr_index_cache_check(folder, &why) < 0) {
        wr_observed(f, "not kept: %.230s", why.msg);
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else {
        wr_observed(f, "%.250s", folder);
    }
    if (f->health != WR_HEALTH_OK)
        wr_means(f, "Data sets are indexed each time they are opened: minutes "
                    "for a million files.");
    free(folder);
}
