/* storage.h - bytes at a URL: the one door through which all I/O goes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A backend is one const table (struct wr_storage_ops) and one line in
 * storage.c. It opens stores; a store is one place (a folder, say) whose
 * objects are named by paths below it. Backends may wrap another store, as
 * `fault:SPEC:/data` does.
 *
 * Reading a data set goes through a queue: submit reads, reap them in any
 * order; writes take the same way. A queue belongs to one thread; a store may
 * be used by many.
 */
#ifndef WR_STORAGE_STORAGE_H
#define WR_STORAGE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/io.h"

/* O_DIRECT wants buffers, offsets and lengths in multiples of this. */
#define WR_DIRECT_ALIGN 4096u

enum wr_kind { WR_KIND_FILE, WR_KIND_DIR, WR_KIND_OTHER };

struct wr_stat {
    enum wr_kind kind;
    uint64_t size;
    uint64_t mtime_ns;
    uint64_t dev, ino; /* identify a directory, to notice loops */
    uint32_t owner;    /* its user */
    uint64_t identity; /* of its inode, size and ctime: another one once it was
                          replaced or written to; 0: not known */
    bool link; /* the name is a symbolic link; the rest is of what it leads to,
                  but in own stores */
};

/* One entry of a listing; `name` lives during the call. */
struct wr_entry {
    const char *name;
    enum wr_kind kind; /* links are followed, but in own stores */
    uint64_t size;     /* files only */
    uint64_t identity; /* files only: as wr_stat's */
    bool link;         /* as wr_stat's */
};

/* Returns 0 to go on; anything else ends the listing and is returned. */
typedef int (*wr_list_fn)(void *arg, const struct wr_entry *e);

/* What a read or write died of; decides the wording of the message. */
enum wr_io_step { WR_STEP_OPEN, WR_STEP_READ, WR_STEP_WRITE, WR_STEP_COMPARE };

enum wr_io_op { WR_IO_READ, WR_IO_WRITE };

/* One read or write of a byte range. The caller fills the first part and keeps
 * the memory until it comes back from reap; the backend fills the second.
 *
 * A write needs an `object` that was opened for it, leaves `buf` alone and
 * writes all of it or fails. In a direct queue a write whose offset, length and
 * buffer are multiples of WR_DIRECT_ALIGN goes past the page cache, any other
 * through it. Writes that overlap must not be in flight together. */
struct wr_io {
    enum wr_io_op op;
    const char *path;         /* borrowed; used when object is NULL: opened
                                 for this read alone */
    struct wr_object *object; /* borrowed; an object that is open already */
    uint64_t offset;
    size_t len;   /* bytes wanted, > 0 */
    void *buf;    /* borrowed; aligned to WR_DIRECT_ALIGN for direct reads */
    size_t cap;   /* >= wr_read_cap(len, direct); len is enough for a read
                   that is not `whole` and, when direct, has an offset and a
                   length that are multiples of WR_DIRECT_ALIGN */
    unsigned tag; /* the caller's own; not touched */
    bool whole;   /* [offset, offset+len) reaches the object's end: bytes
                    behind it mean that it changed */
    uint64_t identity; /* of a read; 0: any. An object that has another one
                          when the bytes are there has changed: what was
                          written before they were read shows by then */

    int result; /* 0 or WEIR_E... */
    int os_errno;
    enum wr_io_step step;
    size_t got;    /* bytes there before it failed; len on success */
    uint8_t *data; /* inside buf: where byte `offset` lies */
};

struct wr_queue_config {
    unsigned depth; /* in flight at most */
    enum weir_io io;
    bool direct;
    bool lazy; /* what is submitted may start as late as the next reap, which
                  then costs one system call for both: for callers that do
                  nothing else in between */
};

/* First member of every backend's queue. */
struct wr_queue {
    const struct wr_queue_ops *ops;
    const char *engine; /* "io_uring", "blocking"; static */
};

struct wr_queue_ops {
    /* required: takes up to n of them; returns how many (fewer when the
     * queue is full). Errors come back through the io itself. */
    unsigned (*submit)(struct wr_queue *q, struct wr_io *const *ios,
                       unsigned n);
    /* required: returns up to `max` finished ones; with `wait` at least one
     * if any is in flight. */
    unsigned (*reap)(struct wr_queue *q, struct wr_io **ret, unsigned max,
                     bool wait);
    /* optional (NULL: there is nothing to hurry): from now on answers come as
     * soon as they are there, and no delay is played any more: for one who
     * gives up. Any thread, while the queue is open. */
    void (*hurry)(struct wr_queue *q);
    /* required: waits for what is in flight and frees the queue. */
    void (*close)(struct wr_queue *q);
};

