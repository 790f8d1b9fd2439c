/* prune.c - taking steps away: retention, and pruning by call.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "checkpoint/inventory.h"
#include "checkpoint/retention.h"
#include "checkpoint/store.h"

struct taking {
    weir_ckpt *c;
    const weir_ckpt_prune_plan *plan; /* NULL: retention as it is set up */
    struct wr_byte_count gone;        /* of pruning by call */
};

static int take_copy(struct taking *k, struct wr_tier *t,
                     const weir_ckpt_entry *e, weir_err *err)
{
    int r = 0;

    if (!k->plan)
        return wr_tier_retire(t, e->step, err);
    if (!k->plan->dry_run)
        r = wr_tier_retire(t, e->step, err);
    if (r < 0)
        return r;
    if (k->plan->gone)
        k->plan->gone(k->plan->arg, e->step, t->label, e->bytes);
    if (wr_byte_count_add(&k->gone, e->bytes))
        return wr_fail(err, WEIR_ECANCELED, "canceled");
    return 0;
}

/* The fast copy first: a step without its slow one would be drained again. */
static int take_step(struct taking *k, const weir_ckpt_entry *e,
                     const struct wr_fate *v, weir_err *err)
{
    bool gone = (v->fast_goes || e->fast == WEIR_COPY_NONE) &&
                (v->slow_goes || e->slow == WEIR_COPY_NONE);
    int r = 0;

    if (v->fast_goes)
        r = take_copy(k, k->c->near, e, err);
    if (r == 0 && v->slow_goes)
        r = take_copy(k, k->c->far, e, err);
    if (r == 0 && gone && !(k->plan && k->plan->dry_run)) {
        pthread_mutex_lock(&k->c->lock);
        k->c->stats.pruned++;
        pthread_mutex_unlock(&k->c->lock);
    }
    return r;
}

/* Steps that have to go: the newest first, so that what is left at any time is
 * what there was at some time. The others: the oldest first. */
static int take_all(struct taking *k, uint64_t after,
                    const struct wr_inventory *f, const struct wr_fate *v,
                    weir_err *err)
{
    size_t first = f->count;
    int r = 0;

    for (size_t i = 0; i < f->count; i++)
        k->gone.total += f->e[i].bytes * (v[i].fast_goes + v[i].slow_goes);
    for (; first > 0 && f->e[first - 1].step > after && r == 0; first--)
        r = take_step(k, &f->e[first - 1], &v[first - 1], err);
    for (size_t i = 0; i < first && r == 0; i++)
        if (v[i].fast_goes || v[i].slow_goes)
            r = take_step(k, &f->e[i], &v[i], err);
    return r;
}

/* Who was fenced off takes nothing away. The fast tier of a drain is another's,
 * and stays so. */
static int check_claims(const weir_ckpt *c, weir_err *err)
{
    int r = wr_tier_is_writer(c->near) ? wr_tier_check_claim(c->near, err) : 0;

    if (r == 0 && c->far && wr_tier_is_writer(c->far))
        r = wr_tier_check_claim(c->far, err);
    return r;
}

/* What has a step's name and is no folder is not weir's: it is shown as damaged,
 * and stays. */
static void spare_foreign(weir_ckpt *c, const struct wr_inventory *f,
                          struct wr_fate *v)
{
    for (size_t i = 0; i < f->count; i++) {
        const weir_ckpt_entry *e = &f->e[i];

        if (e->fast == WEIR_COPY_DAMAGED && v[i].fast_goes)
            v[i].fast_goes = wr_tier_has(c->near, e->step);
        if (e->slow == WEIR_COPY_DAMAGED && v[i].slow_goes)
            v[i].slow_goes = wr_tier_has(c->far, e->step);
    }
}

static int judge_and_take(struct taking *k, const struct wr_retention *rule,
                          weir_err *err)
{
    struct wr_inventory f = {.strict = true};
    struct wr_fate *v = NULL;
    int r;

    r = wr_inventory_take(k->c, &f, err);
    if (r < 0)
        goto out;
    v = calloc(f.count + 1, sizeof(*v));
    if (!v) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    wr_retention_judge(rule, f.e, f.count, v);
    spare_foreign(k->c, &f, v);
    if (!k->plan || !k->plan->dry_run)
        r = check_claims(k->c, err);
    if (r == 0)
        r = take_all(k, rule->after, &f, v, err);
out:
    free(v);
    wr_inventory_done(&f);
    return r;
}

