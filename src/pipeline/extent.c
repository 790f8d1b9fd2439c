/* extent.c - bytes that several samples share: loaded once, for all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/extent.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/inflate.h"
#include "pipeline/config.h"
#include "pipeline/schedule.h"
#include "pipeline/worker.h"

#define EXTENT_MAX   ((uint64_t)4 << 20)  /* bytes of one request */
#define GAP_MAX      ((uint64_t)16 << 10) /* bytes between samples read along */
#define SMALL        ((uint64_t)512 << 10) /* samples that are worth joining */
#define BIG          ((size_t)2 << 20)     /* mapped: aligned to pages */
#define CAP_STEP     ((size_t)256 << 10)
#define PACKED_EPOCH UINT64_MAX /* inflated objects serve all epochs */
#define MAX_GROUPS   1024u
#define INFLATE_STEP ((size_t)1 << 20)

/* --- memory --- */

/* Aligned for direct reads. */
static uint8_t *buffer_alloc(size_t cap)
{
    return cap >= BIG ? wr_big_alloc(cap) : aligned_alloc(WR_DIRECT_ALIGN, cap);
}

static void buffer_free(uint8_t *buf, size_t cap)
{
    if (cap >= BIG)
        wr_big_free(buf, cap);
    else
        free(buf);
}

static void drop_spare(struct wr_extents *x)
{
    x->spare_count--;
    x->spare_bytes -= x->spare[x->spare_count].cap;
    buffer_free(x->spare[x->spare_count].buf, x->spare[x->spare_count].cap);
}

static uint8_t *buffer_take(struct wr_extents *x, size_t need, size_t *ret_cap)
{
    unsigned best = x->spare_count;

    for (unsigned i = 0; i < x->spare_count; i++)
        if (x->spare[i].cap >= need && x->spare[i].cap <= 2 * need &&
            (best == x->spare_count || x->spare[i].cap < x->spare[best].cap))
            best = i;
    if (best < x->spare_count) {
        uint8_t *buf = x->spare[best].buf;

        *ret_cap = x->spare[best].cap;
        x->spare_bytes -= x->spare[best].cap;
        x->spare[best] = x->spare[--x->spare_count];
        return buf;
    }
    *ret_cap = WR_ALIGN_UP(need, CAP_STEP);
    while (x->spare_count && x->used + x->spare_bytes + *ret_cap > x->limit)
        drop_spare(x);
    return buffer_alloc(*ret_cap);
}

static void buffer_give(struct wr_extents *x, uint8_t *buf, size_t cap)
{
    if (x->spare_count == WR_EXTENT_SPARE || cap > 2 * EXTENT_MAX ||
        x->used + x->spare_bytes + cap > x->limit) {
        buffer_free(buf, cap);
        return;
    }
    x->spare_bytes += cap;
    x->spare[x->spare_count].buf = buf;
    x->spare[x->spare_count++].cap = cap;
}

static size_t *used_of(struct wr_extents *x, const struct wr_group *g)
{
    return g->packed ? &x->packed_used : &x->used;
}

static void empty(struct wr_extents *x, struct wr_extent *e)
{
    if (!e->buf)
        return;
    *used_of(x, e->group) -= e->cap;
    buffer_give(x, e->buf, e->cap);
    e->buf = NULL;
    e->bytes = NULL;
    e->state = WR_EXTENT_EMPTY;
}

/* --- groups: a hash by block, a list by last use --- */

static struct wr_group **bucket_of(struct wr_extents *x, uint64_t epoch,
                                   uint64_t number)
{
    return &x->buckets[wr_rng_at(epoch, 0, number) % WR_EXTENT_BUCKETS];
}

static struct wr_group *find_group(struct wr_extents *x, uint64_t epoch,
                                   uint64_t number)
{
    struct wr_group *g = *bucket_of(x, epoch, number);

    while (g && (g->epoch != epoch || g->number != number))
        g = g->chain;
    return g;
}

