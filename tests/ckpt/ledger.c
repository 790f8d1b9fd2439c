/* ledger.c - what a workload was promised, and so what must be found later.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"

static struct scn_save *last_of(struct scn_ledger *l, uint64_t step)
{
    for (size_t i = l->count; i > 0; i--)
        if (l->saves[i - 1].step == step)
            return &l->saves[i - 1];
    return NULL;
}

static void begin(struct scn_ledger *l, const struct scn_event *e)
{
    if (l->count == SCN_SAVES)
        abort();
    l->saves[l->count++] = (struct scn_save){.step = e->step, .salt = e->salt};
}

static void go_back(struct scn_ledger *l, const struct scn_event *e)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->saves[i].step <= e->step)
            continue;
        l->saves[i].may_go = true;
        l->saves[i].gone |= e->what == SCN_BACK_DONE;
    }
}

static bool is_due(const struct scn_save *s, enum weir_level level)
{
    return s->level >= level && !s->may_go;
}

static void prune(struct scn_ledger *l, uint64_t keep)
{
    for (size_t i = 0; i < l->count; i++) {
        uint64_t newer = 0;

        for (size_t k = 0; k < l->count; k++)
            newer += is_due(&l->saves[k], WEIR_LEVEL_FAST) &&
                     l->saves[k].step > l->saves[i].step;
        if (newer >= keep && !l->saves[i].pinned)
            l->saves[i].may_go = true;
    }
}

void scn_note(struct scn_ledger *l, const struct scn_event *e)
{
    struct scn_save *s = last_of(l, e->step);

    switch ((enum scn_what)e->what) {
    case SCN_BEGUN:
        begin(l, e);
        break;
    case SCN_REACHED:
        if (s && s->salt == e->salt)
            s->level = WR_MAX(s->level, (enum weir_level)e->level);
        break;
    case SCN_BACK_BEGUN:
    case SCN_BACK_DONE:
        go_back(l, e);
        break;
    case SCN_PRUNED:
        prune(l, e->step);
        break;
    case SCN_PINNED:
    case SCN_UNPINNED:
        if (s)
            s->pinned = e->what == SCN_PINNED;
        break;
    case SCN_GO:
        break;
    }
}

void scn_from(struct scn_ledger *l, enum weir_level level)
{
    for (size_t i = 0; i < l->count; i++)
        l->saves[i].level = l->saves[i].level < level ? 0 : level;
}

uint64_t scn_sum(const struct scn_ledger *l)
{
    uint64_t sum = wr_mix64(l->keep_every ^ wr_mix64(l->keep_last));

    for (size_t i = 0; i < l->count; i++) {
        const struct scn_save *s = &l->saves[i];
        uint64_t flags = (uint64_t)s->level << 3 | (uint64_t)s->pinned << 2 |
                         (uint64_t)s->may_go << 1 | s->gone;

        sum = wr_mix64(sum ^ s->step);
        sum = wr_mix64(sum ^ s->salt);
        sum = wr_mix64(sum ^ flags);
    }
    return sum;
}

const struct scn_save *scn_find(const struct scn_ledger *l, uint64_t step,
                                uint64_t salt)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->saves[i].step == step && l->saves[i].salt == salt &&
            !l->saves[i].gone)
            return &l->saves[i];
    return NULL;
}

bool scn_newest(const struct scn_ledger *l, enum weir_level level,
                uint64_t *ret_step)
{
    bool any = false;

    for (size_t i = 0; i < l->count; i++) {
        if (!is_due(&l->saves[i], level))
            continue;
        if (!any || l->saves[i].step > *ret_step)
            *ret_step = l->saves[i].step;
        any = true;
    }
    return any;
}

bool scn_must_stay(const struct scn_ledger *l, const struct scn_save *s,
                   enum weir_level level)
{
    bool multiple = l->keep_every && s->step % l->keep_every == 0;

    return is_due(s, level) && (s->pinned || multiple);
}

unsigned scn_at_least(const struct scn_ledger *l, enum weir_level level)
{
    unsigned due = 0;

    for (size_t i = 0; i < l->count; i++)
        due += is_due(&l->saves[i], level);
    return l->keep_last ? WR_MIN(due, l->keep_last) : due;
}
