/* engine.c - samples from the pipeline into shards, in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/engine.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "convert/adder.h"

/* A batch, in or out, the larger. What is larger than the processor's own cache
 * is copied by the kernel at half the speed. */
#define CHUNK_BYTES   (UINT64_C(1) << 20)
#define QUICK_BYTES   (UINT64_C(512) << 10) /* where threads only copy */
#define CHUNK_SAMPLES UINT64_C(1024)
#define PREFETCH      1u            /* more would leave the processor's cache */
#define DEPTH_MOST    UINT64_C(128) /* reads in flight of one thread */
#define SMALL         (UINT64_C(16) << 10) /* a sample that is soon copied */
#define UNFINISHED    8u /* shards that wait for their sync: each is open */
#define POLL_NS       (100 * WR_NS_PER_MS) /* between two calls of the user */

/* A thread that completes shards whose samples are all written. */
struct finisher {
    const struct wr_engine_config *cfg; /* borrowed */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t moved; /* a shard was given or is done; the end */
    struct wr_convert_shard *first, **last; /* owned: to be finished */
    unsigned waiting;                       /* those, and the one at work */
    bool stop;                              /* no more will come */
    weir_err failed;                        /* code: the first failure */
};

struct wr_engine {
    struct wr_engine_config cfg;
    uint64_t *todo;  /* owned: shards that are to be made */
    uint64_t *start; /* owned: [todo_count + 1] positions of their samples among
                        those that are read */
    uint64_t todo_count;
    struct wr_adder adder;
    struct finisher finisher;
    weir_pipeline *pipeline;       /* owned */
    struct wr_convert_shard *open; /* owned: being written; NULL: none */
    uint64_t at;                   /* which of todo it is */
    uint64_t position;             /* of the sample that comes next */
    const struct wr_hole *holes;   /* borrowed: of the batch at hand, those that
                                      come next */
    size_t hole_count;
    atomic_uint_fast64_t bytes; /* of samples worked on; any thread */
    uint64_t polled_ns;
};

/* --- completing shards --- */

void wr_engine_bad_name(uint64_t shard, char buf[WR_CONVERT_NAME_MAX])
{
    snprintf(buf, WR_CONVERT_NAME_MAX, ".bad-%05" PRIu64, shard);
}

static void free_shard(struct wr_convert_shard *s)
{
    if (!s)
        return;
    wr_sink_file_done(&s->file);
    free(s->bad.bytes);
    free(s);
}

/* What it lacks is noted before it counts as complete. */
static int finish_shard(const struct wr_engine_config *cfg,
                        struct wr_convert_shard *s, weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX], text[32];
    int r = 0;

    if (s->bad.len) {
        wr_engine_bad_name(s->number, name);
        r = wr_sink_put(cfg->sink, name, s->bad.bytes, s->bad.len, err);
    }
    if (r < 0 || !cfg->plan->kind->singles)
        return r < 0 ? r : wr_sink_file_finish(&s->file, err);
    wr_convert_plan_shard_name(cfg->plan, s->number, name);
    snprintf(text, sizeof(text), "%" PRIu64 "\n", s->bytes);
    return wr_sink_put(cfg->sink, name, text, strlen(text), err);
}

/* With the lock held. */
static struct wr_convert_shard *take_shard(struct finisher *f)
{
    struct wr_convert_shard *s = f->first;

    if (s)
        f->first = s->next;
    if (!f->first)
        f->last = &f->first;
    return s;
}

static void *finish_all(void *arg)
{
    struct finisher *f = arg;
    struct wr_convert_shard *s;
    weir_err err;
    int r;

    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        s = f->failed.code ? NULL : take_shard(f);
        if (!s) {
            pthread_cond_wait(&f->moved, &f->lock);
            continue;
        }
        pthread_mutex_unlock(&f->lock);
        r = finish_shard(f->cfg, s, &err);
        free_shard(s);
        pthread_mutex_lock(&f->lock);
        f->waiting--;
        if (r < 0)
            f->failed = err;
        pthread_cond_broadcast(&f->moved);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static int start_finisher(struct finisher *f,
                          const struct wr_engine_config *cfg, weir_err *err)
{
    int r;

    *f = (struct finisher){.cfg = cfg};
    f->last = &f->first;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->moved, NULL);
    r = wr_thread_start(&f->thread, "weir-finish", finish_all, f, err);
    if (r < 0) {
        pthread_cond_destroy(&f->moved);
        pthread_mutex_destroy(&f->lock);
    }
    return r;
}

