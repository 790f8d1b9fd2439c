/* cache_dir.c - a tier in a folder, shared by the processes of a machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cache_dir.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "codec/crc32c.h"
#include "pipeline/cache_map.h"

/* From here on a sample begins on a block: a direct read then moves no block
 * of another sample, for 3 % of space at most on average. Below, a block each
 * would waste more than it saves. */
#define LARGE_SAMPLE ((size_t)64 << 10)

#define OPEN_TRIES 50

/* An open that lacks resources has waited for them: not for every sample. */
#define LATER_NS (WR_NS_PER_SEC)

/* A data file as this process reads it. */
struct segment {
    _Atomic(struct wr_object *) object; /* owned; NULL: not opened yet */
    _Atomic uint64_t size;              /* it had that many bytes at least */
    _Atomic uint64_t later_ns; /* resources lacked to open it: not before */
};

struct wr_cache_dir {
    struct wr_store *store; /* owned */
    char *url;              /* owned: its own */
    unsigned share;         /* WR_STORE_GROUP, WR_STORE_ALL or 0 */
    struct wr_cache_place place;
    struct wr_cache_map map; /* map.head is NULL: off */
    uint64_t budget;
    uint64_t fixed; /* of it: the map, the folders, the other data sets */
    uint64_t sample_bytes;

    atomic_bool no_puts;
    atomic_uint_fast64_t hits, damaged;
    struct segment segments[WR_CACHE_MAP_SEGMENTS];

    /* Guards all below, and the opening of segments. Taken alone. */
    pthread_mutex_t lock;
    weir_err error;           /* code 0: none */
    struct wr_object *writer; /* owned; NULL: nothing was put yet */
    unsigned writer_segment;
    uint64_t tail; /* where the writer's file ends */
};

struct wr_store *wr_cache_dir_store(const struct wr_cache_dir *d)
{
    return d->store;
}

/* The first reason is kept. */
static void stop_puts(struct wr_cache_dir *d, const weir_err *why)
{
    pthread_mutex_lock(&d->lock);
    if (!d->error.code) {
        d->error = *why;
        wr_fail_prefix(&d->error, why->code, "cache '%.*s'",
                       (int)(strrchr(d->url, '/') - d->url), d->url);
    }
    pthread_mutex_unlock(&d->lock);
    atomic_store(&d->no_puts, true);
}

int wr_cache_dir_error(const struct wr_cache_dir *d, weir_err *err)
{
    int code = 0;

    if (!atomic_load(&d->no_puts))
        return 0;
    /* The lock is not part of what the tier says. */
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&d->lock);
    code = d->error.code;
    if (code && err)
        *err = d->error;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&d->lock);
    return code;
}

/* --- opening --- */

/* Nobody else has the map: what is left of processes that were killed, or of a
 * power cut, is put in order, and what is used is counted anew. */
static int recover(struct wr_cache_dir *d, weir_err *err)
{
    uint64_t *sizes = calloc(WR_CACHE_MAP_SEGMENTS, sizeof(*sizes));
    bool *is_used = calloc(WR_CACHE_MAP_SEGMENTS, sizeof(*is_used));
    uint64_t used = 0, entries = 0;
    struct wr_spot s;
    int r;

    r = !sizes || !is_used ? wr_fail(err, WEIR_ENOMEM, "out of memory")
                           : wr_place_sizes(&d->place, sizes, err);
    for (uint64_t id = 0; r == 0 && id < d->map.samples; id++) {
        enum wr_cache_map_state state = wr_cache_map_read(&d->map, id, &s);

        if (state == WR_CACHE_MAP_EMPTY)
            continue;
        if (state == WR_CACHE_MAP_READY && sizes[s.segment] != UINT64_MAX &&
            s.offset <= sizes[s.segment] &&
            s.len <= sizes[s.segment] - s.offset &&
            (!d->sample_bytes || s.len == d->sample_bytes)) {
            is_used[s.segment] = true;
            entries++;
        } else {
            wr_cache_map_reset(&d->map, id, s.word);
        }
    }
    for (unsigned i = 0; r == 0 && i < WR_CACHE_MAP_SEGMENTS; i++) {
        if (sizes[i] == UINT64_MAX)
            continue;
        if (!is_used[i])
            r = wr_place_remove_segment(&d->place, i, err);
        else
            used += WR_ALIGN_UP(sizes[i], (uint64_t)WR_PLACE_BLOCK);
    }
    if (r == 0) {
        atomic_store(&d->map.head->used, used);
        atomic_store(&d->map.head->entries, entries);
    }
    free(sizes);
    free(is_used);
    return r;
}

