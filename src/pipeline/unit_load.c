/* unit_load.c - how a unit's bytes come into memory, piece by piece.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "pipeline/schedule.h"
#include "pipeline/unit.h"

#define PIECE ((uint64_t)WR_UNIT_PIECE)
/* Made at once, about: so soon it is noticed that the pipeline closes. */
#define SLICE ((uint64_t)1 << 20)
/* Less is not fed at once: the library copies its window each time. */
#define SLICE_LEAST ((uint64_t)64 << 10)
/* Units up to this size have a piece of just their size. */
#define SMALL ((uint64_t)64 << 10)

struct wr_unit_load {
    struct wr_object *object; /* borrowed; NULL: its reads open it */
    struct wr_unfilter *undo; /* owned; NULL: none yet, or no filters */
    uint64_t pieces;          /* there are */
    uint64_t asked, fed;      /* of them: submitted, used up */
    unsigned in_flight;
    uint8_t *own;     /* owned: memory for a piece; NULL: one has it */
    size_t own_cap;   /* and of any other piece */
    bool busy;        /* somebody has the unit for itself */
    bool done;        /* all its bytes are there */
    bool tried;       /* once before, in vain */
    weir_err why;     /* code: it failed; reads in flight are waited for */
    uint64_t lack_ns; /* as wr_read's */
    char *path;       /* owned, behind the slots */
    unsigned slots;
    struct wr_unit_piece piece[]; /* number k in slot k % slots */
};

static bool is_packed(const struct wr_shared *u)
{
    return u->packing.filters != 0;
}

/* --- pieces --- */

/* Pieces end at multiples of WR_DIRECT_ALIGN, so that those of a unit without
 * filters are read into their place. A block is one piece. */
static uint64_t base_of(const struct wr_shared *u)
{
    return u->offset & ~(uint64_t)(WR_DIRECT_ALIGN - 1);
}

static uint64_t piece_count(const struct wr_shared *u)
{
    uint64_t end = u->offset + u->packing.stored;

    if (!u->packing.stored)
        return 0;
    return u->group->indexed ? (end - base_of(u) + PIECE - 1) / PIECE : 1;
}

/* Several pieces that are read into place begin with whole pages, too. */
static uint64_t first_byte(const struct wr_shared *u)
{
    return !is_packed(u) && piece_count(u) > 1 ? base_of(u) : u->offset;
}

static void set_range(const struct wr_shared *u, struct wr_unit_piece *p)
{
    uint64_t k = p->number, base = base_of(u);
    uint64_t end = u->offset + u->packing.stored;
    uint64_t from = k ? base + k * PIECE : first_byte(u);

    if (u->group->indexed)
        end = WR_MIN(end, base + (k + 1) * PIECE);
    p->rd = (struct wr_io){.path = u->load->path,
                           .object = u->load->object,
                           .offset = from,
                           .len = (size_t)(end - from),
                           .identity = wr_index_object_identity(
                               u->group->table->ds->index, u->object),
                           .buf = p->buf,
                           .cap = u->load->own_cap,
                           .tag = WR_TAG_UNIT};
    if (!is_packed(u)) {
        size_t at = k ? (size_t)(from - base) : 0;

        p->rd.buf = u->buf + at;
        p->rd.cap = u->cap - at;
    }
}

/* --- beginning and end --- */

/* There may be very many of those at once: the one piece that such a unit has
 * is of its size. */
static bool is_small(const struct wr_shared *u)
{
    return u->packing.stored <= SMALL;
}

/* Memory that a unit is granted for a piece; 0: none is fed to filters. */
static size_t own_bytes(const struct wr_shared *u)
{
    uint64_t stored = u->packing.stored;

    if (!is_packed(u) || !stored)
        return 0;
    return is_small(u)
               ? wr_read_cap((size_t)stored + 1, u->group->table->direct)
               : WR_UNIT_STEP;
}

