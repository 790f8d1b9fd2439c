/* turns_model.c - what was acknowledged, and what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* --- what is told --- */

void turns_say(struct turns *w, const char *fmt, ...)
{
    size_t room = sizeof(w->log) - w->log_len;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(w->log + w->log_len, room, fmt, ap);
    va_end(ap);
    if (n > 0 && (size_t)n < room)
        w->log_len += (size_t)n;
}

bool turns_fail(struct turns *w, const char *fmt, ...)
{
    va_list ap;

    if (w->why[0])
        return false;
    va_start(ap, fmt);
    vsnprintf(w->why, sizeof(w->why), fmt, ap);
    va_end(ap);
    return false;
}

/* --- saves --- */

unsigned turns_new_save(struct turns *w, uint64_t step, struct turns_folder by,
                        unsigned folder)
{
    if (w->count == TURNS_SAVES)
        return TURNS_SAVES;
    w->saves[w->count] = (struct turns_save){.step = step,
                                             .generation = by.generation,
                                             .opening = by.opening,
                                             .store = by.store,
                                             .from = TURNS_SAVES,
                                             .folder = folder};
    return w->count++;
}

static bool is_own(const struct turns *w, unsigned salt)
{
    return w->saves[salt].store && w->saves[salt].store == w->far.store;
}

bool turns_is_newer(const struct turns *w, unsigned a, unsigned b)
{
    const struct turns_save *x = &w->saves[a], *y = &w->saves[b];

    if (is_own(w, a) != is_own(w, b))
        return is_own(w, a);
    if (x->generation != y->generation)
        return x->generation > y->generation;
    if (x->opening != y->opening)
        return false;
    return x->opening ? a > b : x->step > y->step;
}

/* --- looking --- */

static void note_number(struct turns *w, unsigned opening, uint64_t is)
{
    if (opening < WR_ARRAY_LEN(w->numbers))
        w->numbers[opening] = is;
}

/* An opening that failed took a number, too: more than the model has counted is
 * fine, less was handed out before. */
static void compare_number(struct turns *w, unsigned salt, uint64_t is)
{
    const struct turns_save s = w->saves[salt];

    if (!s.opening || is == s.generation)
        return;
    if (is < s.generation) {
        turns_fail(w, "save %u has generation %u, which was handed out before",
                   salt, (unsigned)is);
        return;
    }
    for (unsigned i = 0; i < w->count; i++)
        if (w->saves[i].opening == s.opening)
            w->saves[i].generation = is;
    for (unsigned i = 0; i < TURNS_FOLDERS; i++)
        if (w->folders[i].opening == s.opening)
            w->folders[i].generation = is;
    if (w->far.opening == s.opening)
        w->far.generation = is;
    note_number(w, s.opening, is);
    for (unsigned n = 0; n < TURNS_NODES; n++)
        if (w->nodes[n].opening == s.opening)
            w->nodes[n].generation = is;
}

/* The salt in a manifest's metadata; TURNS_SAVES: the step is gone. */
static unsigned salt_in(struct turns *w, const char *dir, const char *name)
{
    unsigned salt;
    char path[TURNS_PATH + 300], text[4096], *at;
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "%s/%s/MANIFEST", dir, name);
    f = fopen(path, "re");
    if (!f)
        return TURNS_SAVES;
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    at = strstr(text, "\"salt");
    at = at ? strpbrk(at, "0123456789") : NULL;
    salt = at ? (unsigned)strtoul(at, NULL, 10) : TURNS_SAVES;
    at = strstr(text, "\"generation\":");
    if (salt < w->count && at)
        compare_number(w, salt, strtoull(at + 13, NULL, 10));
    return salt;
}

static void look_into(struct turns *w, const char *dir, struct turns_seen *ret)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    ret->count = 0;
    while (d && (e = readdir(d))) {
        bool aside = !strncmp(e->d_name, ".stale-", 7);
        unsigned salt;

        if (!aside && strncmp(e->d_name, "step-", 5) != 0)
            continue;
        salt = salt_in(w, dir, e->d_name);
        if (salt >= TURNS_SAVES || ret->count == TURNS_SAVES)
            continue;
        ret->copies[ret->count].salt = salt;
        ret->copies[ret->count++].aside = aside;
    }
    if (d)
        closedir(d);
}