/* Loads the map that is held, or makes it anew if that is allowed. */
static int load_map(struct wr_cache_dir *d, const struct wr_cache_map_id *id,
                    enum wr_cache_map_hold hold, weir_err *err)
{
    int r = wr_cache_map_load(&d->map, id, hold, err);

    if (hold == WR_CACHE_MAP_SHARED)
        return r;
    /* A map that is not ours holds nothing: its data files go as well. */
    if (r == WEIR_EFORMAT)
        r = wr_cache_map_make(&d->map, id, err);
    if (r == 0)
        r = recover(d, err);
    if (r == 0)
        r = wr_cache_map_share(&d->map, err);
    return r;
}

/* One attempt; *ret_again: another process was in the way. */
static int attach(struct wr_cache_dir *d, const struct wr_cache_map_id *id,
                  bool *ret_again, weir_err *err)
{
    char path[PATH_MAX];
    enum wr_cache_map_hold hold = WR_CACHE_MAP_SHARED;
    bool gone;
    int r;

    *ret_again = false;
    r = wr_place_map_path(&d->place, path, sizeof(path), err);
    if (r == 0)
        r = wr_place_make(&d->place, err);
    if (r < 0)
        return r;
    r = wr_cache_map_lock(&d->map, path, d->share, &hold, err);
    /* Whoever takes it for a stale one removes it; not once it is held. */
    gone = r == WEIR_ENOENT || (r == 0 && !wr_cache_map_is_at(&d->map, path));
    if (r == 0 && !gone) {
        r = load_map(d, id, hold, err);
        gone = r == 0 && !wr_cache_map_is_at(&d->map, path);
    }
    if (gone)
        r = wr_fail(err, WEIR_ESTATE, "is removed again and again");
    /* A wrong map that others hold may be in the making. */
    *ret_again = gone || (r == WEIR_EFORMAT && hold == WR_CACHE_MAP_SHARED);
    if (r < 0)
        wr_cache_map_close(&d->map);
    return r;
}

static int attach_patiently(struct wr_cache_dir *d,
                            const struct wr_cache_map_id *id, weir_err *err)
{
    weir_err why;
    bool again;
    int r;

    for (unsigned n = 0;; n++) {
        r = attach(d, id, &again, &why);
        if (r == 0)
            break;
        if (!again) {
            if (err)
                *err = why;
            return r;
        }
        if (n == OPEN_TRIES) { /* held by others, and wrong */
            stop_puts(d, &why);
            return 0;
        }
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
    }
    if (d->map.read_only) {
        wr_fail(&why, WEIR_EACCES, "may not be written, is only read");
        stop_puts(d, &why);
    }
    return 0;
}

static int open_tier(struct wr_cache_dir *d, const struct wr_cache_config *cfg,
                     weir_err *err)
{
    struct wr_cache_map_id id = {.fingerprint = cfg->fingerprint,
                                 .samples = cfg->samples,
                                 .sample_bytes = cfg->sample_bytes,
                                 .budget = d->budget,
                                 .name = cfg->name ? cfg->name : ""};
    uint64_t others;
    size_t map_bytes;
    int r;

    if (!wr_cache_map_bytes(id.samples, &map_bytes))
        return wr_fail(err, WEIR_ELIMIT, "too many samples");
    wr_place_init(&d->place, d->store, d->url, d->share, &id);
    r = attach_patiently(d, &id, err);
    if (r == 0)
        r = wr_place_sweep(&d->place, &id, &others, err);
    if (r == 0) /* two folders: the root, and that of the data set */
        d->fixed = others + WR_ALIGN_UP(map_bytes, (size_t)WR_PLACE_BLOCK) +
                   2 * WR_PLACE_BLOCK;
    return r;
}

int wr_cache_dir_open(struct wr_cache_dir **ret, struct wr_store *st,
                      const struct wr_cache_folder *at,
                      const struct wr_cache_config *cfg, weir_err *err)
{
    struct wr_cache_dir *d = calloc(1, sizeof(*d));
    int r;

    if (!d) {
        wr_store_close(st);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    pthread_mutex_init(&d->lock, NULL);
    d->store = st;
    d->map.fd = -1;
    d->budget = at->budget;
    d->share = at->share;
    d->sample_bytes = cfg->sample_bytes;
    d->url = strdup(at->url);
    r = d->url ? open_tier(d, cfg, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        wr_cache_dir_close(d);
        return r;
    }
    *ret = d;
    return 0;
}

void wr_cache_dir_close(struct wr_cache_dir *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < WR_CACHE_MAP_SEGMENTS; i++) {
        struct wr_object *o = atomic_load(&d->segments[i].object);

        if (o)
            o->ops->close(o, /* sync= */ false, NULL);
    }
    /* Not synced: what a power cut takes is told by the checksums. */
    if (d->writer)
        d->writer->ops->close(d->writer, /* sync= */ false, NULL);
    wr_cache_map_close(&d->map);
    wr_store_close(d->store);
    pthread_mutex_destroy(&d->lock);
    free(d->url);
    free(d);
}

