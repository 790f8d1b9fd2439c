/* lineage.c - which tiers belong together, and which of two saves is newer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/lineage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "checkpoint/membership.h"
#include "checkpoint/patient.h"
#include "tier/aside.h"
#include "tier/link.h"

/* --- which tiers these are --- */

static void note_members(weir_ckpt *c, const struct wr_membership *near,
                         const struct wr_membership *far)
{
    const char *id = far->link.store[0] ? far->link.store : near->link.store;

    if (c->near)
        wr_tier_set_store(c->near, id);
    if (c->far)
        wr_tier_set_store(c->far, id);
    c->fast_generation = near->link.generation;
    memcpy(c->fast_nonce, near->link.nonce, sizeof(c->fast_nonce));
}

static int look_at_both(weir_ckpt *c, bool reads, struct wr_membership *near,
                        struct wr_membership *far, weir_err *err)
{
    int r = wr_membership_look(c->near, c->cfg.slow != NULL, reads, near, err);

    return r < 0
               ? r
               : wr_membership_look(c->far, /* fast= */ false, reads, far, err);
}

/* Steps that are taken away take with them what their manifests know of the
 * order: a link that was lost is written before. Who saves writes it anyway. */
static void keep_links(const weir_ckpt *c, const struct wr_membership *near,
                       const struct wr_membership *far)
{
    if (c->cfg.dry_run ||
        (c->cfg.role != WEIR_CKPT_DRAIN && c->cfg.role != WEIR_CKPT_MANAGE))
        return;
    if (near->derived)
        wr_tier_link_keep(c->near, &near->link);
    if (far->derived)
        wr_tier_link_keep(c->far, &far->link);
}

/* Looks whether the tiers belong together, and notes what they are of. */
static int judge_tiers(weir_ckpt *c, weir_err *err)
{
    struct wr_membership near, far;
    int r = look_at_both(c, c->cfg.role == WEIR_CKPT_READ, &near, &far, err);

    if (r == 0)
        r = wr_membership_judge(c, &near, &far, err);
    if (r < 0)
        return r;
    keep_links(c, &near, &far);
    note_members(c, &near, &far);
    return 0;
}

/* --- opening --- */

/* The slow one may hang: then it is not waited for without an end. */
static int open_at(const weir_ckpt *c, const char *url, const char *label,
                   bool create, struct wr_tier **ret, weir_err *err)
{
    return strcmp(label, "slow") == 0
               ? wr_patient_open(url, label, create, wr_ckpt_call_ns(c), ret,
                                 err)
               : wr_tier_open(url, label, create, ret, err);
}

static int wrap_given(const weir_ckpt *c, struct wr_store *st, const char *url,
                      const char *label, struct wr_tier **ret, weir_err *err)
{
    struct wr_tier *t = NULL;
    int r = wr_tier_wrap(st, url, label, &t, err);

    if (r == 0 && strcmp(label, "slow") == 0)
        r = wr_patient_tier(t, wr_ckpt_call_ns(c), err);
    if (r == 0)
        *ret = t;
    else if (t)
        wr_tier_close(t);
    return r;
}

/* NULL for one that is missing and may be made later. */
static int open_tier(const weir_ckpt *c, const char *url, const char *label,
                     bool may_miss, struct wr_store **given,
                     struct wr_tier **ret, weir_err *err)
{
    struct wr_store *st = *given;
    weir_err why;
    int r;

    *given = NULL;
    if (st)
        return wrap_given(c, st, url, label, ret, err);
    r = open_at(c, url, label, /* create= */ false, ret, &why);
    if (r == WEIR_ENOENT && may_miss)
        return 0;
    if (r == WEIR_ENOENT)
        return wr_fail(err, r, "%s; is it mounted?", why.msg);
    return wr_fail_as(err, r, &why);
}

/* Also when it is there: who made it may not have synced its entry. */
static int make_tier(const weir_ckpt *c, const char *url, const char *label,
                     struct wr_tier **t, weir_err *err)
{
    struct wr_tier *made;
    int r = open_at(c, url, label, /* create= */ true, &made, err);

