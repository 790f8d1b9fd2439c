/* run.c - rounds over the cells of a study, some of them at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cells of a figure are run in rounds, so that a machine that changes does so
 * for all of them alike; the first round is the warm-up. Every run is done by a
 * thread of its own, while the calling thread keeps the time: it tells how far
 * it is, and notices that all is to stop. */
#include "study/run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "measure/accelerator.h"
#include "result/get.h"
#include "storage/device.h"
#include "study/data.h"
#include "study/figure.h"
#include "study/folder.h"
#include "study/jobs.h"
#include "study/study.h"

/* --- how long cells will take, before they are run ---
 *
 * A model: the time of a read is what the device's profile says, decoding takes
 * a fixed rate per core. It has to be right within a factor of two; while the
 * study runs, real durations correct it. */

#define DISK_BYTES_PER_S 500e6 /* of a real disk, cold */
#define RUN_S            0.1   /* around each run: opening, preparing */
#define LANES            8
#define STATE_COPIES     4 /* of a state that is saved, in memory */

/* Seconds of one read of `bytes` by one of `threads` at once, per read. */
static double read_s(const struct wr_device_profile *p, double bytes,
                     unsigned threads)
{
    double bus = p->read_bytes_per_s > 0 ? bytes / p->read_bytes_per_s : 0;
    double seek = p->seek_us, wait;
    unsigned at_once = p->channels ? WR_MIN(threads, p->channels) : threads;

    for (unsigned k = 0; k < p->seek_points; k++)
        if (p->seek_law[k].depth <= threads)
            seek = p->seek_us * p->seek_law[k].factor;
    wait = (p->read_latency_us + p->meta_latency_us + seek) / 1e6;
    return WR_MAX((wait + bus) / at_once, bus);
}

/* Seconds per picture: reading it and, unless that is all, decoding it. */
static double picture_s(const struct wr_cell_job *job, unsigned cores)
{
    const struct wr_data_kind *kind = wr_data_find(job->data);
    double bytes = kind ? kind->sample_bytes : 0;
    struct wr_device_profile p;
    double input, decode = 0;

    if (!strcmp(job->device, "disk") ||
        wr_device_profile_find(job->device, &p, NULL) < 0)
        input = bytes / DISK_BYTES_PER_S;
    else
        input = read_s(&p, bytes, WR_MAX(job->threads, 1u));
    if (!job->read_only && kind)
        decode = kind->decode_s / WR_MAX(WR_MIN(job->threads, cores), 1u);
    return WR_MAX(input, decode);
}

/* Seconds of one checkpoint, and of its drain, which goes on after the end. */
static double save_s(const struct wr_cell_job *job)
{
    double bytes = wr_data_state_bytes(job->width);
    const char *way = job->saves_to;
    struct wr_device_profile p;

    if (!strcmp(way, "burst") || !strcmp(way, "async"))
        way = "hdd"; /* what the drain takes */
    if (!*way || wr_device_profile_find(way, &p, NULL) < 0)
        return 0;
    return bytes / p.write_bytes_per_s;
}

static double train_s(const struct wr_cell_job *job, unsigned cores)
{
    struct wr_accelerator a = {.kind = WR_ACCELERATOR_NONE};
    double step, input = picture_s(job, cores) * job->batch, saves = 0;

    (void)wr_accelerator_parse(job->accelerator, &a, NULL);
    step = wr_accelerator_step_ms(&a, job->batch) / 1e3;
    if (job->save_every)
        saves = save_s(job) * (job->iterations / job->save_every) + 1;
    return job->iterations *
               (job->prefetch ? WR_MAX(step, input) : step + input) +
           saves;
}

static double probe_s(const struct wr_cell_job *job)
{
    struct wr_device_profile p;
    double rate = DISK_BYTES_PER_S;

    if (wr_device_profile_find(job->device, &p, NULL) == 0)
        rate = p.write_bytes_per_s;
    return (double)job->bytes / rate + 2 * job->seconds;
}

double wr_estimate_job(const struct wr_cell_job *job, unsigned cores)
{
    switch (job->kind) {
    case WR_CELL_PROBE:
        return RUN_S + probe_s(job);
    case WR_CELL_FEED:
        return RUN_S + picture_s(job, cores) * (double)job->samples;
    case WR_CELL_TRAIN:
        break;
    }
    return RUN_S + train_s(job, cores);
}

