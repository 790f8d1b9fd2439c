/* remove.c - taking steps away: slots for the next saves, and removal.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A folder is never emptied under a name that means something: it is renamed
 * first, and that is synced (see private.h). */
#include "tier/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tier/step.h"

#define NAME_LONGEST 256

/* --- folders --- */

int wr_tier_remove_in(struct wr_tier *t, const char *dir, const char *leaf,
                      weir_err *err)
{
    char path[WR_TIER_PATH + NAME_LONGEST];
    weir_err why;
    int r, n;

    n = snprintf(path, sizeof(path), "%s/%s", dir, leaf);
    if (n < 0 || (size_t)n >= sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "'%s/%s': a name is too long",
                       t->shown, dir);
    r = wr_tier_remove(t, path, &why);
    if (r == WEIR_EEXIST)
        return wr_fail(err, r,
                       "'%s/%s': a folder that weir did not make; not removed",
                       t->shown, path);
    return wr_tier_unless_gone(r, &why, err);
}

int wr_tier_to_trash(struct wr_tier *t, const char *name,
                     char ret_trash[WR_TIER_PATH], weir_err *err)
{
    char work[WR_TIER_PATH];
    weir_err why;
    int r = wr_tier_find_work(t, work, err);

    if (r < 0)
        return r;
    wr_name_trash(work, ret_trash);
    r = wr_tier_change(t, WR_RENAME, name, ret_trash, &why);
    return wr_tier_unless_gone(r, &why, err);
}

int wr_tier_remove_folder(struct wr_tier *t, const char *name, weir_err *err)
{
    struct wr_tier_entries in = {0};
    weir_err why;
    int r;

    r = wr_tier_entries_read(t, name, &in, &why);
    for (size_t i = 0; i < in.count; i++) {
        int q = wr_tier_remove_in(t, name, in.all[i].name, r ? NULL : &why);

        r = r < 0 ? r : q;
    }
    wr_tier_entries_done(&in);
    if (r == 0)
        r = wr_tier_remove(t, name, &why);
    r = wr_tier_unless_gone(r, &why, err);
    if (r < 0)
        t->untidy = true;
    return r;
}

/* What was renamed to `path` stays there: the folder that it is in lasts, also
 * where that is another writer's, and the root. A writer that was taken over
 * from meanwhile has none: what was in it was moved, and that was synced. */
static int sync_move(struct wr_tier *t, const char *path, weir_err *err)
{
    const char *leaf = strrchr(path, '/');
    char dir[WR_TIER_PATH];
    weir_err why;
    int r = 0;

    if (leaf && !wr_tier_is_writer(t)) {
        snprintf(dir, sizeof(dir), "%.*s", (int)(leaf - path), path);
        r = wr_tier_change(t, WR_SYNC_DIR, dir, NULL, &why);
        r = wr_tier_unless_gone(r, &why, err);
    }
    return r < 0 ? r : wr_tier_sync_root(t, err);
}

int wr_tier_empty_trash(struct wr_tier *t, bool always, uint64_t *swept,
                        weir_err *err)
{
    struct wr_tier_entries in = {0};
    char work[WR_TIER_PATH], path[WR_TIER_PATH];
    int r = wr_tier_find_work(t, work, err);

    if (r == 0 && work[0])
        r = wr_tier_work_folders(t, work, WR_NAME_TRASH, &in, err);
    /* After the look: who drains may take steps away at the same time. */
    if (r == 0 && (always || in.count)) {
        wr_name_join(work, "", path);
        r = sync_move(t, path, err);
    }
    for (size_t i = 0; i < in.count && r == 0; i++) {
        wr_name_join(work, in.all[i].name, path);
        *swept += wr_tier_remove_folder(t, path, NULL) == 0;
    }
    wr_tier_entries_done(&in);
    return r;
}

/* --- slots --- */

/* Bytes of the files in a folder; one that is gone has none. */
static int folder_bytes(struct wr_tier *t, const char *name,
                        uint64_t *ret_bytes, weir_err *err)
{
    struct wr_tier_entries in = {0};
    uint64_t bytes = 0;
    weir_err why;
    int r = wr_tier_entries_read(t, name, &in, &why);

    for (size_t i = 0; i < in.count; i++)
        bytes += in.all[i].size;
    wr_tier_entries_done(&in);
    r = wr_tier_unless_gone(r, &why, err);
    if (r == 0)
        *ret_bytes = bytes;
    return r;
}

