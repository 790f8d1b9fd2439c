/* prune.c - taking steps away: retention, and pruning by call.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "checkpoint/lineage.h"
#include "checkpoint/retention.h"
#include "checkpoint/store.h"

/* Each time another writer took over the fast tier, or a step was saved anew. */
#define TRIES 10

struct taking {
    weir_ckpt *c;
    const weir_ckpt_prune_plan *plan; /* NULL: retention as it is set up */
    struct wr_byte_count gone;        /* of pruning by call */
    weir_err first; /* of a step that could not be taken away; code 0: none */
    char also[100]; /* the others: "step 3 (slow), step 5 (slow)" */
    unsigned more;  /* those that are not in that text */
};

static bool is_dry(const struct taking *k)
{
    return k->plan && k->plan->dry_run;
}

static int tell_gone(struct taking *k, const struct wr_tier *t,
                     const struct wr_stock_step *e, weir_err *err)
{
    if (!k->plan)
        return 0;
    if (k->plan->gone)
        k->plan->gone(k->plan->arg, e->step, t->label, e->bytes);
    return wr_byte_count_add(&k->gone, e->bytes)
               ? wr_fail(err, WEIR_ECANCELED, "canceled")
               : 0;
}

/* What ends it all; else the others go on. */
static bool ends(int r)
{
    return r == WEIR_EFENCED || r == WEIR_ECANCELED || r == WEIR_ECHANGED;
}

static void note_stuck(struct taking *k, uint64_t step, const char *tier,
                       const weir_err *why)
{
    char one[48];
    size_t used = strlen(k->also);
    int len;

    if (k->first.code == 0) {
        k->first = *why;
        return;
    }
    len = snprintf(one, sizeof(one), "%sstep %" PRIu64 " (%s)",
                   used ? ", " : "", step, tier);
    if (k->more || used + (size_t)len >= sizeof(k->also))
        k->more++;
    else
        memcpy(k->also + used, one, (size_t)len + 1);
}

/* All of them; code 0: none. */
static weir_err all_stuck(const struct taking *k)
{
    weir_err all = k->first;
    char more[32] = "";

    if (k->more)
        snprintf(more, sizeof(more), " and %u more", k->more);
    if (k->also[0])
        snprintf(all.msg, sizeof(all.msg), "%.360s; so does %s%s", k->first.msg,
                 k->also, more);
    return all;
}

/* Whether the slow tier has the same save, as good as it gets there; a damaged one
 * need not be there. */
static bool is_drained(void *arg, const struct wr_manifest *m)
{
    weir_ckpt *c = arg;
    struct wr_manifest far;
    bool is;

    if (wr_tier_is_damaged(c->near, m, NULL))
        return true;
    if (wr_tier_manifest(c->far, m->step, &far, NULL) < 0)
        return false;
    is = strcmp(far.id, m->id) == 0 &&
         (!c->cfg.verify || wr_tier_is_verified(c->far, &far));
    wr_manifest_done(&far);
    return is;
}

/* While retention looks, the trainer may go back and save a step anew: in another
 * process, or by another thread of this one. Who prunes by call has them stopped. */
static int retire(struct taking *k, struct wr_tier *t, uint64_t step,
                  weir_err *err)
{
    const struct wr_leaving l = {step, is_drained, k->c};
    bool meets = !k->plan && k->c->far && t == k->c->near;
    int r = meets ? wr_tier_retire_if(t, &l, err)
                  : wr_tier_retire(t, step, err);

    if (r == WEIR_ECHANGED)
        wr_stock_touch(k->c, step);
    return r;
}

/* One that cannot be taken away (immutable, held by a server) is named, and does
 * not keep the others: else one such step would fill the medium. */
static int take_copy(struct taking *k, struct wr_tier *t,
                     const struct wr_stock_step *e, bool *ret_left,
                     weir_err *err)
{
    weir_err why;
    int r = is_dry(k) ? 0 : retire(k, t, e->step, &why);

    *ret_left = r < 0;
    if (ends(r))
        return wr_fail_as(err, r, &why);
    if (r == 0)
        return tell_gone(k, t, e, err);
    wr_fail_prefix(&why, r, "step %" PRIu64 " stays on the %s tier", e->step,
                   t->label);
    note_stuck(k, e->step, t->label, &why);
    return 0;
}

/* A pin may have been set since it was looked at. */
static bool is_pinned(const weir_ckpt *c, const struct wr_stock_step *e)
{
    return wr_tier_marked(c->near, WR_MARK_PIN, e->step, NULL, 0) ||
           (c->far && wr_tier_marked(c->far, WR_MARK_PIN, e->step, NULL, 0));
}

