/* fig6.c - Fig. 6: the mini-application with and without prefetch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With one batch prefetched all runs take as long as computing alone, whatever
 * the device and the threads; without, computing and input add up. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define WITH_TOLERANCE    0.02
#define WITHOUT_TOLERANCE 0.03

/* What is measured of each device and number of threads. */
static const char *const series[] = {"with prefetch", "without prefetch",
                                     "input alone"};

static struct wr_cell_job job_of(const struct wr_study *st, size_t s,
                                 const char *device, unsigned threads)
{
    struct wr_cell_job job = wr_study_training(st, device, threads, s == 0);

    if (s == 2)
        snprintf(job.accelerator, sizeof(job.accelerator), "none");
    return job;
}

/* Cells that may run at once stand together: one device beside the other. */
static void add(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *threads = &st->scale.train_threads;
    const char *device;
    char label[24];

    for (size_t k = 0; k < threads->count; k++)
        for (size_t s = 0; s < WR_ARRAY_LEN(series); s++)
            for (size_t d = 0; (device = wr_study_device(d)); d++) {
                struct wr_cell_job job = job_of(st, s, device, threads->v[k]);

                snprintf(label, sizeof(label), "%u", threads->v[k]);
                wr_study_measure(
                    st, f, &(struct wr_point_at){device, series[s], label},
                    &job, "value");
            }
}

static void finish(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *threads = &st->scale.train_threads;
    const char *device;
    char label[24];

    for (size_t d = 0; (device = wr_study_device(d)); d++)
        for (size_t k = 0; k < threads->count; k++) {
            struct wr_cell_job job = job_of(st, 0, device, threads->v[k]);
            double compute =
                wr_cell_spread(wr_study_cell(st, &job), "compute_s").median;

            snprintf(label, sizeof(label), "%u", threads->v[k]);
            if (!isnan(compute))
                wr_study_know(
                    st, f,
                    &(struct wr_point_at){device, "compute alone", label},
                    WR_POINT_CEILING, compute);
        }
}

/* The worst of all devices and threads. */
struct worst {
    double off;      /* of the expected time, as a fraction; NaN: none */
    double is, want; /* seconds */
    char where[48];
    size_t count;
};

static void note(struct worst *w, const char *device, unsigned threads,
                 double is, double want)
{
    double off = is / want - 1;

    if (isnan(off))
        return;
    w->count++;
    if (w->count > 1 && fabs(off) <= fabs(w->off))
        return;
    w->off = off;
    w->is = is;
    w->want = want;
    snprintf(w->where, sizeof(w->where), "%s with %u thread%s", device, threads,
             threads == 1 ? "" : "s");
}

static void look_at(const struct wr_study *st, const char *device,
                    unsigned threads, struct worst *with, struct worst *without)
{
    struct wr_cell_job job = job_of(st, 0, device, threads);
    double compute =
        wr_cell_spread(wr_study_cell(st, &job), "compute_s").median;
    double v[WR_ARRAY_LEN(series)];

    for (size_t s = 0; s < WR_ARRAY_LEN(series); s++) {
        job = job_of(st, s, device, threads);
        v[s] = wr_cell_spread(wr_study_cell(st, &job), "value").median;
    }
    note(with, device, threads, v[0], compute);
    note(without, device, threads, v[1], compute + v[2]);
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    const struct wr_scale_list *threads = &st->scale.train_threads;
    struct worst with = {0}, without = {0};
    const char *device;

    (void)f;
    for (size_t d = 0; (device = wr_study_device(d)); d++)
        for (size_t k = 0; k < threads->count; k++)
            look_at(st, device, threads->v[k], &with, &without);
    if (!with.count || !without.count) {
        wr_judge_unseen(ret,
                        "runs with and without prefetch were not measured");
        return;
    }
    wr_judge(ret, fabs(with.off) <= WITH_TOLERANCE,
             "with prefetch %zu runs are within %.1f %% of computing alone "
             "(%.2f s), the worst %s (%.2f s)",
             with.count, fabs(with.off) * 100, with.want, with.where, with.is);
    wr_judge(ret, fabs(without.off) <= WITHOUT_TOLERANCE,
             "without it computing and input add up within %.1f %%, the worst "
             "%s (%.2f s, the sum is %.2f s)",
             fabs(without.off) * 100, without.where, without.is, without.want);
}

const struct wr_figure wr_figure_fig6 = {
    .id = "fig6",
    .title = "Fig. 6: the mini-application, with and without prefetch",
    .question = "What does prefetching one batch gain, by threads and device?",
    .conclusion = "with prefetch the run takes the same time for all threads "
                  "and devices: the input is completely hidden; the excess "
                  "without it is the cost of I/O, most visible on HDD",
    .unit = "s",
    .x = "threads",
    .add = add,
    .finish = finish,
    .judge = judge,
};
