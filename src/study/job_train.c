/* job_train.c - the mini-application: an emulated accelerator, fed and saved.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The time of a run is counted from the first batch on: nothing can hide that
 * one, and in a run of ten iterations it would weigh more than in the paper's
 * 142. */
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
#include "monitor/cores.h"
#include "result/stats.h"
#include "storage/moved.h"
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

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "value",
                     res->seconds - first, "end_s", res->seconds,
                     "first_wait_s", first, "wait_s", res->wait_s - first,
                     "compute_s", step * job->iterations, "save_s", res->save_s,
                     "flush_s", res->flush_s, "save_median_s",
                     isnan(stall) ? 0 : stall, "starved", (int)starved);
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

int wr_run_train(const struct wr_study *st, const struct wr_cell *c,
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