static bool take_own(struct wr_shared *u)
{
    struct wr_unit_load *l = u->load;

    l->own_cap = own_bytes(u);
    if (!l->own_cap)
        return true;
    l->own = is_small(u) ? wr_unit_take(u, l->own_cap, &l->own_cap)
                         : wr_piece_take(u->group->table, /* ahead= */ false);
    return l->own != NULL;
}

static void give_own(struct wr_shared *u)
{
    struct wr_unit_load *l = u->load;

    if (l->own && is_small(u))
        wr_unit_give(u, l->own, l->own_cap);
    else if (l->own)
        wr_piece_give(u->group->table, l->own, /* ahead= */ false);
}

/* A piece is done with its memory. One stays with the unit, so that it can
 * always go on. */
static void give_memory(struct wr_shared *u, struct wr_unit_piece *p)
{
    struct wr_unit_load *l = u->load;

    if (p->buf && l->own)
        wr_piece_give(u->group->table, p->buf, /* ahead= */ true);
    else if (p->buf)
        l->own = p->buf;
    p->buf = NULL;
}

static bool take_memory(struct wr_shared *u, struct wr_unit_piece *p)
{
    struct wr_unit_load *l = u->load;

    if (!is_packed(u))
        return true;
    p->buf = l->own ? l->own
                    : wr_piece_take(u->group->table, /* ahead= */ true);
    l->own = NULL;
    return p->buf != NULL;
}

/* A unit of the index that must not wait, because those that hold the memory
 * may wait for it, gets it. */
bool wr_load_new(struct wr_shared *u, const char *path, bool must)
{
    bool direct = u->group->table->direct;
    size_t skip = (size_t)(u->offset - first_byte(u));
    size_t need = is_packed(u)
                      ? (size_t)u->packing.inflated
                      : wr_read_cap((size_t)u->packing.stored + skip, direct);
    size_t undo = is_packed(u) ? wr_unfilter_memory(&u->packing) : 0;
    unsigned slots = (unsigned)WR_MIN(WR_MAX(piece_count(u), (uint64_t)1),
                                      WR_UNIT_WINDOW + 1);
    size_t bytes = sizeof(struct wr_unit_load) +
                   slots * sizeof(struct wr_unit_piece);
    struct wr_unit_load *l;

    if (!wr_unit_make_room(u, need + undo + own_bytes(u)) &&
        !(must && u->group->indexed))
        return false;
    l = calloc(1, bytes + strlen(path) + 1);
    if (!l)
        return false;
    l->path = strcpy((char *)l + bytes, path);
    l->pieces = piece_count(u);
    l->slots = slots;
    for (unsigned k = 0; k < slots; k++)
        l->piece[k].unit = u;
    u->load = l;
    u->buf = wr_unit_take(u, need, &u->cap);
    if (!u->buf || !take_own(u)) {
        wr_unit_empty(u);
        return false;
    }
    u->state = WR_UNIT_LOADING;
    l->busy = true;
    return true;
}

void wr_load_free(struct wr_shared *u)
{
    struct wr_unit_load *l = u->load;

    if (!l)
        return;
    for (unsigned k = 0; k < l->slots; k++)
        give_memory(u, &l->piece[k]);
    give_own(u);
    wr_unfilter_free(l->undo);
    free(l);
    u->load = NULL;
}

const char *wr_unit_path(const struct wr_shared *u)
{
    return u->load->path;
}

void wr_unit_why(const struct wr_shared *u, weir_err *ret)
{
    *ret = u->load->why;
}

/* --- what is next --- */

static bool can_ask(const struct wr_shared *u)
{
    const struct wr_unit_load *l = u->load;

    return !l->why.code && l->asked < l->pieces &&
           l->piece[l->asked % l->slots].state == WR_PIECE_FREE &&
           (!is_packed(u) || l->own || wr_piece_has_ahead(u->group->table));
}

/* A read may fail by chance, so may bytes: they are tried twice, and for as
 * long as resources may come back. */
static bool may_try_again(struct wr_shared *u)
{
    struct wr_unit_load *l = u->load;

    if (!u->group->indexed)
        return false;
    if (!wr_err_is_lack(l->why.code))
        return !l->tried;
    if (!l->lack_ns)
        l->lack_ns = wr_clock_ns();
    return wr_lack_backoff(l->lack_ns, wr_clock_ns()) != 0;
}