enum wr_open_mode {
    WR_OPEN_READ,
    WR_OPEN_CREATE, /* to read and write; fails if it exists */
    WR_OPEN_WRITE,  /* to read and write what exists; not cut */
    WR_OPEN_LOCK,   /* as WRITE, and made if it is missing: a file that is
                       locked. Whoever can open it could keep the lock from all
                       others, so it is for its user alone (0600), and in a
                       folder with the set-group bit for the group (0660) */
};

/* First member of every backend's object. */
struct wr_object {
    const struct wr_object_ops *ops;
};

struct wr_object_ops {
    /* required: reads up to len bytes; returns the count, 0 at the end. */
    int64_t (*read)(struct wr_object *o, void *buf, size_t len, uint64_t offset,
                    weir_err *err);
    /* optional (NULL: read-only): writes all of it. */
    int (*write)(struct wr_object *o, const void *buf, size_t len,
                 uint64_t offset, weir_err *err);
    /* optional (with write): returns when all that was written before, here or
     * through a queue, is on the medium, the size included. */
    int (*sync)(struct wr_object *o, weir_err *err);
    /* optional: takes the object for this one alone, until it is closed or the
     * process ends; does not wait. WEIR_EBUSY: another has it. */
    int (*lock)(struct wr_object *o, weir_err *err);
    /* optional (NULL: not known): WEIR_EBUSY when another has it, 0 when none
     * has; takes nothing. */
    int (*locked)(struct wr_object *o, weir_err *err);
    /* optional (with write): cuts or grows it to `size` bytes. Space is
     * reserved where the medium can; new bytes read as 0. */
    int (*resize)(struct wr_object *o, uint64_t size, weir_err *err);
    /* required: closes, after syncing to the medium when `sync`. The object is
     * gone in any case. */
    int (*close)(struct wr_object *o, bool sync, weir_err *err);
};

enum wr_change {
    WR_MKDIR,
    WR_MKDIR_PRIVATE, /* for this user alone, whatever the store's modes */
    WR_SHARE,         /* gives such a folder the mode that WR_MKDIR gives */
    WR_REMOVE,
    WR_RENAME,     /* replaces what is there */
    WR_RENAME_NEW, /* WEIR_EEXIST when there is something (an empty folder may
                      be replaced where the file system knows no better) */
    WR_SWAP, /* two folders; WEIR_ENOTSUP where it cannot be done at once */
    WR_SYNC_DIR,
};

/* How a store is opened.
 *
 * OWN: it is a folder, and weir's own. Below it no symbolic link is followed, not
 * even one that is put there meanwhile (WEIR_EACCES); listings and stat tell one
 * as WR_KIND_OTHER; a file with several names is not opened for writing; paths
 * have no "..". Links in the path to it are followed, once, when it is opened.
 * PRIVATE: OWN, and nobody but this user and root can change what is in it
 * (base/own.h), or WEIR_EACCES; it is made if it is missing, and all that is made
 * in it is for this user alone. GROUP, ALL: PRIVATE, but shared with those who may
 * read it. MINE: as PRIVATE, but it is there already, and modes follow the umask:
 * for what is given to others when it is complete. SECRET: OWN, in a folder that
 * others may write to, too; what is made in it is for this user alone.
 * NO_LINKS: no file is opened through a link below it; for what others made. */
enum wr_store_flags {
    WR_STORE_OWN = 1,
    WR_STORE_PRIVATE = 2,
    WR_STORE_GROUP = 4, /* as WR_OWN_GROUP */
    WR_STORE_ALL = 8,   /* as WR_OWN_ALL */
    WR_STORE_MINE = 16,
    WR_STORE_SECRET = 32,
    WR_STORE_NO_LINKS = 64,
};

/* First member of every backend's store. */
struct wr_store {
    const struct wr_storage_ops *ops;
};

