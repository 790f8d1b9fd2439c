/* file.c - local files: the store and its folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/regular.h"

static struct file_store *to_store(struct wr_store *st)
{
    return (struct file_store *)st;
}

static enum wr_kind kind_of(mode_t mode)
{
    return S_ISREG(mode)   ? WR_KIND_FILE
           : S_ISDIR(mode) ? WR_KIND_DIR
                           : WR_KIND_OTHER;
}

/* --- the store --- */

static void file_close(struct wr_store *st)
{
    struct file_store *fs = to_store(st);

    if (!fs)
        return;
    if (fs->dir_fd >= 0)
        wr_fd_close(fs->dir_fd);
    free(fs->root);
    free(fs);
}

/* Splits "a/b/c" into folder "a/b" and leaf "c"; both are fresh memory. */
static int split_leaf(const char *path, char **ret_dir, char **ret_leaf)
{
    const char *slash = strrchr(path, '/');
    char *dir, *leaf;

    dir = !slash          ? strdup(".")
          : slash == path ? strdup("/")
                          : strndup(path, (size_t)(slash - path));
    leaf = strdup(slash ? slash + 1 : path);
    if (!dir || !leaf) {
        free(dir);
        free(leaf);
        return WEIR_ENOMEM;
    }
    *ret_dir = dir;
    *ret_leaf = leaf;
    return 0;
}

static int file_open(const char *rest, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, weir_err *err)
{
    struct file_store *fs = NULL;
    char *dir = NULL, *leaf = NULL;
    struct wr_fd_wait wait = {0};
    struct stat sb;
    int r;

    if (stat(rest, &sb) < 0)
        return wr_fail_errno(err, errno, "'%s'", rest);
    if (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode))
        return wr_fail(err, WEIR_EINVAL, "'%s': is %s, not a file or a folder",
                       rest, wr_regular_other(sb.st_mode));
    fs = calloc(1, sizeof(*fs));
    if (!fs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fs->store.ops = &wr_storage_file;
    fs->dir_fd = -1;
    fs->own = flags & WR_STORE_OWN;
    if (S_ISDIR(sb.st_mode))
        r = (dir = strdup(rest)) ? 0 : WEIR_ENOMEM;
    else
        r = split_leaf(rest, &dir, &leaf);
    if (r < 0) {
        wr_fail(err, r, "out of memory");
        goto out;
    }
    fs->root = dir;
    do
        fs->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fs->dir_fd < 0 && wr_fd_retry(&wait, errno));
    if (fs->dir_fd < 0) {
        r = wr_fail_errno(err, errno, "'%s': cannot open folder", dir);
        goto out;
    }
    *ret = &fs->store;
    *ret_leaf = leaf;
    fs = NULL;
    leaf = NULL;
out:
    file_close(fs ? &fs->store : NULL);
    free(leaf);
    return r;
}

static int file_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                     weir_err *err)
{
    struct file_store *fs = to_store(st);
    int flags = AT_EMPTY_PATH | (fs->own ? AT_SYMLINK_NOFOLLOW : 0), r;
    struct wr_file_at at;
    struct stat sb;

    r = wr_file_at_open(fs, path, &at);
    if (r == 0) {
        r = fstatat(at.fd, at.name, &sb, flags);
        wr_file_at_close(&at);
    }
    if (r < 0)
        return wr_fail_errno(err, errno, "'%s'", path);
    ret->kind = kind_of(sb.st_mode);
    ret->size = (uint64_t)sb.st_size;
    ret->mtime_ns = (uint64_t)sb.st_mtim.tv_sec * 1000000000u +
                    (uint64_t)sb.st_mtim.tv_nsec;
    ret->dev = sb.st_dev;
    ret->ino = sb.st_ino;
    return 0;
}

static int list_entries(DIR *dir, bool own, wr_list_fn fn, void *arg)
{
    int flags = own ? AT_SYMLINK_NOFOLLOW : 0;
    struct dirent *d;

    /* errno tells the end from an error, and what is below changes it. */
    while (errno = 0, (d = readdir(dir))) {
        struct wr_entry e = {.name = d->d_name};
        struct stat sb;
        int r;

        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
            continue;
        if (d->d_type == DT_DIR) {
            e.kind = WR_KIND_DIR;
        } else if (fstatat(dirfd(dir), d->d_name, &sb, flags) < 0) {
            if (wr_err_is_lack(wr_error_from_errno(errno)))
                return 0; /* errno says so: nothing is known of this one */
            e.kind = WR_KIND_OTHER; /* gone, or a link to nothing */
        } else {
            e.kind = kind_of(sb.st_mode);
            e.size = (uint64_t)sb.st_size;
        }
        r = fn(arg, &e);
        if (r)
            return r;
    }
    return 0;
}

