/* unit.c - bytes that several samples share: loaded once, for all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/unit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/shares.h"
#include "pipeline/config.h"
#include "pipeline/schedule.h"

#define GAP_MAX     ((uint64_t)16 << 10)  /* bytes between samples read along */
#define SMALL       ((uint64_t)512 << 10) /* samples that are worth joining */
#define EVERY_EPOCH UINT64_MAX /* units of the index serve all of them */
#define MAX_BLOCKS  1024u
#define MAX_BUCKETS ((uint64_t)1 << 18)

void wr_unit_empty(struct wr_shared *u)
{
    wr_load_free(u);
    wr_unit_give(u, u->buf, u->cap);
    u->buf = NULL;
    u->bytes = NULL;
    u->state = WR_UNIT_EMPTY;
}

/* --- groups: a hash by block, a list by last use --- */

static struct wr_group **bucket_of(struct wr_units *x,
                                   const struct wr_group *key)
{
    return &x->buckets[wr_rng_at(key->epoch, key->column, key->number) &
                       (x->bucket_count - 1)];
}

static struct wr_group *find_group(struct wr_units *x,
                                   const struct wr_group *key)
{
    struct wr_group *g = *bucket_of(x, key);

    while (g && (g->epoch != key->epoch || g->number != key->number ||
                 g->column != key->column))
        g = g->chain;
    return g;
}

static void unlink_use(struct wr_units *x, struct wr_group *g)
{
    *(g->newer ? &g->newer->older : &x->newest) = g->older;
    *(g->older ? &g->older->newer : &x->oldest) = g->newer;
    g->newer = g->older = NULL;
}

static void link_newest(struct wr_units *x, struct wr_group *g)
{
    g->older = x->newest;
    g->newer = NULL;
    *(x->newest ? &x->newest->newer : &x->oldest) = g;
    x->newest = g;
}

static void free_group(struct wr_units *x, struct wr_group *g)
{
    struct wr_group **at = bucket_of(x, g);

    for (unsigned i = 0; i < g->count; i++)
        wr_unit_empty(&g->units[i]);
    while (*at != g)
        at = &(*at)->chain;
    *at = g->chain;
    unlink_use(x, g);
    x->block_count -= !g->indexed;
    free(g->why);
    free(g);
}

static bool has_room(const struct wr_units *x, const struct wr_group *g,
                     size_t cap)
{
    size_t used = g->indexed ? x->indexed_used : x->used;
    size_t limit = g->indexed ? x->indexed_limit : x->limit;

    /* The only one of its kind is always granted. */
    return !used || (used + cap <= limit &&
                     x->spare_bytes + wr_share_left(WR_SHARE_MEMORY) >= cap);
}

bool wr_unit_make_room(struct wr_shared *u, size_t cap)
{
    struct wr_group *wanted = u->group;
    struct wr_units *x = wanted->table;
    struct wr_group *g = x->oldest;

    while (g && !has_room(x, wanted, cap)) {
        struct wr_group *newer = g->newer;

        if (!g->users && g != wanted && g->indexed == wanted->indexed)
            free_group(x, g);
        g = newer;
    }
    if (has_room(x, wanted, cap))
        return true;
    wr_share_refuse(WR_SHARE_MEMORY);
    return false;
}

/* Others of the process were short of memory: one unit that is kept for nobody
 * in particular goes, each time. */
static void give_way(struct wr_units *x)
{
    uint64_t refusals = wr_share_refusals(WR_SHARE_MEMORY);
    struct wr_group *g = x->oldest;

    if (refusals == x->refusals)
        return;
    x->refusals = refusals;
    while (g && (g->users || !g->indexed || !g->units[0].buf))
        g = g->newer;
    if (g)
        free_group(x, g);
    wr_units_drop_spare(x);
}

/* Blocks of which some sample never asks (it was over before a resume, or
 * filled a hole) would stay for ever. */
static void drop_oldest(struct wr_units *x)
{
    struct wr_group *g = x->oldest;

    while (g && (g->users || g->indexed))
        g = g->newer;
    if (g)
        free_group(x, g);
}

/* --- which samples lie together --- */

static bool follows(const struct wr_part *a, const struct wr_part *b,
                    uint64_t start)
{
    uint64_t end = a->offset + a->length;

    return b->object == a->object && !b->whole && !wr_part_is_packed(b) &&
           b->offset >= end && b->offset - end <= GAP_MAX &&
           b->offset + b->length - start <= WR_BLOCK_MAX;
}

