/* probe_run.c - one run of one test: workers, queues, times.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each worker is a thread with a queue, buffers and a view of the file of its
 * own. All of it is prepared, memory touched included, before the clock
 * starts, and given back after it was read. Within a run nothing is allocated,
 * and the clock is read once for all requests that are answered together. */
#include "measure/probe_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"

#define MAX_BUFFERS ((size_t)4 << 30)
#define SYNC_BLOCK  4096u
#define POLL_NS     (50 * WR_NS_PER_MS)
/* The first part of a direct read is not counted: queues fill, the device
 * wakes. */
#define RAMP_PART 0.1
#define RAMP_MAX  0.25

static bool is_write(const struct wr_probe_test *t)
{
    return t->op == WR_PROBE_WRITE || t->op == WR_PROBE_SYNC;
}

static bool is_files(const struct wr_probe_test *t)
{
    return t->op == WR_PROBE_FILES || t->op == WR_PROBE_CREATE;
}

/* A plain read(2) costs less than a ring when there is one at a time; past the
 * page cache only a queue goes. */
static bool wants_queue(const struct wr_probe_test *t)
{
    if (t->op == WR_PROBE_SYNC || t->op == WR_PROBE_CREATE)
        return false;
    return t->direct || t->depth > 1;
}

static uint64_t largest(const struct wr_probe_job *job)
{
    const struct wr_probe_test *t = job->test;

    if (t->op == WR_PROBE_SYNC)
        return SYNC_BLOCK;
    if (is_files(t) || !t->block)
        return wr_probe_mix_max(&job->place->plan->mix);
    return t->block;
}

static uint64_t file_bytes(const struct wr_probe_job *job)
{
    return is_write(job->test) ? job->place->plan->file_bytes
                               : job->place->read_bytes;
}

/* --- which request comes next --- */

static uint64_t roll(struct wr_probe_worker *w)
{
    return wr_rng_at(w->crew->job->place->plan->seed,
                     w->crew->job->stream << 16 | w->index, w->dice++);
}

static uint64_t next_length(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    if (job->test->op == WR_PROBE_SYNC)
        return SYNC_BLOCK;
    return job->test->block
               ? job->test->block
               : wr_probe_mix_pick(&job->place->plan->mix, roll(w));
}

/* Pages that were read once are in the cache: buffered tests end at the end of
 * the worker's region. Past the cache, and where each write is synced, they
 * begin again. */
static bool next_sequential(struct wr_probe_worker *w, uint64_t len,
                            uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (w->at + len > w->last) {
        if (!t->direct && t->op != WR_PROBE_SYNC)
            return false;
        w->at = w->first;
    }
    *ret = w->at;
    w->at += t->direct ? WR_ALIGN_UP(len, (uint64_t)WR_DIRECT_ALIGN) : len;
    return true;
}

/* Buffered: each place of the file once, in the order of a permutation that
 * all workers share, so that nothing is met in the cache. */
static bool next_random(struct wr_probe_worker *w, uint64_t len, uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;
    uint64_t align = t->block && t->block % WR_DIRECT_ALIGN == 0
                         ? t->block
                         : WR_DIRECT_ALIGN;
    uint64_t k;

    if (t->direct) {
        k = (file_bytes(w->crew->job) - len) / align + 1;
        *ret = (uint64_t)(((unsigned __int128)roll(w) * k) >> 64) * align;
        return true;
    }
    k = w->crew->next++;
    if (k >= w->crew->perm.n)
        return false;
    *ret = wr_perm_at(&w->crew->perm, k) * largest(w->crew->job);
    return true;
}

bool wr_probe_goes_on(struct wr_probe_worker *w, uint64_t now_ns)
{
    bool first = !w->began;

    w->began = true;
    return (first || now_ns < w->crew->end_ns) && !w->crew->halt;
}

static bool next_range(struct wr_probe_worker *w, uint64_t now_ns,
                       uint64_t *ret_offset, uint64_t *ret_len)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (!wr_probe_goes_on(w, now_ns))
        return false;
    *ret_len = next_length(w);
    return t->pattern == WR_PROBE_RANDOM && t->op != WR_PROBE_SYNC
               ? next_random(w, *ret_len, ret_offset)
               : next_sequential(w, *ret_len, ret_offset);
}

/* --- requests --- */

void wr_probe_count(struct wr_probe_worker *w, uint64_t bytes, uint64_t ns,
                    uint64_t now_ns)
{
    if (!w->counts) {
        if (now_ns < w->crew->count_ns)
            return;
        w->counts = true;
    }
    wr_hist_add(&w->latency, ns);
    w->bytes += bytes;
    w->ops++;
    w->last_ns = now_ns;
}

/* No two pages written are alike, for devices that look for such. */
static void stamp(uint8_t *buf, size_t len, uint64_t offset, uint64_t now_ns)
{
    for (size_t i = 0; i + sizeof(now_ns) <= len; i += WR_DIRECT_ALIGN) {
        uint64_t word = now_ns ^ (offset + i) << 20;

        memcpy(buf + i, &word, sizeof(word));
    }
}