    if (r < 0)
        return r;
    if (*t) {
        wr_tier_close(made);
        return 0;
    }
    *t = made;
    return 0;
}

/* Rank 0 of a role that saves makes folders; those of a test are there. */
static int make_missing(weir_ckpt *c, bool near_given, bool far_given,
                        weir_err *err)
{
    int r = 0;

    if (!near_given)
        r = make_tier(c, c->cfg.fast, "fast", &c->near, err);
    if (r == 0 && c->cfg.slow && !far_given)
        r = make_tier(c, c->cfg.slow, "slow", &c->far, err);
    return r;
}

/* Twice the same folder would drain a step onto itself. */
static int check_apart(const weir_ckpt *c, weir_err *err)
{
    struct wr_stat a, b;
    int r;

    if (!c->near || !c->far)
        return 0;
    r = c->near->store->ops->stat(c->near->store, "", &a, err);
    if (r == 0)
        r = c->far->store->ops->stat(c->far->store, "", &b, err);
    if (r == 0 && a.ino && a.dev == b.dev && a.ino == b.ino)
        r = wr_fail(err, WEIR_EINVAL, "slow: '%s' is the same folder as '%s'",
                    c->cfg.slow, c->cfg.fast);
    return r;
}

int wr_lineage_open(weir_ckpt *c, struct wr_store *given[2], weir_err *err)
{
    bool near_given = given[0] != NULL, far_given = given[1] != NULL;
    bool first = c->cfg.rank == 0;
    bool adopts = c->cfg.role == WEIR_CKPT_ADOPT;
    bool makes = first && !c->cfg.dry_run &&
                 (c->cfg.role == WEIR_CKPT_SAVE || adopts);
    bool may_miss = makes || (first && adopts); /* a dry run tells the same */
    int r;

    r = open_tier(c, c->cfg.fast, "fast", makes && !adopts, &given[0], &c->near,
                  err);
    if (r == 0 && c->cfg.slow)
        r = open_tier(c, c->cfg.slow, "slow", may_miss, &given[1], &c->far,
                      err);
    if (r == 0)
        r = check_apart(c, err);
    if (r == 0 && !adopts)
        r = judge_tiers(c, err);
    if (r < 0 || !makes)
        return r;
    r = make_missing(c, near_given, far_given, err);
    return r < 0 ? r : check_apart(c, err);
}

/* --- beginning --- */

/* The last tier has the store's id, in its file, too. */
static int set_id(weir_ckpt *c, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(c);
    struct wr_tier_link link = {0};
    int r = wr_tier_link_read(last, &link, err);

    if (r < 0 && r != WEIR_EDAMAGED)
        return r;
    if (r < 0 || !link.store[0]) {
        memcpy(link.store, last->store_id, sizeof(link.store));
        r = wr_tier_link_make(last, link.store, err);
    }
    if (r < 0)
        return r;
    if (last->store_id[0] && strcmp(link.store, last->store_id) != 0)
        return wr_fail(err, WEIR_ESTATE,
                       "'%s': has become another store while it was opened",
                       last->shown);
    wr_tier_set_store(last, link.store);
    if (c->far)
        wr_tier_set_store(c->near, link.store);
    return 0;
}

/* What only the near tier has would be drained above what another machine has
 * saved since, and takes the numbers of steps that this one will save. */
int wr_lineage_set_aside(weir_ckpt *c, weir_err *err)
{
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy near, far;

        r = wr_step_look(c->near, steps[i], &near, err);
        if (r == 0)
            r = wr_step_look(c->far, steps[i], &far, err);
        if (r < 0 || near.is < WEIR_COPY_COMPLETE ||
            (far.is >= WEIR_COPY_COMPLETE &&
             !strcmp(near.gist.id, far.gist.id)))
            continue;
        r = wr_aside_put(c->near, steps[i], err);
    }
    free(steps);
    return r < 0 ? r : wr_tier_sync_root(c->near, err);
}

