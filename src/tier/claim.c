/* claim.c - one writer a tier: the lock, the epoch, the sweep.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The lock keeps two writers of one machine apart. The epoch is for locks that
 * were lost (a network file system) or taken over: whoever finds another one's
 * there publishes nothing any more. */
#include "tier/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

#define EPOCH_MAX_BYTES 256

/* --- the lock --- */

int wr_tier_make_own(struct wr_tier *t, weir_err *err)
{
    weir_err why;
    int r = wr_tier_change(t, WR_MKDIR, WR_NAME_OWN, NULL, &why);

    if (r < 0 && r != WEIR_EEXIST)
        return wr_fail_as(err, r, &why);
    /* Also when it was there: who made it may have died before. */
    return wr_tier_sync_root(t, err);
}

static int open_lock(struct wr_tier *t, struct wr_object **ret, weir_err *err)
{
    struct wr_store *st = t->store;
    weir_err why;
    int r;

    r = st->ops->object_open(st, WR_NAME_LOCK, WR_OPEN_WRITE, ret, &why);
    if (r == WEIR_ENOENT)
        r = st->ops->object_open(st, WR_NAME_LOCK, WR_OPEN_CREATE, ret, &why);
    if (r == WEIR_EEXIST) /* another process made it just now */
        r = st->ops->object_open(st, WR_NAME_LOCK, WR_OPEN_WRITE, ret, &why);
    return r < 0 ? wr_tier_told(t, WR_NAME_LOCK, &why, err) : 0;
}

static int lock_it(struct wr_object *o, weir_err *err)
{
    if (!o->ops->lock)
        return wr_fail(err, WEIR_ENOTSUP, "cannot be locked");
    return o->ops->lock(o, err);
}

void wr_tier_let_go(struct wr_tier *t)
{
    pthread_mutex_lock(&t->holding);
    if (t->lock)
        t->lock->ops->close(t->lock, /* sync= */ false, NULL);
    t->lock = NULL;
    t->locked = false;
    pthread_mutex_unlock(&t->holding);
}

static int take_lock(struct wr_tier *t, bool take_over, weir_err *err)
{
    weir_err why;
    int r;

    r = open_lock(t, &t->lock, err);
    if (r < 0)
        return r;
    r = lock_it(t->lock, &why);
    t->locked = r == 0;
    if (r == 0 || take_over)
        return 0;
    wr_tier_let_go(t);
    if (r == WEIR_EBUSY)
        return wr_fail(err, r, "'%s': another process writes there", t->shown);
    return wr_tier_told(t, WR_NAME_LOCK, &why, err);
}

bool wr_tier_is_claimed(struct wr_tier *t)
{
    struct wr_store *st = t->store;
    struct wr_object *o;
    int r;

    if (t->locked)
        return true;
    r = st->ops->object_open(st, WR_NAME_LOCK, WR_OPEN_READ, &o, NULL);
    if (r < 0)
        return r != WEIR_ENOENT;
    r = o->ops->locked ? o->ops->locked(o, NULL) : WEIR_ENOTSUP;
    o->ops->close(o, /* sync= */ false, NULL);
    return r < 0;
}

/* --- the epoch: "NUMBER WRITER\n" --- */

struct epoch {
    uint64_t number; /* 0: there is none */
    char writer[WR_MANIFEST_ID];
};

static bool parse_epoch(const char *text, struct epoch *ret)
{
    const char *s = text;

    if (!wr_take_digits(&s, NULL, &ret->number) ||
        ret->number >= INT64_MAX) /* one more must fit into a manifest */
        return false;
    ret->writer[0] = '\0';
    if (*s == ' ') {
        size_t len = strcspn(++s, "\n");

        if (len >= sizeof(ret->writer))
            return false;
        memcpy(ret->writer, s, len);
        ret->writer[len] = '\0';
        s += len;
    }
    return !*s || !strcmp(s, "\n");
}

static int read_epoch(struct wr_tier *t, struct epoch *ret, weir_err *err)
{
    char *text;
    size_t len;
    bool good;
    int r;

    r = wr_tier_slurp(t, WR_NAME_EPOCH, EPOCH_MAX_BYTES, &text, &len, err);
    if (r == WEIR_ENOENT) {
        *ret = (struct epoch){0};
        return 0;
    }
    if (r < 0)
        return r;
    good = strlen(text) == len && parse_epoch(text, ret);
    free(text);
    if (!good)
        return wr_fail(err, WEIR_EDAMAGED,
                       "'%s/%s': not a number (a take-over replaces it)",
                       t->shown, WR_NAME_EPOCH);
    return 0;
}

