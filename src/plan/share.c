/* share.c - jobs that divide a capacity: evenly, or as flows of two kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/share.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static bool is_before(const struct wr_plan_item *a,
                      const struct wr_plan_item *b)
{
    return a->key < b->key || (a->key <= b->key && a->order < b->order);
}

bool wr_plan_heap_add(struct wr_plan_heap *h, double key, uint32_t kind,
                      uint32_t id)
{
    struct wr_plan_item item = {
        .key = key, .order = h->added, .id = id, .kind = kind};
    size_t k = h->count;

    if (!wr_grow(&h->at, &h->cap, h->count + 1, sizeof(*h->at)))
        return false;
    h->added++;
    h->count++;
    for (; k && is_before(&item, &h->at[(k - 1) / 2]); k = (k - 1) / 2)
        h->at[k] = h->at[(k - 1) / 2];
    h->at[k] = item;
    return true;
}

struct wr_plan_item wr_plan_heap_pop(struct wr_plan_heap *h)
{
    struct wr_plan_item first = h->at[0], last = h->at[--h->count];
    size_t k = 0, child;

    while ((child = 2 * k + 1) < h->count) {
        if (child + 1 < h->count && is_before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!is_before(&h->at[child], &last))
            break;
        h->at[k] = h->at[child];
        k = child;
    }
    h->at[k] = last;
    return first;
}

void wr_plan_heap_done(struct wr_plan_heap *h)
{
    free(h->at);
    *h = (struct wr_plan_heap){0};
}

void wr_plan_share_init(struct wr_plan_share *s, double capacity, double limit)
{
    *s = (struct wr_plan_share){.capacity = capacity, .limit = limit};
}

void wr_plan_share_done(struct wr_plan_share *s)
{
    wr_plan_heap_done(&s->jobs);
}

/* Work per nanosecond of one job. */
static double rate(const struct wr_plan_share *s)
{
    return WR_MIN(s->capacity / (double)s->jobs.count, s->limit);
}

void wr_plan_share_advance(struct wr_plan_share *s, double now_ns)
{
    if (s->jobs.count && now_ns > s->now_ns) {
        double grown = rate(s) * (now_ns - s->now_ns);

        s->got += grown;
        s->done += grown * (double)s->jobs.count;
    }
    s->now_ns = WR_MAX(s->now_ns, now_ns);
    if (!s->jobs.count)
        s->got = 0; /* keeps it small, and so exact */
}

bool wr_plan_share_add(struct wr_plan_share *s, double now_ns, double work,
                       uint32_t id)
{
    wr_plan_share_advance(s, now_ns);
    return wr_plan_heap_add(&s->jobs, s->got + work, 0, id);
}

double wr_plan_share_next(const struct wr_plan_share *s)
{
    double left;

    if (!s->jobs.count)
        return INFINITY;
    left = (s->jobs.at[0].key - s->got) / rate(s);
    return s->now_ns + WR_MAX(left, 0);
}

uint32_t wr_plan_share_pop(struct wr_plan_share *s)
{
    wr_plan_share_advance(s, wr_plan_share_next(s));
    return wr_plan_heap_pop(&s->jobs).id;
}

void wr_plan_fluid_init(struct wr_plan_fluid *f)
{
    *f = (struct wr_plan_fluid){0};
    for (unsigned k = 0; k < WR_PLAN_FLUID_KINDS; k++) {
        f->kinds[k].alone = f->kinds[k].most = f->kinds[k].full = INFINITY;
        f->kinds[k].weight = 1;
    }
}

void wr_plan_fluid_done(struct wr_plan_fluid *f)
{
    for (unsigned k = 0; k < WR_PLAN_FLUID_KINDS; k++)
        wr_plan_heap_done(&f->kinds[k].heap);
}

static double count(const struct wr_plan_flows *w)
{
    return w->weight * (double)w->heap.count;
}