static bool next_io(struct wr_probe_worker *w, unsigned k, uint64_t now_ns)
{
    struct wr_io *io = &w->ios[k];
    uint64_t len;

    if (!next_range(w, now_ns, &io->offset, &len))
        return false;
    io->len = (size_t)len;
    if (io->op == WR_IO_WRITE)
        stamp(io->buf, io->len, io->offset, now_ns);
    return true;
}

static const char *name_of(const struct wr_probe_worker *w,
                           const struct wr_io *io)
{
    const struct wr_probe_place *p = w->crew->job->place;

    return io->path                       ? io->path
           : is_write(w->crew->job->test) ? p->write_path
                                          : p->read_path;
}

int wr_probe_pump(struct wr_probe_worker *w,
                  bool (*next)(struct wr_probe_worker *w, unsigned k,
                               uint64_t now_ns))
{
    uint64_t now = wr_clock_ns();
    unsigned n = 0, ready = 0, sent;

    for (; n < w->depth && next(w, n, now); n++) {
        w->since_ns[n] = now;
        w->list[n] = &w->ios[n];
    }
    ready = n;
    while (ready || n) {
        sent = ready ? w->queue->ops->submit(w->queue, w->list, ready) : 0;
        if (sent < ready)
            return wr_fail(&w->err, WEIR_EIO, "the queue takes no more");
        n = w->queue->ops->reap(w->queue, w->list, w->depth, /* wait= */ true);
        now = wr_clock_ns();
        ready = 0;
        for (unsigned i = 0; i < n; i++) {
            struct wr_io *io = w->list[i];

            if (io->result < 0)
                return wr_io_error(io, name_of(w, io), &w->err);
            wr_probe_count(w, io->len, now - w->since_ns[io->tag], now);
            w->since_ns[io->tag] = now;
            if (next(w, io->tag, now))
                w->list[ready++] = io;
        }
    }
    return 0;
}

