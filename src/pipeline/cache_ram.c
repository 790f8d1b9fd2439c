/* cache_ram.c - the tier in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cache_ram.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/shares.h"
#include "base/error.h"
#include "base/mem.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* A word of the table is 0, BUSY, or the offset of the sample's bytes. */
#define EMPTY UINT64_C(0)
#define BUSY  UINT64_C(1)

/* Stands right in front of the bytes, in what aligning them leaves free. */
struct head {
    uint32_t len, label;
};

/* All tiers in memory of this process: one budget, as large as the largest that
 * was asked for while there are any. */
struct purse {
    atomic_uint_fast64_t size, used;
};

/* The samples of one data set, for all pipelines that keep the same. */
struct room {
    uint8_t *mem;        /* owned: the table, then the samples */
    size_t size;         /* of mem: the budget, down to a page */
    struct purse *purse; /* borrowed from the handles */
    _Alignas(WR_CACHE_LINE) atomic_size_t cursor; /* end of what is taken */
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t entries;
};

struct wr_cache_ram {
    struct purse *purse; /* ref */
    struct room *room;   /* ref */
    uint64_t budget;
    uint8_t *mem;            /* borrowed from room */
    _Atomic uint64_t *words; /* borrowed from mem: one per sample */
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t hits;
};

/* What a room is made from. */
struct room_config {
    size_t size, table;
    struct purse *purse;
};

/* A huge page that is used in part is there as a whole: the last one, which
 * reaches beyond the budget, is given back to small pages. */
static void trim_last_huge_page(uint8_t *mem, size_t size)
{
    size_t whole = size / HUGE_PAGE * HUGE_PAGE;

    if (size >= HUGE_PAGE && whole < size) /* advice: failing is fine */
        madvise(mem + whole, HUGE_PAGE, MADV_NOHUGEPAGE);
}

