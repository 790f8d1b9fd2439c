/* jobs.c - measuring one run of a cell: the table of kinds, and feeding.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/bench.h"
#include "measure/probe.h"
#include "monitor/cores.h"
#include "result/stats.h"
#include "storage/moved.h"
#include "study/data.h"
#include "study/folder.h"
#include "train/train.h"

#define STEP_S  (WR_MOVED_STEP_MS / 1e3)
#define URL_CAP (2 * WR_FOLDER_PATH + 64)

/* The files of one run: what its devices moved, and the tiers. */
struct place {
    char name[WR_CELL_ID + 8]; /* of the folder below FOLDER/data */
    char folder[WR_FOLDER_PATH];
    char data[WR_FOLDER_PATH + 8], fast[WR_FOLDER_PATH + 8],
        slow[WR_FOLDER_PATH + 8]; /* traces */
    char fast_url[URL_CAP], slow_url[URL_CAP];
};

#define BLOCK (UINT64_C(1) << 20)
#define DEPTH 8 /* enough for the bandwidth of each of the devices */

/* Past the page cache where that works, else through it and cold. */
static const struct wr_probe_test tests[] = {
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = true},
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = true},
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = false},
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, BLOCK, DEPTH, 1, .direct = false},
};

/* --- training runs ---
 *
 * The time of a run is counted from the first batch on: nothing can hide that
 * one, and in a run of ten iterations it would weigh more than in the paper's
 * 142. */

static int place_make(const struct wr_study *st, const struct wr_cell *c,
                      struct place *p, weir_err *err)
{
    char below[WR_CELL_ID + 16];
    int r;

    snprintf(p->name, sizeof(p->name), "run-%s", c->id);
    snprintf(below, sizeof(below), "data/%s", p->name);
    wr_folder_path(st, below, p->folder);
    r = wr_folder_remove(st, p->name, err); /* of a run that was killed */
    if (r == 0 && mkdir(p->folder, 0700) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot make the folder",
                          p->folder);
    snprintf(p->data, sizeof(p->data), "%s/data", p->folder);
    snprintf(p->fast, sizeof(p->fast), "%s/fast", p->folder);
    snprintf(p->slow, sizeof(p->slow), "%s/slow", p->folder);
    return r;
}

/* --- checkpoints --- */

static void tier(const struct place *p, const char *device, const char *trace,
                 const char *name, char url[URL_CAP])
{
    char path[WR_FOLDER_PATH + 16];

    snprintf(path, sizeof(path), "%s/%s", p->folder, name);
    wr_run_url(device, trace, path, url, URL_CAP);
}

/* The burst buffer is Optane in front of HDD, as the paper's. */
static void plan_saves(const struct wr_cell_job *job, struct place *p,
                       struct wr_train_plan *plan)
{
    bool async = !strcmp(job->saves_to, "async");
    bool two = async || !strcmp(job->saves_to, "burst");

    if (!*job->saves_to)
        return;
    tier(p, two ? "optane" : job->saves_to, p->fast, "near", p->fast_url);
    plan->ckpt.fast = p->fast_url;
    if (two) {
        tier(p, "hdd", p->slow, "far", p->slow_url);
        plan->ckpt.slow = p->slow_url;
    }
    plan->ckpt.verify = 0; /* as the paper's program */
    plan->ckpt.keep_last = 2;
    plan->save_every = job->save_every;
    plan->level = async ? WEIR_LEVEL_SNAPSHOT : WEIR_LEVEL_FAST;
    plan->settle = true;
}

/* --- what the devices moved --- */

/* Rows of time as lists, from the start of the run on, with what was zero. */
static int add_series(json_t *run, const char *key, const double *mb, size_t n)
{
    json_t *t = json_array(), *v = json_array();
    char name[40];
    int bad = 0;

    for (size_t k = 0; k < n; k++) {
        bad |= json_array_append_new(
            t, json_real(round((double)k * STEP_S * 10) / 10));
        bad |= json_array_append_new(
            v, json_real(round(mb[k] / STEP_S * 10) / 10));
    }
    snprintf(name, sizeof(name), "%s_t", key);
    bad |= json_object_set_new(run, name, t);
    bad |= json_object_set_new(run, key, v);
    return bad;
}

