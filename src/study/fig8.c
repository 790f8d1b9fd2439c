/* fig8.c - Fig. 8: reads over time, with and without prefetch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The runs are those of Fig. 6. The paper sampled dstat once a second; here the
 * emulated device itself counts its bytes, ten times a second. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

#define GAIN 1.02 /* bursts come closer by so much at least */

static const char *const devices[] = {"hdd", "ssd"};

/* One thread: where the input takes longest, its pattern shows best. */
static struct wr_cell_job job_of(const struct wr_study *st, const char *device,
                                 unsigned prefetch)
{
    return wr_study_training(st, device, st->scale.train_threads.v[0],
                             prefetch);
}

static void add(struct wr_study *st, const struct wr_figure *f)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(devices); k++)
        for (unsigned i = 0; i < 2; i++) {
            unsigned prefetch = 1 - i; /* the order of Fig. 6 and 7 */
            struct wr_cell_job job = job_of(st, devices[k], prefetch);

            wr_study_measure(st, f,
                             &(struct wr_point_at){"MB/s over the run",
                                                   prefetch
                                                       ? "with prefetch"
                                                       : "without prefetch",
                                                   devices[k]},
                             &job, "read_rate");
        }
}

static double rate(const struct wr_study *st, const char *device,
                   unsigned prefetch)
{
    struct wr_cell_job job = job_of(st, device, prefetch);

    return wr_cell_spread(wr_study_cell(st, &job), "read_rate").median;
}

static double idle(const struct wr_study *st, const char *device,
                   unsigned prefetch)
{
    struct wr_cell_job job = job_of(st, device, prefetch);
    const struct wr_cell *c = wr_study_cell(st, &job);

    return 1 - wr_cell_spread(c, "wait_s").median /
                   wr_cell_spread(c, "value").median;
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
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
            struct wr_cell_job job = job_of(st, devices[k], prefetch);

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
    .add = add,
    .judge = judge,
    .lines = lines,
};
