/* mark.c - marks of steps: small files beside them, as steps never change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/private.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* "ID REASON": an id, and a reason that a message can hold. */
#define DAMAGED_MAX 400

int wr_tier_mark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                 const char *text, weir_err *err)
{
    char path[WR_TIER_PATH];

    wr_name_mark(kind, step, path);
    return wr_tier_replace(t, path, text, err);
}

/* The mark is moved into a writer's folder first: whoever was taken over from
 * must not take away what others have set since. */
static int take_mark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                     const char *work, weir_err *err)
{
    char path[WR_TIER_PATH], draft[WR_TIER_PATH];
    weir_err why;
    int r;

    wr_name_mark(kind, step, path);
    if (work[0]) {
        wr_name_draft(work, draft);
        r = wr_tier_change(t, WR_RENAME, path, draft, &why);
        if (r == 0)
            wr_tier_remove(t, draft, NULL); /* or the next claim does it */
    } else {
        r = wr_tier_change(t, WR_REMOVE, path, NULL, &why);
    }
    if (r < 0)
        return wr_tier_unless_gone(r, &why, err);
    return wr_tier_change(t, WR_SYNC_DIR, WR_NAME_OWN, NULL, err);
}

int wr_tier_unmark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                   weir_err *err)
{
    return take_mark(t, kind, step, t->work, err);
}

int wr_tier_drop_mark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                      weir_err *err)
{
    char work[WR_TIER_PATH];
    int r = wr_tier_find_work(t, work, err);

    return r < 0 ? r : take_mark(t, kind, step, work, err);
}

bool wr_tier_marked(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                    char *ret, size_t cap)
{
    char path[WR_TIER_PATH];
    struct wr_object *o;
    int64_t n = 0;
    int r;

    wr_name_mark(kind, step, path);
    r = t->store->ops->object_open(t->store, path, WR_OPEN_READ, &o, NULL);
    if (r < 0) /* when in doubt a step stays */
        return kind == WR_MARK_PIN && r != WEIR_ENOENT;
    if (ret && cap) {
        n = o->ops->read(o, ret, cap - 1, 0, NULL);
        ret[n > 0 ? n : 0] = '\0';
    }
    o->ops->close(o, /* sync= */ false, NULL);
    return n >= 0 || kind == WR_MARK_PIN;
}

bool wr_tier_is_verified(struct wr_tier *t, const struct wr_manifest *m)
{
    char id[WR_MANIFEST_ID + 1]; /* one more, to notice a longer text */

    return wr_tier_marked(t, WR_MARK_VERIFIED, m->step, id, sizeof(id)) &&
           !strcmp(id, m->id);
}

int wr_tier_mark_damaged(struct wr_tier *t, uint64_t step, const char *id,
                         const char *why, weir_err *err)
{
    char text[DAMAGED_MAX];

    snprintf(text, sizeof(text), "%s %s", id, why);
    return wr_tier_mark(t, WR_MARK_DAMAGED, step, text, err);
}

bool wr_tier_is_damaged(struct wr_tier *t, const struct wr_manifest *m,
                        weir_err *ret)
{
    char text[DAMAGED_MAX + 1], why[DAMAGED_MAX];
    size_t len = strlen(m->id);

    if (!wr_tier_marked(t, WR_MARK_DAMAGED, m->step, text, sizeof(text)) ||
        strncmp(text, m->id, len) != 0 || text[len] != ' ')
        return false;
    wr_text_show(text + len + 1, /* controls= */ true, why, sizeof(why));
    wr_fail(ret, WEIR_EDAMAGED, "%s", why);
    return true;
}
