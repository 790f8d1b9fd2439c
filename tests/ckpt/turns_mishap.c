/* turns_mishap.c - what happens to tiers: dot files lost, backups, old versions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "tier/manifest.h"

bool turns_store_id(const struct turns *w, char ret[33])
{
    char path[TURNS_PATH + 20];
    FILE *f;
    bool good;

    snprintf(path, sizeof(path), "%s/.weir/store", w->slow);
    f = fopen(path, "re");
    good = f && fscanf(f, "%*s %32[0-9a-f]", ret) == 1 && strlen(ret) == 32;
    if (f)
        fclose(f);
    return good;
}

/* Nobody uses the tiers any more, and they are there. */
static bool make_quiet(struct turns *w)
{
    if (w->is_hung || w->is_away || !w->has_store)
        return false;
    turns_close_all(w);
    /* What closing drained and retired is noted before the mishap. */
    return turns_check_copies(w) && !turns_is_busy(w);
}

/* --- dot files --- */

/* All whose names begin with a dot: a copy by `cp -r tier/STAR`. */
static void remove_dots(const char *dir)
{
    char path[TURNS_PATH + 300];
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (e->d_name[0] == '.' && strcmp(e->d_name, ".") != 0 &&
            strcmp(e->d_name, "..") != 0)
            scratch_remove(path);
    }
    if (d)
        closedir(d);
}

/* Every step of a tier says that it is of this store. */
static bool is_all_own(const struct turns *w, const struct turns_seen *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!w->far.store || w->saves[s->copies[i].salt].store != w->far.store)
            return false;
    return true;
}

/* What manifests tell in place of the link. */
static struct turns_folder derive(const struct turns *w,
                                  const struct turns_seen *s)
{
    struct turns_folder f = {0};

    for (unsigned i = 0; i < s->count; i++) {
        const struct turns_save *is = &w->saves[s->copies[i].salt];

        if (!s->copies[i].aside && is->generation >= f.generation)
            f = (struct turns_folder){.generation = is->generation,
                                      .opening = is->opening,
                                      .store = is->store};
    }
    return f;
}

/* What was set aside there is gone, and so are pins. */
static void let_asides_go(struct turns *w, const struct turns_seen *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->copies[i].aside)
            w->saves[s->copies[i].salt].may_go = true;
}

static void forget_pins(struct turns *w)
{
    for (unsigned i = 0; i < w->count; i++)
        w->saves[i].pinned = false;
}

void turns_lose_dots(struct turns *w, unsigned node)
{
    static const char *const names[] = {"", ".weir", ".weir/store",
                                        ".weir/generations"};
    struct turns_node *nd = &w->nodes[node];
    bool far = wr_rng_below(&w->rng, 2);
    const char *name = names[wr_rng_below(&w->rng, 4)];
    const char *dir = far ? w->slow : nd->fast;
    struct turns_seen *s = far ? &w->on_slow : &w->on[nd->folder];
    struct turns_folder *f = far ? &w->far : &w->folders[nd->folder];
    struct turns_folder now;
    char path[TURNS_PATH + 40];

    if (!make_quiet(w) || !is_all_own(w, s) || f->store != w->far.store ||
        access(dir, F_OK) != 0)
        return;
    turns_say(w, "'%s' of %s is lost\n", *name ? name : "all dots",
              far ? "the slow tier" : nd->fast);
    if (!*name)
        let_asides_go(w, s);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (*name)
        scratch_remove(path);
    else
        remove_dots(dir);
    now = derive(w, s);
    if (!strcmp(name, ".weir/store")) {
        now.notes = f->notes;
        memcpy(now.known, f->known, sizeof(now.known));
    }
    if (!strcmp(name, ".weir/store") && far) /* the numbers are still there */
        f->store = now.store;
    else if (strcmp(name, ".weir/generations") != 0)
        *f = now;
    else if (far)
        f->generation = 0;
    w->mishaps++;
    forget_pins(w);
}

/* --- backups --- */

/* What the backup does not have counts as never drained, or is gone. */
static void let_go_by_backup(struct turns *w, const struct turns_seen *before)
{
    turns_look(w);
    for (unsigned i = 0; i < before->count; i++) {
        struct turns_save *s = &w->saves[before->copies[i].salt];
        unsigned salt = before->copies[i].salt;

        if (turns_has(&w->on_slow, salt))
            continue;
        s->drained = false;
        if (s->level > WEIR_LEVEL_FAST)
            s->level = WEIR_LEVEL_FAST;
        if (s->folder == TURNS_NOWHERE || !turns_has(&w->on[s->folder], salt))
            s->may_go = true;
    }
}

/* Another node goes on from what the backup has: its numbers may be below those
 * of `node`, which was there before. */
static void go_on_elsewhere(struct turns *w, unsigned node)
{
    unsigned other = (node + 1) % TURNS_NODES;

    for (unsigned i = 0; i < 2 && turns_check_copies(w); i++)
        turns_save(w, other);
    turns_close(w, other);
}