static void unlink_use(struct wr_extents *x, struct wr_group *g)
{
    *(g->newer ? &g->newer->older : &x->newest) = g->older;
    *(g->older ? &g->older->newer : &x->oldest) = g->newer;
    g->newer = g->older = NULL;
}

static void link_newest(struct wr_extents *x, struct wr_group *g)
{
    g->older = x->newest;
    g->newer = NULL;
    *(x->newest ? &x->newest->newer : &x->oldest) = g;
    x->newest = g;
}

static void free_group(struct wr_extents *x, struct wr_group *g)
{
    struct wr_group **at = bucket_of(x, g->epoch, g->number);

    for (unsigned i = 0; i < g->count; i++)
        empty(x, &g->extents[i]);
    while (*at != g)
        at = &(*at)->chain;
    *at = g->chain;
    unlink_use(x, g);
    x->group_count--;
    free(g->why);
    free(g);
}

/* Room for `cap` more bytes of this kind; drops what nobody uses. The only
 * one of its kind is always granted. */
static bool make_room(struct wr_extents *x, const struct wr_group *wanted,
                      size_t cap)
{
    size_t *used = used_of(x, wanted);
    size_t limit = wanted->packed ? x->packed_limit : x->limit;
    struct wr_group *g = x->oldest;

    while (*used && *used + cap > limit && g) {
        struct wr_group *newer = g->newer;

        if (!g->users && g != wanted && g->packed == wanted->packed)
            free_group(x, g);
        g = newer;
    }
    return !*used || *used + cap <= limit;
}

/* Blocks of which some sample never asks (it was over before a resume, or
 * filled a hole) would stay for ever. */
static void drop_oldest(struct wr_extents *x)
{
    struct wr_group *g = x->oldest;

    while (g && (g->users || g->packed))
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
           b->offset + b->length - start <= EXTENT_MAX;
}

/* The run of samples that begins at `first` and ends before `end`; those of the
 * other part in between are read along if they are small. */
static struct wr_extent run_at(const struct wr_extents *x, uint64_t first,
                               uint64_t end)
{
    const struct wr_index *ix = x->ds->index;
    struct wr_extent e = {.first = first, .count = 1};
    struct wr_part last, next;

    wr_index_part(ix, 0, wr_split_sample(&x->split, first), &last);
    e.object = last.object;
    e.offset = last.offset;
    while (first + e.count < end && !last.whole && !wr_part_is_packed(&last)) {
        wr_index_part(ix, 0, wr_split_sample(&x->split, first + e.count),
                      &next);
        if (!follows(&last, &next, e.offset))
            break;
        last = next;
        e.count++;
    }
    e.len = (size_t)(last.offset + last.length - e.offset);
    e.left = e.count;
    return e;
}

static struct wr_group *add_group(struct wr_extents *x, struct wr_group *g)
{
    struct wr_group **bucket = bucket_of(x, g->epoch, g->number);

    for (unsigned i = 0; i < g->count; i++) {
        g->extents[i].table = x;
        g->extents[i].group = g;
    }
    g->chain = *bucket;
    *bucket = g;
    x->group_count++;
    link_newest(x, g);
    return g;
}

static struct wr_group *new_block(struct wr_extents *x, uint64_t epoch,
                                  uint64_t number)
{
    uint64_t all = wr_split_count(&x->split, wr_index_count(x->ds->index));
    uint64_t first = number * x->block;
    uint64_t end = WR_MIN(first + x->block, all);
    struct wr_group *g;
    unsigned count = 0;

    if (x->group_count >= MAX_GROUPS)
        drop_oldest(x);
    for (uint64_t i = first; i < end; count++)
        i += run_at(x, i, end).count;
    g = calloc(1, sizeof(*g) + count * sizeof(g->extents[0]));
    if (!g)
        return NULL;
    g->epoch = epoch;
    g->number = number;
    for (uint64_t i = first; i < end; i += g->extents[g->count++].count)
        g->extents[g->count] = run_at(x, i, end);
    return add_group(x, g);
}

