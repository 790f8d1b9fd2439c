/* ops_data.c - handlers of file contents and attributes: open, read, write, sync,
 * close, stat, chmod.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/regular.h"
#include "mount/door.h"

#define PAGE    4096u
#define NO_FILE UINT64_MAX /* the probe's */

/* The kernel does what these ask for: each write says whether it appends, and
 * the kernel's page cache is the one that is passed by or not. */
static int source_flags(int flags)
{
    return (flags & ~(O_APPEND | O_DIRECT | O_NOFOLLOW)) | O_CLOEXEC;
}

int wr_data_fd(const struct fuse_file_info *fi)
{
    return (int)fi->fh;
}

void wr_data_close(const struct fuse_file_info *fi)
{
    if (fi->fh != NO_FILE)
        close(wr_data_fd(fi));
}

/* Makes `r` the answer to an open; takes over `fd`. `owes_ns`: since when the
 * device is to open the file; 0: it has. */
static void answer_open(struct wr_reply *r, int fd, uint64_t owes_ns,
                        const struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(r->req);

    if ((unsigned)fd < WR_DOOR_OWES)
        atomic_store(&d->owes[fd], owes_ns);
    r->fi = *fi;
    r->fi.fh = (uint64_t)fd;
    r->fi.keep_cache = 1; /* times and sizes tell when it is stale */
}

/* At the first read, once: since when its file is being opened. */
static uint64_t take_opening(struct wr_door *d, int fd)
{
    return (unsigned)fd < WR_DOOR_OWES ? atomic_exchange(&d->owes[fd], 0) : 0;
}

/* Who opens a file has just looked for it, unless the kernel knew its name. */
static uint64_t opening_since(struct wr_inode *inode)
{
    uint64_t now = wr_clock_ns(),
             looked = atomic_exchange(&inode->looked_ns, 0);

    return looked && now - looked < WR_DOOR_SPENT_NS ? looked : now;
}

static void open_probe(fuse_req_t req, struct fuse_file_info *fi)
{
    fi->fh = NO_FILE;
    fi->direct_io = 1;
    fuse_reply_open(req, fi);
}

/* To find a file and to read from it is one task of a device, as a reader
 * waits for both: the first read of a file that is only read has the time of
 * opening it too. So the depth that the device sees is that of the readers. */
static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    struct wr_inode *inode = wr_door_inode(d, ino);
    bool reads = (fi->flags & O_ACCMODE) == O_RDONLY;
    char path[WR_PROC_PATH];
    struct wr_reply *r;
    uint64_t due, since;
    int fd;

    if (wr_door_is_probe(d, ino)) {
        open_probe(req, fi);
        return;
    }
    since = opening_since(inode);
    due = reads ? 0 : wr_door_due_meta(d, inode);
    r = wr_door_reply(req, 0);
    if (!r)
        return;
    fd = open(wr_proc_path(path, inode->fd), source_flags(fi->flags));
    if (fd < 0) {
        r->error = errno == EMFILE ? ENFILE : errno;
    } else {
        r->kind = WR_REPLY_OPEN;
        answer_open(r, fd, reads ? since : 0, fi);
    }
    wr_door_answer(d, r, due);
}

/* Makes a file that was not there when the kernel looked. If it is there now,
 * who asks may not be permitted to open it: the kernel has to look again. */
