/* settle.c - batches become final, in order: holes are filled from the tail.
 * SPDX-License-Identifier: Apache-2.0
 *
 * When all samples of a batch are there or known to be bad, its holes take
 * samples from the tail of the epoch, in slot order; those are read like any
 * other, and may leave holes again. A later batch is not looked at before, so
 * which sample goes where is a function of the data alone. Samples that a
 * later batch had already read and lost to the tail are dropped there. */
#include "pipeline/schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* --- buffers --- */

static void *buffer_alloc(struct wr_sched *s)
{
    return s->cfg.alloc ? s->cfg.alloc(s->cfg.alloc_arg, s->arrays.bytes)
                        : wr_big_alloc(s->arrays.bytes);
}

static void buffer_free(struct wr_sched *s, void *p)
{
    if (!p)
        return;
    if (s->cfg.alloc)
        s->cfg.free(s->cfg.alloc_arg, p, s->arrays.bytes);
    else
        wr_big_free(p, s->arrays.bytes);
}

/* Batches get buffers strictly in order, so that the lowest one can always go
 * on, and not before they need one: a consumer that keeps up makes do with the
 * few that came back last, which are still in the processor's cache. */
bool wr_sched_can_buffer(const struct wr_sched *s, const struct wr_batch *b)
{
    return !s->wants_data || b->seq < s->buffered ||
           b->seq - s->buffered < s->free_buffer_count;
}

void wr_sched_ensure_buffer(struct wr_sched *s, const struct wr_batch *b)
{
    while (s->wants_data && s->buffered <= b->seq) {
        struct wr_batch *next = s->by_seq[s->buffered++ % s->batch_count];

        next->data = s->free_buffers[--s->free_buffer_count];
    }
}

void wr_sched_give_buffer_back(struct wr_sched *s, struct wr_batch *b)
{
    if (!s->wants_data)
        return; /* it is the batch's own */
    if (b->data)
        s->free_buffers[s->free_buffer_count++] = b->data;
    b->data = NULL;
}

int wr_batches_grow(struct wr_sched *s, unsigned want, weir_err *err)
{
    while (s->buffer_count < want) { /* the consumer alone changes it */
        void *buf = s->wants_data ? buffer_alloc(s) : NULL;

        if (s->wants_data && !buf)
            return wr_fail(err, WEIR_ENOMEM,
                           "no memory for %u batches of %zu bytes", want,
                           s->arrays.bytes);
        pthread_mutex_lock(&s->lock);
        s->buffers[s->buffer_count++] = buf;
        if (buf)
            s->free_buffers[s->free_buffer_count++] = buf;
        wr_sched_wake(s);
        pthread_mutex_unlock(&s->lock);
    }
    return 0;
}

/* --- batches --- */

static bool init_batch(struct wr_sched *s, struct wr_batch *b)
{
    size_t n = s->cfg.batch;

    b->sched = s;
    b->labels = calloc(n, sizeof(*b->labels));
    b->ids = calloc(n, sizeof(*b->ids));
    b->lengths = calloc(n, sizeof(*b->lengths));
    b->fields = calloc(s->arrays.count + 1, sizeof(*b->fields));
    b->varying = calloc(s->arrays.varying + 1, sizeof(*b->varying));
    if (!s->wants_data)
        b->data = wr_big_alloc(s->arrays.bytes + 1);
    if (!b->labels || !b->ids || !b->lengths || !b->fields || !b->varying ||
        (!s->wants_data && !b->data))
        return false;
    for (unsigned k = 0; k < s->arrays.varying; k++)
        if (!wr_varying_init(&b->varying[k], &s->spares, s->cfg.batch))
            return false;
    return true;
}

