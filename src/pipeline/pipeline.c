/* pipeline.c - the public face of the input pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/pipeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "pipeline/objects.h"
#include "pipeline/schedule.h"
#include "pipeline/worker.h"

#define MAX_BATCH    (1u << 20)
#define MAX_SIDE     (1u << 14)
#define MAX_THREADS  1024u
#define MAX_DEPTH    4096u
#define MAX_PREFETCH 1024u

struct weir_pipeline {
    struct wr_sched sched;
    struct wr_objects objects;
    struct wr_worker *workers; /* owned: sched.cfg.threads */
    unsigned running;

    /* The consumer's own; `lock` of the sched is not needed. */
    struct wr_state state;       /* after the batch delivered last */
    size_t state_taken;          /* entries of the epoch's list in `state` */
    uint64_t opened_ns, left_ns; /* left: the last return from next */
    /* Written by the consumer, read by any thread. */
    atomic_uint_fast64_t wait_ns, busy_ns, first_ns, batches, samples;
};

void weir_pipeline_defaults(weir_pipeline_config *cfg)
{
    *cfg = (weir_pipeline_config){
        .batch = 64,
        .width = 224,
        .height = 224,
        .channels = 3,
        .mean = {0.485f, 0.456f, 0.406f},
        .std = {0.229f, 0.224f, 0.225f},
        .crop_center = 0.875f,
        .crop_area = {0.08f, 1},
        .crop_ratio = {3.0f / 4, 4.0f / 3},
        .block_window = 16,
        .epochs = 1,
        .world = 1,
        .depth = 32,
        .prefetch = 1,
    };
}

/* --- checking what was asked for --- */

static int check_range(const char *name, uint64_t value, uint64_t min,
                       uint64_t max, weir_err *err)
{
    if (value >= min && value <= max)
        return 0;
    return wr_fail(err, WEIR_EINVAL,
                   "%s is %" PRIu64 ", not between %" PRIu64 " and %" PRIu64,
                   name, value, min, max);
}

