/* generate.c - data sets on disk from a seed: kinds, threads, outcome.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/generate.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/thread.h"
#include "format/writer.h"
#include "gen/crew.h"
#include "gen/set_job.h"
#include "storage/beside.h"

#define PER_FILE_DEFAULT 1024
#define PER_FILE_MAX     (UINT64_C(1) << 24)

static const struct wr_gen_kind *const kinds[] = {
#define ENTRY(name, help) &wr_gen_##name,
    WR_GEN_KIND_MAP(ENTRY)
#undef ENTRY
};

static const char *const file_names[] = {"[0-9]*_[0-9]*.jpg", "part-[0-9]*",
                                         NULL};

static const struct wr_sink_maker generator = {
    .command = "weir gen",
    .job_file = ".weir-gen",
    .comment = "",
    .replaces = "it",
    .other = "the beginning of another data set (other options, another seed "
             "or version); --force starts anew",
    .files = file_names,
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

static int check_limits(const struct wr_gen_config *cfg,
                        struct wr_file_form *ret_form, weir_err *err)
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
    if (!wr_file_form_find(cfg->to, ret_form) ||
        (ret_form->records && !ret_form->records->fields))
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
    r = check_limits(cfg, &run->form, err);
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
        r = wr_sink_mkdir(run->sink, path, err);
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
    return wr_sink_commit(run->sink, err);
}

/* --- the "path,label" list beside the data set --- */

static int check_list(const struct wr_gen_config *cfg, weir_err *err)
{
    size_t n = strlen(cfg->target);

    while (n > 1 && cfg->target[n - 1] == '/')
        n--;
    /* Inside, it would be taken for a part of the data set. */
    if (!strncmp(cfg->list, cfg->target, n) &&
        (cfg->list[n] == '/' || !cfg->list[n]))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a list lies outside of its data set", cfg->list);
    return wr_whole_check(cfg->list, err);
}

/* The folder of the data set as lines of the list should name it: relative to
 * the list's folder when it lies below that, else absolute. */
static void name_root(const struct wr_gen_run *run, char root[PATH_MAX])
{
    char around[PATH_MAX], full[PATH_MAX], target[PATH_MAX];
    const char *slash = strrchr(run->cfg.list, '/');
    size_t n;

    if (!wr_sink_local_path(run->sink, target, sizeof(target))) {
        snprintf(root, PATH_MAX, "%s", run->cfg.target);
        return;
    }
    snprintf(root, PATH_MAX, "%s", target);
    snprintf(around, sizeof(around), "%.*s",
             slash ? (int)(slash + 1 - run->cfg.list) : 1,
             slash ? run->cfg.list : ".");
    if (!realpath(around, full))
        return;
    n = strlen(full);
    n -= full[n - 1] == '/';
    if (!strncmp(full, target, n) && target[n] == '/')
        snprintf(root, PATH_MAX, "%s", target + n + 1);
}

/* A path with a comma, quote or line end is quoted, and one that begins like a
 * comment or with a blank. */
static int print_list(const void *arg, FILE *out, weir_err *err)
{
    const struct wr_gen_run *run = arg;
    char root[PATH_MAX], path[WR_GEN_PATH_MAX];
    bool quote;

    (void)err;
    name_root(run, root);
    quote = strpbrk(root, ",\"\r\n") || strchr("# \t", *root);
    for (uint64_t i = 0; i < run->cfg.samples; i++) {
        if (quote)
            putc('"', out);
        for (const char *s = root; *s; s++) {
            if (*s == '"')
                putc('"', out);
            putc(*s, out);
        }
        wr_gen_picture_path(&run->cfg, i, path);
        fprintf(out, "/%s%s,%u\n", path, quote ? "\"" : "",
                wr_gen_label(&run->cfg, i));
    }
    return 0;
}

/* --- the whole --- */

/* All that decides on the bytes, as text. */
static int describe_job(const struct wr_gen_run *run, char **ret, weir_err *err)
{
    const struct wr_gen_config *c = &run->cfg;
    char how[512];
    int n, at = 0;

    if (run->kind->pictures)
        snprintf(how, sizeof(how), "drawn %" PRIu32, c->drawn);
    else
        at = snprintf(how, sizeof(how),
                      "to %s deflate %d samples-per-file %" PRIu64
                      " vary %u dtype %s shape",
                      c->to, c->packed, c->samples_per_file, c->vary,
                      wr_dtype_name(c->shape.dtype));
    for (unsigned k = 0; at && k < c->shape.ndim; k++)
        at += snprintf(how + at, sizeof(how) - (size_t)at, " %" PRIu64,
                       c->shape.dims[k]);
    n = asprintf(ret,
                 "weir gen, version %u\n%s samples %" PRIu64 " classes %" PRIu32
                 " seed %" PRIu64 "\n%s\n",
                 WR_GEN_JOB_VERSION, c->kind, c->samples, c->classes, c->seed,
                 how);
    return n < 0 ? wr_fail(err, WEIR_ENOMEM, "out of memory") : 0;
}

/* Opens the folder, fills it, and puts it in its place. */
static int make_set(struct wr_gen_run *run, struct wr_hist *ret_sizes,
                    weir_err *err)
{
    struct wr_sink_config sink = {.maker = &generator,
                                  .url = run->cfg.target,
                                  .force = run->cfg.force,
                                  .restart = run->cfg.force};
    char *job = NULL;
    int r = describe_job(run, &job, err);

    sink.job = job;
    if (r == 0)
        r = wr_sink_open(&run->sink, &sink, err);
    if (r == 0) {
        r = fill_target(run, ret_sizes, err);
        if (r == 0 && run->cfg.list)
            r = wr_whole_write(
                run->cfg.list,
                &(struct wr_whole){.print = print_list, .arg = run}, err);
        wr_sink_close(run->sink, /* drop= */ r < 0);
    }
    free(job);
    return r;
}

int wr_gen_run(const struct wr_gen_config *cfg, struct wr_gen_result *ret,
               weir_err *err)
{
    struct wr_gen_run run = {.cfg = *cfg};
    struct wr_hist sizes;
    uint64_t start = wr_clock_ns();
    int r = settle(&run, err);

    if (r == 0 && cfg->list)
        r = check_list(cfg, err);
    if (r == 0)
        r = make_set(&run, &sizes, err);
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