static int larger_first(const void *a, const void *b)
{
    const struct wr_slot *x = a, *y = b;

    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

int wr_tier_slots(struct wr_tier *t, struct wr_slot **ret, size_t *ret_count,
                  weir_err *err)
{
    struct wr_tier_entries in = {0};
    struct wr_slot *slots = NULL;
    char work[WR_TIER_PATH];
    int r = wr_tier_find_work(t, work, err);

    if (r == 0 && work[0])
        r = wr_tier_work_folders(t, work, WR_NAME_SLOT, &in, err);
    if (r == 0 && !(slots = calloc(in.count + 1, sizeof(*slots))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < in.count && r == 0; i++) {
        wr_name_join(work, in.all[i].name, slots[i].name);
        r = folder_bytes(t, slots[i].name, &slots[i].bytes, err);
    }
    if (r == 0) {
        qsort(slots, in.count, sizeof(*slots), larger_first);
        *ret = slots;
        *ret_count = in.count;
        slots = NULL;
    }
    free(slots);
    wr_tier_entries_done(&in);
    return r;
}

int wr_tier_drop_slots(struct wr_tier *t, const struct wr_slot *slots,
                       size_t from, size_t count, weir_err *err)
{
    char(*trash)[WR_TIER_PATH];
    int r = 0;

    if (from >= count)
        return 0;
    trash = calloc(count - from, sizeof(*trash));
    if (!trash)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = from; i < count && r == 0; i++)
        r = wr_tier_to_trash(t, slots[i].name, trash[i - from], err);
    if (r == 0)
        r = sync_move(t, trash[0], err);
    for (size_t i = 0; i < count - from && r == 0; i++)
        wr_tier_remove_folder(t, trash[i], NULL);
    free(trash);
    return r;
}

static uint64_t bytes_of(const struct wr_slot *slots, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += slots[i].bytes;
    return bytes;
}

int wr_tier_spare(struct wr_tier *t, bool drop, uint64_t *ret_bytes,
                  weir_err *err)
{
    struct wr_slot *slots;
    size_t count;
    int r = wr_tier_slots(t, &slots, &count, err);

    if (r < 0)
        return r;
    if (drop)
        r = wr_tier_drop_slots(t, slots, 0, count, err);
    if (r == 0 && ret_bytes)
        *ret_bytes = bytes_of(slots, count);
    free(slots);
    return r;
}

/* --- steps --- */

/* Removes the marks of a step that is not there any more, durably: a step of
 * the same number may be saved later. */
static int drop_marks(struct wr_tier *t, uint64_t step, weir_err *err)
{
    int r = 0;

    for (int kind = 0; kind < WR_MARKS && r == 0; kind++)
        r = wr_tier_drop_mark(t, (enum wr_mark)kind, step, err);
    return r;
}

/* Where a step goes: a slot when there are few, else the trash. */
static int choose_end(struct wr_tier *t, bool recycled,
                      struct wr_displaced *ret, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char work[WR_TIER_PATH];
    int r = wr_tier_find_work(t, work, err);

    if (r == 0 && work[0] && recycled)
        r = wr_tier_work_folders(t, work, WR_NAME_SLOT, &in, err);
    ret->recycled = recycled && work[0] && in.count < t->slots;
    wr_tier_entries_done(&in);
    if (ret->recycled)
        wr_name_slot(work, ret->name);
    else
        wr_name_trash(work, ret->name);
    return r;
}

/* A step could not be renamed away because a folder is not there. */
static int why_gone(struct wr_tier *t, uint64_t step, const weir_err *why,
                    weir_err *err)
{
    int r = wr_tier_check_claim(t, err);

    if (r == WEIR_EFENCED)
        return r;
    if (!wr_tier_has(t, step))
        return 0; /* another may be faster */
    if (!t->beside[0])
        return wr_fail_as(err, WEIR_ENOENT, why);
    return wr_fail(err, WEIR_ECHANGED,
                   "'%s': another writer took over, and may have saved step "
                   "%" PRIu64 " anew",
                   t->shown, step);
}

int wr_tier_displace(struct wr_tier *t, uint64_t step, bool recycled,
                     struct wr_displaced *ret, weir_err *err)
{
    struct wr_displaced to;
    char from[WR_TIER_PATH];
    struct wr_stat is;
    weir_err why;
    int r;

    *ret = (struct wr_displaced){0};
    wr_name_step(step, from);
    r = wr_tier_stat(t, from, &is, &why);
    if (r < 0)
        return wr_tier_unless_gone(r, &why, err);
    if (is.kind != WR_KIND_DIR)
        return 0; /* not a step, and not weir's */
    r = choose_end(t, recycled, &to, &why);
    if (r == 0)
        r = wr_tier_change(t, WR_RENAME, from, to.name, &why);
    if (r == WEIR_ENOENT)
        return why_gone(t, step, &why, err);
    if (r < 0) { /* it may have been done all the same */
        (void)wr_tier_change(t, WR_RENAME_NEW, to.name, from, NULL);
        return wr_fail_as(err, r, &why);
    }
    *ret = to;
    return 0;
}

void wr_tier_set_down(struct wr_tier *t, const char *dir,
                      struct wr_displaced *ret)
{
    struct wr_displaced to = {0};

    if (choose_end(t, /* recycled= */ true, &to, NULL) == 0 &&
        wr_tier_change(t, WR_RENAME, dir, to.name, NULL) == 0)
        *ret = to;
}

/* What was renamed away is gone for good. */
static int finish_taking(struct wr_tier *t, uint64_t step,
                         const struct wr_displaced *old, weir_err *err)
{
    int r = sync_move(t, old->name, err);

    if (r == 0)
        r = drop_marks(t, step, err);
    if (r == 0 && !old->recycled)
        wr_tier_remove_folder(t, old->name, NULL);
    return wr_tier_blame(t, r, err);
}

static int take_away(struct wr_tier *t, uint64_t step, bool recycled,
                     weir_err *err)
{
    struct wr_displaced old;
    int r = wr_tier_displace(t, step, recycled, &old, err);

    return r < 0 || !old.name[0] ? r : finish_taking(t, step, &old, err);
}

int wr_tier_retire(struct wr_tier *t, uint64_t step, weir_err *err)
{
    return take_away(t, step, /* recycled= */ true, err);
}

int wr_tier_discard(struct wr_tier *t, uint64_t step, weir_err *err)
{
    return take_away(t, step, /* recycled= */ false, err);
}

/* --- steps that may be saved anew meanwhile --- */

/* Whether a folder holds a whole step that may not go. */
static int check_stays(struct wr_tier *t, const char *dir,
                       const struct wr_leaving *l, bool *ret, weir_err *err)
{
    struct wr_manifest m;
    weir_err why;
    int r = wr_tier_manifest_in(t, dir, l->step, &m, &why);
    bool read = r == 0;

    *ret = false;
    for (uint32_t i = 0; r == 0 && i < m.world; i++)
        r = wr_tier_check_shard(t, dir, &m.shards[i], &why);
    if (r == 0)
        *ret = !l->may_go(l->arg, &m);
    if (read)
        wr_manifest_done(&m);
    return wr_step_is_unread(r) ? wr_fail_as(err, r, &why) : 0;
}

/* It is a step again; where that fails the next claim does it. */
static void put_back(struct wr_tier *t, const char *dir, const char *step)
{
    if (wr_tier_change(t, WR_RENAME_NEW, dir, step, NULL) == 0)
        (void)sync_move(t, dir, NULL);
}

/* Out of `way`, where it still could come back. */
static int take_from(struct wr_tier *t, uint64_t step, const char *way,
                     weir_err *err)
{
    struct wr_displaced old = {0};
    weir_err why;
    int r = choose_end(t, /* recycled= */ true, &old, &why);

    if (r == 0)
        r = wr_tier_change(t, WR_RENAME, way, old.name, &why);
    if (r == WEIR_ENOENT)
        return why_gone(t, step, &why, err);
    return r < 0 ? wr_fail_as(err, r, &why) : finish_taking(t, step, &old, err);
}

int wr_tier_retire_if(struct wr_tier *t, const struct wr_leaving *l,
                      weir_err *err)
{
    char work[WR_TIER_PATH], from[WR_TIER_PATH], way[WR_TIER_PATH];
    bool stays = false;
    weir_err why;
    int r;

    wr_name_step(l->step, from);
    if (!wr_tier_has(t, l->step))
        return 0;
    r = wr_tier_find_work(t, work, err);
    if (r == 0)
        r = check_stays(t, from, l, &stays, err);
    if (r == 0 && !stays) {
        wr_name_leaving(work, l->step, way);
        r = wr_tier_change(t, WR_RENAME, from, way, &why);
        if (r == WEIR_ENOENT)
            return why_gone(t, l->step, &why, err);
        wr_fail_as(err, r, &why);
        /* It may have been saved anew right before that. */
        if (r == 0)
            r = check_stays(t, way, l, &stays, err);
        if (r < 0 || stays)
            put_back(t, way, from);
    }
    if (r == 0 && stays)
        return wr_fail(err, WEIR_ECHANGED,
                       "'%s': step %" PRIu64 " was saved anew meanwhile",
                       t->shown, l->step);
    return r < 0 ? r : take_from(t, l->step, way, err);
}
