/* whatif.c - what would change, and by how much: one row a change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"
#include "plan/simulate.h"

/* --- how many accelerators can be fed --- */

#define POINTS_MAX       40
#define CAPACITY_SAMPLES 40000 /* that a point simulates at most */

/* Utilization with `n` accelerators. */
static int try_number(const struct wr_plan *p, uint32_t n,
                      const struct wr_plan_how *how, struct wr_plan_capacity *c,
                      weir_err *err)
{
    struct wr_plan q = *p;
    struct wr_plan_how mine = {.steps = how->steps, .stopped = how->stopped};
    struct wr_plan_result res;
    int r;

    q.compute.accelerators = n;
    q.epochs = 1;
    q.eval_steps = 0;
    /* As if there were data enough: the question is one of rates. */
    q.data.samples = WR_MAX(q.data.samples, (uint64_t)q.nodes * n *
                                                q.compute.batch * 64 *
                                                WR_MAX(q.loader.workers, 4u));
    if (!mine.steps)
        mine.steps = wr_plan_enough_steps(&q, CAPACITY_SAMPLES);
    r = wr_plan_simulate(&q, &mine, &res, err);
    if (r < 0)
        return r;
    c->points[c->count++] = (struct wr_plan_capacity_point){
        n, wr_plan_rate(&q, &res), wr_plan_steady_use(&q, &res)};
    wr_plan_result_done(&res);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct wr_plan_capacity_point *)a)->accelerators;
    uint32_t y = ((const struct wr_plan_capacity_point *)b)->accelerators;

    return (x > y) - (x < y);
}

static bool meets(const struct wr_plan_capacity *c, double target)
{
    return c->points[c->count - 1].utilization >= target;
}

/* Doubles until it fails, then halves the distance. */
static int search(const struct wr_plan *p, double target, uint32_t most,
                  const struct wr_plan_how *how, struct wr_plan_capacity *c,
                  weir_err *err)
{
    uint32_t good = 0, bad = most + 1, n = 1;
    int r = 0;

    while (good + 1 < bad && c->count < POINTS_MAX && r == 0) {
        r = try_number(p, n, how, c, err);
        if (r < 0)
            break;
        if (meets(c, target))
            good = n;
        else
            bad = n;
        n = bad > most ? WR_MIN(2 * good, most) : good + (bad - good) / 2;
        if (n == good)
            break;
    }
    c->accelerators = good;
    c->unlimited = good == most;
    return r;
}

int wr_plan_capacity(const struct wr_plan *p, double target, uint32_t most,
                     const struct wr_plan_how *how,
                     struct wr_plan_capacity *ret, weir_err *err)
{
    struct wr_plan_capacity c = {0};
    int r;

    most = WR_MIN(WR_MAX(most, 1u), WR_PLAN_MAX_ACCELERATORS);
    c.points = calloc(POINTS_MAX, sizeof(*c.points));
    if (!c.points)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = search(p, target, most, how, &c, err);
    if (r < 0) {
        wr_plan_capacity_done(&c);
        return r;
    }
    qsort(c.points, c.count, sizeof(*c.points), by_number);
    *ret = c;
    return 0;
}

void wr_plan_capacity_done(struct wr_plan_capacity *c)
{
    free(c->points);
    c->points = NULL;
    c->count = 0;
}

#define SHARD_BYTES   128e6
#define REQUEST_BYTES (UINT64_C(1) << 20)
#define COPY_RATE     5e9   /* bytes per second of one core, or of a snapshot */
#define FLOATS        4     /* bytes that a stored one becomes */
#define DEEP          64    /* reads in flight per worker */
#define SAMPLES       60000 /* that a row simulates at most */

/* --- the loader --- */

static bool more_workers(struct wr_plan *p)
{
    struct wr_plan_loader *l = &p->loader;

    if (l->workers > WR_PLAN_MAX_WORKERS / 2)
        return false;
    l->workers = l->workers < l->cores ? l->cores : 2 * l->workers;
    return true;
}

static bool more_cores(struct wr_plan *p)
{
    struct wr_plan_loader *l = &p->loader;

    if (l->cpu_s.mean <= 0 || l->cores > 1u << 15)
        return false;
    l->cores *= 2;
    l->workers = WR_MAX(l->workers, l->cores);
    return l->workers <= WR_PLAN_MAX_WORKERS;
}

static bool more_prefetch(struct wr_plan *p)
{
    if (p->loader.prefetch >= 2)
        return false;
    p->loader.prefetch = 2;
    return true;
}

static bool more_depth(struct wr_plan *p)
{
    if (p->loader.depth >= DEEP)
        return false;
    p->loader.depth = DEEP;
    return true;
}

