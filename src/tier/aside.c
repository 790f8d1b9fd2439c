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
    a->bytes = wr_manifest_bytes(&m);
    a->time_ns = m.time_ns;
    a->world = m.world;
    if (wr_tier_counts(t, &m)) {
        a->generation = m.generation;
        a->seq = m.seq;
    }
    wr_manifest_done(&m);
}

static int by_step(const void *x, const void *y)
{
    const struct wr_aside *a = x, *b = y;

    if (a->step != b->step)
        return a->step > b->step ? 1 : -1;
    if (a->generation != b->generation)
        return a->generation < b->generation ? 1 : -1;
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

int wr_aside_put(struct wr_tier *t, uint64_t step, const char *id,
                 weir_err *err)
{
    char from[WR_TIER_PATH], to[WR_TIER_PATH];

    wr_name_step(step, from);
    wr_name_stale(step, id, to);
    return wr_tier_change(t, WR_RENAME_NEW, from, to, err);
}

int wr_aside_take(struct wr_tier *t, const struct wr_aside *a, weir_err *err)
{
    char to[WR_TIER_PATH];
    int r;

    wr_name_step(a->step, to);
    r = wr_tier_change(t, WR_RENAME_NEW, a->dir, to, err);
    return r < 0 ? r : wr_tier_sync_root(t, err);
}

int wr_aside_return(struct wr_tier *t, const struct wr_aside *a, weir_err *err)
{
    char from[WR_TIER_PATH];
    int r;

    wr_name_step(a->step, from);
    r = wr_tier_change(t, WR_RENAME_NEW, from, a->dir, err);
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
