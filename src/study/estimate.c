/* estimate.c - how long cells will take, before they are run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A model: the time of a read is what the device's profile says, decoding takes
 * a fixed rate per core. It has to be right within a factor of two; while the
 * study runs, real durations correct it. */
#include "study/estimate.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/accelerator.h"
#include "storage/device.h"
#include "study/data.h"
#include "study/figure.h"

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
unsigned wr_estimate_lanes(const struct wr_study *st,
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
                add_to_wave(&w, c, wr_estimate_lanes(st, &c->job));
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
