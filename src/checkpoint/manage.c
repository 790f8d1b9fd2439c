/* manage.c - looking after saved steps: pinning and checking.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "tier/step.h"

/* --- pinning --- */

/* The pin is on every tier that has the step, so that the sweep of no claim
 * takes it for a leftover; and on the last one in any case, because the step may
 * be getting there just now (see carry_pin in step.c). */
static int change_pin(weir_ckpt *c, uint64_t step, bool near, bool on,
                      weir_err *err)
{
    struct wr_tier *const tiers[] = {near || !c->far ? c->near : NULL, c->far};
    int r = 0;

    for (size_t i = 0; i < WR_ARRAY_LEN(tiers) && r == 0; i++)
        if (tiers[i])
            r = on ? wr_tier_mark(tiers[i], WR_MARK_PIN, step, "", err)
                   : wr_tier_unmark(tiers[i], WR_MARK_PIN, step, err);
    return r;
}

static int pin(weir_ckpt *c, uint64_t step, bool on, weir_err *err)
{
    bool near, far;
    int r;

    if (step >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_EINVAL, "step %" PRIu64 ": too large", step);
    near = wr_tier_has(c->near, step);
    far = c->far && wr_tier_has(c->far, step);
    if (!near && !far)
        return wr_fail(err, WEIR_ENOENT, "there is no step %" PRIu64, step);
    r = change_pin(c, step, near, on, err);
    wr_stock_touch(c, step);
    /* Another process, whose tier it is, may have taken the step away. */
    if (r == 0 && on && !wr_tier_has(c->near, step) &&
        !(c->far && wr_tier_has(c->far, step))) {
        change_pin(c, step, near, /* on= */ false, NULL);
        r = wr_fail(err, WEIR_ENOENT, "step %" PRIu64 " was taken away", step);
    }
    return r;
}

int weir_ckpt_pin(weir_ckpt *c, uint64_t step, int on, weir_err *err)
{
    int r = wr_ckpt_begin(c, err);

    return r < 0 ? r : wr_ckpt_end(c, pin(c, step, on != 0, err), err);
}

/* --- verifying --- */

struct verifying {
    weir_ckpt *c;
    weir_ckpt_checked_fn fn;
    void *arg;
    struct wr_byte_count read;
    unsigned found;   /* copies */
    unsigned damaged; /* of them */
    weir_err unread;  /* code < 0: of the first one that could not be read */
    unsigned mended;  /* that had been given up as damaged, and are not */
};

static int verify_copy(struct verifying *v, struct wr_tier *t, uint64_t step,
                       weir_err *err)
{
    struct wr_byte_meter meter = {wr_byte_count_add, &v->read};
    weir_ckpt_checked checked = {.step = step, .tier = t->label};
    struct wr_copy copy = {0};
    weir_err why = {0};
    int r;

    wr_step_look(t, step, &copy, NULL);
    r = wr_step_verify(t, step, /* mark= */ wr_tier_is_writer(t), &meter, &why);
    wr_stock_touch(v->c, step);
    if (r == WEIR_ENOENT)
        return 0; /* taken away meanwhile */
    if (r == WEIR_ECANCELED)
        return wr_fail_as(err, r, &why);
    if (wr_step_is_unread(r) && v->unread.code == 0)
        v->unread = why;
    if (wr_step_is_damage(r) && wr_tier_is_writer(t) &&
        wr_tier_marked(t, WR_MARK_VERIFIED, step, NULL, 0))
        wr_tier_unmark(t, WR_MARK_VERIFIED, step, NULL);
    if (r == 0 && wr_tier_marked(t, WR_MARK_DAMAGED, step, NULL, 0)) {
        /* It could be read after all, and is drained then. */
        wr_tier_unmark(t, WR_MARK_DAMAGED, step, NULL);
        v->mended++;
    }
    v->found++;
    v->damaged += wr_step_is_damage(r);
    checked.bytes = copy.gist.bytes;
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
    int r = weir_ckpt_list(v->c, &e, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        if (step == WEIR_LATEST || e[i].step == step)
            v->read.total += e[i].bytes * ((e[i].fast > WEIR_COPY_DAMAGED) +
                                           (e[i].slow > WEIR_COPY_DAMAGED));
    free(e);
    return 0;
}

static int verify(weir_ckpt *c, uint64_t step, weir_ckpt_checked_fn fn,
                  void *arg, weir_err *err)
{
    struct verifying v = {.c = c,
                          .fn = fn,
                          .arg = arg,
                          .read = {c->cfg.progress, c->cfg.progress_arg, 0}};
    int r = count_bytes(&v, step, err);

    if (r == 0)
        r = verify_on(&v, c->near, step, err);
    if (r == 0 && c->far)
        r = verify_on(&v, c->far, step, err);
    if (r < 0)
        return r;
    if (step != WEIR_LATEST && v.found == 0)
        return wr_fail(err, WEIR_ENOENT, "there is no step %" PRIu64, step);
    /* What turned out damaged is drained once more where it can be. */
    if (v.damaged + v.mended > 0)
        wr_drainer_wake(c->drainer);
    if (v.damaged == 0 && v.unread.code < 0)
        return wr_fail_as(err, v.unread.code, &v.unread);
    return (int)v.damaged;
}

int weir_ckpt_verify(weir_ckpt *c, uint64_t step, weir_ckpt_checked_fn fn,
                     void *arg, weir_err *err)
{
    int r = wr_ckpt_begin(c, err);

    return r < 0 ? r : wr_ckpt_end(c, verify(c, step, fn, arg, err), err);
}
