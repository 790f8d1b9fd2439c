/* manage.c - what is in a store: listing, checking, pinning, taking away.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/retention.h"
#include "checkpoint/step.h"

/* --- listing --- */

/* What is there, rising. The id tells whether two copies are of one save. */
struct found {
    weir_ckpt_entry *e;          /* owned */
    char (*ids)[WR_MANIFEST_ID]; /* owned; of the fast copy */
    size_t count, cap, ids_cap;
    bool two_tiers;
    bool strict; /* a copy of which nothing is known fails it all */
};

static void found_done(struct found *f)
{
    free(f->e);
    free(f->ids);
}

/* The entry of a step, made in its place when there is none; NULL: memory. */
static weir_ckpt_entry *entry_of(struct found *f, uint64_t step, size_t *at)
{
    while (*at < f->count && f->e[*at].step < step)
        ++*at;
    if (*at < f->count && f->e[*at].step == step)
        return &f->e[*at];
    if (!wr_grow(&f->e, &f->cap, f->count + 1, sizeof(*f->e)) ||
        !wr_grow(&f->ids, &f->ids_cap, f->count + 1, sizeof(*f->ids)))
        return NULL;
    memmove(&f->e[*at + 1], &f->e[*at], (f->count - *at) * sizeof(*f->e));
    memmove(&f->ids[*at + 1], &f->ids[*at], (f->count - *at) * sizeof(*f->ids));
    memset(&f->e[*at], 0, sizeof(f->e[*at]));
    f->ids[*at][0] = '\0';
    f->e[*at].step = step;
    f->count++;
    return &f->e[*at];
}

static void say_problem(const struct found *f, weir_ckpt_entry *e,
                        const struct wr_tier *t, const char *text)
{
    if (!e->problem[0])
        snprintf(e->problem, sizeof(e->problem), "%s%s%.190s",
                 f->two_tiers ? t->label : "", f->two_tiers ? ": " : "", text);
}

/* Adds a copy to its step's entry. */
static void add_copy(struct found *f, size_t at, struct wr_tier *t,
                     const struct wr_copy *c, bool fast)
{
    weir_ckpt_entry *e = &f->e[at];
    enum weir_copy is = c->is;

    if (is == WEIR_COPY_DAMAGED) {
        say_problem(f, e, t, c->why.msg);
    } else if (fast) {
        memcpy(f->ids[at], c->id, sizeof(f->ids[at]));
    } else if (f->ids[at][0] && strcmp(f->ids[at], c->id) != 0) {
        /* The fast tier's is what was saved last. */
        is = WEIR_COPY_DAMAGED;
        say_problem(f, e, t, "is of another save of this step");
    }
    if (fast)
        e->fast = is;
    else
        e->slow = is;
    if (is > WEIR_COPY_DAMAGED && e->world == 0) {
        e->bytes = c->bytes;
        e->time_ns = c->time_ns;
        e->world = c->world;
    }
    if (wr_tier_marked(t, WR_MARK_PIN, e->step, NULL, 0))
        e->pinned = 1;
}

static int look_at(struct found *f, struct wr_tier *t, uint64_t step,
                   struct wr_copy *ret, weir_err *err)
{
    weir_err why;
    int r = wr_step_look(t, step, ret, &why);

    if (r < 0 && !f->strict && r != WEIR_ENOMEM) {
        memset(ret, 0, sizeof(*ret));
        ret->is = WEIR_COPY_DAMAGED;
        ret->why = why;
        return 0;
    }
    if (r < 0 && err)
        *err = why;
    return r;
}

static int find_on(struct found *f, struct wr_tier *t, bool fast, weir_err *err)
{
    size_t count, at = 0;
    uint64_t *steps;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy c;

        r = look_at(f, t, steps[i], &c, err);
        if (r < 0 || c.is == WEIR_COPY_NONE)
            continue;
        if (!entry_of(f, steps[i], &at))
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        else
            add_copy(f, at, t, &c, fast);
    }
    free(steps);
    return r;
}