/* With the lock held, for who has the unit. */
static enum wr_unit_next next_step(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    struct wr_unit_load *l = u->load;

    if (l->done)
        return WR_NEXT_LOADED;
    if (!l->why.code && !l->pieces)
        return WR_NEXT_FEED; /* nothing is stored */
    if (l->why.code && !l->in_flight)
        return may_try_again(u) ? WR_NEXT_AGAIN : WR_NEXT_FAILED;
    if (can_ask(u))
        return WR_NEXT_ASK;
    if (!l->why.code && is_packed(u) &&
        l->piece[l->fed % l->slots].state == WR_PIECE_THERE)
        return WR_NEXT_FEED;
    /* The filters wait for storage: more is to be in flight. */
    if (l->fed && l->asked < l->pieces)
        x->ahead_most = WR_MIN(4 * x->ahead_most, x->ahead_limit);
    l->busy = false;
    return WR_NEXT_IDLE;
}

enum wr_unit_next wr_unit_next(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    enum wr_unit_next next;

    pthread_mutex_lock(&x->lock);
    next = next_step(u);
    pthread_mutex_unlock(&x->lock);
    return next;
}

enum wr_unit_next wr_unit_begin(struct wr_shared *u, struct wr_object *object)
{
    u->load->object = object;
    return wr_unit_next(u);
}

struct wr_unit_piece *wr_unit_ask(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    struct wr_unit_load *l = u->load;
    struct wr_unit_piece *p = NULL;

    pthread_mutex_lock(&x->lock);
    if (can_ask(u) && take_memory(u, &l->piece[l->asked % l->slots])) {
        p = &l->piece[l->asked % l->slots];
        p->number = l->asked++;
        p->state = WR_PIECE_OUT;
        p->retried = false;
        p->lack_ns = 0;
        set_range(u, p);
        l->in_flight++;
        u->users++;
        u->group->users++;
    }
    pthread_mutex_unlock(&x->lock);
    return p;
}

bool wr_unit_retries(struct wr_unit_piece *p)
{
    if (!p->rd.result || wr_err_is_lack(p->rd.result) || p->retried ||
        !p->unit->group->indexed)
        return false;
    p->retried = true;
    return true;
}

/* With the lock held: what is not to be tried again. */
static void fail_read(struct wr_unit_load *l, const struct wr_unit_piece *p)
{
    wr_io_error(&p->rd, l->path, &l->why);
    l->tried = true;
}

enum wr_unit_next wr_unit_came(struct wr_unit_piece *p)
{
    struct wr_shared *u = p->unit;
    struct wr_units *x = u->group->table;
    enum wr_unit_next next = WR_NEXT_IDLE;
    struct wr_unit_load *l = u->load;

    pthread_mutex_lock(&x->lock);
    l->in_flight--;
    u->users--;
    u->group->users--;
    p->state = is_packed(u) ? WR_PIECE_THERE : WR_PIECE_FREE;
    if (u->state == WR_UNIT_LOADED) { /* without it */
        if (!l->in_flight) {
            wr_load_free(u);
            wr_unit_drop_if_over(u);
        }
    } else {
        if (!is_packed(u) && p->rd.result)
            fail_read(l, p);
        else if (!is_packed(u) && ++l->fed == l->pieces)
            l->done = !l->why.code;
        if (l->done)
            u->bytes = l->pieces > 1 ? u->buf + (u->offset - first_byte(u))
                                     : p->rd.data;
        if (!l->busy) {
            l->busy = true;
            next = next_step(u);
        }
    }
    pthread_mutex_unlock(&x->lock);
    return next;
}

/* --- filters --- */

