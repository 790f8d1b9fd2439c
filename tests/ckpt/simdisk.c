/* simdisk.c - a disk in memory that remembers the order of everything.
 * SPDX-License-Identifier: Apache-2.0 */
#include "simdisk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct sim_store {
    struct wr_store store;
    struct sim_disk *disk; /* borrowed */
    uint32_t root;
};

struct sim_object {
    struct wr_object object;
    struct sim_disk *disk; /* borrowed */
    uint32_t node;
    bool writable;
    char *path; /* owned; for messages */
};

struct sim_queue {
    struct wr_queue queue;
    struct sim_store *store; /* borrowed */
    struct wr_io **done;     /* owned: `depth` */
    unsigned depth, count;
};

/* --- the disk --- */

static void record(struct sim_disk *d, const struct sim_op *op)
{
    if (!wr_grow(&d->ops, &d->cap, d->count + 1, sizeof(*d->ops)))
        abort();
    d->ops[d->count++] = *op;
    sim_fs_apply(&d->fs, op);
}

struct sim_disk *sim_disk_of(struct sim_fs *fs)
{
    struct sim_disk *d = sim_alloc(1, sizeof(*d));

    pthread_mutex_init(&d->lock, NULL);
    d->fs = *fs;
    sim_fs_copy(fs, &d->base);
    d->free_bytes = (uint64_t)1 << 30;
    return d;
}

struct sim_disk *sim_disk_new(unsigned sector)
{
    struct sim_fs fs = {.sector = sector};

    return sim_disk_of(&fs);
}

void sim_disk_free(struct sim_disk *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++)
        sim_page_unref(d->ops[i].page);
    free(d->ops);
    sim_fs_done(&d->fs);
    sim_fs_done(&d->base);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

size_t sim_disk_now(struct sim_disk *d)
{
    size_t n;

    pthread_mutex_lock(&d->lock);
    n = d->count;
    pthread_mutex_unlock(&d->lock);
    return n;
}

/* --- paths; all with the lock held --- */

/* The folder around a path and where its last part begins. */
static uint32_t find_parent(const struct sim_store *ss, const char **path)
{
    const struct sim_fs *fs = &ss->disk->fs;
    uint32_t at = ss->root;
    const char *slash;

    while ((slash = strchr(*path, '/'))) {
        at = sim_fs_at(fs, at, *path, (size_t)(slash - *path));
        if (at == SIM_NONE || fs->nodes[at].kind != WR_KIND_DIR)
            return SIM_NONE;
        *path = slash + 1;
    }
    return at;
}

static uint32_t find(const struct sim_store *ss, const char *path)
{
    uint32_t dir;

    if (!*path)
        return ss->root;
    dir = find_parent(ss, &path);
    return dir == SIM_NONE ? SIM_NONE
                           : sim_fs_at(&ss->disk->fs, dir, path, strlen(path));
}

/* Puts a node at a place; errno or 0. */
static int put(struct sim_store *ss, struct sim_op *op, const char *path)
{
    struct sim_disk *d = ss->disk;

    op->to = find_parent(ss, &path);
    if (op->to == SIM_NONE)
        return ENOENT;
    if (!*path || strlen(path) >= SIM_NAME)
        return *path ? ENAMETOOLONG : EINVAL;
    op->what = SIM_PLACE;
    op->replaced = sim_fs_at(&d->fs, op->to, path, strlen(path));
    snprintf(op->name, sizeof(op->name), "%s", path);
    record(d, op);
    return 0;
}

/* --- reading and writing; with the lock held --- */

static size_t read_node(const struct sim_fs *fs, uint32_t node, void *buf,
                        size_t len, uint64_t offset)
{
    uint64_t size = sim_fs_size(fs, node);
    uint8_t *to = buf;
    size_t done = 0;

    if (offset >= size)
        return 0;
    len = (size_t)WR_MIN(len, size - offset);
    while (done < len) {
        uint64_t at = (offset + done) / fs->sector;
        size_t skip = (size_t)((offset + done) % fs->sector);
        size_t part = WR_MIN(len - done, fs->sector - skip);
        const struct sim_page *page = sim_fs_page(fs, node, at);

        if (page)
            memcpy(to + done, page->bytes + skip, part);
        else
            memset(to + done, 0, part);
        done += part;
    }
    return len;
}

