/* inventory.c - what copies of steps a store has, merged from its tiers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "checkpoint/step.h"

void wr_inventory_done(struct wr_inventory *f)
{
    free(f->e);
    free(f->ids);
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

static void say_problem(const struct wr_inventory *f, weir_ckpt_entry *e,
                        const struct wr_tier *t, const char *text)
{
    if (!e->problem[0])
        snprintf(e->problem, sizeof(e->problem), "%s%s%.190s",
                 f->two_tiers ? t->label : "", f->two_tiers ? ": " : "", text);
}

/* Adds a copy to its step's entry. */
static void add_copy(struct wr_inventory *f, size_t at, struct wr_tier *t,
                     const struct wr_copy *c, bool fast)
{
    weir_ckpt_entry *e = &f->e[at];
    enum weir_copy is = c->is;

    if (is == WEIR_COPY_DAMAGED || is == WEIR_COPY_UNKNOWN) {
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
    if (c->world > 0 && e->world == 0) {
        e->bytes = c->bytes;
        e->time_ns = c->time_ns;
        e->world = c->world;
    }
    if (wr_tier_marked(t, WR_MARK_PIN, e->step, NULL, 0))
        e->pinned = 1;
}

static int look_at(struct wr_inventory *f, struct wr_tier *t, uint64_t step,
                   struct wr_copy *ret, weir_err *err)
{
    weir_err why;
    int r = wr_step_look(t, step, ret, &why);

    if (r < 0 && !f->strict && !wr_err_is_lack(r)) {
        memset(ret, 0, sizeof(*ret));
        ret->is = WEIR_COPY_UNKNOWN;
        ret->why = why;
        return 0;
    }
    if (r < 0 && err)
        *err = why;
    return r;
}

static int find_on(struct wr_inventory *f, struct wr_tier *t, bool fast,
                   weir_err *err)
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
int wr_inventory_take(weir_ckpt *c, struct wr_inventory *f, weir_err *err)
{
    int r;

    f->two_tiers = c->far != NULL;
    r = find_on(f, c->near, /* fast= */ true, err);
    return r == 0 && c->far ? find_on(f, c->far, /* fast= */ false, err) : r;
}

int wr_ckpt_entries(weir_ckpt *c, weir_ckpt_entry **ret, size_t *ret_count,
                    weir_err *err)
{
    struct wr_inventory f = {0};
    int r = wr_inventory_take(c, &f, err);

    if (r == 0 && !f.e && !(f.e = calloc(1, sizeof(*f.e))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        *ret = f.e;
        *ret_count = f.count;
        f.e = NULL;
    }
    wr_inventory_done(&f);
    return r;
}

int weir_ckpt_list(weir_ckpt *c, weir_ckpt_entry **ret, size_t *ret_count,
                   weir_err *err)
{
    return wr_ckpt_entries(c, ret, ret_count, err);
}
