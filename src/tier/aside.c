/* aside.c - copies of a fast tier that were set aside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/aside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tier/private.h"

static void look_into(struct wr_tier *t, struct wr_aside *a)
{
    struct wr_manifest m;

    if (wr_tier_manifest_in(t, a->dir, a->step, &m, NULL) < 0)
        return;
    wr_gist_of(&m, &a->gist);
    wr_manifest_done(&m);
}

static int by_step(const void *x, const void *y)
{
    const struct wr_aside *a = x, *b = y;

    if (a->step != b->step)
        return a->step > b->step ? 1 : -1;
    if (a->gist.turn.generation != b->gist.turn.generation)
        return a->gist.turn.generation < b->gist.turn.generation ? 1 : -1;
    return strcmp(a->dir, b->dir);
}

int wr_aside_list(struct wr_tier *t, struct wr_aside **ret, size_t *ret_count,
                  weir_err *err)
{
    struct wr_tier_entries in = {0};
    struct wr_aside *all = NULL;
    int r = wr_tier_folders(t, WR_NAME_STALE, &in, err);

    *ret_count = 0;
    *ret = NULL;
    if (r == 0 && !(all = calloc(in.count + 1, sizeof(*all))))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < in.count && r == 0; i++) {
        all[i].step = in.all[i].step;
        snprintf(all[i].dir, sizeof(all[i].dir), "%s", in.all[i].name);
        look_into(t, &all[i]);
    }
    if (r == 0) {
        qsort(all, in.count, sizeof(*all), by_step);
        *ret = all;
        *ret_count = in.count;
    }
    wr_tier_entries_done(&in);
    return r;
}

/* By way of the writer's folder: one that was taken over from sets nothing
 * aside. The name is new, whatever was set aside before. */
int wr_aside_put(struct wr_tier *t, uint64_t step, weir_err *err)
{
    char from[WR_TIER_PATH], way[WR_TIER_PATH], to[WR_TIER_PATH];
    char id[WR_MANIFEST_ID];
    int r;

    wr_manifest_new_id(id);
    wr_name_step(step, from);
    wr_name_aside(t->work, step, way);
    wr_name_stale(step, id, to);
    r = wr_tier_change(t, WR_RENAME_NEW, from, way, err);
    if (r == 0)
        r = wr_tier_change(t, WR_RENAME_NEW, way, to, err);
    return wr_tier_blame(t, r, err);
}

int wr_aside_take(struct wr_tier *t, const struct wr_aside *a, weir_err *err)
{
    char way[WR_TIER_PATH], to[WR_TIER_PATH];
    int r;

    wr_name_aside(t->work, a->step, way);
    wr_name_step(a->step, to);
    r = wr_tier_change(t, WR_RENAME_NEW, a->dir, way, err);
    if (r == 0) {
        r = wr_tier_change(t, WR_RENAME_NEW, way, to, err);
        if (r < 0) /* or the next claim does it */
            wr_tier_change(t, WR_RENAME_NEW, way, a->dir, NULL);
    }
    return r < 0 ? wr_tier_blame(t, r, err) : wr_tier_sync_root(t, err);
}

int wr_aside_return(struct wr_tier *t, const struct wr_aside *a, weir_err *err)
{
    int r = wr_aside_put(t, a->step, err);

    return r < 0 ? r : wr_tier_sync_root(t, err);
}

int wr_aside_drop(struct wr_tier *t, const struct wr_aside *a, weir_err *err)
{
    char trash[WR_TIER_PATH];
    int r = wr_tier_to_trash(t, a->dir, trash, err);

    if (r == 0)
        r = wr_tier_sync_root(t, err);
    if (r == 0)
        wr_tier_remove_folder(t, trash, NULL); /* or the next save does it */
    return r;
}
