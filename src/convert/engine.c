/* engine.c - chunks of samples, worked on by any thread, appended in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "convert/engine_private.h"
#include "convert/shardfile.h"

#define POLL_NS 100000000 /* between two calls of the user's function */

void wr_engine_fail(struct wr_engine *e, const weir_err *err)
{
    pthread_mutex_lock(&e->lock);
    if (!e->code) {
        e->code = err->code;
        e->err = *err;
    }
    e->stop = true;
    for (struct wr_engine_reader *r = e->readers; r; r = r->next)
        wr_reader_hurry(r->reader);
    pthread_cond_broadcast(&e->work);
    pthread_cond_broadcast(&e->ready);
    pthread_cond_broadcast(&e->over);
    pthread_mutex_unlock(&e->lock);
}

void wr_engine_add_reader(struct wr_engine *e, struct wr_engine_reader *r)
{
    pthread_mutex_lock(&e->lock);
    r->next = e->readers;
    e->readers = r;
    pthread_mutex_unlock(&e->lock);
}

void wr_engine_remove_reader(struct wr_engine *e, struct wr_engine_reader *r)
{
    struct wr_engine_reader **at;

    pthread_mutex_lock(&e->lock);
    for (at = &e->readers; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    pthread_mutex_unlock(&e->lock);
}

static void chunk_free(struct wr_engine_chunk *c)
{
    while (c) {
        struct wr_engine_chunk *next = c->next;

        free(c->part.out.bytes);
        free(c->part.labels);
        free(c->bad.bytes);
        free(c);
        c = next;
    }
}

/* --- dealing: all with the lock held --- */

static struct wr_engine_chunk *new_chunk(struct wr_engine *e)
{
    struct wr_engine_chunk *c = e->spare;

    if (!c)
        return calloc(1, sizeof(*c));
    e->spare = c->next;
    c->next = NULL;
    c->part.out.len = c->part.label_count = c->bad.len = 0;
    c->part.bytes = 0;
    c->done = false;
    return c;
}

/* The shard that chunks are dealt of; NULL: none is left, or no memory. */
static struct wr_engine_shard *open_shard(struct wr_engine *e)
{
    const struct wr_convert_plan *p = e->cfg.plan;
    struct wr_engine_shard *s;

    if (e->open)
        return e->open;
    while (e->shard < p->shards && e->cfg.complete[e->shard])
        e->shard++;
    if (e->shard == p->shards)
        return NULL;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->out.number = e->shard;
    s->older = e->alive;
    e->alive = e->open = s;
    e->pos = p->first[e->shard];
    return s;
}

static void fill_chunk(struct wr_engine *e, struct wr_engine_chunk *c)
{
    const struct wr_convert_plan *p = e->cfg.plan;
    uint64_t end = p->first[e->shard + 1], weight = 0;
    struct wr_part place;

    c->first = e->pos;
    c->count = 0;
    while (e->pos < end && weight < WR_CHUNK_BYTES &&
           c->count < WR_CHUNK_SAMPLES) {
        wr_index_part(p->ds->index, 0, wr_convert_plan_sample(p, e->pos),
                      &place);
        weight += WR_MAX(place.length, (uint64_t)p->shape.bytes);
        c->count++;
        e->pos++;
    }
}

static struct wr_engine_chunk *deal(struct wr_engine *e)
{
    struct wr_engine_shard *s = open_shard(e);
    struct wr_engine_chunk *c = s ? new_chunk(e) : NULL;

    if (!c)
        return NULL;
    fill_chunk(e, c);
    c->shard = s;
    if (s->tail)
        s->tail->next = c;
    else
        s->head = c;
    s->tail = c;
    e->outstanding++;
    if (e->pos == e->cfg.plan->first[e->shard + 1]) {
        s->all_dealt = true;
        e->open = NULL;
        e->shard++;
    }
    return c;
}

static bool all_dealt(const struct wr_engine *e)
{
    return !e->open && e->shard == e->cfg.plan->shards;
}

struct wr_engine_chunk *wr_engine_take(struct wr_engine *e, bool wait)
{
    struct wr_engine_chunk *c = NULL;
    weir_err err;
    bool failed = false;

    pthread_mutex_lock(&e->lock);
    while (wait && !e->stop && e->outstanding >= e->window)
        pthread_cond_wait(&e->work, &e->lock);
    if (!e->stop && e->outstanding < e->window) {
        c = deal(e);
        failed = !c && !all_dealt(e);
    }
    pthread_mutex_unlock(&e->lock);
    if (failed) {
        wr_fail(&err, WEIR_ENOMEM, "out of memory");
        wr_engine_fail(e, &err);
    }
    return c;
}

/* --- appending --- */

static int append_text(struct wr_bytes *to, const struct wr_bytes *more,
                       weir_err *err)
{
    uint8_t *room;

    if (!more->len)
        return 0;
    room = wr_bytes_room(to, more->len);
    if (!room)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(room, more->bytes, more->len);
    to->len += more->len;
    return 0;
}

static int append_labels(struct wr_convert_part *to,
                         const struct wr_convert_part *more, weir_err *err)
{
    if (!more->label_count)
        return 0;
    if (!wr_grow(&to->labels, &to->label_cap,
                 to->label_count + more->label_count, sizeof(*to->labels)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(to->labels + to->label_count, more->labels,
           more->label_count * sizeof(*to->labels));
    to->label_count += more->label_count;
    return 0;
}

static int append_one(struct wr_engine *e, struct wr_convert_shard *s,
                      const struct wr_engine_chunk *c, weir_err *err)
{
    const struct wr_convert_part *part = &c->part;
    int r = 0;

    if (e->cfg.plan->kind->ext && !s->object)
        r = wr_shardfile_open(e->cfg.plan, e->cfg.stage, s, err);
    if (r == 0 && part->out.len)
        r = wr_stage_write(e->cfg.stage, s->object, part->out.bytes,
                           part->out.len, s->end, err);
    if (r == 0)
        r = append_labels(&s->all, part, err);
    if (r == 0)
        r = append_text(&s->bad, &c->bad, err);
    s->end += part->out.len;
    s->all.bytes += part->bytes;
    return r;
}

/* With the lock held, and `writing` taken. */
static void drain(struct wr_engine *e, struct wr_engine_shard *s)
{
    struct wr_engine_chunk *c;
    weir_err err;

    while ((c = s->head) && c->done && !e->stop) {
        int r;

        s->head = c->next;
        if (!s->head)
            s->tail = NULL;
        pthread_mutex_unlock(&e->lock);
        r = append_one(e, &s->out, c, &err);
        if (r < 0)
            wr_engine_fail(e, &err);
        pthread_mutex_lock(&e->lock);
        c->next = e->spare;
        e->spare = c;
        e->outstanding--;
        pthread_cond_broadcast(&e->work);
    }
}

void wr_engine_append(struct wr_engine *e, struct wr_engine_chunk *c)
{
    struct wr_engine_shard *s = c->shard;

    pthread_mutex_lock(&e->lock);
    c->done = true;
    if (!s->writing) {
        s->writing = true;
        drain(e, s);
        s->writing = false;
        if (!s->head && s->all_dealt && !e->stop) {
            *e->finish_end = s;
            e->finish_end = &s->next;
            pthread_cond_signal(&e->ready);
        }
    }
    pthread_mutex_unlock(&e->lock);
}

/* --- finishing --- */

static void shard_free(struct wr_engine *e, struct wr_engine_shard *s)
{
    struct wr_engine_shard **at = &e->alive;

    while (*at != s)
        at = &(*at)->older;
    *at = s->older;
    chunk_free(s->head);
    wr_shardfile_done(&s->out);
    free(s);
}

void *wr_engine_finish(void *engine)
{
    struct wr_engine *e = engine;
    struct wr_engine_shard *s;
    weir_err err;

    pthread_mutex_lock(&e->lock);
    while (!e->stop && e->left) {
        s = e->finish;
        if (!s) {
            pthread_cond_wait(&e->ready, &e->lock);
            continue;
        }
        e->finish = s->next;
        if (!e->finish)
            e->finish_end = &e->finish;
        pthread_mutex_unlock(&e->lock);
        if (e->cfg.plan->kind->finish(e->cfg.plan, e->cfg.stage, &s->out,
                                      &err) < 0)
            wr_engine_fail(e, &err);
        pthread_mutex_lock(&e->lock);
        shard_free(e, s);
        e->left--;
    }
    pthread_cond_broadcast(&e->over);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* --- the run --- */

/* Until all is done, or something failed. */
static void watch(struct wr_engine *e)
{
    const struct wr_convert_config *cfg = e->cfg.plan->cfg;
    weir_err err;

    pthread_mutex_lock(&e->lock);
    while (!e->stop && e->left) {
        wr_cond_wait_until(&e->over, &e->lock, wr_clock_ns() + POLL_NS);
        pthread_mutex_unlock(&e->lock);
        if (cfg->progress &&
            cfg->progress(cfg->progress_arg, e->bytes, e->cfg.total)) {
            wr_fail(&err, WEIR_ECANCELED, "canceled");
            wr_engine_fail(e, &err);
        }
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->lock);
}

static void engine_init(struct wr_engine *e, const struct wr_engine_config *cfg)
{
    *e = (struct wr_engine){.cfg = *cfg, .window = 4 * cfg->threads};
    e->finish_end = &e->finish;
    for (uint64_t k = 0; k < cfg->plan->shards; k++)
        e->left += !cfg->complete[k];
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->work, NULL);
    pthread_cond_init(&e->ready, NULL);
    pthread_cond_init(&e->over, NULL);
}

static void engine_done(struct wr_engine *e)
{
    while (e->alive)
        shard_free(e, e->alive);
    chunk_free(e->spare);
    pthread_cond_destroy(&e->work);
    pthread_cond_destroy(&e->ready);
    pthread_cond_destroy(&e->over);
    pthread_mutex_destroy(&e->lock);
}

/* Starts the threads, waits, and joins them. */
static void run_threads(struct wr_engine *e, pthread_t *threads)
{
    unsigned started = 0;
    weir_err err;
    int r = wr_thread_start(&threads[started], "weir-finish", wr_engine_finish,
                            e, &err);

    while (r == 0 && ++started <= e->cfg.threads) {
        char name[16];

        snprintf(name, sizeof(name), "weir-conv-%u", started % 1000);
        r = wr_thread_start(&threads[started], name, wr_engine_work, e, &err);
    }
    if (r < 0)
        wr_engine_fail(e, &err);
    watch(e);
    while (started)
        pthread_join(threads[--started], NULL);
}

int wr_engine_run(const struct wr_engine_config *cfg,
                  struct wr_engine_result *ret, weir_err *err)
{
    pthread_t *threads = calloc(cfg->threads + 1, sizeof(*threads));
    struct wr_engine e;
    int r;

    if (!threads)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    engine_init(&e, cfg);
    run_threads(&e, threads);
    r = e.code;
    if (r < 0 && err)
        *err = e.err;
    ret->bytes = e.bytes;
    ret->saving = e.saving;
    engine_done(&e);
    free(threads);
    return r;
}
