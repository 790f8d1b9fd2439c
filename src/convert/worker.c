/* worker.c - one of the engine's threads: reads, converts, appends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/engine_private.h"

#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "convert/sample.h"

/* A chunk and its samples on their way. */
struct job {
    struct wr_engine_chunk *chunk; /* borrowed; NULL: none */
    struct wr_load *load;          /* borrowed from the reader */
};

struct convert_worker {
    struct wr_engine *e;            /* borrowed */
    struct wr_engine_reader reader; /* owned */
    void *state;                    /* owned by the kind */
    uint64_t stride; /* every so manieth sample is timed; 0: none */
    struct wr_convert_saving saving;
};

/* Takes a chunk and starts to read it; false: there is none. */
static bool begin_job(struct convert_worker *w, bool wait, struct job *ret)
{
    struct wr_engine_chunk *c = wr_engine_take(w->e, wait);
    weir_err err;

    *ret = (struct job){.chunk = c};
    if (!c)
        return false;
    if (wr_load_begin(w->reader.reader, c->first, c->count, &ret->load, &err) ==
        0)
        return true;
    wr_engine_fail(w->e, &err);
    ret->chunk = NULL;
    return false;
}

/* Notes a sample that is left out; negative when the run must end. */
static int note_bad(struct convert_worker *w, struct wr_engine_chunk *c,
                    weir_err *err)
{
    size_t len = strlen(err->msg);
    uint8_t *room;

    if (w->e->cfg.plan->cfg->fail_on_bad)
        return err->code;
    room = wr_bytes_room(&c->bad, len + 1);
    if (!room)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < len; k++)
        room[k] = err->msg[k] == '\n' ? ' ' : (uint8_t)err->msg[k];
    room[len] = '\n'; /* one line each */
    c->bad.len += len + 1;
    return 0;
}

static int convert_one(struct convert_worker *w, const struct job *job,
                       uint32_t k, weir_err *err)
{
    const struct wr_convert_plan *p = w->e->cfg.plan;
    struct wr_convert_item it = {0};
    char key[WR_CONVERT_KEY_MAX];
    int r = wr_convert_sample(p, job->load, k, key, &it, err);

    if (r < 0)
        return wr_err_is_lack(r) ? r : note_bad(w, job->chunk, err);
    if (w->stride && (job->chunk->first + k) % w->stride == 0)
        it.saving = &w->saving;
    r = p->kind->add(w->state, &it, &job->chunk->part, err);
    if (r == 0)
        return 0;
    wr_convert_name_sample(job->load, k, err);
    if (it.fatal || wr_err_is_lack(r))
        return r;
    return note_bad(w, job->chunk, err);
}

static void do_job(struct convert_worker *w, struct job *job)
{
    struct wr_engine_chunk *c = job->chunk;
    weir_err err;

    for (uint32_t k = 0; k < c->count && !w->e->stop; k++) {
        int r = convert_one(w, job, k, &err);

        if (r < 0)
            wr_engine_fail(w->e, &err);
        else
            w->e->bytes += wr_load_item(job->load, k)->place.length;
    }
    wr_load_end(job->load);
    if (!w->e->stop)
        wr_engine_append(w->e, c);
}

static void work(struct convert_worker *w)
{
    struct job now, next;

    if (!begin_job(w, /* wait= */ true, &now))
        return;
    while (!w->e->stop) {
        begin_job(w, /* wait= */ false, &next);
        do_job(w, &now);
        if (next.chunk)
            now = next;
        else if (!begin_job(w, /* wait= */ true, &now))
            return;
    }
}

/* Only what changes is worth timing. */
static uint64_t stride_of(const struct wr_convert_plan *p)
{
    bool pictures = !wr_index_tensor(p->ds->index);

    if (!pictures ||
        (!p->kind->tensors && !p->cfg->max_side && !p->cfg->quality))
        return 0;
    return WR_MAX((p->count + WR_MEASURED - 1) / WR_MEASURED, (uint64_t)1);
}

void *wr_engine_work(void *engine)
{
    struct wr_engine *e = engine;
    const struct wr_convert_kind *kind = e->cfg.plan->kind;
    struct convert_worker w = {.e = e, .stride = stride_of(e->cfg.plan)};
    weir_err err;
    int r = wr_reader_open(&w.reader.reader, &e->cfg.reader, &err);

    if (r == 0)
        wr_engine_add_reader(e, &w.reader);
    if (r == 0)
        r = kind->state_new(e->cfg.plan, e->cfg.stage, &w.state, &err);
    if (r < 0)
        wr_engine_fail(e, &err);
    else
        work(&w);
    kind->state_free(w.state);
    wr_engine_remove_reader(e, &w.reader);
    wr_reader_close(w.reader.reader);
    pthread_mutex_lock(&e->lock);
    e->saving.samples += w.saving.samples;
    e->saving.before_ns += w.saving.before_ns;
    e->saving.after_ns += w.saving.after_ns;
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
