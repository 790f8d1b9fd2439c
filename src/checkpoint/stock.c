/* stock.c - the steps of a store as retention knows them, from save to save.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/stock.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/inventory.h"
#include "checkpoint/lineage.h"
#include "checkpoint/store.h"

#define PINS_AT_ONCE 8           /* looked at again each time */
#define PIN_STRIDE   (size_t)256 /* steps that are passed on the way to them */
#define TOUCHED_MAX  1024

void wr_stock_done(struct wr_stock *s)
{
    if (s->kept)
        free(s->kept - s->unused);
    if (s->origins)
        free(s->origins - s->unused);
    free(s->touched);
    *s = (struct wr_stock){0};
}

void wr_stock_touch(weir_ckpt *c, uint64_t step)
{
    struct wr_stock *s = &c->stock;

    pthread_mutex_lock(&c->lock);
    if (s->touched_count < TOUCHED_MAX &&
        wr_grow(&s->touched, &s->touched_cap, s->touched_count + 1,
                sizeof(*s->touched)))
        s->touched[s->touched_count++] = step;
    else
        s->lost = true;
    pthread_mutex_unlock(&c->lock);
}

void wr_stock_forget(weir_ckpt *c)
{
    pthread_mutex_lock(&c->lock);
    c->stock.lost = true;
    pthread_mutex_unlock(&c->lock);
}

/* --- one step --- */

static bool has_copy(const struct wr_stock_step *k)
{
    return k->fast != WEIR_COPY_NONE || k->slow != WEIR_COPY_NONE;
}

static bool is_whole(const struct wr_stock_step *k)
{
    return k->fast >= WEIR_COPY_COMPLETE || k->slow >= WEIR_COPY_COMPLETE;
}

static struct wr_stock_step kept_of(const weir_ckpt_entry *e)
{
    return (struct wr_stock_step){.step = e->step,
                                  .bytes = e->bytes,
                                  .fast = e->fast,
                                  .slow = e->slow,
                                  .pinned = e->pinned};
}

/* s->count: it is not among them. The newest ones are asked for most. */
static size_t index_of(const struct wr_stock *s, uint64_t step)
{
    for (size_t i = s->count; i-- > 0;)
        if (s->kept[i].step == step)
            return i;
    return s->count;
}

/* Moves what is before it or what is behind it, whichever is less: mostly the
 * oldest goes. */
static void drop(struct wr_stock *s, size_t at)
{
    size_t behind = s->count - at - 1;

    s->abandoned -= s->kept[at].abandoned;
    if (at < behind) {
        memmove(&s->kept[1], &s->kept[0], at * sizeof(*s->kept));
        memmove(&s->origins[1], &s->origins[0], at * sizeof(*s->origins));
        s->kept++;
        s->origins++;
        s->unused++;
    } else {
        memmove(&s->kept[at], &s->kept[at + 1], behind * sizeof(*s->kept));
        memmove(&s->origins[at], &s->origins[at + 1],
                behind * sizeof(*s->origins));
    }
    s->count--;
}

/* Room for one more; what is unused in front is used again when that is much. */
static bool grow(struct wr_stock *s)
{
    size_t want = s->count + 1;

    if (want + s->unused <= s->cap)
        return true;
    if (s->unused) {
        s->kept -= s->unused;
        s->origins -= s->unused;
        memmove(s->kept, s->kept + s->unused, s->count * sizeof(*s->kept));
        memmove(s->origins, s->origins + s->unused,
                s->count * sizeof(*s->origins));
        s->unused = 0;
    }
    if (want + want / 2 > s->cap) {
        size_t cap = 2 * want + 16;
        struct wr_stock_step *kept = realloc(s->kept, cap * sizeof(*kept));
        struct wr_origin *origins;

        if (!kept)
            return false;
        s->kept = kept;
        origins = realloc(s->origins, cap * sizeof(*origins));
        if (!origins)
            return false;
        s->origins = origins;
        s->cap = cap;
    }
    return true;
}

static bool insert(struct wr_stock *s, const struct wr_stock_step *k,
                   const struct wr_origin *o)
{
    size_t at = s->count;

    if (!grow(s))
        return false;
    while (at > 0 && wr_origin_compare(&s->origins[at - 1], o) > 0)
        at--;
    memmove(&s->kept[at + 1], &s->kept[at], (s->count - at) * sizeof(*s->kept));
    memmove(&s->origins[at + 1], &s->origins[at],
            (s->count - at) * sizeof(*s->origins));
    s->kept[at] = *k;
    s->origins[at] = *o;
    s->count++;
    return true;
}

/* Nothing tells when a step was saved whose manifest cannot be read. It is taken
 * for the one right after the newest below it, so that it does not go before
 * others do. */
static struct wr_origin origin_of(const struct wr_stock *s,
                                  const weir_ckpt_entry *e,
                                  const struct wr_sides *sides)
{
    const struct wr_copy *c = wr_sides_count(e, sides);
    struct wr_origin o = wr_origin_of(c);

    if (c->gist.world)
        return o;
    for (size_t i = s->count; i-- > 0;)
        if (is_whole(&s->kept[i]) && s->kept[i].step < e->step) {
            o = s->origins[i];
            break;
        }
    o.turn.step = e->step;
    return o;
}

