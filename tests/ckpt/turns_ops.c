/* turns_ops.c - what machines do when it is their turn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "scratch.h"
#include "turns_clock.h"

#define SHORT_MS 40 /* patience with a tier that hangs */

static uint64_t below(struct turns *w, uint64_t n)
{
    return wr_rng_below(&w->rng, n);
}

static bool is_there(const char *dir, const char *name)
{
    char path[TURNS_PATH + 100];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* --- opening --- */

/* Goes on from the newest step, or from another one. */
static void resume(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    uint64_t step = WEIR_LATEST;
    unsigned newest;

    turns_look(w);
    newest = turns_newest(w, nd->folder, WEIR_LATEST);
    if (newest == TURNS_SAVES)
        return;
    if (below(w, 4) == 0) {
        step = below(w, w->saves[newest].step + 1);
        if (turns_newest(w, nd->folder, step) == TURNS_SAVES)
            step = WEIR_LATEST;
    }
    nd->next = (step == WEIR_LATEST ? w->saves[newest].step : step) + 1;
    turns_say(w, "%c: restore, next step %u\n", 'A' + node, (unsigned)nd->next);
    w->restored = TURNS_SAVES;
    turns_check_restore(w, nd->c, nd->folder, step);
    if (w->restored < TURNS_SAVES) {
        nd->from = w->restored;
        nd->based = true;
    }
}

/* What was not told before: of drains, and of a slow tier that is older than
 * `rolled` remembers. */
static void hear_problems(struct turns *w, const struct turns_node *nd,
                          bool rolled)
{
    bool told = false;
    weir_err err;

    for (unsigned i = 0; weir_ckpt_problem(nd->c, &err) < 0; i++) {
        bool older = strstr(err.msg, "older") != NULL;

        turns_say(w, "   problem: %.300s\n", err.msg);
        told |= older;
        if (!turns_is_news(w, nd, &err) && !(older && w->mishaps))
            turns_fail(w, "problem: %s", err.msg);
        if (i > 100)
            turns_fail(w, "a problem is told again and again: %s", err.msg);
    }
    if (rolled && !told)
        turns_fail(w, "the slow tier is older than before, which nothing says");
}

/* Sometimes the store is demanded; true: the wrong one. */
static bool draw_store(struct turns *w, weir_ckpt_config *cfg, char id[33])
{
    bool wrong;

    if (w->is_away || w->ends || below(w, 6) != 0 || !turns_store_id(w, id))
        return false;
    wrong = below(w, 3) == 0;
    if (wrong)
        id[5] = id[5] == '0' ? '1' : '0';
    cfg->store = id;
    return wrong;
}

static void note_opened(struct turns *w, unsigned node, bool rolled)
{
    struct turns_node *nd = &w->nodes[node];

    for (unsigned i = 0; i < w->count; i++)
        w->saves[i].stale |= !w->folders[nd->folder].unsure &&
                             turns_has(&w->on[nd->folder], i) &&
                             turns_is_stale_copy(w, nd->folder, i);
    turns_begin_writer(w, nd->folder);
    nd->generation = w->far.generation;
    nd->opening = w->far.opening;
    nd->based = nd->fenced = false;
    nd->from = TURNS_SAVES;
    nd->claims = ++w->claims;
    hear_problems(w, nd, rolled);
}

static void op_open(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    bool hangs = !w->is_hung && below(w, 3) == 0, wrong, rolled, lost;
    char id[33], url[2 * TURNS_PATH + 20];
    weir_ckpt_config cfg;
    weir_err err;

    if (nd->c)
        return;
    turns_look(w);
    turns_config(w, node, &cfg);
    cfg.drain = below(w, 10) < 6;
    cfg.take_over = below(w, 5) == 0;
    cfg.must_exist = w->is_away || (w->has_store && below(w, 2) && !w->ends);
    if (hangs) {
        snprintf(url, sizeof(url), "fault:hang=%s:%s", w->hung, w->slow);
        cfg.slow = url;
        if (!w->ends) /* and at the end nothing hangs */
            cfg.drain_timeout_ms = cfg.close_timeout_ms = SHORT_MS;
    }
    wrong = draw_store(w, &cfg, id);
    rolled = turns_is_rolled(w, nd->folder);
    lost = turns_is_lost(w, nd->folder);
    turns_say(w, "%c: open%s%s%s%s%s\n", 'A' + node, cfg.drain ? " drain" : "",
              cfg.take_over ? " take-over" : "",
              cfg.must_exist ? " must-exist" : "", hangs ? " may-hang" : "",
              wrong       ? " wrong-store"
              : cfg.store ? " store"
                          : "");
    if (weir_ckpt_open(&nd->c, &cfg, &err) < 0) {
        turns_say(w, "   refused: %.200s\n", err.msg);
        /* A busy machine: it may have fenced off others before it gave up, and
         * linked its fast tier. */
        if (hangs && err.code == WEIR_ETIMEDOUT) {
            w->folders[nd->folder].unsure = true;
            w->left_behind++;
            w->claims++;
            return;
        }
        if (wrong && (err.code == WEIR_ESTATE || err.code == WEIR_ENOENT))
            return;
        if (turns_judge(w, node, &cfg, &err) && !turns_is_busy(w) &&
            strstr(err.msg, "weir ckpt adopt"))
            turns_adopt(w, node);
        return;
    }
    if (w->is_away || turns_is_foreign(w, nd->folder) || wrong || lost)
        turns_fail(w, "opened for saving: the slow tier is %s",
                   w->is_away ? "away"
                   : lost     ? "older, and steps are missing"
                              : "another store's");
    nd->drains = cfg.drain;
    nd->hangs = hangs;
    note_opened(w, node, rolled);
    if (below(w, 10) < 7)
        resume(w, node);
}

/* --- saving --- */

/* Whether a call succeeded; its error may be one of those that happen. */
static bool is_done(struct turns *w, const struct turns_node *nd, int r,
                    const weir_err *err)
{
    if (r == 0)
        return true;
    turns_say(w, "   %.300s\n", err->msg);
    if (!turns_is_news(w, nd, err) &&
        !(err->code == WEIR_EEXIST && strstr(err->msg, "is there")))
        turns_fail(w, "save: %s", err->msg);
    return false;
}

static bool put(struct turns_node *nd, unsigned salt, uint64_t step,
                enum weir_level level, weir_err *err, int *ret)
{
    float memory[TURNS_FLOATS];
    char text[20];
    weir_pair pair = {"salt", text};
    weir_tensor t;
    weir_ckpt_state state = {.step = step,
                             .tensors = &t,
                             .count = 1,
                             .metadata = &pair,
                             .metadata_count = 1};

    turns_tensor(memory, &t);
    turns_fill(memory, salt);
    snprintf(text, sizeof(text), "%u", salt);
    *ret = weir_ckpt_save(nd->c, &state, level, err);
    return *ret == 0;
}

static void wait_for(struct turns *w, struct turns_node *nd, unsigned salt,
                     enum weir_level level)
{
    uint64_t step = w->saves[salt].step;
    weir_err err;
    int r = weir_ckpt_wait(nd->c, step, level, -1, &err);

    turns_say(w, "   wait for level %d: %d\n", level, r);
    if (is_done(w, nd, r, &err))
        w->saves[salt].level = level;
}

/* What was restored, or saved before; else the newest step below. */
static unsigned find_from(struct turns *w, struct turns_node *nd, uint64_t step)
{
    unsigned best = TURNS_SAVES;

    if (nd->based)
        return nd->from;
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++)
        if (w->saves[i].step < step &&
            (turns_shows(&w->on_slow, i) ||
             turns_shows(&w->on[nd->folder], i)) &&
            (best == TURNS_SAVES || turns_is_newer(w, i, best)))
            best = i;
    nd->based = true;
    return best;
}