static struct wr_group *new_packed(struct wr_extents *x, uint64_t number)
{
    const struct wr_unit *u = wr_index_unit(x->ds->index, number);
    struct wr_group *g = calloc(1, sizeof(*g) + sizeof(g->extents[0]));

    if (!g)
        return NULL;
    g->epoch = PACKED_EPOCH;
    g->number = number;
    g->packed = true;
    g->count = 1;
    g->extents[0] = (struct wr_extent){
        .object = u->object,
        .len = (size_t)u->inflated,
        .count = 1,
        .left = UINT64_MAX, /* samples of any epoch may ask */
    };
    return add_group(x, g);
}

static struct wr_extent *find_extent(struct wr_group *g, uint64_t place)
{
    unsigned lo = 0, hi = g->count;

    while (hi - lo > 1) {
        unsigned mid = lo + (hi - lo) / 2;

        if (g->extents[mid].first <= place)
            lo = mid;
        else
            hi = mid;
    }
    return &g->extents[lo];
}

/* --- what tasks do with them --- */

static void point_at(struct wr_task *t)
{
    const struct wr_extent *e = t->extent;
    union {
        const uint8_t *in;
        uint8_t *out; /* nobody writes through it */
    } at = {.in = e->bytes + (t->place.offset - e->offset)};

    t->rd.data = at.out;
    t->rd.len = t->rd.got = (size_t)t->place.length;
}

/* Memory and a read for an extent that is empty. A gzip object that must not
 * wait, because those that hold the memory may wait for it, gets it. */
static bool begin_load(struct wr_extents *x, struct wr_extent *e, bool must)
{
    size_t need = e->group->packed ? e->len : wr_read_cap(e->len, x->direct);

    if (need > WR_INFLATE_MAX) /* an index may say anything */
        return false;
    if (!make_room(x, e->group, WR_ALIGN_UP(need, CAP_STEP)) &&
        !(must && e->group->packed))
        return false;
    e->buf = buffer_take(x, need, &e->cap);
    if (!e->buf)
        return false;
    *used_of(x, e->group) += e->cap;
    e->state = WR_EXTENT_LOADING;
    e->rd = (struct wr_io){.offset = e->offset,
                           .len = e->len,
                           .buf = e->buf,
                           .cap = e->cap,
                           .tag = WR_TAG_EXTENT};
    return true;
}

static enum wr_extent_get join(struct wr_extents *x, struct wr_extent *e,
                               struct wr_task *t, enum wr_extent_ask ask)
{
    enum wr_extent_get how = WR_EXTENT_WAIT;

    if (e->state == WR_EXTENT_EMPTY) {
        /* The last one that asks gains nothing from the others' bytes, nor
         * does one out of its turn. */
        if (!e->group->packed && (!e->left || e->failed || ask == WR_ASK_FILL))
            return WR_EXTENT_NONE;
        if (!begin_load(x, e, /* must= */ ask != WR_ASK_USUAL))
            return WR_EXTENT_NONE;
        how = WR_EXTENT_LOAD;
    }
    e->users++;
    e->group->users++;
    t->extent = e;
    if (e->state == WR_EXTENT_LOADED) {
        point_at(t);
        return WR_EXTENT_READY;
    }
    t->next_waiting = e->waiting;
    e->waiting = t;
    return how;
}

static struct wr_extent *extent_for(struct wr_extents *x, struct wr_task *t,
                                    bool fill)
{
    uint64_t epoch = t->batch->epoch->number;
    uint64_t place = wr_split_place(&x->split, t->id);
    uint64_t number = place / x->block;
    struct wr_group *g;
    struct wr_extent *e;

    if (wr_part_is_packed(&t->place)) {
        epoch = PACKED_EPOCH;
        number = t->place.unit;
    }
    g = find_group(x, epoch, number);
    if (g) {
        unlink_use(x, g);
        link_newest(x, g);
    } else if (wr_part_is_packed(&t->place)) {
        g = new_packed(x, number);
    } else if (!fill) { /* not for one sample out of its turn */
        g = new_block(x, epoch, number);
    }
    if (!g)
        return NULL;
    e = wr_part_is_packed(&t->place) ? &g->extents[0] : find_extent(g, place);
    if (!wr_part_is_packed(&t->place) && !fill && e->left)
        e->left--;
    return e;
}

