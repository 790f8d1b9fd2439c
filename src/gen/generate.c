/* generate.c - data sets on disk from a seed: kinds, threads, outcome.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/generate.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/thread.h"
#include "format/writer.h"
#include "gen/crew.h"
#include "gen/genlist.h"

#define PER_FILE_DEFAULT 1024
#define PER_FILE_MAX     (UINT64_C(1) << 24)

static const struct wr_gen_kind *const kinds[] = {
#define ENTRY(name, help) &wr_gen_##name,
    WR_GEN_KIND_MAP(ENTRY)
#undef ENTRY
};

/* What the threads share. */
struct makers {
    struct wr_gen_run *run; /* borrowed */
    struct wr_crew crew;
    pthread_mutex_t lock; /* guards sizes; taken alone */
    struct wr_hist sizes;
};

const struct wr_gen_kind *wr_gen_kind_find(const char *name)
{
    return wr_named_ops(kinds, WR_ARRAY_LEN(kinds), name);
}

uint32_t wr_gen_label(const struct wr_gen_config *cfg, uint64_t i)
{
    return (uint32_t)(i % cfg->classes);
}

void wr_gen_picture_path(const struct wr_gen_config *cfg, uint64_t i,
                         char buf[WR_GEN_PATH_MAX])
{
    uint32_t label = wr_gen_label(cfg, i);

    snprintf(buf, WR_GEN_PATH_MAX, "class_%04u/%04u_%06" PRIu64 ".jpg", label,
             label, i / cfg->classes);
}

void wr_gen_count(const struct wr_gen_job *job, uint64_t bytes)
{
    wr_hist_add(job->sizes, bytes);
    job->run->samples_done++;
}

/* Takes pieces until there are none, or somebody stops. */
static int take_pieces(struct makers *c, struct wr_hist *sizes, weir_err *err)
{
    struct wr_gen_run *run = c->run;
    struct wr_gen_job job = {.run = run, .stop = &c->crew.stop, .sizes = sizes};
    uint64_t unit;
    int r = run->kind->worker_new(run, &job.worker, err);

    if (r < 0)
        return r;
    while (r == 0 && !c->crew.stop && (unit = run->next_unit++) < run->units)
        r = run->kind->make(&job, unit, err);
    run->kind->worker_free(job.worker);
    return r;
}

static int work(void *arg, unsigned thread, weir_err *err)
{
    struct makers *c = arg;
    struct wr_hist *sizes = calloc(1, sizeof(*sizes));
    int r = sizes ? take_pieces(c, sizes, err)
                  : wr_fail(err, WEIR_ENOMEM, "out of memory");

    (void)thread;
    pthread_mutex_lock(&c->lock);
    if (sizes)
        wr_hist_merge(&c->sizes, sizes);
    pthread_mutex_unlock(&c->lock);
    free(sizes);
    return r;
}

static int report(void *arg)
{
    const struct wr_gen_run *run = ((struct makers *)arg)->run;

    return run->cfg.progress
               ? run->cfg.progress(run->cfg.progress_arg, run->samples_done,
                                   run->cfg.samples)
               : 0;
}

/* Runs all pieces on cfg.threads threads. */
static int run_crew(struct wr_gen_run *run, struct wr_hist *ret_sizes,
                    weir_err *err)
{
    struct makers *c = calloc(1, sizeof(*c));
    int r;

    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->run = run;
    c->crew.name = "weir-gen";
    c->crew.threads = run->cfg.threads;
    c->crew.work = work;
    c->crew.watch = report;
    c->crew.arg = c;
    pthread_mutex_init(&c->lock, NULL);
    r = wr_crew_run(&c->crew, err);
    if (r == 0)
        *ret_sizes = c->sizes;
    pthread_mutex_destroy(&c->lock);
    free(c);
    return r;
}