void turns_save(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    enum weir_level level = (enum weir_level)(1 + below(w, 4));
    uint64_t step;
    unsigned salt, from;
    bool was_based;
    weir_err err;
    int r;

    if (!nd->c)
        op_open(w, node);
    step = nd->next;
    if (!nd->c || step >= TURNS_STEPS || w->why[0])
        return;
    if (!nd->drains && level > WEIR_LEVEL_FAST)
        level = WEIR_LEVEL_FAST;
    was_based = nd->based;
    from = find_from(w, nd, step);
    salt = turns_new_save(
        w, step,
        (struct turns_folder){.generation = nd->generation,
                              .opening = nd->opening,
                              .store = w->folders[nd->folder].store},
        nd->folder);
    if (salt == TURNS_SAVES)
        return;
    w->saves[salt].from = from;
    turns_clock_skew(nd->skew_s);
    turns_say(w, "%c: save step %u level %d as %u\n", 'A' + node,
              (unsigned)step, level, salt);
    put(nd, salt, step, level, &err, &r);
    nd->next += 1 + below(w, 3);
    if (r == WEIR_EEXIST) /* it was not begun */
        nd->based = was_based;
    else
        nd->from = salt; /* also when it failed: it may be there */
    if (nd->fenced && r != WEIR_EFENCED)
        turns_fail(w, "a writer that was fenced off saves again");
    nd->fenced |= r == WEIR_EFENCED;
    hear_problems(w, nd, /* rolled= */ false);
    if (!is_done(w, nd, r, &err))
        return;
    if (level >= WEIR_LEVEL_SLOW && nd->opening != w->far.opening)
        turns_fail(w, "a writer that was superseded still drains");
    if (level > WEIR_LEVEL_SNAPSHOT)
        w->saves[salt].level = level;
    else
        wait_for(w, nd, salt, WEIR_LEVEL_FAST);
    if (level < WEIR_LEVEL_SLOW && nd->drains && !w->is_hung && !w->why[0] &&
        below(w, 4) == 0)
        wait_for(w, nd, salt, WEIR_LEVEL_SLOW);
}