/* A gzip object that could not be loaded in this epoch. */
static bool is_known_bad(const struct wr_extent *e, const struct wr_task *t)
{
    return e->state == WR_EXTENT_EMPTY && e->group->why &&
           t->batch->epoch->number <= e->group->bad_epoch;
}

enum wr_extent_get wr_extents_get(struct wr_extents *x, struct wr_task *t,
                                  enum wr_extent_ask ask)
{
    enum wr_extent_get how = WR_EXTENT_NONE;
    struct wr_extent *e;

    if (!wr_part_is_packed(&t->place) && (!x->blocks || t->place.whole))
        return how;
    pthread_mutex_lock(&x->lock);
    e = extent_for(x, t, ask == WR_ASK_FILL);
    if (e && is_known_bad(e, t)) {
        wr_task_fail(t, e->group->why);
        how = WR_EXTENT_BAD;
    } else if (e && (e->count > 1 || wr_part_is_packed(&t->place))) {
        how = join(x, e, t, ask);
    }
    pthread_mutex_unlock(&x->lock);
    return how;
}

void wr_extents_stop(struct wr_extents *x)
{
    atomic_store(&x->stopping, true);
}

/* Inflates `o` into e->buf, as far as it was indexed: behind that a shard may
 * be damaged. */
static int inflate_object(struct wr_extent *e, struct wr_object *o,
                          struct wr_inflate *z, uint8_t *in,
                          struct wr_inflate_cost *cost, weir_err *err)
{
    uint64_t at = 0, start;
    size_t done = 0;
    int64_t n, got;

    while (done < e->len) {
        if (atomic_load_explicit(&e->table->stopping, memory_order_relaxed))
            return wr_fail(err, WEIR_ECANCELED, "the pipeline closes");
        start = wr_clock_ns();
        n = o->ops->read(o, in, INFLATE_STEP, at, err);
        cost->read_ns += wr_clock_ns() - start;
        cost->requests++;
        if (n < 0)
            return (int)n;
        if (n == 0)
            return wr_fail(err, WEIR_ECHANGED,
                           "inflates to %zu bytes, not %zu as indexed", done,
                           e->len);
        cost->bytes += (uint64_t)n;
        at += (uint64_t)n;
        start = wr_clock_ns();
        wr_inflate_feed(z, in, (size_t)n);
        do {
            got = wr_inflate_read(z, e->buf + done, e->len - done, err);
            if (got < 0)
                return (int)got;
            done += (size_t)got;
        } while (got && done < e->len);
        cost->inflate_ns += wr_clock_ns() - start;
    }
    return 0;
}

int wr_extent_inflate(struct wr_extent *e, const char *path,
                      struct wr_inflate_cost *cost, weir_err *err)
{
    struct wr_store *st = e->table->ds->store;
    struct wr_inflate *z = NULL;
    struct wr_object *o = NULL;
    uint8_t *in = NULL;
    int r;

    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = wr_inflate_new(&z, err);
    in = r == 0 ? malloc(INFLATE_STEP) : NULL;
    if (r == 0 && !in)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = inflate_object(e, o, z, in, cost, err);
    if (r < 0)
        wr_fail_prefix(err, r, "'%s'", path);
    free(in);
    wr_inflate_free(z);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

/* With the lock held: an extent that nobody uses and nobody will ask for. */
static void drop_if_over(struct wr_extents *x, struct wr_extent *e)
{
    struct wr_group *g = e->group;

    if (!e->users && !e->left)
        empty(x, e);
    if (g->users)
        return;
    for (unsigned i = 0; i < g->count; i++)
        if (g->extents[i].left)
            return;
    free_group(x, g);
}

struct wr_task *wr_extent_loaded(struct wr_extent *e)
{
    struct wr_extents *x = e->table;
    struct wr_task *list;