/* Work per second that one flow would take if the device were free. */
static double wanted(const struct wr_plan_flows *w)
{
    return WR_MIN(w->alone, w->most / count(w));
}

/* The part of the device's time that this is. */
static double part(const struct wr_plan_flows *w, double rate)
{
    return isinf(w->full) ? 0 : rate / w->full;
}

/* The rates, after flows have come or gone. Two kinds: if one asks for less than
 * an even part, the other has the rest. */
static void divide(struct wr_plan_fluid *f)
{
    struct wr_plan_flows *r = &f->kinds[WR_PLAN_FLUID_READS];
    struct wr_plan_flows *w = &f->kinds[WR_PLAN_FLUID_WRITES];
    double nr = count(r), nw = count(w), pr, pw, even;

    if (nr > 0)
        r->rate = wanted(r);
    if (nw > 0)
        w->rate = wanted(w);
    pr = nr > 0 ? part(r, r->rate) : 0;
    pw = nw > 0 ? part(w, w->rate) : 0;
    if (nr + nw <= 0 || (nr > 0 ? nr * pr : 0) + (nw > 0 ? nw * pw : 0) <= 1)
        return;
    even = 1 / (nr + nw);
    if (nr > 0 && pr > even)
        r->rate = r->full * (pw < even ? (1 - nw * pw) / nr : even);
    if (nw > 0 && pw > even)
        w->rate = w->full * (pr < even ? (1 - nr * pr) / nw : even);
}

static void grow(struct wr_plan_fluid *f, struct wr_plan_flows *w, double dt)
{
    double grown = w->rate * dt, all = grown * count(w);

    w->got += grown;
    w->done += all;
    f->busy_s += part(w, all);
}

void wr_plan_fluid_advance(struct wr_plan_fluid *f, double now_s)
{
    double dt = now_s - f->now_s;

    if (dt <= 0)
        return;
    for (unsigned k = 0; k < WR_PLAN_FLUID_KINDS; k++)
        if (f->kinds[k].heap.count)
            grow(f, &f->kinds[k], dt);
    f->now_s = now_s;
}

bool wr_plan_fluid_add(struct wr_plan_fluid *f, enum wr_plan_fluid_kind kind,
                       double now_s, double work, uint32_t id)
{
    struct wr_plan_flows *w = &f->kinds[kind];

    wr_plan_fluid_advance(f, now_s);
    if (!w->heap.count)
        w->got = 0; /* keeps it small, and so exact */
    if (!wr_plan_heap_add(&w->heap, w->got + work, kind, id))
        return false;
    divide(f);
    return true;
}

double wr_plan_fluid_next(const struct wr_plan_fluid *f,
                          enum wr_plan_fluid_kind *ret_kind)
{
    double first = INFINITY;

    for (unsigned k = 0; k < WR_PLAN_FLUID_KINDS; k++) {
        const struct wr_plan_flows *w = &f->kinds[k];
        double left;

        if (!w->heap.count)
            continue;
        left = (w->heap.at[0].key - w->got) / w->rate;
        if (f->now_s + WR_MAX(left, 0) < first) {
            first = f->now_s + WR_MAX(left, 0);
            *ret_kind = (enum wr_plan_fluid_kind)k;
        }
    }
    return first;
}

uint32_t wr_plan_fluid_pop(struct wr_plan_fluid *f)
{
    enum wr_plan_fluid_kind kind = WR_PLAN_FLUID_READS;
    struct wr_plan_item e;

    wr_plan_fluid_advance(f, wr_plan_fluid_next(f, &kind));
    e = wr_plan_heap_pop(&f->kinds[kind].heap);
    /* Not less by rounding, so that flows with equal work end together. */
    f->kinds[kind].got = WR_MAX(f->kinds[kind].got, e.key);
    divide(f);
    return e.id;
}

void wr_plan_fluid_stop(struct wr_plan_fluid *f, enum wr_plan_fluid_kind kind)
{
    f->kinds[kind].heap.count = 0;
    divide(f);
}
