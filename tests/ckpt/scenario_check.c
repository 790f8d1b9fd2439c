/* scenario_check.c - what a trainer finds that starts again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "checkpoint/store.h"

#define CHECK_SALT 900 /* of the step that the check saves */
#define STRIDE     10  /* steps between saves */

struct check {
    const struct scenario *s;
    const struct scn_place *at;
    const struct scn_ledger *l;
    enum scn_part part;
    enum weir_level level; /* what this part was promised */
    weir_ckpt *c;
    struct scn_verdict v;
    weir_err err;
};

/* The first trouble counts. */
static bool fail(struct check *k, enum scn_trouble t, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct check *k, enum scn_trouble t, const char *fmt, ...)
{
    va_list ap;

    if (k->v.trouble)
        return false;
    k->v.trouble = t;
    va_start(ap, fmt);
    vsnprintf(k->v.text, sizeof(k->v.text), fmt, ap);
    va_end(ap);
    return false;
}

static bool open_store(struct check *k)
{
    struct scenario how = *k->s;
    struct wr_store *fast, *slow = NULL;
    weir_ckpt_config cfg;

    how.two_tiers = k->s->two_tiers && k->part == SCN_WHOLE;
    how.drain = true;
    scn_config(&how, &cfg);
    fast = k->at->open(k->at->arg, k->part == SCN_FAR ? "slow" : "fast");
    if (how.two_tiers)
        slow = k->at->open(k->at->arg, "slow");
    if (!fast || (how.two_tiers && !slow)) {
        wr_store_close(fast);
        wr_store_close(slow);
        return fail(k, SCN_OTHER, "the place cannot be opened");
    }
    if (wr_ckpt_open_stores(&k->c, &cfg, fast, slow, &k->err) < 0)
        return fail(k, SCN_OTHER, "open: %s", k->err.msg);
    return true;
}

static uint64_t salt_of(const weir_ckpt_found *f)
{
    for (size_t i = 0; i < f->metadata_count; i++)
        if (!strcmp(f->metadata[i].key, "salt"))
            return strtoull(f->metadata[i].value, NULL, 10);
    return UINT64_MAX;
}

/* Restores a step and compares every byte; `*ret_found` is 0 when there is
 * nothing. */
static bool restore(struct check *k, uint64_t step, uint64_t *ret_found)
{
    weir_ckpt_found *f = NULL;
    struct scn_state s;
    const char *bad;
    bool good = true;
    int r;

    scn_state_make(&s, step == WEIR_LATEST ? 0 : step);
    r = weir_ckpt_restore(k->c, step, s.tensors,
                          step == WEIR_LATEST ? SCN_FIXED : SCN_TENSORS, &f,
                          &k->err);
    *ret_found = 0;
    if (r < 0) {
        good = fail(k, r == WEIR_EDAMAGED ? SCN_TORN : SCN_LOST, "restore: %s",
                    k->err.msg);
    } else if (r == 1) {
        *ret_found = f->step;
        bad = scn_state_differs(&s,
                                step == WEIR_LATEST ? SCN_FIXED : SCN_TENSORS,
                                f->step, salt_of(f));
        if (bad)
            good = fail(k, SCN_TORN,
                        "restore: '%s' of step %" PRIu64 " differs", bad,
                        f->step);
        else if (!scn_find(k->l, f->step, salt_of(f)))
            good = fail(k, SCN_TORN,
                        "restore: step %" PRIu64 " (%" PRIu64
                        ") was not saved, or was taken away",
                        f->step, salt_of(f));
    }
    if (good && f && f->passed_over_count)
        good = fail(k, SCN_TORN, "passed over: %s", f->passed_over[0]);
    weir_ckpt_found_free(&f);
    scn_state_done(&s);
    return good;
}

static bool check_newest(struct check *k)
{
    uint64_t found, again, due = 0;
    bool must = scn_newest(k->l, k->level, &due);

    if (!restore(k, WEIR_LATEST, &found))
        return false;
    k->v.found = found;
    if (must && found < due)
        return fail(k, SCN_LOST, "step %" PRIu64 " is lost: %" PRIu64 " found",
                    due, found);
    if (!found)
        return true;
    if (!restore(k, found, &again)) /* now with all tensors */
        return false;
    return again == found ||
           fail(k, SCN_LOST, "step %" PRIu64 " cannot be restored", found);
}

static bool check_kept(struct check *k)
{
    uint64_t found;

    for (size_t i = 0; i < k->l->count && k->part == SCN_WHOLE; i++) {
        const struct scn_save *s = &k->l->saves[i];

        if (!scn_must_stay(k->l, s, k->level))
            continue;
        if (!restore(k, s->step, &found))
            return false;
        if (found != s->step)
            return fail(k, SCN_LOST, "step %" PRIu64 " was to stay", s->step);
    }
    return true;
}

static bool check_entry(struct check *k, const weir_ckpt_entry *e)
{
    weir_ckpt_found *f = NULL;
    bool good = true;
    int r;

    if (e->fast == WEIR_COPY_DAMAGED || e->slow == WEIR_COPY_DAMAGED)
        return fail(k, SCN_TORN, "step %" PRIu64 " is there, damaged: %s",
                    e->step, e->problem);
    r = weir_ckpt_look(k->c, e->step, &f, &k->err);
    if (r == WEIR_ENOENT) /* retention took it meanwhile */
        return true;
    if (r < 0)
        return fail(k, SCN_TORN, "look: %s", k->err.msg);
    if (f && !scn_find(k->l, f->step, salt_of(f)))
        good = fail(k, SCN_TORN,
                    "step %" PRIu64 " (%" PRIu64
                    ") is there, but was not saved, or was taken away",
                    f->step, salt_of(f));
    weir_ckpt_found_free(&f);
    return good;
}

