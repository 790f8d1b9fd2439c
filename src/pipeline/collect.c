/* collect.c - reads that came back, and samples that are complete.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample is complete when the last of its parts has come or is known to be
 * bad. What is wrong with one part is kept there until then: the first bad one,
 * in the order of the columns and not of time, makes the sample bad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "pipeline/worker.h"

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
