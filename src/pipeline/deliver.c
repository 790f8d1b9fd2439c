/* deliver.c - from the bytes of a sample to its place in the batch.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "pipeline/worker.h"

void *wr_read_slot(const struct wr_read *r)
{
    const struct wr_array *f = wr_arrays_in(&r->task->batch->sched->arrays,
                                            r->column);
    struct wr_batch *b = r->task->batch;

    if (f->varying != WR_NO_ARRAY)
        return wr_varying_keep(&b->varying[f->varying], r->task->slot,
                               (size_t)r->part.length);
    return wr_array_at(f, b->data, r->task->slot);
}

void wr_task_release(struct wr_task *t)
{
    for (unsigned k = 0; k < t->batch->sched->arrays.parts; k++) {
        wr_block_free(&t->reads[k].block);
        wr_unit_leave(&t->reads[k]);
    }
}

/* --- fields --- */

/* Says of which part an error is, and of which field (NULL: of none). */
static int name_error(const struct wr_read *r, const struct wr_array *f,
                      weir_err *err)
{
    const struct wr_arrays *a = &r->task->batch->sched->arrays;

    if (r->part.whole)
        wr_fail_prefix(err, err->code, "'%s'", r->path);
    else
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, r->path,
                       r->task->id, r->part.offset);
    if (!f && a->parts > 1)
        f = wr_arrays_in(a, r->column);
    if (f && a->named)
        wr_fail_prefix(err, err->code, "field '%s'", f->field->name);
    return err->code;
}

/* Of a sample that does not have the field. */
static int make_absent(const struct wr_array *f, struct wr_task *t,
                       weir_err *err)
{
    struct wr_batch *b = t->batch;

    if (f->field->pub.is_label) /* of some samples alone is usual */
        wr_arrays_set_label(&b->sched->arrays, b->data, t->slot, WEIR_NO_LABEL);
    else if (f->varying == WR_NO_ARRAY)
        return wr_fail(err, WEIR_EFORMAT, "the sample does not have it");
    else if (!wr_varying_keep(&b->varying[f->varying], t->slot, 0))
        return wr_fail(err, WEIR_ENOMEM, "no memory");
    return 0;
}

static int make_varying(const struct wr_array *f, struct wr_task *t,
                        const struct wr_sample *s, weir_err *err)
{
    uint8_t *mem = wr_varying_keep(&t->batch->varying[f->varying], t->slot,
                                   s->len);

    if (!mem)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", s->len);
    memcpy(mem, s->bytes, s->len);
    return 0;
}

static int make_padded(const struct wr_array *f, struct wr_task *t,
                       const struct wr_sample *s, weir_err *err)
{
    uint8_t *slot;

    if (s->len > f->shape.bytes)
        return wr_fail(err, WEIR_ELIMIT, "%zu bytes, more than pad %zu", s->len,
                       f->shape.bytes);
    if (!f->delivered)
        return 0;
    slot = wr_array_at(f, t->batch->data, t->slot);
    memcpy(slot, s->bytes, s->len);
    memset(slot + s->len, 0, f->shape.bytes - s->len);
    wr_array_lengths(f, t->batch->data)[t->slot] = s->len;
    return 0;
}

static int make_copy(const struct wr_array *f, struct wr_task *t,
                     const struct wr_sample *s, weir_err *err)
{
    if (f->shape.bytes && s->len != f->shape.bytes)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes, not %zu", s->len,
                       f->shape.bytes);
    if (f->delivered)
        memcpy(wr_array_at(f, t->batch->data, t->slot), s->bytes, s->len);
    return 0;
}

/* One field of a sample, from its bytes into its place. */
static int make_field(struct wr_worker *w, unsigned k, struct wr_task *t,
                      const struct wr_sample *s, struct wr_picture_times *times,
                      weir_err *err)
{
    const struct wr_array *f = &w->sched->arrays.of[k];
    struct wr_decoder *d = w->decoders[k];

    if (!s->bytes)
        return make_absent(f, t, err);
    if (f->row && s->len % f->row)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes are not whole rows of %zu",
                       s->len, f->row);
    if (f->varying != WR_NO_ARRAY)
        return make_varying(f, t, s, err);
    if (f->padded && !d)
        return make_padded(f, t, s, err);
    if (f->shape.direct)
        return make_copy(f, t, s, err);
    return d->ops->decode(
        d, s, f->delivered ? wr_array_at(f, t->batch->data, t->slot) : NULL,
        times, err);
}