static void set_size(struct sim_disk *d, uint32_t node, uint64_t size)
{
    struct sim_op op = {
        .what = SIM_SIZE, .kind = WR_KIND_FILE, .node = node, .at = size};

    if (sim_fs_size(&d->fs, node) != size)
        record(d, &op);
}

static void write_node(struct sim_disk *d, uint32_t node, const void *buf,
                       size_t len, uint64_t offset)
{
    unsigned sector = d->fs.sector;

    if (offset + len > sim_fs_size(&d->fs, node))
        set_size(d, node, offset + len);
    for (size_t done = 0, part; done < len; done += part) {
        size_t skip = (size_t)((offset + done) % sector);
        struct sim_op op = {.what = SIM_WRITE,
                            .kind = WR_KIND_FILE,
                            .node = node,
                            .at = (offset + done) / sector};

        part = WR_MIN(len - done, sector - skip);
        op.page = sim_page_new(
            sector, part == sector ? (const uint8_t *)buf + done : NULL);
        if (part < sector) {
            read_node(&d->fs, node, op.page->bytes, sector, op.at * sector);
            memcpy(op.page->bytes + skip, (const uint8_t *)buf + done, part);
        }
        record(d, &op);
    }
}

/* --- objects --- */

static struct sim_object *to_object(struct wr_object *o)
{
    return (struct sim_object *)o;
}

static int64_t sim_read(struct wr_object *o, void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct sim_object *so = to_object(o);
    size_t n;

    (void)err;
    pthread_mutex_lock(&so->disk->lock);
    n = read_node(&so->disk->fs, so->node, buf, len, offset);
    pthread_mutex_unlock(&so->disk->lock);
    return (int64_t)n;
}

static int sim_write(struct wr_object *o, const void *buf, size_t len,
                     uint64_t offset, weir_err *err)
{
    struct sim_object *so = to_object(o);

    if (!so->writable)
        return wr_fail_errno(err, EBADF, "'%s': cannot write", so->path);
    pthread_mutex_lock(&so->disk->lock);
    write_node(so->disk, so->node, buf, len, offset);
    pthread_mutex_unlock(&so->disk->lock);
    return 0;
}

static int sim_sync(struct wr_object *o, weir_err *err)
{
    struct sim_object *so = to_object(o);
    struct sim_disk *d = so->disk;
    struct sim_op op = {
        .what = SIM_SYNC_FILE, .kind = WR_KIND_FILE, .node = so->node};

    pthread_mutex_lock(&d->lock);
    if (d->bad_sync && ++d->syncs % d->bad_sync == 0)
        op.what = SIM_SYNC_BAD;
    record(d, &op);
    pthread_mutex_unlock(&d->lock);
    if (op.what == SIM_SYNC_BAD)
        return wr_fail_errno(err, EIO, "'%s': cannot sync", so->path);
    return 0;
}

static int sim_lock(struct wr_object *o, weir_err *err)
{
    struct sim_object *so = to_object(o);
    struct sim_node *n;
    bool mine;

    pthread_mutex_lock(&so->disk->lock);
    n = &so->disk->fs.nodes[so->node];
    if (!n->locked_by)
        n->locked_by = so;
    mine = n->locked_by == so;
    pthread_mutex_unlock(&so->disk->lock);
    if (!mine)
        return wr_fail(err, WEIR_EBUSY, "'%s': locked by another", so->path);
    return 0;
}

static int sim_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct sim_object *so = to_object(o);

    if (!so->writable)
        return wr_fail_errno(err, EBADF, "'%s': cannot resize", so->path);
    pthread_mutex_lock(&so->disk->lock);
    set_size(so->disk, so->node, size);
    pthread_mutex_unlock(&so->disk->lock);
    return 0;
}

static int sim_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct sim_object *so = to_object(o);
    struct sim_node *n;
    int r = 0;

    if (sync)
        r = sim_sync(o, err);
    pthread_mutex_lock(&so->disk->lock);
    n = &so->disk->fs.nodes[so->node];
    if (n->locked_by == so)
        n->locked_by = NULL;
    pthread_mutex_unlock(&so->disk->lock);
    free(so->path);
    free(so);
    return r;
}

