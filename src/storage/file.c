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
#include "base/own.h"
#include "base/regular.h"

_Static_assert((int)WR_STORE_GROUP == (int)WR_OWN_GROUP &&
                   (int)WR_STORE_ALL == (int)WR_OWN_ALL,
               "the same bits");

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

/* A folder that is there, or the folder of a file, whose name is *ret_leaf. */
static int open_given(struct file_store *fs, const char *rest, char **ret_leaf,
                      weir_err *err)
{
    struct wr_fd_wait wait = {0};
    struct stat sb;
    int r = 0;

    if (TEMP_FAILURE_RETRY(stat(rest, &sb)) < 0)
        return wr_fail_errno(err, errno, "'%s'", rest);
    if (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode))
        return wr_fail(err, WEIR_EINVAL, "'%s': is %s, not a file or a folder",
                       rest, wr_regular_other(sb.st_mode));
    if (!S_ISDIR(sb.st_mode))
        r = split_leaf(rest, &fs->root, ret_leaf);
    else if (!(fs->root = strdup(rest)))
        r = WEIR_ENOMEM;
    if (r < 0)
        return wr_fail(err, r, "out of memory");
    do
        fs->dir_fd = (int)TEMP_FAILURE_RETRY(
            open(fs->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    while (fs->dir_fd < 0 && wr_fd_retry(&wait, errno));
    if (fs->dir_fd < 0)
        return wr_fail_errno(err, errno, "'%s': cannot open folder", fs->root);
    return 0;
}

/* Those of which nobody else may change what is in them. */
#define MUST_BE_OURS                                                           \
    (WR_STORE_PRIVATE | WR_STORE_GROUP | WR_STORE_ALL | WR_STORE_MINE)

static int open_private(struct file_store *fs, const char *rest, unsigned flags,
                        weir_err *err)
{
    unsigned own = flags & (WR_STORE_GROUP | WR_STORE_ALL);

    if (!(flags & WR_STORE_MINE)) {
        fs->dir_mode = wr_own_dir_mode(own);
        fs->file_mode = wr_own_file_mode(own);
        own |= WR_OWN_MAKE;
    }
    fs->root = strdup(rest);
    if (!fs->root)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return wr_own_dir(rest, own, &fs->dir_fd, err);
}

static int file_open(const char *rest, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, weir_err *err)
{
    struct file_store *fs = calloc(1, sizeof(*fs));
    char *leaf = NULL;
    struct statfs sf;
    int r;

    if (!fs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *fs = (struct file_store){.store.ops = &wr_storage_file,
                              .dir_fd = -1,
                              .own = flags & ~(unsigned)WR_STORE_NO_LINKS,
                              .no_links = flags & WR_STORE_NO_LINKS,
                              .dir_mode = 0777,
                              .file_mode = 0666};
    if (flags & WR_STORE_SECRET) {
        fs->dir_mode = wr_own_dir_mode(0);
        fs->file_mode = wr_own_file_mode(0);
    }
    r = flags & MUST_BE_OURS ? open_private(fs, rest, flags, err)
                             : open_given(fs, rest, &leaf, err);
    if (r < 0) {
        file_close(&fs->store);
        free(leaf);
        return r;
    }
    fs->fickle = TEMP_FAILURE_RETRY(fstatfs(fs->dir_fd, &sf)) == 0 &&
                 sf.f_type == FUSE_SUPER_MAGIC;
    *ret = &fs->store;
    *ret_leaf = leaf;
    return 0;
}

/* What a name stands for; a link is asked twice, what is none once. */
static int stat_name(const struct file_store *fs, int dir, const char *name,
                     struct stat *ret, bool *ret_link)
{
    int r = (int)TEMP_FAILURE_RETRY(
        fstatat(dir, name, ret, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));

    *ret_link = r == 0 && S_ISLNK(ret->st_mode);
    if (*ret_link && !fs->own)
        r = (int)TEMP_FAILURE_RETRY(fstatat(dir, name, ret, 0));
    return r;
}

static int file_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                     weir_err *err)
{
    struct file_store *fs = to_store(st);
    struct wr_file_at at;
    struct stat sb;
    int r = wr_file_at_open(fs, path, &at);

    if (r == 0) {
        r = stat_name(fs, at.fd, at.name, &sb, &ret->link);
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
    ret->owner = sb.st_uid;
    ret->identity = wr_file_identity(fs, &sb);
    return 0;
}

/* NULL at the end, with errno 0, or on failure. */
static struct dirent *next_entry(DIR *dir)
{
    struct dirent *d;

    do {
        errno = 0;
        d = readdir(dir);
    } while (!d && errno == EINTR);
    return d;
}

static int list_entries(const struct file_store *fs, DIR *dir, wr_list_fn fn,
                        void *arg)
{
    struct dirent *d;

    while ((d = next_entry(dir))) { /* which sets errno */
        struct wr_entry e = {.name = d->d_name};
        struct stat sb;
        int r;

        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
            continue;
        if (d->d_type == DT_DIR) {
            e.kind = WR_KIND_DIR;
        } else if (stat_name(fs, dirfd(dir), d->d_name, &sb, &e.link) < 0) {
            if (wr_err_is_lack(wr_error_from_errno(errno)))
                return 0; /* errno says so: nothing is known of this one */
            e.kind = WR_KIND_OTHER; /* gone, or a link to nothing */
        } else {
            e.kind = kind_of(sb.st_mode);
            e.size = (uint64_t)sb.st_size;
            e.identity = wr_file_identity(fs, &sb);
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
    r = list_entries(fs, dir, fn, arg);
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
    r = (int)TEMP_FAILURE_RETRY(fsync(fd));
    e = errno;
    wr_fd_close(fd);
    errno = e;
    return r;
}

/* The mode that a folder gets where `dir` is: the umask alone does not say it,
 * for a default ACL counts instead where there is one. */
static int learn_mode(int dir, mode_t wanted, mode_t *ret)
{
    static const char name[] = ".tmp-mode";
    struct stat sb;
    int r;

    if (mkdirat(dir, name, wanted) < 0 && errno != EEXIST)
        return -1;
    r = (int)TEMP_FAILURE_RETRY(fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW));
    if (unlinkat(dir, name, AT_REMOVEDIR) < 0 || r < 0)
        return -1;
    *ret = sb.st_mode & 07777;
    return 0;
}

static int share_dir(struct file_store *fs, const char *path)
{
    int fd = wr_file_open_dir(fs, path), r, e;
    mode_t mode;

    if (fd < 0)
        return -1;
    r = learn_mode(fd, fs->dir_mode, &mode);
    if (r == 0)
        r = (int)TEMP_FAILURE_RETRY(fchmod(fd, mode));
    e = errno;
    wr_fd_close(fd);
    errno = e;
    return r;
}

static int remove_entry(const struct wr_file_at *at)
{
    if (TEMP_FAILURE_RETRY(unlinkat(at->fd, at->name, 0)) == 0)
        return 0;
    if (errno != EISDIR)
        return -1;
    return (int)TEMP_FAILURE_RETRY(unlinkat(at->fd, at->name, AT_REMOVEDIR));
}

/* The folder of the second name, which often is that of the first. */
static int open_there(const struct file_store *fs, const char *path,
                      const struct wr_file_at *at, const char *to,
                      struct wr_file_at *ret)
{
    const char *slash = strrchr(to, '/');
    size_t dir = slash ? (size_t)(slash + 1 - to) : 0;

    if (!at->opened || (size_t)(at->name - path) != dir ||
        memcmp(path, to, dir) != 0 || !strcmp(to + dir, ".."))
        return wr_file_at_open(fs, to, ret);
    *ret = (struct wr_file_at){.fd = at->fd, .name = to + dir};
    return 0;
}

/* 0, or -1 and errno. */
static int change_entry(struct file_store *fs, enum wr_change what,
                        const char *path, const char *to)
{
    struct wr_file_at at, there;
    int r;

    if (wr_file_at_open(fs, path, &at) < 0)
        return -1;
    if (what == WR_MKDIR || what == WR_MKDIR_PRIVATE) {
        r = (int)TEMP_FAILURE_RETRY(
            mkdirat(at.fd, at.name, what == WR_MKDIR ? fs->dir_mode : S_IRWXU));
    } else if (what == WR_REMOVE) {
        r = remove_entry(&at);
    } else {
        r = open_there(fs, path, &at, to, &there);
        if (r == 0) {
            r = what == WR_SWAP
                    ? wr_file_swap(&at, &there)
                    : wr_file_rename(&at, &there, what == WR_RENAME);
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
        [WR_MKDIR_PRIVATE] = "create folder",
        [WR_SHARE] = "change the mode of folder",
        [WR_REMOVE] = "remove",
        [WR_SYNC_DIR] = "sync folder",
    };
    struct file_store *fs = to_store(st);
    int r = what == WR_SYNC_DIR ? sync_dir(fs, path)
            : what == WR_SHARE  ? share_dir(fs, path)
                                : change_entry(fs, what, path, to);

    if (r == 0)
        return 0;
    if (what == WR_RENAME || what == WR_RENAME_NEW)
        return wr_fail_errno(err, errno, "'%s': cannot rename to '%s'", path,
                             to);
    if (what == WR_SWAP)
        return wr_fail_errno(err, errno, "'%s': cannot swap with '%s'", path,
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

    if (TEMP_FAILURE_RETRY(fstatvfs(fs->dir_fd, &sv)) < 0)
        return wr_fail_errno(err, errno, "'%s': free space", fs->root);
    /* f_bfree counts what only the superuser may take, too. */
    *ret_bytes = (uint64_t)sv.f_bavail * sv.f_frsize;
    return 0;
}

static bool file_forgets(struct wr_store *st)
{
    struct statfs sf;

    return TEMP_FAILURE_RETRY(fstatfs(to_store(st)->dir_fd, &sf)) == 0 &&
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