/* The fast copy first: a step without its slow one would be drained again. */
static int take_step(struct taking *k, struct wr_stock_step *e,
                     const struct wr_fate *v, bool must, weir_err *err)
{
    bool left = false, last = k->c->far ? v->slow_goes : v->fast_goes;
    int r = 0;

    if (!v->fast_goes && !v->slow_goes)
        return 0;
    if (last && !must && is_pinned(k->c, e)) {
        e->pinned = true;
        return 0;
    }
    if (v->fast_goes)
        r = take_copy(k, k->c->near, e, &left, err);
    if (r < 0 || left)
        return r;
    if (v->fast_goes && !is_dry(k))
        e->fast = WEIR_COPY_NONE;
    if (v->slow_goes)
        r = take_copy(k, k->c->far, e, &left, err);
    if (r < 0 || left || is_dry(k))
        return r;
    if (v->slow_goes)
        e->slow = WEIR_COPY_NONE;
    if (e->fast == WEIR_COPY_NONE && e->slow == WEIR_COPY_NONE) {
        pthread_mutex_lock(&k->c->lock);
        k->c->stats.pruned++;
        pthread_mutex_unlock(&k->c->lock);
    }
    return 0;
}

/* Steps that have to go: the newest first, so that what is left at any time is
 * what there was at some time. The others: the oldest first. */
static int take_all(struct taking *k, uint64_t after, struct wr_stock *s,
                    const struct wr_fate *v, weir_err *err)
{
    int r = 0;

    for (size_t i = 0; i < s->count; i++)
        k->gone.total += s->kept[i].bytes *
                         (uint64_t)(v[i].fast_goes + v[i].slow_goes);
    for (size_t i = s->count; i-- > 0 && r == 0;)
        if (s->kept[i].step > after)
            r = take_step(k, &s->kept[i], &v[i], /* must= */ true, err);
    for (size_t i = 0; i < s->count && r == 0; i++)
        if (s->kept[i].step <= after)
            r = take_step(k, &s->kept[i], &v[i], /* must= */ false, err);
    return r;
}

/* What has a step's name and is no folder is not weir's: it is shown as damaged,
 * and stays. */
static void spare_foreign(weir_ckpt *c, const struct wr_stock *s,
                          struct wr_fate *v)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct wr_stock_step *e = &s->kept[i];

        if (e->fast == WEIR_COPY_DAMAGED && v[i].fast_goes)
            v[i].fast_goes = wr_tier_has(c->near, e->step);
        if (e->slow == WEIR_COPY_DAMAGED && v[i].slow_goes)
            v[i].slow_goes = wr_tier_has(c->far, e->step);
    }
}

static int judge_and_take(struct taking *k, const struct wr_retention *rule,
                          weir_err *err)
{
    struct wr_stock *s = &k->c->stock;
    struct wr_fate *v;
    int r = wr_stock_bring(k->c, err);

    if (r < 0)
        return r;
    v = calloc(s->count + 1, sizeof(*v));
    if (!v)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (wr_retention_judge(rule, s->kept, s->count, v) > 0) {
        spare_foreign(k->c, s, v);
        if (!is_dry(k))
            r = wr_lineage_check_claims(k->c, err);
        if (r == 0 && !is_dry(k) && k->c->far)
            r = wr_tier_settle(k->c->far, err);
        if (r == 0)
            r = take_all(k, rule->after, s, v, err);
        wr_stock_sweep(s);
    }
    free(v);
    return r;
}

/* What was told is not told again with every save; what could not be told yet,
 * because another error waits, is tried with the next one. */
static void tell_stuck(weir_ckpt *c, const struct taking *k)
{
    weir_err all = all_stuck(k);

    if (all.code == 0 ||
        (c->stuck.code < 0 && strcmp(c->stuck.msg, all.msg) == 0) ||
        wr_ckpt_trouble(c, WR_LOG_NOTE, WR_STEP_NONE, &all, /* tell= */ true))
        c->stuck = all;
}

void wr_ckpt_tell_anew(weir_ckpt *c)
{
    c->stuck = (weir_err){0};
}

static struct wr_retention rule_of(const weir_ckpt *c)
{
    return (struct wr_retention){
        .keep_last = c->cfg.keep_last,
        .keep_every = c->cfg.keep_every,
        .keep_fast = c->cfg.keep_fast,
        .keep_abandoned = c->cfg.keep_abandoned,
        .after = WEIR_LATEST,
        .two_tiers = c->far != NULL,
        .verify = c->cfg.verify,
    };
}

