/* turns_decide.c - refusals, and what somebody decides about them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "weir ckpt " /* of a command */

void turns_config(struct turns *w, unsigned node, weir_ckpt_config *ret)
{
    weir_ckpt_defaults(ret);
    ret->fast = w->nodes[node].fast;
    ret->slow = w->slow;
    ret->threads = 1;
    ret->max_behind = 1000;
    ret->keep_last = w->keep_last;
    ret->keep_fast = (uint32_t)wr_rng_below(&w->rng, 3);
}

bool turns_is_busy(const struct turns *w)
{
    for (unsigned n = 0; n < TURNS_NODES; n++)
        if (w->nodes[n].c)
            return true;
    return w->left_behind > 0;
}

static bool says(const weir_err *err, const char *text)
{
    return strstr(err->msg, text) != NULL;
}

/* Without the slow tier. */
static bool is_about_mounting(const struct turns *w,
                              const weir_ckpt_config *cfg, const weir_err *err)
{
    return err->code == WEIR_ENOENT &&
           (says(err, NAME "adopt") || says(err, "is it mounted?") ||
            (cfg->role != WEIR_CKPT_SAVE && says(err, w->slow)) ||
            says(err, cfg->fast));
}

bool turns_judge(struct turns *w, unsigned node, const weir_ckpt_config *cfg,
                 const weir_err *err)
{
    unsigned folder = node < TURNS_NODES ? w->nodes[node].folder
                                         : TURNS_NOWHERE;
    bool both = node < TURNS_NODES, fine = false;

    if (w->is_away)
        fine = is_about_mounting(w, cfg, err);
    else if (err->code == WEIR_EBUSY)
        fine = !cfg->take_over && turns_is_busy(w);
    else if (both && w->has_store &&
             (turns_is_foreign(w, folder) || turns_is_lost(w, folder)))
        fine = err->code == WEIR_ESTATE && says(err, NAME "adopt");
    else if (err->code == WEIR_ENOENT && says(err, NAME "drain"))
        fine = (cfg->must_exist || cfg->store) && !w->on_slow.count &&
               (!both || !w->on[folder].count);
    else if (err->code == WEIR_ENOENT)
        fine = (!w->has_store && says(err, NAME "adopt")) ||
               (cfg->role != WEIR_CKPT_SAVE &&
                (access(cfg->fast, F_OK) != 0 || !w->has_store));
    return fine || turns_fail(w, "refused: %s", err->msg);
}

static bool open_as(struct turns *w, unsigned node, enum weir_ckpt_role role,
                    weir_ckpt **ret)
{
    weir_ckpt_config cfg;
    weir_err err;

    turns_config(w, node, &cfg);
    cfg.role = role;
    /* Also from a trainer of this machine that drains. */
    cfg.take_over = role == WEIR_CKPT_DRAIN && wr_rng_below(&w->rng, 4) == 0;
    if (cfg.take_over)
        turns_say(w, " take-over\n");
    *ret = NULL;
    if (weir_ckpt_open(ret, &cfg, &err) == 0) {
        w->claims++;
        return true;
    }
    turns_say(w, " refused: %.160s\n", err.msg);
    turns_judge(w, node, &cfg, &err);
    return false;
}

/* --- closing --- */

bool turns_is_news(const struct turns *w, const struct turns_node *nd,
                   const weir_err *err)
{
    switch (err->code) {
    case WEIR_ESTALE:
        return says(err, NAME "adopt") && says(err, NAME "discard");
    case WEIR_EEXIST:
        return says(err, NAME "rm --step ");
    case WEIR_EFENCED:
        return nd->claims < w->claims;
    case WEIR_ETIMEDOUT:
        return nd->hangs;
    default:
        return false;
    }
}

void turns_close(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    weir_err err = {0};
    int r;

    if (!nd->c)
        return;
    turns_say(w, "%c: close\n", 'A' + node);
    r = weir_ckpt_close(&nd->c, &err);
    w->left_behind += nd->hangs;
    if (r < 0 && !turns_is_news(w, nd, &err))
        turns_fail(w, "close: %s", err.msg);
}

void turns_close_all(struct turns *w)
{
    for (unsigned n = 0; n < TURNS_NODES; n++)
        turns_close(w, n);
}

/* --- removing --- */

static int unpin_and_remove(struct turns *w, weir_ckpt *c, uint64_t step,
                            const char *tier, weir_err *err)
{
    int r = weir_ckpt_remove(c, step, tier, err);

    if (r != WEIR_EBUSY || !says(err, NAME "unpin"))
        return r;
    for (unsigned i = 0; i < w->count; i++)
        if (w->saves[i].step == step)
            w->saves[i].pinned = false;
    r = weir_ckpt_pin(c, step, /* on= */ 0, err);
    return r < 0 ? r : weir_ckpt_remove(c, step, tier, err);
}