int wr_batches_init(struct wr_sched *s, weir_err *err)
{
    s->batches = calloc(s->batch_count, sizeof(*s->batches));
    s->by_seq = calloc(s->batch_count, sizeof(struct wr_batch *));
    s->buffers = calloc(s->buffer_most, sizeof(void *));
    s->free_buffers = calloc(s->buffer_most, sizeof(void *));
    if (!s->batches || !s->by_seq || !s->buffers || !s->free_buffers)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < s->batch_count; i++)
        if (!init_batch(s, &s->batches[i]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static void batch_done(struct wr_sched *s, struct wr_batch *b)
{
    if (!s->wants_data)
        wr_big_free(b->data, s->arrays.bytes + 1);
    for (unsigned k = 0; b->varying && k < s->arrays.varying; k++)
        wr_varying_done(&b->varying[k]);
    free(b->varying);
    wr_epoch_unref(b->epoch);
    for (size_t i = 0; i < b->hole_count; i++)
        free(b->holes[i].text);
    free(b->holes);
    free(b->labels);
    free(b->ids);
    free(b->lengths);
    free(b->fields);
}

void wr_batches_done(struct wr_sched *s)
{
    for (unsigned i = 0; s->batches && i < s->batch_count; i++)
        batch_done(s, &s->batches[i]);
    for (unsigned i = 0; s->buffers && i < s->buffer_count; i++)
        buffer_free(s, s->buffers[i]);
    free(s->batches);
    free(s->by_seq);
    free(s->buffers);
    free(s->free_buffers);
}

/* --- batches become final, in order: holes are filled from the tail --- */

static int by_slot(const void *a, const void *b)
{
    const struct wr_hole *x = a, *y = b;

    return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool push_fill(struct wr_sched *s, struct wr_batch *b, uint32_t slot,
                      uint64_t id)
{
    if (!wr_grow(&s->fills, &s->fill_cap, s->fill_head + s->fill_count + 1,
                 sizeof(*s->fills))) {
        wr_fail(&s->failure, WEIR_ENOMEM, "out of memory");
        return false;
    }
    s->fills[s->fill_head + s->fill_count++] = (struct wr_ticket){
        .batch = b, .slot = slot, .fill = true, .id = id};
    b->pending++;
    return true;
}

/* Counts and names a bad sample; false when the run must end with it. */
static bool report(struct wr_sched *s, struct wr_batch *b, struct wr_hole *h)
{
    weir_bad_sample bad = {
        .id = h->id, .epoch = b->epoch->number, .code = h->code};
    const char *text = h->text ? h->text : weir_strerror(h->code);
    bool go_on = true;

    if (!s->epoch_bad++)
        snprintf(s->first_bad, sizeof(s->first_bad), "%s", text);
    if (s->cfg.on_error == WEIR_ON_ERROR_FAIL) {
        wr_fail(&s->failure, h->code, "%s", text);
        go_on = false;
    } else if (s->cfg.max_bad && s->epoch_bad > s->cfg.max_bad) {
        wr_fail(&s->failure, h->code,
                "more than %" PRIu64 " bad samples; the last: %s",
                s->cfg.max_bad, text);
        go_on = false;
    }
    wr_badlist_add(&s->bad, &bad, h->text);
    h->text = NULL;
    return go_on;
}

/* Holes are sorted by slot. */
static bool is_hole(const struct wr_hole *holes, size_t n, uint32_t slot)
{
    const struct wr_hole key = {.slot = slot};

    return n && bsearch(&key, holes, n, sizeof(key), by_slot);
}

static void move_slot(struct wr_sched *s, struct wr_batch *b, uint32_t from,
                      uint32_t to)
{
    wr_arrays_move(&s->arrays, b->data, from, to);
    for (unsigned k = 0; k < s->arrays.varying; k++)
        wr_varying_move(&b->varying[k], from, to);
    b->labels[to] = b->labels[from];
    b->ids[to] = b->ids[from];
    b->lengths[to] = b->lengths[from];
}

/* Fills one hole. The epoch's tail may have come down into this batch: then
 * its own last sample moves into the hole and the batch gets shorter. */
static bool fill_hole(struct wr_sched *s, struct wr_batch *b, size_t hole)
{
    struct wr_epoch *e = b->epoch;
    uint64_t first = b->index * s->cfg.batch;
    uint32_t slot = b->holes[hole].slot;

    if (e->tail > first + b->valid) {
        if (!wr_epoch_take_tail(e)) {
            wr_fail(&s->failure, WEIR_ENOMEM, "out of memory");
            return false;
        }
        return push_fill(s, b, slot, wr_epoch_sample(e, e->tail));
    }
    /* Slots behind the last good one are holes too, and go with it. */
    while (b->valid > slot) {
        uint32_t last = --b->valid;

        e->tail--;
        if (last == slot)
            break;
        if (!is_hole(b->holes, b->hole_count, last)) {
            move_slot(s, b, last, slot);
            break;
        }
    }
    return true;
}

/* One round over the holes that are there now. */
static bool fill_holes(struct wr_sched *s, struct wr_batch *b)
{
    size_t n = b->hole_count;

    for (size_t i = 0; i < n; i++)
        if (b->holes[i].slot < b->valid && !report(s, b, &b->holes[i]))
            return false;
    for (size_t i = 0; i < n; i++)
        if (b->holes[i].slot < b->valid && !fill_hole(s, b, i))
            return false;
    return true;
}

void wr_batch_forget_holes(struct wr_batch *b)
{
    for (size_t i = 0; i < b->hole_count; i++)
        free(b->holes[i].text);
    b->hole_count = 0;
}

/* Each stays where it is, for the consumer to see. */
static bool keep_holes(struct wr_sched *s, struct wr_batch *b)
{
    for (size_t i = 0; i < b->hole_count; i++)
        if (s->cfg.on_error == WEIR_ON_ERROR_FAIL &&
            !report(s, b, &b->holes[i]))
            return false;
    return true;
}

/* Pads slots [valid, batch) with samples of this epoch again. Gives up after
 * a whole epoch of bad ones. */
static bool pad(struct wr_sched *s, struct wr_batch *b)
{
    struct wr_epoch *e = b->epoch;
    uint64_t behind = (b->index + 1) * s->cfg.batch;
    bool all_bad = b->padding && b->hole_count == b->pads;

    if (!b->padding)
        b->pads_tried = 0;
    b->pads_bad = all_bad ? b->pads_bad + b->pads : 0;
    if (b->pads_bad >= e->order.n) {
        wr_fail(&s->failure, WEIR_EFORMAT,
                "epoch %" PRIu64 ": no readable sample to pad with", e->number);
        return false;
    }
    b->pads = 0;
    for (uint32_t slot = b->valid; slot < s->cfg.batch; slot++) {
        if (b->padding && !is_hole(b->holes, b->hole_count, slot))
            continue;
        if (!push_fill(s, b, slot, wr_epoch_pad(e, behind, b->pads_tried++)))
            return false;
        b->pads++;
    }
    b->padding = true;
    return true;
}

/* One step for a batch with nothing pending: true when it is final. */
static bool settle_step(struct wr_sched *s, struct wr_batch *b)
{
    struct wr_epoch *e = b->epoch;
    uint64_t first = b->index * s->cfg.batch;
    bool pads = s->cfg.remainder == WEIR_REMAINDER_PAD;

    if (b->hole_count)
        qsort(b->holes, b->hole_count, sizeof(*b->holes), by_slot);
    if (s->custom)
        return keep_holes(s, b);
    if (!b->padding) {
        /* Earlier batches may have taken what was planned for this one. */
        uint64_t left = e->tail > first ? e->tail - first : 0;

        b->valid = (uint32_t)WR_MIN(b->valid, left);
        if (!fill_holes(s, b))
            return false;
        wr_batch_forget_holes(b);
        if (b->pending)
            return false;
    }
    if (pads && (b->valid < s->cfg.batch) && (!b->padding || b->hole_count)) {
        if (!pad(s, b))
            return false;
        wr_batch_forget_holes(b);
    }
    return b->pending == 0;
}

/* Batches of the epoch that were over when it began here: after a resume. A
 * state from before they were counted tells as many as there would have been
 * with these ranks and this batch size. */
static uint64_t first_index(const struct wr_sched *s, const struct wr_epoch *e)
{
    uint64_t step = (uint64_t)s->cfg.batch * e->world;

    return e->start.batches ? e->start.batches
                            : (e->start.position + step - 1) / step;
}

static void set_public(struct wr_sched *s, struct wr_batch *b, uint32_t count)
{
    weir_batch *pub = &b->pub;

    *pub = (weir_batch){
        .count = count,
        .unique = WR_MIN(b->valid, count),
        .labels = b->labels,
        .ids = b->ids,
        .lengths = b->lengths,
        .epoch = b->epoch->number,
        .index = first_index(s, b->epoch) + b->index,
    };
    if (count)
        wr_arrays_publish(&s->arrays, b->data, b->fields, pub);
}

/* Ready, as soon as what varies is joined, and who wants to has had it. */
static void make_ready(struct wr_sched *s, struct wr_batch *b)
{
    b->phase = WR_BATCH_JOINING;
    if (s->custom && s->custom->settled)
        return; /* in its turn */
    if (!b->pub.count || !s->arrays.varying) {
        b->phase = WR_BATCH_READY;
        pthread_cond_signal(&s->ready);
        return;
    }
    b->next_join = s->joins;
    s->joins = b;
    s->joining++;
}

static bool join_fields(const struct wr_sched *s, struct wr_batch *b)
{
    for (unsigned k = 0; k < s->arrays.count; k++) {
        const struct wr_array *a = &s->arrays.of[k];
        weir_batch_field *f = &b->fields[k];
        uint64_t *offsets;

        if (a->varying == WR_NO_ARRAY)
            continue;
        offsets = (uint64_t *)wr_array_at(a, b->data, 0);
        f->data = wr_varying_join(&b->varying[a->varying], b->pub.count,
                                  offsets);
        if (!f->data)
            return false;
        f->offsets = offsets;
        f->bytes = offsets[b->pub.count];
    }
    return true;
}

static int hand_batch(const struct wr_sched *s, struct wr_batch *b,
                      weir_err *err)
{
    if (!join_fields(s, b))
        return wr_fail(err, WEIR_ENOMEM,
                       "no memory to join %" PRIu32 " samples", b->pub.count);
    return s->custom->settled(s->custom->arg, &b->pub, err);
}

/* One at a time: whoever has one goes on with what was settled meanwhile. */
static void hand_over(struct wr_sched *s)
{
    while (!s->handing && s->handed < s->settled && !s->failure.code) {
        struct wr_batch *b = s->by_seq[s->handed % s->batch_count];
        weir_err err;
        int r;

        s->handing = true;
        pthread_mutex_unlock(&s->lock);
        r = hand_batch(s, b, &err);
        pthread_mutex_lock(&s->lock);
        s->handing = false;
        s->handed++;
        if (r == 0)
            b->phase = WR_BATCH_READY;
        else if (!s->failure.code)
            s->failure = err;
        pthread_cond_signal(&s->ready);
    }
}

void wr_sched_join(struct wr_sched *s)
{
    struct wr_batch *b;
    bool done;

    if (s->custom && s->custom->settled)
        hand_over(s);
    while ((b = s->joins)) {
        s->joins = b->next_join;
        pthread_mutex_unlock(&s->lock);
        done = join_fields(s, b);
        pthread_mutex_lock(&s->lock);
        s->joining--;
        if (done)
            b->phase = WR_BATCH_READY;
        else if (!s->failure.code)
            wr_fail(&s->failure, WEIR_ENOMEM,
                    "no memory to join %" PRIu32 " samples", b->pub.count);
        pthread_cond_signal(&s->ready);
    }
}

static void finalize(struct wr_sched *s, struct wr_batch *b)
{
    struct wr_epoch *e = b->epoch;
    uint32_t count = b->valid;

    if (b->padding)
        count = s->cfg.batch;
    else if (s->cfg.remainder == WEIR_REMAINDER_DROP && count < s->cfg.batch)
        count = 0;
    e->good += count;
    b->taken_after = e->taken_count;
    set_public(s, b, count);
    make_ready(s, b);
    s->settled++;
    /* It, and those before it, need no buffer any more. */
    s->buffered = WR_MAX(s->buffered, s->settled);
    if (!count) {
        s->vanished++;
        wr_sched_give_buffer_back(s, b);
    }
    if (b->index + 1 == e->batches) {
        /* The rest of an epoch may be bad; a whole one would be so for ever. */
        if (!e->good && !e->start.position)
            wr_fail(&s->failure, WEIR_EFORMAT,
                    "epoch %" PRIu64 ": not one batch: %" PRIu64 " of %" PRIu64
                    " samples could not be read%s%s",
                    e->number, s->epoch_bad, e->local,
                    s->epoch_bad ? "; the first: " : "",
                    s->epoch_bad ? s->first_bad : "");
        s->epoch_bad = 0;
    }
}

void wr_sched_settle(struct wr_sched *s)
{
    while (s->settled < s->planned && !s->failure.code) {
        struct wr_batch *b = s->by_seq[s->settled % s->batch_count];

        if (b->pending || !settle_step(s, b))
            break;
        finalize(s, b);
    }
    if (s->failure.code)
        pthread_cond_signal(&s->ready);
    wr_sched_wake(s);
}