/* Whoever drains takes away in the folder of the fast tier's writer. What was
 * judged counts for one writer only: the next one may have gone back and saved
 * other steps under the same numbers. So the folder is settled first, then the
 * steps are looked at, and the claim on the slow tier is checked. Who claims both
 * begins with the slow one (store.c): where its folder was found on the fast
 * tier, that check fails. */
static int stand_by(weir_ckpt *c, weir_err *err)
{
    bool other = false;
    int r = wr_tier_stand_by(c->near, &other, err);

    if (r == 0 && other) {
        wr_stock_forget(c);
        r = wr_lineage_check_claims(c, err);
    }
    return r;
}

int wr_ckpt_retain(weir_ckpt *c, weir_err *err)
{
    struct wr_retention rule = rule_of(c);
    struct taking k;
    int r = WEIR_ECHANGED;

    /* Whoever drains does it, for both tiers. And all steps may stay. */
    if (!wr_tier_is_writer(wr_ckpt_last(c)) || (!c->far && !rule.keep_last))
        return 0;
    for (int i = 0; i < TRIES && r == WEIR_ECHANGED; i++) {
        k = (struct taking){.c = c};
        r = wr_tier_is_writer(c->near) ? 0 : stand_by(c, err);
        if (r == 0)
            r = judge_and_take(&k, &rule, err);
    }
    if (r == 0)
        tell_stuck(c, &k);
    return r;
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
    struct taking k = {.c = c,
                       .plan = plan,
                       .gone = {c->cfg.progress, c->cfg.progress_arg, 0}};
    uint64_t near = 0, far = 0;
    weir_err stuck;
    int r = 0;

    rule.keep_last = plan->keep_last;
    rule.keep_every = plan->keep_every;
    if (plan->keep_abandoned)
        rule.keep_abandoned = plan->keep_abandoned;
    if (plan->go_back)
        rule.after = plan->after;
    if (plan->spare) {
        r = wr_tier_spare(c->near, /* drop= */ false, &near, err);
        if (r == 0 && c->far)
            r = wr_tier_spare(c->far, /* drop= */ false, &far, err);
    }
    wr_stock_forget(c);
    if (r == 0)
        r = judge_and_take(&k, &rule, err);
    if (r == 0 && plan->spare)
        r = take_spare(&k, c->near, near, err);
    if (r == 0 && plan->spare && c->far)
        r = take_spare(&k, c->far, far, err);
    stuck = all_stuck(&k);
    return r < 0 ? r : wr_fail_as(err, stuck.code, &stuck);
}

/* Nothing may be published meanwhile that has to go, and retention is not to
 * look at the same steps on another thread. */
static int prune_alone(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                       weir_err *err)
{
    int r;

    if (!plan->dry_run &&
        (!wr_tier_is_writer(c->near) || !wr_tier_is_writer(wr_ckpt_last(c))))
        return wr_fail(err, WEIR_ESTATE,
                       "pruning needs a store that was opened to manage it, or "
                       "to save and drain");
    wr_saver_pause(c->saver);
    r = wr_drainer_pause(c->drainer, err);
    if (r == 0) {
        r = prune(c, plan, err);
        wr_drainer_resume(c->drainer);
    }
    wr_saver_resume(c->saver);
    return r;
}

int weir_ckpt_prune_sized(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                          size_t size, weir_err *err)
{
    weir_ckpt_prune_plan own;
    int r = wr_ckpt_begin(c, err);

    if (r == 0 && !plan)
        r = wr_fail(err, WEIR_EINVAL, "plan: is NULL");
    if (r == 0)
        r = wr_sized_copy(&own, sizeof(own), plan, size, err);
    if (r < 0)
        return r;
    if (own.after && !own.go_back)
        return wr_fail(err, WEIR_EINVAL, "after: is given without go_back");
    return wr_ckpt_end(c, prune_alone(c, &own, err), err);
}

/* --- one step --- */

/* Whether one tier (NULL: each) is meant. */
static bool names(const char *tier, const struct wr_tier *t)
{
    return t && (!tier || !strcmp(tier, t->label));
}

/* The fast copy first: a step without its slow one would be drained again. */
static int remove_step(weir_ckpt *c, uint64_t step, const char *tier,
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

int weir_ckpt_remove(weir_ckpt *c, uint64_t step, const char *tier,
                     weir_err *err)
{
    int r = wr_ckpt_begin(c, err);

    return r < 0 ? r : wr_ckpt_end(c, remove_step(c, step, tier, err), err);
}