static int make_file(const struct wr_inode *in, const char *name, mode_t mode,
                     int flags)
{
    int fd = openat(in->fd, name,
                    source_flags(flags) | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

    if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
        errno = ESTALE;
    return fd;
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name,
                      mode_t mode, struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_inode *in = wr_door_inode(d, parent);
    uint64_t due = wr_door_due_meta(d, in);
    struct wr_reply *r = wr_door_reply(req, 0);
    int fd;

    if (!r)
        return;
    fd = make_file(in, name, mode, fi->flags);
    if (fd < 0) {
        r->error = errno;
    } else {
        r->error = wr_tree_entry(d, in, name, &r->entry);
        if (r->error) {
            close(fd);
        } else {
            r->kind = WR_REPLY_CREATE;
            answer_open(r, fd, /* owes_ns= */ 0, fi);
        }
    }
    wr_door_answer(d, r, due);
}

static void op_release(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *fi)
{
    wr_data_close(fi);
    fuse_reply_err(req, 0);
}

static void read_probe(fuse_req_t req, size_t size, off_t off)
{
    struct wr_door *d = wr_door_of(req);
    struct wr_reply *r = wr_door_reply(req, size);
    bool late = off >= (off_t)WR_PROBE_LATE_OFFSET;

    if (!r)
        return;
    memset(r->buf, 0, size);
    r->kind = WR_REPLY_DATA;
    r->size = size;
    wr_door_answer(d, r,
                   late ? wr_clock_ns() + wr_probe_wait_ns((uint64_t)off) : 0);
}

/* Bytes that a read at `off` can give: a device moves no more. */
static size_t within_file(int fd, size_t size, off_t off)
{
    struct stat st;

    if (size <= PAGE || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return size;
    if (off >= st.st_size)
        return 0;
    return WR_MIN(size, (size_t)(st.st_size - off));
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                    struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    struct wr_device_request rq = {.op = WR_DEVICE_READ,
                                   .offset = (uint64_t)off};
    struct wr_reply *r;
    uint64_t due = 0, since;
    ssize_t n;

    if (wr_door_is_probe(d, ino)) {
        read_probe(req, size, off);
        return;
    }
    rq.object = wr_inode_object(wr_door_inode(d, ino));
    rq.len = within_file(wr_data_fd(fi), size, off);
    since = take_opening(d, wr_data_fd(fi));
    rq.opens = since > 0;
    if (rq.len)
        due = since ? wr_door_due_opening(d, &rq, since) : wr_door_due(d, &rq);
    r = wr_door_reply(req, size);
    if (!r)
        return;
    n = wr_pread_all(wr_data_fd(fi), r->buf, size, off);
    if (n < 0) {
        r->error = (int)-n;
    } else {
        r->kind = WR_REPLY_DATA;
        r->size = (size_t)n;
    }
    wr_door_answer(d, r, due);
}

/* Writes all; 0 or an errno, with what was written in *ret_done. Where the end
 * is to append to, the source knows: it may have grown without the kernel's
 * knowledge. */
static int write_all(const struct fuse_file_info *fi, struct iovec rest,
                     off_t off, size_t *ret_done)
{
    int flags = fi->flags & O_APPEND ? RWF_APPEND : 0, error = 0;
    size_t done = 0;

    while (rest.iov_len && !error) {
        ssize_t n = pwritev2(wr_data_fd(fi), &rest, 1, off + (off_t)done,
                             flags);

        if (n > 0) {
            done += (size_t)n;
            rest.iov_base = (char *)rest.iov_base + n;
            rest.iov_len -= (size_t)n;
        } else if (n == 0) {
            error = EIO;
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    *ret_done = done;
    return error;
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf,
                     size_t size, off_t off, struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_device_request rq = {
        .op = WR_DEVICE_WRITE,
        .object = wr_inode_object(wr_door_inode(d, ino)),
        .offset = (uint64_t)off,
        .len = size};
    uint64_t due = wr_door_due(d, &rq);
    struct wr_reply *r = wr_door_reply(req, 0);
    size_t done;
    int error;

    if (!r)
        return;
    error = write_all(fi, (struct iovec){(void *)(uintptr_t)buf, size}, off,
                      &done);
    if (done || !error) {
        r->kind = WR_REPLY_COUNT;
        r->size = done;
    } else {
        r->error = error;
    }
    wr_door_answer(d, r, due);
}

/* Without an answer the kernel asks no more: closing costs no round trip. */
static void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    fuse_reply_err(req, ENOSYS);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
                     struct fuse_file_info *fi)
{
    wr_door_sync(req, ino, wr_data_fd(fi), datasync);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off,
                         off_t len, struct fuse_file_info *fi)
{
    uint64_t due = wr_door_due_meta(wr_door_of(req),
                                    wr_door_inode(wr_door_of(req), ino));

    wr_door_answer_error(
        req, fallocate(wr_data_fd(fi), mode, off, len) < 0 ? errno : 0, due);
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence,
                     struct fuse_file_info *fi)
{
    off_t at = lseek(wr_data_fd(fi), off, whence);

    if (at < 0)
        fuse_reply_err(req, errno);
    else
        fuse_reply_lseek(req, at);
}

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

void wr_ops_data(struct fuse_lowlevel_ops *ops)
{
    ops->open = op_open;
    ops->create = op_create;
    ops->release = op_release;
    ops->read = op_read;
    ops->write = op_write;
    ops->flush = op_flush;
    ops->fsync = op_fsync;
    ops->fallocate = op_fallocate;
    ops->lseek = op_lseek;
    ops->getattr = op_getattr;
    ops->setattr = op_setattr;
    ops->statfs = op_statfs;
}
