/* cache_map.c - the map of a folder tier: which sample lies where.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file is mapped and locked, which the storage table knows nothing of; it
 * is the one file of a cache that does not go through it. */
#include "pipeline/cache_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/regular.h"
#include "codec/crc32c.h"

#define VERSION 1u
/* Whoever holds it alone looks through it once; that takes a second for 50
 * million samples. */
#define LOCK_WAIT_NS (30 * UINT64_C(1000000000))

/* A word: 2 bits of state, 10 of data file, 52 of offset / 64. */
#define STATE_BITS   2
#define SEGMENT_BITS 10
#define OFFSET_SHIFT (STATE_BITS + SEGMENT_BITS)

static const uint8_t magic[8] = {'W', 'E', 'I', 'R', 'M', 'A', 'P', '1'};

_Static_assert(sizeof(struct wr_cache_map_header) == WR_CACHE_MAP_HEADER,
               "header");
_Static_assert(sizeof(struct wr_cache_map_entry) == 24, "entry");
_Static_assert(offsetof(struct wr_cache_map_header, used) == 4032, "header");
_Static_assert(WR_CACHE_MAP_SEGMENTS == 1u << SEGMENT_BITS, "segments");

bool wr_cache_map_bytes(uint64_t samples, size_t *ret)
{
    size_t n;

    return wr_mul_ok(samples, sizeof(struct wr_cache_map_entry), &n) &&
           wr_add_ok(n, WR_CACHE_MAP_HEADER, ret) && *ret <= SIZE_MAX / 4;
}

/* Tells names apart that are equal up to the cut. */
static uint64_t cache_map_name_hash(const char *name)
{
    return XXH64(name, strlen(name), 0);
}

/* --- the file --- */

/* What may not be written is read, and so is what others may write. */
static int open_file(struct wr_cache_map *m, const char *path, unsigned share,
                     weir_err *err)
{
    struct stat sb;
    weir_err why;
    int r = wr_own_open(path, O_RDWR | O_CREAT, share, &m->fd, &why);

    if (r < 0 && (why.os_errno == EACCES || why.os_errno == EROFS ||
                  why.os_errno == EPERM)) {
        r = wr_own_open(path, O_RDONLY, share, &m->fd, NULL);
        m->read_only = true;
    }
    if (r < 0)
        return wr_fail_as(err, why.code, &why);
    if (fstat(m->fd, &sb) < 0)
        return wr_fail_errno(err, errno, "'%s'", path);
    m->read_only |= sb.st_uid != geteuid();
    return 0;
}

/* Alone if `alone` and nobody else has it, else shared; returns an errno. */
static int lock(int fd, bool alone, enum wr_cache_map_hold *ret)
{
    uint64_t end = wr_clock_ns() + LOCK_WAIT_NS;

    for (;;) {
        if (alone && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            *ret = WR_CACHE_MAP_ALONE;
            return 0;
        }
        if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
            *ret = WR_CACHE_MAP_SHARED;
            return 0;
        }
        if ((errno != EWOULDBLOCK && errno != EINTR) || wr_clock_ns() >= end)
            return errno;
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
    }
}

int wr_cache_map_lock(struct wr_cache_map *m, const char *path, unsigned share,
                      enum wr_cache_map_hold *ret, weir_err *err)
{
    int r, e;

    *m = (struct wr_cache_map){.fd = -1};
    r = open_file(m, path, share, err);
    if (r == 0 && (e = lock(m->fd, !m->read_only, ret)) != 0)
        r = wr_fail_errno(err, e, "'%s': cannot lock", path);
    if (r < 0)
        wr_cache_map_close(m);
    return r;
}

static void unmap(struct wr_cache_map *m)
{
    if (m->head)
        munmap(m->head, m->size);
    m->head = NULL;
}

void wr_cache_map_close(struct wr_cache_map *m)
{
    unmap(m);
    if (m->fd >= 0)
        close(m->fd);
    *m = (struct wr_cache_map){.fd = -1};
}

int wr_cache_map_share(struct wr_cache_map *m, weir_err *err)
{
    enum wr_cache_map_hold hold;
    int e = lock(m->fd, /* alone= */ false, &hold);

    return e ? wr_fail_errno(err, e, "cannot lock the map") : 0;
}

