/* training.c - Fig. 6, 7 and 8: the mini-application and its prefetch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fig. 6: with one batch prefetched all runs take as long as computing alone, whatever
 * the device and the threads; without, computing and input add up. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "study/figure.h"

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
static void fig6_add(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *threads = &st->scale.train_threads;
    const char *device;

    for (size_t k = 0; k < threads->count; k++)
        for (size_t s = 0; s < WR_ARRAY_LEN(series); s++)
            for (size_t d = 0; (device = wr_study_device(d)); d++) {
                struct wr_cell_job job = job_of(st, s, device, threads->v[k]);

                wr_study_measure(st, f,
                                 WR_AT(device, series[s],
                                       wr_number_label(threads->v[k]).text),
                                 &job, "value");
            }
}

static void fig6_finish(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *threads = &st->scale.train_threads;
    const char *device;

    for (size_t d = 0; (device = wr_study_device(d)); d++)
        for (size_t k = 0; k < threads->count; k++) {
            struct wr_cell_job job = job_of(st, 0, device, threads->v[k]);
            double compute = wr_study_median(st, &job, "compute_s");

            if (!isnan(compute))
                wr_study_know(st, f,
                              WR_AT(device, "compute alone",
                                    wr_number_label(threads->v[k]).text),
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
    double compute = wr_study_median(st, &job, "compute_s");
    double v[WR_ARRAY_LEN(series)];

    for (size_t s = 0; s < WR_ARRAY_LEN(series); s++) {
        job = job_of(st, s, device, threads);
        v[s] = wr_study_median(st, &job, "value");
    }
    note(with, device, threads, v[0], compute);
    note(without, device, threads, v[1], compute + v[2]);
}

static void fig6_judge(const struct wr_study *st, const struct wr_figure *f,
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
    .add = fig6_add,
    .finish = fig6_finish,
    .judge = fig6_judge,
};

/* --- Fig. 7: the size of batches ---
 *
 * The same number of pictures in batches of several sizes. How a K4000's step
 * grows with the batch is not stated anywhere: 300 ms and 18.75 ms a picture
 * (1,500 ms at 64) is an assumption, so that this figure shows what follows from
 * it and no more. */

#define THREADS   8
#define TOLERANCE 0.01

static struct wr_cell_job fig7_job_of(const struct wr_study *st, unsigned batch,
                                      unsigned prefetch)
{
    struct wr_cell_job job = wr_study_training(st, "ssd", THREADS, prefetch);

    job.batch = batch;
    job.iterations = WR_MAX(st->scale.batch_images / batch, 1u);
    snprintf(job.accelerator, sizeof(job.accelerator), "K4000");
    return job;
}

/* A batch for which there are too few pictures has no run. */
static bool fits(const struct wr_study *st, unsigned batch)
{
    return batch <= st->scale.batch_images;
}

static void fig7_add(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *sizes = &st->scale.batches;

    for (size_t k = 0; k < 2 * sizes->count; k++) {
        unsigned batch = sizes->v[k / 2], prefetch = k % 2 == 0;
        struct wr_cell_job job = fig7_job_of(st, batch, prefetch);

        if (fits(st, batch))
            wr_study_measure(
                st, f,
                WR_AT("ssd, 8 threads",
                      prefetch ? "with prefetch" : "without prefetch",
                      wr_number_label(batch).text),
                &job, "value");
    }
}

/* Time per picture: the last batch of a size may leave some out. */
static double per_picture(const struct wr_study *st, unsigned batch,
                          unsigned prefetch)
{
    struct wr_cell_job job = fig7_job_of(st, batch, prefetch);

    return wr_study_median(st, &job, "value") / (job.batch * job.iterations);
}

static void judge_series(const struct wr_study *st, unsigned prefetch,
                         struct wr_judgement *j)
{
    const struct wr_scale_list *sizes = &st->scale.batches;
    const char *how = prefetch ? "with" : "without";
    double first = NAN, last = NAN;
    unsigned from = 0, to = 0;

    for (size_t k = 0; k < sizes->count; k++) {
        double v = per_picture(st, sizes->v[k], prefetch);

        if (isnan(v))
            continue;
        if (v > last * (1 + TOLERANCE)) {
            wr_judge_fails(j,
                           "%s prefetch a picture takes %.1f ms in batches of "
                           "%u, and %.1f ms in batches of %u",
                           how, last * 1e3, to, v * 1e3, sizes->v[k]);
            return;
        }
        if (isnan(first)) {
            first = v;
            from = sizes->v[k];
        }
        last = v;
        to = sizes->v[k];
    }
    if (isnan(first) || from == to)
        wr_judge_unseen(j, "two sizes %s prefetch were not measured", how);
    else
        wr_judge_holds(j,
                       "%s prefetch a picture takes %.1f ms in batches of %u "
                       "and %.1f ms in batches of %u",
                       how, first * 1e3, from, last * 1e3, to);
}

