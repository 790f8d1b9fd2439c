/* run.c - a run of a workload: emulated accelerators on real storage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "comm/barrier.h"
#include "format/format.h"
#include "run/saver.h"
#include "monitor/pagecache.h"
#include "monitor/cores.h"
#include "run/job.h"
#include "run/setup.h"

#define FILES 256u

#define ROWS    20000
#define NEWS_NS (100 * WR_NS_PER_MS)
#define RATE_NS (50 * WR_NS_PER_MS) /* between two points of MB/s */

/* A stall must stay visible. */
static const enum wr_series_rule series_rules[WR_RUN_COLUMNS] = {
    [WR_RUN_WAIT_MS] = WR_SERIES_MAX,
    [WR_RUN_STEP_MS] = WR_SERIES_MEAN,
    [WR_RUN_MB_PER_S] = WR_SERIES_MEAN,
    [WR_RUN_AU] = WR_SERIES_MEAN,
};

/* --- what all found --- */

static void add_times(struct wr_run_times *to, const struct wr_run_times *from)
{
    to->wall = WR_MAX(to->wall, from->wall);
    to->compute += from->compute;
    to->wait += from->wait;
    to->barrier += from->barrier;
    to->save += from->save;
    to->eval += from->eval;
}

static void add_accel(struct wr_run_rank *to, const struct wr_run_accel *a)
{
    struct wr_meter_counts *reads = calloc(1, sizeof(*reads));

    add_times(&to->t, &a->t);
    to->steps = WR_MAX(to->steps, a->steps);
    to->samples += a->samples;
    to->first_wait_ns = WR_MAX(to->first_wait_ns, a->first_wait_ns);
    to->load_ns = WR_MAX(to->load_ns, a->load_ns);
    to->stalls += a->stalls;
    to->digest += a->digest;
    wr_hist_merge(&to->waits, a->waits);
    if (!reads)
        return; /* the counts are short of this one's */
    wr_meter_take(a->meter, reads);
    wr_meter_add(&to->reads, reads);
    free(reads);
}

static void add_epoch(struct wr_run_epoch *to, const struct wr_run_epoch *from,
                      bool first)
{
    add_times(&to->t, &from->t);
    to->steps = from->steps;
    to->samples += from->samples;
    to->bytes += from->bytes;
    to->reads += from->reads;
    to->au_dlio += from->au_dlio;
    to->dlio_per_s += from->dlio_per_s;
    if (first) /* the first accelerator looked */
        to->resident = from->resident;
    if (first || from->start_wall_ns < to->start_wall_ns)
        to->start_wall_ns = from->start_wall_ns;
    to->end_wall_ns = WR_MAX(to->end_wall_ns, from->end_wall_ns);
}

/* One rank as bytes: a wr_run_rank and its epochs. */
struct rank_told {
    struct wr_run_rank rank;
    struct wr_run_epoch epochs[];
};

static size_t rank_bytes(const struct wr_run_job *job)
{
    return sizeof(struct rank_told) + job->epochs * sizeof(struct wr_run_epoch);
}

static void sum_up(const struct wr_run_job *job, const struct wr_usage *from,
                   struct rank_told *to)
{
    struct wr_usage now = {0}, used;

    gethostname(to->rank.host, sizeof(to->rank.host) - 1);
    to->rank.accelerators = job->plan->accelerators;
    for (unsigned k = 0; k < job->plan->accelerators; k++) {
        add_accel(&to->rank, &job->accels[k]);
        for (uint64_t e = 0; e < job->epochs; e++)
            add_epoch(&to->epochs[e], &job->accels[k].epochs[e], k == 0);
    }
    if (job->pool.counts)
        wr_meter_add(&to->rank.reads, job->pool.counts);
    to->rank.bytes = to->rank.reads.bytes;
    wr_usage_now(&now, NULL);
    used = wr_usage_between(from, &now);
    to->rank.cpu_s = used.user_s + used.sys_s;
    to->rank.peak_bytes = now.peak_rss_bytes;
}

