/* inventory.c - what copies of steps a store has, merged from its tiers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/sized.h"
#include "checkpoint/chain.h"
#include "checkpoint/lineage.h"
#include "tier/aside.h"
#include "tier/step.h"

void wr_inventory_done(struct wr_inventory *f)
{
    free(f->e);
    free(f->sides);
}

/* The entry of a step, made in its place when there is none; NULL: memory. */
static weir_ckpt_entry *entry_of(struct wr_inventory *f, uint64_t step,
                                 size_t *at)
{
    while (*at < f->count && f->e[*at].step < step)
        ++*at;
    if (*at < f->count && f->e[*at].step == step)
        return &f->e[*at];
    if (!wr_grow(&f->e, &f->cap, f->count + 1, sizeof(*f->e)) ||
        !wr_grow(&f->sides, &f->sides_cap, f->count + 1, sizeof(*f->sides)))
        return NULL;
    memmove(&f->e[*at + 1], &f->e[*at], (f->count - *at) * sizeof(*f->e));
    memmove(&f->sides[*at + 1], &f->sides[*at],
            (f->count - *at) * sizeof(*f->sides));
    memset(&f->e[*at], 0, sizeof(f->e[*at]));
    memset(&f->sides[*at], 0, sizeof(f->sides[*at]));
    f->e[*at].step = step;
    f->count++;
    return &f->e[*at];
}

/* --- what they are worth --- */

static void say_problem(const struct wr_inventory *f, weir_ckpt_entry *e,
                        const char *tier, const char *text)
{
    if (!e->problem[0])
        snprintf(e->problem, sizeof(e->problem), "%s%s%.190s",
                 f->two_tiers ? tier : "", f->two_tiers ? ": " : "", text);
}

static bool is_good(const struct wr_copy *c)
{
    return c->is >= WEIR_COPY_COMPLETE;
}

static bool has_problem(const struct wr_copy *c)
{
    return c->is == WEIR_COPY_DAMAGED || c->is == WEIR_COPY_UNKNOWN;
}

/* Of two saves of a step the later one counts; where nothing tells which that is
 * (an earlier version wrote them), the fast tier's, as it was then. And what a
 * stale fast tier has counts for nothing, unless it was drained. */
static void find_stale(const struct wr_inventory *f, weir_ckpt_entry *e,
                       const struct wr_sides *s)
{
    bool both = is_good(&s->near) && is_good(&s->far);

    if (both && !strcmp(s->near.gist.id, s->far.gist.id))
        return;
    if (is_good(&s->near) && f->stale) {
        e->fast = WEIR_COPY_STALE;
        say_problem(f, e, "fast",
                    "another machine went on without it ('weir ckpt adopt' or "
                    "'weir ckpt discard')");
    } else if (both) {
        bool near = wr_copy_compare(&s->near, &s->far) >= 0;

        *(near ? &e->slow : &e->fast) = WEIR_COPY_STALE;
        say_problem(f, e, near ? "slow" : "fast",
                    "is of an older save of this step");
    }
}

const struct wr_copy *wr_sides_count(const weir_ckpt_entry *e,
                                     const struct wr_sides *s)
{
    return e->fast >= WEIR_COPY_COMPLETE   ? &s->near
           : e->slow >= WEIR_COPY_COMPLETE ? &s->far
           : s->near.gist.world            ? &s->near
                                           : &s->far;
}

/* What is told of a step is told of the copy that counts. */
static void settle(const struct wr_inventory *f, weir_ckpt_entry *e,
                   const struct wr_sides *s)
{
    const struct wr_gist *g;

    e->fast = s->near.is;
    e->slow = s->far.is;
    if (has_problem(&s->near))
        say_problem(f, e, "fast", s->near.why.msg);
    if (has_problem(&s->far))
        say_problem(f, e, "slow", s->far.why.msg);
    find_stale(f, e, s);
    g = &wr_sides_count(e, s)->gist;
    e->bytes = g->bytes;
    e->time_ns = g->time_ns;
    e->world = g->world;
    e->generation = g->turn.generation;
    e->seq = g->turn.seq;
}

/* --- looking --- */

static int look_at(struct wr_inventory *f, struct wr_tier *t, uint64_t step,
                   struct wr_copy *ret, weir_err *err)
{
    weir_err why;
    int r = f->strict ? wr_step_glance(t, step, ret, &why)
                      : wr_step_look(t, step, ret, &why);

    if (r < 0 && !f->strict && !wr_err_is_lack(r)) {
        memset(ret, 0, sizeof(*ret));
        ret->is = WEIR_COPY_UNKNOWN;
        ret->why = why;
        return 0;
    }
    return wr_fail_as(err, r, &why);
}

static int find_on(struct wr_inventory *f, struct wr_tier *t, bool fast,
                   weir_err *err)
{
    size_t count, at = 0;
    uint64_t *steps;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r < 0)
        return r;
    wr_known_keep(t->known, steps, count);
    for (size_t i = 0; i < count && r == 0; i++) {
        weir_ckpt_entry *e;
        struct wr_copy c;

        r = look_at(f, t, steps[i], &c, err);
        if (r < 0 || c.is == WEIR_COPY_NONE)
            continue;
        e = entry_of(f, steps[i], &at);
        if (!e) {
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
            continue;
        }
        *(fast ? &f->sides[at].near : &f->sides[at].far) = c;
        if (wr_tier_marked(t, WR_MARK_PIN, e->step, NULL, 0))
            e->pinned = 1;
    }
    free(steps);
    return r;
}

