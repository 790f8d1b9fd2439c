/* cache_ram.c - the tier in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cache_ram.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/mem.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE      ((size_t)4096)

/* A word of the table is 0, BUSY, or the offset of the sample's bytes. */
#define EMPTY UINT64_C(0)
#define BUSY  UINT64_C(1)

/* Stands right in front of the bytes, in what aligning them leaves free. */
struct head {
    uint32_t len, label;
};

struct wr_cache_ram {
    uint8_t *mem; /* owned: the table, then the samples */
    size_t size;  /* of mem: the budget, down to a page */
    uint64_t budget;
    _Atomic uint64_t *words; /* borrowed from mem: one per sample */
    _Alignas(WR_CACHE_LINE) atomic_size_t cursor; /* end of what is taken */
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t hits;
    atomic_uint_fast64_t entries;
};

/* A huge page that is used in part is there as a whole: the last one, which
 * reaches beyond the budget, is given back to small pages. */
static void trim_last_huge_page(uint8_t *mem, size_t size)
{
    size_t whole = size / HUGE_PAGE * HUGE_PAGE;

    if (size >= HUGE_PAGE && whole < size) /* advice: failing is fine */
        madvise(mem + whole, HUGE_PAGE, MADV_NOHUGEPAGE);
}

int wr_cache_ram_open(struct wr_cache_ram **ret, uint64_t budget,
                      uint64_t samples, weir_err *err)
{
    struct wr_cache_ram *r;
    size_t table, size = (size_t)(budget / PAGE * PAGE);

    if (!wr_mul_ok(samples, sizeof(*r->words), &table) || table >= size)
        return wr_fail(err, WEIR_EINVAL,
                       "less than the table of %" PRIu64 " samples takes",
                       samples);
    r = aligned_alloc(WR_CACHE_LINE, sizeof(*r));
    if (!r)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *r = (struct wr_cache_ram){.size = size, .budget = budget};
    r->mem = wr_big_alloc(size);
    if (!r->mem) {
        free(r);
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", size);
    }
    trim_last_huge_page(r->mem, size);
    r->words = (_Atomic uint64_t *)r->mem;
    atomic_init(&r->cursor, table);
    *ret = r;
    return 0;
}

void wr_cache_ram_close(struct wr_cache_ram *r)
{
    if (!r)
        return;
    wr_big_free(r->mem, r->size);
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
static size_t place(const struct wr_cache_ram *r, size_t cursor, size_t len)
{
    size_t at = WR_ALIGN_UP(cursor + sizeof(struct head),
                            (size_t)WR_CACHE_LINE);

    return len <= UINT32_MAX && at <= r->size && len <= r->size - at ? at : 0;
}

bool wr_cache_ram_has_room(const struct wr_cache_ram *r, size_t len)
{
    return place(r, atomic_load_explicit(&r->cursor, memory_order_relaxed),
                 len) != 0;
}

/* Takes the space; 0: there is none. */
static size_t claim(struct wr_cache_ram *r, size_t len)
{
    size_t cursor = atomic_load_explicit(&r->cursor, memory_order_relaxed);
    size_t at;

    do {
        at = place(r, cursor, len);
        if (!at)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(
        &r->cursor, &cursor, at + len, memory_order_relaxed,
        memory_order_relaxed));
    return at;
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
    at = claim(r, len);
    if (!at) {
        atomic_store_explicit(&r->words[id], EMPTY, memory_order_relaxed);
        return false;
    }
    memcpy(r->mem + at - sizeof(head), &head, sizeof(head));
    memcpy(r->mem + at, bytes, len);
    atomic_store_explicit(&r->words[id], at, memory_order_release);
    atomic_fetch_add_explicit(&r->entries, 1, memory_order_relaxed);
    return true;
}

void wr_cache_ram_stats(const struct wr_cache_ram *r,
                        struct wr_cache_stats *ret)
{
    *ret = (struct wr_cache_stats){
        .hits = atomic_load_explicit(&r->hits, memory_order_relaxed),
        .entries = atomic_load_explicit(&r->entries, memory_order_relaxed),
        .bytes = atomic_load_explicit(&r->cursor, memory_order_relaxed),
        .budget = r->budget,
    };
}
