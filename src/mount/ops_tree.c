/* ops_tree.c - handlers of names: look up, make, remove, rename, link, list.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mount/door.h"

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

/* An open folder; the kernel lets one thread at a time list it. */
struct folder {
    DIR *dir;             /* owned */
    off_t at;             /* where `dir` stands */
    struct dirent *entry; /* read, and not yet told; in `dir` */
};

static struct folder *folder_of(const struct fuse_file_info *fi)
{
    return (struct folder *)(uintptr_t)fi->fh;
}

static int folder_open(int parent_fd, struct folder **ret)
{
    struct folder *f = calloc(1, sizeof(*f));
    int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = errno;

    if (f && fd >= 0)
        f->dir = fdopendir(fd);
    if (f && f->dir) {
        *ret = f;
        return 0;
    }
    if (fd >= 0)
        close(fd);
    free(f);
    return fd < 0 ? error : ENOMEM;
}

void wr_list_close(const struct fuse_file_info *fi)
{
    struct folder *f = folder_of(fi);

    closedir(f->dir);
    free(f);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *fi)
{
    struct wr_door *d = wr_door_of(req);
    const struct wr_inode *inode = wr_door_inode(d, ino);
    uint64_t due = wr_door_due_meta(d, inode);
    struct wr_reply *r = wr_door_reply(req, 0);
    struct folder *f = NULL;

    if (!r)
        return;
    r->error = folder_open(inode->fd, &f);
    if (!r->error) {
        fi->fh = (uint64_t)(uintptr_t)f;
        r->kind = WR_REPLY_OPENDIR;
        r->fi = *fi;
    }
    wr_door_answer(d, r, due);
}

/* The next entry, kept until it is told; NULL at the end or with *error. */
static struct dirent *peek(struct folder *f, int *error)
{
    if (!f->entry) {
        errno = 0;
        f->entry = readdir(f->dir);
        *error = errno;
    }
    return f->entry;
}

static bool is_dot(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

struct listing {
    fuse_req_t req;
    const struct wr_inode *inode;
    struct folder *folder;
    char *buf;
    size_t size, used;
};

/* Adds one entry with its attributes, or only its name when it cannot be
 * looked up. True when it had room. */
static bool add_plus(struct listing *l, const struct dirent *e)
{
    struct wr_door *d = wr_door_of(l->req);
    struct fuse_entry_param p = {.ino = 0};
    size_t n;

    if (is_dot(e->d_name) || wr_inodes_is_crowded(&d->inodes) ||
        wr_tree_entry(d, l->inode, e->d_name, &p) != 0) {
        memset(&p, 0, sizeof(p));
        p.attr.st_ino = e->d_ino;
        p.attr.st_mode = (mode_t)e->d_type << 12;
    }
    n = fuse_add_direntry_plus(l->req, l->buf + l->used, l->size - l->used,
                               e->d_name, &p, e->d_off);
    if (n > l->size - l->used) {
        if (p.ino)
            wr_inodes_forget(&d->inodes, wr_door_inode(d, p.ino), 1);
        return false;
    }
    l->used += n;
    return true;
}

static bool add_name(struct listing *l, const struct dirent *e)
{
    struct stat st = {.st_ino = e->d_ino, .st_mode = (mode_t)e->d_type << 12};
    size_t n = fuse_add_direntry(l->req, l->buf + l->used, l->size - l->used,
                                 e->d_name, &st, e->d_off);

    if (n > l->size - l->used)
        return false;
    l->used += n;
    return true;
}

static int fill(struct listing *l, off_t off, bool plus)
{
    struct folder *f = l->folder;
    struct dirent *e;
    int error = 0;

    if (off != f->at) {
        seekdir(f->dir, off);
        f->entry = NULL;
        f->at = off;
    }
    while ((e = peek(f, &error))) {
        if (!(plus ? add_plus(l, e) : add_name(l, e)))
            break;
        f->at = e->d_off;
        f->entry = NULL;
    }
    return l->used ? 0 : error; /* what was told must not be lost */
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                 const struct fuse_file_info *fi, bool plus)
{
    struct wr_door *d = wr_door_of(req);
    struct wr_reply *r = wr_door_reply(req, size);
    struct listing l;
    int error;

    if (!r)
        return;
    l = (struct listing){.req = req,
                         .inode = wr_door_inode(d, ino),
                         .folder = folder_of(fi),
                         .buf = r->buf,
                         .size = size};
    error = fill(&l, off, plus);
    if (error)
        fuse_reply_err(req, error);
    else
        fuse_reply_buf(req, r->buf, l.used);
    wr_reply_free(&d->replies, r);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                       struct fuse_file_info *fi)
{
    list(req, ino, size, off, fi, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size,
                           off_t off, struct fuse_file_info *fi)
{
    list(req, ino, size, off, fi, true);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino,
                          struct fuse_file_info *fi)
{
    wr_list_close(fi);
    fuse_reply_err(req, 0);
}

static void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync,
                        struct fuse_file_info *fi)
{
    wr_door_sync(req, ino, dirfd(folder_of(fi)->dir), datasync);
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
    ops->opendir = op_opendir;
    ops->readdir = op_readdir;
    ops->readdirplus = op_readdirplus;
    ops->releasedir = op_releasedir;
    ops->fsyncdir = op_fsyncdir;
}
