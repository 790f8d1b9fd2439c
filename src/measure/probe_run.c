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

/* --- tests of many small files --- */

/* Files are read in a shuffled order, each once: open, read all, close. They
 * are created as mdtest does it: create, write, close; the system brings them
 * to the medium when it likes, for no one syncs a data set file by file. */

/* Next file to be worked on; false: no more, or the time is over at now_ns. */
static bool next_file(struct wr_probe_worker *w, uint64_t now_ns, unsigned *ret)
{
    struct wr_probe_crew *c = w->crew;
    uint64_t k;

    if (!wr_probe_goes_on(w, now_ns))
        return false;
    k = c->next++;
    if (k >= c->perm.n)
        return false;
    *ret = (unsigned)wr_perm_at(&c->perm, k);
    return true;
}

/* Adds what one file took, step by step. */
static uint64_t count_file(struct wr_probe_worker *w, const uint64_t ns[4],
                           uint64_t bytes)
{
    wr_hist_add(&w->open, ns[1] - ns[0]);
    wr_hist_add(&w->transfer, ns[2] - ns[1]);
    wr_hist_add(&w->close, ns[3] - ns[2]);
    wr_probe_count(w, bytes, ns[3] - ns[0], ns[3]);
    return ns[3];
}

/* One file, blocking; ns[0] is given, the others are filled. */
static int do_file(struct wr_probe_worker *w, unsigned k, bool create,
                   uint64_t ns[4])
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_store *st = job->place->store;
    uint64_t size = job->place->small_bytes[k];
    char path[WR_PROBE_PATH];
    struct wr_object *o;
    int r;

    wr_probe_small_path(job->place, job->kind, k, path);
    r = st->ops->object_open(st, path, create ? WR_OPEN_CREATE : WR_OPEN_READ,
                             &o, &w->err);
    if (r < 0)
        return r;
    ns[1] = wr_clock_ns();
    r = create ? o->ops->write(o, w->buf, (size_t)size, 0, &w->err)
               : wr_probe_read(w, o, path, 0, (size_t)size);
    ns[2] = wr_clock_ns();
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    r = o->ops->close(o, /* sync= */ false, &w->err);
    ns[3] = wr_clock_ns();
    return r;
}

static int do_files(struct wr_probe_worker *w, bool create)
{
    uint64_t ns[4] = {wr_clock_ns()};
    unsigned k;
    int r;

    while (next_file(w, ns[0], &k)) {
        r = do_file(w, k, create, ns);
        if (r < 0)
            return r;
        ns[0] = count_file(w, ns, w->crew->job->place->small_bytes[k]);
    }
    return 0;
}

static bool next_path(struct wr_probe_worker *w, unsigned slot, uint64_t now_ns)
{
    const struct wr_probe_job *job = w->crew->job;
    unsigned k;

    if (!next_file(w, now_ns, &k))
        return false;
    wr_probe_small_path(job->place, job->kind, k, w->paths[slot]);
    w->ios[slot].path = w->paths[slot];
    w->ios[slot].len = (size_t)job->place->small_bytes[k];
    return true;
}

int wr_probe_read_files(struct wr_probe_worker *w)
{
    return w->queue ? wr_probe_pump(w, next_path)
                    : do_files(w, /* create= */ false);
}

int wr_probe_create_files(struct wr_probe_worker *w)
{
    return do_files(w, /* create= */ true);
}

/* --- the files of a probe, laid out before the first test --- */

/* Many at once, for storage that answers late. */
#define CREATORS 8u

/* --- a big file --- */

struct fill {
    struct wr_probe_place *place; /* borrowed */
    const char *path;
    struct wr_object *object; /* owned */
    struct wr_queue *queue;   /* owned */
    uint8_t *buf;             /* owned */
    struct wr_io ios[WR_PROBE_FILL_DEPTH];
    uint64_t size, at, done;
    double from, to; /* of the progress */
    uint64_t told_ns;
};

static bool submit_block(struct fill *f, struct wr_io *io)
{
    struct wr_io *list[1] = {io};
    size_t len = (size_t)WR_MIN(f->size - f->at, WR_PROBE_FILL_BLOCK);

    if (!len)
        return true;
    wr_probe_noise(io->buf, len, f->place->plan->seed + f->at);
    io->op = WR_IO_WRITE;
    io->object = f->object;
    io->offset = f->at;
    io->len = len;
    f->at += len;
    return f->queue->ops->submit(f->queue, list, 1) == 1;
}

static void tell(struct fill *f)
{
    uint64_t now = wr_clock_ns();

    if (now < f->told_ns + 50 * WR_NS_PER_MS)
        return;
    f->told_ns = now;
    wr_probe_tell(f->place->plan, "lay out",
                  f->from +
                      (f->to - f->from) * (double)f->done / (double)f->size);
}

static int pump(struct fill *f, weir_err *err)
{
    struct wr_io *io;
    bool room = true;

    for (unsigned i = 0; room && i < WR_PROBE_FILL_DEPTH; i++) {
        f->ios[i].buf = f->buf + i * WR_PROBE_FILL_BLOCK;
        f->ios[i].cap = WR_PROBE_FILL_BLOCK;
        room = submit_block(f, &f->ios[i]);
    }
    while (room && f->queue->ops->reap(f->queue, &io, 1, /* wait= */ true)) {
        if (io->result < 0)
            return wr_io_error(io, f->path, err);
        f->done += io->len;
        tell(f);
        if (wr_probe_is_stopped(f->place->plan))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        room = submit_block(f, io);
    }
    return room ? 0 : wr_fail(err, WEIR_EIO, "'%s': queue is full", f->path);
}

