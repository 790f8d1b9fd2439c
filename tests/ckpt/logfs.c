/* logfs.c - a disk that remembers every write and flush, for power cuts.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     logfs IMAGE LOG MOUNTPOINT
 *
 * A FUSE file system with two files. `disk` is IMAGE; a loop device on it makes
 * it a disk, and what the file system on that writes and flushes is appended to
 * LOG, in order. What is written to `mark` is put into the log as it is: by it
 * a program says what it has been promised so far. Writing "start" to `mark`
 * begins the log; before it nothing is kept.
 *
 * LOG is a row of records: u8 kind ('W', 'F', 'M'), u64 offset, u32 length,
 * and so many bytes (of W and M). */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INO_DISK = 2, INO_MARK = 3 };

struct logfs {
    int image, log;
    bool logging;
    pthread_mutex_t lock;
};

static struct logfs *of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

static bool write_all(int fd, const void *buf, size_t len)
{
    const char *p = buf;

    while (len) {
        ssize_t n = write(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* The caller has the lock. */
static bool put(struct logfs *l, char kind, uint64_t offset, const void *bytes,
                uint32_t len)
{
    uint8_t head[13] = {(uint8_t)kind};

    if (!l->logging)
        return true;
    memcpy(head + 1, &offset, 8);
    memcpy(head + 9, &len, 4);
    return write_all(l->log, head, sizeof(head)) &&
           write_all(l->log, bytes, len);
}

static void fill(struct logfs *l, fuse_ino_t ino, struct stat *sb)
{
    struct stat image;

    *sb = (struct stat){.st_ino = ino, .st_nlink = 1};
    if (ino == FUSE_ROOT_ID) {
        sb->st_mode = S_IFDIR | 0755;
        return;
    }
    sb->st_mode = S_IFREG | 0600;
    if (ino == INO_DISK && fstat(l->image, &image) == 0)
        sb->st_size = image.st_size;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param e = {.attr_timeout = 60, .entry_timeout = 60};

    e.ino = parent != FUSE_ROOT_ID  ? 0
            : !strcmp(name, "disk") ? INO_DISK
            : !strcmp(name, "mark") ? INO_MARK
                                    : 0;
    if (!e.ino) {
        fuse_reply_err(req, ENOENT);
        return;
    }
    fill(of(req), e.ino, &e.attr);
    fuse_reply_entry(req, &e);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *fi)
{
    struct stat sb;

    (void)fi;
    fill(of(req), ino, &sb);
    fuse_reply_attr(req, &sb, 60);
}

/* O_TRUNC of `mark`, and times. */
static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr,
                       int what, struct fuse_file_info *fi)
{
    (void)attr;
    (void)what;
    on_getattr(req, ino, fi);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    /* No page cache of its own: what the loop device sends is logged as it
     * comes. */
    (void)ino;
    fi->direct_io = 1;
    fuse_reply_open(req, fi);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
                    struct fuse_file_info *fi)
{
    char *buf = malloc(size);
    ssize_t n = 0;

    (void)fi;
    if (buf && ino == INO_DISK)
        n = pread(of(req)->image, buf, size, off);
    if (!buf || n < 0)
        fuse_reply_err(req, buf ? errno : ENOMEM);
    else
        fuse_reply_buf(req, buf, (size_t)n);
    free(buf);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *buf,
                     size_t size, off_t off, struct fuse_file_info *fi)
{
    struct logfs *l = of(req);
    bool good = true;

    (void)fi;
    pthread_mutex_lock(&l->lock);
    if (ino == INO_MARK && size >= 5 && !memcmp(buf, "start", 5)) {
        l->logging = true;
    } else if (ino == INO_MARK) {
        good = put(l, 'M', 0, buf, (uint32_t)size);
    } else {
        good = pwrite(l->image, buf, size, off) == (ssize_t)size &&
               put(l, 'W', (uint64_t)off, buf, (uint32_t)size);
    }
    pthread_mutex_unlock(&l->lock);
    if (good)
        fuse_reply_write(req, size);
    else
        fuse_reply_err(req, EIO);
}

static void on_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
                     struct fuse_file_info *fi)
{
    struct logfs *l = of(req);
    bool good;

    (void)ino;
    (void)datasync;
    (void)fi;
    pthread_mutex_lock(&l->lock);
    good = put(l, 'F', 0, NULL, 0);
    pthread_mutex_unlock(&l->lock);
    fuse_reply_err(req, good ? 0 : EIO);
}

static void on_statfs(fuse_req_t req, fuse_ino_t ino)
{
    struct statvfs sv = {.f_bsize = 4096, .f_frsize = 4096, .f_namemax = 255};

    (void)ino;
    fuse_reply_statfs(req, &sv);
}

static const struct fuse_lowlevel_ops ops = {
    .lookup = on_lookup,
    .getattr = on_getattr,
    .setattr = on_setattr,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .statfs = on_statfs,
};

static int serve(struct logfs *l, const char *where)
{
    char name[] = "logfs", *argv[] = {name, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(1, argv);
    struct fuse_session *s = fuse_session_new(&args, &ops, sizeof(ops), l);
    int r = 1;

    if (s && fuse_set_signal_handlers(s) == 0) {
        if (fuse_session_mount(s, where) == 0) {
            r = fuse_session_loop(s) != 0;
            fuse_session_unmount(s);
        }
        fuse_remove_signal_handlers(s);
    }
    if (s)
        fuse_session_destroy(s);
    fuse_opt_free_args(&args);
    return r;
}

int main(int argc, char **argv)
{
    struct logfs l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int r;

    if (argc != 4) {
        fprintf(stderr, "usage: logfs IMAGE LOG MOUNTPOINT\n");
        return 2;
    }
    l.image = open(argv[1], O_RDWR | O_CLOEXEC);
    l.log = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (l.image < 0 || l.log < 0) {
        perror("logfs");
        return 1;
    }
    r = serve(&l, argv[3]);
    close(l.image);
    return close(l.log) < 0 ? 1 : r;
}
