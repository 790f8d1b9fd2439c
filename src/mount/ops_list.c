/* ops_list.c - handlers of folders: open, list, sync, close.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void wr_ops_list(struct fuse_lowlevel_ops *ops)
{
    ops->opendir = op_opendir;
    ops->readdir = op_readdir;
    ops->readdirplus = op_readdirplus;
    ops->releasedir = op_releasedir;
    ops->fsyncdir = op_fsyncdir;
}