struct wr_storage_ops {
    const char *name; /* the URL's scheme */
    const char *help; /* one line */
    bool wraps;       /* its URLs are "NAME:PARAMETER:URL" */
    /* required: `rest` is the URL behind "name:". *ret_leaf is set to the last
     * part of the path (to be freed) when that is a file, else NULL: the store
     * is then the folder around it. */
    int (*open)(const char *rest, unsigned flags, struct wr_store **ret,
                char **ret_leaf, weir_err *err);
    /* required; takes NULL. */
    void (*close)(struct wr_store *st);
    /* required: path "" is the store itself. */
    int (*stat)(struct wr_store *st, const char *path, struct wr_stat *ret,
                weir_err *err);
    /* required: entries of a folder in no order, without . and .. */
    int (*list)(struct wr_store *st, const char *path, wr_list_fn fn, void *arg,
                weir_err *err);
    /* required: for files only; a pipe, a socket or a device is refused, and
     * never waited for. The same goes for reads by path. */
    int (*object_open)(struct wr_store *st, const char *path,
                       enum wr_open_mode mode, struct wr_object **ret,
                       weir_err *err);
    /* optional (NULL: read-only): `to` for the renames only. */
    int (*change)(struct wr_store *st, enum wr_change what, const char *path,
                  const char *to, weir_err *err);
    /* required. */
    int (*queue_open)(struct wr_store *st, const struct wr_queue_config *cfg,
                      struct wr_queue **ret, weir_err *err);
    /* optional (NULL: not known): bytes that may still be written there. */
    int (*space)(struct wr_store *st, uint64_t *ret_bytes, weir_err *err);
    /* optional (NULL: it keeps them): true when a power cut takes what was
     * synced (a tmpfs). */
    bool (*forgets)(struct wr_store *st);
    /* optional (NULL: none): a path that the kernel knows for `path`, for the
     * page cache tools; false when it does not fit, and in own stores. */
    bool (*local_path)(struct wr_store *st, const char *path, char *buf,
                       size_t cap);
};

/* Opens `url`: "SCHEME:REST" with a registered scheme, else a local path. */
int wr_store_open(const char *url, struct wr_store **ret, char **ret_leaf,
                  weir_err *err);
/* The same with flags of wr_store_flags. */
int wr_store_open_with(const char *url, unsigned flags, struct wr_store **ret,
                       char **ret_leaf, weir_err *err);
/* Opens the folder at `url` with WR_STORE_OWN. */
int wr_store_open_own(const char *url, struct wr_store **ret, weir_err *err);
void wr_store_close(struct wr_store *st);

/* Where the path begins in a URL: behind its schemes and their parameters. */
const char *wr_url_path(const char *url);

/* "a/b/c/" -> "a/b" and "c"; "c" -> "." and "c"; "/c" -> "/" and "c"; schemes
 * stay with the first. Both are fresh memory. A name that is "", "." or ".." is
 * refused. */
int wr_url_split(const char *url, char **ret_parent, char **ret_name,
                 weir_err *err);

/* The registry: table k, NULL past the end. */
const struct wr_storage_ops *wr_storage_at(unsigned k);

/* Bytes of buffer that a read of `len` needs. One byte more than asked for
 * tells a grown file; a direct read is rounded out to its alignment. */
size_t wr_read_cap(size_t len, bool direct);

/* The queue's hurry, where it has one; takes NULL. */
void wr_queue_hurry(struct wr_queue *q);

/* Fills `err` from a failed read or write: "'a.jpg': cannot open: ...". */
int wr_io_error(const struct wr_io *rd, const char *name, weir_err *err);

/* The hooks that a backend may not have; then WEIR_ENOTSUP. */
int wr_object_write(struct wr_object *o, const void *buf, size_t len,
                    uint64_t offset, weir_err *err);
int wr_object_sync(struct wr_object *o, weir_err *err);
int wr_object_lock(struct wr_object *o, weir_err *err);
int wr_object_locked(struct wr_object *o, weir_err *err);
int wr_object_resize(struct wr_object *o, uint64_t size, weir_err *err);
int wr_store_change(struct wr_store *st, enum wr_change what, const char *path,
                    const char *to, weir_err *err);
int wr_store_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err);

/* Reads until `len` bytes are there or the object ends (a backend may give less
 * at a time); returns how many. */
int64_t wr_object_read_all(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err);

/* Reads `len` bytes, all of them; WEIR_EFORMAT: the object ends before. */
int wr_object_read_fully(struct wr_object *o, void *buf, size_t len,
                         uint64_t offset, weir_err *err);

/* Reads a whole object of at most `limit` bytes into fresh memory (free()),
 * NUL-terminated behind its end. */
int wr_store_slurp(struct wr_store *st, const char *path, size_t limit,
                   char **ret, size_t *ret_len, weir_err *err);

extern const struct wr_storage_ops wr_storage_file;
extern const struct wr_storage_ops wr_storage_fault;
extern const struct wr_storage_ops wr_storage_emu;

#endif
