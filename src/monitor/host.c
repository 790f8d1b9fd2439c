/* host.c - the machine, the file system a run was made on, and its disks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/host.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/named.h"
#include "base/procfs.h"
#include "base/thread.h"

/* Copies what fits; a longer text is cut. */
static void copy_text(char *to, size_t cap, const char *from)
{
    size_t len = strnlen(from, cap - 1);

    memcpy(to, from, len);
    to[len] = '\0';
}

/* The first line of a small file, without its end; "" if there is none. */
static void read_line(const char *path, char *buf, size_t cap)
{
    FILE *f = fopen(path, "re");
    size_t len;

    buf[0] = '\0';
    if (!f)
        return;
    if (!fgets(buf, (int)cap, f))
        buf[0] = '\0';
    fclose(f);
    len = strlen(buf);
    while (len && (buf[len - 1] == '\n' || buf[len - 1] == ' '))
        buf[--len] = '\0';
}

static void cpu_model(char *buf, size_t cap)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[512];

    buf[0] = '\0';
    while (f && !buf[0] && fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');

        if (!colon || strncmp(line, "model name", 10))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        copy_text(buf, cap, colon);
    }
    if (f)
        fclose(f);
}

void wr_host_info(struct wr_host *ret)
{
    struct wr_host h = {.cores = wr_cpu_count()};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct utsname u;

    if (uname(&u) == 0) {
        snprintf(h.name, sizeof(h.name), "%s", u.nodename);
        snprintf(h.kernel, sizeof(h.kernel), "%s %s %s", u.sysname, u.release,
                 u.machine);
    }
    cpu_model(h.cpu, sizeof(h.cpu));
    if (pages > 0 && page > 0)
        h.memory_bytes = (uint64_t)pages * (uint64_t)page;
    *ret = h;
}

static bool is_below(const char *path, const char *mount)
{
    size_t len = strlen(mount);

    if (len == 1)
        return true; /* "/" */
    return !strncmp(path, mount, len) && (!path[len] || path[len] == '/');
}

/* The disk with the number "8:1"; a partition's is its parent. */
static void find_disk(const char *dev, struct wr_host_fs *fs)
{
    char link[PATH_MAX], path[PATH_MAX + 32], text[64];
    char real[PATH_MAX];

    snprintf(link, sizeof(link), "/sys/dev/block/%.32s", dev);
    if (!realpath(link, real))
        return;
    snprintf(path, sizeof(path), "%s/partition", real);
    if (access(path, F_OK) == 0)
        *strrchr(real, '/') = '\0';
    copy_text(fs->device, sizeof(fs->device), strrchr(real, '/') + 1);
    snprintf(path, sizeof(path), "%s/device/model", real);
    read_line(path, fs->model, sizeof(fs->model));
    snprintf(path, sizeof(path), "%s/queue/rotational", real);
    read_line(path, text, sizeof(text));
    if (text[0] == '0' || text[0] == '1')
        fs->rotational = text[0] - '0';
}

/* The last of the longest mount points above `real` is the one in effect. */
static bool find_mount(FILE *f, const char *real, struct wr_host_fs *fs,
                       char *ret_dev, size_t cap)
{
    char *line = NULL;
    size_t line_cap = 0, best = 0;
    struct wr_procfs_mount m;

    while (getline(&line, &line_cap, f) > 0) {
        if (!wr_procfs_mount(line, &m) || !is_below(real, m.point) ||
            strlen(m.point) < best)
            continue;
        best = strlen(m.point);
        copy_text(fs->type, sizeof(fs->type), m.type);
        copy_text(fs->mount, sizeof(fs->mount), m.point);
        copy_text(fs->source, sizeof(fs->source), m.source);
        copy_text(ret_dev, cap, m.dev);
    }
    free(line);
    return best > 0;
}

/* File systems over several disks (btrfs) have a number of their own, which
 * is no disk's; their source is the first one. */
static void use_source(const struct wr_host_fs *fs, char *dev, size_t cap)
{
    struct stat sb;

    if (!strncmp(dev, "0:", 2) && fs->source[0] == '/' &&
        stat(fs->source, &sb) == 0 && S_ISBLK(sb.st_mode))
        snprintf(dev, cap, "%u:%u", major(sb.st_rdev), minor(sb.st_rdev));
}