bool wr_cache_map_is_at(const struct wr_cache_map *m, const char *path)
{
    struct stat held, there;

    return fstat(m->fd, &held) == 0 && lstat(path, &there) == 0 &&
           held.st_ino == there.st_ino && held.st_dev == there.st_dev &&
           (!m->head || (uint64_t)held.st_size == m->size);
}

/* --- what it says of itself --- */

static bool is_map(const struct wr_cache_map_header *h)
{
    return !memcmp(h->magic, magic, sizeof(magic)) && h->version == VERSION &&
           h->entry_bytes == sizeof(struct wr_cache_map_entry) &&
           h->crc == wr_crc32c(0, h, offsetof(struct wr_cache_map_header, crc));
}

static bool is_ours(const struct wr_cache_map *m,
                    const struct wr_cache_map_id *id)
{
    const struct wr_cache_map_header *h = m->head;

    return is_map(h) && h->fingerprint == id->fingerprint &&
           h->samples == id->samples && h->sample_bytes == id->sample_bytes;
}

bool wr_cache_map_peek(const void *bytes, uint64_t *ret_fingerprint,
                       uint64_t *ret_name_hash)
{
    struct wr_cache_map_header h;

    memcpy(&h, bytes, sizeof(h));
    if (!is_map(&h))
        return false;
    *ret_fingerprint = h.fingerprint;
    *ret_name_hash = h.name_hash;
    return true;
}

/* All of the file; one that got shorter is another's at work. */
static int read_copy(const struct wr_cache_map *m, uint8_t *to, size_t size,
                     weir_err *err)
{
    ssize_t n = wr_pread_all(m->fd, to, size, 0);

    if (n < 0)
        return wr_fail_errno(err, (int)-n, "cannot read the map");
    if ((size_t)n < size)
        return wr_fail(err, WEIR_EFORMAT, "the map has a wrong size");
    return 0;
}

static int map_file(struct wr_cache_map *m, size_t size, uint64_t samples,
                    weir_err *err)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   m->read_only ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
                   m->read_only ? -1 : m->fd, 0);
    int r;

    if (p == MAP_FAILED)
        return wr_fail_errno(err, errno, "cannot map %zu bytes", size);
    r = m->read_only ? read_copy(m, p, size, err) : 0;
    if (r < 0) {
        munmap(p, size);
        return r;
    }
    m->head = p;
    m->entries = (struct wr_cache_map_entry *)((uint8_t *)p +
                                               WR_CACHE_MAP_HEADER);
    m->size = size;
    m->samples = samples;
    return 0;
}

/* Gives the file all its blocks: a hole that a full disk cannot fill would
 * kill the process that writes into the mapping. */
static int reserve(struct wr_cache_map *m, size_t size, weir_err *err)
{
    int e = posix_fallocate(m->fd, 0, (off_t)size);

    return e ? wr_fail_errno(err, e, "cannot make the map") : 0;
}

int wr_cache_map_load(struct wr_cache_map *m, const struct wr_cache_map_id *id,
                      enum wr_cache_map_hold hold, weir_err *err)
{
    struct stat sb;
    size_t size;
    int r = 0;

    if (!wr_cache_map_bytes(id->samples, &size))
        return wr_fail(err, WEIR_ELIMIT, "too many samples");
    if (fstat(m->fd, &sb) < 0)
        return wr_fail_errno(err, errno, "cannot stat the map");
    if ((uint64_t)sb.st_size != size)
        return wr_fail(err, WEIR_EFORMAT, "the map has a wrong size");
    if (hold == WR_CACHE_MAP_ALONE)
        r = reserve(m, size, err);
    if (r == 0)
        r = map_file(m, size, id->samples, err);
    if (r < 0)
        return r;
    if (!is_ours(m, id)) {
        unmap(m);
        return wr_fail(err, WEIR_EFORMAT, "the map is damaged or another's");
    }
    return 0;
}