/* The finisher takes the shard over, in any case. */
static void give_shard(struct finisher *f, struct wr_convert_shard *s)
{
    pthread_mutex_lock(&f->lock);
    s->next = NULL;
    *f->last = s;
    f->last = &s->next;
    f->waiting++;
    pthread_cond_broadcast(&f->moved);
    pthread_mutex_unlock(&f->lock);
}

/* Waits for a moment until at most `most` shards are left, or one failed: 1;
 * 0: not yet. A negative WEIR_E... is that failure. */
static int wait_moment(struct finisher *f, unsigned most, weir_err *err)
{
    int r;

    pthread_mutex_lock(&f->lock);
    if (f->waiting > most && !f->failed.code)
        wr_cond_wait_until(&f->moved, &f->lock, wr_clock_ns() + POLL_NS);
    r = f->failed.code ? f->failed.code : f->waiting <= most;
    if (r < 0 && err)
        *err = f->failed;
    pthread_mutex_unlock(&f->lock);
    return r;
}

/* Ends the thread after the shard at hand; the others are dropped. */
static void stop_finisher(struct finisher *f)
{
    struct wr_convert_shard *s;

    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->moved);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    while ((s = take_shard(f)))
        free_shard(s);
    pthread_cond_destroy(&f->moved);
    pthread_mutex_destroy(&f->lock);
}

/* --- which samples --- */

static int find_todo(struct wr_engine *e, weir_err *err)
{
    const struct wr_convert_plan *p = e->cfg.plan;

    e->todo = calloc(p->shards + 1, sizeof(*e->todo));
    e->start = calloc(p->shards + 1, sizeof(*e->start));
    if (!e->todo || !e->start)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t k = 0; k < p->shards; k++) {
        if (e->cfg.complete[k])
            continue;
        e->todo[e->todo_count++] = k;
        e->start[e->todo_count] = e->start[e->todo_count - 1] +
                                  p->first[k + 1] - p->first[k];
    }
    return 0;
}

static uint64_t sample_at(void *arg, uint64_t position)
{
    const struct wr_engine *e = arg;
    uint64_t lo = 0, hi = e->todo_count;

    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (e->start[mid] <= position)
            lo = mid;
        else
            hi = mid;
    }
    return wr_convert_plan_sample(e->cfg.plan, e->cfg.plan->first[e->todo[lo]] +
                                                   position - e->start[lo]);
}

static int decoder_new(void *arg, struct wr_decoder **ret, weir_err *err)
{
    struct wr_engine *e = arg;

    return wr_adder_decoder(&e->adder, ret, err);
}

/* --- the user --- */

/* While the pipeline is waited for. */
static int stopped(void *arg)
{
    struct wr_engine *e = arg;
    const struct wr_convert_config *cfg = e->cfg.plan->cfg;

    e->polled_ns = wr_clock_ns();
    if (wr_adder_failed(&e->adder, NULL))
        return 1;
    return cfg->progress &&
           cfg->progress(cfg->progress_arg, e->bytes, e->cfg.total);
}

static int poll_user(struct wr_engine *e, weir_err *err)
{
    if (wr_clock_ns() - e->polled_ns < POLL_NS || !stopped(e))
        return 0;
    return wr_fail(err, WEIR_ECANCELED, "canceled");
}

/* --- writing --- */

static int open_shard(struct wr_engine *e, weir_err *err)
{
    const struct wr_convert_plan *p = e->cfg.plan;
    const uint64_t k = e->todo[e->at];
    const struct wr_file_layout layout = {
        .samples = p->first[k + 1] - p->first[k],
        .fields = p->fields,
        .field_count = p->field_count,
        .packed = p->cfg->packed,
        .shape = &p->tensor,
        .labels = p->labels,
    };
    char name[WR_CONVERT_NAME_MAX];

    e->open = calloc(1, sizeof(*e->open));
    if (!e->open)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    e->open->number = k;
    if (p->kind->singles)
        return 0;
    wr_convert_plan_shard_name(p, k, name);
    return wr_sink_file_open(&e->open->file, e->cfg.sink, name, &p->form,
                             &layout, err);
}