/* What the file itself tells: the number of its device. */
static bool find_device(const char *path, struct wr_host_fs *fs, char *dev,
                        size_t cap)
{
    struct stat sb;

    if (stat(path, &sb) < 0)
        return false;
    snprintf(fs->type, sizeof(fs->type), "unknown");
    snprintf(dev, cap, "%u:%u", major(sb.st_dev), minor(sb.st_dev));
    return true;
}

int wr_host_fs_of(const char *path, struct wr_host_fs *ret, weir_err *err)
{
    struct wr_host_fs fs = {.rotational = -1};
    char real[PATH_MAX], dev[32];
    bool found = false;
    FILE *f;

    if (!realpath(path, real))
        return wr_fail_errno(err, errno, "'%s'", path);
    f = fopen("/proc/self/mountinfo", "re");
    if (f) {
        found = find_mount(f, real, &fs, dev, sizeof(dev));
        fclose(f);
    }
    /* None is found without /proc, nor in a chroot whose root is not a mount
     * point. */
    if (!found && !find_device(real, &fs, dev, sizeof(dev)))
        return wr_fail_errno(err, errno, "'%s'", path);
    use_source(&fs, dev, sizeof(dev));
    find_disk(dev, &fs);
    *ret = fs;
    return 0;
}

static const char *sys_of(const struct wr_disks *d)
{
    return d->sys ? d->sys : "/sys";
}

static bool has_file(const char *dir, const char *file)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return access(path, F_OK) == 0;
}

/* Keeps the name; false when nothing is to be done about it. */
static bool keep(struct wr_disks *d, const char *name)
{
    if (d->count == WR_DISKS_MAX || strlen(name) >= sizeof(d->name[0]) ||
        wr_named_text(d->name, d->count, sizeof(d->name[0]), name) >= 0)
        return false;
    snprintf(d->name[d->count++], sizeof(d->name[0]), "%s", name);
    return true;
}

/* Calls `fn` for every entry of a folder. */
static void each_entry(struct wr_disks *d, const char *dir,
                       void (*fn)(struct wr_disks *d, const char *name))
{
    DIR *open = opendir(dir);
    const struct dirent *e;

    while (open && (e = readdir(open)))
        if (e->d_name[0] != '.')
            fn(d, e->d_name);
    if (open)
        closedir(open);
}

void wr_disks_add(struct wr_disks *d, const char *name)
{
    char path[PATH_MAX + 16], real[PATH_MAX];

    if (!*name ||
        snprintf(path, PATH_MAX, "%s/class/block/%s", sys_of(d), name) >=
            PATH_MAX ||
        !realpath(path, real))
        return;
    if (has_file(real, "partition"))
        *strrchr(real, '/') = '\0';
    if (!keep(d, strrchr(real, '/') + 1))
        return;
    snprintf(path, sizeof(path), "%s/slaves", real);
    each_entry(d, path, wr_disks_add);
}

void wr_disks_add_path(struct wr_disks *d, const char *path)
{
    struct wr_host_fs fs;

    if (wr_host_fs_of(path, &fs, NULL) == 0 && *fs.device)
        wr_disks_add(d, fs.device);
}

/* Loops, mapped and memory devices have no device; the paths that make up a
 * multipath disk are hidden. */
static void add_real(struct wr_disks *d, const char *name)
{
    char dir[PATH_MAX], path[PATH_MAX + 16], text[16];

    if (snprintf(dir, sizeof(dir), "%s/block/%s", sys_of(d), name) >=
            (int)sizeof(dir) ||
        !has_file(dir, "device"))
        return;
    snprintf(path, sizeof(path), "%s/hidden", dir);
    if (wr_procfs_read_path(path, text, sizeof(text)) > 0 && *text == '1')
        return;
    keep(d, name);
}

void wr_disks_add_all(struct wr_disks *d)
{
    char dir[PATH_MAX];

    if (snprintf(dir, sizeof(dir), "%s/block", sys_of(d)) < (int)sizeof(dir))
        each_entry(d, dir, add_real);
}

const char *wr_disks_file(const struct wr_disks *d, size_t k, const char *file,
                          char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/block/%s/%s", sys_of(d), d->name[k], file);

    return n >= 0 && (size_t)n < cap ? buf : NULL;
}