/* --- finding --- */

static void forget(struct wr_cache_dir *d, uint64_t id, uint64_t word)
{
    if (wr_cache_map_reset(&d->map, id, word))
        atomic_fetch_add_explicit(&d->damaged, 1, memory_order_relaxed);
}

/* Opens a data file for reading, once; NULL: *ret_r says why. */
static struct wr_object *open_segment(struct wr_cache_dir *d, unsigned k,
                                      int *ret_r)
{
    struct segment *s = &d->segments[k];
    struct wr_object *o;
    char path[64];

    *ret_r = 0;
    o = atomic_load_explicit(&s->object, memory_order_acquire);
    if (o)
        return o;
    *ret_r = WEIR_EMFILE;
    if (wr_clock_ns() < atomic_load(&s->later_ns))
        return NULL;
    pthread_mutex_lock(&d->lock);
    o = atomic_load(&s->object);
    *ret_r = 0;
    if (!o) {
        wr_place_segment(&d->place, k, path, sizeof(path));
        *ret_r = d->store->ops->object_open(d->store, path, WR_OPEN_READ, &o,
                                            NULL);
        if (*ret_r == 0)
            atomic_store_explicit(&s->object, o, memory_order_release);
        else if (wr_err_is_lack(*ret_r))
            atomic_store(&s->later_ns, wr_clock_ns() + LATER_NS);
    }
    pthread_mutex_unlock(&d->lock);
    return *ret_r == 0 ? o : NULL;
}

/* Does the file reach to `end`? It grows while others write to it. 1, 0, or
 * WEIR_E... when that cannot be told. */
static int reaches(struct wr_cache_dir *d, unsigned k, uint64_t end)
{
    struct segment *s = &d->segments[k];
    struct wr_stat stat;
    char path[64];
    int r;

    if (end <= atomic_load_explicit(&s->size, memory_order_relaxed))
        return 1;
    wr_place_segment(&d->place, k, path, sizeof(path));
    r = d->store->ops->stat(d->store, path, &stat, NULL);
    if (r < 0)
        return r == WEIR_ENOENT ? 0 : r;
    atomic_store_explicit(&s->size, stat.size, memory_order_relaxed);
    return end <= stat.size;
}

bool wr_cache_dir_find(struct wr_cache_dir *d, uint64_t id,
                       struct wr_cache_hit *ret)
{
    enum wr_cache_map_state state;
    struct wr_object *o;
    struct wr_spot s;
    int r;

    if (!d->map.head)
        return false;
    state = wr_cache_map_read(&d->map, id, &s);
    if (state == WR_CACHE_MAP_BROKEN)
        forget(d, id, s.word);
    if (state != WR_CACHE_MAP_READY)
        return false;
    o = open_segment(d, s.segment, &r);
    if (!o && r != WEIR_ENOENT) /* perhaps too many are open: a miss */
        return false;
    r = o ? reaches(d, s.segment, s.offset + s.len) : 0;
    if (r < 0) /* nothing is known of it */
        return false;
    if (!r || (d->sample_bytes && s.len != d->sample_bytes)) {
        forget(d, id, s.word);
        return false;
    }
    *ret = (struct wr_cache_hit){.len = s.len,
                                 .label = s.label,
                                 .object = o,
                                 .offset = s.offset,
                                 .crc = s.crc};
    return true;
}

bool wr_cache_dir_check(struct wr_cache_dir *d, uint64_t id,
                        const struct wr_cache_hit *hit, const void *bytes)
{
    struct wr_spot s;

    if (bytes && wr_crc32c(0, bytes, hit->len) == hit->crc) {
        atomic_fetch_add_explicit(&d->hits, 1, memory_order_relaxed);
        return true;
    }
    /* Somebody may have put it anew meanwhile: that one stays. */
    if (wr_cache_map_read(&d->map, id, &s) == WR_CACHE_MAP_READY &&
        s.offset == hit->offset && s.crc == hit->crc &&
        atomic_load(&d->segments[s.segment].object) == hit->object)
        forget(d, id, s.word);
    return false;
}

