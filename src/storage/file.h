/* file.h - what the parts of the local file backend share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STORAGE_FILE_H
#define WR_STORAGE_FILE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "storage/storage.h"

struct file_store {
    struct wr_store store;
    int dir_fd;                 /* owned: the folder that paths start from */
    char *root;                 /* owned: its path, for messages */
    bool own;                   /* WR_STORE_OWN */
    bool no_links;              /* WR_STORE_NO_LINKS */
    mode_t dir_mode, file_mode; /* of what is made */
    bool fickle; /* its inodes get other numbers while nobody has them open */
};

/* Where a name is: for the calls that end in "at". */
struct wr_file_at {
    int fd;           /* its folder; the store's unless `opened` */
    const char *name; /* borrowed */
    bool opened;
};

struct file_object {
    struct wr_object object;
    int fd;                      /* owned */
    atomic_int direct_fd;        /* owned; see wr_file_direct_fd */
    const struct file_store *fs; /* borrowed */
    int access;                  /* O_RDONLY or O_RDWR */
    char *path;                  /* owned */
};

/* The range that is really asked for: the aligned one of a direct read; a
 * plain read asks for one byte more than wanted if it is to notice growth. */
struct wr_span {
    uint64_t offset;
    size_t len;
    bool direct;
};

/* `direct`: when it can be; a write that is not aligned cannot. */
struct wr_span wr_file_span(const struct wr_io *io, bool direct);

/* The descriptor that goes past the page cache, opened when it is first asked
 * for: a small file that is read once is not opened twice. -1: not to be had.
 * Safe from any thread. */
int wr_file_direct_fd(struct file_object *fo);

/* The descriptor of its object to use; -1 when it has none. */
int wr_file_fd(const struct wr_io *io, const struct wr_span *span);

/* Whether to go on with the rest of the span, after `total` bytes of it are
 * done and the last call did `last`. */
bool wr_file_wants_more(const struct wr_io *io, const struct wr_span *span,
                        size_t total, size_t last);

/* Whether to try once more after this errno. `again` counts the times in a row,
 * from 0, that it was put off; each is a pause, and after a second it is over. */
bool wr_file_again(int e, unsigned *again);

/* Settles a read or write of which `total` bytes of its span are done. */
void wr_file_settle(const struct file_store *fs, struct wr_io *io,
                    const struct wr_span *span, size_t total);

/* Settles a failed one. */
void wr_file_settle_errno(struct wr_io *io, enum wr_io_step step, size_t total,
                          int e);

/* wr_stat.identity. */
uint64_t wr_file_identity(const struct file_store *fs, const struct stat *sb);

/* --- file_path.c: all return -1 and set errno. --- */

/* Opens a file; what is no file is EISDIR or ENXIO. In an own store links are
 * ELOOP, and a file of several names cannot be opened for writing (EMLINK). */
int wr_file_open(const struct file_store *fs, const char *path, int flags);
/* Opens a folder; path "" is the store itself. */
int wr_file_open_dir(const struct file_store *fs, const char *path);
/* Finds the folder of a name; done with wr_file_at_close, which keeps errno. */
int wr_file_at_open(const struct file_store *fs, const char *path,
                    struct wr_file_at *ret);
void wr_file_at_close(struct wr_file_at *at);

/* Without `replace` EEXIST when there is something. -1: errno. */
int wr_file_rename(const struct wr_file_at *from, const struct wr_file_at *to,
                   bool replace);
/* Two folders change places; EOPNOTSUPP where the file system cannot. */
int wr_file_swap(const struct wr_file_at *a, const struct wr_file_at *b);

int wr_file_object_open(struct wr_store *st, const char *path,
                        enum wr_open_mode mode, struct wr_object **ret,
                        weir_err *err);
int wr_file_uring_open(struct file_store *fs, const struct wr_queue_config *cfg,
                       struct wr_queue **ret, weir_err *err);
int wr_file_blocking_open(struct file_store *fs,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err);

#endif