/* Back to an older step without opening the store again, and on from there. */
static void op_return(struct turns *w, unsigned node)
{
    if (w->nodes[node].c && !w->is_hung)
        resume(w, node);
}

static void op_close(struct turns *w, unsigned node)
{
    turns_close(w, node);
}

/* --- dying --- */

/* Threads of stores; the kernel has some of its own in a process. */
static unsigned count_threads(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    unsigned n = 0;

    while (d && (e = readdir(d))) {
        char path[300], name[20] = "";
        FILE *f;

        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        f = fopen(path, "re");
        if (f && fgets(name, sizeof(name), f))
            n += !strncmp(name, "weir-", 5);
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return n;
}

/* Those that were left behind end when the tier answers. */
static void await_left(struct turns *w)
{
    bool open = false;

    for (unsigned n = 0; n < TURNS_NODES; n++)
        open |= w->nodes[n].c != NULL;
    if (open || w->is_hung)
        return;
    while (w->left_behind && count_threads() > 0)
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
    w->left_behind = 0;
}

/* A process that opens, saves, and ends without a word. */
static void op_die(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    int status;
    pid_t pid;

    await_left(w);
    if (turns_is_busy(w) || w->is_hung || w->is_away)
        return;
    turns_say(w, "%c: a process that will die\n", 'A' + node);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        op_open(w, node);
        for (uint64_t i = 1 + below(w, 4); i > 0 && nd->c; i--)
            turns_save(w, node);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
        turns_fail(w, "the child ended with %d", pid < 0 ? -1 : status);
    nd->c = NULL;
}

/* --- tiers that come and go --- */

/* Nothing may be made where the slow tier is to be mounted. */
static void check_place(struct turns *w)
{
    DIR *d = w->is_away ? opendir(w->slow) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d)))
        if (!strncmp(e->d_name, "step-", 5))
            turns_fail(w, "a step is below where the slow tier is mounted");
    if (d)
        closedir(d);
    if (w->is_away && is_there(w->slow, ".weir/store"))
        turns_fail(w, "what is below the slow tier has become a store");
}

