/* claim.c - one writer a tier: the lock and its folder.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The lock keeps two writers of one machine apart. One that took over while
 * another had it locks a file in its own folder: when the other one ends, the lock
 * is free and the tier is not. The folder is for locks that
 * were lost (a network file system) or taken over: a new writer makes its own,
 * `.writer-NUMBER/ID`, and dissolves those of lower numbers. What was in them is
 * moved into the new one, and the empty folder is removed. An old writer that
 * goes on, at whatever system call it was stopped, then has neither a source nor
 * a target for its renames, not even through a descriptor of the folder.
 *
 * A number is taken by mkdir, and whoever made a folder looks for a higher one
 * afterwards. Of two that claim at the same time the higher number finds the
 * lower folder, or the lower one finds the higher. */
#include "tier/private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"

#define EPOCH_MAX_BYTES 256
#define FOLDER_TRIES    20 /* while a writer makes its folder */
#define FOLDER_PAUSE_NS (20 * WR_NS_PER_MS)

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

static int open_lock(struct wr_tier *t, const char *path,
                     struct wr_object **ret, weir_err *err)
{
    struct wr_store *st = t->store;
    weir_err why;
    int r = st->ops->object_open(st, path, WR_OPEN_LOCK, ret, &why);

    return r < 0 ? wr_tier_told(t, path, &why, err) : 0;
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
    if (t->held)
        t->held->ops->close(t->held, /* sync= */ false, NULL);
    t->lock = t->held = NULL;
    t->locked = false;
    pthread_mutex_unlock(&t->holding);
}

/* As wr_tier_ask_claimed, of one lock. */
static int ask_locked(struct wr_tier *t, const char *path, weir_err *err)
{
    struct wr_store *st = t->store;
    struct wr_object *o;
    weir_err why;
    int r;

    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, &why);
    if (r == WEIR_ENOENT)
        return 0;
    if (r == WEIR_EACCES) /* another user's: who may only read cannot tell */
        return 1;
    if (r < 0)
        return wr_tier_told(t, path, &why, err);
    r = o->ops->locked ? o->ops->locked(o, &why) : WEIR_EBUSY;
    o->ops->close(o, /* sync= */ false, NULL);
    if (r == WEIR_EBUSY || r == WEIR_ENOTSUP)
        return 1;
    return r < 0 ? wr_tier_told(t, path, &why, err) : 0;
}

/* Whether a writer holds its folder. */
static int ask_held(struct wr_tier *t, weir_err *err)
{
    char work[WR_TIER_PATH], path[WR_TIER_PATH];
    int r = wr_tier_find_work(t, work, err);

    if (r < 0 || !work[0])
        return r;
    wr_name_join(work, WR_NAME_HELD, path);
    return ask_locked(t, path, err);
}

static int say_busy(struct wr_tier *t, weir_err *err)
{
    return wr_fail(err, WEIR_EBUSY, "'%s': another process writes there",
                   t->shown);
}

static int take_lock(struct wr_tier *t, bool take_over, weir_err *err)
{
    weir_err why;
    int r;

    r = open_lock(t, WR_NAME_LOCK, &t->lock, err);
    if (r < 0)
        return r;
    r = lock_it(t->lock, &why);
    t->locked = r == 0;
    if (take_over)
        return 0;
    if (r == 0)
        r = ask_held(t, err);
    else if (r != WEIR_EBUSY)
        r = wr_tier_told(t, WR_NAME_LOCK, &why, err);
    if (r == 0)
        return 0;
    wr_tier_let_go(t);
    return r > 0 || r == WEIR_EBUSY ? say_busy(t, err) : r;
}

/* A storage without locks does without. */
static void hold_folder(struct wr_tier *t)
{
    char path[WR_TIER_PATH];

    wr_name_join(t->work, WR_NAME_HELD, path);
    if (!t->locked && open_lock(t, path, &t->held, NULL) == 0)
        (void)lock_it(t->held, NULL);
}

