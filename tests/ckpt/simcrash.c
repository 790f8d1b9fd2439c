/* simcrash.c - what a power cut may leave of a simulated disk.
 * SPDX-License-Identifier: Apache-2.0 */
#include "simcrash.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

struct sim_crash {
    const struct sim_disk *disk; /* borrowed */
    size_t *safe_at;             /* owned, per operation: on the medium for sure
                                    when so many operations have happened */
    struct sim_fs base;          /* operations [0, base_at), all safe */
    size_t base_at, at;
    size_t *pending; /* owned: numbers of operations */
    size_t pending_count;
};

/* --- when an operation is safe --- */

struct sync_state {
    struct sim_crash *x;
    bool *to_done, *from_done; /* owned, per operation */
    bool *doomed;              /* owned, per operation */
};

static void mark(struct sync_state *s, size_t k, size_t t);

/* Nobody can see any more what happened to a node that is gone for good. */
static void mark_dead(struct sync_state *s, uint32_t node, size_t t)
{
    const struct sim_op *ops = s->x->disk->ops;

    for (size_t k = 0; k < s->x->disk->count; k++) {
        bool data = ops[k].node == node &&
                    (ops[k].what == SIM_WRITE || ops[k].what == SIM_SIZE);
        bool entry = (ops[k].what == SIM_PLACE || ops[k].what == SIM_GONE) &&
                     ops[k].to == node;

        if (data || entry)
            mark(s, k, WR_MAX(t, k + 1));
    }
}

static void mark(struct sync_state *s, size_t k, size_t t)
{
    const struct sim_op *op = &s->x->disk->ops[k];

    if (s->x->safe_at[k] <= t)
        return;
    s->x->safe_at[k] = t;
    if (op->what == SIM_GONE)
        mark_dead(s, op->node, t);
    else if (op->what == SIM_PLACE && op->replaced != SIM_NONE && !op->swaps)
        mark_dead(s, op->replaced, t);
}

static void sync_one(struct sync_state *s, size_t k, const struct sim_op *sync,
                     size_t t)
{
    const struct sim_op *op = &s->x->disk->ops[k];

    switch (op->what) {
    case SIM_WRITE:
    case SIM_SIZE:
        if (sync->what == SIM_SYNC_FILE && op->node == sync->node &&
            !s->doomed[k])
            mark(s, k, t);
        s->doomed[k] |= sync->what == SIM_SYNC_BAD && op->node == sync->node &&
                        op->what == SIM_WRITE;
        break;
    case SIM_PLACE:
    case SIM_GONE:
        if (sync->what != SIM_SYNC_DIR)
            break;
        s->to_done[k] |= op->to == sync->node;
        s->from_done[k] |= op->what == SIM_GONE || op->from == SIM_NONE ||
                           op->from == sync->node;
        if (s->to_done[k] && s->from_done[k])
            mark(s, k, t);
        break;
    case SIM_SYNC_FILE:
    case SIM_SYNC_DIR:
    case SIM_SYNC_BAD:
        break;
    }
}

static bool is_sync(const struct sim_op *op)
{
    return op->what == SIM_SYNC_FILE || op->what == SIM_SYNC_DIR ||
           op->what == SIM_SYNC_BAD;
}

static void find_safe(struct sim_crash *x)
{
    const struct sim_disk *d = x->disk;
    struct sync_state s = {.x = x,
                           .to_done = sim_alloc(d->count, sizeof(bool)),
                           .from_done = sim_alloc(d->count, sizeof(bool)),
                           .doomed = sim_alloc(d->count, sizeof(bool))};

    for (size_t k = 0; k < d->count; k++)
        x->safe_at[k] = SIZE_MAX;
    for (size_t k = 0; k < d->count; k++) {
        const struct sim_op *op = &d->ops[k];

        if (!is_sync(op))
            continue;
        x->safe_at[k] = k + 1;
        for (size_t i = 0; i < k; i++)
            if (x->safe_at[i] > k + 1)
                sync_one(&s, i, op, k + 1);
    }
    free(s.to_done);
    free(s.from_done);
    free(s.doomed);
}

struct sim_crash *sim_crash_new(const struct sim_disk *d)
{
    struct sim_crash *x = sim_alloc(1, sizeof(*x));

    x->disk = d;
    x->safe_at = sim_alloc(d->count, sizeof(*x->safe_at));
    x->pending = sim_alloc(d->count, sizeof(*x->pending));
    sim_fs_copy(&d->base, &x->base);
    find_safe(x);
    return x;
}

void sim_crash_free(struct sim_crash *x)
{
    if (!x)
        return;
    free(x->safe_at);
    free(x->pending);
    sim_fs_done(&x->base);
    free(x);
}

/* --- states --- */

/* A node that lost its place for good keeps no sectors. */
static void advance(struct sim_crash *x)
{
    const struct sim_op *op = &x->disk->ops[x->base_at++];

    sim_fs_apply(&x->base, op);
    if (op->what == SIM_GONE && x->base.nodes[op->node].parent == SIM_NONE)
        sim_fs_forget(&x->base, op->node);
    if (op->what == SIM_PLACE && op->replaced != SIM_NONE &&
        op->replaced < x->base.count &&
        x->base.nodes[op->replaced].parent == SIM_NONE)
        sim_fs_forget(&x->base, op->replaced);
}

