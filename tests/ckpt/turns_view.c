/* turns_view.c - what a machine that takes its turn gets to see.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void turns_tensor(float *memory, weir_tensor *ret)
{
    *ret = (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {TURNS_FLOATS},
                         .data = memory};
}

void turns_fill(float *memory, unsigned salt)
{
    for (unsigned i = 0; i < TURNS_FLOATS; i++)
        memory[i] = (float)(salt * 1000 + i);
}

/* The save that was restored; TURNS_SAVES: none. */
static unsigned salt_of(const float *memory)
{
    unsigned salt = (unsigned)(memory[0] / 1000);
    float is[TURNS_FLOATS];

    if (!(memory[0] >= 0) || salt >= TURNS_SAVES)
        return TURNS_SAVES;
    turns_fill(is, salt);
    return memcmp(is, memory, sizeof(is)) == 0 ? salt : TURNS_SAVES;
}

static bool check_found(struct turns *w, unsigned salt, unsigned due,
                        const weir_ckpt_found *f)
{
    if (salt >= w->count || w->saves[salt].step != f->step)
        return turns_fail(w, "what was restored as step %u was not saved so",
                          (unsigned)f->step);
    if (due < TURNS_SAVES && turns_is_newer(w, due, salt))
        return turns_fail(
            w,
            "save %u of step %u (generation %u, %s) was restored, but "
            "save %u of step %u (generation %u) is newer",
            salt, (unsigned)f->step, (unsigned)w->saves[salt].generation,
            f->tier, due, (unsigned)w->saves[due].step,
            (unsigned)w->saves[due].generation);
    return true;
}

/* Of a slow tier that is older than before, and of nothing else. */
static bool check_told(struct turns *w, const weir_ckpt_found *f, bool rolled)
{
    bool told = false;

    for (size_t i = 0; i < f->passed_over_count; i++) {
        bool older = strstr(f->passed_over[i], "older") != NULL;

        told |= older;
        if (!older || !w->mishaps)
            return turns_fail(w, "passed over: %s", f->passed_over[i]);
    }
    return told || !rolled ||
           turns_fail(w,
                      "the slow tier is older than before, and step %u was "
                      "restored without a word",
                      (unsigned)f->step);
}

/* It waits so briefly for the slow tier that a busy machine is too slow. */
static bool is_impatient(const struct turns *w, const weir_ckpt *c)
{
    for (unsigned n = 0; n < TURNS_NODES; n++)
        if (w->nodes[n].c == c && w->nodes[n].hangs)
            return true;
    return false;
}

/* A drain in the background brought it to the slow tier meanwhile: others, who
 * are stale since, may be given it. */
static bool came_meanwhile(struct turns *w, unsigned salt,
                           const struct turns_seen *before)
{
    return salt < w->count && turns_has(&w->on_slow, salt) &&
           !turns_has(before, salt);
}

/* What was found is right by what there was before, or by what there is now. */
static bool check_either(struct turns *w, unsigned folder, uint64_t step,
                         unsigned due, bool rolled, const weir_ckpt_found *f)
{
    const struct turns_seen before = w->on_slow;

    if (check_found(w, w->restored, due, f) && check_told(w, f, rolled))
        return true;
    if (!turns_is_drained_now(w))
        return false;
    turns_look(w);
    w->why[0] = '\0';
    due = came_meanwhile(w, w->restored, &before)
              ? TURNS_SAVES
              : turns_newest(w, folder, step);
    rolled = folder != TURNS_NOWHERE && turns_is_rolled(w, folder);
    return check_found(w, w->restored, due, f) && check_told(w, f, rolled);
}

bool turns_check_restore(struct turns *w, weir_ckpt *c, unsigned folder,
                         uint64_t step)
{
    bool rolled = folder != TURNS_NOWHERE && turns_is_rolled(w, folder);
    unsigned due = turns_newest(w, folder, step);
    float memory[TURNS_FLOATS] = {-1};
    weir_ckpt_found *f = NULL;
    weir_tensor t;
    weir_err err;
    bool good;
    int r;

    turns_tensor(memory, &t);
    r = weir_ckpt_restore(c, step, &t, 1, &f, &err);
    if (r == WEIR_ENOENT) { /* retention was faster? */
        turns_look(w);
        if (turns_newest(w, folder, step) == TURNS_SAVES)
            return true;
    }
    if (r == WEIR_ETIMEDOUT && is_impatient(w, c))
        return true;
    if (r < 0 && rolled && due == TURNS_SAVES && strstr(err.msg, "older"))
        return true; /* rather than a start from nothing */
    if (r < 0)
        return turns_fail(w, "restore: %s", err.msg);
    if (r == 0)
        return due == TURNS_SAVES ||
               turns_fail(w, "nothing was restored, but save %u is there", due);
    w->restored = salt_of(memory);
    good = check_either(w, folder, step, due, rolled, f);
    weir_ckpt_found_free(&f);
    return good;
}

static bool check_steps(struct turns *w, weir_ckpt *c, unsigned folder,
                        bool deep)
{
    bool good = turns_check_restore(w, c, folder, WEIR_LATEST);

    for (uint64_t i = 0; i < TURNS_STEPS && good && deep; i++)
        if (turns_newest(w, folder, i) < TURNS_SAVES)
            good = turns_check_restore(w, c, folder, i);
    return good;
}

/* Listing shows every copy, and those set aside. */
static bool check_list(struct turns *w, weir_ckpt *c, unsigned folder)
{
    const struct turns_seen *s = &w->on[folder];
    unsigned aside = 0, listed = 0;
    weir_ckpt_entry *e;
    weir_err err;
    size_t count;

    if (weir_ckpt_list(c, &e, &count, &err) < 0)
        return turns_fail(w, "list: %s", err.msg);
    for (unsigned i = 0; i < s->count; i++)
        aside += s->copies[i].aside;
    for (size_t i = 0; i < count; i++) {
        listed += !strncmp(e[i].problem, "fast: set aside", 15);
        if (e[i].fast == WEIR_COPY_DAMAGED || e[i].slow == WEIR_COPY_DAMAGED) {
            turns_fail(w, "step %u is called damaged: %s", (unsigned)e[i].step,
                       e[i].problem);
            break;
        }
    }
    free(e);
    if (aside != listed)
        turns_fail(w, "%u copies are set aside, %u are listed", aside, listed);
    return !w->why[0];
}

bool turns_check_view(struct turns *w, unsigned node, bool deep)
{
    bool both = node < TURNS_NODES;
    unsigned folder = both ? w->nodes[node].folder : TURNS_NOWHERE;
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    if (w->why[0])
        return false;
    turns_config(w, both ? node : 0, &cfg);
    cfg.role = WEIR_CKPT_READ;
    if (!both) {
        cfg.fast = cfg.slow;
        cfg.slow = NULL;
    }
    if (access(cfg.fast, F_OK) != 0 || (both && access(cfg.slow, F_OK) != 0))
        return true;
    if (!both && w->is_away) /* an empty folder in its place */
        return true;
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        return turns_judge(w, node, &cfg, &err);
    if (both && (w->is_away && w->on[folder].count > 0))
        turns_fail(w, "opened to read without the slow tier");
    if (!w->is_away && check_steps(w, c, folder, deep) && deep && both)
        check_list(w, c, folder);
    weir_ckpt_close(&c, NULL);
    return !w->why[0];
}