static int take_parts(struct wr_run_job *job, const struct wr_comm_part *parts,
                      uint32_t count, weir_err *err)
{
    struct wr_run_result *ret = job->ret;
    size_t epochs = job->epochs * sizeof(struct wr_run_epoch);

    ret->ranks = calloc(count, sizeof(*ret->ranks));
    ret->epochs = calloc(count * WR_MAX(job->epochs, 1u), sizeof(*ret->epochs));
    if (!ret->ranks || !ret->epochs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < count; k++) {
        const char *t = parts[k].bytes; /* not aligned: it came in a message */

        if (parts[k].len != rank_bytes(job))
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", k);
        memcpy(&ret->ranks[k], t + offsetof(struct rank_told, rank),
               sizeof(ret->ranks[k]));
        ret->ranks[k].host[WR_RUN_HOST - 1] = '\0';
        if (epochs)
            memcpy(&ret->epochs[k * job->epochs],
                   t + offsetof(struct rank_told, epochs), epochs);
    }
    ret->rank_count = count;
    ret->epoch_count = job->epochs;
    return 0;
}

/* Sums this rank up, and on rank 0 the others', into job->ret; `from` is what
 * the process had used before the run. All ranks. */
static int run_combine(struct wr_run_job *job, const struct wr_usage *from,
                       weir_err *err)
{
    struct rank_told *mine = calloc(1, rank_bytes(job));
    struct wr_comm_part *parts = NULL, own;
    int r;

    if (!mine)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    sum_up(job, from, mine);
    own = (struct wr_comm_part){mine, rank_bytes(job)};
    r = wr_comm_gather(job->plan->comm, mine, own.len, &parts, err);
    if (r == 0 && job->rank == 0)
        r = take_parts(job, parts, job->ranks, err);
    else if (r == 0) /* the others have their own */
        r = take_parts(job, &own, 1, err);
    free(parts);
    free(mine);
    return r;
}

/* --- what the page cache has --- */

static bool look(const weir_dataset *ds, uint64_t object,
                 struct wr_residency *ret)
{
    const struct wr_storage_ops *ops = ds->store->ops;
    char name[PATH_MAX], path[PATH_MAX];
    bool known;
    int fd;

    if (!ops->local_path ||
        wr_index_object_path(ds->index, object, name, sizeof(name)) >=
            sizeof(name) ||
        !ops->local_path(ds->store, name, path, sizeof(path)))
        return false;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    known = wr_residency_of(fd, /* mincore_only= */ false, ret, NULL) == 0 &&
            ret->means != WR_RESIDENCY_UNKNOWN;
    close(fd);
    return known;
}

/* 0 to 1 of the bytes of some hundred files, evenly spread; -1: not known. */
static double run_resident(const weir_dataset *ds)
{
    uint64_t files = wr_index_object_count(ds->index);
    uint64_t n = WR_MIN(files, (uint64_t)FILES), all = 0, in = 0;

    for (uint64_t k = 0; k < n; k++) {
        struct wr_residency r;

        if (!look(ds, files * k / n, &r))
            return -1;
        all += r.bytes;
        in += r.resident_bytes;
    }
    return all ? (double)in / (double)all : -1;
}

void wr_run_defaults(struct wr_run_plan *plan)
{
    *plan = (struct wr_run_plan){.accelerators = 1,
                                 .scale = 1,
                                 .consume = WR_WL_DROP,
                                 .cache = WR_CACHE_ASIS,
                                 .level = WEIR_LEVEL_FAST,
                                 .rows = ROWS};
    weir_pipeline_defaults(&plan->feed);
    weir_ckpt_defaults(&plan->ckpt);
}

/* --- what accelerator 0 does for all --- */

void wr_run_tell(struct wr_run_job *job, const char *doing,
                 const struct wr_run_accel *a)
{
    const struct wr_run_plan *plan = job->plan;
    uint64_t now = wr_clock_ns();
    struct wr_run_news news = {
        .doing = doing,
        .done = a ? a->steps : job->saver.to.count,
        .total = a ? job->steps * job->epochs : 0,
        .epoch = a && job->steps ? a->steps / job->steps + 1 : 1,
        .au = a && a->train_ns > a->first_wait_ns
                  ? (double)a->t.compute /
                        (double)(a->train_ns - a->first_wait_ns)
                  : NAN,
    };

    if (!plan->progress || now < job->next_news_ns)
        return;
    job->next_news_ns = now + NEWS_NS;
    news.epoch = WR_MIN(news.epoch, WR_MAX(job->epochs, 1u));
    plan->progress(plan->arg, &news);
}

static uint64_t bytes_so_far(const struct wr_run_job *job)
{
    uint64_t sum = 0;

    for (unsigned k = 0; k < job->plan->accelerators; k++) {
        weir_stats s;

        if (!job->accels[k].feed.pipeline)
            continue;
        weir_pipeline_stats(job->accels[k].feed.pipeline, &s);
        sum += s.bytes_read;
    }
    return sum;
}

