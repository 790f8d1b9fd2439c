/* setup.c - from a plan to what the accelerators of a process share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/setup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "pipeline/settings.h"
#include "run/job.h"

/* --- which samples an accelerator reads: the access of a workload --- */

enum wr_wl_access wr_run_access(const struct wr_run_job *job)
{
    const struct wr_run_plan *p = job->plan;
    enum wr_wl_access a = p->access != WR_WL_ACCESS_AUTO ? p->access
                                                         : p->w->reader.access;

    if (p->compat_dlio && a != WR_WL_ACCESS_SAME)
        return WR_WL_ACCESS_SHARED; /* DLIO deals out ranges */
    return a == WR_WL_ACCESS_POSIX ? WR_WL_ACCESS_AUTO : a;
}

static uint64_t object_of(const struct wr_index *ix, uint64_t sample)
{
    struct wr_part part;

    wr_index_part(ix, 0, sample, &part);
    return part.object;
}

/* The first sample below `n` that lies in object `object` or behind it. Samples
 * lie in the order of their objects. */
static uint64_t first_in(const struct wr_index *ix, uint64_t object, uint64_t n)
{
    uint64_t low = 0, high = n;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (object_of(ix, mid) < object)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Where share k of `world` begins among the first `n` samples: at a file where
 * files are dealt out. With fewer files than shares they have to share some. */
static uint64_t share_begin(const struct wr_run_job *job,
                            const struct wr_run_feed_spec *spec, uint64_t k,
                            uint64_t n)
{
    const struct wr_index *ix = spec->ds->index;
    uint64_t files = n ? object_of(ix, n - 1) + 1 : 0;

    if (k >= job->world)
        return n;
    if (wr_run_access(job) == WR_WL_ACCESS_MULTI && files >= job->world)
        return first_in(ix, files * k / job->world, n);
    return (uint64_t)((unsigned __int128)n * k / job->world);
}

static bool has_ranges(enum wr_wl_access a)
{
    return a == WR_WL_ACCESS_MULTI || a == WR_WL_ACCESS_SHARED;
}

void wr_run_shard(const struct wr_run_job *job, uint64_t global,
                  const struct wr_run_feed_spec *spec,
                  weir_pipeline_config *ret)
{
    enum wr_wl_access access = wr_run_access(job);
    uint64_t n = spec->cfg.sample_count;

    *ret = spec->cfg;
    if (access == WR_WL_ACCESS_SAME)
        return;
    if (has_ranges(access) && spec->ds) {
        ret->sample_first = share_begin(job, spec, global, n);
        ret->sample_count = share_begin(job, spec, global + 1, n) -
                            ret->sample_first;
        return;
    }
    ret->rank = (uint32_t)global;
    ret->world = (uint32_t)job->world;
}

uint64_t wr_run_shard_steps(const struct wr_run_job *job,
                            const struct wr_run_feed_spec *spec,
                            uint64_t samples)
{
    enum wr_wl_access access = wr_run_access(job);
    uint64_t batch = spec->cfg.batch, least = samples / job->world;

    if (access == WR_WL_ACCESS_SAME)
        return samples / batch;
    for (uint64_t k = 0; has_ranges(access) && spec->ds && k < job->world; k++)
        least = WR_MIN(least, share_begin(job, spec, k + 1, samples) -
                                  share_begin(job, spec, k, samples));
    return least / batch;
}

/* --- from a plan to what the accelerators of a process share --- */

#define RAM_SPARE (UINT64_C(64) << 20) /* of a tier that must hold everything */

char *wr_run_data_url(const char *data, bool eval)
{
    size_t len = strlen(data);
    char *url;

    while (len > 1 && data[len - 1] == '/')
        len--;
    return asprintf(&url, "%.*s/%s", (int)len, data, eval ? "valid" : "train") <
                   0
               ? NULL
               : url;
}

const char *wr_run_format(enum wr_wl_format f)
{
    static const char *const names[WR_WL_FORMATS] = {
        [WR_WL_TFRECORD] = "tfrecord",
        [WR_WL_HDF5] = "hdf5",
        [WR_WL_CSV] = "csv",
        [WR_WL_NPZ] = "tensor",
        [WR_WL_NPY] = "tensor",
        [WR_WL_JPEG] = "images",
        [WR_WL_PNG] = "images",
        [WR_WL_INDEXED_BINARY] = "indexed_binary",
        [WR_WL_MMAP_INDEXED_BINARY] = "indexed_binary",
        [WR_WL_JSONL] = "json",
        [WR_WL_TAR] = "tar",
        [WR_WL_TENSOR] = "tensor",
    };

    return f < WR_WL_FORMATS ? names[f] : NULL;
}

enum weir_order wr_run_order(const struct wr_run_plan *plan)
{
    const struct wr_workload *w = plan->w;

    if (plan->has_order)
        return plan->feed.order;
    if (plan->compat_dlio)
        return WEIR_ORDER_SEQUENTIAL; /* whatever its keys say */
    if (w->reader.file_shuffle == WR_WL_SHUFFLE_OFF &&
        w->reader.sample_shuffle == WR_WL_SHUFFLE_OFF)
        return WEIR_ORDER_SEQUENTIAL;
    /* Files of many samples are read in order and mixed behind that, as the
     * frameworks with a shuffle buffer do. */
    return w->dataset.samples_per_file > 1 ? WEIR_ORDER_BLOCK
                                           : WEIR_ORDER_SHUFFLE;
}

/* --- settings of the input --- */

static int is_stopped(void *arg)
{
    const struct wr_run_plan *plan = arg;

    return plan->stopped && plan->stopped();
}

static unsigned threads_of(const struct wr_run_plan *plan)
{
    unsigned cores = wr_cpu_count();

    if (plan->feed.threads)
        return plan->feed.threads;
    return WR_MAX(cores / plan->accelerators, 1u);
}

static void set_picture(const struct wr_workload *w, weir_picture_config *p)
{
    const struct wr_wl_dims *d = &w->reader.transformed_dims;

    if (d->count < 2 || d->dim[0] > WR_SIDE_MAX || d->dim[1] > WR_SIDE_MAX)
        return;
    p->height = (uint32_t)d->dim[0];
    p->width = (uint32_t)d->dim[1];
}

static void settle_feed(struct wr_run_job *job, weir_pipeline_config *cfg)
{
    const struct wr_run_plan *plan = job->plan;
    const struct wr_workload *w = plan->w;

    *cfg = plan->feed;
    cfg->batch = (uint32_t)WR_MIN(w->reader.batch, (uint64_t)1 << 20);
    cfg->order = wr_run_order(plan);
    cfg->seed = w->train.seed;
    cfg->epochs = 0;
    cfg->remainder = WEIR_REMAINDER_DROP;
    cfg->threads = threads_of(plan);
    cfg->direct = plan->feed.direct || w->reader.odirect;
    if (!plan->has_prefetch)
        cfg->prefetch = (uint32_t)WR_MIN(w->reader.prefetch, (uint64_t)1024);
    cfg->stopped = is_stopped;
    cfg->stopped_arg = (void *)(uintptr_t)plan;
    set_picture(w, &cfg->picture);
}

/* All of it into memory first: a tier that has room for it. */
static int keep_in_memory(struct wr_run_job *job, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;
    uint64_t bytes;
    char *text;

    if (!plan->train || plan->w->reader.read_type != WR_WL_MEMORY ||
        plan->feed.cache)
        return 0;
    bytes = weir_dataset_bytes(plan->train);
    if (asprintf(&text, "ram:%" PRIu64, bytes + bytes / 8 + RAM_SPARE) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    job->memory_tier = text;
    job->feed.cfg.cache = text;
    return 0;
}

/* --- how much there is --- */

/* A scaled data set may have been made for fewer accelerators. */
static void say_fewer(const struct wr_run_job *job, const weir_dataset *ds,
                      uint64_t have, uint64_t want)
{
    char text[400];

    if (!job->plan->note)
        return;
    snprintf(text, sizeof(text),
             "'%s': has %" PRIu64 " samples, not the %" PRIu64
             " that this scale means for %" PRIu64 " accelerators: an epoch is "
             "shorter",
             ds->url, have, want, job->world);
    job->plan->note(job->plan->arg, text);
}

/* More than described: the first ones are used, as DLIO does. */
static int check_count(struct wr_run_job *job, const weir_dataset *ds,
                       uint64_t files, const char *key, uint64_t *ret,
                       weir_err *err)
{
    const struct wr_workload *w = job->plan->w;
    uint64_t want = files * w->dataset.samples_per_file;
    uint64_t have = weir_dataset_count(ds);
    char text[400];

    *ret = WR_MIN(want, have);
    if (have < want && job->plan->scale < 1 && have)
        say_fewer(job, ds, have, want);
    else if (have < want)
        return wr_fail(
            err, WEIR_EINVAL,
            "'%s': has %" PRIu64 " samples, and the description "
            "wants %" PRIu64 " (%s %" PRIu64 " x "
            "dataset.num_samples_per_file %" PRIu64
            "): generate them with weir gen, or override %s=%" PRIu64,
            ds->url, have, want, key, files, w->dataset.samples_per_file, key,
            have / WR_MAX(w->dataset.samples_per_file, 1u));
    if (have > want && job->plan->note) {
        snprintf(text, sizeof(text),
                 "'%s': has %" PRIu64 " samples; the first %" PRIu64
                 " are used, as described",
                 ds->url, have, want);
        job->plan->note(job->plan->arg, text);
    }
    return 0;
}

static int set_steps(struct wr_run_job *job, uint64_t samples, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;
    const struct wr_workload *w = plan->w;

    job->steps = wr_run_shard_steps(job, &job->feed, samples);
    if (!job->steps)
        return wr_fail(err, WEIR_EINVAL,
                       "%" PRIu64 " samples are too few for a batch of %" PRIu64
                       " on each of %" PRIu64 " accelerators (weir gen "
                       "--accelerators makes more of a scaled set)",
                       samples, job->batch, job->world);
    if (w->train.steps >= 0)
        job->steps = WR_MIN(job->steps, (uint64_t)w->train.steps);
    if (plan->max_steps)
        job->steps = WR_MIN(job->steps, plan->max_steps);
    return 0;
}

static int set_up_training(struct wr_run_job *job, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;
    const struct wr_workload *w = plan->w;
    uint64_t samples = w->dataset.files_train * w->dataset.samples_per_file;
    int r = 0;

    job->epochs = plan->max_epochs ? WR_MIN(plan->max_epochs, w->train.epochs)
                                   : w->train.epochs;
    job->feed = (struct wr_run_feed_spec){
        .ds = plan->train,
        .consume = plan->consume,
        .preprocess = w->reader.preprocess,
        .readers = w->reader.threads,
        .seed = w->train.seed,
        .same_order = !w->train.seed_change_epoch,
    };
    settle_feed(job, &job->feed.cfg);
    if (plan->train)
        r = check_count(job, plan->train, w->dataset.files_train,
                        "dataset.num_files_train", &samples, err);
    job->feed.cfg.sample_count = samples;
    if (r == 0)
        r = keep_in_memory(job, err);
    return r == 0 ? set_steps(job, samples, err) : r;
}

static int set_up_eval(struct wr_run_job *job, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;
    const struct wr_workload *w = plan->w;
    uint64_t samples = w->dataset.files_eval * w->dataset.samples_per_file;
    int r = 0;

    if (!w->workflow.evaluation || (!plan->eval && plan->train))
        return 0;
    job->eval = job->feed;
    job->eval.ds = plan->eval;
    job->eval.cfg.cache = NULL;
    job->eval.cfg.batch = (uint32_t)WR_MIN(w->reader.batch_eval,
                                           (uint64_t)1 << 20);
    job->eval.cfg.epochs = 1;
    if (plan->eval)
        r = check_count(job, plan->eval, w->dataset.files_eval,
                        "dataset.num_files_eval", &samples, err);
    job->eval.cfg.sample_count = samples;
    if (r == 0)
        job->eval_steps = wr_run_shard_steps(job, &job->eval, samples);
    return r;
}

/* --- ranks --- */

/* How many accelerators the ranks have, and how many come before this one's. */
static int count_all(struct wr_run_job *job, weir_err *err)
{
    uint64_t mine = job->plan->accelerators, *all;
    struct wr_comm_part *parts = NULL;
    size_t len, bytes = job->ranks * sizeof(*all);
    char *text = NULL;
    int r = wr_comm_gather(job->plan->comm, &mine, sizeof(mine), &parts, err);

    if (r < 0)
        return r;
    all = calloc(job->ranks, sizeof(*all));
    for (uint32_t k = 0; all && parts && k < job->ranks; k++)
        if (parts[k].len == sizeof(mine))
            memcpy(&all[k], parts[k].bytes, sizeof(mine));
    free(parts);
    r = all ? wr_comm_broadcast(job->plan->comm, all, bytes, &text, &len, err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0 && len != bytes)
        r = wr_fail(err, WEIR_EFORMAT, "what rank 0 sent cannot be read");
    for (uint32_t k = 0; r == 0 && k < job->ranks; k++) {
        memcpy(&mine, text + k * sizeof(mine), sizeof(mine));
        job->world += mine;
        job->first += k < job->rank ? mine : 0;
    }
    free(all);
    free(text);
    return r;
}

int wr_run_setup(struct wr_run_job *job, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;
    const struct wr_workload *w = plan->w;
    int r;

    job->rank = plan->comm->rank;
    job->ranks = plan->comm->world;
    job->batch = w->reader.batch;
    job->trains = w->workflow.train;
    job->resident = -1;
    r = count_all(job, err);
    if (r == 0 && job->trains)
        r = set_up_training(job, err);
    if (r == 0 && job->trains)
        r = set_up_eval(job, err);
    if (r == 0 && plan->train && plan->cache != WR_CACHE_ASIS)
        r = wr_files_init(&job->files, plan->train, err);
    job->ret->world = job->world;
    job->ret->steps = job->steps;
    return r;
}

void wr_run_setup_done(struct wr_run_job *job)
{
    wr_files_done(&job->files);
    free(job->memory_tier);
}
