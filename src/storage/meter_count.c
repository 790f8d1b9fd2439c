/* meter_count.c - the counters of a meter: tallies, time in use, file ends.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path of a read takes no lock that all threads share. Each queue has a
 * tally of its own, whose lock only wr_meter_take wants too. Time in use and the
 * ends of files are one atomic word each. */
#include "storage/meter_count.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define SHARDS    4u
#define FILE_BITS 16u /* of the hash: the slot; as many more are its tag */
#define FILES     ((size_t)1 << FILE_BITS)
#define END_BITS  48u /* of a slot: where the last read ended */
#define END_MASK  ((UINT64_C(1) << END_BITS) - 1)
#define HEAD      4096u /* data begins behind a header: of NPY, NPZ, HDF5 */

/* Time in use: how many have reads in flight, and behind that the sum of the
 * times at which all became idle less those at which the first became busy, in
 * steps of 64 ns modulo 2^48. Both change together, so that who reads the word
 * sees them fit; the sum needs no begin that another could have replaced. */
#define BUSY_ONE  (UINT64_C(1) << 48)
#define BUSY_MASK (BUSY_ONE - 1)
#define STEP_BITS 6u

struct wr_meter {
    pthread_mutex_t lock;           /* guards `tallies` and their links;
                                      taken before the lock of a tally */
    struct wr_meter_tally *tallies; /* owned: of open queues */
    struct wr_meter_tally ended;    /* of closed ones */
    struct wr_meter_tally shards[SHARDS];
    atomic_uint next_shard;
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t busy;
    /* By hash of the path; a file that needs the slot of another replaces it.
     * 0: none. */
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t ends[FILES];
};

int wr_meter_new(struct wr_meter **ret, weir_err *err)
{
    struct wr_meter *m = wr_big_alloc(sizeof(*m));

    if (!m)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->ended.lock, NULL);
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&m->shards[i].lock, NULL);
    *ret = m;
    return 0;
}

void wr_meter_free(struct wr_meter *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&m->shards[i].lock);
    pthread_mutex_destroy(&m->ended.lock);
    pthread_mutex_destroy(&m->lock);
    wr_big_free(m, sizeof(*m));
}

/* --- tallies --- */

struct wr_meter_tally *wr_meter_tally_begin(struct wr_meter *m)
{
    struct wr_meter_tally *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_lock(&m->lock);
    t->next = m->tallies;
    t->link = &m->tallies;
    if (t->next)
        t->next->link = &t->next;
    m->tallies = t;
    pthread_mutex_unlock(&m->lock);
    return t;
}

void wr_meter_tally_end(struct wr_meter *m, struct wr_meter_tally *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&m->lock);
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    wr_meter_add(&m->ended.counts, &t->counts);
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct wr_meter_tally *wr_meter_shard(struct wr_meter *m)
{
    return &m->shards[atomic_fetch_add(&m->next_shard, 1) % SHARDS];
}

void wr_meter_count(struct wr_meter_tally *t, uint64_t ns, uint64_t bytes,
                    struct wr_meter_place place)
{
    struct wr_meter_counts *c = &t->counts;

    c->reads++;
    c->bytes += bytes;
    c->sequential += place.sequential;
    c->consecutive += place.consecutive;
    c->whole_files += place.whole;
    wr_hist_add(&c->latency_ns, ns);
    wr_hist_add(&c->sizes, bytes);
}

/* --- time in use --- */

static uint64_t step_of(uint64_t ns)
{
    return ns >> STEP_BITS;
}

void wr_meter_busy(struct wr_meter *m, uint64_t now_ns)
{
    uint64_t was = atomic_load_explicit(&m->busy, memory_order_relaxed), is;

    do {
        uint64_t sum = was & BUSY_MASK;

        if (was < BUSY_ONE)
            sum = (sum - step_of(now_ns)) & BUSY_MASK;
        is = ((was & ~BUSY_MASK) + BUSY_ONE) | sum;
    } while (!atomic_compare_exchange_weak(&m->busy, &was, is));
}

