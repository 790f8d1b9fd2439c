/* ops_tree.c - handlers of names: look up, make, remove, rename, link.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/door.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_probe_name(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct wr_door *d = wr_door_of(req);
    int pid = atomic_load(&d->probe_pid);

    return pid && parent == FUSE_ROOT_ID && fuse_req_ctx(req)->pid == pid &&
           !strcmp(name, d->probe_name);
}

static void reply_probe(fuse_req_t req)
{
    struct wr_door *d = wr_door_of(req);
    struct fuse_entry_param e = {.ino = (fuse_ino_t)(uintptr_t)&d->probe};

    e.attr = wr_door_probe_attr(req);
    fuse_reply_entry(req, &e);
}

int wr_tree_entry(struct wr_door *d, const struct wr_inode *parent,
                  const char *name, struct fuse_entry_param *ret)
{
    struct wr_inode *inode;
    int r;

    memset(ret, 0, sizeof(*ret));
    r = wr_inodes_lookup(&d->inodes, parent, name, &inode, &ret->attr);
    if (r < 0)
        return -r;
    ret->attr_timeout = d->timeout_s;
    ret->entry_timeout = d->timeout_s;
    ret->ino = inode == &d->inodes.root ? FUSE_ROOT_ID
                                        : (fuse_ino_t)(uintptr_t)inode;
    return 0;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct wr_door *d = wr_door_of(req);
    uint64_t now = wr_clock_ns();
    struct fuse_entry_param e;
    int error;

    if (is_probe_name(req, parent, name)) {
        reply_probe(req);
        return;
    }
    error = wr_tree_entry(d, wr_door_inode(d, parent), name, &e);
    if (!error)
        atomic_store(&wr_door_inode(d, e.ino)->looked_ns, now);
    if (error)
        fuse_reply_err(req, error);
    else if (fuse_reply_entry(req, &e) < 0)
        wr_inodes_forget(&d->inodes, wr_door_inode(d, e.ino), 1);
}

static void forget_one(struct wr_door *d, fuse_ino_t ino, uint64_t n)
{
    if (!wr_door_is_probe(d, ino))
        wr_inodes_forget(&d->inodes, wr_door_inode(d, ino), n);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
    forget_one(wr_door_of(req), ino, n);
    fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count,
                            struct fuse_forget_data *list)
{
    for (size_t i = 0; i < count; i++)
        forget_one(wr_door_of(req), list[i].ino, list[i].nlookup);
    fuse_reply_none(req);
}

/* There is a new name (error 0): answers with its entry. */
static void answer_named(fuse_req_t req, fuse_ino_t parent, const char *name,
                         int error)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_inode *in = wr_door_inode(d, parent);
    uint64_t due = wr_door_due_meta(d, in);
    struct wr_reply *r;

    if (error) {
        wr_door_answer_error(req, error, due);
        return;
    }
    r = wr_door_reply(req, 0);
    if (!r)
        return;
    r->error = wr_tree_entry(d, in, name, &r->entry);
    r->kind = r->error ? WR_REPLY_ERROR : WR_REPLY_ENTRY;
    wr_door_answer(d, r, due);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
                     mode_t mode)
{
    int fd = wr_door_inode(wr_door_of(req), parent)->fd;

    answer_named(req, parent, name, mkdirat(fd, name, mode) < 0 ? errno : 0);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
                     mode_t mode, dev_t rdev)
{
    int fd = wr_door_inode(wr_door_of(req), parent)->fd;

    answer_named(req, parent, name,
                 mknodat(fd, name, mode, rdev) < 0 ? errno : 0);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent,
                       const char *name)
{
    int fd = wr_door_inode(wr_door_of(req), parent)->fd;

    answer_named(req, parent, name,
                 symlinkat(target, fd, name) < 0 ? errno : 0);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent,
                    const char *name)
{
    struct wr_door *d = wr_door_of(req);
    char path[WR_PROC_PATH];
    int to = wr_door_inode(d, parent)->fd, error = 0;

    wr_proc_path(path, wr_door_inode(d, ino)->fd);
    if (linkat(AT_FDCWD, path, to, name, AT_SYMLINK_FOLLOW) < 0)
        error = errno;
    answer_named(req, parent, name, error);
}

static void answer_removed(fuse_req_t req, fuse_ino_t parent, const char *name,
                           int flags)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_inode *in = wr_door_inode(d, parent);
    uint64_t due = wr_door_due_meta(d, in);

    wr_door_answer_error(req, unlinkat(in->fd, name, flags) < 0 ? errno : 0,
                         due);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    answer_removed(req, parent, name, 0);
}

static void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    answer_removed(req, parent, name, AT_REMOVEDIR);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
                      fuse_ino_t newparent, const char *newname,
                      unsigned int flags)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_inode *from = wr_door_inode(d, parent);
    uint64_t due = wr_door_due_meta(d, from);
    int error = 0;

    if (renameat2(from->fd, name, wr_door_inode(d, newparent)->fd, newname,
                  flags) < 0)
        error = errno;
    wr_door_answer_error(req, error, due);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
    char target[PATH_MAX + 1];
    ssize_t n = readlinkat(wr_door_inode(wr_door_of(req), ino)->fd, "", target,
                           sizeof(target));

    if (n < 0 || (size_t)n == sizeof(target)) {
        fuse_reply_err(req, n < 0 ? errno : ENAMETOOLONG);
        return;
    }
    target[n] = '\0';
    fuse_reply_readlink(req, target);
}

void wr_ops_tree(struct fuse_lowlevel_ops *ops)
{
    ops->lookup = op_lookup;
    ops->forget = op_forget;
    ops->forget_multi = op_forget_multi;
    ops->mkdir = op_mkdir;
    ops->mknod = op_mknod;
    ops->symlink = op_symlink;
    ops->link = op_link;
    ops->unlink = op_unlink;
    ops->rmdir = op_rmdir;
    ops->rename = op_rename;
    ops->readlink = op_readlink;
}