static void fill_header(struct wr_cache_map_header *h,
                        const struct wr_cache_map_id *id)
{
    memcpy(h->magic, magic, sizeof(magic));
    h->version = VERSION;
    h->entry_bytes = sizeof(struct wr_cache_map_entry);
    h->fingerprint = id->fingerprint;
    h->samples = id->samples;
    h->sample_bytes = id->sample_bytes;
    h->budget = id->budget;
    h->name_hash = cache_map_name_hash(id->name);
    snprintf(h->name, sizeof(h->name), "%s", id->name);
    h->crc = wr_crc32c(0, h, offsetof(struct wr_cache_map_header, crc));
}

int wr_cache_map_make(struct wr_cache_map *m, const struct wr_cache_map_id *id,
                      weir_err *err)
{
    size_t size;
    int r;

    if (!wr_cache_map_bytes(id->samples, &size))
        return wr_fail(err, WEIR_ELIMIT, "too many samples");
    unmap(m);
    if (ftruncate(m->fd, 0) < 0)
        return wr_fail_errno(err, errno, "cannot make the map");
    r = reserve(m, size, err);
    if (r == 0)
        r = map_file(m, size, id->samples, err);
    if (r == 0)
        fill_header(m->head, id);
    else
        (void)!ftruncate(m->fd, 0);
    return r;
}

/* --- entries --- */

static uint64_t to_word(const struct wr_spot *s)
{
    return s->offset / WR_CACHE_MAP_ALIGN << OFFSET_SHIFT |
           (uint64_t)s->segment << STATE_BITS | WR_CACHE_MAP_READY;
}

/* Of the entry as it is when ready, and of its place in the table. */
static uint32_t self_crc(const struct wr_spot *s, uint64_t word, uint64_t id)
{
    uint64_t all[4] = {id, word, (uint64_t)s->len << 32 | s->label, s->crc};

    return wr_crc32c(0, all, sizeof(all));
}

enum wr_cache_map_state wr_cache_map_read(const struct wr_cache_map *m,
                                          uint64_t id, struct wr_spot *ret)
{
    const struct wr_cache_map_entry *e = &m->entries[id];
    uint64_t word = atomic_load_explicit(&e->word, memory_order_acquire);
    unsigned state = word & ((1u << STATE_BITS) - 1);

    ret->word = word;
    if (word == 0)
        return WR_CACHE_MAP_EMPTY;
    if (word == WR_CACHE_MAP_WRITING)
        return WR_CACHE_MAP_WRITING;
    ret->segment = (unsigned)(word >> STATE_BITS) % WR_CACHE_MAP_SEGMENTS;
    ret->offset = (word >> OFFSET_SHIFT) * WR_CACHE_MAP_ALIGN;
    ret->len = atomic_load_explicit(&e->len, memory_order_relaxed);
    ret->label = atomic_load_explicit(&e->label, memory_order_relaxed);
    ret->crc = atomic_load_explicit(&e->crc, memory_order_relaxed);
    if (state != WR_CACHE_MAP_READY || ret->len == 0 ||
        self_crc(ret, word, id) !=
            atomic_load_explicit(&e->self, memory_order_relaxed))
        return WR_CACHE_MAP_BROKEN;
    return WR_CACHE_MAP_READY;
}

bool wr_cache_map_has(const struct wr_cache_map *m, uint64_t id)
{
    return atomic_load_explicit(&m->entries[id].word, memory_order_relaxed) !=
           0;
}

bool wr_cache_map_claim(struct wr_cache_map *m, uint64_t id)
{
    uint64_t empty = 0;

    /* Acquire: the fields are written behind this, never before. */
    return atomic_compare_exchange_strong_explicit(
        &m->entries[id].word, &empty, WR_CACHE_MAP_WRITING,
        memory_order_acquire, memory_order_relaxed);
}

void wr_cache_map_publish(struct wr_cache_map *m, uint64_t id,
                          const struct wr_spot *spot)
{
    struct wr_cache_map_entry *e = &m->entries[id];
    uint64_t word = to_word(spot);

    atomic_store_explicit(&e->len, spot->len, memory_order_relaxed);
    atomic_store_explicit(&e->label, spot->label, memory_order_relaxed);
    atomic_store_explicit(&e->crc, spot->crc, memory_order_relaxed);
    atomic_store_explicit(&e->self, self_crc(spot, word, id),
                          memory_order_relaxed);
    atomic_store_explicit(&e->word, word, memory_order_release);
    atomic_fetch_add_explicit(&m->head->entries, 1, memory_order_relaxed);
}