static const struct wr_object_ops object_ops = {
    .read = sim_read,
    .write = sim_write,
    .sync = sim_sync,
    .lock = sim_lock,
    .resize = sim_resize,
    .close = sim_close,
};

/* With the lock held: errno or 0. */
static int find_or_make(struct sim_store *ss, const char *path,
                        enum wr_open_mode mode, uint32_t *ret)
{
    struct sim_disk *d = ss->disk;
    struct sim_op op = {.kind = WR_KIND_FILE, .from = SIM_NONE};
    uint32_t node = find(ss, path);
    int e;

    if (mode == WR_OPEN_CREATE || (mode == WR_OPEN_LOCK && node == SIM_NONE)) {
        if (node != SIM_NONE)
            return EEXIST;
        op.node = (uint32_t)d->fs.count;
        e = put(ss, &op, path);
        *ret = op.node;
        return e;
    }
    if (node == SIM_NONE)
        return ENOENT;
    if (d->fs.nodes[node].kind != WR_KIND_FILE)
        return EISDIR;
    *ret = node;
    return 0;
}

static int sim_object_open(struct wr_store *st, const char *path,
                           enum wr_open_mode mode, struct wr_object **ret,
                           weir_err *err)
{
    struct sim_store *ss = (struct sim_store *)st;
    struct sim_object *so;
    uint32_t node = SIM_NONE;
    int e;

    pthread_mutex_lock(&ss->disk->lock);
    e = find_or_make(ss, path, mode, &node);
    pthread_mutex_unlock(&ss->disk->lock);
    if (e)
        return wr_fail_errno(err, e, "'%s': cannot %s", path,
                             mode == WR_OPEN_CREATE ? "create" : "open");
    so = sim_alloc(1, sizeof(*so));
    so->object.ops = &object_ops;
    so->disk = ss->disk;
    so->node = node;
    so->writable = mode != WR_OPEN_READ;
    so->path = strdup(path);
    *ret = &so->object;
    return 0;
}

/* --- the queue: done when it is submitted; what order does to a file is for
 * the crash states --- */

static int serve(struct sim_store *ss, struct wr_io *io)
{
    struct sim_object *so = to_object(io->object);
    uint32_t node = so ? so->node : find(ss, io->path);
    uint64_t end = io->offset + io->len;

    io->data = io->buf;
    io->os_errno = 0;
    io->got = 0;
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE : WR_STEP_READ;
    if (io->op == WR_IO_WRITE) {
        if (!so || !so->writable)
            return EBADF;
        write_node(ss->disk, node, io->buf, io->len, io->offset);
        io->got = io->len;
        return 0;
    }
    if (node == SIM_NONE) {
        io->step = WR_STEP_OPEN;
        return ENOENT;
    }
    io->got = read_node(&ss->disk->fs, node, io->buf, io->len, io->offset);
    io->result = io->got < io->len ||
                         (io->whole && sim_fs_size(&ss->disk->fs, node) > end)
                     ? WEIR_ECHANGED
                     : 0;
    return 0;
}

static unsigned sim_submit(struct wr_queue *q, struct wr_io *const *ios,
                           unsigned n)
{
    struct sim_queue *sq = (struct sim_queue *)q;
    struct sim_disk *d = sq->store->disk;
    unsigned taken = 0;

    pthread_mutex_lock(&d->lock);
    while (taken < n && sq->count < sq->depth) {
        struct wr_io *io = ios[taken++];

        io->result = 0;
        io->os_errno = serve(sq->store, io);
        if (io->os_errno)
            io->result = wr_error_from_errno(io->os_errno);
        sq->done[sq->count++] = io;
    }
    pthread_mutex_unlock(&d->lock);
    return taken;
}

/* The last one first: callers must not rely on an order. */
static unsigned sim_reap(struct wr_queue *q, struct wr_io **ret, unsigned max,
                         bool wait)
{
    struct sim_queue *sq = (struct sim_queue *)q;
    unsigned n = 0;

    (void)wait;
    while (n < max && sq->count)
        ret[n++] = sq->done[--sq->count];
    return n;
}