static bool together(struct wr_plan *p)
{
    struct wr_plan_loader *l = &p->loader;

    if (l->style == WR_PLAN_TOGETHER && !l->apart)
        return false;
    l->style = WR_PLAN_TOGETHER;
    l->apart = false;
    l->start_s = 0;
    l->depth = WR_MAX(l->depth, 32u);
    l->prefetch = WR_MAX(l->prefetch, 1u);
    return true;
}

static bool fast_decode(struct wr_plan *p)
{
    struct wr_plan_loader *l = &p->loader;

    if (!(l->fast_cpu_s > 0) || l->fast_cpu_s >= l->cpu_s.mean)
        return false;
    l->cpu_s.mean = l->fast_cpu_s;
    return true;
}

/* --- the data --- */

/* Files of one sample into shards that are read in order. */
static bool shards(struct wr_plan *p)
{
    struct wr_plan_data *d = &p->data;

    if (d->samples_per_object > 1 || d->bytes.mean >= SHARD_BYTES / 4)
        return false;
    d->samples_per_object = (uint64_t)(SHARD_BYTES / d->bytes.mean);
    d->sequential = true;
    d->unit_bytes = WR_MAX(REQUEST_BYTES, (uint64_t)d->bytes.mean);
    d->shuffled_units = true;
    return true;
}

/* Decoded once: what is stored are the pixels, which are only converted. */
static bool tensors(struct wr_plan *p)
{
    struct wr_plan_data *d = &p->data;

    if (!(d->tensor_bytes > 0) || p->loader.in_place)
        return false;
    d->bytes = (struct wr_plan_draw){.mean = d->tensor_bytes};
    d->samples_per_object = WR_MAX((uint64_t)(SHARD_BYTES / d->tensor_bytes),
                                   2u);
    d->sequential = d->shuffled_units = true;
    d->unit_bytes = WR_MAX(REQUEST_BYTES, (uint64_t)d->tensor_bytes);
    p->loader.cpu_s = (struct wr_plan_draw){.mean = FLOATS * d->tensor_bytes /
                                                    COPY_RATE};
    return true;
}

/* The second epoch and all later ones come from memory. */
static bool cached(struct wr_plan *p)
{
    if (p->cache.share >= 1)
        return false;
    p->cache.share = 1;
    p->epochs = WR_MAX(p->epochs, 2u);
    return true;
}

/* --- the storage --- */

static bool on_profile(struct wr_plan *p, const char *name)
{
    struct wr_device_profile now = p->storage.profile, d;

    if (!strcmp(now.name, name) || !strcmp(now.name, "page cache") ||
        wr_device_profile_find(name, &d, NULL) < 0)
        return false;
    if ((now.read_bytes_per_s > 0 ? now.read_bytes_per_s : INFINITY) >=
        d.read_bytes_per_s)
        return false; /* no faster one */
    p->storage.profile = d;
    p->storage.opens_per_s = p->storage.shared ? p->storage.opens_per_s : 0;
    p->save.on_input = false;
    return true;
}

static bool on_ssd(struct wr_plan *p)
{
    return on_profile(p, "ssd");
}

static bool on_optane(struct wr_plan *p)
{
    return on_profile(p, "optane");
}

static bool on_nvme(struct wr_plan *p)
{
    return on_profile(p, "nvme");
}

static bool on_lustre(struct wr_plan *p)
{
    return on_profile(p, "lustre");
}

/* --- saves --- */

static bool burst(struct wr_plan *p)
{
    if (p->save.way != WR_PLAN_DIRECT)
        return false;
    p->save.way = WR_PLAN_BURST;
    return *p->save.fast.name ||
           wr_device_profile_find("nvme", &p->save.fast, NULL) == 0;
}

static bool async(struct wr_plan *p)
{
    if (p->save.way != WR_PLAN_DIRECT && p->save.way != WR_PLAN_BURST)
        return false;
    p->save.way = WR_PLAN_ASYNC;
    if (p->save.copy_bytes_per_s <= 0)
        p->save.copy_bytes_per_s = COPY_RATE;
    if (!*p->save.fast.name) /* the copy waits in memory */
        wr_plan_memory_profile(&p->save.fast);
    return true;
}