size_t sim_crash_seek(struct sim_crash *x, size_t at)
{
    x->at = at;
    while (x->base_at < at && x->safe_at[x->base_at] <= at)
        advance(x);
    x->pending_count = 0;
    for (size_t k = x->base_at; k < at; k++)
        if (x->safe_at[k] > at)
            x->pending[x->pending_count++] = k;
    return x->pending_count;
}

const struct sim_op *sim_crash_pending(const struct sim_crash *x, size_t k)
{
    return &x->disk->ops[x->pending[k]];
}

/* A sector that was written, and lost, where nothing was before. */
static void spoil(struct sim_fs *fs, const struct sim_op *op, uint64_t seed)
{
    struct wr_rng rng = {.seed = seed,
                         .stream = (uint64_t)op->node << 32 | op->at};
    struct sim_op trash = *op;
    uint64_t word;

    if (op->what != SIM_WRITE || op->node >= fs->count)
        return;
    if (op->at * fs->sector >= sim_fs_size(fs, op->node) ||
        sim_fs_page(fs, op->node, op->at))
        return;
    trash.page = sim_page_new(fs->sector, NULL);
    for (unsigned i = 0; i < fs->sector; i += sizeof(word)) {
        word = wr_rng_next(&rng);
        memcpy(trash.page->bytes + i, &word, sizeof(word));
    }
    sim_fs_apply(fs, &trash);
    sim_page_unref(trash.page);
}

static struct sim_fs make(const struct sim_crash *x, const bool *keep,
                          uint64_t garbage)
{
    const struct sim_op *ops = x->disk->ops;
    struct sim_fs fs;
    size_t next = 0;

    sim_fs_copy(&x->base, &fs);
    for (size_t k = x->base_at; k < x->at; k++) {
        bool open = next < x->pending_count && x->pending[next] == k;

        if (!open || keep[next])
            sim_fs_apply(&fs, &ops[k]);
        if (open)
            next++;
    }
    for (size_t i = 0; i < x->pending_count && garbage; i++)
        if (!keep[i])
            spoil(&fs, &ops[x->pending[i]], garbage);
    return fs;
}

struct sim_disk *sim_crash_make(const struct sim_crash *x, const bool *keep,
                                uint64_t garbage)
{
    struct sim_fs fs = make(x, keep, garbage);

    return sim_disk_of(&fs);
}

/* --- printing --- */

static const char *fate(const struct sim_cut *c, size_t k)
{
    const struct sim_crash *x = c->x;

    if (is_sync(&x->disk->ops[k]))
        return "";
    for (size_t i = 0; i < x->pending_count; i++)
        if (x->pending[i] == k)
            return c->keep[i] ? "kept" : "lost";
    return "safe";
}

void sim_cut_print(const struct sim_cut *cut, size_t last, FILE *to)
{
    static const char *const words[] = {
        [SIM_WRITE] = "write",         [SIM_SIZE] = "size",
        [SIM_PLACE] = "place",         [SIM_GONE] = "gone",
        [SIM_SYNC_FILE] = "sync file", [SIM_SYNC_DIR] = "sync folder",
        [SIM_SYNC_BAD] = "sync fails",
    };

    for (size_t k = cut->at > last ? cut->at - last : 0; k < cut->at; k++) {
        const struct sim_op *op = &cut->x->disk->ops[k];
        const struct sim_node *n = &cut->x->disk->fs.nodes[op->node];

        fprintf(to, "  %5zu %-4s %-11s node %u", k, fate(cut, k),
                words[op->what], op->node);
        if (op->what == SIM_PLACE || op->what == SIM_GONE)
            fprintf(to, " folder %u '%s'\n", op->to, op->name);
        else if (op->what == SIM_WRITE || op->what == SIM_SIZE)
            fprintf(to, " at %llu (%s)\n", (unsigned long long)op->at, n->name);
        else
            fprintf(to, " (%s)\n", n->name);
    }
}

/* --- all of them --- */

/* False when it was there. */
static bool put_key(uint64_t *keys, size_t cap, uint64_t key)
{
    size_t i = (size_t)(key & (cap - 1));

    while (keys[i] && keys[i] != key)
        i = (i + 1) & (cap - 1);
    if (keys[i] == key)
        return false;
    keys[i] = key;
    return true;
}

bool sim_seen_add(struct sim_seen *s, uint64_t key)
{
    size_t cap = s->cap ? 2 * s->cap : 1024;
    uint64_t *wider;

    key += !key;
    if (2 * (s->count + 1) > s->cap) {
        wider = sim_alloc(cap, sizeof(*wider));
        for (size_t i = 0; i < s->cap; i++)
            if (s->keys[i])
                put_key(wider, cap, s->keys[i]);
        free(s->keys);
        s->keys = wider;
        s->cap = cap;
    }
    if (!put_key(s->keys, s->cap, key))
        return false;
    s->count++;
    return true;
}