static struct wr_retention rule_of(const weir_ckpt *c)
{
    return (struct wr_retention){
        .keep_last = c->cfg.keep_last,
        .keep_every = c->cfg.keep_every,
        .keep_fast = c->cfg.keep_fast,
        .after = WEIR_LATEST,
        .two_tiers = c->far != NULL,
        .verify = c->cfg.verify,
    };
}

int wr_ckpt_retain(weir_ckpt *c, weir_err *err)
{
    struct wr_retention rule = rule_of(c);
    struct taking k = {.c = c};

    /* Whoever drains does it, for both tiers. */
    if (!wr_tier_is_writer(wr_ckpt_last(c)))
        return 0;
    return judge_and_take(&k, &rule, err);
}

/* Space that is kept: what there was before steps were taken away, because
 * those were told already. */
static int take_spare(struct taking *k, struct wr_tier *t, uint64_t bytes,
                      weir_err *err)
{
    int r = 0;

    if (!k->plan->dry_run)
        r = wr_tier_spare(t, /* drop= */ true, NULL, err);
    if (r == 0 && bytes > 0 && k->plan->gone)
        k->plan->gone(k->plan->arg, WEIR_LATEST, t->label, bytes);
    return r;
}

static int prune(weir_ckpt *c, const weir_ckpt_prune_plan *plan, weir_err *err)
{
    struct wr_retention rule = rule_of(c);
    struct taking k = {
        .c = c, .plan = plan, .gone = {c->cfg.progress, c->cfg.progress_arg}};
    uint64_t near = 0, far = 0;
    int r = 0;

    rule.keep_last = plan->keep_last;
    rule.keep_every = plan->keep_every;
    if (plan->go_back)
        rule.after = plan->after;
    if (plan->spare) {
        r = wr_tier_spare(c->near, /* drop= */ false, &near, err);
        if (r == 0 && c->far)
            r = wr_tier_spare(c->far, /* drop= */ false, &far, err);
    }
    if (r == 0)
        r = judge_and_take(&k, &rule, err);
    if (r == 0 && plan->spare)
        r = take_spare(&k, c->near, near, err);
    if (r == 0 && plan->spare && c->far)
        r = take_spare(&k, c->far, far, err);
    return r;
}

/* Nothing may be published meanwhile that has to go. */
static int prune_alone(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                       weir_err *err)
{
    int r;

    if (!wr_tier_is_writer(c->near) || !wr_tier_is_writer(wr_ckpt_last(c)))
        return wr_fail(err, WEIR_ESTATE,
                       "pruning needs a store that was opened to manage it, or "
                       "to save and drain");
    wr_saver_settle(c->saver);
    wr_drainer_pause(c->drainer);
    r = prune(c, plan, err);
    wr_drainer_resume(c->drainer);
    return r;
}

int weir_ckpt_prune_sized(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                          size_t size, weir_err *err)
{
    weir_ckpt_prune_plan own;
    int r = wr_sized_copy(&own, sizeof(own), plan, size, err);

    if (r < 0)
        return r;
    if (own.after && !own.go_back)
        return wr_fail(err, WEIR_EINVAL, "after: is given without go_back");
    return own.dry_run ? prune(c, &own, err) : prune_alone(c, &own, err);
}

/* --- one step --- */

/* Whether one tier (NULL: each) is meant. */
static bool names(const char *tier, const struct wr_tier *t)
{
    return t && (!tier || !strcmp(tier, t->label));
}

/* The fast copy first: a step without its slow one would be drained again. */
int weir_ckpt_remove(weir_ckpt *c, uint64_t step, const char *tier,
                     weir_err *err)
{
    struct wr_tier *const tiers[] = {c->near, c->far};
    bool any = false;
    int r = 0;

    if (c->cfg.role != WEIR_CKPT_MANAGE)
        return wr_fail(err, WEIR_ESTATE,
                       "removing needs a store that was opened to manage it");
    for (size_t i = 0; i < WR_ARRAY_LEN(tiers); i++) {
        if (!names(tier, tiers[i]) || !wr_tier_has(tiers[i], step))
            continue;
        any = true;
        if (wr_tier_marked(tiers[i], WR_MARK_PIN, step, NULL, 0))
            return wr_fail(err, WEIR_EBUSY,
                           "step %" PRIu64 " is pinned (weir ckpt unpin)",
                           step);
    }
    if (!any)
        return wr_fail(err, WEIR_ENOENT, "there is no step %" PRIu64 "%s%s",
                       step, tier ? " on the tier " : "", tier ? tier : "");
    for (size_t i = 0; i < WR_ARRAY_LEN(tiers) && r == 0; i++)
        if (names(tier, tiers[i]))
            r = wr_tier_retire(tiers[i], step, err);
    return r;
}