/* Fast tiers first: what leaves them meanwhile is seen on the slow one. */
void turns_look(struct turns *w)
{
    const char *slow = w->is_away ? w->away : w->slow;
    char link[TURNS_PATH + 20];

    w->newest = 0;
    for (unsigned i = 0; i < w->on_slow.count; i++) {
        unsigned salt = w->on_slow.copies[i].salt;
        uint64_t g = is_own(w, salt) ? w->saves[salt].generation : 0;

        w->newest = g > w->newest ? g : w->newest;
    }
    for (unsigned n = 0; n < TURNS_NODES; n++) {
        const struct turns_node *nd = &w->nodes[n];

        look_into(w, nd->fast, &w->on[nd->folder]);
        look_into(w, nd->off, &w->on[nd->folder ^ 1]);
    }
    look_into(w, slow, &w->on_slow);
    snprintf(link, sizeof(link), "%s/.weir/store", slow);
    w->has_store = w->on_slow.count > 0 || access(link, F_OK) == 0;
}

bool turns_has(const struct turns_seen *s, unsigned salt)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->copies[i].salt == salt)
            return true;
    return false;
}

bool turns_shows(const struct turns_seen *s, unsigned salt)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->copies[i].salt == salt && !s->copies[i].aside)
            return true;
    return false;
}

unsigned turns_find(const struct turns *w, const struct turns_seen *s,
                    uint64_t step)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!s->copies[i].aside && w->saves[s->copies[i].salt].step == step)
            return s->copies[i].salt;
    return TURNS_SAVES;
}

/* --- what tiers know --- */

bool turns_is_foreign(const struct turns *w, unsigned folder)
{
    return w->folders[folder].store && w->folders[folder].store != w->far.store;
}

/* The highest generation of this store in a folder. */
static uint64_t highest_in(const struct turns *w, const struct turns_seen *s)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < s->count; i++) {
        unsigned salt = s->copies[i].salt;

        if (!s->copies[i].aside && is_own(w, salt) &&
            w->saves[salt].generation > most)
            most = w->saves[salt].generation;
    }
    return most;
}

uint64_t turns_highest(const struct turns *w)
{
    uint64_t saved = highest_in(w, &w->on_slow);

    return saved > w->far.generation ? saved : w->far.generation;
}

uint64_t turns_remembers(const struct turns *w, unsigned folder)
{
    const struct turns_folder *f = &w->folders[folder];
    uint64_t saved = highest_in(w, &w->on[folder]);

    if (!f->store || f->store != w->far.store)
        return 0;
    return saved > f->generation ? saved : f->generation;
}

bool turns_is_rolled(const struct turns *w, unsigned folder)
{
    return turns_remembers(w, folder) > turns_highest(w);
}

bool turns_is_lost(const struct turns *w, unsigned folder)
{
    return turns_is_rolled(w, folder) &&
           highest_in(w, &w->on[folder]) < turns_remembers(w, folder);
}

static void note_opening(struct turns_folder *f, unsigned opening)
{
    if (opening && opening < 64 * TURNS_WORDS)
        f->known[opening / 64] |= UINT64_C(1) << opening % 64;
}

static bool knows(const struct turns_folder *f, unsigned opening)
{
    return opening >= 64 * TURNS_WORDS ||
           (f->known[opening / 64] >> opening % 64 & 1);
}

/* The writers of all steps, and what those went on from. */
static void note_saves(const struct turns *w, const struct turns_seen *s,
                       struct turns_folder *f)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct turns_save *is = &w->saves[s->copies[i].salt];

        if (s->copies[i].aside)
            continue;
        note_opening(f, is->opening);
        if (is->from < TURNS_SAVES)
            note_opening(f, w->saves[is->from].opening);
    }
}

/* A writer notes on both tiers what either knows, and itself. The highest number
 * of those. */
static uint64_t note_writers(struct turns *w, unsigned folder)
{
    struct turns_folder *near = &w->folders[folder], *far = &w->far;
    uint64_t most = 0;

    note_opening(far, near->opening);
    for (unsigned i = 0; i < TURNS_WORDS; i++)
        far->known[i] |= near->known[i];
    note_saves(w, &w->on_slow, far);
    note_saves(w, &w->on[folder], far);
    far->notes = true;
    for (unsigned i = 0; i < WR_ARRAY_LEN(w->numbers); i++)
        if (knows(far, i) && w->numbers[i] > most)
            most = w->numbers[i];
    return most;
}

void turns_begin_writer(struct turns *w, unsigned folder)
{
    uint64_t far, near, noted;

    note_opening(&w->far, w->far.opening);

    if (!w->far.store)
        w->far.store = w->folders[folder].store ? w->folders[folder].store
                                                : ++w->stores;
    far = turns_highest(w);
    near = turns_remembers(w, folder);
    noted = note_writers(w, folder);
    w->far.generation = WR_MAX(WR_MAX(far, near), noted) + 1;
    w->far.opening = ++w->openings;
    note_number(w, w->far.opening, w->far.generation);
    note_opening(&w->far, w->far.opening);
    w->far.unsure = false;
    w->folders[folder] = w->far;
}