static int fill_object(struct fill *f, weir_err *err)
{
    struct wr_store *st = f->place->store;
    struct wr_queue_config cfg = {.depth = WR_PROBE_FILL_DEPTH,
                                  .io = f->place->plan->io,
                                  .direct = true,
                                  .lazy = true};
    int r = 0;

    if (!f->object->ops->sync)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    if (f->object->ops->resize)
        r = f->object->ops->resize(f->object, f->size, err);
    if (r == 0)
        r = st->ops->queue_open(st, &cfg, &f->queue, err);
    if (r < 0)
        return r;
    f->buf = wr_big_alloc(WR_PROBE_FILL_DEPTH * WR_PROBE_FILL_BLOCK);
    r = f->buf ? pump(f, err) : wr_fail(err, WEIR_ENOMEM, "out of memory");
    f->queue->ops->close(f->queue); /* before the buffers go */
    wr_big_free(f->buf, WR_PROBE_FILL_DEPTH * WR_PROBE_FILL_BLOCK);
    return r < 0 ? r : f->object->ops->sync(f->object, err);
}

static int fill_file(struct fill *f, weir_err *err)
{
    struct wr_store *st = f->place->store;
    int r;

    r = st->ops->object_open(st, f->path, WR_OPEN_CREATE, &f->object, err);
    if (r < 0)
        return r;
    r = fill_object(f, err);
    if (r < 0) {
        f->object->ops->close(f->object, /* sync= */ false, NULL);
        return r;
    }
    return f->object->ops->close(f->object, /* sync= */ false, err);
}

/* --- small files --- */

void wr_probe_small_path(const struct wr_probe_place *p, char kind, unsigned k,
                         char *buf)
{
    snprintf(buf, WR_PROBE_PATH, "%s/%c%03u/%03u", p->folder, kind,
             k / WR_PROBE_PER_FOLDER, k % WR_PROBE_PER_FOLDER);
}

static unsigned folder_count(const struct wr_probe_place *p)
{
    return (p->plan->small_files + WR_PROBE_PER_FOLDER - 1) /
           WR_PROBE_PER_FOLDER;
}

static void folder_path(const struct wr_probe_place *p, char kind, unsigned i,
                        char *buf)
{
    snprintf(buf, WR_PROBE_PATH, "%s/%c%03u", p->folder, kind, i);
}

int wr_probe_small_folders(struct wr_probe_place *p, char kind, weir_err *err)
{
    char path[WR_PROBE_PATH];
    int r = 0;

    for (unsigned i = 0; r == 0 && i < folder_count(p); i++) {
        folder_path(p, kind, i, path);
        r = p->store->ops->change(p->store, WR_MKDIR, path, NULL, err);
    }
    return r;
}

int wr_probe_small_remove(struct wr_probe_place *p, char kind, weir_err *err)
{
    char path[WR_PROBE_PATH];
    int r = 0;

    for (unsigned i = 0; r == 0 && i < folder_count(p); i++) {
        folder_path(p, kind, i, path);
        r = wr_tree_remove(p->store, path, WR_PROBE_TREE, err);
    }
    return r;
}

static int lay_small(struct wr_probe_place *p, double from, double to,
                     weir_err *err)
{
    struct wr_probe_test test = {
        .op = WR_PROBE_CREATE, .depth = 1, .workers = CREATORS};
    struct wr_probe_job job = {.place = p,
                               .test = &test,
                               .kind = 's',
                               .name = "lay out",
                               .from = from,
                               .to = to};
    struct wr_probe_run run = {0};
    int r;

    r = wr_probe_small_folders(p, 's', err);
    if (r == 0)
        r = wr_probe_run(&job, &run, err);
    wr_probe_run_done(&run);
    return r;
}

int wr_probe_place_fill(struct wr_probe_place *p, double part, weir_err *err)
{
    struct wr_probe_needs n = wr_probe_needs_of(p->plan);
    bool big = n.reads && !p->plan->file;
    double step = part / WR_MAX(big + n.writes + n.files, 1), at = 0;
    int r = 0;

    wr_probe_tell(p->plan, "lay out", 0);
    if (n.writes) {
        struct fill f = {.place = p,
                         .path = p->write_path,
                         .size = p->plan->file_bytes,
                         .from = at,
                         .to = at + step};

        r = fill_file(&f, err);
        at += step;
    }
    if (r == 0 && big) {
        struct fill f = {.place = p,
                         .path = p->read_path,
                         .size = p->plan->file_bytes,
                         .from = at,
                         .to = at + step};

        r = fill_file(&f, err);
        at += step;
    }
    if (r == 0 && n.files)
        r = lay_small(p, at, at + step, err);
    return r;
}

/* --- one run of one test: the crew of workers and its times --- */

#define POLL_NS (50 * WR_NS_PER_MS)
/* The first part of a direct read is not counted: queues fill, the device
 * wakes. */
#define RAMP_PART 0.1
#define RAMP_MAX  0.25

/* Counts itself in, and waits. */
static void wait_phase(struct wr_probe_crew *c, unsigned *count,
                       enum wr_probe_phase phase)
{
    pthread_mutex_lock(&c->lock);
    ++*count;
    pthread_cond_broadcast(&c->change);
    while (c->phase < phase)
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void *worker_main(void *arg)
{
    struct wr_probe_worker *w = arg;
    struct wr_probe_crew *c = w->crew;

    w->result = wr_probe_prepare(w);
    if (w->result < 0)
        c->halt = true;
    wait_phase(c, &c->ready, WR_PROBE_GO);
    if (w->result == 0 && !c->halt)
        w->result = wr_probe_work(w);
    if (w->result < 0)
        c->halt = true;
    wait_phase(c, &c->done, WR_PROBE_RELEASE);
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
