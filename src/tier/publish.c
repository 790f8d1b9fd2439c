/* publish.c - a new step: its folder, and the rename that makes it one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here may change its order: see docs/formats/checkpoint.md. */
#include "tier/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

/* For the manifest, folders, and what the file system needs itself. */
#define RESERVE ((uint64_t)1 << 20)

/* --- beginning --- */

static int check_absent(struct wr_tier *t, uint64_t step, weir_err *err)
{
    char path[WR_TIER_PATH];
    struct wr_stat is;
    weir_err why;
    int r;

    wr_name_step(step, path);
    r = wr_tier_stat(t, path, &is, &why);
    if (r == 0)
        return wr_fail(err, WEIR_EEXIST, "'%s/%s': is there already", t->shown,
                       path);
    return wr_tier_unless_gone(r, &why, err);
}

/* *ret is UINT64_MAX where the storage does not know it. */
static int free_bytes(struct wr_tier *t, uint64_t *ret, weir_err *err)
{
    struct wr_store *st = t->store;
    weir_err why;
    int r;

    *ret = UINT64_MAX;
    if (!st->ops->space)
        return 0;
    r = st->ops->space(st, ret, &why);
    if (r < 0 && r != WEIR_ENOTSUP)
        return wr_tier_told(t, "", &why, err);
    return 0;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Room for `bytes`, when slots[0] is overwritten: the other slots go only if
 * that is needed, and enough. */
static int make_room(struct wr_tier *t, uint64_t bytes,
                     const struct wr_slot *slots, size_t count, weir_err *err)
{
    uint64_t need = add(bytes, RESERVE), unused, all, freed = 0;
    char want[32], have[32];
    int r;

    for (bool swept = false;; swept = true) {
        r = free_bytes(t, &unused, err);
        if (r < 0)
            return r;
        all = add(unused, count ? slots[0].bytes : 0);
        if (need <= all)
            return 0;
        if (swept)
            break;
        /* What could not be removed when its time came may go by now. */
        r = wr_tier_empty_trash(t, /* always= */ false, &freed, err);
        if (r < 0)
            return r;
        if (!freed)
            break;
    }
    for (size_t i = 1; i < count; i++)
        all = add(all, slots[i].bytes);
    if (need <= all)
        return wr_tier_drop_slots(t, slots, 1, count, err);
    return wr_fail(err, WEIR_ENOSPC,
                   "'%s': no room for a step: %s needed, %s free", t->shown,
                   wr_format_bytes(want, sizeof(want), (double)need),
                   wr_format_bytes(have, sizeof(have), (double)all));
}

/* Renames the first slot that is still there. Returns 1, or 0 when there is
 * none. */
static int take_slot(struct wr_tier *t, const struct wr_slot *slots,
                     size_t count, const char *to, weir_err *err)
{
    weir_err why;
    int r;

    for (size_t i = 0; i < count; i++) {
        r = wr_tier_change(t, WR_RENAME, slots[i].name, to, &why);
        if (r == 0)
            return 1;
        r = wr_tier_unless_gone(r, &why, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A slot that was taken, untouched, is one again: where saves fail again and
 * again they must not fill the medium. */
static void give_back(struct wr_tier *t, const struct wr_pending *p)
{
    char slot[WR_TIER_PATH];

    wr_name_slot(t->work, slot);
    wr_tier_change(t, WR_RENAME, p->dir, slot, NULL);
}

/* Leaves nothing but files that are overwritten. */
static int clear_slot(struct wr_tier *t, const struct wr_pending *p)
{
    struct wr_tier_entries in = {0};
    uint32_t rank;
    int r;

    r = wr_tier_entries_read(t, p->dir, &in, NULL);
    for (size_t i = 0; i < in.count && r == 0; i++)
        if (in.all[i].kind != WR_KIND_FILE ||
            !wr_name_is_shard(in.all[i].name, &rank))
            r = wr_tier_remove_in(t, p->dir, in.all[i].name, NULL);
    wr_tier_entries_done(&in);
    return r;
}

static int make_folder(struct wr_tier *t, const struct wr_pending *p,
                       const struct wr_slot *slots, size_t count, weir_err *err)
{
    int taken = take_slot(t, slots, count, p->dir, err);
    /* Whoever made it a slot may not have synced that yet: on the medium it
     * could still be a step. */
    int r = taken > 0 ? wr_tier_sync_root(t, err) : taken;

    if (r < 0) {
        give_back(t, p);
        return r;
    }
    if (taken > 0 && clear_slot(t, p) == 0)
        return 0;
    if (taken > 0) /* something in it is not weir's, or in use */
        wr_tier_abandon(t, p);
    return wr_tier_change(t, WR_MKDIR, p->dir, NULL, err);
}

int wr_tier_begin_beside(struct wr_tier *t, uint64_t step, uint64_t bytes,
                         struct wr_pending *ret, weir_err *err)
{
    struct wr_pending p = {.step = step};
    struct wr_slot *slots;
    uint64_t swept = 0;
    size_t count;
    int r;

    if (step >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_EINVAL, "step %" PRIu64 ": too large", step);
    if (atomic_exchange(&t->untidy, false))
        wr_tier_empty_trash(t, /* always= */ false, &swept, NULL);
    r = wr_tier_slots(t, &slots, &count, err);
    if (r < 0)
        return wr_tier_blame(t, r, err);
    wr_name_tmp(t->work, step, p.dir);
    r = make_room(t, bytes, slots, count, err);
    if (r == 0)
        r = make_folder(t, &p, slots, count, err);
    free(slots);
    if (r == 0)
        *ret = p;
    return wr_tier_blame(t, r, err);
}

int wr_tier_begin(struct wr_tier *t, uint64_t step, uint64_t bytes,
                  struct wr_pending *ret, weir_err *err)
{
    int r = check_absent(t, step, err);

    return r < 0 ? r : wr_tier_begin_beside(t, step, bytes, ret, err);
}

void wr_pending_shard_path(const struct wr_pending *p, uint32_t rank,
                           char ret[WR_TIER_PATH])
{
    char name[WR_SHARD_NAME];

    wr_shard_name(rank, name);
    wr_name_join(p->dir, name, ret);
}

int wr_tier_sync_pending(struct wr_tier *t, const struct wr_pending *p,
                         weir_err *err)
{
    return wr_tier_change(t, WR_SYNC_DIR, p->dir, NULL, err);
}

void wr_tier_trim(struct wr_tier *t, const struct wr_pending *p, uint32_t world)
{
    struct wr_tier_entries in = {0};
    uint32_t rank;

    wr_tier_entries_read(t, p->dir, &in, NULL);
    for (size_t i = 0; i < in.count; i++)
        if (!wr_name_is_shard(in.all[i].name, &rank) || rank >= world)
            wr_tier_remove_in(t, p->dir, in.all[i].name, NULL);
    wr_tier_entries_done(&in);
}

/* --- publishing --- */

static int put_manifest(struct wr_tier *t, const struct wr_pending *p,
                        const struct wr_manifest *m, weir_err *err)
{
    char path[WR_TIER_PATH], *text;
    size_t len;
    int r;

    text = wr_manifest_as_read(m, &len);
    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_name_join(p->dir, WR_MANIFEST_NAME, path);
    if (len > WR_MANIFEST_MAX) /* nobody would read it again */
        r = wr_fail(err, WEIR_ELIMIT,
                    "'%s/%s': would have %zu bytes, at most %zu are allowed",
                    t->shown, path, len, WR_MANIFEST_MAX);
    else
        r = wr_tier_put(t, path, text, len, err);
    free(text);
    return r;
}

/* Makes all that is in the pending folder last, for good. */
static int complete(struct wr_tier *t, const struct wr_pending *p,
                    const struct wr_manifest *m, weir_err *err)
{
    int r = 0;

    wr_tier_trim(t, p, m->world);
    for (uint32_t i = 0; i < m->world && r == 0; i++)
        r = wr_tier_check_shard(t, p->dir, &m->shards[i], err);
    if (r == 0)
        r = put_manifest(t, p, m, err);
    if (r == 0)
        r = wr_tier_sync_pending(t, p, err);
    return r;
}

/* The step's own rename; `old` comes back when it fails, unless another process
 * has put a step there meanwhile. */
static int rename_in(struct wr_tier *t, const struct wr_pending *p,
                     const struct wr_displaced *old, weir_err *err)
{
    char to[WR_TIER_PATH];
    weir_err why;
    int r;

    wr_name_step(p->step, to);
    r = wr_tier_change(t, WR_RENAME_NEW, p->dir, to, &why);
    if (r < 0 && old->name[0])
        (void)wr_tier_change(t, WR_RENAME_NEW, old->name, to, NULL);
    if (r == WEIR_EEXIST)
        return wr_fail(err, r, "'%s/%s': is there already", t->shown, to);
    if (r == WEIR_ENOENT && wr_tier_check_claim(t, err) == WEIR_EFENCED)
        return WEIR_EFENCED; /* the new writer swept the folder away */
    return wr_fail_as(err, r, &why);
}

/* The old step and the new one change places at once, so that nobody finds
 * neither. Returns 1, or 0 when that cannot be done: two renames do it then, and
 * know what is wrong, if something is. */
static int swap_in(struct wr_tier *t, const struct wr_pending *p,
                   struct wr_displaced *old, weir_err *err)
{
    char to[WR_TIER_PATH];
    weir_err why;
    int r;

    wr_name_step(p->step, to);
    r = wr_tier_change(t, WR_SWAP, p->dir, to, &why);
    if (r == WEIR_ENOTSUP || r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    wr_tier_set_down(t, p->dir, old);
    return 1;
}

static int rename_pending(struct wr_tier *t, struct wr_pending *p,
                          struct wr_displaced *old, weir_err *err)
{
    int r = wr_tier_check_claim(t, err);

    if (r == 0 && p->replaces)
        r = swap_in(t, p, old, err);
    if (r == 0 && p->replaces)
        r = wr_tier_displace(t, p->step, /* recycled= */ true, old, err);
    if (r == 0)
        r = rename_in(t, p, old, err);
    p->placed = r >= 0;
    return WR_MIN(r, 0);
}

/* The rename was done, but not made to last. */
static int not_lasting(struct wr_tier *t, struct wr_pending *p, int r,
                       weir_err *err)
{
    p->unsure = t->unsynced = true;
    return wr_fail_prefix(err, r,
                          "step %" PRIu64 " is on the %s tier, but may not "
                          "survive a power cut ('weir ckpt ls' shows whether "
                          "it is there)",
                          p->step, t->label);
}

/* The rename failed with `r`, perhaps after it was done, as on a network file
 * system. */
static int not_renamed(struct wr_tier *t, struct wr_pending *p, const char *id,
                       int r, weir_err *err)
{
    struct wr_manifest now;
    bool same;
    int q = wr_tier_manifest(t, p->step, &now, NULL);

    if (q == 0) {
        same = !strcmp(now.id, id);
        wr_manifest_done(&now);
        return same ? not_lasting(t, p, r, err) : r;
    }
    if (q == WEIR_ENOENT || r == WEIR_EEXIST || r == WEIR_EFENCED)
        return r;
    p->unsure = t->unsynced = true;
    return wr_fail_prefix(err, r,
                          "step %" PRIu64 " may or may not be on the %s tier "
                          "('weir ckpt ls' shows it)",
                          p->step, t->label);
}

int wr_tier_publish(struct wr_tier *t, struct wr_pending *p,
                    const struct wr_manifest *m, weir_err *err)
{
    struct wr_displaced old = {0};
    int r;

    assert(m->step == p->step);
    r = wr_tier_blame(t, complete(t, p, m, err), err);
    if (r == 0) {
        r = rename_pending(t, p, &old, err);
        if (r < 0)
            r = not_renamed(t, p, m->id, r, err);
        else if ((r = wr_tier_sync_root(t, err)) < 0)
            r = not_lasting(t, p, wr_tier_blame(t, r, err), err);
    }
    /* What may be the old step is not emptied before a power cut cannot bring
     * its name back: the next claim does that. */
    if (r < 0 && !p->placed && !(p->replaces && p->unsure))
        wr_tier_abandon(t, p);
    else if (r == 0 && old.name[0] && !old.recycled)
        wr_tier_remove_folder(t, old.name, NULL); /* or the next claim does */
    return r;
}

int wr_tier_settle(struct wr_tier *t, weir_err *err)
{
    int r = atomic_exchange(&t->unsynced, false) ? wr_tier_sync_root(t, err)
                                                 : 0;

    if (r < 0)
        t->unsynced = true;
    return r;
}

void wr_tier_abandon(struct wr_tier *t, const struct wr_pending *p)
{
    char trash[WR_TIER_PATH];

    /* No sync between: since begin the medium knows it by no step's name, so it
     * may also be emptied where it is. A rename that failed may have been done. */
    if (wr_tier_to_trash(t, p->dir, trash, NULL) < 0)
        wr_tier_remove_folder(t, p->dir, NULL);
    wr_tier_remove_folder(t, trash, NULL);
}