void turns_roll_back(struct turns *w, unsigned node)
{
    struct turns_seen before;

    if (!w->has_backup || !make_quiet(w) || w->far.store != w->far_then.store)
        return;
    before = w->on_slow;
    scratch_remove(w->slow);
    if (!scratch_copy(w->backup, w->slow))
        turns_fail(w, "cannot copy the backup");
    w->far = w->far_then;
    w->mishaps++;
    turns_say(w, "the slow tier is restored from the backup\n");
    let_go_by_backup(w, &before);
    for (unsigned i = 0; i < w->count; i++)
        w->saves[i].stale = false; /* what was newer may be gone */
    for (unsigned f = 0; f < TURNS_FOLDERS; f++)
        for (unsigned i = 0; i < w->on[f].count; i++)
            if (w->on[f].copies[i].aside)
                w->saves[w->on[f].copies[i].salt].stale = true;
    forget_pins(w);
    turns_look(w);
    if (wr_rng_below(&w->rng, 2))
        go_on_elsewhere(w, node);
}

/* It is two openings old when it is restored. */
static void age_backup(struct turns *w, unsigned node)
{
    /* What is drained by now is noted before somebody else opens. */
    for (unsigned i = 0; i < 2 && turns_check_copies(w); i++) {
        turns_save(w, node);
        turns_close(w, node);
    }
    turns_roll_back(w, node);
}

void turns_back_up(struct turns *w, unsigned node)
{
    if (!make_quiet(w) || !w->far.store)
        return;
    scratch_remove(w->backup);
    w->has_backup = scratch_copy(w->slow, w->backup);
    w->far_then = w->far;
    turns_say(w, "the slow tier is backed up\n");
    if (!w->has_backup)
        turns_fail(w, "cannot copy the slow tier");
    if (w->has_backup && wr_rng_below(&w->rng, 2))
        age_backup(w, node);
}

/* --- the version before --- */

static void strip_manifest(struct turns *w, const char *path)
{
    static char text[1 << 16];
    struct wr_manifest m;
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text), f) : 0;
    char *now;

    if (f)
        fclose(f);
    if (wr_manifest_parse(text, n, path, &m, NULL) < 0) {
        turns_fail(w, "'%s' cannot be read", path);
        return;
    }
    m.store[0] = '\0';
    now = wr_manifest_text(&m, &n);
    f = fopen(path, "we");
    if (!now || !f || fwrite(now, 1, n, f) != n || fclose(f) != 0)
        turns_fail(w, "'%s' cannot be written", path);
    free(now);
    wr_manifest_done(&m);
}

void turns_make_old(struct turns *w, const char *dir)
{
    char path[2 * TURNS_PATH + 300];
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/%s/MANIFEST", dir, e->d_name);
        if (!strncmp(e->d_name, "step-", 5))
            strip_manifest(w, path);
    }
    if (d)
        closedir(d);
    snprintf(path, sizeof(path), "%s/.weir", dir);
    d = opendir(path);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof(path), "%s/.weir/%s", dir, e->d_name);
        if (!strcmp(e->d_name, "store") || !strcmp(e->d_name, "writers") ||
            !strncmp(e->d_name, "generation-", 11))
            unlink(path);
    }
    if (d)
        closedir(d);
    snprintf(path, sizeof(path), "%s/.weir/generations", dir);
    scratch_remove(path);
}

/* --- looking at decisions --- */

/* Names, sizes and times of all that is there. */
static uint64_t sum_tree(const char *dir)
{
    char command[TURNS_PATH + 100];
    uint64_t sum = 5381;
    FILE *p;
    int ch;

    snprintf(command, sizeof(command),
             "find '%s' -printf '%%p %%s %%i %%T@\\n' 2>/dev/null | sort", dir);
    p = popen(command, "re");
    while (p && (ch = fgetc(p)) != EOF)
        sum = sum * 33 + (uint64_t)ch;
    if (p)
        pclose(p);
    return sum;
}

void turns_dry_run(struct turns *w, unsigned node)
{
    weir_ckpt_prune_plan plan = {.keep_last = 1, .dry_run = 1};
    unsigned what = (unsigned)wr_rng_below(&w->rng, 3);
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    uint64_t sum;
    weir_err err;
    int r;

    if (!make_quiet(w) || access(w->nodes[node].fast, F_OK) != 0)
        return;
    turns_config(w, node, &cfg);
    cfg.role = what ? WEIR_CKPT_MANAGE : WEIR_CKPT_ADOPT;
    cfg.dry_run = 1;
    turns_say(w, "%c: dry run of %s\n", 'A' + node,
              what == 0   ? "adopt"
              : what == 1 ? "discard"
                          : "prune");
    sum = sum_tree(w->dir);
    if (weir_ckpt_open(&c, &cfg, &err) < 0) {
        turns_judge(w, node, &cfg, &err);
        return;
    }
    r = what == 0   ? weir_ckpt_adopt(c, WEIR_LATEST, NULL, NULL, &err)
        : what == 1 ? weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, &err)
                    : weir_ckpt_prune(c, &plan, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        turns_fail(w, "dry run: %s", err.msg);
    if (sum_tree(w->dir) != sum)
        turns_fail(w, "a dry run has changed something");
}
