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
