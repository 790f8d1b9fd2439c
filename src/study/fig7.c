/* fig7.c - Fig. 7: the size of batches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The same number of pictures in batches of several sizes. How a K4000's step
 * grows with the batch is not stated anywhere: 300 ms and 18.75 ms a picture
 * (1,500 ms at 64) is an assumption, so that this figure shows what follows from
 * it and no more. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define THREADS   8
#define TOLERANCE 0.01

static struct wr_cell_job job_of(const struct wr_study *st, unsigned batch,
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

static void add(struct wr_study *st, const struct wr_figure *f)
{
    const struct wr_scale_list *sizes = &st->scale.batches;
    char label[24];

    for (size_t k = 0; k < 2 * sizes->count; k++) {
        unsigned batch = sizes->v[k / 2], prefetch = k % 2 == 0;
        struct wr_cell_job job = job_of(st, batch, prefetch);

        snprintf(label, sizeof(label), "%u", batch);
        if (fits(st, batch))
            wr_study_measure(
                st, f,
                &(struct wr_point_at){
                    "ssd, 8 threads",
                    prefetch ? "with prefetch" : "without prefetch", label},
                &job, "value");
    }
}

/* Time per picture: the last batch of a size may leave some out. */
static double per_picture(const struct wr_study *st, unsigned batch,
                          unsigned prefetch)
{
    struct wr_cell_job job = job_of(st, batch, prefetch);

    return wr_cell_spread(wr_study_cell(st, &job), "value").median /
           (job.batch * job.iterations);
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

static void judge(const struct wr_study *st, const struct wr_figure *f,
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
    .add = add,
    .judge = judge,
};