/* As many states as the memory of the machine has room for, `most` at most. */
static unsigned states_that_fit(double bytes, unsigned most)
{
    double all = (double)sysconf(_SC_PHYS_PAGES) *
                 (double)sysconf(_SC_PAGESIZE);
    double fit = bytes > 0 ? all / (STATE_COPIES * bytes) : most;

    return fit >= most ? most : fit >= 2 ? (unsigned)fit : 1;
}

/* A run that is all input would take the cores from its neighbours. */
static unsigned estimate_lanes(const struct wr_study *st,
                               const struct wr_cell_job *job)
{
    if (job->kind != WR_CELL_TRAIN || !strcmp(job->accelerator, "none"))
        return 1;
    if (!job->save_every)
        return LANES;
    return states_that_fit(wr_data_state_bytes(job->width),
                           st->scale.save_lanes);
}

const struct wr_figure *wr_estimate_runs_for(const struct wr_study *st,
                                             const struct wr_cell *c)
{
    for (size_t k = 0; k < st->point_count; k++)
        if (st->points[k].cell == c)
            return st->points[k].figure;
    return NULL;
}

/* Cells that are run at once take as long as the longest of them. */
struct waves {
    double sum_s, longest_s; /* of those before; of this one */
    unsigned count, lanes;   /* cells in this one, and how many it may have */
};

static void end_wave(struct waves *w)
{
    w->sum_s += w->longest_s;
    w->longest_s = 0;
    w->count = 0;
}

static void add_to_wave(struct waves *w, const struct wr_cell *c,
                        unsigned lanes)
{
    if (w->count && (w->count >= w->lanes || lanes == 1))
        end_wave(w);
    w->lanes = lanes;
    w->longest_s = WR_MAX(w->longest_s, c->estimate_s);
    w->count++;
}

double wr_estimate_figure(const struct wr_study *st, const struct wr_figure *f)
{
    struct waves w = {.lanes = 1};
    unsigned rounds = WR_MAX(st->scale.rounds, st->scale.save_rounds);

    for (unsigned round = 0; round < rounds; round++) {
        for (size_t k = 0; k < st->cell_count; k++) {
            const struct wr_cell *c = st->cells[k];

            if (round < c->rounds && wr_cell_runs(c) <= round &&
                wr_estimate_runs_for(st, c) == f)
                add_to_wave(&w, c, estimate_lanes(st, &c->job));
        }
        end_wave(&w);
    }
    return w.sum_s;
}

double wr_estimate_all(const struct wr_study *st)
{
    double s = wr_data_seconds(st);

    for (size_t k = 0; st->figures[k]; k++)
        s += wr_estimate_figure(st, st->figures[k]);
    return s;
}

#define TICK_MS   100
#define LANES_MAX 8
#define CONTROL   0.02 /* a run beside others may differ by so much */

/* One run in a thread of its own. */
struct study_lane {
    struct running *all; /* borrowed */
    struct wr_cell *cell;
    pthread_t thread;
    uint64_t end_ns; /* 0: not yet; guarded by the lock of all */
    json_t *run;     /* owned, from here on */
    int r;
    weir_err err;
};

struct running {
    struct wr_study *st;
    char cells[WR_FOLDER_PATH];
    uint64_t start_ns;
    double total_s, done_s; /* by the estimates */
    bool alone;             /* cells of this figure are run one by one */
    bool controlled;        /* that has been tried */
    pthread_mutex_t lock;   /* guards end_ns of lanes */
    pthread_cond_t ended;
    char what[160];
};

static bool is_stopped(const struct wr_study *st)
{
    return st->cfg.stopped && st->cfg.stopped();
}

/* --- how far it is --- */

/* `now_s`: of the estimate of what is running. */
static void tell(const struct running *u, double now_s)
{
    const struct wr_study *st = u->st;

    if (st->cfg.progress)
        st->cfg.progress(st->cfg.progress_arg,
                         &(struct wr_study_news){.what = u->what,
                                                 .done_s = u->done_s + now_s,
                                                 .total_s = u->total_s});
}

static double since(uint64_t ns)
{
    return (double)(wr_clock_ns() - ns) * 1e-9;
}

/* --- runs at once --- */

