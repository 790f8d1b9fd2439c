/* chain.c - which saved steps the newest one continues from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/chain.h"

#include <stdint.h>
#include <string.h>

struct wr_origin wr_origin_of(const struct wr_copy *c)
{
    return (struct wr_origin){.own = c->own,
                              .continues = c->gist.continues,
                              .turn = c->gist.turn,
                              .from = c->gist.from};
}

static int rising(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

int wr_origin_compare(const struct wr_origin *a, const struct wr_origin *b)
{
    int by = rising(a->own, b->own);

    if (by == 0)
        by = rising(a->turn.generation, b->turn.generation);
    if (by == 0)
        by = rising(a->turn.seq, b->turn.seq);
    return by ? by : rising(a->turn.step, b->turn.step);
}

static bool is_same_run(const struct wr_ordinal *a, const struct wr_ordinal *b)
{
    return a->nonce[0] && a->generation == b->generation &&
           !strcmp(a->nonce, b->nonce);
}

bool wr_origin_is_same_part(const struct wr_origin *a,
                            const struct wr_origin *b)
{
    return is_same_run(&a->turn, &b->turn) && a->turn.part == b->turn.part;
}

/* Where the walk from the newest save down has got to. */
struct descent {
    const struct wr_origin *run; /* the last save of the part of a run that it
                                    is in; NULL: numbers tell */
    uint64_t bound;              /* steps below are of the chain then */
};

/* What the run continued from, or a save before it that is left. */
static bool is_before(const struct wr_origin *s, const struct wr_origin *run)
{
    return run->continues && is_same_run(&s->turn, &run->from) &&
           s->turn.seq <= run->from.seq &&
           (s->turn.part == run->from.part || s->turn.step <= run->from.step);
}

/* Older than what the run continued from, of which nothing is left, or of which
 * a version before did not say whose it was. Of two runs that got one number the
 * other one is none that it continued from. */
static bool is_past(const struct wr_origin *s, const struct wr_origin *run)
{
    if (!run->continues || is_same_run(&s->turn, &run->from))
        return false;
    return s->turn.generation < run->from.generation ||
           (s->turn.generation == run->from.generation &&
            (!s->turn.nonce[0] || !run->from.nonce[0]));
}

static void enter(struct descent *w, const struct wr_origin *s)
{
    w->run = s->turn.nonce[0] ? s : NULL;
    w->bound = s->turn.step;
}

static bool is_in_chain(struct descent *w, const struct wr_origin *s)
{
    if (w->run && wr_origin_is_same_part(s, w->run))
        return true;
    if (w->run && is_before(s, w->run)) {
        enter(w, s);
        return true;
    }
    if (w->run && is_past(s, w->run)) {
        w->bound = w->run->from.step + 1;
        w->run = NULL;
    }
    if (w->run || s->turn.step >= w->bound)
        return false;
    enter(w, s);
    return true;
}

void wr_chain_find(const struct wr_origin *saves, size_t count,
                   bool *ret_abandoned)
{
    struct descent w = {.bound = UINT64_MAX};

    for (size_t i = count; i-- > 0;)
        ret_abandoned[i] = !is_in_chain(&w, &saves[i]);
}