static void let_go(struct turns *w, unsigned salt)
{
    if (salt < TURNS_SAVES)
        w->saves[salt].may_go = true;
}

bool turns_remove(struct turns *w, unsigned node, uint64_t step,
                  const char *tier)
{
    unsigned folder = w->nodes[node].folder;
    weir_err err;
    weir_ckpt *c;
    int r;

    turns_say(w, "%c: rm --step %u --tier %s\n", 'A' + node, (unsigned)step,
              tier ? tier : "(both)");
    if (!open_as(w, node, WEIR_CKPT_MANAGE, &c))
        return false;
    turns_look(w);
    if (!tier || !strcmp(tier, "slow"))
        let_go(w, turns_find(w, &w->on_slow, step));
    if (!tier || !strcmp(tier, "fast"))
        let_go(w, turns_find(w, &w->on[folder], step));
    for (unsigned i = 0; i < w->count; i++) /* who was in the way is not */
        if (w->saves[i].step == step)
            w->saves[i].stale = false;
    r = unpin_and_remove(w, c, step, tier, &err);
    weir_ckpt_close(&c, NULL);
    turns_look(w); /* it may have been the last one of a version before */
    if (r == 0 || r == WEIR_ENOENT)
        return r == 0;
    return turns_fail(w, "rm: %s", err.msg);
}

/* --- adopting --- */

/* Copies of a folder that wait for a decision. */
struct waiting {
    struct turns *w;
    bool is[TURNS_SAVES];
    bool stale[TURNS_SAVES];   /* they get pins */
    bool left[TURNS_STEPS];    /* adopt was told why not */
    char tier[TURNS_STEPS][5]; /* to be removed from before */
    unsigned lefts;
};

/* "... weir ckpt rm --step 7 --tier slow ..."; from both without a tier. */
static bool parse_remove(const char *text, uint64_t *ret_step, char tier[5])
{
    const char *at = strstr(text, NAME "rm --step ");
    unsigned step;

    if (!at || sscanf(at, NAME "rm --step %u --tier %4[a-z]", &step, tier) < 1)
        return false;
    *ret_step = step;
    return true;
}

static void hear_left(void *arg, const weir_ckpt_stale *s)
{
    struct waiting *k = arg;
    uint64_t step;
    char tier[5] = "";

    turns_say(k->w, "   step %u: %s\n", (unsigned)s->step,
              s->code ? s->text : "adopted");
    if (!s->code)
        return;
    k->lefts++;
    k->left[s->step % TURNS_STEPS] = true;
    if (!parse_remove(s->text, &step, tier) || step != s->step) {
        turns_fail(k->w, "not adopted, no command named: %s", s->text);
        return;
    }
    memcpy(k->tier[step % TURNS_STEPS], tier, sizeof(tier));
}

/* What adopt was not told of must have been adopted. */
static void check_adopted(struct turns *w, const struct waiting *k,
                          unsigned folder)
{
    for (unsigned i = 0; i < w->count; i++) {
        const uint64_t step = w->saves[i].step;

        if (k->is[i] && turns_has(&w->on_slow, i))
            w->saves[i].pinned = k->stale[i];
        else if (k->is[i] && !k->left[step])
            turns_fail(w, "adopt says nothing of save %u of step %u", i,
                       (unsigned)step);
        else if (k->is[i] && !turns_has(&w->on[folder], i))
            turns_fail(w, "adopt lost save %u of step %u", i, (unsigned)step);
    }
}

/* Of a tier of another store its numbers count, too: more is fine. */
static void learn_number(struct turns *w, unsigned node)
{
    struct turns_folder *f = &w->folders[w->nodes[node].folder];
    char path[TURNS_PATH + 20];
    unsigned long long is = 0;
    FILE *file;

    snprintf(path, sizeof(path), "%s/.weir/store", w->nodes[node].fast);
    file = fopen(path, "re");
    if (!file || fscanf(file, "fast %*s %llu", &is) != 1 || is < f->generation)
        turns_fail(w, "adopt left the fast tier with generation %llu", is);
    else
        f->generation = w->far.generation = is;
    if (file)
        fclose(file);
}