static void fig7_judge(const struct wr_study *st, const struct wr_figure *f,
                       struct wr_judgement *ret)
{
    (void)f;
    judge_series(st, 1, ret);
    judge_series(st, 0, ret);
    wr_judge_unseen(ret, "the law of the step, 300 + 18.75 ms per picture, is "
                         "an assumption");
}

const struct wr_figure wr_figure_fig7 = {
    .id = "fig7",
    .title = "Fig. 7: the size of batches",
    .question = "How does the time of a run depend on the size of batches?",
    .conclusion = "with and without prefetch the time falls as batches grow, "
                  "because the accelerator is used better",
    .unit = "s",
    .x = "batch",
    .calibration = true,
    .add = fig7_add,
    .judge = fig7_judge,
};

/* --- Fig. 8: reads over time, with and without prefetch ---
 *
 * The runs are those of Fig. 6. The paper sampled dstat once a second; here the
 * emulated device itself counts its bytes, ten times a second. */

#define GAIN 1.02 /* bursts come closer by so much at least */

static const char *const devices[] = {"hdd", "ssd"};

/* One thread: where the input takes longest, its pattern shows best. */
static struct wr_cell_job fig8_job_of(const struct wr_study *st,
                                      const char *device, unsigned prefetch)
{
    return wr_study_training(st, device, st->scale.train_threads.v[0],
                             prefetch);
}

static void fig8_add(struct wr_study *st, const struct wr_figure *f)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(devices); k++)
        for (unsigned i = 0; i < 2; i++) {
            unsigned prefetch = 1 - i; /* the order of Fig. 6 and 7 */
            struct wr_cell_job job = fig8_job_of(st, devices[k], prefetch);

            wr_study_measure(
                st, f,
                WR_AT("MB/s over the run",
                      prefetch ? "with prefetch" : "without prefetch",
                      devices[k]),
                &job, "read_rate");
        }
}

static double rate(const struct wr_study *st, const char *device,
                   unsigned prefetch)
{
    struct wr_cell_job job = fig8_job_of(st, device, prefetch);

    return wr_study_median(st, &job, "read_rate");
}

static double idle(const struct wr_study *st, const char *device,
                   unsigned prefetch)
{
    struct wr_cell_job job = fig8_job_of(st, device, prefetch);
    const struct wr_cell *c = wr_study_cell(st, &job);

    return 1 - wr_cell_spread(c, "wait_s").median /
                   wr_cell_spread(c, "value").median;
}

static void fig8_judge(const struct wr_study *st, const struct wr_figure *f,
                       struct wr_judgement *ret)
{
    double hdd = rate(st, "hdd", 1) / rate(st, "hdd", 0);
    double ssd = rate(st, "ssd", 1) / rate(st, "ssd", 0);

    (void)f;
    if (isnan(hdd) || isnan(ssd)) {
        wr_judge_unseen(ret, "the runs of Fig. 6 were not traced");
        return;
    }
    if (!(idle(st, "hdd", 0) > 0.1))
        wr_judge_unseen(ret, "on HDD the input takes nearly all of the time, "
                             "so that nothing interleaves");
    else
        wr_judge(ret, hdd >= GAIN,
                 "on HDD reads and computing take turns without prefetch "
                 "(%.0f %% of the time nothing is read); with it %.2fx as many "
                 "MB/s are read",
                 idle(st, "hdd", 0) * 100, hdd);
    wr_judge(ret, ssd <= hdd,
             "on SSD the gain is %.2fx, less clear than on HDD", ssd);
}

static json_t *lines(const struct wr_study *st)
{
    json_t *charts = json_array();

    for (size_t k = 0; k < WR_ARRAY_LEN(devices); k++)
        for (unsigned prefetch = 2; prefetch--;) {
            struct wr_cell_job job = fig8_job_of(st, devices[k], prefetch);

            wr_study_add_line(charts, &(struct wr_study_line){
                                          .cell = wr_study_cell(st, &job),
                                          .title = devices[k],
                                          .name = prefetch ? "with prefetch"
                                                           : "without prefetch",
                                          .key = "data_read"});
        }
    return charts;
}

const struct wr_figure wr_figure_fig8 = {
    .id = "fig8",
    .title = "Fig. 8: reads over time",
    .question = "When are pictures read, with and without prefetch?",
    .conclusion =
        "on HDD without prefetch reads and computing take turns; with "
        "it reads come closer together and more is read at a time; "
        "on SSD the gain is less obvious",
    .unit = "MB/s",
    .x = "device",
    .add = fig8_add,
    .judge = fig8_judge,
    .lines = lines,
};
