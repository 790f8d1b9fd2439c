/* varying.c - fields whose samples differ in length: kept, then joined.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/varying.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BIG ((size_t)2 << 20) /* mapped, and worth to be used again */

/* --- memory --- */

void wr_spares_init(struct wr_spares *s)
{
    *s = (struct wr_spares){.count = 0};
    pthread_mutex_init(&s->lock, NULL);
}

void wr_spares_done(struct wr_spares *s)
{
    for (unsigned i = 0; i < s->count; i++)
        wr_big_free(s->of[i].bytes, s->of[i].cap);
    s->count = 0;
    pthread_mutex_destroy(&s->lock);
}

static bool is_better(const struct wr_kept *a, const struct wr_kept *b,
                      size_t need)
{
    return b->cap < need ? a->cap > b->cap : a->cap >= need && a->cap < b->cap;
}

/* The smallest one that is large enough, or else the largest. */
static struct wr_kept take_spare(struct wr_spares *s, size_t need)
{
    struct wr_kept k = {0};
    unsigned best = 0;

    pthread_mutex_lock(&s->lock);
    for (unsigned i = 1; i < s->count; i++)
        if (is_better(&s->of[i], &s->of[best], need))
            best = i;
    if (s->count) {
        k = s->of[best];
        s->of[best] = s->of[--s->count];
    }
    pthread_mutex_unlock(&s->lock);
    return k;
}

/* What it has touched already stays. */
static void grow(struct wr_kept *k, size_t need)
{
    uint8_t *more = wr_big_grow(k->bytes, k->cap, need);

    if (!more)
        wr_big_free(k->bytes, k->cap);
    *k = (struct wr_kept){.bytes = more, .cap = more ? need : 0};
}

static bool give_spare(struct wr_spares *s, const struct wr_kept *k)
{
    bool room;

    pthread_mutex_lock(&s->lock);
    room = s->count < WR_SPARES;
    if (room)
        s->of[s->count++] = *k;
    pthread_mutex_unlock(&s->lock);
    return room;
}

static void forget(struct wr_spares *s, struct wr_kept *k)
{
    if (k->cap < BIG)
        free(k->bytes);
    else if (!give_spare(s, k))
        wr_big_free(k->bytes, k->cap);
    *k = (struct wr_kept){0};
}

/* An empty sample has memory, too. */
static bool alloc(struct wr_spares *s, struct wr_kept *k, size_t len)
{
    size_t cap = WR_ALIGN_UP(len + !len, (size_t)WR_CACHE_LINE);

    if (cap < len) /* so much that it wrapped */
        return false;
    if (cap >= BIG)
        *k = take_spare(s, cap);
    if (k->bytes && k->cap < cap)
        grow(k, cap);
    if (!k->bytes) {
        k->cap = cap;
        k->bytes = cap < BIG ? aligned_alloc(WR_CACHE_LINE, cap)
                             : wr_big_alloc(cap);
    }
    k->len = len;
    return k->bytes != NULL;
}

/* --- samples --- */

bool wr_varying_init(struct wr_varying *v, struct wr_spares *spares,
                     uint32_t slots)
{
    v->spares = spares;
    v->slots = slots;
    v->kept = calloc(slots, sizeof(*v->kept));
    return v->kept != NULL;
}

void wr_varying_drop(struct wr_varying *v)
{
    for (uint32_t i = 0; v->kept && i < v->slots; i++)
        forget(v->spares, &v->kept[i]);
    if (v->kept)
        forget(v->spares, &v->joined);
}

void wr_varying_done(struct wr_varying *v)
{
    wr_varying_drop(v);
    free(v->kept);
    *v = (struct wr_varying){0};
}

uint8_t *wr_varying_keep(struct wr_varying *v, uint32_t slot, size_t len)
{
    struct wr_kept *k = &v->kept[slot];

    forget(v->spares, k);
    return alloc(v->spares, k, len) ? k->bytes : NULL;
}

void wr_varying_move(struct wr_varying *v, uint32_t from, uint32_t to)
{
    forget(v->spares, &v->kept[to]);
    v->kept[to] = v->kept[from];
    v->kept[from] = (struct wr_kept){0};
}

const uint8_t *wr_varying_join(struct wr_varying *v, uint32_t count,
                               uint64_t *ret_offsets)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        ret_offsets[i] = at;
        at += v->kept[i].len;
    }
    ret_offsets[count] = at;
    if (count == 1 && v->kept[0].bytes) /* as it lies: it may be large */
        return v->kept[0].bytes;
    forget(v->spares, &v->joined);
    if (!alloc(v->spares, &v->joined, at))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (v->kept[i].len) /* a hole has none */
            memcpy(v->joined.bytes + ret_offsets[i], v->kept[i].bytes,
                   v->kept[i].len);
        forget(v->spares, &v->kept[i]);
    }
    return v->joined.bytes;
}