static void sim_queue_close(struct wr_queue *q)
{
    free(((struct sim_queue *)q)->done);
    free(q);
}

static const struct wr_queue_ops queue_ops = {
    .submit = sim_submit,
    .reap = sim_reap,
    .close = sim_queue_close,
};

static int sim_queue_open(struct wr_store *st,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    struct sim_queue *sq = sim_alloc(1, sizeof(*sq));

    (void)err;
    sq->queue.ops = &queue_ops;
    sq->queue.engine = "simulated";
    sq->store = (struct sim_store *)st;
    sq->depth = cfg->depth;
    sq->done = sim_alloc(cfg->depth, sizeof(struct wr_io *));
    *ret = &sq->queue;
    return 0;
}

/* --- the store --- */

static int sim_open(const char *rest, unsigned flags, struct wr_store **ret,
                    char **ret_leaf, weir_err *err)
{
    (void)flags;
    (void)ret;
    (void)ret_leaf;
    return wr_fail(err, WEIR_ENOTSUP, "'%s': has no address", rest);
}

static void sim_store_close(struct wr_store *st)
{
    free(st);
}

static int sim_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    struct sim_store *ss = (struct sim_store *)st;
    uint32_t node;

    pthread_mutex_lock(&ss->disk->lock);
    node = find(ss, path);
    if (node != SIM_NONE)
        *ret = (struct wr_stat){.kind = ss->disk->fs.nodes[node].kind,
                                .size = sim_fs_size(&ss->disk->fs, node),
                                .mtime_ns = 1,
                                .dev = 1,
                                .ino = node + 1};
    pthread_mutex_unlock(&ss->disk->lock);
    if (node == SIM_NONE)
        return wr_fail_errno(err, ENOENT, "'%s'", path);
    return 0;
}

/* Copies the entries first: `fn` may call the store. */
static int sim_list(struct wr_store *st, const char *path, wr_list_fn fn,
                    void *arg, weir_err *err)
{
    struct sim_store *ss = (struct sim_store *)st;
    const struct sim_fs *fs = &ss->disk->fs;
    struct {
        enum wr_kind kind;
        uint64_t size;
        char name[SIM_NAME];
    } * found;
    size_t count = 0;
    uint32_t dir;
    int r = 0;

    pthread_mutex_lock(&ss->disk->lock);
    dir = find(ss, path);
    found = sim_alloc(fs->count, sizeof(*found));
    for (size_t i = 0; i < fs->count && dir != SIM_NONE; i++) {
        if (fs->nodes[i].parent != dir)
            continue;
        found[count].kind = fs->nodes[i].kind;
        found[count].size = sim_fs_size(fs, (uint32_t)i);
        memcpy(found[count++].name, fs->nodes[i].name, SIM_NAME);
    }
    pthread_mutex_unlock(&ss->disk->lock);
    if (dir == SIM_NONE)
        r = wr_fail_errno(err, ENOENT, "'%s': cannot open folder", path);
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_entry e = {.name = found[i].name,
                             .kind = found[i].kind,
                             .size = found[i].size};

        r = fn(arg, &e);
    }
    free(found);
    return r;
}

static int make_dir(struct sim_store *ss, const char *path)
{
    struct sim_op op = {.kind = WR_KIND_DIR, .from = SIM_NONE};

    if (find(ss, path) != SIM_NONE)
        return EEXIST;
    op.node = (uint32_t)ss->disk->fs.count;
    return put(ss, &op, path);
}

static int remove_entry(struct sim_store *ss, const char *path)
{
    struct sim_disk *d = ss->disk;
    uint32_t node = find(ss, path);
    struct sim_op op = {.what = SIM_GONE, .node = node};

    if (node == SIM_NONE)
        return ENOENT;
    if (node == ss->root)
        return EBUSY;
    op.kind = d->fs.nodes[node].kind;
    op.to = d->fs.nodes[node].parent;
    memcpy(op.name, d->fs.nodes[node].name, sizeof(op.name));
    if (op.kind == WR_KIND_DIR && !sim_fs_is_empty(&d->fs, node))
        return ENOTEMPTY;
    record(d, &op);
    return 0;
}