static int file_list(struct wr_store *st, const char *path, wr_list_fn fn,
                     void *arg, weir_err *err)
{
    struct file_store *fs = to_store(st);
    const char *shown = *path ? path : fs->root;
    DIR *dir;
    int fd, r;

    fd = wr_file_open_dir(fs, path);
    if (fd < 0)
        return wr_fail_errno(err, errno, "'%s': cannot open folder", shown);
    dir = fdopendir(fd);
    if (!dir) {
        wr_fd_close(fd);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    errno = 0;
    r = list_entries(dir, fs->own, fn, arg);
    if (r == 0 && errno)
        r = wr_fail_errno(err, errno, "'%s': cannot list", shown);
    closedir(dir);
    wr_fd_closed();
    return r;
}

/* --- changes --- */

static int sync_dir(struct file_store *fs, const char *path)
{
    int fd = wr_file_open_dir(fs, path), r, e;

    if (fd < 0)
        return -1;
    r = fsync(fd);
    e = errno;
    wr_fd_close(fd);
    errno = e;
    return r;
}

static int remove_entry(const struct wr_file_at *at)
{
    if (unlinkat(at->fd, at->name, 0) == 0)
        return 0;
    return errno == EISDIR ? unlinkat(at->fd, at->name, AT_REMOVEDIR) : -1;
}

/* 0, or -1 and errno. */
static int change_entry(struct file_store *fs, enum wr_change what,
                        const char *path, const char *to)
{
    struct wr_file_at at, there;
    int r;

    if (wr_file_at_open(fs, path, &at) < 0)
        return -1;
    if (what == WR_MKDIR) {
        r = mkdirat(at.fd, at.name, 0777);
    } else if (what == WR_REMOVE) {
        r = remove_entry(&at);
    } else {
        r = wr_file_at_open(fs, to, &there);
        if (r == 0) {
            r = wr_file_rename(&at, &there, what == WR_RENAME);
            wr_file_at_close(&there);
        }
    }
    wr_file_at_close(&at);
    return r;
}

static int file_change(struct wr_store *st, enum wr_change what,
                       const char *path, const char *to, weir_err *err)
{
    static const char *const verbs[] = {
        [WR_MKDIR] = "create folder",
        [WR_REMOVE] = "remove",
        [WR_SYNC_DIR] = "sync folder",
    };
    struct file_store *fs = to_store(st);
    int r = what == WR_SYNC_DIR ? sync_dir(fs, path)
                                : change_entry(fs, what, path, to);

    if (r == 0)
        return 0;
    if (what == WR_RENAME || what == WR_RENAME_NEW)
        return wr_fail_errno(err, errno, "'%s': cannot rename to '%s'", path,
                             to);
    return wr_fail_errno(err, errno, "'%s': cannot %s", *path ? path : fs->root,
                         verbs[what]);
}

static int file_queue_open(struct wr_store *st,
                           const struct wr_queue_config *cfg,
                           struct wr_queue **ret, weir_err *err)
{
    struct file_store *fs = to_store(st);

    if (cfg->io == WEIR_IO_BLOCKING)
        return wr_file_blocking_open(fs, cfg, ret, err);
    if (cfg->io == WEIR_IO_URING)
        return wr_file_uring_open(fs, cfg, ret, err);
    if (wr_file_uring_open(fs, cfg, ret, NULL) == 0)
        return 0;
    return wr_file_blocking_open(fs, cfg, ret, err);
}

static int file_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    struct file_store *fs = to_store(st);
    struct statvfs sv;

    if (fstatvfs(fs->dir_fd, &sv) < 0)
        return wr_fail_errno(err, errno, "'%s': free space", fs->root);
    /* f_bfree counts what only the superuser may take, too. */
    *ret_bytes = (uint64_t)sv.f_bavail * sv.f_frsize;
    return 0;
}

static bool file_forgets(struct wr_store *st)
{
    struct statfs sf;

    return fstatfs(to_store(st)->dir_fd, &sf) == 0 &&
           (sf.f_type == TMPFS_MAGIC || sf.f_type == RAMFS_MAGIC);
}

static bool file_local_path(struct wr_store *st, const char *path, char *buf,
                            size_t cap)
{
    const char *root = to_store(st)->root;
    int n;

    if (to_store(st)->own) /* who takes that path follows links */
        return false;
    if (*path == '/')
        n = snprintf(buf, cap, "%s", path);
    else
        n = snprintf(buf, cap, "%s/%s", root, path);
    return n >= 0 && (size_t)n < cap;
}

const struct wr_storage_ops wr_storage_file = {
    .name = "file",
    .help = "local files, through io_uring or blocking readers",
    .open = file_open,
    .close = file_close,
    .stat = file_stat,
    .list = file_list,
    .object_open = wr_file_object_open,
    .change = file_change,
    .queue_open = file_queue_open,
    .space = file_space,
    .forgets = file_forgets,
    .local_path = file_local_path,
};
