/* log.c - what went wrong in the background: which save, at which level.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/log.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIRST  64
#define UNTOLD 128 /* entries that were not told are kept up to here */

bool wr_log_init(struct wr_log *l)
{
    return wr_grow(&l->all, &l->cap, FIRST, sizeof(*l->all));
}

void wr_log_done(struct wr_log *l)
{
    free(l->all);
}

/* Whether somebody may ask for it. */
static bool is_wanted(const struct wr_log *l, const struct wr_log_entry *e,
                      uint64_t oldest, size_t attempts)
{
    if (e->due && l->count < UNTOLD)
        return true;
    switch (e->kind) {
    case WR_LOG_NOTE:
        return false;
    case WR_LOG_ATTEMPT:
        return attempts <= WR_LOG_ATTEMPTS;
    case WR_LOG_END:
        break;
    }
    return e->step != WR_STEP_NONE || (e->seq && e->seq >= oldest);
}

static void prune(struct wr_log *l, uint64_t oldest)
{
    size_t attempts = 1, kept = 0; /* with the one that comes */

    for (size_t i = 0; i < l->count; i++)
        attempts += l->all[i].kind == WR_LOG_ATTEMPT;
    for (size_t i = 0; i < l->count; i++) {
        bool wanted = is_wanted(l, &l->all[i], oldest, attempts);

        attempts -= l->all[i].kind == WR_LOG_ATTEMPT;
        if (wanted && kept++ < i)
            l->all[kept - 1] = l->all[i];
    }
    l->count = kept;
}

uint64_t wr_log_add(struct wr_log *l, const struct wr_log_entry *e,
                    uint64_t oldest)
{
    prune(l, oldest);
    if (!wr_grow(&l->all, &l->cap, l->count + 1, sizeof(*l->all))) {
        if (!l->count)
            return ++l->last;
        memmove(l->all, l->all + 1, --l->count * sizeof(*l->all));
    }
    l->all[l->count] = *e;
    l->all[l->count].number = ++l->last;
    l->count++;
    return l->last;
}

struct wr_log_entry *wr_log_due(struct wr_log *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i].due)
            return &l->all[i];
    return NULL;
}

void wr_log_told(struct wr_log *l, uint64_t number)
{
    for (size_t i = 0; i < l->count; i++)
        l->all[i].due &= l->all[i].number != number;
}

struct wr_log_entry *wr_log_end(struct wr_log *l, uint64_t seq)
{
    for (size_t i = l->count; seq && i-- > 0;)
        if (l->all[i].kind == WR_LOG_END && l->all[i].seq == seq)
            return &l->all[i];
    return NULL;
}

struct wr_log_entry *wr_log_given_up(struct wr_log *l, uint64_t step,
                                     const char *id)
{
    for (size_t i = 0; i < l->count; i++) {
        struct wr_log_entry *e = &l->all[i];

        if (e->kind == WR_LOG_END && e->step == step &&
            (!id || !strcmp(e->id, id)))
            return e;
    }
    return NULL;
}

const struct wr_log_entry *wr_log_attempt(const struct wr_log *l, uint64_t step,
                                          uint64_t since)
{
    for (size_t i = l->count; i-- > 0 && l->all[i].number > since;) {
        const struct wr_log_entry *e = &l->all[i];

        if (e->kind == WR_LOG_ATTEMPT &&
            (step == WEIR_LATEST || e->step == WEIR_LATEST || e->step == step))
            return e;
    }
    return NULL;
}