static int read_all(struct wr_probe_worker *w, uint64_t offset, size_t len)
{
    size_t done = 0;

    while (done < len) {
        int64_t n = w->object->ops->read(w->object, w->buf + done, len - done,
                                         offset + done, &w->err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return wr_fail(&w->err, WEIR_ECHANGED, "'%s': became shorter",
                           w->crew->job->place->read_path);
        done += (size_t)n;
    }
    return 0;
}

/* One request at a time, without a queue. */
static int run_plain(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;
    uint64_t now = wr_clock_ns(), since, offset, len;
    int r = 0;

    while (next_range(w, now, &offset, &len)) {
        since = now;
        if (op != WR_PROBE_READ)
            stamp(w->buf, (size_t)len, offset, now);
        r = op == WR_PROBE_READ
                ? read_all(w, offset, (size_t)len)
                : w->object->ops->write(w->object, w->buf, (size_t)len, offset,
                                        &w->err);
        if (r == 0 && op == WR_PROBE_SYNC) {
            since = wr_clock_ns();
            r = w->object->ops->sync(w->object, &w->err);
        }
        if (r < 0)
            return r;
        now = wr_clock_ns();
        wr_probe_count(w, len, now - since, now);
    }
    return 0;
}

static int run_test(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;

    if (op == WR_PROBE_FILES)
        return wr_probe_read_files(w);
    if (op == WR_PROBE_CREATE)
        return wr_probe_create_files(w);
    return w->queue ? wr_probe_pump(w, next_io) : run_plain(w);
}

/* --- a worker: prepared, run, released --- */

static size_t buffers_size(const struct wr_probe_worker *w)
{
    /* Large enough for pages of its own, which are aligned. */
    return WR_MAX(w->cap * w->depth, (size_t)2 << 20);
}

static int open_object(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = is_write(job->test) ? p->store : p->read_store;

    if (is_files(job->test))
        return 0;
    return st->ops->object_open(
        st, is_write(job->test) ? p->write_path : p->read_path,
        is_write(job->test) ? WR_OPEN_WRITE : WR_OPEN_READ, &w->object,
        &w->err);
}

static int open_queue(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = job->test->op == WR_PROBE_READ ? p->read_store
                                                         : p->store;
    struct wr_queue_config cfg = {
        .depth = w->depth, .io = p->plan->io, .direct = job->test->direct};

    if (!wants_queue(job->test))
        return 0;
    return st->ops->queue_open(st, &cfg, &w->queue, &w->err);
}

static int get_memory(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    w->cap = WR_ALIGN_UP(wr_read_cap(largest(job), job->test->direct),
                         (size_t)WR_DIRECT_ALIGN);
    if (w->cap * w->depth > MAX_BUFFERS / job->test->workers)
        return wr_fail(&w->err, WEIR_ELIMIT, "too many requests of %zu bytes",
                       (size_t)largest(job));
    w->buf = wr_big_alloc(buffers_size(w));
    w->ios = calloc(w->depth, sizeof(*w->ios));
    w->list = calloc(w->depth, sizeof(*w->list));
    w->since_ns = calloc(w->depth, sizeof(*w->since_ns));
    if (job->test->op == WR_PROBE_FILES)
        w->paths = calloc(w->depth, sizeof(*w->paths));
    if (!w->buf || !w->ios || !w->list || !w->since_ns ||
        (job->test->op == WR_PROBE_FILES && !w->paths))
        return wr_fail(&w->err, WEIR_ENOMEM, "out of memory");
    /* Touches it, too. */
    wr_probe_noise(w->buf, buffers_size(w), job->stream << 16 | w->index);
    return 0;
}

static void set_region(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    uint64_t unit = WR_ALIGN_UP(largest(job), (uint64_t)WR_DIRECT_ALIGN);
    uint64_t units = file_bytes(job) / unit, workers = job->test->workers;

    w->first = w->at = units * w->index / workers * unit;
    w->last = units * (w->index + 1) / workers * unit;
}

static int prepare(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    int r;

    w->depth = wants_queue(job->test) ? job->test->depth : 1;
    r = get_memory(w);
    if (r == 0)
        r = open_object(w);
    if (r == 0)
        r = open_queue(w);
    /* What tests before left to be written is no part of this one. */
    if (r == 0 && w->object && is_write(job->test))
        r = w->object->ops->sync(w->object, &w->err);
    if (r < 0)
        return r;
    for (unsigned k = 0; k < w->depth; k++)
        w->ios[k] = (struct wr_io){
            .op = is_write(job->test) ? WR_IO_WRITE : WR_IO_READ,
            .object = w->object,
            .buf = w->buf + k * w->cap,
            .cap = w->cap,
            .tag = k,
        };
    if (!is_files(job->test))
        set_region(w);
    return 0;
}

static void release(struct wr_probe_worker *w)
{
    if (w->queue)
        w->queue->ops->close(w->queue); /* waits for what is in flight */
    if (w->object)
        w->object->ops->close(w->object, /* sync= */ false, NULL);
    wr_big_free(w->buf, w->buf ? buffers_size(w) : 0);
    free(w->ios);
    free(w->list);
    free(w->since_ns);
    free(w->paths);
}

/* --- the crew --- */

static void wait_phase(struct wr_probe_crew *c, enum wr_probe_phase phase)
{
    while (c->phase < phase)
        pthread_cond_wait(&c->change, &c->lock);
}

static void *worker_main(void *arg)
{
    struct wr_probe_worker *w = arg;
    struct wr_probe_crew *c = w->crew;

    w->result = prepare(w);
    if (w->result < 0)
        c->halt = true;
    pthread_mutex_lock(&c->lock);
    c->ready++;
    pthread_cond_broadcast(&c->change);
    wait_phase(c, WR_PROBE_GO);
    pthread_mutex_unlock(&c->lock);
    if (w->result == 0 && !c->halt)
        w->result = run_test(w);
    if (w->result < 0)
        c->halt = true;
    pthread_mutex_lock(&c->lock);
    c->done++;
    pthread_cond_broadcast(&c->change);
    wait_phase(c, WR_PROBE_RELEASE);
    pthread_mutex_unlock(&c->lock);
    release(w);
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
    struct timespec ts = {.tv_sec = (time_t)(until_ns / WR_NS_PER_SEC),
                          .tv_nsec = (long)(until_ns % WR_NS_PER_SEC)};
    bool done;

    pthread_mutex_lock(&c->lock);
    while (c->done < workers &&
           pthread_cond_timedwait(&c->change, &c->lock, &ts) == 0)
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
        ret->bytes += workers[i]->bytes;
        ret->ops += workers[i]->ops;
        wr_hist_merge(ret->latency, &workers[i]->latency);
        if (!is_files(c->job->test))
            continue;
        wr_hist_merge(ret->open, &workers[i]->open);
        wr_hist_merge(ret->transfer, &workers[i]->transfer);
        wr_hist_merge(ret->close, &workers[i]->close);
    }
    ret->bytes_per_s = ret->seconds > 0 ? (double)ret->bytes / ret->seconds : 0;
    ret->ops_per_s = ret->seconds > 0 ? (double)ret->ops / ret->seconds : 0;
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
    ret->cpu_s = cpu_now() - cpu;
    ret->start_ns = c->count_ns;
    ret->seconds = last > c->count_ns ? (double)(last - c->count_ns) * 1e-9 : 0;
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
    pthread_condattr_t attr;

    memset(c, 0, sizeof(*c));
    c->job = job;
    wr_perm_init(&c->perm,
                 is_files(job->test) ? job->place->plan->small_files
                                     : file_bytes(job) / largest(job),
                 job->place->plan->seed, job->stream);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, &attr);
    pthread_condattr_destroy(&attr);
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
    if (is_files(job->test)) {
        run->open = calloc(1, sizeof(*run->open));
        run->transfer = calloc(1, sizeof(*run->transfer));
        run->close = calloc(1, sizeof(*run->close));
    }
    if (!run->latency ||
        (is_files(job->test) && (!run->open || !run->transfer || !run->close)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

int wr_probe_run(const struct wr_probe_job *job, struct wr_probe_run *ret,
                 weir_err *err)
{
    struct wr_probe_worker **workers = calloc(job->test->workers,
                                              sizeof(struct wr_probe_worker *));
    struct wr_probe_run run = {.resident = -1};
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
