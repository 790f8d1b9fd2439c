/* pipeline.c - the public face of the input pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sized.h"
#include "pipeline/budget.h"
#include "pipeline/cache.h"
#include "pipeline/config.h"
#include "pipeline/objects.h"
#include "pipeline/schedule.h"
#include "pipeline/settings.h"
#include "pipeline/worker.h"
#include "weir/mark.h"

struct weir_pipeline {
    struct wr_sched sched;
    struct wr_custom custom; /* that of the sched, if it has one */
    struct wr_objects objects;
    struct wr_units units;
    struct wr_budget budget;
    struct wr_cache *cache;    /* owned; NULL: none */
    struct wr_worker *workers; /* owned: sched.cfg.threads */
    unsigned running;

    /* The consumer's own; `lock` of the sched is not needed. */
    struct wr_state state;       /* after the batch delivered last */
    size_t state_taken;          /* entries of the epoch's list in `state` */
    uint64_t opened_ns, left_ns; /* left: the last return from next */
    struct wr_tune tune; /* the sched's lock guards it for other threads */
    /* Written by the consumer, read by any thread. */
    atomic_uint_fast64_t wait_ns, busy_ns, first_ns, batches, samples;
};

/* Reads cfg->resume into *ret. */
static int read_resume(const weir_dataset *ds, const weir_pipeline_config *c,
                       struct wr_state *ret, weir_err *err)
{
    int r = wr_state_merge(c->resume, c->resume_len, c->resume_count, ret, err);
    const struct wr_split split = wr_split_of(c);
    const char *what = NULL;