/* The run of samples that begins at `first` and ends before `end`; those of the
 * other part in between are read along if they are small. */
static struct wr_shared run_at(const struct wr_units *x, unsigned column,
                               uint64_t first, uint64_t end)
{
    const struct wr_index *ix = x->ds->index;
    struct wr_shared u = {.first = first, .count = 1};
    struct wr_part last, next;

    wr_index_part(ix, column, wr_split_sample(&x->split, first), &last);
    u.object = last.object;
    u.offset = last.offset;
    while (first + u.count < end && !last.whole && !wr_part_is_packed(&last)) {
        wr_index_part(ix, column, wr_split_sample(&x->split, first + u.count),
                      &next);
        if (!follows(&last, &next, u.offset))
            break;
        last = next;
        u.count++;
    }
    u.packing.stored = last.offset + last.length - u.offset;
    u.packing.inflated = u.packing.stored;
    u.left = u.count;
    return u;
}

static struct wr_group *add_group(struct wr_units *x, struct wr_group *g)
{
    struct wr_group **bucket = bucket_of(x, g);

    g->table = x;
    for (unsigned i = 0; i < g->count; i++)
        g->units[i].group = g;
    g->chain = *bucket;
    *bucket = g;
    x->block_count += !g->indexed;
    link_newest(x, g);
    return g;
}

static struct wr_group *new_block(struct wr_units *x,
                                  const struct wr_group *key)
{
    uint64_t all = wr_split_count(&x->split, wr_index_count(x->ds->index));
    uint64_t first = key->number * x->block;
    uint64_t end = WR_MIN(first + x->block, all);
    struct wr_group *g;
    unsigned count = 0;

    if (x->block_count >= MAX_BLOCKS)
        drop_oldest(x);
    for (uint64_t i = first; i < end; count++)
        i += run_at(x, key->column, i, end).count;
    g = malloc(sizeof(*g) + count * sizeof(g->units[0]));
    if (!g)
        return NULL;
    *g = *key;
    for (uint64_t i = first; i < end; i += g->units[g->count++].count)
        g->units[g->count] = run_at(x, key->column, i, end);
    return add_group(x, g);
}

static struct wr_group *new_indexed(struct wr_units *x,
                                    const struct wr_group *key)
{
    const struct wr_unit *u = wr_index_unit(x->ds->index, key->number);
    struct wr_group *g = malloc(sizeof(*g) + sizeof(g->units[0]));

    if (!g)
        return NULL;
    *g = *key;
    g->count = 1;
    g->units[0] = (struct wr_shared){
        .object = u->object,
        .offset = u->offset,
        .packing = wr_unit_packing(u),
        .left = UINT64_MAX, /* samples of any epoch may ask */
    };
    return add_group(x, g);
}

static struct wr_shared *find_unit(struct wr_group *g, uint64_t place)
{
    unsigned lo = 0, hi = g->count;

    while (hi - lo > 1) {
        unsigned mid = lo + (hi - lo) / 2;

        if (g->units[mid].first <= place)
            lo = mid;
        else
            hi = mid;
    }
    return &g->units[lo];
}

/* --- what reads do with them --- */

void wr_unit_point(struct wr_read *r)
{
    const struct wr_shared *u = r->unit;
    /* A block's offsets count in the object. */
    uint64_t at = r->part.offset - (u->group->indexed ? 0 : u->offset);
    union {
        const uint8_t *in;
        uint8_t *out; /* nobody writes through it */
    } bytes = {.in = u->bytes + at};

    r->rd.data = bytes.out;
    r->rd.len = r->rd.got = (size_t)r->part.length;
}

static enum wr_unit_get join(struct wr_shared *u, struct wr_read *r,
                             enum wr_unit_ask ask)
{
    enum wr_unit_get how = WR_UNIT_WAIT;

    if (u->state == WR_UNIT_EMPTY) {
        /* The last one that asks gains nothing from the others' bytes, nor
         * does one out of its turn. */
        if (!u->group->indexed && (!u->left || u->failed || ask == WR_ASK_FILL))
            return WR_UNIT_NONE;
        if (!wr_load_new(u, r->path, /* must= */ ask != WR_ASK_USUAL))
            return WR_UNIT_NONE;
        how = WR_UNIT_LOAD;
    }
    u->users++;
    u->group->users++;
    wr_unit_end_early(u);
    r->unit = u;
    if (u->state == WR_UNIT_LOADED) {
        wr_unit_point(r);
        return WR_UNIT_READY;
    }
    r->next_waiting = u->waiting;
    u->waiting = r;
    return how;
}