bool wr_cache_dir_has(const struct wr_cache_dir *d, uint64_t id)
{
    return d->map.head && wr_cache_map_has(&d->map, id);
}

/* --- putting --- */

static uint64_t alignment(size_t len)
{
    return len >= LARGE_SAMPLE ? WR_DIRECT_ALIGN : WR_CACHE_MAP_ALIGN;
}

static bool fits(const struct wr_cache_dir *d, uint64_t used, uint64_t more)
{
    return d->fixed <= d->budget && used <= d->budget - d->fixed &&
           more <= d->budget - d->fixed - used;
}

bool wr_cache_dir_has_room(const struct wr_cache_dir *d, size_t len)
{
    if (atomic_load_explicit(&d->no_puts, memory_order_relaxed) || len == 0 ||
        len > UINT32_MAX || (d->sample_bytes && len != d->sample_bytes))
        return false;
    return fits(d,
                atomic_load_explicit(&d->map.head->used, memory_order_relaxed),
                WR_ALIGN_UP(len, alignment(len)));
}

/* Takes `more` bytes of the budget, which all processes share. */
static bool take_budget(struct wr_cache_dir *d, uint64_t more)
{
    _Atomic uint64_t *used = &d->map.head->used;
    uint64_t now = atomic_load_explicit(used, memory_order_relaxed);

    do {
        if (!fits(d, now, more))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        used, &now, now + more, memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Makes this process's data file; the number is the first that is free. */
static int make_writer(struct wr_cache_dir *d, weir_err *err)
{
    char path[64];
    int r = WEIR_EEXIST;

    for (unsigned k = 0; k < WR_CACHE_MAP_SEGMENTS && r == WEIR_EEXIST; k++) {
        wr_place_segment(&d->place, k, path, sizeof(path));
        r = d->store->ops->object_open(d->store, path, WR_OPEN_CREATE,
                                       &d->writer, err);
        d->writer_segment = k;
    }
    if (r == WEIR_EEXIST)
        return wr_fail(err, WEIR_ELIMIT, "has %u data files already",
                       WR_CACHE_MAP_SEGMENTS);
    return r;
}

/* A place for `len` bytes in this process's data file. 1: there is, 0: there
 * is not, or WEIR_E... */
static int take_place(struct wr_cache_dir *d, size_t len, struct wr_spot *ret,
                      weir_err *err)
{
    uint64_t offset, end;
    int r = 0;

    pthread_mutex_lock(&d->lock);
    /* A file takes its last block as a whole. */
    if (!d->writer && take_budget(d, WR_PLACE_BLOCK))
        r = make_writer(d, err);
    if (d->writer && r == 0) {
        offset = WR_ALIGN_UP(d->tail, alignment(len));
        end = offset + len;
        r = take_budget(d, end - d->tail) ? 1 : 0;
        if (r) {
            d->tail = end;
            ret->segment = d->writer_segment;
            ret->offset = offset;
        }
    }
    pthread_mutex_unlock(&d->lock);
    return r;
}

bool wr_cache_dir_put(struct wr_cache_dir *d, uint64_t id, uint32_t label,
                      const void *bytes, size_t len)
{
    struct wr_spot s = {.len = (uint32_t)len, .label = label};
    weir_err err;
    int r;

    if (wr_cache_dir_has(d, id))
        return true;
    if (!wr_cache_dir_has_room(d, len))
        return false;
    if (!wr_cache_map_claim(&d->map, id))
        return true;
    r = take_place(d, len, &s, &err);
    if (r == 1) {
        s.crc = wr_crc32c(0, bytes, len);
        r = d->writer->ops->write(d->writer, bytes, len, s.offset, &err);
        if (r == 0) {
            wr_cache_map_publish(&d->map, id, &s);
            return true;
        }
    }
    wr_cache_map_release(&d->map, id);
    if (r < 0)
        stop_puts(d, &err);
    return false;
}

void wr_cache_dir_stats(const struct wr_cache_dir *d,
                        struct wr_cache_stats *ret)
{
    const struct wr_cache_map_header *h = d->map.head;

    *ret = (struct wr_cache_stats){
        .is_dir = true,
        .hits = atomic_load_explicit(&d->hits, memory_order_relaxed),
        .damaged = atomic_load_explicit(&d->damaged, memory_order_relaxed),
        .budget = d->budget,
    };
    if (!h)
        return;
    ret->entries = atomic_load_explicit(&h->entries, memory_order_relaxed);
    ret->bytes = atomic_load_explicit(&h->used, memory_order_relaxed) +
                 WR_ALIGN_UP(d->map.size, (size_t)WR_PLACE_BLOCK);
}