int wr_tier_ask_claimed(struct wr_tier *t, weir_err *err)
{
    return t->locked ? 1 : ask_locked(t, WR_NAME_LOCK, err);
}

bool wr_tier_is_claimed(struct wr_tier *t)
{
    return wr_tier_ask_claimed(t, NULL) != 0;
}

/* --- the folder --- */

/* What the version before counted its writers in. What makes no sense there
 * does not matter: it is not used any more. */
static uint64_t old_epoch(struct wr_tier *t)
{
    const char *at;
    uint64_t number = 0;
    char *text;
    size_t len;

    if (wr_tier_slurp(t, WR_NAME_EPOCH, EPOCH_MAX_BYTES, &text, &len, NULL) < 0)
        return 0;
    at = text;
    if (!wr_take_digits(&at, NULL, &number) || number >= WEIR_STEP_MAX / 2)
        number = 0;
    free(text);
    return number;
}

/* The highest number of a writer's folder; 0: there is none. */
static int highest_writer(struct wr_tier *t, uint64_t *ret, weir_err *err)
{
    struct wr_tier_entries in = {0};
    int r = wr_tier_folders(t, WR_NAME_WRITER, &in, err);

    *ret = 0;
    for (size_t i = 0; i < in.count; i++)
        *ret = in.all[i].step > *ret ? in.all[i].step : *ret;
    wr_tier_entries_done(&in);
    return r;
}

int wr_tier_find_work(struct wr_tier *t, char ret[WR_TIER_PATH], weir_err *err)
{
    struct wr_tier_entries in = {0};
    char outer[WR_TIER_PATH];
    uint64_t number;
    weir_err why;
    int r;

    ret[0] = '\0';
    if (wr_tier_is_writer(t) || t->beside[0]) {
        memcpy(ret, wr_tier_is_writer(t) ? t->work : t->beside,
               sizeof(t->work));
        return 0;
    }
    r = highest_writer(t, &number, err);
    if (r < 0 || number == 0)
        return r;
    wr_name_writer(number, outer);
    r = wr_tier_entries_read(t, outer, &in, &why);
    for (size_t i = 0; i < in.count && !ret[0]; i++)
        if (in.all[i].kind == WR_KIND_DIR &&
            strlen(in.all[i].name) == WR_MANIFEST_ID - 1)
            wr_name_join(outer, in.all[i].name, ret);
    wr_tier_entries_done(&in);
    return wr_tier_unless_gone(r, &why, err);
}

static int say_lost(const struct wr_tier *t, weir_err *err)
{
    return wr_fail(err, WEIR_EFENCED,
                   "'%s': another writer took over while this one was opening "
                   "it",
                   t->shown);
}

/* The number that a new writer takes: it is chosen before the lock is taken, so
 * that who is stopped in between, while another takes over, finds it taken. */
static int choose_number(struct wr_tier *t, uint64_t *ret, weir_err *err)
{
    uint64_t number, old = old_epoch(t);
    int r = highest_writer(t, &number, err);

    if (r < 0)
        return r;
    *ret = (number > old ? number : old) + 1;
    if (*ret >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': the numbers of its writers are used up",
                       t->shown);
    return 0;
}

/* A new folder `.writer-NUMBER/ID`. */
static int make_folder(struct wr_tier *t, uint64_t number,
                       char ret[WR_TIER_PATH], weir_err *err)
{
    char outer[WR_TIER_PATH], work[WR_TIER_PATH];
    weir_err why;
    int r;

    wr_name_writer(number, outer);
    r = wr_tier_change(t, WR_MKDIR, outer, NULL, &why);
    if (r == WEIR_EEXIST)
        return say_lost(t, err);
    if (r < 0)
        return wr_fail_as(err, r, &why);
    wr_name_work(number, work);
    r = wr_tier_change(t, WR_MKDIR, work, NULL, &why);
    if (r == 0) /* what is moved into it must not get lost with its entry */
        r = wr_tier_change(t, WR_SYNC_DIR, outer, NULL, &why);
    if (r == WEIR_ENOENT) /* dissolved before it had anything in it */
        return say_lost(t, err);
    if (r < 0) {
        wr_tier_remove(t, work, NULL);
        wr_tier_remove(t, outer, NULL);
        return wr_fail_as(err, r, &why);
    }
    memcpy(ret, work, sizeof(work));
    return 0;
}

