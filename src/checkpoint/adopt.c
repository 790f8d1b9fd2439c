/* adopt.c - what becomes of stale copies, and tiers that are to belong together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both are somebody's decision: nothing here happens by itself. */
#include "checkpoint/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/inventory.h"
#include "checkpoint/lineage.h"
#include "tier/aside.h"
#include "tier/link.h"

struct deciding {
    weir_ckpt *c;
    uint64_t step; /* WEIR_LATEST: all */
    weir_ckpt_stale_fn fn;
    void *arg;
    unsigned done; /* copies */
    unsigned left; /* that could not be adopted */
    struct wr_byte_count copied;
};

static bool is_meant(const struct deciding *d, uint64_t step)
{
    return d->step == WEIR_LATEST || d->step == step;
}

static void tell(struct deciding *d, uint64_t step, uint64_t bytes,
                 const weir_err *why)
{
    weir_ckpt_stale s = {.step = step, .bytes = bytes};

    if (why) {
        s.code = why->code;
        s.text = why->msg;
        d->left++;
    } else {
        s.text = "";
        d->done++;
    }
    if (d->fn)
        d->fn(d->arg, &s);
}

/* --- which tiers belong together --- */

/* The id of the last tier, made when there is none. A fast tier that becomes a
 * store of its own gets a new one: what it has counted was counted elsewhere. */
static int own_id(struct wr_tier *last, weir_err *err)
{
    struct wr_tier_link link = {0};
    int r = wr_tier_link_read(last, &link, err);

    if (r == WEIR_EDAMAGED || (r == 0 && link.kind == WR_LINK_FAST)) {
        link = (struct wr_tier_link){.kind = WR_LINK_LAST};
        wr_manifest_new_id(link.store);
        r = wr_tier_link_write(last, &link, err);
    } else if (r == 0 && link.kind == WR_LINK_NONE) {
        return wr_tier_link_make(last, last->store_id, err);
    }
    if (r == 0)
        wr_tier_set_store(last, link.store);
    return r;
}

/* What the fast tier's last writer counted counts in its own store only. */
static int old_generation(weir_ckpt *c, weir_err *err)
{
    struct wr_tier_link link = {0};
    int r = wr_tier_link_read(c->near, &link, err);

    if (r == WEIR_EDAMAGED)
        r = 0;
    else if (r == 0 && !strcmp(link.store, c->far->store_id))
        c->fast_generation = link.generation;
    return r;
}

/* --- adopting --- */

/* Whether the slow tier has another save of the step that is not older: that one
 * stays. */
static int check_number(weir_ckpt *c, uint64_t step, weir_err *err)
{
    struct wr_copy near, far;
    int r = wr_step_look(c->near, step, &near, err);

    if (r == 0)
        r = wr_step_look(c->far, step, &far, err);
    if (r < 0 || far.is < WEIR_COPY_COMPLETE || !strcmp(near.id, far.id) ||
        wr_copy_compare(&near, &far) > 0)
        return r;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s' has a newer step %" PRIu64 " (generation %" PRIu64
                   "); remove that first: weir ckpt rm --step %" PRIu64
                   " --tier slow %s %s",
                   c->far->shown, step, far.generation, step, c->cfg.fast,
                   c->cfg.slow);
}

/* It ranks below what is newer, and the next retention would take it. */
static int pin_and_copy(struct deciding *d, uint64_t step, weir_err *err)
{
    struct wr_byte_meter meter = {wr_byte_count_add, &d->copied};
    weir_ckpt *c = d->c;
    int r = check_number(c, step, err);

    if (r == 0)
        r = wr_tier_mark(c->near, WR_MARK_PIN, step, "", err);
    if (r == 0)
        r = wr_step_copy(c->near, c->far, step, &meter, err);
    if (r == 0 && c->cfg.verify)
        r = wr_step_verify(c->far, step, /* mark= */ true, &meter, err);
    return r;
}

/* What ends it all; else the copy is told as left. */
static bool ends(int r)
{
    return r == WEIR_ECANCELED || r == WEIR_ENOMEM || r == WEIR_EFENCED ||
           r == WEIR_ENOSPC;
}

static int adopt_one(struct deciding *d, uint64_t step, uint64_t bytes,
                     weir_err *err)
{
    weir_err why;
    int r = pin_and_copy(d, step, &why);

    if (r < 0 && ends(r))
        return wr_fail_as(err, r, &why);
    tell(d, step, bytes, r < 0 ? &why : NULL);
    return 0;
}

static int take_back(weir_ckpt *c, const struct wr_aside *a, weir_err *err)
{
    weir_err why;
    int r = wr_aside_take(c->near, a, &why);

    if (r == WEIR_EEXIST)
        return wr_fail(
            err, r,
            "'%s' has a newer step %" PRIu64
            "; remove that first: weir ckpt rm --step %" PRIu64 " %s %s",
            c->near->shown, a->step, a->step, c->cfg.fast, c->cfg.slow);
    return wr_fail_as(err, r, &why);
}

