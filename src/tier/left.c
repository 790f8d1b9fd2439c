/* left.c - what earlier writers left in a tier, and what becomes of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define TRIES        100 /* each time another writer was faster */
#define PATH_LONGEST (WR_TIER_PATH + 256)

/* Where an entry of an earlier writer's folder goes: what is not weir's keeps
 * its name. */
static int choose_place(struct wr_tier *t, const struct wr_tier_entry *e,
                        char ret[PATH_LONGEST], weir_err *err)
{
    char path[WR_TIER_PATH];
    uint64_t step;
    int n;

    switch (wr_name_in_work(e->name, &step)) {
    case WR_NAME_SLOT:
        wr_name_slot(t->work, path);
        break;
    case WR_NAME_ASIDE:
        wr_name_aside(t->work, step, path);
        break;
    case WR_NAME_LEAVING:
        wr_name_leaving(t->work, step, path);
        break;
    case WR_NAME_TMP:
    case WR_NAME_TRASH:
        wr_name_trash(t->work, path);
        break;
    default:
        n = snprintf(ret, PATH_LONGEST, "%s/%s", t->work, e->name);
        if (n < 0 || n >= PATH_LONGEST)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': the name '%.80s' is too "
                           "long",
                           t->shown, e->name);
        return 0;
    }
    snprintf(ret, PATH_LONGEST, "%s", path);
    return 0;
}

static int move_out(struct wr_tier *t, const char *from, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char path[PATH_LONGEST], to[PATH_LONGEST];
    uint64_t step;
    weir_err why;
    int r = wr_tier_entries_read(t, from, &in, &why);

    r = wr_tier_unless_gone(r, &why, err);
    for (size_t i = 0; i < in.count && r == 0; i++) {
        const struct wr_tier_entry *e = &in.all[i];
        int n = snprintf(path, sizeof(path), "%s/%s", from, e->name);

        if (n < 0 || (size_t)n >= sizeof(path)) {
            r = wr_fail(err, WEIR_ELIMIT, "'%s/%s': a name is too long",
                        t->shown, from);
            continue;
        }
        r = choose_place(t, e, to, err);
        if (r < 0)
            continue;
        /* A link, too: not what it points to. */
        r = e->kind == WR_KIND_OTHER ||
                    wr_name_in_work(e->name, &step) == WR_NAME_NEW
                ? wr_tier_change(t, WR_REMOVE, path, NULL, &why)
                : wr_tier_change(t, WR_RENAME_NEW, path, to, &why);
        r = wr_tier_unless_gone(r, &why, err);
    }
    wr_tier_entries_done(&in);
    return r;
}

/* Empties a folder of an earlier writer, which may be adding to it still, and
 * removes it: from then on nothing gets out of it or into it. */
static int dissolve(struct wr_tier *t, const char *from,
                    int (*empty)(struct wr_tier *, const char *, weir_err *),
                    weir_err *err)
{
    weir_err why;
    int r = WEIR_EEXIST;

    for (int i = 0; i < TRIES && r == WEIR_EEXIST; i++) {
        r = empty(t, from, err);
        if (r < 0)
            return r;
        r = wr_tier_change(t, WR_REMOVE, from, NULL, &why);
    }
    return wr_tier_unless_gone(r, &why, err);
}

/* The folders of writers in `.writer-NUMBER`. */
static int dissolve_all(struct wr_tier *t, const char *outer, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char path[WR_TIER_PATH];
    weir_err why;
    int r = wr_tier_entries_read(t, outer, &in, &why);

    r = wr_tier_unless_gone(r, &why, err);
    for (size_t i = 0; i < in.count && r == 0; i++) {
        if (strlen(in.all[i].name) != WR_MANIFEST_ID - 1) {
            r = wr_fail(err, WEIR_ESTATE,
                        "'%s/%s': holds '%.80s', which weir did not make; "
                        "remove it",
                        t->shown, outer, in.all[i].name);
            break;
        }
        wr_name_join(outer, in.all[i].name, path);
        r = dissolve(t, path, move_out, err);
    }
    wr_tier_entries_done(&in);
    return r;
}

int wr_tier_dissolve(struct wr_tier *t, const char *outer, weir_err *err)
{
    return dissolve(t, outer, dissolve_all, err);
}

/* What the version before had in the root, of one kind. */
static int sweep_root(struct wr_tier *t, enum wr_name kind, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char to[WR_TIER_PATH];
    weir_err why;
    int r = wr_tier_folders(t, kind, &in, err);

    for (size_t i = 0; i < in.count && r == 0; i++) {
        (kind == WR_NAME_SLOT ? wr_name_slot : wr_name_trash)(t->work, to);
        r = wr_tier_change(t, WR_RENAME, in.all[i].name, to, &why);
        r = wr_tier_unless_gone(r, &why, err);
    }
    wr_tier_entries_done(&in);
    return r;
}