/* The shard has all its samples. */
static void close_shard(struct wr_engine *e)
{
    give_shard(&e->finisher, e->open);
    e->open = NULL;
    e->at++;
}

/* What `add` made of samples. */
static int put_parts(struct wr_engine *e, const struct wr_convert_run *run,
                     weir_err *err)
{
    struct wr_adder_part *const *parts = run->batch->fields[0].data;
    int r = 0;

    for (uint32_t k = run->first; k < run->first + run->count; k++) {
        struct wr_convert_part *made = &parts[k]->made;

        e->open->bytes += made->bytes;
        if (r == 0 && !e->cfg.plan->kind->singles)
            r = wr_sink_file_append(&e->open->file, made->out.bytes,
                                    made->out.len, err);
        wr_adder_give(&e->adder, parts[k]);
    }
    return r;
}

static int put_run(struct wr_engine *e, const struct wr_convert_run *run,
                   weir_err *err)
{
    const struct wr_convert_plan *p = e->cfg.plan;

    if (!run->count)
        return 0;
    return p->kind->add ? put_parts(e, run, err)
                        : p->kind->put(p, e->open, run, err);
}

/* One line each. */
static int note_bad(struct wr_convert_shard *s, const struct wr_hole *h,
                    weir_err *err)
{
    const char *text = h->text ? h->text : weir_strerror(h->code);
    size_t len = strlen(text);
    uint8_t *room = wr_bytes_room(&s->bad, len + 1);

    if (!room)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < len; k++)
        room[k] = text[k] == '\n' ? ' ' : (uint8_t)text[k];
    room[len] = '\n';
    s->bad.len += len + 1;
    return 0;
}

/* Samples [first, end) of a batch, which are all of the shard that is open. */
static int put_samples(struct wr_engine *e, const weir_batch *b, uint32_t first,
                       uint32_t end, weir_err *err)
{
    struct wr_convert_run run = {.batch = b, .first = first};
    int r = 0;

    while (r == 0 && run.first < end) {
        uint32_t stop = e->hole_count ? WR_MIN(e->holes->slot, end) : end;

        run.count = stop - run.first;
        r = put_run(e, &run, err);
        run.first = stop;
        if (r == 0 && stop < end) {
            r = note_bad(e->open, e->holes, err);
            e->holes++;
            e->hole_count--;
            run.first++;
        }
    }
    return r;
}

/* By the pipeline's workers, in order and one at a time. */
static int put_batch(void *arg, const weir_batch *b, weir_err *err)
{
    struct wr_engine *e = arg;
    int r = wr_adder_failed(&e->adder, err);
    uint64_t bytes = 0;

    e->holes = wr_batch_holes(b, &e->hole_count);
    for (uint32_t k = 0, end; k < b->count && r == 0; k = end) {
        uint64_t rest = e->start[e->at + 1] - e->position;

        end = k + (uint32_t)WR_MIN(rest, (uint64_t)(b->count - k));
        if (!e->open)
            r = open_shard(e, err);
        if (r == 0)
            r = put_samples(e, b, k, end, err);
        e->position += end - k;
        if (r == 0 && e->position == e->start[e->at + 1])
            close_shard(e);
    }
    for (uint32_t k = 0; k < b->count; k++)
        bytes += b->lengths[k];
    atomic_fetch_add_explicit(&e->bytes, bytes, memory_order_relaxed);
    return r;
}

/* --- the run --- */

/* Bytes of a sample. */
static uint64_t mean_of(const struct wr_convert_plan *p)
{
    return WR_MAX(p->bytes / WR_MAX(p->count, (uint64_t)1), (uint64_t)1);
}

/* Samples that become records as they are. */
static bool is_quick(const struct wr_engine *e)
{
    const struct wr_convert_plan *p = e->cfg.plan;

    return !p->kind->singles && !p->cfg->max_side && !p->cfg->quality &&
           mean_of(p) <= SMALL;
}