/* Another writer's: a higher number, or the same one handed out again. */
static bool is_beyond(const weir_ckpt *c, const struct wr_generation *g)
{
    return g->number > c->fast_generation ||
           (g->number == c->fast_generation && g->nonce[0] &&
            c->fast_nonce[0] && strcmp(g->nonce, c->fast_nonce) != 0);
}

/* Or a lower number, of a slow tier that was restored from a backup, and that
 * this fast tier has not heard of. */
static int went_on(const weir_ckpt *c, const struct wr_generation *g, bool *ret,
                   weir_err *err)
{
    *ret = is_beyond(c, g);
    return *ret || g->number == c->fast_generation
               ? 0
               : wr_writers_lack(c->near, g, ret, err);
}

/* Whether the slow tier has steps of a writer beyond the fast tier's last one.
 * Its files may be lost or of a backup, so manifests are asked; again only when
 * one of the two writers is another one. */
static int has_newer(weir_ckpt *c, bool *ret, weir_err *err)
{
    struct wr_generation last = {0};
    struct wr_membership far;
    bool beyond = false;
    int r = wr_tier_generation(c->far, &last, err);

    *ret = false;
    if (r == 0)
        r = went_on(c, &last, &beyond, err);
    if (r < 0 || (c->asked && c->asked_fast == c->fast_generation &&
                  c->asked_last == last.number && !beyond))
        return r;
    r = wr_membership_look(c->far, /* fast= */ false, /* reads= */ true, &far,
                           err);
    if (r == 0)
        r = wr_membership_ask(c->far, &far, err);
    if (r == 0)
        r = went_on(c, &far.saved, ret, err);
    if (r < 0)
        return r;
    *ret |= is_beyond(c, &far.twin);
    if (c->generation) /* several threads ask, and it was settled at open */
        return 0;
    c->asked = !*ret;
    c->asked_fast = c->fast_generation;
    c->asked_last = last.number;
    return 0;
}

int wr_lineage_ask_writers(weir_ckpt *c, struct wr_writers *known,
                           uint64_t *highest, weir_err *err)
{
    int r = wr_writers_read(c->near, known, err);

    if (r == 0 && c->far)
        r = wr_writers_read(c->far, known, err);
    if (known->count)
        *highest = WR_MAX(*highest, known->all[known->count - 1].number);
    return r;
}

int wr_lineage_note_writers(weir_ckpt *c, struct wr_writers *known,
                            const struct wr_generation *mine, weir_err *err)
{
    int r = wr_writers_add(known, mine->number, mine->nonce, err);

    if (r == 0)
        r = wr_writers_write(wr_ckpt_last(c), known, err);
    return r < 0 || !c->far ? r : wr_writers_write(c->near, known, err);
}

/* The fast tier is this writer's from now on. */
static int link_fast(weir_ckpt *c, weir_err *err)
{
    struct wr_tier_link link = {.kind = WR_LINK_FAST,
                                .generation = c->generation};

    memcpy(link.store, c->far->store_id, sizeof(link.store));
    memcpy(link.nonce, c->nonce, sizeof(link.nonce));
    return wr_tier_link_write(c->near, &link, err);
}

int wr_lineage_check_claims(void *arg, weir_err *err)
{
    const weir_ckpt *c = arg;
    int r = wr_tier_check_claim(c->near, err);

    return r == 0 && c->far ? wr_tier_check_claim(c->far, err) : r;
}

/* --- what a run continues from --- */

static int as_saved(const void *a, const void *b)
{
    return wr_origin_compare(a, b);
}