/* Puts a tile into its place: the batch, where the stored bytes are the tensor,
 * else memory of the worker. 1: it was the last one, and `s` has all of the
 * field; 2: the field is there. */
static int make_tile(struct wr_worker *w, const struct wr_array *f,
                     const struct wr_read *r, struct wr_sample *s,
                     weir_err *err)
{
    size_t bytes = (size_t)wr_field_bytes(&f->field->pub);
    unsigned tile = r->column - f->field->column;
    bool in_slot = f->shape.direct && f->delivered && f->varying == WR_NO_ARRAY;
    uint8_t *to;

    if (!in_slot && !wr_grow(&w->tiles, &w->tiles_cap, bytes, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", bytes);
    to = in_slot ? wr_array_at(f, r->task->batch->data, r->task->slot)
                 : w->tiles;
    wr_tiles_place(&f->tiles, tile, s->bytes, to);
    if (tile + 1 < f->columns)
        return 0;
    s->bytes = to;
    s->len = bytes;
    return in_slot ? 2 : 1;
}

/* The fields of one part: checks, unpacks and decodes. */
static int make_part(struct wr_worker *w, struct wr_read *r,
                     struct wr_sample *s, struct wr_picture_times *times,
                     weir_err *err)
{
    const struct wr_arrays *a = &w->sched->arrays;
    const weir_dataset *ds = w->sched->ds;
    bool decodes = w->decoders != NULL;
    struct wr_sample field;

    s->bytes = r->part.absent ? NULL : r->rd.data;
    s->len = r->rd.len;
    if (ds->format->unpack && s->bytes &&
        ds->format->unpack(ds->index, r->column, s, decodes ? &w->unpack : NULL,
                           err) < 0)
        return name_error(r, NULL, err);
    for (unsigned k = 0; decodes && k < a->count; k++) {
        const struct wr_array *f = &a->of[k];

        if (r->column - f->field->column >= f->columns)
            continue;
        field = *s;
        if (f->field->tiled) {
            int done = make_tile(w, f, r, &field, err);

            if (done < 0)
                return name_error(r, f, err);
            if (done != 1)
                continue;
        }
        if (f->field->unpacked && s->bytes) {
            field.bytes = w->unpack.fields[f->number].bytes;
            field.len = w->unpack.fields[f->number].len;
        }
        if (make_field(w, k, r->task, &field, times, err) < 0)
            return name_error(r, f, err);
    }
    return 0;
}

static int make(struct wr_worker *w, struct wr_task *t,
                struct wr_picture_times *times, weir_err *err)
{
    struct wr_sample s = {
        .id = t->id,
        .epoch = t->batch->epoch->number,
        .label = t->label,
    };

    for (unsigned k = 0; k < w->sched->arrays.parts; k++) {
        int r = t->reads[k].in_slot
                    ? 0
                    : make_part(w, &t->reads[k], &s, times, err);

        if (r < 0)
            return r;
    }
    t->label = s.label;
    return 0;
}

/* The same, with patience: memory that is short now comes back when another
 * sample is done with it. */
static int make_patiently(struct wr_worker *w, struct wr_task *t,
                          struct wr_picture_times *times, weir_err *err)
{
    uint64_t since = 0;
    int r;

    do
        r = make(w, t, times, err);
    while (wr_err_is_lack(r) && !wr_sched_is_over(w->sched) &&
           wr_lack_pause(&since));
    return r;
}

/* --- the cache --- */

/* The parts of a sample, one behind the other; NULL: no memory for that. */
static const uint8_t *join_parts(struct wr_worker *w, const struct wr_task *t)
{
    unsigned parts = w->sched->arrays.parts;
    size_t at = 0;

    if (parts == 1)
        return t->reads[0].rd.data;
    if (!wr_grow(&w->entry, &w->entry_cap, wr_task_stored(t), 1))
        return NULL;
    for (unsigned k = 0; k < parts; k++) {
        const struct wr_read *r = &t->reads[k];

        if (r->part.absent)
            continue;
        memcpy(w->entry + at, r->rd.data, r->rd.len);
        at += r->rd.len;
    }
    return w->entry;
}

/* The fields of a sample as they are delivered; NULL: no memory for that, or
 * there is more to its label than an entry can have. */
static const uint8_t *join_fields(struct wr_worker *w, const struct wr_task *t)
{
    const struct wr_arrays *a = &w->sched->arrays;
    const struct wr_array *only = a->only;

    if (!wr_arrays_is_label(a, t->batch->data, t->slot, t->label))
        return NULL;
    if (only)
        return wr_array_at(only, t->batch->data, t->slot);
    if (!wr_grow(&w->entry, &w->entry_cap, a->sample_bytes, 1))
        return NULL;
    wr_arrays_gather(a, t->batch->data, t->slot, w->entry);
    return w->entry;
}

/* Is a part of it as long as the index says no longer? An entry is found by the
 * index's lengths, so this one would never be. */
static bool is_resized(const struct wr_task *t)
{
    for (unsigned k = 0; k < t->batch->sched->arrays.parts; k++)
        if (t->reads[k].resized)
            return true;
    return false;
}

/* Offers a sample to the cache; one from a folder, to a faster tier. */
static void wr_keep(struct wr_worker *w, const struct wr_task *t)
{
    const struct wr_sched *s = w->sched;
    const uint8_t *bytes;
    size_t len;

    if (!s->cache || (t->from_cache && t->hit.bytes) || is_resized(t))
        return;
    len = s->cache_decoded ? s->arrays.sample_bytes : wr_task_stored(t);
    if ((t->from_cache || !s->arrays.only) &&
        !wr_cache_wants(s->cache, t->id, len))
        return;
    bytes = t->from_cache      ? t->reads[0].rd.data
            : s->cache_decoded ? join_fields(w, t)
                               : join_parts(w, t);
    if (bytes)
        wr_cache_put(s->cache, t->id, t->label, bytes, len);
}

/* --- samples --- */

static void deliver(struct wr_worker *w, struct wr_task *t,
                    struct wr_picture_times *times)
{
    const struct wr_arrays *a = &w->sched->arrays;
    weir_err err;

    wr_task_judge(t);
    if (t->is_tensor && !t->code) {
        wr_arrays_scatter(a, t->batch->data, t->slot, t->reads[0].rd.data);
        /* Encoded samples have theirs from the index, or in themselves. */
        t->label = t->hit.label;
        wr_arrays_set_label(a, t->batch->data, t->slot, t->label);
    } else if (!t->code && make_patiently(w, t, times, &err) < 0) {
        t->code = err.code;
        t->text = strdup(err.msg);
    }
    if (!t->code)
        wr_keep(w, t);
    wr_task_release(t);
}

/* What is copied counts as laid out. */
void wr_deliver(struct wr_worker *w, struct wr_task *const *tasks, unsigned n)
{
    struct wr_picture_times times = {0};
    uint64_t start = wr_clock_ns(), spent;
    bool copied = tasks[0]->is_tensor || w->sched->copies;

    for (unsigned i = 0; i < n; i++)
        deliver(w, tasks[i], &times);
    spent = wr_clock_ns() - start;
    if (!copied)
        wr_count(&w->stats.decode, spent - WR_MIN(times.resample_ns, spent));
    wr_count(&w->stats.resample,
             copied ? spent : WR_MIN(times.resample_ns, spent));
    wr_sched_finish(w->sched, tasks, n);
}

/* --- reads that came back, and samples that are complete --- */

/* A sample is complete when the last of its parts has come or is known to be
 * bad. What is wrong with one part is kept there until then: the first bad one,
 * in the order of the columns and not of time, makes the sample bad. */

void wr_read_fail(struct wr_read *r, const weir_err *err)
{
    free(r->text);
    r->code = err->code;
    r->text = strdup(err->msg);
}

size_t wr_task_stored(const struct wr_task *t)
{
    size_t sum = 0;

    for (unsigned k = 0; k < t->batch->sched->arrays.parts; k++)
        sum += (size_t)t->reads[k].part.length;
    return sum;
}

void wr_task_split(struct wr_task *t)
{
    uint8_t *at = t->reads[0].rd.data;

    for (unsigned k = 0; !t->is_tensor && k < t->batch->sched->arrays.parts;
         k++) {
        struct wr_read *r = &t->reads[k];

        r->in_slot = false;
        r->rd.data = at;
        r->rd.len = (size_t)r->part.length;
        at += r->rd.len;
    }
}

/* Puts the name of a field in front of what is wrong. */
static void name_field(struct wr_task *t, const struct wr_array *f)
{
    char *text;

    if (!t->text ||
        asprintf(&text, "field '%s': %s", f->field->name, t->text) < 0)
        return;
    free(t->text);
    t->text = text;
}

void wr_task_judge(struct wr_task *t)
{
    const struct wr_arrays *a = &t->batch->sched->arrays;

    for (unsigned k = 0; k < a->parts; k++) {
        struct wr_read *r = &t->reads[k];

        if (r->code && !t->code) {
            t->code = r->code;
            t->text = r->text;
            r->text = NULL;
            if (a->parts > 1)
                name_field(t, wr_arrays_in(a, r->column));
        }
        free(r->text);
        r->text = NULL;
        r->code = 0;
    }
}

static bool is_in_slots(const struct wr_task *t)
{
    for (unsigned k = 0; k < t->batch->sched->arrays.parts; k++)
        if (!t->reads[k].in_slot)
            return false;
    return !t->from_cache;
}

void wr_part_done(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_sched *s = w->sched;
    bool placed;

    if (!wr_task_is_complete(t))
        return;
    wr_task_judge(t);
    placed = s->into_slot && is_in_slots(t);
    if (t->code == 0 && s->delivers && !placed) {
        w->arrived[w->arrived_count++] = t;
        return;
    }
    if (t->code == 0 && placed)
        wr_keep(w, t);
    wr_task_release(t);
    w->finished[w->finished_count++] = t;
}

/* An entry of a folder that cannot be read or is damaged: as if it had not
 * been found. One that there were no resources to read stays. */
static bool is_good_hit(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_io *rd = &t->reads[0].rd;
    const void *bytes = rd->result == 0 ? rd->data : NULL;

    if (!wr_err_is_lack(rd->result) &&
        wr_cache_check(w->sched->cache, t->id, &t->hit, bytes))
        return true;
    wr_count(&w->stats.misses, 1);
    wr_block_free(&t->reads[0].block);
    wr_read_again(w, &t->reads[0]);
    return false;
}

/* An index from a side file depends on folders and lists, but not on every
 * picture that they name: one that has another size than was indexed may have
 * been replaced long before the data set was opened. It is read once more, as
 * long as it is now. */
static bool read_resized(struct wr_worker *w, struct wr_read *r)
{
    const weir_dataset *ds = w->sched->ds;
    struct wr_stat sb;

    if (r->rd.result != WEIR_ECHANGED || !r->part.whole || r->resized ||
        !ds->index_reused ||
        ds->store->ops->stat(ds->store, r->path, &sb, NULL) < 0 ||
        sb.kind != WR_KIND_FILE)
        return false;
    r->part.length = sb.size;
    r->resized = true;
    wr_block_free(&r->block);
    wr_read_again(w, r);
    return true;
}

static void part_arrived(struct wr_worker *w, struct wr_read *r)
{
    struct wr_task *t = r->task;
    weir_err err;

    if (t->from_cache) {
        if (!is_good_hit(w, t))
            return;
        wr_task_split(t);
    } else if (r->rd.result) {
        if (read_resized(w, r))
            return;
        wr_io_error(&r->rd, r->path, &err);
        if (wr_err_is_lack(err.code) && wr_read_later(w, r))
            return;
        wr_read_fail(r, &err);
    }
    wr_part_done(w, t);
}

void wr_collect(struct wr_worker *w, enum wr_lane_name lane, bool wait)
{
    struct wr_lane *l = &w->lanes[lane];
    uint64_t bytes = 0;
    unsigned n;

    if (!l->in_flight)
        return;
    n = l->queue->ops->reap(l->queue, w->reaped, l->in_flight, wait);
    l->in_flight -= n;
    for (unsigned i = 0; i < n; i++) {
        struct wr_io *rd = w->reaped[i];

        bytes += rd->got;
        if (rd->tag == WR_TAG_UNIT) /* first member of both */
            wr_piece_arrived(w, (struct wr_unit_piece *)rd);
        else
            part_arrived(w, (struct wr_read *)rd);
    }
    wr_count(&w->stats.bytes, lane == WR_LANE_STORE ? bytes : 0);
    wr_submit_all(w); /* what is to be read again */
    wr_hand_over(w);
}
