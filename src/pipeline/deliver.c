/* deliver.c - from the bytes of a sample to its place in the batch.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/decode.h"
#include "pipeline/worker.h"

void *wr_task_slot(const struct wr_task *t)
{
    const struct wr_sched *s = t->batch->sched;

    return s->wants_data
               ? wr_array_at(&s->arrays.of[0], t->batch->data, t->slot)
               : NULL;
}

void wr_task_fail(struct wr_task *t, const weir_err *err)
{
    t->code = err->code;
    t->text = strdup(err->msg);
}

void wr_task_release(struct wr_task *t)
{
    wr_block_free(&t->reads[0].block);
    wr_unit_leave(&t->reads[0]);
}

static void name_error(const struct wr_task *t, weir_err *err)
{
    if (t->reads[0].part.whole)
        wr_fail_prefix(err, err->code, "'%s'", t->path);
    else
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, t->path,
                       t->id, t->reads[0].part.offset);
}

/* Checks, unpacks and decodes. */
static int make(struct wr_worker *w, struct wr_task *t,
                struct wr_picture_times *times, weir_err *err)
{
    const weir_dataset *ds = w->sched->ds;
    struct wr_sample s = {
        .bytes = t->reads[0].rd.data,
        .len = t->reads[0].rd.len,
        .id = t->id,
        .epoch = t->batch->epoch->number,
        .label = t->label,
    };
    int r = 0;

    if (w->decoder)
        r = wr_first_unpack(ds, &w->unpack, &s, err);
    else if (ds->format->unpack)
        r = ds->format->unpack(ds->index, 0, &s, NULL, err);
    if (r == 0 && w->decoder)
        r = w->decoder->ops->decode(w->decoder, &s, wr_task_slot(t), times,
                                    err);
    if (r == 0)
        t->label = s.label;
    return r;
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

/* Offers a sample to the cache; one from a folder, to a faster tier. */
static void keep(struct wr_worker *w, const struct wr_task *t)
{
    const struct wr_sched *s = w->sched;

    if (!s->cache || (t->from_cache && t->hit.bytes))
        return;
    if (t->from_cache && !wr_cache_wants(s->cache, t->id, t->reads[0].rd.len))
        return;
    if (s->cache_decoded && !t->from_cache)
        wr_cache_put(s->cache, t->id, t->label, wr_task_slot(t),
                     s->arrays.sample_bytes);
    else
        wr_cache_put(s->cache, t->id, t->label, t->reads[0].rd.data,
                     t->reads[0].rd.len);
}

void wr_keep_slot(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_sched *s = w->sched;

    if (s->cache && !t->from_cache)
        wr_cache_put(s->cache, t->id, t->label, wr_task_slot(t),
                     s->arrays.sample_bytes);
}

static void deliver(struct wr_worker *w, struct wr_task *t)
{
    struct wr_picture_times times = {0};
    uint64_t start = wr_clock_ns(), spent;
    weir_err err;

    if (t->is_tensor) {
        memcpy(wr_task_slot(t), t->reads[0].rd.data, t->reads[0].rd.len);
        /* Encoded samples have theirs from the index, or in themselves. */
        t->label = t->hit.label;
        keep(w, t);
        wr_count(&w->stats.resample, wr_clock_ns() - start);
    } else if (make_patiently(w, t, &times, &err) < 0) {
        name_error(t, &err);
        wr_task_fail(t, &err);
    } else {
        keep(w, t);
    }
    if (!t->is_tensor) {
        spent = wr_clock_ns() - start;
        wr_count(&w->stats.resample, WR_MIN(times.resample_ns, spent));
        wr_count(&w->stats.decode, spent - WR_MIN(times.resample_ns, spent));
    }
    wr_task_release(t);
}

void wr_deliver(struct wr_worker *w, struct wr_task *const *tasks, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        deliver(w, tasks[i]);
    wr_sched_finish(w->sched, tasks, n);
}