/* The fast tier first, to the end: what leaves it meanwhile is on the slow one
 * by then. */
static int find_all(weir_ckpt *c, struct found *f, weir_err *err)
{
    int r;

    f->two_tiers = c->far != NULL;
    r = find_on(f, c->near, /* fast= */ true, err);
    return r == 0 && c->far ? find_on(f, c->far, /* fast= */ false, err) : r;
}

int wr_ckpt_entries(weir_ckpt *c, weir_ckpt_entry **ret, size_t *ret_count,
                    weir_err *err)
{
    struct found f = {0};
    int r = find_all(c, &f, err);

    if (r == 0 && !f.e && !(f.e = calloc(1, sizeof(*f.e))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        *ret = f.e;
        *ret_count = f.count;
        f.e = NULL;
    }
    found_done(&f);
    return r;
}

int weir_ckpt_list(weir_ckpt *c, weir_ckpt_entry **ret, size_t *ret_count,
                   weir_err *err)
{
    int r = wr_ckpt_take_trouble(c, err);

    return r < 0 ? r : wr_ckpt_entries(c, ret, ret_count, err);
}

/* --- taking away --- */

static bool is_writer(const struct wr_tier *t)
{
    return t->epoch > 0;
}

struct taking {
    weir_ckpt *c;
    const weir_ckpt_prune_plan *plan; /* NULL: retention as it is set up */
    uint64_t bytes_done, bytes_total;
};

static int take_copy(struct taking *k, struct wr_tier *t,
                     const weir_ckpt_entry *e, weir_err *err)
{
    const weir_ckpt_config *cfg = &k->c->cfg;
    int r = 0;

    if (!k->plan)
        return wr_tier_retire(t, e->step, err);
    if (!k->plan->dry_run)
        r = wr_tier_retire(t, e->step, err);
    if (r < 0)
        return r;
    if (k->plan->gone)
        k->plan->gone(k->plan->arg, e->step, t->label, e->bytes);
    k->bytes_done += e->bytes;
    if (cfg->progress &&
        cfg->progress(cfg->progress_arg, k->bytes_done, k->bytes_total))
        return wr_fail(err, WEIR_ECANCELED, "canceled");
    return 0;
}

/* The fast copy first: a step without its slow one would be drained again. */
static int take_step(struct taking *k, const weir_ckpt_entry *e,
                     const struct wr_verdict *v, weir_err *err)
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
static int take_all(struct taking *k, uint64_t after, const struct found *f,
                    const struct wr_verdict *v, weir_err *err)
{
    size_t first = f->count;
    int r = 0;

    for (size_t i = 0; i < f->count; i++)
        k->bytes_total += f->e[i].bytes * (v[i].fast_goes + v[i].slow_goes);
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
    int r = is_writer(c->near) ? wr_tier_check_claim(c->near, err) : 0;

    if (r == 0 && c->far && is_writer(c->far))
        r = wr_tier_check_claim(c->far, err);
    return r;
}

static int judge_and_take(struct taking *k, const struct wr_retention *rule,
                          weir_err *err)
{
    struct found f = {.strict = true};
    struct wr_verdict *v = NULL;
    int r;

    r = find_all(k->c, &f, err);
    if (r < 0)
        goto out;
    v = calloc(f.count + 1, sizeof(*v));
    if (!v) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    wr_retention_judge(rule, f.e, f.count, v);
    if (!k->plan || !k->plan->dry_run)
        r = check_claims(k->c, err);
    if (r == 0)
        r = take_all(k, rule->after, &f, v, err);
out:
    free(v);
    found_done(&f);
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
    if (!is_writer(wr_ckpt_last(c)))
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
        r = wr_tier_drop_spare(t, NULL, err);
    if (r == 0 && bytes > 0 && k->plan->gone)
        k->plan->gone(k->plan->arg, WEIR_LATEST, t->label, bytes);
    return r;
}

static int prune(weir_ckpt *c, const weir_ckpt_prune_plan *plan, weir_err *err)
{
    struct wr_retention rule = rule_of(c);
    struct taking k = {.c = c, .plan = plan};
    uint64_t near = 0, far = 0;
    int r = 0;

    rule.keep_last = plan->keep_last;
    rule.keep_every = plan->keep_every;
    if (plan->go_back)
        rule.after = plan->after;
    if (plan->spare) {
        r = wr_tier_spare(c->near, &near, err);
        if (r == 0 && c->far)
            r = wr_tier_spare(c->far, &far, err);
    }
    if (r == 0)
        r = judge_and_take(&k, &rule, err);
    if (r == 0 && plan->spare)
        r = take_spare(&k, c->near, near, err);
    if (r == 0 && plan->spare && c->far)
        r = take_spare(&k, c->far, far, err);
    return r;
}

/* Waits until no save is on its way to the near tier. */
static int settle(weir_ckpt *c, weir_err *err)
{
    bool any;

    pthread_mutex_lock(&c->lock);
    any = c->stats.saves > 0;
    pthread_mutex_unlock(&c->lock);
    return any ? weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_FAST, -1, err) : 0;
}

