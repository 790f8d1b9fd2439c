/* step.c - one step on its tiers: looked at, copied, read back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/step.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "safetensors/shard.h"
#include "tier/private.h"

/* --- marks of steps: small files beside them, as steps never change --- */

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

/* --- one step on its tiers: looked at, copied, read back --- */

#define SETTLED_NS (50 * WR_NS_PER_MS)

bool wr_step_is_damage(int code)
{
    return code == WEIR_EDAMAGED || code == WEIR_EFORMAT ||
           code == WEIR_ELIMIT || code == WEIR_ECHANGED;
}

bool wr_step_is_unread(int code)
{
    return code < 0 && !wr_step_is_damage(code) && code != WEIR_ENOENT &&
           code != WEIR_ECANCELED;
}

int wr_step_say_damaged(const struct wr_tier *t, uint64_t step, int r,
                        weir_err *err)
{
    wr_fail_prefix(err, r, "step %" PRIu64 " on the %s tier is damaged", step,
                   t->label);
    return r;
}

/* A manifest that was read: its marks may have changed since. */
static void copy_of(struct wr_tier *t, const struct wr_gist *g,
                    struct wr_copy *ret)
{
    struct wr_manifest m = {.step = g->turn.step};

    memcpy(m.id, g->id, sizeof(m.id));
    memset(ret, 0, sizeof(*ret));
    ret->gist = *g;
    ret->own = g->store[0] && !strcmp(g->store, t->store_id);
    ret->is = wr_tier_is_damaged(t, &m, &ret->why) ? WEIR_COPY_DAMAGED
              : wr_tier_is_verified(t, &m)         ? WEIR_COPY_VERIFIED
                                                   : WEIR_COPY_COMPLETE;
}

int wr_step_look(struct wr_tier *t, uint64_t step, struct wr_copy *ret,
                 weir_err *err)
{
    struct wr_manifest m;
    struct wr_gist g;
    weir_err why = {0};
    int r = wr_tier_manifest(t, step, &m, &why);

    if (r < 0 && r != WEIR_ENOENT && !wr_step_is_damage(r))
        return wr_fail_as(err, r, &why);
    memset(ret, 0, sizeof(*ret));
    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0) {
        ret->is = WEIR_COPY_DAMAGED;
        ret->why = why;
        return 0;
    }
    wr_gist_of(&m, &g);
    copy_of(t, &g, ret);
    wr_manifest_done(&m);
    return 0;
}

/* Another file in its place would have another time by now: times of files are
 * coarse. */
static bool is_settled(const struct wr_stat *is)
{
    return wr_clock_wall_ns() > is->mtime_ns + SETTLED_NS;
}

int wr_step_glance(struct wr_tier *t, uint64_t step, struct wr_copy *ret,
                   weir_err *err)
{
    char dir[WR_TIER_PATH], path[WR_TIER_PATH];
    struct wr_gist g;
    struct wr_stat before, after;
    bool there;
    int r;

    wr_name_step(step, dir);
    wr_name_join(dir, WR_MANIFEST_NAME, path);
    there = wr_tier_stat(t, path, &before, NULL) == 0 && before.ino &&
            is_settled(&before);
    if (there && wr_known_find(t->known, step, &before, &g)) {
        copy_of(t, &g, ret);
        return 0;
    }
    r = wr_step_look(t, step, ret, err);
    /* Only what was the same file before and after it was read. */
    if (r < 0 || !there || ret->is < WEIR_COPY_COMPLETE ||
        wr_tier_stat(t, path, &after, NULL) < 0 || after.ino != before.ino ||
        after.mtime_ns != before.mtime_ns)
        return r;
    wr_known_learn(t->known, &before, &ret->gist);
    return 0;
}

