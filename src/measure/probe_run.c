/* probe_run.c - one run of one test: the crew of workers and its times.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each worker is a thread. They stand ready before the clock starts. */
#include "measure/probe_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

#define POLL_NS (50 * WR_NS_PER_MS)
/* The first part of a direct read is not counted: queues fill, the device
 * wakes. */
#define RAMP_PART 0.1
#define RAMP_MAX  0.25

static void wait_phase(struct wr_probe_crew *c, enum wr_probe_phase phase)
{
    while (c->phase < phase)
        pthread_cond_wait(&c->change, &c->lock);
}

static void *worker_main(void *arg)
{
    struct wr_probe_worker *w = arg;
    struct wr_probe_crew *c = w->crew;

    w->result = wr_probe_prepare(w);
    if (w->result < 0)
        c->halt = true;
    pthread_mutex_lock(&c->lock);
    c->ready++;
    pthread_cond_broadcast(&c->change);
    wait_phase(c, WR_PROBE_GO);
    pthread_mutex_unlock(&c->lock);
    if (w->result == 0 && !c->halt)
        w->result = wr_probe_work(w);
    if (w->result < 0)
        c->halt = true;
    pthread_mutex_lock(&c->lock);
    c->done++;
    pthread_cond_broadcast(&c->change);
    wait_phase(c, WR_PROBE_RELEASE);
    pthread_mutex_unlock(&c->lock);
    wr_probe_release(w);
    return NULL;
}

static double cpu_now(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void advance(struct wr_probe_crew *c, enum wr_probe_phase phase)
{
    pthread_mutex_lock(&c->lock);
    c->phase = phase;
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
}

/* Until all are done, or `until_ns`. */
static bool wait_done(struct wr_probe_crew *c, unsigned workers,
                      uint64_t until_ns)
{
    bool done;

    pthread_mutex_lock(&c->lock);
    while (c->done < workers &&
           wr_cond_wait_until(&c->change, &c->lock, until_ns))
        ;
    done = c->done == workers;
    pthread_mutex_unlock(&c->lock);
    return done;
}

static double part_done(const struct wr_probe_crew *c, uint64_t now)
{
    const struct wr_probe_job *job = c->job;
    double by_time = job->seconds > 0
                         ? (double)(now - c->start_ns) * 1e-9 / job->seconds
                         : 0;
    double by_files = c->perm.n ? (double)c->next / (double)c->perm.n : 0;

    return job->from +
           (job->to - job->from) * WR_MIN(WR_MAX(by_time, by_files), 1.0);
}

/* Watches over the running workers: progress, the user's wish to stop, the end
 * of the ramp. */
static void watch(struct wr_probe_crew *c, unsigned workers, double *cpu)
{
    bool ramp = c->count_ns > c->start_ns;
    uint64_t now = wr_clock_ns(), next;

    do {
        next = now + POLL_NS;
        if (ramp)
            next = WR_MIN(next, c->count_ns);
        if (wait_done(c, workers, next))
            return;
        now = wr_clock_ns();
        if (ramp && now >= c->count_ns) {
            *cpu = cpu_now();
            ramp = false;
        }
        if (wr_probe_is_stopped(c->job->place->plan))
            c->halt = true;
        wr_probe_tell(c->job->place->plan, c->job->name, part_done(c, now));
    } while (true);
}

static void set_times(struct wr_probe_crew *c)
{
    const struct wr_probe_job *job = c->job;
    bool ramp = job->test->op == WR_PROBE_READ && job->test->direct;
    double ramp_s = ramp ? WR_MIN(job->seconds * RAMP_PART, RAMP_MAX) : 0;

    c->start_ns = wr_clock_ns();
    c->count_ns = c->start_ns + (uint64_t)(ramp_s * 1e9);
    c->end_ns = job->seconds > 0 ? c->count_ns + (uint64_t)(job->seconds * 1e9)
                                 : UINT64_MAX;
}

/* What was written is on the medium when the run ends. */
static int sync_written(const struct wr_probe_crew *c,
                        struct wr_probe_worker *const *workers, unsigned n,
                        weir_err *err)
{
    int r = 0;

    if (c->job->test->op != WR_PROBE_WRITE || c->halt)
        return 0;
    for (unsigned i = 0; r == 0 && i < n; i++)
        r = workers[i]->object->ops->sync(workers[i]->object, err);
    return r;
}

static int collect(struct wr_probe_crew *c,
                   struct wr_probe_worker *const *workers, unsigned n,
                   struct wr_probe_run *ret, weir_err *err)
{
    for (unsigned i = 0; i < n; i++)
        if (workers[i]->result < 0) {
            if (err)
                *err = workers[i]->err;
            return workers[i]->result;
        }
    if (wr_probe_is_stopped(c->job->place->plan))
        return wr_fail(err, WEIR_ECANCELED, "stopped");
    for (unsigned i = 0; i < n; i++) {
        ret->v.bytes += (double)workers[i]->bytes;
        ret->v.ops += (double)workers[i]->ops;
        wr_hist_merge(ret->latency, &workers[i]->latency);
        if (!wr_probe_is_files(c->job->test))
            continue;
        wr_hist_merge(ret->open, &workers[i]->open);
        wr_hist_merge(ret->transfer, &workers[i]->transfer);
        wr_hist_merge(ret->close, &workers[i]->close);
    }
    if (ret->v.seconds > 0) {
        ret->v.bytes_per_s = ret->v.bytes / ret->v.seconds;
        ret->v.ops_per_s = ret->v.ops / ret->v.seconds;
    }
    return 0;
}

/* All workers that were started stand ready: runs them. */
static int conduct(struct wr_probe_crew *c, struct wr_probe_worker **workers,
                   unsigned n, struct wr_probe_run *ret, weir_err *err)
{
    uint64_t last = 0;
    double cpu;
    int r;

    pthread_mutex_lock(&c->lock);
    while (c->ready < n)
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
    cpu = cpu_now();
    set_times(c);
    advance(c, WR_PROBE_GO);
    watch(c, n, &cpu);
    for (unsigned i = 0; i < n; i++)
        last = WR_MAX(last, workers[i]->last_ns);
    r = sync_written(c, workers, n, err);
    if (c->job->test->op == WR_PROBE_WRITE)
        last = wr_clock_ns();
    ret->v.cpu_s = cpu_now() - cpu;
    ret->start_ns = c->count_ns;
    ret->v.seconds = last > c->count_ns ? (double)(last - c->count_ns) * 1e-9
                                        : 0;
    if (workers[0]->queue && c->job->engine)
        snprintf(c->job->engine, 16, "%s", workers[0]->queue->engine);
    return r;
}

static int start_workers(struct wr_probe_crew *c,
                         struct wr_probe_worker **workers, unsigned *ret_n,
                         weir_err *err)
{
    unsigned n = c->job->test->workers;
    int r = 0;

    for (*ret_n = 0; r == 0 && *ret_n < n; ++*ret_n) {
        struct wr_probe_worker *w = calloc(1, sizeof(*w));

        if (!w)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        w->crew = c;
        w->index = *ret_n;
        r = wr_thread_start(&w->thread, "weir-probe", worker_main, w, err);
        if (r < 0) {
            free(w);
            return r;
        }
        workers[*ret_n] = w;
    }
    return r;
}

/* The permutation of what is done once each: files, or places of the file. */
static void init_crew(struct wr_probe_crew *c, const struct wr_probe_job *job)
{
    memset(c, 0, sizeof(*c));
    c->job = job;
    wr_perm_init(&c->perm,
                 wr_probe_is_files(job->test)
                     ? job->place->plan->small_files
                     : wr_probe_big_bytes(job) /
                           wr_probe_largest(job->place, job->test),
                 job->place->plan->seed, job->stream);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, NULL);
}