static const struct wr_plan_change table[] = {
    {"workers", "more workers: one for each core, or twice as many",
     "weir bench --threads N; DataLoader(num_workers=N)", more_workers},
    {"cores", "twice the cores", NULL, more_cores},
    {"prefetch", "keep two batches ahead",
     "weir bench --prefetch 2; dataset.prefetch(2)", more_prefetch},
    {"depth", "64 reads in flight per worker", "weir bench --depth 64",
     more_depth},
    {"loader", "all workers on the same batches, kept from epoch to epoch",
     "weir's pipeline", together},
    {"decode", "the fast decoder", "weir bench --decode fast", fast_decode},
    {"shards", "TFRecord shards of 128 MB instead of files",
     "weir convert DATA OUT --to tfrecord; --order block", shards},
    {"tensors", "decoded once, stored as tensors of bytes",
     "weir convert DATA OUT --to tensor --dtype u8; --order block", tensors},
    {"cache", "all of it in memory from the second epoch on",
     "weir bench --cache ram:SIZE --epochs 2", cached},
    {"ssd", "on a SATA SSD", "weir stage", on_ssd},
    {"optane", "on an Optane drive", "weir stage", on_optane},
    {"nvme", "on an NVMe drive", "weir stage", on_nvme},
    {"lustre", "on a Lustre file system", NULL, on_lustre},
    {"burst", "save to a fast tier, drained in the background",
     "weir train --ckpt FAST --slow SLOW", burst},
    {"async", "go on as soon as the state is copied in memory",
     "weir train --ckpt FOLDER --level snapshot", async},
};

const struct wr_plan_change *wr_plan_change_at(size_t k)
{
    return k < WR_ARRAY_LEN(table) ? &table[k] : NULL;
}

/* --- trying --- */

static int try_plan(const struct wr_plan *p, const struct wr_plan_how *how,
                    struct wr_plan_outcome *ret, weir_err *err)
{
    struct wr_plan_how mine = {.steps = how->steps, .stopped = how->stopped};
    struct wr_plan_result res;
    int r;

    if (!mine.steps)
        mine.steps = wr_plan_enough_steps(p, SAMPLES);
    r = wr_plan_simulate(p, &mine, &res, err);
    if (r < 0)
        return r;
    ret->samples_per_s = wr_plan_rate(p, &res);
    ret->utilization = wr_plan_steady_use(p, &res);
    ret->epoch_s = wr_plan_epoch_s(p, &res);
    wr_plan_result_done(&res);
    return 0;
}

/* With a cache the second epoch counts: both are simulated whole, but short. */
static void shorten(struct wr_plan *p, const struct wr_plan *as_it_is)
{
    uint64_t steps = wr_plan_enough_steps(as_it_is, SAMPLES / 2);

    if (p->epochs == as_it_is->epochs && p->cache.share <= 0)
        return;
    p->epochs = 2;
    if (steps && wr_plan_steps(p) > steps)
        p->max_steps = steps;
}

static int by_gain(const void *a, const void *b)
{
    double x = ((const struct wr_plan_outcome *)a)->gain;
    double y = ((const struct wr_plan_outcome *)b)->gain;

    return (x < y) - (x > y);
}

/* A change that is tried; false: it does not apply. */
static int try_change(const struct wr_plan *p, const struct wr_plan_how *how,
                      const struct wr_plan_change *c,
                      struct wr_plan_outcome *ret, weir_err *err)
{
    struct wr_plan changed = *p;
    uint64_t steps = wr_plan_steps(p);
    int r;

    if (!c->apply(&changed) || wr_plan_check(&changed, NULL) < 0)
        return 0;
    shorten(&changed, p);
    r = try_plan(&changed, how, ret, err);
    if (r < 0)
        return r;
    ret->epoch_s = (double)(steps * p->nodes) * p->compute.accelerators *
                       p->compute.batch / ret->samples_per_s +
                   (double)p->eval_steps * p->eval_s;
    ret->change = c;
    return 1;
}

int wr_plan_what_if(const struct wr_plan *p, const struct wr_plan_how *how,
                    struct wr_plan_outcome **ret, size_t *ret_count,
                    weir_err *err)
{
    struct wr_plan_outcome *rows = calloc(WR_ARRAY_LEN(table) + 1,
                                          sizeof(*rows));
    size_t n = 1;
    int r;

    if (!rows)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = try_plan(p, how, &rows[0], err);
    rows[0].gain = 1;
    for (size_t k = 0; k < WR_ARRAY_LEN(table) && r >= 0; k++) {
        r = try_change(p, how, &table[k], &rows[n], err);
        if (r > 0) {
            rows[n].gain = rows[n].samples_per_s / rows[0].samples_per_s;
            n++;
        }
    }
    if (r < 0) {
        free(rows);
        return r;
    }
    qsort(rows + 1, n - 1, sizeof(*rows), by_gain);
    *ret = rows;
    *ret_count = n;
    return 0;
}
