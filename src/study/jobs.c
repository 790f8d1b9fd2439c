/* jobs.c - measuring one run of a cell: the table of kinds, and feeding.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "measure/bench.h"
#include "study/data.h"
#include "study/folder.h"

#define URL_CAP (2 * WR_FOLDER_PATH + 64)

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

    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:i}", "value",
                     run->samples_per_s, "bytes_per_s", run->bytes_per_s,
                     "sample_kb", run->bytes / samples / 1e3, "seconds",
                     run->seconds, "decode_per_s",
                     decode > 0 ? samples / decode : 0, "resident",
                     run->resident, "starved", (int)run->cores.starved);
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
        [WR_CELL_PROBE] = wr_run_probe,
        [WR_CELL_FEED] = wr_run_feed,
        [WR_CELL_TRAIN] = wr_run_train,
    };

    return run[c->job.kind](st, c, ret, err);
}