/* Nothing may be published meanwhile that has to go. */
static int prune_alone(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                       weir_err *err)
{
    int r;

    if (!is_writer(c->near) || !is_writer(wr_ckpt_last(c)))
        return wr_fail(err, WEIR_ESTATE,
                       "pruning needs a store that was opened to manage it, or "
                       "to save and drain");
    r = settle(c, err);
    if (r < 0)
        return r;
    wr_drainer_pause(c->drainer);
    r = prune(c, plan, err);
    wr_drainer_resume(c->drainer);
    return r;
}

static int check_plan(const weir_ckpt_prune_plan *plan, weir_err *err)
{
    if (plan->after && !plan->go_back)
        return wr_fail(err, WEIR_EINVAL, "after: is given without go_back");
    for (size_t i = 0; i < WR_ARRAY_LEN(plan->reserved); i++)
        if (plan->reserved[i])
            return wr_fail(err, WEIR_EINVAL, "reserved: is not 0");
    return 0;
}

int weir_ckpt_prune(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                    weir_err *err)
{
    int r = wr_ckpt_take_trouble(c, err);

    if (r == 0)
        r = check_plan(plan, err);
    if (r < 0)
        return r;
    return plan->dry_run ? prune(c, plan, err) : prune_alone(c, plan, err);
}

/* --- pinning --- */

/* The pin is on every tier that has the step, so that the sweep of no claim
 * takes it for a leftover; and on the last one in any case, because the step may
 * be getting there just now (see carry_pin in step.c). */
static int set_pin(weir_ckpt *c, uint64_t step, bool near, weir_err *err)
{
    int r = 0;

    if (near || !c->far)
        r = wr_tier_mark(c->near, WR_MARK_PIN, step, "", err);
    if (r == 0 && c->far)
        r = wr_tier_mark(c->far, WR_MARK_PIN, step, "", err);
    return r;
}

static int drop_pin(weir_ckpt *c, uint64_t step, bool near, weir_err *err)
{
    int r = 0;

    if (near || !c->far)
        r = wr_tier_unmark(c->near, WR_MARK_PIN, step, err);
    if (r == 0 && c->far)
        r = wr_tier_unmark(c->far, WR_MARK_PIN, step, err);
    return r;
}

int weir_ckpt_pin(weir_ckpt *c, uint64_t step, int on, weir_err *err)
{
    bool near, far;
    int r = wr_ckpt_take_trouble(c, err);

    if (r < 0)
        return r;
    if (step >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_EINVAL, "step %" PRIu64 ": too large", step);
    near = wr_tier_has(c->near, step);
    far = c->far && wr_tier_has(c->far, step);
    if (!near && !far)
        return wr_fail(err, WEIR_ENOENT, "there is no step %" PRIu64, step);
    r = on ? set_pin(c, step, near, err) : drop_pin(c, step, near, err);
    /* Another process, whose tier it is, may have taken the step away. */
    if (r == 0 && on && !wr_tier_has(c->near, step) &&
        !(c->far && wr_tier_has(c->far, step))) {
        drop_pin(c, step, near, NULL);
        r = wr_fail(err, WEIR_ENOENT, "step %" PRIu64 " was taken away", step);
    }
    return r;
}