    pthread_mutex_lock(&x->lock);
    list = e->waiting;
    e->waiting = NULL;
    e->state = WR_EXTENT_LOADED;
    e->bytes = e->group->packed ? e->buf : e->rd.data;
    for (struct wr_task *t = list; t; t = t->next_waiting)
        point_at(t);
    pthread_mutex_unlock(&x->lock);
    return list;
}

/* With the lock held. Without memory for it, every sample tries again. */
static void note_why(struct wr_group *g, uint64_t epoch, const weir_err *why)
{
    if (!g->why)
        g->why = malloc(sizeof(*g->why));
    if (g->why)
        *g->why = *why;
    g->bad_epoch = epoch;
}

struct wr_task *wr_extent_failed(struct wr_extent *e, const weir_err *why)
{
    struct wr_extents *x = e->table;
    struct wr_task *list;

    pthread_mutex_lock(&x->lock);
    list = e->waiting;
    e->waiting = NULL;
    if (why) /* the first in the list asked last */
        note_why(e->group, list->batch->epoch->number, why);
    for (struct wr_task *t = list; t; t = t->next_waiting) {
        t->extent = NULL;
        e->users--;
        e->group->users--;
    }
    e->failed = true;
    empty(x, e);
    drop_if_over(x, e);
    pthread_mutex_unlock(&x->lock);
    return list;
}

void wr_extent_leave(struct wr_task *t)
{
    struct wr_extent *e = t->extent;
    struct wr_extents *x;

    if (!e)
        return;
    x = e->table;
    t->extent = NULL;
    pthread_mutex_lock(&x->lock);
    e->users--;
    e->group->users--;
    drop_if_over(x, e);
    pthread_mutex_unlock(&x->lock);
}

/* --- beginning and end --- */

int wr_extents_init(struct wr_extents *x, const weir_dataset *ds,
                    const weir_pipeline_config *cfg, weir_err *err)
{
    uint64_t n = WR_MAX(wr_index_count(ds->index), (uint64_t)1);
    uint64_t mean = wr_index_bytes(ds->index) / n;
    uint64_t window = cfg->order == WEIR_ORDER_BLOCK ? cfg->block_window : 4;
    uint64_t bytes = WR_MIN(cfg->block_samples * WR_MIN(mean, SMALL),
                            (uint64_t)1 << 30);
    uint64_t blocks;

    (void)err;
    *x = (struct wr_extents){.ds = ds, .direct = cfg->direct};
    pthread_mutex_init(&x->lock, NULL);
    x->split = wr_split_of(cfg);
    x->block = WR_MAX(cfg->block_samples, 1u);
    /* Ranks share each block: every one of them would read all of it. */
    x->blocks = cfg->order != WEIR_ORDER_SHUFFLE && cfg->world == 1 &&
                mean <= SMALL &&
                wr_index_object_count(ds->index) < wr_index_count(ds->index);
    x->packed_limit = (size_t)wr_config_memory(cfg);
    /* The window that is used, the one that comes, what is read ahead beyond
     * them; a block may lie in two objects. */
    window = WR_MIN(window, n / x->block + 1);
    blocks = 2 * window + (uint64_t)cfg->threads * cfg->depth / x->block + 1;
    x->limit = (size_t)WR_MIN(2 * blocks * (bytes + CAP_STEP),
                              wr_config_memory(cfg));
    return 0;
}

void wr_extents_done(struct wr_extents *x)
{
    if (!x->ds)
        return;
    while (x->oldest)
        free_group(x, x->oldest);
    while (x->spare_count)
        drop_spare(x);
    pthread_mutex_destroy(&x->lock);
    *x = (struct wr_extents){0};
}