void wr_probe_run_done(struct wr_probe_run *run)
{
    free(run->latency);
    free(run->open);
    free(run->transfer);
    free(run->close);
    *run = (struct wr_probe_run){0};
}

static int get_hists(const struct wr_probe_job *job, struct wr_probe_run *run,
                     weir_err *err)
{
    run->latency = calloc(1, sizeof(*run->latency));
    if (wr_probe_is_files(job->test)) {
        run->open = calloc(1, sizeof(*run->open));
        run->transfer = calloc(1, sizeof(*run->transfer));
        run->close = calloc(1, sizeof(*run->close));
    }
    if (!run->latency || (wr_probe_is_files(job->test) &&
                          (!run->open || !run->transfer || !run->close)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

int wr_probe_run(const struct wr_probe_job *job, struct wr_probe_run *ret,
                 weir_err *err)
{
    struct wr_probe_worker **workers = calloc(job->test->workers,
                                              sizeof(struct wr_probe_worker *));
    struct wr_probe_run run = {.v = {.resident = NAN}};
    struct wr_probe_crew c;
    unsigned n = 0;
    int r;

    if (!workers)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    init_crew(&c, job);
    r = get_hists(job, &run, err);
    if (r == 0)
        r = start_workers(&c, workers, &n, err);
    if (r < 0)
        c.halt = true;
    else
        r = conduct(&c, workers, n, &run, err);
    advance(&c, WR_PROBE_RELEASE);
    for (unsigned i = 0; i < n; i++)
        pthread_join(workers[i]->thread, NULL);
    if (r == 0)
        r = collect(&c, workers, n, &run, err);
    if (r == 0) {
        *ret = run;
        run = (struct wr_probe_run){0};
    }
    wr_probe_run_done(&run);
    for (unsigned i = 0; i < n; i++)
        free(workers[i]);
    free(workers);
    pthread_cond_destroy(&c.change);
    pthread_mutex_destroy(&c.lock);
    return r;
}