static void *run_lane(void *arg)
{
    struct study_lane *l = arg;

    l->r = wr_run_cell(l->all->st, l->cell, &l->run, &l->err);
    pthread_mutex_lock(&l->all->lock);
    l->end_ns = wr_clock_ns();
    pthread_cond_signal(&l->all->ended);
    pthread_mutex_unlock(&l->all->lock);
    return NULL;
}

static bool all_ended(const struct study_lane *lanes, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!lanes[k].end_ns)
            return false;
    return true;
}

/* Until all have ended; tells how far they should be meanwhile. */
static void watch(struct running *u, const struct study_lane *lanes, size_t n,
                  double estimate_s)
{
    uint64_t from = wr_clock_ns();
    bool ended = false;

    while (!ended) {
        pthread_mutex_lock(&u->lock);
        if (!all_ended(lanes, n))
            wr_cond_wait_until(&u->ended, &u->lock,
                               wr_clock_ns() + TICK_MS * WR_NS_PER_MS);
        ended = all_ended(lanes, n);
        pthread_mutex_unlock(&u->lock);
        tell(u, WR_MIN(since(from), estimate_s));
    }
}

/* Runs these once, at the same time. The first error is returned; what others
 * have measured is kept by the caller. */
static int run_lanes(struct running *u, struct study_lane *lanes, size_t n,
                     weir_err *err)
{
    double estimate = 0;
    size_t started = 0;
    int r = 0;

    for (; r == 0 && started < n; started++) {
        lanes[started].all = u;
        estimate = WR_MAX(estimate, lanes[started].cell->estimate_s);
        r = wr_thread_start(&lanes[started].thread, "study", run_lane,
                            &lanes[started], err);
        if (r < 0)
            break;
    }
    watch(u, lanes, started, estimate);
    for (size_t k = 0; k < started; k++) {
        pthread_join(lanes[k].thread, NULL);
        if (r == 0 && lanes[k].r < 0) {
            r = lanes[k].r;
            if (err)
                *err = lanes[k].err;
        }
    }
    return r;
}

/* --- a round --- */

static void name_wave(struct running *u, const struct study_lane *lanes,
                      size_t n)
{
    const struct wr_cell *c = lanes[0].cell;
    unsigned run = wr_cell_runs(c);

    if (run)
        snprintf(u->what, sizeof(u->what), "%s%s, run %u of %u", c->id,
                 n > 1 ? " and others" : "", run + 1, c->rounds);
    else
        snprintf(u->what, sizeof(u->what), "%s%s, warm-up", c->id,
                 n > 1 ? " and others" : "");
}

/* Runs a wave and keeps what it measured. */
static int run_wave(struct running *u, struct study_lane *lanes, size_t n,
                    weir_err *err)
{
    double longest = 0;
    int r, kept = 0;

    name_wave(u, lanes, n);
    r = run_lanes(u, lanes, n, err);
    for (size_t k = 0; k < n; k++) {
        struct wr_cell *c = lanes[k].cell;

        longest = WR_MAX(longest, c->estimate_s);
        /* What was stopped is no measurement, however it ended. */
        if (kept == 0 && lanes[k].run && !is_stopped(u->st))
            kept = wr_cell_add(c, u->cells, lanes[k].run, r < 0 ? NULL : err);
        else
            json_decref(lanes[k].run);
    }
    u->done_s += longest;
    if (r == 0 && is_stopped(u->st))
        return wr_fail(err, WEIR_ECANCELED, "stopped");
    return r < 0 ? r : kept;
}

/* The ratio that is furthest from 1 is what the record tells. */
static void note_control(struct running *u, double ratio)
{
    struct wr_study *st = u->st;

    u->controlled = true;
    u->alone = !(fabs(ratio - 1) <= CONTROL);
    st->alone = st->alone || u->alone;
    if (isnan(st->control) || fabs(ratio - 1) > fabs(st->control - 1))
        st->control = ratio;
}

/* Beside the others; `keep` as a run of theirs. *ret is the last one's value. */
static int run_company(struct running *u, struct study_lane *lanes, size_t n,
                       bool keep, double *ret, weir_err *err)
{
    const struct wr_cell *c = lanes[n - 1].cell;
    int r;

    if (keep) {
        r = run_wave(u, lanes, n, err);
        if (r == 0)
            *ret = wr_get_number(
                json_array_get(c->runs, json_array_size(c->runs) - 1), "value");
        return r;
    }
    r = run_lanes(u, lanes, n, err);
    *ret = wr_get_number(lanes[n - 1].run, "value");
    for (size_t k = 0; k < n; k++)
        json_decref(lanes[k].run);
    return r;
}

