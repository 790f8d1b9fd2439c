/* tally.c - exact counts of what is not kept as records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <string.h>

#include "trace/counts.h"

#define PAGE     4096
#define PER_PAGE (PAGE / sizeof(struct wr_tap_tally))
#define INTERNED 65536
#define LONGEST  512 /* slots that are tried */

/* Paths seen over the budget, by hash: opens of one file share a handle. */
struct wr_tap_interned {
    uint64_t hash; /* 0: free */
    uint32_t handle;
    uint32_t spare;
};

static struct wr_tap_interned interned[INTERNED];
/* Pages of tallies whose memory is there. */
static uint8_t populated[WR_TAP_TALLIES / PER_PAGE];

static uint64_t hash_path(const char *s, uint32_t dir)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ dir;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
    return h ? h : 1;
}

uint32_t wr_tap_intern(const char *path, uint32_t dir, bool *ret_new)
{
    uint64_t hash = hash_path(path, *path == '/' ? 0 : dir);

    for (unsigned i = 0; i < LONGEST; i++) {
        struct wr_tap_interned *e = &interned[(hash + i) % INTERNED];
        uint64_t seen = __atomic_load_n(&e->hash, __ATOMIC_ACQUIRE);
        uint32_t handle;

        if (!seen &&
            __atomic_compare_exchange_n(&e->hash, &seen, hash, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            handle = wr_tap_new_handle();
            __atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
            *ret_new = true;
            return handle;
        }
        handle = __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);
        if (seen == hash && handle) {
            *ret_new = false;
            return handle;
        }
    }
    return 0;
}

/* In a child: handles of the parent mean the same there, tallies do not. */
void wr_tap_tally_reset(void)
{
    memset(populated, 0, sizeof(populated));
}

static bool has_memory(unsigned k)
{
    unsigned page = k / PER_PAGE;

    if (__atomic_load_n(&populated[page], __ATOMIC_ACQUIRE))
        return true;
    if (!wr_tap_populate(wr_tap_tally_at(wr_tap.head, page * PER_PAGE), PAGE))
        return false;
    __atomic_store_n(&populated[page], 1, __ATOMIC_RELEASE);
    return true;
}

/* The tally of a handle; all without one, and those without room, share that of
 * UINT32_MAX. */
static struct wr_tap_tally *find(uint32_t handle)
{
    uint32_t h = handle * UINT32_C(2654435761);

    for (unsigned i = 0; i < LONGEST; i++) {
        unsigned k = (h + i) % WR_TAP_TALLIES;
        struct wr_tap_tally *t = wr_tap_tally_at(wr_tap.head, k);
        uint32_t seen;

        if (!has_memory(k))
            return NULL;
        seen = __atomic_load_n(&t->handle, __ATOMIC_ACQUIRE);
        if (!seen)
            __atomic_compare_exchange_n(&t->handle, &seen, handle, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (t->handle == handle)
            return t;
    }
    return handle == WR_TAP_NONE ? NULL : find(WR_TAP_NONE);
}

void wr_tap_tally(const struct wr_tap_note *n, uint64_t duration)
{
    struct wr_tap_tally *t = find(n->handle ? n->handle : WR_TAP_NONE);
    const struct wr_trace_event e = {.dur_ns = duration,
                                     .op = n->op,
                                     .flags = n->flags,
                                     .offset = n->off,
                                     .bytes = n->len};

    if (!t)
        return;
    if (!t->counts.first_ns)
        t->counts.first_ns = n->start;
    wr_counts_raise(&t->counts.last_ns, n->start + duration);
    wr_counts_event(&t->counts, t->next, &e, /* shared= */ true);
}