/* --- verifying --- */

struct verifying {
    weir_ckpt *c;
    weir_ckpt_checked_fn fn;
    void *arg;
    uint64_t bytes_done, bytes_total;
    unsigned found;   /* copies */
    unsigned damaged; /* of them */
};

static int add_verified(void *arg, uint64_t bytes)
{
    struct verifying *v = arg;
    const weir_ckpt_config *cfg = &v->c->cfg;

    v->bytes_done += bytes;
    return cfg->progress
               ? cfg->progress(cfg->progress_arg, v->bytes_done, v->bytes_total)
               : 0;
}

static int verify_copy(struct verifying *v, struct wr_tier *t, uint64_t step,
                       weir_err *err)
{
    struct wr_meter meter = {add_verified, v};
    weir_ckpt_checked checked = {.step = step, .tier = t->label};
    struct wr_copy copy = {0};
    weir_err why = {0};
    int r;

    wr_step_look(t, step, &copy, NULL);
    r = wr_step_verify(t, step, /* mark= */ is_writer(t), &meter, &why);
    if (r == WEIR_ENOENT)
        return 0; /* taken away meanwhile */
    if (r == WEIR_ECANCELED || r == WEIR_ENOMEM) {
        if (err)
            *err = why;
        return r;
    }
    if (wr_step_is_damage(r) && is_writer(t) &&
        wr_tier_marked(t, WR_MARK_VERIFIED, step, NULL, 0))
        wr_tier_unmark(t, WR_MARK_VERIFIED, step, NULL);
    v->found++;
    v->damaged += r < 0;
    checked.bytes = copy.bytes;
    checked.code = r;
    checked.text = why.msg;
    if (v->fn)
        v->fn(v->arg, &checked);
    return 0;
}

static int verify_on(struct verifying *v, struct wr_tier *t, uint64_t step,
                     weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r;

    if (step != WEIR_LATEST)
        return wr_tier_has(t, step) ? verify_copy(v, t, step, err) : 0;
    r = wr_tier_steps(t, &steps, &count, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++)
        r = verify_copy(v, t, steps[i], err);
    free(steps);
    return r;
}

/* Bytes to be read, for the progress. */
static int count_bytes(struct verifying *v, uint64_t step, weir_err *err)
{
    weir_ckpt_entry *e;
    size_t count;
    int r = wr_ckpt_entries(v->c, &e, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        if (step == WEIR_LATEST || e[i].step == step)
            v->bytes_total += e[i].bytes * ((e[i].fast > WEIR_COPY_DAMAGED) +
                                            (e[i].slow > WEIR_COPY_DAMAGED));
    free(e);
    return 0;
}

int weir_ckpt_verify(weir_ckpt *c, uint64_t step, weir_ckpt_checked_fn fn,
                     void *arg, weir_err *err)
{
    struct verifying v = {.c = c, .fn = fn, .arg = arg};
    int r = wr_ckpt_take_trouble(c, err);

    if (r == 0)
        r = count_bytes(&v, step, err);
    if (r == 0)
        r = verify_on(&v, c->near, step, err);
    if (r == 0 && c->far)
        r = verify_on(&v, c->far, step, err);
    if (r < 0)
        return r;
    if (step != WEIR_LATEST && v.found == 0)
        return wr_fail(err, WEIR_ENOENT, "there is no step %" PRIu64, step);
    /* What turned out damaged is drained once more where it can be. */
    if (v.damaged > 0)
        wr_drainer_wake(c->drainer);
    return (int)v.damaged;
}