static int make_work(struct wr_tier *t, uint64_t number, weir_err *err)
{
    int r = make_folder(t, number, t->work, err);

    if (r == 0)
        t->epoch = number;
    return r;
}

/* --- beside another writer --- */

/* The folder that is there, or a new one. WEIR_EBUSY: a writer has taken a number
 * and has no folder yet. */
static int find_or_make(struct wr_tier *t, weir_err *err)
{
    uint64_t number;
    int r = wr_tier_find_work(t, t->beside, err);

    if (r < 0 || t->beside[0])
        return r;
    r = highest_writer(t, &number, err);
    if (r == 0 && number)
        return wr_fail(err, WEIR_EBUSY,
                       "'%s': a writer is opening it, or died while it did; no "
                       "step is taken away before the next one has opened it",
                       t->shown);
    if (r == 0)
        r = choose_number(t, &number, err);
    if (r == 0)
        r = make_folder(t, number, t->beside, err);
    return r == 0 ? wr_tier_sync_root(t, err) : r;
}

int wr_tier_stand_by(struct wr_tier *t, bool *ret_other, weir_err *err)
{
    struct wr_stat is;
    weir_err why;
    int r = WEIR_ENOENT;

    *ret_other = false;
    if (t->beside[0])
        r = wr_tier_stat(t, t->beside, &is, &why);
    if (r != WEIR_ENOENT)
        return wr_fail_as(err, r, &why);
    *ret_other = true;
    for (int i = 0; i < FOLDER_TRIES; i++) {
        t->beside[0] = '\0';
        r = find_or_make(t, err);
        if (r != WEIR_EBUSY && r != WEIR_EFENCED)
            break;
        wr_clock_sleep_until(wr_clock_ns() + FOLDER_PAUSE_NS);
    }
    return r;
}

static int say_fenced(struct wr_tier *t, uint64_t by, weir_err *err)
{
    return wr_fail(err, WEIR_EFENCED,
                   "'%s': another writer took over (epoch %" PRIu64
                   ", this one's is %" PRIu64 ")",
                   t->shown, by, t->epoch);
}

int wr_tier_check_claim(struct wr_tier *t, weir_err *err)
{
    struct wr_stat is;
    uint64_t highest;
    weir_err why;
    int r;

    if (!wr_tier_is_writer(t))
        return 0;
    r = wr_tier_stat(t, t->work, &is, &why);
    if (r < 0 && r != WEIR_ENOENT)
        return wr_fail_as(err, r, &why);
    if (r < 0) {
        r = highest_writer(t, &highest, err);
        if (r < 0 && r != WEIR_ENOENT)
            return r;
        if (r == 0 && highest >= t->epoch)
            return say_fenced(t, highest, err);
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': '%s' is gone: was the folder removed while it "
                       "was in use? Open the store anew",
                       t->shown, t->work);
    }
    pthread_mutex_lock(&t->holding);
    if (t->lock && !t->locked)
        t->locked = lock_it(t->lock, NULL) == 0;
    pthread_mutex_unlock(&t->holding);
    return 0;
}

int wr_tier_blame(struct wr_tier *t, int r, weir_err *err)
{
    uint64_t highest;
    weir_err why;
    int cause;

    if (r >= 0 || r == WEIR_EFENCED || !t->epoch)
        return r;
    cause = wr_tier_check_claim(t, &why);
    /* Who takes over first takes away what is in the folder, then the folder. */
    if (cause == 0 && r == WEIR_ENOENT &&
        highest_writer(t, &highest, NULL) == 0 && highest > t->epoch)
        cause = say_fenced(t, highest, &why);
    if (cause != WEIR_EFENCED && cause != WEIR_ENOENT)
        return r;
    return wr_fail_as(err, cause, &why);
}