static void op_away(struct turns *w, unsigned node)
{
    (void)node;
    if (!w->has_store || w->is_away || access(w->slow, F_OK) != 0)
        return;
    if (rename(w->slow, w->away) < 0)
        turns_fail(w, "cannot rename the slow tier");
    w->is_away = true;
    if (below(w, 2))
        mkdir(w->slow, 0777);
    turns_say(w, "the slow tier is unmounted, %s\n",
              is_there(w->slow, "") ? "an empty folder is there" : "nothing");
}

static void op_back(struct turns *w, unsigned node)
{
    (void)node;
    if (!w->is_away)
        return;
    check_place(w);
    scratch_remove(w->slow);
    if (rename(w->away, w->slow) < 0)
        turns_fail(w, "cannot rename the slow tier back");
    w->is_away = false;
    turns_say(w, "the slow tier is mounted\n");
}

static void op_swap(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    char beside[TURNS_PATH + 10];

    if (nd->c)
        return;
    snprintf(beside, sizeof(beside), "%s.beside", nd->fast);
    rename(nd->fast, beside); /* either may be missing */
    rename(nd->off, nd->fast);
    rename(beside, nd->off);
    nd->folder ^= 1;
    turns_say(w, "%c: its other fast tier is mounted\n", 'A' + node);
}

static void op_lose(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];

    if (nd->c)
        return;
    for (unsigned i = 0; i < w->count; i++)
        if (w->saves[i].folder == nd->folder && !w->saves[i].drained)
            w->saves[i].may_go = true;
    scratch_remove(nd->fast);
    if (below(w, 2))
        mkdir(nd->fast, 0777);
    w->folders[nd->folder] = (struct turns_folder){0};
    turns_say(w, "%c: its fast tier is lost\n", 'A' + node);
}

static void op_hang(struct turns *w, unsigned node)
{
    bool may = false;

    (void)node;
    for (unsigned n = 0; n < TURNS_NODES; n++)
        may |= w->nodes[n].c && w->nodes[n].hangs;
    if (w->is_hung || !may)
        return;
    close(creat(w->hung, 0600));
    w->is_hung = true;
    turns_say(w, "the slow tier hangs\n");
}

static void op_answer(struct turns *w, unsigned node)
{
    (void)node;
    if (!w->is_hung)
        return;
    unlink(w->hung);
    w->is_hung = false;
    turns_say(w, "the slow tier answers\n");
    await_left(w);
}

static void op_skew(struct turns *w, unsigned node)
{
    w->nodes[node].skew_s = ((int64_t)below(w, 3) - 1) * 3600;
    turns_say(w, "%c: its clock is off by %d s\n", 'A' + node,
              (int)w->nodes[node].skew_s);
}

/* --- deciding --- */

static void op_drain(struct turns *w, unsigned node)
{
    turns_drain(w, node);
}

static void op_adopt(struct turns *w, unsigned node)
{
    turns_adopt(w, node);
}

static void op_discard(struct turns *w, unsigned node)
{
    turns_discard(w, node);
}

static void op_remove(struct turns *w, unsigned node)
{
    static const char *const tiers[] = {"fast", "slow", NULL};

    turns_remove(w, node, below(w, TURNS_STEPS / 4), tiers[below(w, 3)]);
}

static void let_go_above(struct turns *w, unsigned node, uint64_t after)
{
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++)
        if (w->saves[i].step > after &&
            (turns_has(&w->on_slow, i) ||
             turns_has(&w->on[w->nodes[node].folder], i)))
            w->saves[i].may_go = true;
}