/* Sums of a trace, in MB: all, and what came after the end of the run. */
struct moved {
    double all, after;
};

static int add_trace(json_t *run, const char *path, const char *key,
                     const struct wr_train_result *res, struct moved *ret)
{
    bool written = strstr(key, "written");
    struct wr_moved_row *rows = NULL;
    double start = (double)res->start_ns / 1e9, *mb;
    size_t count = 0, n;
    int bad;

    *ret = (struct moved){0, 0};
    if (wr_moved_load(path, &rows, &count, NULL) < 0 || !count) {
        free(rows);
        return 0;
    }
    n = (size_t)(fmax((double)rows[count - 1].ms / 1e3 - start, res->seconds) /
                     STEP_S +
                 2);
    mb = calloc(n, sizeof(*mb));
    for (size_t k = 0; mb && k < count; k++) {
        double at = (double)rows[k].ms / 1e3 - start;
        double moved = (double)(written ? rows[k].written : rows[k].read) / 1e6;

        if (at < -1) /* the index of the data set, the store's first files */
            continue;
        mb[(size_t)(fmax(at, 0) / STEP_S)] += moved;
        ret->all += moved;
        ret->after += at > res->seconds ? moved : 0;
    }
    bad = mb ? add_series(run, key, mb, n) : -1;
    free(mb);
    free(rows);
    return bad;
}

static int add_traces(json_t *run, const struct place *p,
                      const struct wr_train_result *res)
{
    struct moved data, fast, slow;
    int bad = 0;

    bad |= add_trace(run, p->data, "data_read", res, &data);
    bad |= add_trace(run, p->fast, "fast_written", res, &fast);
    bad |= add_trace(run, p->slow, "slow_written", res, &slow);
    bad |= json_object_set_new(run, "data_mb", json_real(data.all));
    bad |= json_object_set_new(
        run, "read_rate", json_real(data.all / WR_MAX(res->seconds, 1e-9)));
    bad |= json_object_set_new(run, "fast_mb", json_real(fast.all));
    bad |= json_object_set_new(run, "fast_after_mb", json_real(fast.after));
    bad |= json_object_set_new(run, "slow_mb", json_real(slow.all));
    bad |= json_object_set_new(run, "slow_after_mb", json_real(slow.after));
    return bad;
}

/* --- the run --- */

/* The numbers of a run; the list ends with NULL. */
struct run_number {
    const char *key;
    double value;
};

static json_t *run_json(const struct run_number *list, bool starved)
{
    json_t *run = json_object();

    for (; list->key; list++)
        json_object_set_new(run, list->key, json_real(list->value));
    json_object_set_new(run, "starved", json_boolean(starved));
    return run;
}

static double median_stall(const struct wr_train_result *res)
{
    double *v = calloc(res->save_kept + 1, sizeof(*v)), m = NAN;

    for (size_t k = 0; v && k < res->save_kept; k++)
        v[k] = res->saves[k].stall_s;
    if (v && res->save_kept)
        m = wr_stats_median(v, res->save_kept);
    free(v);
    return m;
}

static json_t *train_json(const struct wr_cell_job *job,
                          const struct wr_train_plan *plan,
                          const struct wr_train_result *res, bool starved)
{
    double first = wr_series_rows(&res->series)
                       ? wr_series_value(&res->series, 0, WR_TRAIN_WAIT_MS) /
                             1e3
                       : 0;
    double step = wr_accelerator_step_ms(&plan->accelerator, job->batch) / 1e3;
    double stall = median_stall(res);

    return run_json(((const struct run_number[]){
                        {"value", res->seconds - first},
                        {"end_s", res->seconds},
                        {"first_wait_s", first},
                        {"wait_s", res->wait_s - first},
                        {"compute_s", step * job->iterations},
                        {"save_s", res->save_s},
                        {"flush_s", res->flush_s},
                        {"save_median_s", isnan(stall) ? 0 : stall},
                        {NULL, 0}}),
                    starved);
}

static int train_at(const struct wr_study *st, const struct wr_cell *c,
                    struct place *p, json_t **ret, weir_err *err)
{
    const struct wr_cell_job *job = &c->job;
    struct wr_train_result res = {0};
    struct wr_train_plan plan;
    struct wr_cores cores[2];
    struct wr_cores_use use;
    weir_dataset *ds = NULL;
    int r = wr_run_open(st, job, p->data, &ds, err);