    if (r < 0)
        return r;
    if (ret->seed != c->seed)
        what = "another seed";
    else if (ret->split_id != wr_split_id(&split))
        what = "another part of the data set (holdout, part or split_seed)";
    else if (ret->samples != wr_split_count(&split, wr_index_count(ds->index)))
        what = "another number of samples";
    else if (ret->order_id != wr_order_id(c, ret->samples) ||
             (ret->dealt > 1 && c->order != WEIR_ORDER_BLOCK))
        what = "another order, or of another version of weir";
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
        p->workers[i].number = i;
        r = wr_worker_init(&p->workers[i], &p->sched, &p->objects, err);
        if (r < 0)
            return r;
    }
    for (unsigned i = 0; i < n; i++) {
        r = wr_worker_start(&p->workers[i], err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int init_state(weir_pipeline *p, const struct wr_state *resume,
                      weir_err *err)
{
    const weir_pipeline_config *c = &p->sched.cfg;
    const struct wr_split split = wr_split_of(c);

    p->state.seed = c->seed;
    p->state.samples = wr_split_count(&split,
                                      wr_index_count(p->sched.ds->index));
    p->state.split_id = wr_split_id(&split);
    p->state.order_id = wr_order_id(c, p->state.samples);
    p->state.rank = c->rank;
    p->state.world = c->world;
    p->state.dealt = c->order == WEIR_ORDER_BLOCK ? c->world : 1;
    if (c->resume_count)
        p->state.dealt = resume->dealt;
    p->state.epoch = resume->epoch;
    p->state.position = resume->position;
    p->state.batches = resume->batches;
    for (size_t i = 0; i < resume->taken_count; i++)
        if (!wr_state_take(&p->state, resume->taken[i]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* What the data set is called wherever the process stands; to be freed. */
static char *cache_name(const weir_dataset *ds, uint64_t settings)
{
    const struct wr_storage_ops *ops = ds->store->ops;
    const char *path_part = wr_url_path(ds->url);
    const char *leaf = strrchr(path_part, '/');
    char path[4096], *root = NULL, *name;
    int n;

    if (ops->local_path && ops->local_path(ds->store, "", path, sizeof(path)))
        root = realpath(path, NULL);
    n = asprintf(&name, "%s//%s#%016" PRIx64, root ? root : ds->url,
                 leaf ? leaf + 1 : path_part, settings);
    free(root);
    return n < 0 ? NULL : name;
}

/* An entry of a decoded cache has no room for lengths. */
static int check_decoded(const struct wr_arrays *a,
                         const weir_pipeline_config *c, weir_err *err)
{
    for (unsigned k = 0; k < a->count; k++)
        if (c->cache_what == WEIR_CACHE_DECODED &&
            (a->of[k].varying != WR_NO_ARRAY || a->of[k].padded))
            return wr_fail(err, WEIR_ENOTSUP,
                           "cache_what: decoded samples of field '%s' differ "
                           "in length and are not cached: cache encoded ones, "
                           "or leave it out of fields",
                           a->of[k].field->name);
    return 0;
}

static int open_cache(weir_pipeline *p, const weir_pipeline_config *c,
                      weir_err *err)
{
    const weir_dataset *ds = p->sched.ds;
    uint64_t settings = wr_arrays_key(&p->sched.arrays, c);
    struct wr_cache_config cc = {
        .spec = c->cache,
        .samples = wr_index_count(ds->index),
        .sample_bytes = c->cache_what == WEIR_CACHE_DECODED
                            ? p->sched.arrays.sample_bytes
                            : 0,
    };
    char *name;
    int r;

    if (!c->cache)
        return 0;
    r = check_decoded(&p->sched.arrays, c, err);
    if (r < 0)
        return r;
    /* Of the same name and another fingerprint: the data set has changed. So
     * the name is not cut, else what belongs to others might be removed. */
    name = cache_name(ds, settings);
    if (!name)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    cc.name = name;
    cc.fingerprint = wr_rng_at(wr_index_fingerprint(ds->index), settings, 0);
    r = wr_cache_open(&p->cache, &cc, err);
    free(name);
    return r;
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
        r = wr_units_init(&p->units, ds, c, err);
    if (r == 0)
        r = open_cache(p, c, err);
    if (r == 0) {
        p->sched.units = &p->units;
        p->sched.cache = p->cache;
        p->sched.cache_decoded = c->cache_what == WEIR_CACHE_DECODED;
        p->sched.delivers = p->cache || ds->format->unpack ||
                            c->stages != WEIR_STAGES_READ;
        wr_budget_begin(&p->budget, &p->sched, &p->tune);
        r = wr_sched_set(
            &p->sched,
            &(struct wr_knobs){p->tune.now[0], p->tune.now[1], p->tune.now[2]},
            err);
    }
    if (r == 0)
        r = wr_objects_init(&p->objects, ds, p->cache != NULL, err);
    if (r == 0)
        r = start_workers(p, err);
    return r;
}

static void pipeline_free(weir_pipeline *p)
{
    wr_units_stop(&p->units);
    wr_sched_close(&p->sched);
    for (unsigned i = 0; i < p->running; i++)
        wr_worker_hurry(&p->workers[i]);
    for (unsigned i = 0; i < p->running; i++)
        wr_worker_stop(&p->workers[i]);
    for (unsigned i = 0; i < p->running; i++)
        wr_worker_done(&p->workers[i]);
    free(p->workers);
    wr_objects_done(&p->objects);
    wr_units_done(&p->units);
    wr_cache_close(p->cache);
    wr_sched_done(&p->sched);
    wr_budget_end(&p->budget);
    wr_state_done(&p->state);
    free(p);
}

static int open_pipeline(weir_pipeline **ret, const weir_dataset *ds,
                         const weir_pipeline_config *cfg,
                         const struct wr_custom *custom, bool same_order,
                         weir_err *err)
{
    struct wr_state resume = {0};
    weir_pipeline_config c;
    struct wr_tune tune;
    weir_pipeline *p;
    int r;

    weir_pipeline_defaults(&c);
    r = wr_sized_take(&c, sizeof(c), cfg, "weir_pipeline_defaults", err);
    if (r == 0)
        r = wr_config_settle(ds, &c, &tune, err);
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
    p->tune = tune;
    p->sched.same_order = same_order;
    if (custom) {
        p->custom = *custom;
        p->sched.custom = &p->custom;
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

int weir_pipeline_open(weir_pipeline **ret, const weir_dataset *ds,
                       const weir_pipeline_config *cfg, weir_err *err)
{
    return open_pipeline(ret, ds, cfg, /* custom= */ NULL,
                         /* same_order= */ false, err);
}

int wr_pipeline_open_same(weir_pipeline **ret, const weir_dataset *ds,
                          const weir_pipeline_config *cfg, weir_err *err)
{
    return open_pipeline(ret, ds, cfg, /* custom= */ NULL,
                         /* same_order= */ true, err);
}

int wr_pipeline_open_custom(weir_pipeline **ret, const weir_dataset *ds,
                            const weir_pipeline_config *cfg,
                            const struct wr_custom *custom, weir_err *err)
{
    const struct wr_field *f = wr_schema_first(wr_index_schema(ds->index));
    weir_pipeline_config c = *cfg;
    const weir_field_config entry = {
        .name = f ? f->name : NULL,
        .picture = cfg->picture,
        .as_bytes = true,
        .pad = custom->entry,
    };

    c.epochs = 1;
    c.remainder = WEIR_REMAINDER_KEEP;
    if (custom->decoder_new) {
        if (!f)
            return wr_fail(err, WEIR_ENOTSUP,
                           "the samples have no picture and no tensor");
        c.fields = f->name;
        c.field = &entry;
        c.field_count = 1;
    }
    return open_pipeline(ret, ds, &c, custom, /* same_order= */ false, err);
}

void weir_pipeline_close(weir_pipeline **p)
{
    if (!p || !*p)
        return;
    pipeline_free(*p);
    *p = NULL;
}

/* --- batches --- */

/* Where the epoch stands once `over` of the numbers that it began with are
 * over. Padded batches come behind the last sample that is left, in the places
 * of those that filled holes. */
static uint64_t position_after(const weir_pipeline *p, const struct wr_epoch *e,
                               uint64_t over)
{
    const struct wr_state *start = &e->start;
    uint64_t left = wr_state_remaining(start);
    uint64_t position;

    if (over < left)
        return wr_state_position_at(start, over);
    if (p->sched.cfg.remainder != WEIR_REMAINDER_PAD)
        return p->state.samples;
    position = WR_MIN(start->position + over, p->state.samples);
    return left ? WR_MAX(position, wr_state_position_at(start, left - 1) + 1)
                : position;
}

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
    st->batches = (uint32_t)WR_MIN(b->pub.index + 1, UINT32_MAX);
    st->dealt = e->order.dealt;
    for (; p->state_taken < b->taken_after; p->state_taken++)
        if (!wr_state_take(st, e->taken[p->state_taken]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_state_advance(st, position_after(p, e, over));
    return 0;
}

static void tune_step(weir_pipeline *p, uint64_t now_ns)
{
    struct wr_tune_sums sums = {
        .now_ns = now_ns,
        .batches = p->batches,
        .samples = p->samples,
        .consumer_wait_ns = p->wait_ns,
    };
    struct wr_knobs knobs;
    bool change;

    for (unsigned i = 0; i < p->running; i++) {
        sums.storage_wait_ns += p->workers[i].stats.storage_wait;
        sums.idle_ns += p->workers[i].stats.idle;
    }
    pthread_mutex_lock(&p->sched.lock);
    change = wr_tune_step(&p->tune, &sums, &knobs);
    if (change && !wr_budget_grow(&p->budget, &p->sched, &knobs)) {
        wr_tune_refuse(&p->tune, "the process has no memory for more");
        change = false;
    }
    pthread_mutex_unlock(&p->sched.lock);
    if (change) /* short of memory for one more batch: so be it */
        (void)wr_sched_set(&p->sched, &knobs, NULL);
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
    WEIR_MARK("batch"); /* for who traces the program */
    /* The epoch's list grows while later batches are settled. */
    pthread_mutex_lock(&p->sched.lock);
    r = advance_state(p, b, &p->sched.failure);
    if (r < 0 && err)
        *err = p->sched.failure;
    pthread_mutex_unlock(&p->sched.lock);
    if (r < 0) {
        wr_sched_release(&p->sched, b);
        return r;
    }
    if (!p->batches)
        p->first_ns = end - p->opened_ns;
    p->batches++;
    p->samples += b->pub.count;
    *ret = &b->pub;
    wr_budget_refill(&p->budget, &p->sched);
    if (wr_tune_is_on(&p->tune) && wr_tune_is_due(&p->tune, end, p->batches))
        tune_step(p, end);
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

const struct wr_hole *wr_batch_holes(const weir_batch *b, size_t *ret_count)
{
    const struct wr_batch *own = (const struct wr_batch *)b;

    *ret_count = own->hole_count;
    return own->holes;
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

static void add_cache_stats(const weir_pipeline *p, weir_stats *st)
{
    unsigned tiers = p->cache ? wr_cache_tier_count(p->cache) : 0;

    for (unsigned k = 0; k < tiers; k++) {
        struct wr_cache_stats c;

        wr_cache_tier_stats(p->cache, k, &c);
        *(c.is_dir ? &st->cache_dir_hits : &st->cache_ram_hits) += c.hits;
        *(c.is_dir ? &st->cache_dir_bytes : &st->cache_ram_bytes) += c.bytes;
        *(c.is_dir ? &st->cache_dir_entries
                   : &st->cache_ram_entries) += c.entries;
        st->cache_damaged += c.damaged;
    }
    for (unsigned i = 0; p->cache && i < p->running; i++)
        st->cache_misses += p->workers[i].stats.misses;
}

void weir_pipeline_stats_sized(const weir_pipeline *p, weir_stats *ret,
                               size_t size)
{
    weir_stats st = {
        .batches = p->batches,
        .samples = p->samples,
        .bad = weir_pipeline_bad_count(p),
        .consumer_wait_ns = p->wait_ns,
        .consumer_busy_ns = p->busy_ns,
        .wall_ns = wr_clock_ns() - p->opened_ns,
        .first_batch_ns = p->first_ns,
        .io = p->workers[0].lanes[WR_LANE_STORE].queue->engine,
    };
    weir_pipeline *shared;

    memcpy(&shared, &p, sizeof(shared)); /* for the lock alone */
    pthread_mutex_lock(&shared->sched.lock);
    st.workers = p->tune.now[WR_KNOB_THREADS];
    st.depth = p->tune.now[WR_KNOB_DEPTH];
    st.prefetch = p->tune.now[WR_KNOB_PREFETCH];
    pthread_mutex_unlock(&shared->sched.lock);
    add_cache_stats(p, &st);

    for (unsigned i = 0; i < p->running; i++) {
        const struct wr_worker_stats *w = &p->workers[i].stats;

        st.bytes_read += w->bytes;
        st.requests += w->requests;
        st.storage_wait_ns += w->storage_wait;
        st.submit_ns += w->submit;
        st.decode_ns += w->decode;
        st.resample_ns += w->resample;
        st.idle_ns += w->idle;
    }
    wr_sized_give(ret, size, &st, sizeof(st));
}

int weir_pipeline_cache_error(const weir_pipeline *p, weir_err *err)
{
    return p->cache ? wr_cache_error(p->cache, err) : 0;
}

size_t weir_pipeline_tuning(const weir_pipeline *p, char *buf, size_t cap)
{
    weir_pipeline *shared;
    size_t n;

    memcpy(&shared, &p, sizeof(shared)); /* for the lock alone */
    pthread_mutex_lock(&shared->sched.lock);
    n = wr_tune_text(&p->tune, buf, cap);
    pthread_mutex_unlock(&shared->sched.lock);
    return n;
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
    if (s->storage_wait_ns + s->submit_ns > cpu)
        return WEIR_VERDICT_STORAGE;
    /* Of pictures, also small ones that are hardly scaled, decoding takes most
     * of the time; of tensors and what a cache holds decoded, none. */
    return s->decode_ns * 10 < cpu ? WEIR_VERDICT_CONVERT : WEIR_VERDICT_DECODE;
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