bool turns_is_stale(const struct turns *w, unsigned folder)
{
    const struct turns_folder *f = &w->folders[folder];
    const struct turns_save *last = NULL;

    for (unsigned i = 0; i < w->on_slow.count; i++) {
        unsigned salt = w->on_slow.copies[i].salt;
        const struct turns_save *s = &w->saves[salt];

        if (is_own(w, salt) &&
            (s->generation > f->generation ||
             (s->generation == f->generation && s->opening != f->opening)))
            return true;
        if (is_own(w, salt) && s->opening &&
            (!last || s->generation > last->generation))
            last = s;
    }
    return last && f->notes && !knows(f, last->opening);
}

bool turns_is_stale_copy(const struct turns *w, unsigned folder, unsigned salt)
{
    const struct turns_seen *s = &w->on[folder];
    unsigned other = turns_find(w, &w->on_slow, w->saves[salt].step);

    for (unsigned i = 0; i < s->count; i++)
        if (s->copies[i].salt == salt && s->copies[i].aside)
            return true;
    if (other == salt)
        return false;
    if (other < TURNS_SAVES && turns_is_newer(w, other, salt))
        return true;
    return turns_is_stale(w, folder);
}

static void newest_in(const struct turns *w, const struct turns_seen *s,
                      uint64_t step, unsigned *best)
{
    for (unsigned i = 0; i < s->count; i++) {
        unsigned salt = s->copies[i].salt;

        if (s->copies[i].aside ||
            (step != WEIR_LATEST && w->saves[salt].step != step))
            continue;
        if (*best == TURNS_SAVES || turns_is_newer(w, salt, *best))
            *best = salt;
    }
}

unsigned turns_newest(const struct turns *w, unsigned folder, uint64_t step)
{
    unsigned best = TURNS_SAVES;

    newest_in(w, &w->on_slow, step, &best);
    if (folder != TURNS_NOWHERE &&
        (best == TURNS_SAVES || !turns_is_stale(w, folder)))
        newest_in(w, &w->on[folder], step, &best);
    return best;
}

/* --- comparing --- */

static bool is_there(const struct turns *w, unsigned salt)
{
    bool there = turns_has(&w->on_slow, salt);

    for (unsigned f = 0; f < TURNS_FOLDERS && !there; f++)
        there = turns_has(&w->on[f], salt);
    return there;
}

/* Steps that are newer than a save, wherever they are; of `run`, where it is not
 * NULL. */
static unsigned count_newer(const struct turns *w, unsigned salt,
                            const bool *run)
{
    bool newer[TURNS_STEPS] = {false};
    unsigned n = 0;

    for (unsigned i = 0; i < w->count; i++)
        if ((!run || run[i]) && is_there(w, i) && turns_is_newer(w, i, salt))
            newer[w->saves[i].step] = true;
    for (unsigned i = 0; i < TURNS_STEPS; i++)
        n += newer[i];
    return n;
}

/* Acknowledged, or seen although it was not. */
static bool was_there(const struct turns *w, unsigned salt)
{
    return w->saves[salt].level || w->saves[salt].drained || is_there(w, salt);
}

/* Steps of a run that are newer than a save and were there at some time: between
 * two looks a drain may retire the save on account of one, and then that one,
 * which another branch left. Each that is gone needs a reason of its own. */
static unsigned count_of_run(const struct turns *w, unsigned salt,
                             const bool *run)
{
    bool newer[TURNS_STEPS] = {false};
    unsigned n = 0;

    for (unsigned i = 0; i < w->count; i++)
        if (run[i] && was_there(w, i) && turns_is_newer(w, i, salt))
            newer[w->saves[i].step] = true;
    for (unsigned i = 0; i < TURNS_STEPS; i++)
        n += newer[i];
    return n;
}

/* The save, what it continues, and so on. Where one of them is gone, nothing
 * tells any more what it continued: numbers do. */
static void find_run(const struct turns *w, unsigned head,
                     bool run[TURNS_SAVES])
{
    unsigned gone = TURNS_SAVES;

    memset(run, 0, TURNS_SAVES * sizeof(*run));
    for (unsigned i = head; i < w->count && !run[i]; i = w->saves[i].from) {
        run[i] = true;
        if (gone == TURNS_SAVES &&
            !(w->saves[i].drained ? turns_has(&w->on_slow, i) : is_there(w, i)))
            gone = i;
    }
    for (unsigned i = 0; i < w->count && gone < TURNS_SAVES; i++)
        run[i] |= is_there(w, i) && turns_is_newer(w, gone, i) &&
                  w->saves[i].step <= w->saves[gone].step;
}

