/* inode.c - the table of files that the kernel knows, each with a descriptor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/inode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/rng.h"

#define KEPT_FDS 64 /* for open files and the process itself, at least */

uint64_t wr_inode_object(const struct wr_inode *inode)
{
    return wr_mix64((uint64_t)inode->dev + UINT64_C(0x9e3779b97f4a7c15)) ^
           (uint64_t)inode->ino;
}

static uint64_t key_of(dev_t dev, ino_t ino)
{
    return wr_map_hashed(wr_mix64((uint64_t)ino ^ ((uint64_t)dev << 32)));
}

/* Under the lock: the entry of a file, NULL when it is not there. */
static struct wr_map_pointer *find_entry(const struct wr_inodes *t, dev_t dev,
                                         ino_t ino)
{
    struct wr_map_pointer *e = wr_map_find(&t->known, key_of(dev, ino));
    const struct wr_inode *n;

    for (; e; e = wr_map_next(&t->known, e)) {
        n = e->value;
        if (n->ino == ino && n->dev == dev)
            break;
    }
    return e;
}

static size_t descriptor_limit(void)
{
    struct rlimit lim;
    rlim_t soft = 1024;

    if (getrlimit(RLIMIT_NOFILE, &lim) == 0)
        soft = lim.rlim_cur;
    if (soft > SIZE_MAX / 2)
        return SIZE_MAX / 2;
    return soft > 4 * KEPT_FDS ? (size_t)(soft - soft / 8 - KEPT_FDS)
                               : (size_t)soft / 2;
}

int wr_inodes_init(struct wr_inodes *t, int root_fd)
{
    struct stat st;

    if (fstat(root_fd, &st) < 0)
        return -errno;
    memset(t, 0, sizeof(*t));
    t->known.size = sizeof(struct wr_map_pointer);
    t->limit = descriptor_limit();
    t->root = (struct wr_inode){
        .fd = root_fd, .dev = st.st_dev, .ino = st.st_ino, .lookups = 1};
    pthread_mutex_init(&t->lock, NULL);
    return 0;
}

void wr_inodes_done(struct wr_inodes *t)
{
    for (size_t k = 0; k < t->known.cap; k++) {
        struct wr_map_pointer *e = wr_map_at(&t->known, k);
        struct wr_inode *n = e ? e->value : NULL;

        if (n)
            close(n->fd);
        free(n);
    }
    wr_map_done(&t->known);
    close(t->root.fd);
    pthread_mutex_destroy(&t->lock);
}

/* Under the lock: the file told once more, NULL when it is not there. */
static struct wr_inode *find(struct wr_inodes *t, const struct stat *st)
{
    struct wr_map_pointer *e;
    struct wr_inode *n;

    if (st->st_ino == t->root.ino && st->st_dev == t->root.dev) {
        t->root.lookups++;
        return &t->root;
    }
    e = find_entry(t, st->st_dev, st->st_ino);
    n = e ? e->value : NULL;
    if (n)
        n->lookups++;
    return n;
}

/* Under the lock: takes over `fd`. */
static struct wr_inode *insert(struct wr_inodes *t, int fd,
                               const struct stat *st)
{
    struct wr_inode *n = malloc(sizeof(*n));
    struct wr_map_pointer *e = NULL;

    if (n)
        e = wr_map_add(&t->known, key_of(st->st_dev, st->st_ino));
    if (!e) {
        free(n);
        return NULL;
    }
    *n = (struct wr_inode){
        .fd = fd, .dev = st->st_dev, .ino = st->st_ino, .lookups = 1};
    e->value = n;
    return n;
}

/* The file behind `fd`, which is taken over or closed. */
static int adopt(struct wr_inodes *t, int fd, struct wr_inode **ret,
                 struct stat *ret_attr)
{
    struct wr_inode *n;
    struct stat st;
    int r = 0;

    if (fstat(fd, &st) < 0) {
        r = -errno;
        close(fd);
        return r;
    }
    pthread_mutex_lock(&t->lock);
    n = find(t, &st);
    if (n)
        close(fd);
    else if (t->known.count >= t->limit)
        r = -ENFILE;
    else if (!(n = insert(t, fd, &st)))
        r = -ENOMEM;
    pthread_mutex_unlock(&t->lock);
    if (r < 0) {
        close(fd);
        return r;
    }
    *ret = n;
    *ret_attr = st;
    return 0;
}

int wr_inodes_lookup(struct wr_inodes *t, const struct wr_inode *parent,
                     const char *name, struct wr_inode **ret,
                     struct stat *ret_attr)
{
    struct wr_inode *n;
    struct stat st;
    int fd;

    if (!strcmp(name, "..") || !strcmp(name, ".") || strchr(name, '/'))
        return -ENOENT; /* the kernel resolves these itself */
    if (fstatat(parent->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    pthread_mutex_lock(&t->lock);
    n = find(t, &st); /* its descriptor keeps the number from being reused */
    pthread_mutex_unlock(&t->lock);
    if (n) {
        *ret = n;
        *ret_attr = st;
        return 0;
    }
    fd = openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == EMFILE ? -ENFILE : -errno;
    return adopt(t, fd, ret, ret_attr);
}

void wr_inodes_forget(struct wr_inodes *t, struct wr_inode *inode, uint64_t n)
{
    bool gone;

    pthread_mutex_lock(&t->lock);
    inode->lookups -= n < inode->lookups ? n : inode->lookups;
    gone = inode->lookups == 0 && inode != &t->root;
    if (gone)
        wr_map_drop(&t->known, find_entry(t, inode->dev, inode->ino));
    pthread_mutex_unlock(&t->lock);
    if (!gone)
        return;
    close(inode->fd);
    free(inode);
}

bool wr_inodes_is_crowded(struct wr_inodes *t)
{
    bool crowded;

    pthread_mutex_lock(&t->lock);
    crowded = t->known.count > t->limit / 4 * 3;
    pthread_mutex_unlock(&t->lock);
    return crowded;
}