/* Whether cells that may run at once give what they give alone: the last of
 * them, alone and beside the others. The latter is the warm-up, if that is what
 * is due; else neither is kept. */
static int run_control(struct running *u, struct study_lane *lanes, size_t n,
                       bool keep, weir_err *err)
{
    struct study_lane alone[1] = {{.cell = lanes[n - 1].cell}};
    double a, b = NAN;
    int r;

    snprintf(u->what, sizeof(u->what), "%s, control", alone[0].cell->id);
    r = run_lanes(u, alone, 1, err);
    a = wr_get_number(alone[0].run, "value");
    json_decref(alone[0].run);
    if (r == 0)
        r = run_company(u, lanes, n, keep, &b, err);
    if (r == 0)
        note_control(u, b / a);
    return r;
}

/* The cells [from, to) that lack run `round` and may run with the first of
 * them; returns how many. */
static size_t gather(const struct running *u, size_t *from, size_t to,
                     unsigned round, struct study_lane *lanes)
{
    size_t n = 0, lanes_max = 1;

    for (; *from < to && n < lanes_max; (*from)++) {
        struct wr_cell *c = u->st->cells[*from];
        unsigned at_once = u->alone ? 1 : estimate_lanes(u->st, &c->job);

        if (wr_cell_runs(c) > round || round >= c->rounds)
            continue;
        if (n && at_once == 1)
            break;
        lanes_max = at_once;
        lanes[n++] = (struct study_lane){.cell = c};
    }
    return n;
}

static int run_round(struct running *u, size_t from, size_t to, unsigned round,
                     weir_err *err)
{
    struct study_lane lanes[LANES_MAX];
    int r = 0;

    while (r == 0) {
        size_t before = from, n = gather(u, &from, to, round, lanes);

        if (!n)
            return 0;
        if (n == 1 || u->controlled) {
            r = run_wave(u, lanes, n, err);
        } else {
            r = run_control(u, lanes, n, /* keep= */ round == 0, err);
            from = before; /* what is missing yet, as the control says */
        }
    }
    return r;
}

/* --- all --- */

/* Cells [from, *ret) are run for the same figure: those that its points are the
 * first to need. */
static size_t end_of_figure(const struct wr_study *st, size_t from)
{
    const struct wr_figure *f = NULL;
    size_t to = from;

    for (; to < st->cell_count; to++) {
        const struct wr_figure *of = wr_estimate_runs_for(st, st->cells[to]);

        if (to > from && of != f)
            break;
        f = of;
    }
    return to;
}

static int run_cells(struct running *u, weir_err *err)
{
    struct wr_study *st = u->st;
    int r = 0;

    for (size_t from = 0, to; r == 0 && from < st->cell_count; from = to) {
        unsigned rounds = 0;

        to = end_of_figure(st, from);
        u->controlled = u->alone = false;
        for (size_t k = from; k < to; k++)
            rounds = WR_MAX(rounds, st->cells[k]->rounds);
        for (unsigned round = 0; r == 0 && round < rounds; round++)
            r = run_round(u, from, to, round, err);
    }
    return r;
}

static bool on_data(void *arg, const char *what, double done_s)
{
    struct running *u = arg;

    snprintf(u->what, sizeof(u->what), "making %s", what);
    tell(u, done_s);
    return !is_stopped(u->st);
}

static int make_data(struct running *u, weir_err *err)
{
    double estimate = wr_data_seconds(u->st);
    int r = wr_data_make(
        u->st, &(struct wr_data_watch){.told = on_data, .arg = u}, err);

    u->done_s += estimate;
    return r;
}

int wr_study_run(struct wr_study *st, weir_err *err)
{
    struct running u = {
        .st = st, .start_ns = wr_clock_ns(), .total_s = wr_estimate_all(st)};
    int r = wr_folder_make(st, err);

    wr_folder_path(st, "cells", u.cells);
    pthread_mutex_init(&u.lock, NULL);
    pthread_cond_init(&u.ended, NULL);
    if (r == 0)
        r = make_data(&u, err);
    if (r == 0)
        r = run_cells(&u, err);
    pthread_cond_destroy(&u.ended);
    pthread_mutex_destroy(&u.lock);
    st->seconds = since(u.start_ns);
    return r;
}