    wr_train_defaults(&plan);
    plan.ds = ds;
    plan.feed.batch = job->batch;
    plan.feed.threads = job->threads;
    plan.feed.depth = 1; /* threads that read one file after the other */
    plan.feed.prefetch = job->prefetch;
    plan.iterations = job->iterations;
    plan.width = job->width > 0 ? job->width : 1;
    plan.stopped = st->cfg.stopped;
    plan_saves(job, p, &plan);
    if (r == 0)
        r = wr_accelerator_parse(job->accelerator, &plan.accelerator, err);
    wr_cores_now(&cores[0]);
    if (r == 0)
        r = wr_train(&plan, &res, err);
    wr_cores_now(&cores[1]);
    wr_cores_between(&cores[0], &cores[1], &use);
    if (r == 0 && res.done < job->iterations)
        r = wr_fail(err, WEIR_EIO, "%s: the data ended after %u iterations",
                    c->id, (unsigned)res.done);
    weir_dataset_close(&ds); /* which writes its trace */
    if (r == 0) {
        *ret = train_json(job, &plan, &res, wr_cores_is_starved(&use, 1));
        if (!*ret || add_traces(*ret, p, &res))
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_train_done(&res);
    return r;
}

static int run_train(const struct wr_study *st, const struct wr_cell *c,
                     json_t **ret, weir_err *err)
{
    struct place *p = calloc(1, sizeof(*p));
    int r = p ? place_make(st, c, p, err)
              : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0)
        r = train_at(st, c, p, ret, err);
    if (p)
        (void)wr_folder_remove(st, p->name, NULL);
    free(p);
    return r;
}

/* --- probes --- */

static json_t *probe_json(const struct wr_probe_report *rep, bool direct,
                          bool starved)
{
    double read = rep->results[0].v.bytes_per_s;
    double write = rep->results[1].v.bytes_per_s;

    return json_pack("{s:f, s:f, s:f, s:f, s:b, s:i}", "value", read / 1e6,
                     "read", read / 1e6, "write", write / 1e6, "resident",
                     rep->cache.resident, "direct", (int)direct, "starved",
                     (int)starved);
}