static void op_prune(struct turns *w, unsigned node)
{
    weir_ckpt_prune_plan plan = {.keep_last = 1 + (uint32_t)below(w, 4)};
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    turns_config(w, node, &cfg);
    cfg.role = WEIR_CKPT_MANAGE;
    plan.go_back = below(w, 4) == 0;
    plan.after = plan.go_back ? 2 + below(w, TURNS_STEPS / 6) : 0;
    turns_say(w, "%c: prune, keep %u, after %u\n", 'A' + node, plan.keep_last,
              (unsigned)plan.after);
    if (weir_ckpt_open(&c, &cfg, &err) < 0) {
        turns_say(w, "   refused: %.200s\n", err.msg);
        turns_judge(w, node, &cfg, &err);
        return;
    }
    if (plan.go_back)
        let_go_above(w, node, plan.after);
    w->keep_now = plan.keep_last;
    if (weir_ckpt_prune(c, &plan, &err) < 0)
        turns_fail(w, "prune: %s", err.msg);
    weir_ckpt_close(&c, NULL);
    turns_check_copies(w);
    w->keep_now = 0;
}

/* --- stores of others, and of the version before --- */

/* Steps in a folder that is a store of its own. */
static void fill_folder(struct turns *w, const char *dir, unsigned folder,
                        struct turns_folder by)
{
    uint64_t first = 1 + below(w, 8);
    struct turns_node alone = {0};
    weir_ckpt_config cfg;
    weir_err err;
    int r = 0;

    weir_ckpt_defaults(&cfg);
    cfg.fast = dir;
    cfg.keep_last = 0;
    cfg.threads = 1;
    if (weir_ckpt_open(&alone.c, &cfg, &err) < 0) {
        turns_fail(w, "a store of its own: %s", err.msg);
        return;
    }
    for (uint64_t i = 1 + below(w, 3); i > 0 && r == 0; i--) {
        unsigned salt = turns_new_save(w, first, by, folder);

        if (salt == TURNS_SAVES)
            break;
        put(&alone, salt, first++, WEIR_LEVEL_VERIFIED, &err, &r);
        if (r < 0)
            turns_fail(w, "a store of its own: %s", err.msg);
        w->saves[salt].drained = folder == TURNS_NOWHERE;
        w->saves[salt].level = folder == TURNS_NOWHERE ? WEIR_LEVEL_VERIFIED
                                                       : WEIR_LEVEL_FAST;
    }
    weir_ckpt_close(&alone.c, NULL);
}

static void op_foreign(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];
    unsigned other = nd->folder ^ 1;

    if (nd->c || access(nd->off, F_OK) == 0)
        return;
    turns_say(w, "%c: another store's tier comes\n", 'A' + node);
    w->folders[other] = (struct turns_folder){
        .generation = 1, .opening = ++w->openings, .store = ++w->stores};
    fill_folder(w, nd->off, other, w->folders[other]);
    op_swap(w, node);
}

void turns_begin(struct turns *w)
{
    struct turns_node *nd = &w->nodes[below(w, TURNS_NODES)];

    for (unsigned n = 0; n < TURNS_NODES; n++) {
        char home[TURNS_PATH - 10];

        snprintf(home, sizeof(home), "%s/%c", w->dir, 'a' + (int)n);
        mkdir(home, 0777);
        snprintf(w->nodes[n].fast, TURNS_PATH, "%s/fast", home);
        snprintf(w->nodes[n].off, TURNS_PATH, "%s/off", home);
        w->nodes[n].folder = 2 * n;
        w->nodes[n].next = 1;
    }
    snprintf(w->slow, sizeof(w->slow), "%s/slow", w->dir);
    snprintf(w->away, sizeof(w->away), "%s/away", w->dir);
    snprintf(w->hung, sizeof(w->hung), "%s/hung", w->dir);
    snprintf(w->backup, sizeof(w->backup), "%s/backup", w->dir);
    w->keep_last = below(w, 2) ? 0 : 1 + (unsigned)below(w, 4);
    if (w->keep_last)
        turns_say(w, "the last %u are kept\n", w->keep_last);
    if (below(w, 6) == 0) {
        turns_say(w, "a slow tier of the version before\n");
        fill_folder(w, w->slow, TURNS_NOWHERE, (struct turns_folder){0});
        turns_make_old(w, w->slow);
    }
    if (below(w, 6) == 0) {
        turns_say(w, "a fast tier of the version before\n");
        fill_folder(w, nd->fast, nd->folder, (struct turns_folder){0});
        turns_make_old(w, nd->fast);
    }
}