/* The fast tier first, to the end: what leaves it meanwhile is on the slow one
 * by then. */
int wr_inventory_take(weir_ckpt *c, struct wr_inventory *f, weir_err *err)
{
    int r;

    f->two_tiers = c->far != NULL;
    r = find_on(f, c->near, /* fast= */ true, err);
    if (r == 0 && c->far)
        r = find_on(f, c->far, /* fast= */ false, err);
    if (r == 0)
        r = wr_lineage_is_stale(c, &f->stale, err);
    for (size_t i = 0; i < f->count && r == 0; i++)
        settle(f, &f->e[i], &f->sides[i]);
    return r;
}

int wr_inventory_look(weir_ckpt *c, struct wr_inventory *f, uint64_t step,
                      weir_ckpt_entry *ret, struct wr_sides *ret_sides,
                      weir_err *err)
{
    int r;

    memset(ret, 0, sizeof(*ret));
    memset(ret_sides, 0, sizeof(*ret_sides));
    ret->step = step;
    r = look_at(f, c->near, step, &ret_sides->near, err);
    if (r == 0 && c->far)
        r = look_at(f, c->far, step, &ret_sides->far, err);
    if (r < 0)
        return r;
    ret->pinned = wr_tier_marked(c->near, WR_MARK_PIN, step, NULL, 0) ||
                  (c->far &&
                   wr_tier_marked(c->far, WR_MARK_PIN, step, NULL, 0));
    settle(f, ret, ret_sides);
    return 0;
}

/* --- listing --- */

/* An entry, and where it stands. */
struct placed {
    weir_ckpt_entry *e;
    struct wr_origin origin;
};

static int as_saved(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    return wr_origin_compare(&x->origin, &y->origin);
}

/* Which steps the run has left. */
static int find_abandoned(struct wr_inventory *f, weir_err *err)
{
    struct placed *all = calloc(f->count + 1, sizeof(*all));
    struct wr_origin *origins = calloc(f->count + 1, sizeof(*origins));
    bool *left = calloc(f->count + 1, sizeof(*left));
    size_t n = 0;
    int r = 0;

    if (!all || !origins || !left)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->count && r == 0; i++)
        if (wr_entry_is_whole(&f->e[i]))
            all[n++] = (struct placed){
                &f->e[i], wr_origin_of(wr_sides_count(&f->e[i], &f->sides[i]))};
    if (r == 0) {
        qsort(all, n, sizeof(*all), as_saved);
        for (size_t i = 0; i < n; i++)
            origins[i] = all[i].origin;
        wr_chain_find(origins, n, left);
    }
    for (size_t i = 0; i < n; i++)
        all[i].e->abandoned = left[i];
    free(all);
    free(origins);
    free(left);
    return r;
}

/* Copies that were set aside get entries of their own, behind the step's. */
static int add_aside(weir_ckpt *c, struct wr_inventory *f, weir_err *err)
{
    struct wr_aside *all;
    size_t count, at = 0;
    int r = wr_aside_list(c->near, &all, &count, err);

    for (size_t i = 0; i < count && r == 0; i++) {
        weir_ckpt_entry *e;

        while (at < f->count && f->e[at].step <= all[i].step)
            at++;
        if (!wr_grow(&f->e, &f->cap, f->count + 1, sizeof(*f->e))) {
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
            break;
        }
        e = &f->e[at];
        memmove(e + 1, e, (f->count - at) * sizeof(*e));
        f->count++;
        *e = (weir_ckpt_entry){.step = all[i].step, .fast = WEIR_COPY_STALE};
        e->bytes = all[i].gist.bytes;
        e->time_ns = all[i].gist.time_ns;
        e->world = all[i].gist.world;
        e->generation = all[i].gist.turn.generation;
        e->seq = all[i].gist.turn.seq;
        say_problem(f, e, "fast",
                    "set aside: another machine went on without it ('weir ckpt "
                    "adopt' or 'weir ckpt discard')");
    }
    free(all);
    return r;
}

int weir_ckpt_list_sized(weir_ckpt *c, weir_ckpt_entry **ret, size_t *ret_count,
                         size_t size, weir_err *err)
{
    struct wr_inventory f = {0};
    char *all = NULL;
    int r = wr_ckpt_begin(c, err);

    if (r == 0 && (!ret || !ret_count))
        r = wr_fail(err, WEIR_EINVAL, "ret: is NULL");
    if (r < 0)
        return r;
    r = wr_inventory_take(c, &f, err);
    if (r == 0)
        r = find_abandoned(&f, err);
    if (r == 0)
        r = add_aside(c, &f, err);
    r = wr_ckpt_end(c, r, err);
    if (r == 0 && !(all = calloc(f.count + 1, size)))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < f.count && all; i++)
        wr_sized_give(all + i * size, size, &f.e[i], sizeof(f.e[i]));
    if (r == 0) {
        *ret = (weir_ckpt_entry *)(void *)all;
        *ret_count = f.count;
    }
    wr_inventory_done(&f);
    return r;
}