static int swap_entries(struct sim_store *ss, const char *path, const char *to)
{
    const struct sim_fs *fs = &ss->disk->fs;
    uint32_t node = find(ss, path), old = find(ss, to);
    struct sim_op op = {.node = node, .kind = WR_KIND_DIR, .swaps = true};

    if (node == SIM_NONE || old == SIM_NONE)
        return ENOENT;
    if (fs->nodes[node].kind != WR_KIND_DIR ||
        fs->nodes[old].kind != WR_KIND_DIR)
        return ENOTDIR;
    op.from = fs->nodes[node].parent;
    return put(ss, &op, to);
}

static int rename_entry(struct sim_store *ss, const char *path, const char *to,
                        bool replace)
{
    struct sim_disk *d = ss->disk;
    uint32_t node = find(ss, path), old = find(ss, to);
    struct sim_op op = {.node = node};

    if (node == SIM_NONE)
        return ENOENT;
    if (node == old)
        return replace ? 0 : EEXIST;
    if (old != SIM_NONE && !replace)
        return EEXIST;
    if (old != SIM_NONE && d->fs.nodes[old].kind == WR_KIND_DIR &&
        !sim_fs_is_empty(&d->fs, old))
        return ENOTEMPTY;
    op.kind = d->fs.nodes[node].kind;
    op.from = d->fs.nodes[node].parent;
    return put(ss, &op, to);
}

static int sync_folder(struct sim_store *ss, const char *path)
{
    uint32_t node = find(ss, path);
    struct sim_op op = {
        .what = SIM_SYNC_DIR, .kind = WR_KIND_DIR, .node = node};

    if (node == SIM_NONE)
        return ENOENT;
    if (ss->disk->fs.nodes[node].kind != WR_KIND_DIR)
        return ENOTDIR;
    record(ss->disk, &op);
    return 0;
}

static int sim_change(struct wr_store *st, enum wr_change what,
                      const char *path, const char *to, weir_err *err)
{
    struct sim_store *ss = (struct sim_store *)st;
    int e = EINVAL;

    pthread_mutex_lock(&ss->disk->lock);
    switch (what) {
    case WR_MKDIR:
    case WR_MKDIR_PRIVATE: /* the disk has no modes */
        e = make_dir(ss, path);
        break;
    case WR_REMOVE:
        e = remove_entry(ss, path);
        break;
    case WR_RENAME:
    case WR_RENAME_NEW:
        e = rename_entry(ss, path, to, /* replace= */ what == WR_RENAME);
        break;
    case WR_SWAP:
        e = swap_entries(ss, path, to);
        break;
    case WR_SYNC_DIR:
        e = sync_folder(ss, path);
        break;
    case WR_SHARE:
        e = 0;
        break;
    }
    pthread_mutex_unlock(&ss->disk->lock);
    if (e)
        return wr_fail_errno(err, e, "'%s': cannot change", path);
    return 0;
}

static int sim_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    (void)err;
    *ret_bytes = ((struct sim_store *)st)->disk->free_bytes;
    return 0;
}

static const struct wr_storage_ops store_ops = {
    .name = "sim",
    .help = "a disk in memory",
    .open = sim_open,
    .close = sim_store_close,
    .stat = sim_stat,
    .list = sim_list,
    .object_open = sim_object_open,
    .change = sim_change,
    .queue_open = sim_queue_open,
    .space = sim_space,
};

struct wr_store *sim_store_new(struct sim_disk *d, const char *root)
{
    struct sim_store *ss = sim_alloc(1, sizeof(*ss));
    struct sim_op op = {.what = SIM_PLACE, .kind = WR_KIND_DIR, .to = SIM_ROOT};

    ss->store.ops = &store_ops;
    ss->disk = d;
    pthread_mutex_lock(&d->lock);
    ss->root = sim_fs_at(&d->fs, SIM_ROOT, root, strlen(root));
    if (ss->root == SIM_NONE) {
        snprintf(op.name, sizeof(op.name), "%s", root);
        op.node = ss->root = (uint32_t)d->fs.count;
        sim_fs_apply(&d->fs, &op);
        sim_fs_apply(&d->base, &op);
    }
    pthread_mutex_unlock(&d->lock);
    return &ss->store;
}