/* --- drawing --- */

static const struct {
    unsigned weight;
    void (*run)(struct turns *w, unsigned node);
} ops[] = {
    {12, op_open},        {40, turns_save},   {12, op_close},
    {8, op_die},          {4, op_away},       {8, op_back},
    {4, op_swap},         {2, op_lose},       {8, op_hang},
    {6, op_answer},       {4, op_skew},       {8, op_drain},
    {4, op_adopt},        {2, op_discard},    {2, op_remove},
    {2, op_prune},        {1, op_foreign},    {6, op_return},
    {3, turns_lose_dots}, {5, turns_back_up}, {6, turns_roll_back},
    {3, turns_dry_run},
};

void turns_step(struct turns *w)
{
    static const unsigned often[] = {0, 0, 0, 0, 1, 1, 1, 2};
    unsigned node = often[below(w, WR_ARRAY_LEN(often))], all = 0, at;

    for (size_t i = 0; i < WR_ARRAY_LEN(ops); i++)
        all += ops[i].weight;
    at = (unsigned)below(w, all);
    for (size_t i = 0; i < WR_ARRAY_LEN(ops); i++) {
        if (at < ops[i].weight) {
            ops[i].run(w, node);
            break;
        }
        at -= ops[i].weight;
    }
    check_place(w);
    await_left(w);
    if (turns_check_copies(w) && turns_check_view(w, node, /* deep= */ false))
        turns_check_view(w, TURNS_NODES, /* deep= */ false);
}

/* --- the end --- */

/* The machine can go on: its turn ends well, whatever was before. */
static void check_goes_on(struct turns *w, unsigned node)
{
    struct turns_node *nd = &w->nodes[node];

    for (unsigned i = 0; i < 3 && !nd->c && !w->why[0]; i++)
        op_open(w, node);
    if (!w->why[0] && !nd->c)
        turns_fail(w, "node %c cannot open", 'A' + node);
    nd->next = TURNS_STEPS - 1;
    for (unsigned i = 0; i < 2 && !w->why[0]; i++) {
        turns_save(w, node);
        turns_check_copies(w);
        turns_check_view(w, node, /* deep= */ false);
    }
    turns_close(w, node);
}

void turns_end(struct turns *w)
{
    turns_say(w, "--- the end\n");
    w->ends = true;
    op_back(w, 0);
    op_answer(w, 0);
    turns_close_all(w);
    await_left(w);
    turns_check_copies(w);
    turns_check_view(w, TURNS_NODES, /* deep= */ true);
    for (unsigned i = 0; i < TURNS_FOLDERS && !w->why[0]; i++) {
        const struct turns_node *nd = &w->nodes[i / 2];

        turns_check_view(w, i / 2, /* deep= */ true);
        if (!turns_is_foreign(w, nd->folder) && access(nd->fast, F_OK) == 0)
            turns_drain(w, i / 2);
        turns_check_copies(w);
        op_swap(w, i / 2);
    }
    check_goes_on(w, (unsigned)below(w, TURNS_NODES));
    turns_check_copies(w);
    turns_check_view(w, TURNS_NODES, /* deep= */ true);
}