static bool adopt(struct turns *w, unsigned node, struct waiting *k)
{
    unsigned folder = w->nodes[node].folder;
    weir_err err;
    weir_ckpt *c;
    int r;

    *k = (struct waiting){.w = w};
    turns_say(w, "%c: adopt\n", 'A' + node);
    if (!open_as(w, node, WEIR_CKPT_ADOPT, &c))
        return false;
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++) {
        k->is[i] = turns_has(&w->on[folder], i) && !turns_has(&w->on_slow, i);
        k->stale[i] = k->is[i] &&
                      ((w->far.store && turns_is_foreign(w, folder)) ||
                       turns_is_stale_copy(w, folder, i));
    }
    r = weir_ckpt_adopt(c, WEIR_LATEST, hear_left, k, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return turns_fail(w, "adopt: %s", err.msg);
    if ((unsigned)r != k->lefts)
        return turns_fail(w, "adopt: %d left, %u told", r, k->lefts);
    turns_begin_writer(w, folder);
    learn_number(w, node);
    w->adopts = true;
    if (turns_check_copies(w))
        check_adopted(w, k, folder);
    w->adopts = false;
    return !w->why[0];
}

bool turns_adopt(struct turns *w, unsigned node)
{
    struct waiting k, again;

    if (w->is_away || access(w->nodes[node].fast, F_OK) != 0)
        return false;
    if (!adopt(w, node, &k))
        return false;
    if (k.lefts == 0 || wr_rng_below(&w->rng, 2))
        return true;
    for (uint64_t i = 0; i < TURNS_STEPS; i++) /* as it was told */
        if (k.left[i])
            turns_remove(w, node, i, k.tier[i][0] ? k.tier[i] : NULL);
    if (w->why[0] || !adopt(w, node, &again))
        return false;
    return again.lefts < k.lefts ||
           turns_fail(w, "adopt: the command named is of no use");
}

/* --- discarding --- */

bool turns_discard(struct turns *w, unsigned node)
{
    unsigned folder = w->nodes[node].folder;
    bool stale[TURNS_SAVES];
    weir_err err;
    weir_ckpt *c;
    int r;

    turns_say(w, "%c: discard\n", 'A' + node);
    if (!open_as(w, node, WEIR_CKPT_MANAGE, &c))
        return false;
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++) {
        stale[i] = turns_has(&w->on[folder], i) &&
                   turns_is_stale_copy(w, folder, i);
        w->saves[i].may_go |= stale[i] && !turns_has(&w->on_slow, i);
    }
    r = weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return turns_fail(w, "discard: %s", err.msg);
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++)
        if (stale[i] && turns_has(&w->on[folder], i))
            return turns_fail(w, "discard left save %u of step %u", i,
                              (unsigned)w->saves[i].step);
    return true;
}

/* --- draining --- */

/* All that was drained, or why not. */
static int drain(struct turns *w, unsigned node, weir_err *err)
{
    const struct turns_seen *s = &w->on[w->nodes[node].folder];
    weir_ckpt *c;
    int r;

    if (!open_as(w, node, WEIR_CKPT_DRAIN, &c))
        return 1;
    r = weir_ckpt_drain(c, err);
    weir_ckpt_close(&c, NULL);
    turns_say(w, "   drained: %.300s\n", r < 0 ? err->msg : "all");
    if (r < 0)
        return r;
    if (!turns_check_copies(w))
        return 1;
    for (unsigned i = 0; i < s->count; i++)
        if (!s->copies[i].aside && !turns_has(&w->on_slow, s->copies[i].salt))
            turns_fail(w, "save %u is not drained, and nothing says so",
                       s->copies[i].salt);
    return 0;
}

/* Does what a message names. */
static bool resolve(struct turns *w, unsigned node, const weir_err *err)
{
    const char *at = strstr(err->msg, NAME "rm --step ");
    bool first = wr_rng_below(&w->rng, 2);

    if (err->code == WEIR_ESTALE && says(err, NAME "adopt ") &&
        says(err, NAME "discard "))
        return first ? turns_adopt(w, node) : turns_discard(w, node);
    if (err->code == WEIR_EEXIST && at)
        return turns_remove(w, node,
                            strtoull(at + strlen(NAME "rm --step "), NULL, 10),
                            first ? "fast" : "slow");
    return turns_fail(w, "drain: %s", err->msg);
}

bool turns_drain(struct turns *w, unsigned node)
{
    weir_err err;
    int r;

    turns_say(w, "%c: drain\n", 'A' + node);
    r = drain(w, node, &err);
    if (r >= 0 || w->is_hung || w->left_behind)
        return !w->why[0];
    turns_close_all(w);
    for (unsigned i = 0; i < TURNS_STEPS && r < 0; i++) {
        uint64_t was = w->rng.counter;

        if (!resolve(w, node, &err))
            return turns_fail(w, "a named command does nothing (%u)",
                              (unsigned)was);
        r = drain(w, node, &err);
        if (r == WEIR_ESTALE)
            return turns_fail(w, "the named command resolves nothing: %s",
                              err.msg);
    }
    return !w->why[0];
}