static int check_numbers(const weir_pipeline_config *c, weir_err *err)
{
    const struct {
        const char *name;
        uint64_t value, min, max;
    } ranges[] = {
        {"batch", c->batch, 1, MAX_BATCH},
        {"width", c->width, 1, MAX_SIDE},
        {"height", c->height, 1, MAX_SIDE},
        {"depth", c->depth, 1, MAX_DEPTH},
        {"threads", c->threads, 1, MAX_THREADS},
        {"prefetch", c->prefetch, 0, MAX_PREFETCH},
        {"world", c->world, 1, UINT32_MAX},
        {"rank", c->rank, 0, c->world ? c->world - 1 : 0},
        {"dtype", c->dtype, 0, WEIR_U8},
        {"layout", c->layout, 0, WEIR_NCHW},
        {"resize", c->resize, 0, WEIR_RESIZE_AREA},
        {"decode", c->decode, 0, WEIR_DECODE_FAST},
        {"stages", c->stages, 0, WEIR_STAGES_DECODE},
        {"order", c->order, 0, WEIR_ORDER_BLOCK},
        {"remainder", c->remainder, 0, WEIR_REMAINDER_PAD},
        {"on_error", c->on_error, 0, WEIR_ON_ERROR_FAIL},
        {"io", c->io, 0, WEIR_IO_BLOCKING},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(ranges); i++) {
        int r = check_range(ranges[i].name, ranges[i].value, ranges[i].min,
                            ranges[i].max, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_config(const weir_dataset *ds, const weir_pipeline_config *c,
                        weir_err *err)
{
    int r = check_numbers(c, err);

    if (r < 0)
        return r;
    if (c->channels != 1 && c->channels != 3)
        return wr_fail(err, WEIR_EINVAL, "channels is %" PRIu32 ", not 1 or 3",
                       c->channels);
    for (int i = 0; i < 3; i++)
        if (!isfinite(c->mean[i]) || !isfinite(c->std[i]) || c->std[i] == 0)
            return wr_fail(err, WEIR_EINVAL,
                           "mean and std must be finite, std not 0");
    for (size_t i = 0; i < WR_ARRAY_LEN(c->reserved); i++)
        if (c->reserved[i])
            return wr_fail(err, WEIR_EINVAL, "reserved must be 0");
    if (!c->alloc != !c->free)
        return wr_fail(err, WEIR_EINVAL, "alloc and free go together");
    if (!wr_index_count(ds->index))
        return wr_fail(err, WEIR_ENOENT, "'%s': no samples", ds->url);
    return 0;
}

/* Reads cfg->resume into *ret. */
static int read_resume(const weir_dataset *ds, const weir_pipeline_config *c,
                       struct wr_state *ret, weir_err *err)
{
    int r = wr_state_merge(c->resume, c->resume_len, c->resume_count, ret, err);
    const char *what = NULL;

    if (r < 0)
        return r;
    if (ret->seed != c->seed)
        what = "another seed";
    else if (ret->samples != wr_index_count(ds->index))
        what = "another number of samples";
    else if (ret->order_id != wr_order_id(c))
        what = "another order";
    if (!what)
        return 0;
    wr_state_done(ret);
    return wr_fail(err, WEIR_EINVAL, "pipeline state is of a run with %s",
                   what);
}

/* --- opening and closing --- */

static int start_workers(weir_pipeline *p, weir_err *err)
{
    unsigned n = p->sched.cfg.threads;
    int r;

    p->workers = calloc(n, sizeof(*p->workers));
    if (!p->workers)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        p->running = i + 1;
        r = wr_worker_init(&p->workers[i], &p->sched, &p->objects, err);
        if (r < 0)
            return r;
    }
    for (unsigned i = 0; i < n; i++) {
        r = wr_worker_start(&p->workers[i], i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int init_state(weir_pipeline *p, const struct wr_state *resume,
                      weir_err *err)
{
    const weir_pipeline_config *c = &p->sched.cfg;

    p->state.seed = c->seed;
    p->state.samples = wr_index_count(p->sched.ds->index);
    p->state.order_id = wr_order_id(c);
    p->state.rank = c->rank;
    p->state.world = c->world;
    p->state.epoch = resume->epoch;
    p->state.position = resume->position;
    for (size_t i = 0; i < resume->taken_count; i++)
        if (!wr_state_take(&p->state, resume->taken[i]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* Takes over the list of `resume`. */
static int pipeline_init(weir_pipeline *p, const weir_dataset *ds,
                         const weir_pipeline_config *c, struct wr_state *resume,
                         weir_err *err)
{
    int stated, r;

    p->opened_ns = p->left_ns = wr_clock_ns();
    p->sched.cfg = *c;
    p->sched.ds = ds;
    stated = init_state(p, resume, err);
    r = wr_sched_init(&p->sched, ds, c, c->resume_count ? resume : NULL,
                      stated < 0 ? NULL : err);
    if (stated < 0)
        r = stated;
    if (r == 0)
        r = wr_objects_init(&p->objects, ds, err);
    if (r == 0)
        r = start_workers(p, err);
    return r;
}

static void pipeline_free(weir_pipeline *p)
{
    wr_sched_close(&p->sched);
    for (unsigned i = 0; i < p->running; i++)
        wr_worker_stop(&p->workers[i]);
    for (unsigned i = 0; i < p->running; i++)
        wr_worker_done(&p->workers[i]);
    free(p->workers);
    wr_objects_done(&p->objects);
    wr_sched_done(&p->sched);
    wr_state_done(&p->state);
    free(p);
}

/* Samples of about 2 MiB together: what a request may be made of. */
static uint32_t usual_block(const weir_dataset *ds)
{
    uint64_t n = WR_MAX(wr_index_count(ds->index), (uint64_t)1);
    uint64_t mean = WR_MAX(wr_index_bytes(ds->index) / n, (uint64_t)1);
    uint64_t block = ((uint64_t)2 << 20) / mean;

    return (uint32_t)WR_MIN(WR_MAX(block, (uint64_t)1), (uint64_t)65536);
}

int weir_pipeline_open(weir_pipeline **ret, const weir_dataset *ds,
                       const weir_pipeline_config *cfg, weir_err *err)
{
    struct wr_state resume = {0};
    weir_pipeline_config c = *cfg;
    weir_pipeline *p;
    int r;

    if (!c.threads)
        c.threads = wr_cpu_count();
    if (!c.block_samples)
        c.block_samples = usual_block(ds);
    r = check_config(ds, &c, err);
    if (r < 0)
        return r;
    if (c.resume_count) {
        r = read_resume(ds, &c, &resume, err);
        if (r < 0)
            return r;
    }
    p = calloc(1, sizeof(*p));
    if (!p) {
        wr_state_done(&resume);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = pipeline_init(p, ds, &c, &resume, err);
    wr_state_done(&resume);
    if (r < 0) {
        pipeline_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

void weir_pipeline_close(weir_pipeline **p)
{
    if (!p || !*p)
        return;
    pipeline_free(*p);
    *p = NULL;
}

/* --- batches --- */

/* The state after `b`: all ranks have gone as far as this one has. With the
 * sched's lock held. */
static int advance_state(weir_pipeline *p, const struct wr_batch *b,
                         weir_err *err)
{
    const struct wr_epoch *e = b->epoch;
    uint64_t over = (b->index + 1) * p->sched.cfg.batch * e->world;
    struct wr_state *st = &p->state;

    if (st->epoch != e->number) {
        st->epoch = e->number;
        st->position = 0;
        st->taken_count = 0;
        p->state_taken = 0;
    }
    for (; p->state_taken < b->taken_after; p->state_taken++)
        if (!wr_state_take(st, e->taken[p->state_taken]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_state_advance(st, over < wr_state_remaining(&e->start)
                             ? wr_state_position_at(&e->start, over)
                             : st->samples);
    return 0;
}

int weir_pipeline_next(weir_pipeline *p, const weir_batch **ret, weir_err *err)
{
    uint64_t start = wr_clock_ns(), end;
    struct wr_batch *b;
    int r;

    if (p->batches)
        p->busy_ns += start - p->left_ns;
    r = wr_sched_next(&p->sched, &b, err);
    end = wr_clock_ns();
    p->wait_ns += end - start;
    p->left_ns = end;
    if (r <= 0)
        return r;
    /* The epoch's list grows while later batches are settled. */
    pthread_mutex_lock(&p->sched.lock);
    r = advance_state(p, b, &p->sched.failure);
    pthread_mutex_unlock(&p->sched.lock);
    if (r < 0) {
        if (err)
            *err = p->sched.failure;
        wr_sched_release(&p->sched, b);
        return r;
    }
    if (!p->batches)
        p->first_ns = end - p->opened_ns;
    p->batches++;
    p->samples += b->pub.count;
    *ret = &b->pub;
    return 1;
}

void weir_batch_release(const weir_batch *b)
{
    union {
        const weir_batch *pub;
        struct wr_batch *own; /* `pub` is its first member */
    } u = {.pub = b};

    if (b)
        wr_sched_release(u.own->sched, u.own);
}

size_t weir_pipeline_state(const weir_pipeline *p, void *buf, size_t cap)
{
    return wr_state_write(&p->state, buf, cap);
}

uint64_t weir_pipeline_batches_per_epoch(const weir_pipeline *p)
{
    const weir_pipeline_config *c = &p->sched.cfg;
    uint64_t n = wr_index_count(p->sched.ds->index);
    struct wr_epoch *e = wr_epoch_new(c, n, 0, NULL);
    uint64_t batches = e ? e->batches : 0;

    wr_epoch_unref(e);
    return batches;
}

/* --- what happened --- */

void weir_pipeline_stats(const weir_pipeline *p, weir_stats *ret)
{
    weir_stats st = {
        .batches = p->batches,
        .samples = p->samples,
        .bad = weir_pipeline_bad_count(p),
        .consumer_wait_ns = p->wait_ns,
        .consumer_busy_ns = p->busy_ns,
        .wall_ns = wr_clock_ns() - p->opened_ns,
        .first_batch_ns = p->first_ns,
        .workers = p->sched.cfg.threads,
        .depth = p->sched.cfg.depth,
        .prefetch = p->sched.cfg.prefetch,
        .io = p->workers[0].queue->engine,
    };

    for (unsigned i = 0; i < p->running; i++) {
        const struct wr_worker_stats *w = &p->workers[i].stats;

        st.bytes_read += w->bytes;
        st.storage_wait_ns += w->storage_wait;
        st.submit_ns += w->submit;
        st.decode_ns += w->decode;
        st.resample_ns += w->resample;
        st.idle_ns += w->idle;
    }
    *ret = st;
}

size_t weir_pipeline_tuning(const weir_pipeline *p, char *buf, size_t cap)
{
    (void)p;
    if (cap)
        buf[0] = '\0';
    return 0;
}

enum weir_verdict weir_stats_verdict(const weir_stats *s)
{
    uint64_t waited = s->consumer_wait_ns, total = waited + s->consumer_busy_ns;
    uint64_t cpu = s->decode_ns + s->resample_ns;

    if (s->batches < 2 || !total)
        return WEIR_VERDICT_NONE;
    /* The consumer hardly ever waited: it is the slow one. */
    if (waited * 10 < total)
        return WEIR_VERDICT_CONSUMER;
    return s->storage_wait_ns + s->submit_ns > cpu ? WEIR_VERDICT_STORAGE
                                                   : WEIR_VERDICT_DECODE;
}

uint64_t weir_pipeline_bad_count(const weir_pipeline *p)
{
    weir_pipeline *shared;
    uint64_t n;

    memcpy(&shared, &p, sizeof(shared)); /* for the lock alone */
    pthread_mutex_lock(&shared->sched.lock);
    n = p->sched.bad.count;
    pthread_mutex_unlock(&shared->sched.lock);
    return n;
}

const weir_bad_sample *weir_pipeline_bad(const weir_pipeline *p, uint64_t k)
{
    const weir_bad_sample *entry;
    weir_pipeline *shared;

    memcpy(&shared, &p, sizeof(shared));
    pthread_mutex_lock(&shared->sched.lock);
    entry = wr_badlist_at(&p->sched.bad, k);
    pthread_mutex_unlock(&shared->sched.lock);
    return entry;
}