/* What a step is now. *ret_moved: the chain may be another one by that. */
static bool put(struct wr_stock *s, const weir_ckpt_entry *e,
                const struct wr_sides *sides, bool *ret_moved)
{
    struct wr_stock_step k = kept_of(e);
    struct wr_origin o = origin_of(s, e, sides);
    size_t at = index_of(s, k.step);
    bool follows;

    if (at < s->count && has_copy(&k) &&
        wr_origin_compare(&s->origins[at], &o) == 0 &&
        is_whole(&k) == is_whole(&s->kept[at])) {
        k.abandoned = s->kept[at].abandoned;
        s->kept[at] = k;
        return true;
    }
    if (at < s->count) {
        *ret_moved |= is_whole(&s->kept[at]);
        drop(s, at);
    }
    if (!has_copy(&k))
        return true;
    follows = s->count > 0 && is_whole(&k) &&
              wr_origin_compare(&o, &s->origins[s->count - 1]) > 0 &&
              wr_origin_is_same_part(&o, &s->origins[s->count - 1]);
    *ret_moved |= !follows;
    return insert(s, &k, &o);
}

/* --- all of them --- */

static int find_abandoned(struct wr_stock *s, weir_err *err)
{
    struct wr_origin *whole = calloc(s->count + 1, sizeof(*whole));
    bool *left = calloc(s->count + 1, sizeof(*left));
    size_t n = 0;
    int r = 0;

    if (!whole || !left) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < s->count; i++)
        if (is_whole(&s->kept[i]))
            whole[n++] = s->origins[i];
    wr_chain_find(whole, n, left);
    n = s->abandoned = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->kept[i].abandoned = is_whole(&s->kept[i]) && left[n++];
        s->abandoned += s->kept[i].abandoned;
    }
out:
    free(whole);
    free(left);
    return r;
}

/* Those of an inventory whose manifests can be read, or the others. */
static bool take_some(struct wr_stock *s, const struct wr_inventory *f,
                      bool read)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct wr_stock_step k = kept_of(&f->e[i]);
        struct wr_origin o;

        if ((f->e[i].world != 0) != read)
            continue;
        o = origin_of(s, &f->e[i], &f->sides[i]);
        if (!insert(s, &k, &o))
            return false;
    }
    return true;
}

static int take_all(weir_ckpt *c, weir_err *err)
{
    struct wr_inventory f = {.strict = true};
    struct wr_stock *s = &c->stock;
    int r = wr_inventory_take(c, &f, err);

    s->count = 0;
    if (r == 0 && (!take_some(s, &f, /* read= */ true) ||
                   !take_some(s, &f, /* read= */ false)))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_inventory_done(&f);
    if (r == 0)
        r = find_abandoned(s, err);
    s->known = r == 0;
    return r;
}

static int look_at(weir_ckpt *c, struct wr_inventory *f, uint64_t step,
                   bool *moved, weir_err *err)
{
    struct wr_sides sides;
    weir_ckpt_entry e;
    int r = wr_inventory_look(c, f, step, &e, &sides, err);

    if (r == 0 && !put(&c->stock, &e, &sides, moved))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return r;
}

/* Those of the near tier, and those that were there. */
static int look_at_near(weir_ckpt *c, struct wr_inventory *f, bool *moved,
                        weir_err *err)
{
    struct wr_stock *s = &c->stock;
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++)
        r = look_at(c, f, steps[i], moved, err);
    free(steps);
    for (size_t i = s->count; i-- > 0 && r == 0;)
        if (s->kept[i].fast != WEIR_COPY_NONE &&
            !wr_tier_has(c->near, s->kept[i].step))
            r = look_at(c, f, s->kept[i].step, moved, err);
    return r;
}

/* Any process may have removed a pin. */
static void look_at_pins(weir_ckpt *c)
{
    struct wr_stock *s = &c->stock;

    for (size_t i = 0, found = 0;
         i < WR_MIN(s->count, PIN_STRIDE) && found < PINS_AT_ONCE; i++) {
        struct wr_stock_step *k = &s->kept[s->pin_at++ % s->count];

        if (!k->pinned)
            continue;
        found++;
        k->pinned = wr_tier_marked(c->near, WR_MARK_PIN, k->step, NULL, 0) ||
                    (c->far &&
                     wr_tier_marked(c->far, WR_MARK_PIN, k->step, NULL, 0));
    }
}

static int look_at_touched(weir_ckpt *c, const uint64_t *steps, size_t count,
                           weir_err *err)
{
    struct wr_inventory f = {.strict = true, .two_tiers = c->far != NULL};
    bool moved = false;
    int r = wr_lineage_is_stale(c, &f.stale, err);

    for (size_t i = 0; i < count && r == 0; i++)
        r = look_at(c, &f, steps[i], &moved, err);
    /* A writer of the fast tier knows what it changed there; whoever drains beside
     * it does not. */
    if (r == 0 && c->far && !wr_tier_is_writer(c->near))
        r = look_at_near(c, &f, &moved, err);
    if (r == 0 && moved)
        r = find_abandoned(&c->stock, err);
    if (r == 0)
        look_at_pins(c);
    return r;
}

int wr_stock_bring(weir_ckpt *c, weir_err *err)
{
    struct wr_stock *s = &c->stock;
    uint64_t *steps;
    size_t count;
    bool lost;
    int r;

    pthread_mutex_lock(&c->lock);
    steps = s->touched;
    count = s->touched_count;
    lost = s->lost;
    s->touched = NULL;
    s->touched_count = s->touched_cap = 0;
    s->lost = false;
    pthread_mutex_unlock(&c->lock);
    r = s->known && !lost ? look_at_touched(c, steps, count, err)
                          : take_all(c, err);
    free(steps);
    if (r < 0)
        wr_stock_forget(c);
    return r;
}

void wr_stock_sweep(struct wr_stock *s)
{
    for (size_t i = s->count; i-- > 0;)
        if (!has_copy(&s->kept[i]))
            drop(s, i);
}