static int raise_epoch(struct wr_tier *t, bool take_over, weir_err *err)
{
    char text[EPOCH_MAX_BYTES];
    struct epoch e;
    int r;

    r = read_epoch(t, &e, err);
    if (r == WEIR_EDAMAGED && take_over)
        e.number = r = 0; /* the id fences others off, too */
    if (r < 0)
        return r;
    t->epoch = e.number + 1;
    wr_manifest_new_id(t->writer);
    snprintf(text, sizeof(text), "%" PRIu64 " %s\n", t->epoch, t->writer);
    return wr_tier_replace(t, WR_NAME_EPOCH, text, err);
}

int wr_tier_check_claim(struct wr_tier *t, weir_err *err)
{
    struct epoch e;
    int r;

    r = read_epoch(t, &e, err);
    if (r < 0)
        return r;
    if (e.number == 0) /* nobody took over who left none */
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': '%s' is gone: was the folder removed while it "
                       "was in use? Open the store anew",
                       t->shown, WR_NAME_EPOCH);
    if (e.number != t->epoch || strcmp(e.writer, t->writer) != 0)
        return wr_fail(err, WEIR_EFENCED,
                       "'%s': another writer took over (epoch %" PRIu64
                       ", this one's is %" PRIu64 ")",
                       t->shown, e.number, t->epoch);
    pthread_mutex_lock(&t->holding);
    if (t->lock && !t->locked)
        t->locked = lock_it(t->lock, NULL) == 0;
    pthread_mutex_unlock(&t->holding);
    return 0;
}

int wr_tier_blame(struct wr_tier *t, int r, weir_err *err)
{
    weir_err why;
    int cause;

    if (r >= 0 || r == WEIR_EFENCED || !t->epoch)
        return r;
    cause = wr_tier_check_claim(t, &why);
    if (cause != WEIR_EFENCED && cause != WEIR_ENOENT)
        return r;
    return wr_fail_as(err, cause, &why);
}

/* --- what interrupted writers left --- */

/* Unfinished steps get out of their writer's reach first: one that is alive and
 * was taken over must not publish a folder that is half removed. */
static int sweep_unfinished(struct wr_tier *t, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char trash[WR_TIER_PATH];
    int r = wr_tier_folders(t, WR_NAME_TMP, &in, err);

    for (size_t i = 0; i < in.count && r == 0; i++)
        r = wr_tier_to_trash(t, in.all[i].name, trash, err);
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

static int sweep_folders(struct wr_tier *t, uint64_t *swept, weir_err *err)
{
    int r = sweep_unfinished(t, err);

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

/* Files that were to replace another one, and marks of steps that are gone;
 * synced, as a step of the same number may be saved later. */
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

/* What interrupted writers left may be what fills the medium, so that not even
 * the epoch fits any more. Sweeping before it is raised is safe: folders are
 * renamed first. */
static int raise_or_make_room(struct wr_tier *t, bool take_over,
                              uint64_t *swept, weir_err *err)
{
    int r = raise_epoch(t, take_over, err);

    if (r != WEIR_ENOSPC)
        return r;
    r = sweep_folders(t, swept, err);
    if (r == 0)
        r = wr_tier_spare(t, /* drop= */ true, NULL, err);
    return r < 0 ? r : raise_epoch(t, take_over, err);
}

int wr_tier_claim(struct wr_tier *t, bool take_over, uint64_t *ret_swept,
                  weir_err *err)
{
    uint64_t swept = 0;
    int r;

    assert(!t->lock);
    r = wr_tier_make_own(t, err);
    if (r == 0)
        r = take_lock(t, take_over, err);
    if (r == 0)
        r = raise_or_make_room(t, take_over, &swept, err);
    if (r == 0)
        r = sweep_folders(t, &swept, err);
    if (r == 0)
        r = sweep_own(t, &swept, err);
    if (r < 0)
        wr_tier_let_go(t);
    else if (ret_swept)
        *ret_swept = swept;
    return r;
}