static int check_limits(const struct wr_gen_config *cfg, weir_err *err)
{
    if (cfg->samples > WR_GEN_SAMPLES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %" PRIu64 " samples",
                       WR_GEN_SAMPLES_MAX);
    if (cfg->classes > WR_GEN_CLASSES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d classes",
                       WR_GEN_CLASSES_MAX);
    if (cfg->samples_per_file > PER_FILE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "more than %" PRIu64 " samples per file", PER_FILE_MAX);
    if (strcmp(cfg->to, "wt") && strcmp(cfg->to, "npy") &&
        !wr_array_writer_find(cfg->to) &&
        !(wr_writer_find(cfg->to) && wr_writer_find(cfg->to)->fields))
        return wr_fail(err, WEIR_EINVAL, "tensors cannot be written as '%s'",
                       cfg->to);
    if (cfg->vary && cfg->samples_per_file != 1)
        return wr_fail(err, WEIR_EINVAL,
                       "samples of different sizes need a file each");
    return 0;
}

/* Fills in what was left to the kind. */
static int settle(struct wr_gen_run *run, weir_err *err)
{
    struct wr_gen_config *cfg = &run->cfg;
    struct wr_gen_shape usual = {
        .dtype = cfg->shape.dtype, .ndim = 3, .dims = {224, 224, 3}};
    int r;

    run->kind = wr_gen_kind_find(cfg->kind);
    if (!run->kind)
        return wr_fail(err, WEIR_EINVAL, "unknown kind of data set '%s'",
                       cfg->kind);
    if (cfg->list && !run->kind->pictures)
        return wr_fail(err, WEIR_EINVAL,
                       "a list names one file per sample, which '%s' does not "
                       "make",
                       cfg->kind);
    cfg->samples = cfg->samples ? cfg->samples : run->kind->samples;
    cfg->classes = cfg->classes ? cfg->classes : run->kind->classes;
    cfg->drawn = cfg->drawn ? cfg->drawn : WR_GEN_DRAWN;
    if (!cfg->samples_per_file)
        cfg->samples_per_file = PER_FILE_DEFAULT;
    if (!cfg->shape.ndim)
        cfg->shape = usual;
    if (!cfg->to)
        cfg->to = "wt";
    r = check_limits(cfg, err);
    if (r < 0)
        return r;
    run->units = run->kind->units(cfg);
    if (!cfg->threads)
        cfg->threads = wr_cpu_count();
    cfg->threads = (unsigned)WR_MIN(run->units, cfg->threads);
    cfg->threads = WR_MIN(cfg->threads, WR_GEN_THREADS_MAX);
    return 0;
}

static int make_folders(struct wr_gen_run *run, weir_err *err)
{
    uint64_t classes = WR_MIN(run->cfg.classes, run->cfg.samples);
    char path[WR_GEN_PATH_MAX];
    int r = 0;

    for (uint64_t c = 0; r == 0 && run->kind->pictures && c < classes; c++) {
        snprintf(path, sizeof(path), "class_%04" PRIu64, c);
        r = wr_gen_target_mkdir(run->target, path, err);
    }
    return r;
}

/* Everything between the part and the finished data set. */
static int fill_target(struct wr_gen_run *run, struct wr_hist *ret_sizes,
                       weir_err *err)
{
    int r = make_folders(run, err);

    if (r < 0)
        return r;
    r = run->kind->begin(run, err);
    if (r == 0)
        r = run_crew(run, ret_sizes, err);
    run->kind->end(run);
    if (r < 0)
        return r;
    return wr_gen_target_commit(run->target, err);
}

int wr_gen_run(const struct wr_gen_config *cfg, struct wr_gen_result *ret,
               weir_err *err)
{
    struct wr_gen_run run = {.cfg = *cfg};
    struct wr_hist sizes;
    uint64_t start = wr_clock_ns();
    int r = settle(&run, err);

    if (r < 0)
        return r;
    if (cfg->list)
        r = wr_gen_list_check(cfg, err);
    if (r == 0)
        r = wr_gen_target_open(&run.target, cfg->target, cfg->force, err);
    if (r < 0)
        return r;
    r = fill_target(&run, &sizes, err);
    if (r == 0 && cfg->list)
        r = wr_gen_list_write(&run, err);
    wr_gen_target_close(run.target);
    if (r < 0)
        return r;
    *ret = (struct wr_gen_result){
        .samples = run.samples_done,
        .files = run.files,
        .bytes = run.bytes,
        .classes = (uint32_t)WR_MIN(run.cfg.classes, run.cfg.samples),
        .elapsed_ns = wr_clock_ns() - start,
        .threads = run.cfg.threads,
        .sizes = sizes,
    };
    return 0;
}