void wr_cache_map_release(struct wr_cache_map *m, uint64_t id)
{
    atomic_store_explicit(&m->entries[id].word, 0, memory_order_release);
}

bool wr_cache_map_reset(struct wr_cache_map *m, uint64_t id, uint64_t word)
{
    if (!atomic_compare_exchange_strong_explicit(&m->entries[id].word, &word, 0,
                                                 memory_order_release,
                                                 memory_order_relaxed))
        return false;
    if (word % (1u << STATE_BITS) == WR_CACHE_MAP_READY)
        atomic_fetch_sub_explicit(&m->head->entries, 1, memory_order_relaxed);
    return true;
}

/* --- the folder of a cache: what lies in it, and who is stale --- */

/*   PATH/weir-cache-UID/<16 hex digits>/map        one folder per data set
 *                                       data-0000  one file per writing process
 *
 * The store of a tier is PATH/weir-cache-UID, which nobody but this user can
 * write to (WR_STORE_PRIVATE), or PATH/weir-cache-shared, which its owner fills
 * and others read. */

#define MAP_NAME "map"

char *wr_place_root(const char *url, unsigned share)
{
    char *root;
    int n = share
                ? asprintf(&root, "%s/weir-cache-shared", url)
                : asprintf(&root, "%s/weir-cache-%u", url, (unsigned)geteuid());

    return n < 0 ? NULL : root;
}

void wr_place_init(struct wr_cache_place *p, struct wr_store *st,
                   const char *root, unsigned share,
                   const struct wr_cache_map_id *id)
{
    uint64_t key[2] = {id->fingerprint, id->sample_bytes};

    p->store = st;
    p->root = wr_url_path(root);
    p->share = share;
    snprintf(p->dir, sizeof(p->dir), "%016" PRIx64,
             (uint64_t)XXH64(key, sizeof(key), 0));
}

int wr_place_make(const struct wr_cache_place *p, weir_err *err)
{
    weir_err why;
    int r = wr_store_change(p->store, WR_MKDIR, p->dir, NULL, &why);

    return r == WEIR_EEXIST ? 0 : wr_fail_as(err, r, &why);
}

void wr_place_segment(const struct wr_cache_place *p, unsigned segment,
                      char *buf, size_t cap)
{
    snprintf(buf, cap, "%s/data-%04u", p->dir, segment);
}

int wr_place_map_path(const struct wr_cache_place *p, char *buf, size_t cap,
                      weir_err *err)
{
    if (snprintf(buf, cap, "%s/%s/" MAP_NAME, p->root, p->dir) >= (int)cap)
        return wr_fail(err, WEIR_ELIMIT, "the path is too long");
    return 0;
}

/* --- the data files --- */

static int note_size(void *arg, const struct wr_entry *e)
{
    uint64_t *sizes = arg;
    char name[32];
    unsigned n;

    if (e->kind != WR_KIND_FILE || sscanf(e->name, "data-%4u", &n) != 1)
        return 0;
    snprintf(name, sizeof(name), "data-%04u", n);
    if (n < WR_CACHE_MAP_SEGMENTS && !strcmp(name, e->name))
        sizes[n] = e->size;
    return 0;
}

int wr_place_sizes(const struct wr_cache_place *p,
                   uint64_t sizes[WR_CACHE_MAP_SEGMENTS], weir_err *err)
{
    for (unsigned i = 0; i < WR_CACHE_MAP_SEGMENTS; i++)
        sizes[i] = UINT64_MAX;
    return p->store->ops->list(p->store, p->dir, note_size, sizes, err);
}

int wr_place_remove_segment(const struct wr_cache_place *p, unsigned segment,
                            weir_err *err)
{
    char path[64];

    wr_place_segment(p, segment, path, sizeof(path));
    return p->store->ops->change(p->store, WR_REMOVE, path, NULL, err);
}

/* --- the other data sets --- */

