/* ops_attr.c - handlers of attributes and of the file system as a whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/door.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void reply_attr(fuse_req_t req, fuse_ino_t ino)
{
    struct wr_door *d = wr_door_of(req);
    struct stat st;

    if (wr_door_is_probe(d, ino))
        st = wr_door_probe_attr(req);
    else if (fstat(wr_door_inode(d, ino)->fd, &st) < 0) {
        fuse_reply_err(req, errno);
        return;
    }
    fuse_reply_attr(req, &st, d->timeout_s);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *fi)
{
    reply_attr(req, ino);
}

static int set_owner(int fd, const struct stat *attr, int what)
{
    uid_t uid = what & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
    gid_t gid = what & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;

    return fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

static struct timespec new_time(int what, int now, int set, struct timespec at)
{
    if (what & now)
        return (struct timespec){.tv_nsec = UTIME_NOW};
    if (what & set)
        return at;
    return (struct timespec){.tv_nsec = UTIME_OMIT};
}

static int set_times(int fd, const struct stat *attr, int what)
{
    struct timespec ts[2];

    ts[0] = new_time(what, FUSE_SET_ATTR_ATIME_NOW, FUSE_SET_ATTR_ATIME,
                     attr->st_atim);
    ts[1] = new_time(what, FUSE_SET_ATTR_MTIME_NOW, FUSE_SET_ATTR_MTIME,
                     attr->st_mtim);
    return utimensat(fd, "", ts, AT_EMPTY_PATH);
}

/* `fh` is an open descriptor of the file, or -1. */
static int set_attr(int fd, int fh, const struct stat *attr, int what)
{
    char path[WR_PROC_PATH];

    wr_proc_path(path, fd);
    if (what & FUSE_SET_ATTR_MODE && chmod(path, attr->st_mode) < 0)
        return errno;
    if (what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
        set_owner(fd, attr, what) < 0)
        return errno;
    if (what & FUSE_SET_ATTR_SIZE &&
        (fh >= 0 ? ftruncate(fh, attr->st_size)
                 : truncate(path, attr->st_size)) < 0)
        return errno;
    if (what & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME |
                FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW) &&
        set_times(fd, attr, what) < 0)
        return errno;
    return 0;
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
                       int what, struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    int error;

    if (wr_door_is_probe(d, ino)) {
        fuse_reply_err(req, EACCES);
        return;
    }
    error = set_attr(wr_door_inode(d, ino)->fd, fi ? wr_data_fd(fi) : -1, attr,
                     what);
    if (error)
        fuse_reply_err(req, error);
    else
        reply_attr(req, ino);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
    struct wr_door *d = wr_door_of(req);
    struct statvfs st;

    if (wr_door_is_probe(d, ino))
        ino = FUSE_ROOT_ID;
    if (fstatvfs(wr_door_inode(d, ino)->fd, &st) < 0)
        fuse_reply_err(req, errno);
    else
        fuse_reply_statfs(req, &st);
}

void wr_ops_attr(struct fuse_lowlevel_ops *ops)
{
    ops->getattr = op_getattr;
    ops->setattr = op_setattr;
    ops->statfs = op_statfs;
}