void wr_meter_idle(struct wr_meter *m, uint64_t now_ns)
{
    uint64_t was = atomic_load_explicit(&m->busy, memory_order_relaxed), is;

    do {
        uint64_t sum = was & BUSY_MASK, count = (was & ~BUSY_MASK) - BUSY_ONE;

        if (!count)
            sum = (sum + step_of(now_ns)) & BUSY_MASK;
        is = count | sum;
    } while (!atomic_compare_exchange_weak(&m->busy, &was, is));
}

static uint64_t busy_ns(struct wr_meter *m)
{
    uint64_t word = atomic_load(&m->busy), sum = word & BUSY_MASK;

    if (word >= BUSY_ONE)
        sum = (sum + step_of(wr_clock_ns())) & BUSY_MASK;
    /* Times are taken a little before the word changes: the sum of many short
     * ones may lie below 0 by less than they are late. */
    return sum & (BUSY_ONE >> 1) ? 0 : sum << STEP_BITS;
}

/* --- files --- */

static uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* Eight bytes at a time: paths are long, and there is one per read. */
uint64_t wr_meter_file(const char *path)
{
    size_t len = strlen(path);
    uint64_t h = len, word = 0;

    for (; len >= sizeof(word); len -= sizeof(word), path += sizeof(word)) {
        memcpy(&word, path, sizeof(word));
        h = hash_word(h, word);
    }
    for (word = 0; len; len--)
        word = word << 8 | (unsigned char)path[len - 1];
    return wr_mix64(hash_word(h, word));
}

struct wr_meter_place wr_meter_locate(struct wr_meter *m, uint64_t file,
                                      uint64_t offset, uint64_t len, bool whole)
{
    atomic_uint_fast64_t *slot = &m->ends[file & (FILES - 1)];
    uint64_t tag = file >> FILE_BITS << END_BITS | UINT64_C(1) << END_BITS;
    uint64_t was = atomic_load_explicit(slot, memory_order_relaxed);
    bool known = (was & ~END_MASK) == tag;
    uint64_t end = known ? was & END_MASK : 0;
    bool again = (offset < HEAD) & (!known | (end > HEAD)); /* a new pass */
    struct wr_meter_place p = {.whole = whole && offset == 0};

    /* Not one exchange, which takes three times as long: which of two reads at
     * the same time comes first is open anyway. */
    atomic_store_explicit(slot, tag | ((offset + len) & END_MASK),
                          memory_order_relaxed);
    /* No branches: of random reads half of them would be foreseen wrongly. The
     * end of a file that is not known is 0. */
    p.consecutive = p.whole | again | (offset == end);
    p.sequential = p.consecutive | (known & (offset > end));
    return p;
}

/* --- what was counted --- */

void wr_meter_add(struct wr_meter_counts *to,
                  const struct wr_meter_counts *from)
{
    to->reads += from->reads;
    to->bytes += from->bytes;
    to->errors += from->errors;
    to->sequential += from->sequential;
    to->consecutive += from->consecutive;
    to->whole_files += from->whole_files;
    to->opens += from->opens;
    to->busy_ns += from->busy_ns;
    wr_hist_merge(&to->latency_ns, &from->latency_ns);
    wr_hist_merge(&to->sizes, &from->sizes);
}

static void add_tally(struct wr_meter_counts *to, struct wr_meter_tally *t)
{
    pthread_mutex_lock(&t->lock);
    wr_meter_add(to, &t->counts);
    pthread_mutex_unlock(&t->lock);
}

void wr_meter_take(struct wr_meter *m, struct wr_meter_counts *ret)
{
    memset(ret, 0, sizeof(*ret));
    pthread_mutex_lock(&m->lock);
    add_tally(ret, &m->ended);
    for (unsigned i = 0; i < SHARDS; i++)
        add_tally(ret, &m->shards[i]);
    for (struct wr_meter_tally *t = m->tallies; t; t = t->next)
        add_tally(ret, t);
    pthread_mutex_unlock(&m->lock);
    ret->busy_ns = busy_ns(m);
}