/* 1: that was all that was wanted. */
static int feed(struct wr_shared *u, const struct wr_io *rd, weir_err *err)
{
    const atomic_bool *stopping = &u->group->table->stopping;
    const struct wr_packing *p = &u->packing;
    size_t slice = (size_t)WR_MAX(SLICE * p->stored / (p->inflated + 1),
                                  SLICE_LEAST);
    struct wr_unit_load *l = u->load;
    size_t at = 0;
    int r = 0;

    if (!l->undo)
        r = wr_unfilter_new(&u->packing, u->buf, &l->undo, err);
    if (r == 0 && !u->packing.stored)
        r = wr_unfilter_feed(l->undo, NULL, 0, err);
    while (r == 0 && at < rd->len) {
        size_t n = WR_MIN(slice, rd->len - at);

        if (atomic_load_explicit(stopping, memory_order_relaxed))
            return wr_fail(err, WEIR_ECANCELED, "the pipeline closes");
        r = wr_unfilter_feed(l->undo, rd->data + at, n, err);
        at += n;
    }
    if (r < 0)
        wr_fail_prefix(err, r, "'%s'", l->path);
    return r;
}

void wr_unit_feed(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    struct wr_unit_load *l = u->load;
    struct wr_unit_piece *p = &l->piece[l->fed % l->slots];
    weir_err err;
    int r = p->rd.result ? 0 : feed(u, &p->rd, &err);

    pthread_mutex_lock(&x->lock);
    give_memory(u, p);
    p->state = WR_PIECE_FREE;
    l->fed++;
    if (p->rd.result)
        fail_read(l, p);
    else if (r < 0)
        l->why = err;
    l->done = r == 1;
    if (l->done)
        u->bytes = u->buf;
    pthread_mutex_unlock(&x->lock);
}

void wr_unit_restart(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    struct wr_unit_load *l = u->load;

    pthread_mutex_lock(&x->lock);
    l->tried |= !wr_err_is_lack(l->why.code);
    l->why.code = 0;
    l->asked = l->fed = 0;
    for (unsigned k = 0; k < l->slots; k++) {
        give_memory(u, &l->piece[k]);
        l->piece[k].state = WR_PIECE_FREE;
    }
    wr_unfilter_free(l->undo);
    l->undo = NULL;
    pthread_mutex_unlock(&x->lock);
}

/* --- the end of loading --- */

static bool is_before(const struct wr_task *a, const struct wr_task *b)
{
    return a->batch->seq != b->batch->seq ? a->batch->seq < b->batch->seq
                                          : a->slot < b->slot;
}

const struct wr_task *wr_unit_first(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    const struct wr_task *first = NULL;

    pthread_mutex_lock(&x->lock);
    for (const struct wr_read *r = u->waiting; r; r = r->next_waiting)
        if (!first || is_before(r->task, first))
            first = r->task;
    pthread_mutex_unlock(&x->lock);
    return first;
}

struct wr_read *wr_unit_loaded(struct wr_shared *u)
{
    struct wr_units *x = u->group->table;
    struct wr_read *list;

    pthread_mutex_lock(&x->lock);
    list = u->waiting;
    u->waiting = NULL;
    u->state = WR_UNIT_LOADED;
    wr_unit_end_early(u);
    for (struct wr_read *r = list; r; r = r->next_waiting)
        wr_unit_point(r);
    if (!u->load->in_flight)
        wr_load_free(u);
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

struct wr_read *wr_unit_failed(struct wr_shared *u)
{
    struct wr_group *g = u->group;
    struct wr_units *x = g->table;
    struct wr_read *list;

    pthread_mutex_lock(&x->lock);
    list = u->waiting;
    u->waiting = NULL;
    wr_unit_end_early(u);
    /* Not for what says nothing about it; the first in the list asked last. */
    if (g->indexed && list && !wr_err_is_lack(u->load->why.code))
        note_why(g, list->task->batch->epoch->number, &u->load->why);
    for (struct wr_read *r = list; r; r = r->next_waiting) {
        r->unit = NULL;
        u->users--;
        g->users--;
    }
    u->failed = true;
    wr_unit_empty(u);
    wr_unit_drop_if_over(u);
    pthread_mutex_unlock(&x->lock);
    return list;
}