static int make_purse(const void *arg, void **ret, weir_err *err)
{
    (void)arg;
    *ret = calloc(1, sizeof(struct purse));
    return *ret ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

static int make_room(const void *arg, void **ret, weir_err *err)
{
    const struct room_config *c = arg;
    struct room *m = aligned_alloc(WR_CACHE_LINE, sizeof(*m));

    if (!m)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *m = (struct room){.size = c->size, .purse = c->purse};
    m->mem = wr_big_alloc(c->size);
    if (!m->mem) {
        free(m);
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", c->size);
    }
    trim_last_huge_page(m->mem, c->size);
    atomic_init(&m->cursor, c->table);
    atomic_fetch_add(&m->purse->used, c->table);
    *ret = m;
    return 0;
}

static void free_room(void *thing)
{
    struct room *m = thing;

    atomic_fetch_sub(&m->purse->used, m->cursor);
    wr_big_free(m->mem, m->size);
    free(m);
}

static const struct wr_common_kind purses = {make_purse, free};
static const struct wr_common_kind rooms = {make_room, free_room};

/* Takes part in the budget of the process. */
static int join_purse(struct wr_cache_ram *r, weir_err *err)
{
    uint_fast64_t size;
    void *purse;
    int e = wr_common_ref(&purses, "", NULL, &purse, err);

    if (e < 0)
        return e;
    r->purse = purse;
    size = atomic_load(&r->purse->size);
    while (size < r->budget &&
           !atomic_compare_exchange_weak(&r->purse->size, &size, r->budget))
        ;
    return 0;
}

/* Whoever keeps the same samples in as much memory shares it; what has no name
 * is nobody else's. */
static int join_room(struct wr_cache_ram *r, const struct room_config *rc,
                     const struct wr_cache_config *cfg, weir_err *err)
{
    void *room;
    char *name;
    int e;

    if (asprintf(&name, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %p %s",
                 cfg->fingerprint, cfg->samples, r->budget,
                 cfg->name ? NULL : (void *)r, cfg->name ? cfg->name : "") < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    e = wr_common_ref(&rooms, name, rc, &room, err);
    free(name);
    if (e == 0) {
        r->room = room;
        r->mem = r->room->mem;
        r->words = (_Atomic uint64_t *)r->mem;
    }
    return e;
}

int wr_cache_ram_open(struct wr_cache_ram **ret, uint64_t budget,
                      const struct wr_cache_config *cfg, weir_err *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct room_config rc = {.size = (size_t)(budget / page * page)};
    struct wr_cache_ram *r;
    int e;

    if (!wr_mul_ok(cfg->samples, sizeof(*r->words), &rc.table) ||
        rc.table >= rc.size)
        return wr_fail(err, WEIR_EINVAL,
                       "less than the table of %" PRIu64 " samples takes",
                       cfg->samples);
    r = aligned_alloc(WR_CACHE_LINE, sizeof(*r));
    if (!r)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *r = (struct wr_cache_ram){.budget = budget};
    e = join_purse(r, err);
    rc.purse = r->purse;
    if (e == 0)
        e = join_room(r, &rc, cfg, err);
    if (e < 0) {
        wr_cache_ram_close(r);
        return e;
    }
    *ret = r;
    return 0;
}

void wr_cache_ram_close(struct wr_cache_ram *r)
{
    if (!r)
        return;
    wr_common_unref(r->room);
    wr_common_unref(r->purse);
    free(r);
}

bool wr_cache_ram_find(struct wr_cache_ram *r, uint64_t id,
                       struct wr_cache_hit *ret)
{
    uint64_t at = atomic_load_explicit(&r->words[id], memory_order_acquire);
    struct head head;

    if (at <= BUSY)
        return false;
    memcpy(&head, r->mem + at - sizeof(head), sizeof(head));
    *ret = (struct wr_cache_hit){
        .bytes = r->mem + at, .len = head.len, .label = head.label};
    atomic_fetch_add_explicit(&r->hits, 1, memory_order_relaxed);
    return true;
}

bool wr_cache_ram_has(const struct wr_cache_ram *r, uint64_t id)
{
    return atomic_load_explicit(&r->words[id], memory_order_relaxed) != EMPTY;
}

/* Where `len` bytes would lie behind `cursor`; 0: there is no room. */
static size_t place(const struct room *m, size_t cursor, size_t len)
{
    size_t at = WR_ALIGN_UP(cursor + sizeof(struct head),
                            (size_t)WR_CACHE_LINE);

    return len <= UINT32_MAX && at <= m->size && len <= m->size - at ? at : 0;
}

static bool purse_has(const struct purse *p, uint64_t used, size_t n)
{
    uint64_t size = atomic_load_explicit(&p->size, memory_order_relaxed);

    return used <= size && n <= size - used;
}

bool wr_cache_ram_has_room(const struct wr_cache_ram *r, size_t len)
{
    size_t cursor = atomic_load_explicit(&r->room->cursor,
                                         memory_order_relaxed);
    size_t at = place(r->room, cursor, len);

    return at && purse_has(r->purse,
                           atomic_load_explicit(&r->purse->used,
                                                memory_order_relaxed),
                           at + len - cursor);
}

static bool purse_take(struct purse *p, size_t n)
{
    uint_fast64_t used = atomic_load_explicit(&p->used, memory_order_relaxed);

    do
        if (!purse_has(p, used, n))
            return false;
    while (!atomic_compare_exchange_weak(&p->used, &used, used + n));
    return true;
}

/* Takes the space; 0: there is none. */
static size_t claim(struct room *m, size_t len)
{
    size_t cursor = atomic_load_explicit(&m->cursor, memory_order_relaxed);

    for (;;) {
        size_t at = place(m, cursor, len), n = at + len - cursor;

        if (!at || !purse_take(m->purse, n))
            return 0;
        if (atomic_compare_exchange_strong(&m->cursor, &cursor, at + len))
            return at;
        atomic_fetch_sub(&m->purse->used, n); /* another was faster */
    }
}

bool wr_cache_ram_put(struct wr_cache_ram *r, uint64_t id, uint32_t label,
                      const void *bytes, size_t len)
{
    struct head head = {(uint32_t)len, label};
    uint64_t empty = EMPTY;
    size_t at;

    if (!atomic_compare_exchange_strong_explicit(&r->words[id], &empty, BUSY,
                                                 memory_order_relaxed,
                                                 memory_order_relaxed))
        return true;
    at = claim(r->room, len);
    if (!at) {
        atomic_store_explicit(&r->words[id], EMPTY, memory_order_relaxed);
        return false;
    }
    memcpy(r->mem + at - sizeof(head), &head, sizeof(head));
    memcpy(r->mem + at, bytes, len);
    atomic_store_explicit(&r->words[id], at, memory_order_release);
    atomic_fetch_add_explicit(&r->room->entries, 1, memory_order_relaxed);
    return true;
}

void wr_cache_ram_stats(const struct wr_cache_ram *r,
                        struct wr_cache_stats *ret)
{
    *ret = (struct wr_cache_stats){
        .hits = atomic_load_explicit(&r->hits, memory_order_relaxed),
        .entries = atomic_load_explicit(&r->room->entries,
                                        memory_order_relaxed),
        .bytes = atomic_load_explicit(&r->room->cursor, memory_order_relaxed),
        .budget = r->budget,
    };
}