static int adopt_aside(struct deciding *d, weir_err *err)
{
    struct wr_aside *all;
    size_t count;
    int r = wr_aside_list(d->c->near, &all, &count, err);

    for (size_t i = 0; i < count && r == 0; i++) {
        unsigned left = d->left;
        weir_err why;

        if (!is_meant(d, all[i].step))
            continue;
        if (take_back(d->c, &all[i], &why) < 0) {
            tell(d, all[i].step, all[i].bytes, &why);
            continue;
        }
        r = adopt_one(d, all[i].step, all[i].bytes, err);
        if (r == 0 && d->left > left) /* its number is another's */
            r = wr_aside_return(d->c->near, &all[i], err);
    }
    free(all);
    return r;
}

/* What is not drained: because the fast tier is stale or of another store, or
 * because the slow one has another save of that number. */
static bool waits(const weir_ckpt_entry *e)
{
    return e->fast == WEIR_COPY_STALE ||
           (e->fast >= WEIR_COPY_COMPLETE && e->slow < WEIR_COPY_COMPLETE);
}

static int adopt_steps(struct deciding *d, weir_err *err)
{
    struct wr_inventory f = {.strict = true};
    int r = wr_inventory_take(d->c, &f, err);

    for (size_t i = 0; i < f.count && r == 0; i++) {
        const weir_ckpt_entry *e = &f.e[i];

        if (!is_meant(d, e->step) || !waits(e))
            continue;
        r = adopt_one(d, e->step, e->bytes, err);
    }
    wr_inventory_done(&f);
    return r;
}

/* The tiers belong together from now on. What was not adopted is set aside
 * first: it stays stale. */
static int join(weir_ckpt *c, weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_FAST};
    int r = wr_tier_generation(c->far, &link.generation, err);

    if (r == 0)
        r = wr_lineage_set_aside(c, err);
    memcpy(link.store, c->far->store_id, sizeof(link.store));
    if (r == 0)
        r = wr_tier_link_write(c->near, &link, err);
    return r;
}

static int adopt(struct deciding *d, weir_err *err)
{
    weir_ckpt *c = d->c;
    int r = own_id(wr_ckpt_last(c), err);

    if (r < 0 || !c->far)
        return r;
    wr_tier_set_store(c->near, c->far->store_id);
    r = old_generation(c, err);
    if (r == 0)
        r = adopt_aside(d, err);
    if (r == 0)
        r = adopt_steps(d, err);
    if (r == 0 && d->step == WEIR_LATEST)
        r = join(c, err);
    return r;
}

int weir_ckpt_adopt(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                    void *arg, weir_err *err)
{
    struct deciding d = {.c = c,
                         .step = step,
                         .fn = fn,
                         .arg = arg,
                         .copied = {c->cfg.progress, c->cfg.progress_arg}};
    int r;

    if (c->cfg.role != WEIR_CKPT_ADOPT)
        return wr_fail(err, WEIR_ESTATE,
                       "adopting needs a store that was opened for it");
    r = adopt(&d, err);
    if (r < 0)
        return r;
    if (step != WEIR_LATEST && d.done + d.left == 0)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s' has no stale copy of step %" PRIu64, c->cfg.fast,
                       step);
    return (int)d.left;
}

/* --- discarding --- */

static int discard_aside(struct deciding *d, weir_err *err)
{
    struct wr_aside *all;
    size_t count;
    int r = wr_aside_list(d->c->near, &all, &count, err);

    for (size_t i = 0; i < count && r == 0; i++) {
        if (!is_meant(d, all[i].step))
            continue;
        r = wr_aside_drop(d->c->near, &all[i], err);
        if (r == 0)
            tell(d, all[i].step, all[i].bytes, NULL);
    }
    free(all);
    return r;
}

static int discard_steps(struct deciding *d, weir_err *err)
{
    struct wr_inventory f = {.strict = true};
    int r = wr_inventory_take(d->c, &f, err);

    for (size_t i = 0; i < f.count && r == 0; i++) {
        const weir_ckpt_entry *e = &f.e[i];

        if (!is_meant(d, e->step) || e->fast != WEIR_COPY_STALE)
            continue;
        r = wr_tier_retire(d->c->near, e->step, err);
        if (r == 0)
            tell(d, e->step, f.sides[i].near.bytes, NULL);
    }
    wr_inventory_done(&f);
    return r;
}

int weir_ckpt_discard(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                      void *arg, weir_err *err)
{
    struct deciding d = {.c = c, .step = step, .fn = fn, .arg = arg};
    int r;

    if (c->cfg.role != WEIR_CKPT_MANAGE)
        return wr_fail(err, WEIR_ESTATE,
                       "discarding needs a store that was opened to manage it");
    r = discard_aside(&d, err);
    if (r == 0)
        r = discard_steps(&d, err);
    if (r < 0)
        return r;
    if (step != WEIR_LATEST && d.done == 0)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s' has no stale copy of step %" PRIu64
                       " (weir ckpt rm removes others)",
                       c->cfg.fast, step);
    return (int)d.done;
}