struct place_sweep {
    const struct wr_cache_place *place; /* borrowed */
    const struct wr_cache_map_id *id;   /* borrowed */
    char dir[PATH_MAX];                 /* that is looked at */
    uint64_t bytes;
    weir_err *err; /* borrowed; NULL: none */
};

static int add_size(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    uint64_t size = e->kind == WR_KIND_FILE ? e->size : 0;

    s->bytes += WR_ALIGN_UP(WR_MIN(size, (uint64_t)1 << 60),
                            (uint64_t)WR_PLACE_BLOCK);
    return 0;
}

/* All but the map: see below. */
static int remove_file(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    struct wr_store *st = s->place->store;
    char path[PATH_MAX];

    if (strcmp(e->name, MAP_NAME) &&
        snprintf(path, sizeof(path), "%s/%s", s->dir, e->name) <
            (int)sizeof(path))
        st->ops->change(st, WR_REMOVE, path, NULL, NULL);
    return 0;
}

/* Is the map at `path` that of an older state of our data set? */
static bool is_stale(struct place_sweep *s, const char *path)
{
    struct wr_store *st = s->place->store;
    uint8_t bytes[WR_CACHE_MAP_HEADER];
    uint64_t fingerprint, name_hash;
    struct wr_object *o;
    int64_t n;

    if (!*s->id->name ||
        st->ops->object_open(st, path, WR_OPEN_READ, &o, NULL) < 0)
        return false;
    n = o->ops->read(o, bytes, sizeof(bytes), 0, NULL);
    o->ops->close(o, /* sync= */ false, NULL);
    return n == (int64_t)sizeof(bytes) &&
           wr_cache_map_peek(bytes, &fingerprint, &name_hash) &&
           fingerprint != s->id->fingerprint &&
           name_hash == cache_map_name_hash(s->id->name);
}

/* The lock keeps others from using it, as long as the map that they would find
 * is the one that is locked: so it goes last. Who waits for the lock finds out
 * that it was removed, and makes another. */
static void remove_if_stale(struct place_sweep *s)
{
    struct wr_store *st = s->place->store;
    char path[PATH_MAX], local[PATH_MAX];
    enum wr_cache_map_hold hold;
    struct wr_cache_map map;

    if (snprintf(path, sizeof(path), "%s/" MAP_NAME, s->dir) >=
            (int)sizeof(path) ||
        !is_stale(s, path) ||
        snprintf(local, sizeof(local), "%s/%s", s->place->root, path) >=
            (int)sizeof(local) ||
        wr_cache_map_lock(&map, local, s->place->share, &hold, NULL) < 0)
        return;
    if (hold == WR_CACHE_MAP_ALONE && wr_cache_map_is_at(&map, local) &&
        is_stale(s, path)) {
        st->ops->list(st, s->dir, remove_file, s, NULL);
        st->ops->change(st, WR_REMOVE, path, NULL, NULL);
        st->ops->change(st, WR_REMOVE, s->dir, NULL, NULL);
    }
    wr_cache_map_close(&map);
}

static int sweep_one(void *arg, const struct wr_entry *e)
{
    struct place_sweep *s = arg;
    struct wr_store *st = s->place->store;
    weir_err why;
    int r;

    if (e->kind != WR_KIND_DIR)
        return add_size(s, e);
    if (snprintf(s->dir, sizeof(s->dir), "%s", e->name) >=
            (int)sizeof(s->dir) ||
        !strcmp(s->dir, s->place->dir))
        return 0;
    remove_if_stale(s);
    r = st->ops->list(st, s->dir, add_size, s, &why);
    if (r == WEIR_ENOENT) /* gone */
        return 0;
    if (r < 0 && s->err)
        *s->err = why;
    s->bytes += WR_PLACE_BLOCK;
    return r;
}

int wr_place_sweep(const struct wr_cache_place *p,
                   const struct wr_cache_map_id *id, uint64_t *ret_bytes,
                   weir_err *err)
{
    struct place_sweep s = {.place = p, .id = id, .err = err};
    int r = p->store->ops->list(p->store, "", sweep_one, &s, err);

    if (r < 0)
        return r;
    *ret_bytes = s.bytes;
    return 0;
}