int wr_copy_compare(const struct wr_copy *a, const struct wr_copy *b)
{
    const struct wr_ordinal *x = &a->gist.turn, *y = &b->gist.turn;

    if (a->own != b->own)
        return a->own ? 1 : -1;
    if (strcmp(a->gist.store, b->gist.store) != 0)
        return 0;
    if (x->generation != y->generation)
        return x->generation > y->generation ? 1 : -1;
    if (x->nonce[0] && y->nonce[0] && strcmp(x->nonce, y->nonce) != 0)
        return 0; /* the number was handed out twice */
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* A copy cannot be read (`r`): because it is damaged, or because it was taken
 * away meanwhile, its files perhaps overwritten by a newer step? */
static int why_unread(struct wr_tier *t, const struct wr_manifest *m, int r,
                      weir_err *err)
{
    struct wr_manifest now;
    weir_err why;
    int again;

    if (r != WEIR_ENOENT && !wr_step_is_damage(r))
        return r;
    again = wr_tier_manifest(t, m->step, &now, &why);
    if (again < 0 && again != WEIR_ENOENT)
        return wr_fail_as(err, again, &why);
    if (again == 0) {
        bool same = !strcmp(now.id, m->id);

        wr_manifest_done(&now);
        if (same)
            return r;
    }
    return wr_fail(err, WEIR_ENOENT, "'%s': step %" PRIu64 " was taken away",
                   t->shown, m->step);
}

/* --- copying --- */

/* What is to be done about a copy that the target may have already. */
enum target_state { TARGET_FREE, TARGET_SAME, TARGET_OLD };

/* Of two saves of a step the later one counts; they are counted, not timed. */
static bool is_later(const struct wr_tier *t, const struct wr_manifest *m,
                     const struct wr_copy *than)
{
    struct wr_copy c = {.own = wr_tier_counts(t, m)};

    wr_gist_of(m, &c.gist);
    return wr_copy_compare(&c, than) > 0;
}

static int look_at_target(struct wr_tier *to, const struct wr_manifest *m,
                          enum target_state *ret, weir_err *err)
{
    struct wr_copy c;
    int r = wr_step_look(to, m->step, &c, err);

    if (r < 0)
        return r;
    if (c.is == WEIR_COPY_NONE)
        *ret = TARGET_FREE;
    else if (c.is != WEIR_COPY_DAMAGED && !strcmp(c.gist.id, m->id))
        *ret = TARGET_SAME;
    else if (c.is != WEIR_COPY_DAMAGED && !is_later(to, m, &c))
        return wr_fail(err, WEIR_EEXIST,
                       "step %" PRIu64 " is on the %s tier from another save "
                       "that is not older; remove one of the two (weir ckpt rm "
                       "--step %" PRIu64 " --tier ...)",
                       m->step, to->label, m->step);
    else
        *ret = TARGET_OLD;
    return 0;
}

struct copying {
    struct wr_tier *from, *to; /* borrowed */
    struct wr_manifest m;      /* owned */
    enum target_state target;
    struct wr_pending p;
    const struct wr_byte_meter *meter; /* borrowed */
};

/* An error of the target must not look like damage of the source, which would
 * be given up. */
static int not_damage(int r, weir_err *err)
{
    if (!wr_step_is_damage(r))
        return r;
    if (err)
        err->code = WEIR_EIO;
    return WEIR_EIO;
}

static int copy_shards(struct copying *c, weir_err *err)
{
    for (uint32_t i = 0; i < c->m.world; i++) {
        const struct wr_st_shard *s = &c->m.shards[i];
        char source[WR_TIER_PATH], target[WR_TIER_PATH];
        struct wr_way way = {.from = {c->from->store, source},
                             .to = {c->to->store, target}};
        int r;

        wr_tier_shard_path(c->m.step, s->rank, source);
        wr_pending_shard_path(&c->p, s->rank, target);
        r = wr_shard_copy(&way, s, c->m.chunk, c->meter, err);
        if (r < 0 && way.to_failed)
            return not_damage(wr_tier_name_whole(c->to, target, r, err), err);
        r = wr_tier_name_whole(c->from, source, r, err);
        if (r < 0)
            return why_unread(c->from, &c->m, r, err);
    }
    return wr_tier_sync_pending(c->to, &c->p, err);
}

/* A pin goes along with its step. It is set before the step is there, so that no
 * crash leaves a step that has lost it, and looked at once more afterwards: it
 * may have been set meanwhile. */
static int carry_pin(struct copying *c, weir_err *err)
{
    if (!wr_tier_marked(c->from, WR_MARK_PIN, c->m.step, NULL, 0))
        return 0;
    return wr_tier_mark(c->to, WR_MARK_PIN, c->m.step, "", err);
}

/* The old copy goes when the new one is published. What was known of it is
 * forgotten before, durably: the new one may have its id. A pin stays: it means
 * the number. */
static int make_way(struct copying *c, weir_err *err)
{
    static const enum wr_mark known[] = {WR_MARK_VERIFIED, WR_MARK_DAMAGED};
    int r = 0;

    c->p.replaces = c->target != TARGET_FREE;
    if (c->p.replaces)
        r = wr_tier_check_claim(c->to, err);
    for (size_t i = 0; i < WR_ARRAY_LEN(known) && r == 0 && c->p.replaces; i++)
        r = wr_tier_unmark(c->to, known[i], c->m.step, err);
    return r < 0 ? r : carry_pin(c, err);
}

static int copy_pending(struct copying *c, weir_err *err)
{
    int r;

    r = wr_tier_begin_beside(c->to, c->m.step, wr_manifest_bytes(&c->m), &c->p,
                             err);
    if (r < 0)
        return r;
    wr_tier_trim(c->to, &c->p, c->m.world);
    r = copy_shards(c, err);
    if (r < 0) {
        wr_tier_abandon(c->to, &c->p);
        return r;
    }
    r = make_way(c, err);
    if (r < 0)
        wr_tier_abandon(c->to, &c->p);
    else
        r = wr_tier_publish(c->to, &c->p, &c->m, err);
    if (r == 0)
        r = carry_pin(c, err);
    return not_damage(r, err); /* what was read was good */
}

static int copy_step(struct copying *c, uint64_t step, bool anew, weir_err *err)
{
    int r;

    r = wr_tier_manifest(c->from, step, &c->m, err);
    if (r == 0) {
        r = look_at_target(c->to, &c->m, &c->target, err);
        if (r == 0 && (c->target != TARGET_SAME || anew))
            r = copy_pending(c, err);
        else if (r == 0)
            r = wr_tier_settle(c->to, err);
        wr_manifest_done(&c->m);
    }
    return r;
}

int wr_step_copy(struct wr_tier *from, struct wr_tier *to, uint64_t step,
                 const struct wr_byte_meter *meter, weir_err *err)
{
    struct copying c = {.from = from, .to = to, .meter = meter};

    return wr_tier_blame(to, copy_step(&c, step, /* anew= */ false, err), err);
}

int wr_step_copy_anew(struct wr_tier *from, struct wr_tier *to, uint64_t step,
                      const struct wr_byte_meter *meter, weir_err *err)
{
    struct copying c = {.from = from, .to = to, .meter = meter};

    return wr_tier_blame(to, copy_step(&c, step, /* anew= */ true, err), err);
}

/* --- reading back --- */

static int read_back(struct wr_tier *t, uint64_t step, bool mark,
                     const struct wr_byte_meter *meter, weir_err *err)
{
    struct wr_manifest m;
    int r;

    r = wr_tier_manifest(t, step, &m, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < m.world && r == 0; i++) {
        char path[WR_TIER_PATH];
        struct wr_shard_at at = {t->store, path};

        wr_tier_shard_path(step, m.shards[i].rank, path);
        r = wr_shard_read(&at, &m.shards[i], m.chunk, NULL, 0, meter, err);
        r = wr_tier_name_whole(t, path, r, err);
        if (r < 0)
            r = why_unread(t, &m, r, err);
    }
    if (r == 0 && mark && !wr_tier_is_verified(t, &m))
        r = wr_tier_mark(t, WR_MARK_VERIFIED, step, m.id, err);
    wr_manifest_done(&m);
    return r;
}

int wr_step_verify(struct wr_tier *t, uint64_t step, bool mark,
                   const struct wr_byte_meter *meter, weir_err *err)
{
    return wr_tier_blame(t, read_back(t, step, mark, meter, err), err);
}