static int probe_with(struct wr_probe_plan *plan, bool direct, json_t **ret,
                      weir_err *err)
{
    struct wr_probe_report rep = {0};
    struct wr_cores cores[2];
    struct wr_cores_use use;
    int r;

    plan->tests = direct ? &tests[0] : &tests[2];
    plan->test_count = 2;
    wr_cores_now(&cores[0]);
    r = wr_probe(plan, &rep, err);
    wr_cores_now(&cores[1]);
    wr_cores_between(&cores[0], &cores[1], &use);
    if (r < 0)
        return r;
    if (rep.results[0].skipped || rep.results[1].skipped) {
        r = 1;
    } else {
        *ret = probe_json(&rep, direct, wr_cores_is_starved(&use, 1));
        r = *ret ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_probe_report_done(&rep);
    return r;
}

static int run_probe(const struct wr_study *st, const struct wr_cell *c,
                     json_t **ret, weir_err *err)
{
    char path[WR_FOLDER_PATH], below[80], url[WR_FOLDER_PATH + 64];
    struct wr_probe_plan plan = {
        .url = url,
        .file_bytes = c->job.bytes,
        .small_files = 1,
        .passes = 1,
        .seconds = c->job.seconds,
        .stopped = st->cfg.stopped,
    };
    int r;

    snprintf(below, sizeof(below), "data/probe-%s", c->job.device);
    wr_folder_path(st, below, path);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return wr_fail_errno(err, errno, "'%s': cannot make the folder", path);
    wr_run_url(c->job.device, NULL, path, url, sizeof(url));
    wr_probe_mix_imagenet(&plan.mix);
    r = probe_with(&plan, /* direct= */ true, ret, err);
    if (r == 1)
        r = probe_with(&plan, /* direct= */ false, ret, err);
    if (r == 1)
        r = wr_fail(err, WEIR_ENOTSUP, "'%s' cannot be probed", url);
    return r;
}

/* "disk": cold; "memory": in the page cache. */
static bool is_real(const char *device)
{
    return !strcmp(device, "disk") || !strcmp(device, "memory");
}

void wr_run_url(const char *device, const char *trace, const char *path,
                char *buf, size_t cap)
{
    if (is_real(device))
        snprintf(buf, cap, "%s", path);
    else
        snprintf(buf, cap, "emu:%s%s%s:%s", device, trace ? ",trace=" : "",
                 trace ? trace : "", path);
}

static int is_stopped(const struct wr_study *st)
{
    return st->cfg.stopped && st->cfg.stopped();
}

static int on_index(void *arg, uint64_t samples)
{
    (void)samples;
    return is_stopped(arg);
}

int wr_run_open(const struct wr_study *st, const struct wr_cell_job *job,
                const char *trace, weir_dataset **ret, weir_err *err)
{
    char path[WR_FOLDER_PATH], url[URL_CAP];
    weir_dataset_config cfg;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.progress = on_index;
    cfg.progress_arg = (void *)(uintptr_t)st;
    wr_data_path(st, job, path);
    wr_run_url(job->device, trace, path, url, sizeof(url));
    return weir_dataset_open(ret, url, &cfg, err);
}

/* --- feeding --- */

/* Depth 1: the paper's threads read one file after the other. */
static void feed_config(const struct wr_cell_job *job,
                        weir_pipeline_config *cfg)
{
    const struct wr_data_kind *kind = wr_data_find(job->data);

    weir_pipeline_defaults(cfg);
    cfg->threads = job->threads;
    cfg->depth = 1;
    cfg->batch = job->batch;
    cfg->prefetch = job->prefetch;
    cfg->stages = job->read_only ? WEIR_STAGES_READ : WEIR_STAGES_ALL;
    cfg->max_batches = job->iterations;
    if (kind && kind->side) { /* every form is delivered as it is stored */
        cfg->picture.width = cfg->picture.height = kind->side;
        cfg->picture.dtype = WEIR_U8;
    }
}

static json_t *feed_json(const struct wr_bench_values *run)
{
    double decode = run->times.decode_s + run->times.resample_s;
    double samples = run->samples;

    return run_json(((const struct run_number[]){
                        {"value", run->samples_per_s},
                        {"bytes_per_s", run->bytes_per_s},
                        {"sample_kb", run->bytes / samples / 1e3},
                        {"seconds", run->seconds},
                        {"decode_per_s", decode > 0 ? samples / decode : 0},
                        {"resident", run->resident},
                        {NULL, 0}}),
                    run->cores.starved);
}

/* What lies behind an emulated device must not be slower: it is in memory. The
 * real disk is read cold. */
int wr_run_feed(const struct wr_study *st, const struct wr_cell *c,
                json_t **ret, weir_err *err)
{
    struct wr_bench_plan plan = {.stopped = st->cfg.stopped};
    struct wr_bench_case one = {
        .cache = strcmp(c->job.device, "disk") ? WR_CACHE_WARM : WR_CACHE_COLD};
    struct wr_bench_run run = {.start_ns = 0};
    struct wr_file_list files = {0};
    weir_dataset *ds = NULL;
    int r = wr_run_open(st, &c->job, NULL, &ds, err);

    wr_vals_clear(&wr_bench_vals, &run.v);
    feed_config(&c->job, &one.cfg);
    plan.ds = ds;
    if (r == 0)
        r = wr_files_init(&files, ds, err);
    if (r == 0)
        r = wr_files_prepare(&files, one.cache, plan.stopped, &run.v.resident,
                             err);
    if (r == 0)
        r = wr_bench_once(&plan, &one, &run, NULL, err);
    if (r == 0 && !(run.v.samples > 0))
        r = wr_fail(err, WEIR_EIO, "%s: no sample could be read", c->id);
    if (r == 0) {
        *ret = feed_json(&run.v);
        r = *ret ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_files_done(&files);
    weir_dataset_close(&ds);
    return r;
}

int wr_run_cell(const struct wr_study *st, const struct wr_cell *c,
                json_t **ret, weir_err *err)
{
    static int (*const run[])(const struct wr_study *, const struct wr_cell *,
                              json_t **, weir_err *) = {
        [WR_CELL_PROBE] = run_probe,
        [WR_CELL_FEED] = wr_run_feed,
        [WR_CELL_TRAIN] = run_train,
    };

    return run[c->job.kind](st, c, ret, err);
}