static int sweep_slots(struct wr_tier *t, weir_err *err)
{
    char trash[WR_TIER_PATH];
    struct wr_slot *slots;
    size_t count;
    int r;

    r = wr_tier_slots(t, &slots, &count, err);
    if (r < 0)
        return r;
    for (size_t i = t->slots; i < count && r == 0; i++)
        r = wr_tier_to_trash(t, slots[i].name, trash, err);
    free(slots);
    return r;
}

/* What was on its way aside gets there. */
static int sweep_asides(struct wr_tier *t, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char from[WR_TIER_PATH], to[WR_TIER_PATH], id[WR_MANIFEST_ID];
    int r = wr_tier_work_folders(t, t->work, WR_NAME_ASIDE, &in, err);

    for (size_t i = 0; i < in.count && r == 0; i++) {
        wr_manifest_new_id(id);
        wr_name_join(t->work, in.all[i].name, from);
        wr_name_stale(in.all[i].step, id, to);
        r = wr_tier_change(t, WR_RENAME_NEW, from, to, err);
    }
    wr_tier_entries_done(&in);
    return r;
}

/* Who was taking a step away died before it knew which save that is. It is a step
 * again, unless there is another one of its number. */
static int sweep_leaving(struct wr_tier *t, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char from[WR_TIER_PATH], to[WR_TIER_PATH];
    weir_err why;
    int r = wr_tier_work_folders(t, t->work, WR_NAME_LEAVING, &in, err);

    for (size_t i = 0; i < in.count && r == 0; i++) {
        wr_name_join(t->work, in.all[i].name, from);
        wr_name_step(in.all[i].step, to);
        r = wr_tier_change(t, WR_RENAME_NEW, from, to, &why);
        r = r == WEIR_EEXIST ? wr_tier_to_trash(t, from, to, err)
                             : wr_fail_as(err, r, &why);
    }
    wr_tier_entries_done(&in);
    return r;
}

static int sweep_folders(struct wr_tier *t, uint64_t *swept, weir_err *err)
{
    int r = sweep_root(t, WR_NAME_TMP, err);

    if (r == 0)
        r = sweep_root(t, WR_NAME_TRASH, err);
    if (r == 0)
        r = sweep_root(t, WR_NAME_SLOT, err);
    if (r == 0)
        r = sweep_asides(t, err);
    if (r == 0)
        r = sweep_leaving(t, err);
    if (r == 0)
        r = sweep_slots(t, err);
    /* A slot or a trash may be a step still, on the medium: its writer may have
     * died between rename and sync. */
    if (r == 0)
        r = wr_tier_empty_trash(t, /* always= */ true, swept, err);
    return r;
}

/* An error of looking is no sign that a step is gone. */
static bool is_gone(struct wr_tier *t, uint64_t step)
{
    char path[WR_TIER_PATH];
    struct wr_stat is;

    wr_name_step(step, path);
    return wr_tier_stat(t, path, &is, NULL) == WEIR_ENOENT;
}

/* Files that were to replace another one, marks of steps that are gone, and the
 * mark of benchmarks, which put it back; synced, as a step of the same number may
 * be saved later. */
static int sweep_own(struct wr_tier *t, uint64_t *swept, weir_err *err)
{
    struct wr_tier_entries in = {0};
    uint64_t step, before = *swept;
    int r;

    r = wr_tier_entries_read(t, WR_NAME_OWN, &in, err);
    for (size_t i = 0; i < in.count && r == 0; i++) {
        enum wr_name is = wr_name_in_own(in.all[i].name, &step);
        bool mark = is == WR_NAME_PIN || is == WR_NAME_VERIFIED ||
                    is == WR_NAME_DAMAGED;

        if (in.all[i].kind != WR_KIND_FILE || is == WR_NAME_FOREIGN ||
            is == WR_NAME_GENERATION || (mark && !is_gone(t, step)))
            continue;
        r = wr_tier_remove_in(t, WR_NAME_OWN, in.all[i].name, err);
        *swept += r == 0;
    }
    if (r == 0 && *swept > before)
        r = wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
    wr_tier_entries_done(&in);
    return r;
}

int wr_tier_sweep(struct wr_tier *t, uint64_t *swept, weir_err *err)
{
    int r = sweep_folders(t, swept, err);

    return r < 0 ? r : sweep_own(t, swept, err);
}
