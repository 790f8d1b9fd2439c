/* batches.c - the batches that there are, and their buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "pipeline/schedule.h"

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