static struct wr_shared *unit_for(struct wr_units *x, const struct wr_read *r,
                                  bool fill)
{
    uint64_t place = wr_split_place(&x->split, r->task->id);
    bool indexed = wr_part_is_packed(&r->part);
    struct wr_group key = {.epoch = r->task->batch->epoch->number,
                           .number = place / x->block,
                           .column = r->column};
    struct wr_shared *u;
    struct wr_group *g;

    if (indexed) /* columns may share it */
        key = (struct wr_group){
            .epoch = EVERY_EPOCH, .number = r->part.unit, .indexed = true};
    g = find_group(x, &key);
    if (g) {
        unlink_use(x, g);
        link_newest(x, g);
    } else if (indexed) {
        g = new_indexed(x, &key);
    } else if (!fill) { /* not for one sample out of its turn */
        g = new_block(x, &key);
    }
    if (!g)
        return NULL;
    u = indexed ? &g->units[0] : find_unit(g, place);
    if (!indexed && !fill && u->left)
        u->left--;
    return u;
}

/* A unit of the index that cannot be, or could not be loaded in this epoch. */
static bool is_bad(const struct wr_shared *u, const struct wr_read *r,
                   weir_err *err)
{
    const struct wr_group *g = u->group;
    uint64_t inflated = u->packing.inflated, len = r->part.length;

    if (len > inflated || r->part.offset > inflated - len) {
        wr_fail(err, WEIR_EFORMAT,
                "'%s': a sample at %" PRIu64 " of %" PRIu64 " bytes", r->path,
                r->part.offset, inflated);
        return true;
    }
    if (u->state != WR_UNIT_EMPTY)
        return false;
    if (g->why && r->task->batch->epoch->number <= g->bad_epoch) {
        *err = *g->why;
        return true;
    }
    if (wr_filters_check(&u->packing, err) == 0)
        return false;
    wr_fail_prefix(err, err->code, "'%s'", r->path);
    return true;
}

/* Where ranks share each block, every one of them would read all of it. */
static bool has_blocks(const struct wr_read *r)
{
    const struct wr_epoch *e = r->task->batch->epoch;

    return e->order.dealt == e->world;
}

enum wr_unit_get wr_units_get(struct wr_units *x, struct wr_read *r,
                              enum wr_unit_ask ask, weir_err *err)
{
    bool indexed = wr_part_is_packed(&r->part);
    enum wr_unit_get how = WR_UNIT_NONE;
    struct wr_shared *u;

    if (!indexed && (!x->blocks || r->part.whole || !has_blocks(r)))
        return how;
    pthread_mutex_lock(&x->lock);
    give_way(x);
    u = unit_for(x, r, ask == WR_ASK_FILL);
    if (u && indexed && is_bad(u, r, err))
        how = WR_UNIT_BAD;
    else if (u && (u->count > 1 || indexed))
        how = join(u, r, ask);
    pthread_mutex_unlock(&x->lock);
    return how;
}

void wr_unit_end_early(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;

    if (x->early != u)
        return;
    x->early = NULL;
    u->users--;
    u->group->users--;
}

/* With the lock held: true: the caller has it, to load it. */
static bool begin_early(struct wr_units *x, struct wr_shared *u)
{
    char path[PATH_MAX];

    if (u->state != WR_UNIT_EMPTY || u->group->why ||
        u->packing.inflated > x->indexed_limit / 4 ||
        wr_filters_check(&u->packing, NULL) < 0 ||
        wr_index_object_path(x->ds->index, u->object, path, sizeof(path)) >=
            sizeof(path) ||
        !wr_load_new(u, path, /* must= */ false))
        return false;
    x->early = u;
    u->users++; /* it must not be dropped meanwhile */
    u->group->users++;
    return true;
}

struct wr_shared *wr_units_early(struct wr_units *x, const struct wr_read *r)
{
    struct wr_group key = {.epoch = EVERY_EPOCH,
                           .number = r->part.unit + (uint64_t)1,
                           .indexed = true};
    struct wr_shared *u = NULL;
    struct wr_group *g;

    if (!x->in_order || !wr_part_is_packed(&r->part) ||
        key.number >= wr_index_unit_count(x->ds->index))
        return NULL;
    pthread_mutex_lock(&x->lock);
    if (!x->early && x->early_number != key.number) {
        x->early_number = key.number;
        g = find_group(x, &key);
        if (!g)
            g = new_indexed(x, &key);
        if (g && begin_early(x, &g->units[0]))
            u = &g->units[0];
    }
    pthread_mutex_unlock(&x->lock);
    return u;
}