/* All that is there is what it says. */
static bool check_list(struct check *k)
{
    /* What is not drained yet counts as one of the last ones, so the far tier
     * may have fewer. */
    unsigned due = k->part == SCN_WHOLE ? scn_at_least(k->l, k->level) : 0;
    weir_ckpt_entry *all = NULL;
    size_t count = 0;
    bool good = true;
    int r;

    if (weir_ckpt_list(k->c, &all, &count, &k->err) < 0)
        return fail(k, SCN_OTHER, "list: %s", k->err.msg);
    for (size_t i = 0; i < count && good; i++)
        good = check_entry(k, &all[i]);
    free(all);
    if (good && count < due)
        good = fail(k, SCN_LOST, "%zu steps are there, %u should be", count,
                    due);
    if (!good)
        return false;
    r = weir_ckpt_verify(k->c, WEIR_LATEST, NULL, NULL, &k->err);
    if (r < 0)
        return fail(k, SCN_OTHER, "verify: %s", k->err.msg);
    return r == 0 || fail(k, SCN_TORN, "%d damaged copies", r);
}

/* Training goes on: the step that comes next is saved. */
static bool go_on(struct check *k, const struct scn_listener *to)
{
    struct scn_event e = {.level = WEIR_LEVEL_VERIFIED,
                          .step = k->v.found + STRIDE,
                          .salt = CHECK_SALT};
    const struct scn_ledger *before = k->l;
    struct scn_ledger now = *k->l;
    uint64_t found;
    bool good;

    if (scn_save(k->c, &e, to, &k->err) != 0)
        return fail(k, SCN_OTHER, "save of step %" PRIu64 ": %s", e.step,
                    k->err.msg);
    e.what = SCN_BEGUN;
    scn_note(&now, &e);
    k->l = &now;
    good = restore(k, WEIR_LATEST, &found);
    k->l = before;
    if (!good)
        return false;
    if (found != e.step)
        return fail(k, SCN_LOST, "saved %" PRIu64 ", restored %" PRIu64, e.step,
                    found);
    return true;
}

/* What a folder holds that should not be there, in it or below. */
struct leftovers {
    struct check *k;
    struct wr_store *st;
    unsigned depth; /* 0: the root; 1: .writer-NUMBER; 2: ID in it */
    unsigned writers;
    const char *dir;
};

static int note_leftover(void *arg, const struct wr_entry *e)
{
    static const char *const bad[] = {"tmp-", "trash-", "aside-", "leaving-",
                                      "new-"};
    struct leftovers *l = arg;
    const char *name = e->name + (l->depth == 0 && e->name[0] == '.');
    struct leftovers in = {l->k, l->st, l->depth + 1, 0, NULL};
    char path[200];

    for (size_t i = 0; i < WR_ARRAY_LEN(bad); i++)
        if (!strncmp(name, bad[i], strlen(bad[i])))
            fail(l->k, SCN_OTHER, "'%s/%s' was left behind", l->dir, e->name);
    if (l->depth == 1 || (l->depth == 0 && !strncmp(name, "writer-", 7))) {
        l->writers++;
        snprintf(path, sizeof(path), "%s%s%s", l->dir, *l->dir ? "/" : "",
                 e->name);
        in.dir = path;
        if (l->st->ops->list(l->st, path, note_leftover, &in, &l->k->err) < 0)
            fail(l->k, SCN_OTHER, "%s cannot be listed", path);
    }
    return 0;
}

static void check_leftovers(struct check *k, const char *tier)
{
    struct wr_store *st = k->at->open(k->at->arg, tier);
    struct leftovers l = {k, st, 0, 0, ""};

    if (!st || st->ops->list(st, "", note_leftover, &l, &k->err) < 0)
        fail(k, SCN_OTHER, "%s cannot be listed", tier);
    else if (l.writers != 1)
        fail(k, SCN_OTHER, "%s has %u folders of writers", tier, l.writers);
    wr_store_close(st);
}

struct scn_verdict scn_check(const struct scenario *s,
                             const struct scn_place *at,
                             const struct scn_ledger *l, enum scn_part part,
                             const struct scn_listener *to)
{
    struct check k = {.s = s,
                      .at = at,
                      .l = l,
                      .part = part,
                      .level = part == SCN_FAR ? WEIR_LEVEL_SLOW
                                               : WEIR_LEVEL_FAST};
    bool good;

    good = open_store(&k) && check_newest(&k) && check_kept(&k) &&
           check_list(&k) && go_on(&k, to);
    if (weir_ckpt_close(&k.c, &k.err) < 0 && good)
        fail(&k, SCN_OTHER, "close: %s", k.err.msg);
    if (!good)
        return k.v;
    if (part == SCN_WHOLE)
        check_leftovers(&k, "fast");
    if (s->two_tiers)
        check_leftovers(&k, "slow");
    return k.v;
}