/* NaN: it is too early for another point. */
static double rate_now(struct wr_run_job *job)
{
    uint64_t now = wr_clock_ns(), bytes;
    double rate;

    if (now < job->series_ns + RATE_NS)
        return NAN;
    bytes = bytes_so_far(job);
    rate = (double)(bytes - job->series_bytes) * 1e3 /
           (double)(now - job->series_ns);
    job->series_bytes = bytes;
    job->series_ns = now;
    return rate;
}

void wr_run_note_step(struct wr_run_job *job, const struct wr_run_accel *a,
                      const struct wr_run_times *t)
{
    const double row[WR_RUN_COLUMNS] = {
        [WR_RUN_WAIT_MS] = (double)t->wait / 1e6,
        [WR_RUN_STEP_MS] = (double)t->wall / 1e6,
        [WR_RUN_MB_PER_S] = rate_now(job),
        [WR_RUN_AU] = t->wall ? (double)t->compute / (double)t->wall : NAN,
    };

    wr_series_add(&job->ret->series,
                  (double)(a->clock.end_ns - job->ret->start_ns) * 1e-9, row);
    wr_run_tell(job, "training", a);
}

int wr_run_keep_step(struct wr_run_job *job, const struct wr_run_accel *a,
                     weir_err *err)
{
    struct wr_run_result *ret = job->ret;
    const struct wr_run_block_tally *b = &a->block;

    if (!job->plan->keep_steps)
        return 0;
    if (!wr_grow(&ret->step_times, &job->step_cap, ret->step_time_count + 1,
                 sizeof(*ret->step_times)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ret->step_times[ret->step_time_count++] = (struct wr_run_step){
        .load_s = (float)((double)b->load_ns * 1e-9),
        .compute_s = (float)((double)b->last_ns * 1e-9),
        .proc_s = (float)((double)(b->load_ns + b->last_ns) * 1e-9)};
    return 0;
}

int wr_run_note_block(struct wr_run_job *job, uint64_t epoch, uint64_t block,
                      const struct wr_run_accel *a, weir_err *err)
{
    struct wr_run_result *ret = job->ret;
    struct wr_run_block_result r = wr_run_block_end(&a->block, wr_clock_ns(),
                                                    job->batch);

    if (!job->plan->keep_steps)
        return 0;
    if (!wr_grow(&ret->blocks, &job->block_cap, ret->block_count + 1,
                 sizeof(*ret->blocks)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ret->blocks[ret->block_count++] = (struct wr_run_block){
        .epoch = epoch + 1,
        .block = block,
        .first = ret->step_time_count - r.steps,
        .count = r.steps,
        .start_wall_ns = a->block.start_wall_ns,
        .end_wall_ns = wr_clock_wall_ns(),
        .au = r.au,
        .per_s = r.per_s};
    return 0;
}

int wr_run_before_epoch(struct wr_run_job *job, uint64_t epoch, weir_err *err)
{
    const struct wr_run_plan *plan = job->plan;

    job->resident = -1;
    if (!plan->train || plan->no_io)
        return 0;
    if (plan->cache != WR_CACHE_ASIS)
        return wr_files_prepare(&job->files, plan->cache, plan->stopped,
                                &job->resident, err);
    job->resident = run_resident(plan->train);
    return 0;
}

/* --- threads --- */

static int make_accels(struct wr_run_job *job, weir_err *err)
{
    unsigned n = job->plan->accelerators;
    int r = 0;

    job->accels = calloc(n, sizeof(*job->accels));
    if (!job->accels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; r == 0 && k < n; k++)
        r = wr_run_accel_init(&job->accels[k], job, k, err);
    return r;
}

static int run_accels(struct wr_run_job *job, weir_err *err)
{
    unsigned n = job->plan->accelerators;
    weir_err why;

    for (unsigned k = 0; k < n; k++) {
        struct wr_run_accel *a = &job->accels[k];

        if (wr_thread_start(&a->thread, "weir-accel", wr_run_accel_main, a,
                            &why) < 0) {
            wr_gate_fail(job->gate, &why);
            break;
        }
        a->started = true;
    }
    for (unsigned k = 0; k < n; k++)
        if (job->accels[k].started)
            pthread_join(job->accels[k].thread, NULL);
    return wr_gate_failed(job->gate, err);
}

static int ask_ranks(void *arg, uint64_t value, uint64_t *ret, weir_err *err)
{
    const struct wr_run_job *job = arg;
    uint64_t own = value - WR_MIN(value, job->zero_ns), most;
    int r = wr_barrier_max(job->barrier, own, &most, err);

    if (r == 0)
        *ret = most + job->zero_ns;
    return r;
}

/* Ranks of one host have one clock. Else each one's zero is the moment at which
 * all leave a barrier: they agree as well as it is quick. */
static int find_zero(struct wr_run_job *job, weir_err *err)
{
    uint64_t ignored;
    int r;

    if (wr_barrier_one_host(job->barrier))
        return 0;
    r = wr_barrier_max(job->barrier, 0, &ignored, err);
    job->zero_ns = wr_clock_ns();
    return r;
}

static int open_gate(struct wr_run_job *job, weir_err *err)
{
    int r = 0;

    if (job->ranks > 1)
        r = wr_barrier_open(job->plan->comm, &job->barrier, err);
    if (r == 0 && job->barrier)
        r = find_zero(job, err);
    if (r == 0)
        r = wr_gate_new(&job->gate, job->plan->accelerators,
                        job->barrier ? ask_ranks : NULL, job, err);
    return r;
}

/* --- one run --- */

static int begin(struct wr_run_job *job, weir_err *err)
{
    int r = wr_series_init(&job->ret->series, job->plan->rows, WR_RUN_COLUMNS,
                           series_rules, err);

    if (r == 0)
        r = wr_run_setup(job, err);
    if (r == 0)
        r = open_gate(job, err);
    if (r == 0)
        r = make_accels(job, err);
    if (r == 0)
        r = wr_run_saver_open(&job->saver, job, err);
    if (r == 0)
        r = wr_run_pool_open(&job->pool, job, err);
    return r;
}

static int work(struct wr_run_job *job, weir_err *err)
{
    int r;

    if (!job->trains && !job->saver.to.c)
        return wr_fail(err, WEIR_EINVAL,
                       "the description neither trains nor saves: there is "
                       "nothing to run (workflow.train, workflow.checkpoint)");
    if (!job->trains)
        return wr_run_only_save(job, err);
    r = wr_run_before_epoch(job, 0, err);
    if (r == 0)
        r = run_accels(job, err);
    return r == 0 ? wr_run_extra_final(job, err) : r;
}

static void note_input(struct wr_run_job *job)
{
    for (unsigned k = 0; job->accels && k < job->plan->accelerators; k++) {
        weir_pipeline *p = job->accels[k].feed.pipeline;
        const weir_bad_sample *bad = p ? weir_pipeline_bad(p, 0) : NULL;

        if (p && k == 0)
            weir_pipeline_stats(p, &job->ret->stats);
        if (p)
            job->ret->bad_count += weir_pipeline_bad_count(p);
        if (bad && bad->text && !job->ret->bad_text)
            job->ret->bad_text = strdup(bad->text);
    }
}

static void end(struct wr_run_job *job)
{
    wr_run_pool_close(&job->pool);
    for (unsigned k = 0; job->accels && k < job->plan->accelerators; k++)
        wr_run_accel_done(&job->accels[k]);
    free(job->accels);
    wr_gate_free(job->gate);
    wr_barrier_close(job->barrier);
    wr_run_setup_done(job);
}

int wr_run(const struct wr_run_plan *plan, struct wr_run_result *ret,
           weir_err *err)
{
    struct wr_run_job job = {.plan = plan, .ret = ret};
    struct wr_usage from = {0};
    int r, q;

    *ret = (struct wr_run_result){0};
    wr_usage_reset_peak(NULL);
    wr_usage_now(&from, NULL);
    r = begin(&job, err);
    if (r == 0)
        r = work(&job, err);
    note_input(&job);
    q = wr_run_saver_close(&job.saver, r < 0 ? NULL : err);
    if (r == 0)
        r = q;
    if (r == 0)
        r = run_combine(&job, &from, err);
    else if (err && plan->comm->world > 1)
        wr_comm_give_up(plan->comm, err); /* the others need not wait */
    end(&job);
    return r;
}

void wr_run_done(struct wr_run_result *ret)
{
    wr_series_done(&ret->series);
    free(ret->ranks);
    free(ret->epochs);
    free(ret->saves);
    free(ret->restores);
    free(ret->bad_text);
    free(ret->step_times);
    free(ret->blocks);
    *ret = (struct wr_run_result){0};
}