void sim_seen_done(struct sim_seen *s)
{
    free(s->keys);
    *s = (struct sim_seen){0};
}

struct explorer {
    struct sim_crash *x;
    const struct sim_plan *plan;
    const struct sim_checker *checker;
    struct sim_counts *counts;
    struct wr_rng rng;
    bool *keep; /* owned */
    bool ended;
};

static void visit(struct explorer *e, bool garbage)
{
    const struct sim_checker *c = e->checker;
    const struct sim_cut cut = {e->x, e->x->at, e->keep};
    struct sim_fs fs;
    uint64_t key;

    if (e->ended)
        return;
    fs = make(e->x, e->keep, garbage ? wr_mix64(e->plan->seed) | 1 : 0);
    e->counts->states++;
    key = sim_fs_hash(&fs) ^ wr_mix64(c->expected(c->arg, e->x->at));
    if (!sim_seen_add(c->seen, key)) {
        sim_fs_done(&fs);
        return;
    }
    e->counts->fresh++;
    if (!c->check(c->arg, &cut, sim_disk_of(&fs)))
        e->ended = true;
}

static void keep_all(struct explorer *e, size_t n, bool keep)
{
    for (size_t i = 0; i < n; i++)
        e->keep[i] = keep;
}

/* One alone and one missing, of all or of some chosen at random. */
static void visit_singles(struct explorer *e, size_t n)
{
    size_t count = WR_MIN(n, e->plan->singles);

    for (size_t i = 0; i < count; i++) {
        size_t k = n <= e->plan->singles ? i : (size_t)wr_rng_below(&e->rng, n);

        for (int keep = 0; keep < 2; keep++) {
            keep_all(e, n, !keep);
            e->keep[k] = keep;
            visit(e, /* garbage= */ false);
        }
    }
}

/* Names and data have densities of their own: what tells a bad order is that
 * all of one kind is there and nothing of the other. */
static void visit_random(struct explorer *e, size_t n)
{
    static const double densities[] = {0, 0.2, 0.5, 0.8, 1};
    double names = densities[wr_rng_below(&e->rng, WR_ARRAY_LEN(densities))];
    double data = densities[wr_rng_below(&e->rng, WR_ARRAY_LEN(densities))];
    double sizes = densities[wr_rng_below(&e->rng, WR_ARRAY_LEN(densities))];

    for (size_t i = 0; i < n; i++) {
        enum sim_what what = sim_crash_pending(e->x, i)->what;
        double p = what == SIM_WRITE ? data : what == SIM_SIZE ? sizes : names;

        e->keep[i] = wr_rng_unit(&e->rng) < p;
    }
    visit(e, /* garbage= */ wr_rng_below(&e->rng, 2));
}

/* Every choice, each also with garbage where a write may be lost. */
static void visit_all(struct explorer *e, size_t n)
{
    for (size_t choice = 0; choice < (size_t)1 << n; choice++) {
        bool lost = false;

        for (size_t i = 0; i < n; i++) {
            e->keep[i] = choice >> i & 1;
            lost |= !e->keep[i] &&
                    sim_crash_pending(e->x, i)->what == SIM_WRITE;
        }
        visit(e, /* garbage= */ false);
        if (lost)
            visit(e, /* garbage= */ true);
    }
}

static void visit_point(struct explorer *e, size_t at)
{
    size_t n = sim_crash_seek(e->x, at);
    size_t many = 2 + 2 * (size_t)e->plan->singles + e->plan->randoms;

    e->counts->points++;
    if (n < 16 && (size_t)1 << n <= many) {
        e->counts->whole++;
        visit_all(e, n);
        return;
    }
    keep_all(e, n, false);
    visit(e, /* garbage= */ false);
    keep_all(e, n, true);
    visit(e, /* garbage= */ false);
    visit_singles(e, n);
    for (unsigned i = 0; i < e->plan->randoms; i++)
        visit_random(e, n);
}

static bool is_data(const struct sim_op *op)
{
    return op->what == SIM_WRITE || op->what == SIM_SIZE;
}

void sim_explore(const struct sim_disk *d, const struct sim_plan *p,
                 const struct sim_checker *c, struct sim_counts *counts)
{
    struct explorer e = {.x = sim_crash_new(d),
                         .plan = p,
                         .checker = c,
                         .counts = counts,
                         .rng = {.seed = p->seed}};

    e.keep = sim_alloc(d->count, sizeof(*e.keep));
    for (size_t at = 0; at <= d->count && !e.ended; at++) {
        /* A cut within writes leaves what one behind them may leave. */
        if (at > 0 && at < d->count && is_data(&d->ops[at - 1]) &&
            is_data(&d->ops[at]))
            continue;
        if (p->every && wr_rng_below(&e.rng, p->every))
            continue;
        visit_point(&e, at);
    }
    free(e.keep);
    sim_crash_free(e.x);
}
