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
#include "checkpoint/membership.h"
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

/* The id that the last tier is to have: its own, or that of its steps; where it
 * has neither, the near tier's, so that the order of those steps stays. A fast
 * tier that becomes a store of its own gets a new one: the store that it was of
 * goes on elsewhere. */
static void choose_id(weir_ckpt *c, const struct wr_membership *near,
                      const struct wr_membership *last,
                      char ret[WR_MANIFEST_ID])
{
    if (last->is == WR_MEMBER_LAST)
        memcpy(ret, last->link.store, WR_MANIFEST_ID);
    else if (c->cfg.slow && last->is != WR_MEMBER_FAST && near->link.store[0])
        memcpy(ret, near->link.store, WR_MANIFEST_ID);
    else
        wr_manifest_new_id(ret);
}

static int write_id(struct deciding *d, const struct wr_membership *near,
                    const struct wr_membership *last_is, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(d->c);
    struct wr_tier_link link = {.kind = WR_LINK_LAST};
    int r = 0;

    choose_id(d->c, near, last_is, link.store);
    if (!d->c->cfg.dry_run &&
        (last_is->is != WR_MEMBER_LAST || last_is->derived))
        r = wr_tier_link_write(last, &link, err);
    if (r == 0)
        wr_tier_set_store(last, link.store);
    return r;
}

/* What the fast tier's last writer counted counts in its own store only. */
static void note_fast(weir_ckpt *c, const struct wr_membership *near)
{
    c->fast_generation = 0;
    c->fast_nonce[0] = '\0';
    if (strcmp(near->link.store, c->near->store_id) != 0)
        return;
    c->fast_generation = near->highest.number;
    memcpy(c->fast_nonce, near->highest.nonce, sizeof(c->fast_nonce));
}

/* --- adopting --- */

/* Whether the slow tier has another save of the step that is not older: that one
 * stays. */
static int compare_number(const weir_ckpt *c, const struct wr_copy *near,
                          const struct wr_copy *far, weir_err *err)
{
    uint64_t step = near->gist.turn.step;

    if (far->is < WEIR_COPY_COMPLETE || !strcmp(near->gist.id, far->gist.id) ||
        wr_copy_compare(near, far) > 0)
        return 0;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s' has a newer step %" PRIu64 " (generation %" PRIu64
                   "); remove that first: weir ckpt rm --step %" PRIu64
                   " --tier slow %s %s",
                   c->far->shown, step, far->gist.turn.generation, step,
                   c->cfg.fast, c->cfg.slow);
}

/* In a dry run the slow tier may be missing: nothing is there. */
static int look_at_slow(const weir_ckpt *c, uint64_t step, struct wr_copy *ret,
                        weir_err *err)
{
    *ret = (struct wr_copy){.is = WEIR_COPY_NONE};
    return c->far ? wr_step_look(c->far, step, ret, err) : 0;
}

static int check_number(weir_ckpt *c, uint64_t step, weir_err *err)
{
    struct wr_copy near, far;
    int r = wr_step_look(c->near, step, &near, err);

    if (r == 0)
        r = look_at_slow(c, step, &far, err);
    return r < 0 ? r : compare_number(c, &near, &far, err);
}

/* It ranks below what is newer, and the next retention would take it: `pin`. */
static int pin_and_copy(struct deciding *d, uint64_t step, bool pin,
                        weir_err *err)
{
    struct wr_byte_meter meter = {wr_byte_count_add, &d->copied};
    weir_ckpt *c = d->c;
    int r = check_number(c, step, err);

    if (r < 0 || c->cfg.dry_run)
        return r;
    if (pin)
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
                     bool pin, weir_err *err)
{
    weir_err why;
    int r = pin_and_copy(d, step, pin, &why);

    if (r < 0 && ends(r))
        return wr_fail_as(err, r, &why);
    tell(d, step, bytes, r < 0 ? &why : NULL);
    return 0;
}

static int say_taken(weir_ckpt *c, uint64_t step, weir_err *err)
{
    return wr_fail(err, WEIR_EEXIST,
                   "'%s' has a newer step %" PRIu64
                   "; remove that first: weir ckpt rm --step %" PRIu64 " %s %s",
                   c->near->shown, step, step, c->cfg.fast, c->cfg.slow);
}

static int take_back(weir_ckpt *c, const struct wr_aside *a, weir_err *err)
{
    weir_err why;
    int r = wr_aside_take(c->near, a, &why);

    return r == WEIR_EEXIST ? say_taken(c, a->step, err)
                            : wr_fail_as(err, r, &why);
}

/* Whether a copy that was set aside could be adopted; not when its number is
 * taken, by what is there or what was adopted (`taken`). */
static int check_aside(weir_ckpt *c, const struct wr_aside *a, bool taken,
                       weir_err *err)
{
    struct wr_copy near = {.gist = a->gist}, far;
    int r = taken || wr_tier_has(c->near, a->step)
                ? say_taken(c, a->step, err)
                : look_at_slow(c, a->step, &far, err);

    near.own = a->gist.store[0] && !strcmp(a->gist.store, c->near->store_id);
    return r < 0 ? r : compare_number(c, &near, &far, err);
}