/* Nobody of a lower number changes anything any more; when there is a higher
 * one, that is this writer. */
static int fence_others(struct wr_tier *t, weir_err *err)
{
    struct wr_tier_entries in = {0};
    char outer[WR_TIER_PATH];
    int r = wr_tier_folders(t, WR_NAME_WRITER, &in, err);

    for (size_t i = 0; i < in.count && r == 0; i++)
        if (in.all[i].step > t->epoch)
            r = say_lost(t, err);
    for (size_t i = 0; i < in.count && r == 0; i++) {
        if (in.all[i].step == t->epoch)
            continue;
        wr_name_writer(in.all[i].step, outer);
        r = wr_tier_dissolve(t, outer, err);
    }
    wr_tier_entries_done(&in);
    if (r == 0) /* a writer of the version before: it looks for its file */
        r = wr_tier_remove(t, WR_NAME_EPOCH, err);
    return r == 0 ? wr_tier_sync_root(t, err) : r;
}

/* What interrupted writers left may be what fills the medium, so that not even
 * a folder fits any more. Their spare files go then, as this tier's writer of
 * before would have removed them. */
static int make_or_free(struct wr_tier *t, uint64_t number, uint64_t *swept,
                        weir_err *err)
{
    char work[WR_TIER_PATH], trash[WR_TIER_PATH];
    int r = make_work(t, number, err);

    if (r != WEIR_ENOSPC)
        return r;
    r = wr_tier_find_work(t, work, err);
    if (r == 0 && work[0]) {
        struct wr_tier_entries in = {0};
        char path[WR_TIER_PATH];

        r = wr_tier_work_folders(t, work, WR_NAME_TMP, &in, err);
        for (size_t i = 0; i < in.count && r == 0; i++) {
            wr_name_join(work, in.all[i].name, path);
            r = wr_tier_to_trash(t, path, trash, err);
        }
        wr_tier_entries_done(&in);
    }
    if (r == 0)
        r = wr_tier_spare(t, /* drop= */ true, NULL, err);
    if (r == 0)
        r = wr_tier_empty_trash(t, /* always= */ true, swept, err);
    return r < 0 ? r : make_work(t, number, err);
}

/* It is not the writer, and leaves nothing. */
static void unclaim(struct wr_tier *t)
{
    char outer[WR_TIER_PATH], held[WR_TIER_PATH];

    if (t->epoch) {
        wr_name_writer(t->epoch, outer);
        wr_name_join(t->work, WR_NAME_HELD, held);
        wr_tier_remove(t, held, NULL);
        wr_tier_remove(t, t->work, NULL);
        wr_tier_remove(t, outer, NULL);
    }
    t->epoch = 0;
    t->work[0] = '\0';
    wr_tier_let_go(t);
}

int wr_tier_claim(struct wr_tier *t, bool take_over, uint64_t *ret_swept,
                  weir_err *err)
{
    uint64_t swept = 0, number = 0;
    int r;

    assert(!t->lock);
    r = wr_tier_make_own(t, err);
    if (r == 0)
        r = choose_number(t, &number, err);
    if (r == 0)
        r = take_lock(t, take_over, err);
    if (r == 0)
        r = make_or_free(t, number, &swept, err);
    if (r == 0) {
        hold_folder(t); /* before anybody is fenced: others come after this */
        r = fence_others(t, err);
    }
    if (r == 0)
        r = wr_tier_sweep(t, &swept, err);
    if (r < 0) {
        r = wr_tier_blame(t, r, err);
        unclaim(t);
    } else if (ret_swept) {
        *ret_swept = swept;
    }
    return r;
}