void wr_units_stop(struct wr_units *x)
{
    atomic_store(&x->stopping, true);
}

void wr_unit_drop_if_over(struct wr_shared *u)
{
    struct wr_group *g = u->group;

    if (!u->users && !u->left)
        wr_unit_empty(u);
    if (g->users)
        return;
    for (unsigned i = 0; i < g->count; i++)
        if (g->units[i].left)
            return;
    free_group(g->table, g);
}

void wr_unit_leave(struct wr_read *r)
{
    struct wr_shared *u = r->unit;
    struct wr_units *x;

    if (!u)
        return;
    x = u->group->table;
    r->unit = NULL;
    pthread_mutex_lock(&x->lock);
    u->users--;
    u->group->users--;
    wr_unit_drop_if_over(u);
    pthread_mutex_unlock(&x->lock);
}

/* --- beginning and end --- */

/* As many as there may be units in memory. */
static uint64_t bucket_count(const struct wr_index *ix, size_t memory)
{
    uint64_t units = wr_index_unit_count(ix), n = WR_UNIT_BUCKETS;

    units = WR_MIN(units, memory / WR_DIRECT_ALIGN);
    while (n < units && n < MAX_BUCKETS)
        n *= 2;
    return n;
}

/* Memory for what units unpack to: what they are stored in bounds it, so that
 * many of little that unpack to much are not all kept. */
static size_t unpacked_limit(const struct wr_index *ix, size_t memory)
{
    uint64_t units = wr_index_unit_count(ix), most = 2 * WR_FILTERS_FREE;
    uint64_t stored = 0;

    for (uint64_t k = 0; k < units && most < memory; k++) {
        stored += wr_index_unit(ix, k)->stored;
        most = WR_MAX(most, stored * WR_FILTERS_RATIO);
    }
    return (size_t)WR_MIN(most, (uint64_t)memory);
}

int wr_units_init(struct wr_units *x, const weir_dataset *ds,
                  const weir_pipeline_config *cfg, weir_err *err)
{
    uint64_t n = WR_MAX(wr_index_count(ds->index), (uint64_t)1);
    uint64_t mean = wr_index_bytes(ds->index) / n;
    uint64_t window = cfg->order == WEIR_ORDER_BLOCK ? cfg->block_window : 4;
    uint64_t bytes = WR_MIN(cfg->block_samples * WR_MIN(mean, SMALL),
                            (uint64_t)1 << 30);
    uint64_t blocks;

    *x = (struct wr_units){.direct = cfg->direct};
    x->bucket_count = bucket_count(ds->index, (size_t)wr_config_memory(cfg));
    x->buckets = calloc(x->bucket_count, sizeof(struct wr_group *));
    if (!x->buckets)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    x->ds = ds;
    pthread_mutex_init(&x->lock, NULL);
    x->split = wr_split_of(cfg);
    x->block = WR_MAX(cfg->block_samples, 1u);
    x->blocks = cfg->order != WEIR_ORDER_SHUFFLE && mean <= SMALL &&
                wr_index_object_count(ds->index) < wr_index_count(ds->index);
    x->indexed_limit = unpacked_limit(ds->index, (size_t)wr_config_memory(cfg));
    x->in_order = cfg->order == WEIR_ORDER_SEQUENTIAL &&
                  wr_index_columns(ds->index) == 1;
    x->ahead_most = cfg->threads;
    x->ahead_limit = cfg->threads * WR_UNIT_WINDOW;
    /* The window that is used, the one that comes, what is read ahead beyond
     * them; a block may lie in two objects. */
    window = WR_MIN(window, n / x->block + 1);
    blocks = 2 * window + (uint64_t)cfg->threads * cfg->depth / x->block + 1;
    x->limit = (size_t)WR_MIN(2 * blocks * (bytes + WR_UNIT_STEP),
                              wr_config_memory(cfg));
    return 0;
}

void wr_units_done(struct wr_units *x)
{
    if (!x->ds)
        return;
    while (x->oldest)
        free_group(x, x->oldest);
    wr_units_drop_spare(x);
    free(x->slabs);
    free(x->pieces);
    free(x->buckets);
    pthread_mutex_destroy(&x->lock);
    *x = (struct wr_units){0};
}
