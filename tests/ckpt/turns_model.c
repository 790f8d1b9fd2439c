/* turns_model.c - what was acknowledged, and what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

unsigned turns_new_save(struct turns *w, uint64_t step, uint64_t generation,
                        unsigned folder)
{
    if (w->count == TURNS_SAVES)
        return TURNS_SAVES;
    w->saves[w->count] = (struct turns_save){
        .step = step, .generation = generation, .folder = folder};
    return w->count++;
}

bool turns_is_newer(const struct turns *w, unsigned a, unsigned b)
{
    const struct turns_save *x = &w->saves[a], *y = &w->saves[b];

    if (x->generation != y->generation)
        return x->generation > y->generation;
    return x->step > y->step;
}

/* --- looking --- */

/* The salt in a manifest's metadata; TURNS_SAVES: the step is gone. */
static unsigned salt_in(const char *dir, const char *name)
{
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
    return at ? (unsigned)strtoul(at, NULL, 10) : TURNS_SAVES;
}

static void look_into(const char *dir, struct turns_seen *ret)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    ret->count = 0;
    while (d && (e = readdir(d))) {
        bool aside = !strncmp(e->d_name, ".stale-", 7);
        unsigned salt;

        if (!aside && strncmp(e->d_name, "step-", 5) != 0)
            continue;
        salt = salt_in(dir, e->d_name);
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
        uint64_t g = w->saves[w->on_slow.copies[i].salt].generation;

        w->newest = g > w->newest ? g : w->newest;
    }
    for (unsigned n = 0; n < TURNS_NODES; n++) {
        const struct turns_node *nd = &w->nodes[n];

        look_into(nd->fast, &w->on[nd->folder]);
        look_into(nd->off, &w->on[nd->folder ^ 1]);
    }
    look_into(slow, &w->on_slow);
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

unsigned turns_find(const struct turns *w, const struct turns_seen *s,
                    uint64_t step)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!s->copies[i].aside && w->saves[s->copies[i].salt].step == step)
            return s->copies[i].salt;
    return TURNS_SAVES;
}

bool turns_is_stale(const struct turns *w, unsigned folder)
{
    for (unsigned i = 0; i < w->on_slow.count; i++)
        if (w->saves[w->on_slow.copies[i].salt].generation >
            w->folders[folder].generation)
            return true;
    return false;
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
    if (folder != TURNS_NOWHERE)
        newest_in(w, &w->on[folder], step, &best);
    return best;
}

/* --- comparing --- */

/* Steps that are newer than a save, wherever they are. */
static unsigned count_newer(const struct turns *w, unsigned salt)
{
    bool newer[TURNS_STEPS] = {false};
    unsigned n = 0;

    for (unsigned i = 0; i < w->count; i++) {
        bool there = turns_has(&w->on_slow, i);

        for (unsigned f = 0; f < TURNS_FOLDERS && !there; f++)
            there = turns_has(&w->on[f], i);
        if (there && turns_is_newer(w, i, salt))
            newer[w->saves[i].step] = true;
    }
    for (unsigned i = 0; i < TURNS_STEPS; i++)
        n += newer[i];
    return n;
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

/* As few as any retention of this scenario leaves. */
static bool is_retired(const struct turns *w, unsigned salt)
{
    unsigned keep = w->keep_last;

    if (w->keep_now && (!keep || w->keep_now < keep))
        keep = w->keep_now;
    return keep && !w->saves[salt].pinned && count_newer(w, salt) >= keep;
}

/* What only another process' decision may bring to the slow tier. */
static bool check_drained(struct turns *w, unsigned salt)
{
    struct turns_save *s = &w->saves[salt];
    bool stale = s->folder != TURNS_NOWHERE &&
                 (s->stale || w->newest > w->folders[s->folder].generation);

    if (s->drained)
        return true;
    s->drained = true;
    return !stale || w->adopts ||
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

/* A drain in the background may be between two renames. */
bool turns_check_copies(struct turns *w)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    bool drains = false, good;

    for (unsigned n = 0; n < TURNS_NODES; n++)
        drains |= w->nodes[n].c && w->nodes[n].drains;
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
