/* check_path.c - what the storage behind a path can do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "monitor/host.h"
#include "base/procfs.h"
#include "storage/storage.h"

/* Free bytes and whether a power cut takes what was synced there. */
static int ask_store(const char *path, uint64_t *ret_free, bool *ret_forgets,
                     weir_err *err)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;
    int r = wr_storage_file.open(path, 0, &st, &leaf, err);

    if (r < 0)
        return r;
    *ret_forgets = st->ops->forgets(st);
    if (st->ops->space(st, ret_free, NULL) < 0)
        *ret_free = 0;
    free(leaf);
    wr_store_close(st);
    return 0;
}

void wr_check_fs(const struct wr_doctor *d, struct wr_finding *f)
{
    struct wr_host_fs fs;
    bool forgets = false;
    uint64_t space = 0;
    char buf[32];
    weir_err err;
    int e = access(f->path, R_OK) ? errno : 0;

    if (e || wr_host_fs_of(f->path, &fs, &err) < 0 ||
        ask_store(f->path, &space, &forgets, &err) < 0) {
        wr_observed(f, "%s", e ? strerror(e) : err.msg);
        wr_means(f, "weir cannot feed from there.");
        wr_remedy(f, WR_HEALTH_MISSING, "namei -l '%.200s'", f->path);
        return;
    }
    wr_observed(f, "%.60s%s%.60s, %s free", fs.type, *fs.device ? " on " : "",
                fs.device, wr_format_bytes(buf, sizeof(buf), (double)space));
    if (!forgets)
        return;
    wr_means(f, "Memory, not a disk: a checkpoint saved there is lost with the "
                "power, and its pages are taken from the programs' memory.");
    wr_remedy(f, WR_HEALTH_LIMITED, "weir ckpt drain FAST SLOW");
}

/* The first regular file of a folder, open; -1 when there is none. */
static int open_some(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    int fd = -1;

    while (dir && fd < 0 && (e = readdir(dir))) {
        struct stat st;

        if (fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
            S_ISREG(st.st_mode) && st.st_size)
            fd = openat(dirfd(dir), e->d_name,
                        O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    if (dir)
        closedir(dir);
    return fd;
}

/* A file to try on: the path itself, one without a name in the folder, or one
 * that lies there. */
static int open_sample(const char *path)
{
    struct stat st;
    int fd;

    if (stat(path, &st))
        return -1;
    if (!S_ISDIR(st.st_mode))
        return S_ISREG(st.st_mode)
                   ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                   : -1;
    fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 && ftruncate(fd, WR_DIRECT_ALIGN) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return open_some(path);
}

/* 0 when a page comes past the cache; else an errno. */
static int read_direct(int fd)
{
    void *page = NULL;
    int flags = fcntl(fd, F_GETFL), e = 0;

    if (posix_memalign(&page, WR_DIRECT_ALIGN, WR_DIRECT_ALIGN))
        return ENOMEM;
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) ||
        pread(fd, page, WR_DIRECT_ALIGN, 0) < 0)
        e = errno;
    free(page);
    return e;
}

void wr_check_direct(const struct wr_doctor *d, struct wr_finding *f)
{
    int fd = open_sample(f->path), e;

    if (fd < 0) {
        wr_observed(f, "not known: no file to try it on");
        wr_means(f, "The folder is empty and cannot be written to.");
        wr_remedy(f, WR_HEALTH_LIMITED, "weir doctor FILE");
        return;
    }
    e = read_direct(fd);
    close(fd);
    if (!e) {
        wr_observed(f, "works: reads and writes past the page cache");
        return;
    }
    wr_observed(f, "%s", strerror(e));
    wr_means(f, "--direct, 'weir probe' and checkpoints go through the page "
                "cache there: what is measured includes memory.");
    wr_remedy(f, WR_HEALTH_MISSING, "df -T # choose a path on ext4 or xfs");
}

void wr_check_disks(const struct wr_doctor *d, struct wr_finding *f)
{
    char sys[PATH_MAX], file[PATH_MAX], text[512];
    struct wr_disks disks = {
        .sys = wr_doctor_path(d, "/sys", sys, sizeof(sys))};
    size_t used = 0, counted = 0;

    wr_disks_add_path(&disks, f->path);
    for (size_t k = 0; k < disks.count && used < sizeof(f->found); k++) {
        if (!wr_disks_file(&disks, k, "stat", file, sizeof(file)) ||
            wr_procfs_read_path(file, text, sizeof(text)) <= 0)
            continue;
        used += (size_t)snprintf(f->found + used, sizeof(f->found) - used,
                                 "%s%s", counted++ ? ", " : "", disks.name[k]);
    }
    if (counted)
        return;
    wr_observed(f, "none");
    wr_means(f, "No block device of this machine is known for the path "
                "(network, memory, overlay): records have no disk activity. "
                "Ask on the storage server.");
    wr_remedy(f, WR_HEALTH_LIMITED, "%s", "");
}