static int add_saves(weir_ckpt *c, struct wr_tier *t, weir_err *err)
{
    struct wr_origin *all;
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(t, &steps, &count, err);

    if (r < 0)
        return r;
    all = realloc(c->before, (c->before_count + count + 1) * sizeof(*all));
    if (!all) {
        free(steps);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    c->before = all;
    for (size_t i = 0; i < count && r == 0; i++) {
        struct wr_copy copy;

        r = wr_step_glance(t, steps[i], &copy, err);
        if (r == 0 && copy.is >= WEIR_COPY_COMPLETE)
            all[c->before_count++] = wr_origin_of(&copy);
        if (wr_step_is_unread(r) && !wr_err_is_lack(r))
            r = 0;
    }
    free(steps);
    return r;
}

static int find_before(weir_ckpt *c, weir_err *err)
{
    int r = add_saves(c, c->near, err);

    if (r == 0 && c->far)
        r = add_saves(c, c->far, err);
    if (r == 0 && c->before_count)
        qsort(c->before, c->before_count, sizeof(*c->before), as_saved);
    return r;
}

void wr_lineage_restored(weir_ckpt *c, const struct wr_ordinal *turn)
{
    uint64_t last;

    if (!c->generation)
        return;
    pthread_mutex_lock(&c->lock);
    last = c->stats.saves;
    pthread_mutex_unlock(&c->lock);
    if (c->part && turn->generation == c->generation && turn->seq == last &&
        !strcmp(turn->nonce, c->nonce))
        return; /* it is where it was */
    c->from = *turn;
    c->part = 0;
    c->based = c->continues = true;
}

bool wr_lineage_from(weir_ckpt *c, uint64_t step, struct wr_ordinal *ret)
{
    for (size_t i = c->before_count; i-- > 0 && !c->based;)
        if (c->before[i].turn.step < step) {
            c->from = c->before[i].turn;
            c->based = c->continues = true;
        }
    c->based = true;
    free(c->before);
    c->before = NULL;
    c->before_count = 0;
    *ret = c->from;
    return c->continues;
}

/* --- the order of beginning --- */

/* Looks at both tiers and asks all manifests; what they know of writers. */
static int ask_both(weir_ckpt *c, struct wr_membership *near,
                    struct wr_membership *far, struct wr_writers *known,
                    uint64_t *highest, weir_err *err)
{
    const struct wr_generation *last = &(c->far ? far : near)->highest;
    int r = look_at_both(c, /* reads= */ false, near, far, err);

    if (r == 0)
        r = wr_writers_add(known, last->number, last->nonce, err);
    if (r == 0)
        r = wr_writers_add(known, near->link.generation, near->link.nonce, err);
    near->writers = far->writers = known;
    if (r == 0)
        r = wr_membership_ask(c->near, near, err);
    if (r == 0)
        r = wr_membership_ask(c->far, far, err);
    *highest = WR_MAX(near->highest.number, far->highest.number);
    return r < 0 ? r : wr_lineage_ask_writers(c, known, highest, err);
}

/* What has to be there before the fast tier is this writer's. Those that a stale
 * fast tier knows are noted once its steps are set aside. */
static int prepare_tiers(weir_ckpt *c, struct wr_writers *known, bool stale,
                         const struct wr_generation *mine, weir_err *err)
{
    int r = stale ? wr_lineage_set_aside(c, err) : 0;

    if (r == 0)
        r = find_before(c, err);
    return r < 0 ? r : wr_lineage_note_writers(c, known, mine, err);
}

/* The order matters: the generation is taken under a claim that is checked after
 * the last look and before it is created, so that a writer which was taken over
 * from gets no higher number than who did; what is stale is judged by what there
 * is after that; and nothing is promised before claim and generation were
 * checked again. */
static int begin(weir_ckpt *c, struct wr_writers *known, weir_err *err)
{
    struct wr_membership near, far;
    struct wr_generation mine;
    bool stale = false;
    uint64_t highest = 0;
    int r = set_id(c, err);

    if (r == 0)
        r = ask_both(c, &near, &far, known, &highest, err);
    if (r == 0 && strcmp((c->far ? &far : &near)->link.store,
                         wr_ckpt_last(c)->store_id) != 0)
        r = wr_fail(err, WEIR_EIO,
                    "'%s': which store it belongs to does not read twice the "
                    "same",
                    wr_ckpt_last(c)->shown);
    if (r == 0)
        r = wr_tier_generation_take(wr_ckpt_last(c), highest,
                                    wr_lineage_check_claims, c, &mine, err);
    if (r < 0)
        return r;
    note_members(c, &near, &far);
    r = c->far ? has_newer(c, &stale, err) : 0;
    c->generation = mine.number;
    memcpy(c->nonce, mine.nonce, sizeof(c->nonce));
    if (r == 0)
        r = prepare_tiers(c, known, stale, &mine, err);
    if (r == 0 && c->far)
        r = link_fast(c, err);
    if (r < 0)
        return r;
    c->fast_generation = c->generation;
    memcpy(c->fast_nonce, c->nonce, sizeof(c->fast_nonce));
    c->asked = true; /* it took a number above all of them */
    c->asked_fast = c->asked_last = c->generation;
    r = wr_lineage_check_claims(c, err);
    return r < 0 ? r : wr_lineage_check(c, err);
}

int wr_lineage_begin(weir_ckpt *c, weir_err *err)
{
    struct wr_writers known = {0};
    int r = begin(c, &known, err);

    wr_writers_done(&known);
    return r;
}

/* --- later --- */

/* Beside a process that drains the trainer may have made the store, or opened it
 * anew. Where the links say what they should, that is all. */
static int read_links(weir_ckpt *c, weir_err *err)
{
    struct wr_membership near = {0}, far = {0};
    int r;

    if (c->generation || c->cfg.role == WEIR_CKPT_ADOPT)
        return 0;
    if (wr_tier_link_read(c->near, &near.link, NULL) == 0 &&
        wr_tier_link_read(c->far, &far.link, NULL) == 0 &&
        near.link.kind == WR_LINK_FAST && far.link.kind == WR_LINK_LAST &&
        !strcmp(near.link.store, far.link.store)) {
        note_members(c, &near, &far);
        return 0;
    }
    r = look_at_both(c, /* reads= */ true, &near, &far, err);
    if (r == 0 && c->cfg.role != WEIR_CKPT_READ)
        r = wr_membership_judge(c, &near, &far, err);
    if (r == 0)
        note_members(c, &near, &far);
    return r;
}

int wr_lineage_is_stale(weir_ckpt *c, bool *ret, weir_err *err)
{
    int r = c->far ? read_links(c, err) : 0;

    *ret = false;
    return r < 0 || !c->far ? r : has_newer(c, ret, err);
}

int weir_ckpt_store_id(const weir_ckpt *c, char ret[WEIR_STORE_ID],
                       weir_err *err)
{
    const struct wr_tier *last;
    int r = wr_ckpt_check(c, err);

    if (r == 0 && !ret)
        r = wr_fail(err, WEIR_EINVAL, "ret: is NULL");
    if (r < 0)
        return r;
    last = wr_ckpt_last(c);
    if (!last->store_id[0])
        return wr_fail(err, WEIR_ENOENT, "'%s': has no id yet", last->shown);
    memcpy(ret, last->store_id, WEIR_STORE_ID);
    return 0;
}

int wr_lineage_check(weir_ckpt *c, weir_err *err)
{
    struct wr_tier *last = wr_ckpt_last(c);
    struct wr_generation g;
    int r;

    if (!c->generation)
        return 0;
    r = wr_tier_generation(last, &g, err);
    if (r < 0)
        return r;
    if (g.number > c->generation || (g.number == c->generation && g.nonce[0] &&
                                     strcmp(g.nonce, c->nonce) != 0))
        return wr_fail(err, WEIR_EFENCED,
                       "'%s': another writer opened this store (generation "
                       "%" PRIu64 ", this one's is %" PRIu64 ")",
                       last->shown, g.number, c->generation);
    if (g.number < c->generation) {
        r = wr_tier_check_claim(last, err); /* the whole folder may be gone */
        if (r < 0)
            return r;
    }
    if (g.number < c->generation)
        return wr_fail(err, WEIR_ESTATE,
                       "'%s': does not know this writer any more (generation "
                       "%" PRIu64 ", its last is %" PRIu64 "): was it restored "
                       "from a backup? Open the store anew",
                       last->shown, c->generation, g.number);
    return 0;
}