static int adopt_aside(struct deciding *d, weir_err *err)
{
    uint64_t taken = WEIR_LATEST; /* what was adopted; they rise */
    struct wr_aside *all;
    size_t count;
    int r = wr_aside_list(d->c->near, &all, &count, err);

    for (size_t i = 0; i < count && r == 0; i++) {
        const struct wr_aside *a = &all[i];
        unsigned left = d->left;
        weir_err why;
        int q;

        if (!is_meant(d, a->step))
            continue;
        q = d->c->cfg.dry_run ? check_aside(d->c, a, a->step == taken, &why)
                              : take_back(d->c, a, &why);
        if (q < 0 || d->c->cfg.dry_run) {
            tell(d, a->step, a->gist.bytes, q < 0 ? &why : NULL);
            taken = q < 0 ? taken : a->step;
            continue;
        }
        r = adopt_one(d, a->step, a->gist.bytes, /* pin= */ true, err);
        if (r == 0 && d->left > left) /* its number is another's */
            r = wr_aside_return(d->c->near, a, err);
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
        r = adopt_one(d, e->step, e->bytes,
                      e->fast == WEIR_COPY_STALE || !f.sides[i].near.own, err);
    }
    wr_inventory_done(&f);
    return r;
}

/* The tiers belong together from now on. What was not adopted is set aside
 * first: it stays stale. Adopting counts as an opening for saving: its number is
 * above all that either tier has seen. */
static int join(weir_ckpt *c, uint64_t known, struct wr_writers *writers,
                weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_FAST};
    struct wr_generation g;
    int r = wr_lineage_ask_writers(c, writers, &known, err);

    if (r == 0)
        r = wr_tier_generation_take(c->far, known, wr_lineage_check_claims, c,
                                    &g, err);
    if (r == 0)
        r = wr_lineage_set_aside(c, err);
    if (r == 0)
        r = wr_lineage_note_writers(c, writers, &g, err);
    if (r < 0)
        return r;
    memcpy(link.store, c->far->store_id, sizeof(link.store));
    link.generation = g.number;
    memcpy(link.nonce, g.nonce, sizeof(link.nonce));
    return wr_tier_link_write(c->near, &link, err);
}

/* Before that: what the tiers know of writers. */
static int note_known(const struct wr_membership *near,
                      const struct wr_membership *last,
                      struct wr_writers *writers, weir_err *err)
{
    int r = wr_writers_add(writers, last->highest.number, last->highest.nonce,
                           err);

    return r < 0 ? r
                 : wr_writers_add(writers, near->highest.number,
                                  near->highest.nonce, err);
}

static int adopt(struct deciding *d, struct wr_writers *writers, weir_err *err)
{
    weir_ckpt *c = d->c;
    struct wr_membership near, last;
    int r = wr_membership_look(c->near, c->cfg.slow != NULL, /* reads= */ true,
                               &near, err);

    if (r == 0)
        r = wr_membership_look(wr_ckpt_last(c), /* fast= */ false,
                               /* reads= */ true, &last, err);
    if (!c->far && c->cfg.slow) /* a dry run: it would be made */
        last = (struct wr_membership){0};
    if (r == 0)
        r = note_known(&near, &last, writers, err);
    near.writers = last.writers = writers;
    if (r == 0)
        r = wr_membership_ask(c->near, &near, err);
    if (r == 0)
        r = wr_membership_ask(c->cfg.slow ? c->far : c->near, &last, err);
    if (r == 0)
        r = write_id(d, &near, &last, err);
    if (r < 0 || !c->cfg.slow)
        return r;
    if (c->far)
        wr_tier_set_store(c->near, c->far->store_id);
    note_fast(c, &near);
    r = adopt_aside(d, err);
    if (r == 0)
        r = adopt_steps(d, err);
    if (r == 0 && d->step == WEIR_LATEST && !c->cfg.dry_run)
        r = join(c, WR_MAX(near.highest.number, last.highest.number), writers,
                 err);
    return r;
}

int weir_ckpt_adopt(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                    void *arg, weir_err *err)
{
    struct deciding d = {.c = c, .step = step, .fn = fn, .arg = arg};
    struct wr_writers writers = {0};
    int r = wr_ckpt_begin(c, err);

    if (r < 0)
        return r;
    d.copied.progress = c->cfg.progress;
    d.copied.arg = c->cfg.progress_arg;
    if (c->cfg.role != WEIR_CKPT_ADOPT)
        return wr_fail(err, WEIR_ESTATE,
                       "adopting needs a store that was opened for it");
    r = wr_ckpt_end(c, adopt(&d, &writers, err), err);
    wr_writers_done(&writers);
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
        if (!d->c->cfg.dry_run)
            r = wr_aside_drop(d->c->near, &all[i], err);
        if (r == 0)
            tell(d, all[i].step, all[i].gist.bytes, NULL);
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
        if (!d->c->cfg.dry_run)
            r = wr_tier_retire(d->c->near, e->step, err);
        if (r == 0)
            tell(d, e->step, f.sides[i].near.gist.bytes, NULL);
    }
    wr_inventory_done(&f);
    return r;
}

int weir_ckpt_discard(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                      void *arg, weir_err *err)
{
    struct deciding d = {.c = c, .step = step, .fn = fn, .arg = arg};
    int r = wr_ckpt_begin(c, err);

    if (r < 0)
        return r;
    if (c->cfg.role != WEIR_CKPT_MANAGE)
        return wr_fail(err, WEIR_ESTATE,
                       "discarding needs a store that was opened to manage it");
    r = discard_aside(&d, err);
    if (r == 0)
        r = discard_steps(&d, err);
    r = wr_ckpt_end(c, r, err);
    if (r < 0)
        return r;
    if (step != WEIR_LATEST && d.done == 0)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s' has no stale copy of step %" PRIu64
                       " (weir ckpt rm removes others)",
                       c->cfg.fast, step);
    return (int)d.done;
}