static uint32_t batch_of(const struct wr_engine *e)
{
    const struct wr_convert_plan *p = e->cfg.plan;
    uint64_t chunk = is_quick(e) ? QUICK_BYTES : CHUNK_BYTES;
    uint64_t n = chunk / WR_MAX(mean_of(p), (uint64_t)p->shape.bytes);

    return (uint32_t)WR_MAX(WR_MIN(n, CHUNK_SAMPLES), UINT64_C(1));
}

/* What is read and not yet worked on should stay in the processor's cache. */
static uint32_t depth_of(const struct wr_engine *e)
{
    uint64_t n = 2 * CHUNK_BYTES / mean_of(e->cfg.plan);

    return (uint32_t)WR_MAX(WR_MIN(n, DEPTH_MOST), UINT64_C(4));
}

static int open_pipeline(struct wr_engine *e, weir_err *err)
{
    const struct wr_convert_plan *p = e->cfg.plan;
    const struct wr_custom custom = {
        .arg = e,
        .count = e->start[e->todo_count],
        .sample_at = sample_at,
        .decoder_new = p->kind->add ? decoder_new : NULL,
        .entry = sizeof(struct wr_adder_part *),
        .quick = is_quick(e),
        .settled = put_batch,
    };
    weir_pipeline_config c = p->feed;

    c.batch = batch_of(e);
    c.prefetch = PREFETCH;
    c.depth = depth_of(e);
    c.threads = e->cfg.threads;
    c.stopped = stopped;
    c.stopped_arg = e;
    return wr_pipeline_open_custom(&e->pipeline, p->ds, &c, &custom, err);
}

/* Until at most `most` shards are not synced. */
static int wait_finished(struct wr_engine *e, unsigned most, weir_err *err)
{
    int r;

    while ((r = wait_moment(&e->finisher, most, err)) == 0) {
        r = poll_user(e, err);
        if (r < 0)
            return r;
    }
    return r < 0 ? r : 0;
}

/* They are written already: this one looks after all else. */
static int take_batches(struct wr_engine *e, weir_err *err)
{
    const weir_batch *b;
    int r;

    while ((r = weir_pipeline_next(e->pipeline, &b, err)) > 0) {
        r = poll_user(e, err);
        if (r == 0)
            r = wait_finished(e, UNFINISHED, err);
        weir_batch_release(b);
        if (r < 0)
            return r;
    }
    return r;
}

/* Pictures that were decoded into tensors; by all threads together. */
static void take_saving(struct wr_engine *e)
{
    struct wr_convert_saving *saving = &e->adder.saving;
    weir_stats st;

    if (e->cfg.plan->kind->add ||
        !wr_index_has_pictures(e->cfg.plan->ds->index))
        return;
    weir_pipeline_stats(e->pipeline, &st);
    saving->samples = st.samples;
    saving->before_ns = st.decode_ns + st.resample_ns;
}

static int run_pipeline(struct wr_engine *e, weir_err *err)
{
    int r = open_pipeline(e, err);

    if (r == 0)
        r = take_batches(e, err);
    if (r == 0)
        take_saving(e);
    weir_pipeline_close(&e->pipeline);
    if (wr_adder_failed(&e->adder, NULL)) /* what others may be a result of */
        r = wr_adder_failed(&e->adder, err);
    return r < 0 ? r : wait_finished(e, 0, err);
}

int wr_engine_run(const struct wr_engine_config *cfg,
                  struct wr_engine_result *ret, weir_err *err)
{
    struct wr_engine e = {.cfg = *cfg};
    int r = find_todo(&e, err);

    wr_adder_init(&e.adder, cfg->plan, cfg->sink);
    if (r == 0)
        r = start_finisher(&e.finisher, cfg, err);
    if (r == 0) {
        if (e.todo_count)
            r = run_pipeline(&e, err);
        stop_finisher(&e.finisher);
    }
    ret->bytes = e.bytes;
    ret->saving = e.adder.saving;
    free_shard(e.open);
    wr_adder_done(&e.adder);
    free(e.todo);
    free(e.start);
    return r;
}