/* A newer save has its number, on the slow tier or on its way there. */
static bool is_replaced(const struct turns *w, unsigned salt)
{
    for (unsigned f = 0; f <= TURNS_FOLDERS; f++) {
        const struct turns_seen *s = f < TURNS_FOLDERS ? &w->on[f]
                                                       : &w->on_slow;
        unsigned other = turns_find(w, s, w->saves[salt].step);

        if (other < TURNS_SAVES && other != salt &&
            turns_is_newer(w, other, salt))
            return true;
    }
    return false;
}

/* It is not of the run that `head` is the end of: that run is on the slow tier,
 * and another one that was left, too, and is not older, stays. */
static bool is_left(const struct turns *w, unsigned salt, unsigned head,
                    const bool *run, unsigned keep)
{
    if (run[salt] || !turns_has(&w->on_slow, head))
        return false;
    /* Where the steps that tell the branches apart are gone, numbers do. */
    if (count_newer(w, salt, run) >= keep)
        return true;
    for (unsigned i = 0; i < w->count; i++)
        if (!run[i] && i != salt && is_there(w, i) &&
            !turns_is_newer(w, salt, i))
            return true;
    return false;
}

/* As few as any retention of this scenario leaves: of the run that continues a
 * step as many newer ones, of those that it has left the newest. */
static bool is_retired(const struct turns *w, unsigned salt)
{
    unsigned keep = w->keep_last;
    bool run[TURNS_SAVES];

    if (w->keep_now && (!keep || w->keep_now < keep))
        keep = w->keep_now;
    if (!keep || w->saves[salt].pinned)
        return false;
    if (!is_own(w, salt) && count_newer(w, salt, NULL) >= keep)
        return true; /* nothing tells what it continues */
    for (unsigned i = 0; i < w->count; i++) {
        if (i == salt || !is_there(w, i) || turns_is_newer(w, salt, i))
            continue;
        find_run(w, i, run);
        if ((run[salt] && count_of_run(w, salt, run) >= keep) ||
            is_left(w, salt, i, run, keep))
            return true;
    }
    return false;
}

/* What only another process' decision may bring to the slow tier. Its folder may
 * be lost while a drain that hangs still holds its files: then its own
 * generation counts. */
static bool check_drained(struct turns *w, unsigned salt)
{
    struct turns_save *s = &w->saves[salt];
    const struct turns_folder *f = s->folder != TURNS_NOWHERE
                                       ? &w->folders[s->folder]
                                       : NULL;
    bool theirs = f && !f->unsure && w->newest > s->generation &&
                  w->newest > f->generation;

    if (s->drained)
        return true;
    s->drained = true;
    return (!s->stale && !theirs) || w->adopts ||
           turns_fail(w, "save %u of step %u is stale and was drained", salt,
                      (unsigned)s->step);
}

static bool check_save(struct turns *w, unsigned salt)
{
    struct turns_save *s = &w->saves[salt];
    bool slow = turns_has(&w->on_slow, salt), fast;

    if (slow && !check_drained(w, salt))
        return false;
    if (slow || s->may_go || !s->level)
        return true;
    fast = s->folder != TURNS_NOWHERE && turns_has(&w->on[s->folder], salt);
    if (fast && s->level < WEIR_LEVEL_SLOW && !s->drained)
        return true;
    if ((s->drained && is_replaced(w, salt)) || is_retired(w, salt)) {
        s->may_go = true;
        return true;
    }
    return turns_fail(w,
                      "save %u of step %u (generation %u, level %d%s) is lost",
                      salt, (unsigned)s->step, (unsigned)s->generation,
                      s->level, s->drained ? ", was drained" : "");
}

static bool check_all(struct turns *w)
{
    turns_look(w);
    for (unsigned i = 0; i < w->count; i++)
        if (!check_save(w, i))
            return false;
    return true;
}

bool turns_is_drained_now(const struct turns *w)
{
    bool drains = false;

    for (unsigned n = 0; n < TURNS_NODES; n++)
        drains |= w->nodes[n].c && w->nodes[n].drains;
    return drains;
}

/* A drain in the background may be between two renames. */
bool turns_check_copies(struct turns *w)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    bool drains = turns_is_drained_now(w), good;

    if (w->why[0])
        return false;
    good = check_all(w);
    for (unsigned i = 0; i < 300 && drains && !good; i++) {
        nanosleep(&moment, NULL);
        w->why[0] = '\0';
        good = check_all(w);
    }
    return good;
}
