/* saving.c - Fig. 9 and 10: what checkpoints cost, and when they are written.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fig. 9: the state of AlexNet with Adam's moments, 559 MB, is saved every so often
 * while pictures come from an SSD with prefetch. The paper's 2.6x of the burst
 * buffer against HDD cannot be of the whole run (a save would have to take 50 s,
 * against 4.5 s by the disk's bandwidth), so times of checkpoints are compared. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "measure/accelerator.h"
#include "storage/device.h"
#include "study/data.h"
#include "study/figure.h"

#define BURST     2.6  /* the paper's */
#define ASYNC     20.0 /* weir's own bar */
#define LIKE      0.05 /* the burst buffer takes about as long as Optane */
#define BETWEEN_S 30.0
#define UNCHANGED 0.02 /* an asynchronous run as one without checkpoints */

/* Ways to save, as they are shown. */
static const struct {
    const char *to, *name;
} ways[] = {{"", "none"},
            {"hdd", "hdd"},
            {"ssd", "ssd"},
            {"optane", "optane"},
            {"lustre", "lustre"},
            {"burst", "burst buffer"},
            {"async", "burst, async"}};

/* Seconds that the bytes of a checkpoint take at the device's bandwidth. */
static double bus_s(const char *to, double width)
{
    bool burst = !strcmp(to, "burst") || !strcmp(to, "async");
    struct wr_device_profile p;

    if (wr_device_profile_find(burst ? "optane" : to, &p, NULL) < 0)
        return NAN;
    return wr_data_state_bytes(width) / p.write_bytes_per_s;
}

/* As they are run, three at once in a quick study: the fast ones apart from each
 * other, and the fastest, which is the control, at the end of the first wave. */
static const unsigned order[] = {1, 2, 4, 6, 0, 3, 5};

static void add_way(struct wr_study *st, const struct wr_figure *f, size_t k)
{
    struct wr_cell_job job = wr_study_saving(st, ways[k].to);

    wr_study_measure(st, f, WR_AT("run time", "here", ways[k].name), &job,
                     "value");
    if (*ways[k].to)
        wr_study_measure(st, f,
                         WR_AT("median checkpoint", "here", ways[k].name), &job,
                         "save_median_s");
}

/* Computing alone is known before; it stands first, in the order of the ways. */
static void fig9_add(struct wr_study *st, const struct wr_figure *f)
{
    struct wr_cell_job job = wr_study_saving(st, "");
    struct wr_accelerator a;
    double step;

    if (wr_accelerator_parse(job.accelerator, &a, NULL) < 0)
        return;
    step = wr_accelerator_step_ms(&a, job.batch) / 1e3;
    for (size_t k = 0; k < WR_ARRAY_LEN(ways); k++)
        wr_study_know(st, f, WR_AT("run time", "compute alone", ways[k].name),
                      WR_POINT_CEILING, step * job.iterations);
    for (size_t k = 1; k + 1 < WR_ARRAY_LEN(ways); k++)
        wr_study_know(
            st, f,
            WR_AT("median checkpoint", "bytes / bandwidth", ways[k].name),
            WR_POINT_CEILING, bus_s(ways[k].to, job.width));
    for (size_t k = 0; k < WR_ARRAY_LEN(order); k++)
        add_way(st, f, order[k]);
}

static void judge_order(const struct wr_study *st, struct wr_judgement *j)
{
    double hdd = wr_study_saved(st, "hdd", "value");
    double ssd = wr_study_saved(st, "ssd", "value");
    double optane = wr_study_saved(st, "optane", "value");
    double burst = wr_study_saved(st, "burst", "value");

    if (isnan(hdd) || isnan(ssd) || isnan(optane) || isnan(burst)) {
        wr_judge_unseen(j, "runs with checkpoints were not measured");
        return;
    }
    wr_judge(j, optane < ssd && ssd < hdd,
             "the run takes %.1f s with checkpoints to Optane, %.1f s to SSD, "
             "%.1f s to HDD",
             optane, ssd, hdd);
    wr_judge(j, burst <= optane * (1 + LIKE), "%.1f s through the burst buffer",
             burst);
}

static void judge_times(const struct wr_study *st, struct wr_judgement *j)
{
    double hdd = wr_study_saved(st, "hdd", "save_median_s");
    double burst = hdd / wr_study_saved(st, "burst", "save_median_s");
    double async = hdd / wr_study_saved(st, "async", "save_median_s");

    if (isnan(burst) || isnan(async)) {
        wr_judge_unseen(j, "checkpoints were not measured");
        return;
    }
    wr_judge(j, burst >= BURST,
             "a checkpoint to HDD takes %.2f s, %.1fx as long as through the "
             "burst buffer (paper 2.6x)",
             hdd, burst);
    wr_judge(j, async >= ASYNC, "%.0fx as long as an asynchronous one", async);
}

/* A quick study saves far more often than the paper: what a save costs is
 * compared with the time between two saves there, 20 steps of 1.5 s. */
static void judge_async(const struct wr_study *st, struct wr_judgement *j)
{
    double none = wr_study_saved(st, "", "value");
    double async = wr_study_saved(st, "async", "value");
    double each = (async - none) / st->scale.saves;

    if (isnan(each))
        wr_judge_unseen(j, "a run without checkpoints was not measured");
    else
        wr_judge(j, each <= UNCHANGED * BETWEEN_S,
                 "each asynchronous one costs the run %.0f ms, %.1f %% of the "
                 "30 s between two checkpoints in the paper",
                 fmax(each, 0) * 1e3, fmax(each, 0) / BETWEEN_S * 100);
}

static void fig9_judge(const struct wr_study *st, const struct wr_figure *f,
                       struct wr_judgement *ret)
{
    (void)f;
    judge_order(st, ret);
    judge_times(st, ret);
    judge_async(st, ret);
}

const struct wr_figure wr_figure_fig9 = {
    .id = "fig9",
    .title = "Fig. 9: checkpoints, and the burst buffer",
    .question = "How much longer does training take with checkpoints to each "
                "device, and through a burst buffer?",
    .conclusion = "Optane costs least, then SSD, then HDD; Optane as a burst "
                  "buffer in front of HDD costs about as little as Optane "
                  "alone, 2.6x less than HDD",
    .unit = "s",
    .x = "checkpoints to",
    .add = fig9_add,
    .judge = fig9_judge,
};

/* --- Fig. 10: writes over time, to HDD and through the burst buffer ---
 *
 * The runs are those of Fig. 9; the emulated devices count their bytes. */

#define AFTER 0.05 /* of all bytes, at least, come after the end of the run */

/* What reached the HDD, of checkpoints to it and through the burst buffer. */
static void fig10_add(struct wr_study *st, const struct wr_figure *f)
{
    static const struct {
        const char *to, *label, *all, *after;
    } rows[] = {{"hdd", "to hdd", "fast_mb", "fast_after_mb"},
                {"burst", "burst buffer", "slow_mb", "slow_after_mb"}};

    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_cell_job job = wr_study_saving(st, rows[k].to);

        wr_study_measure(st, f,
                         WR_AT("written to the HDD", "all", rows[k].label),
                         &job, rows[k].all);
        wr_study_measure(st, f,
                         WR_AT("written to the HDD", "after the end of the run",
                               rows[k].label),
                         &job, rows[k].after);
    }
}

static void fig10_judge(const struct wr_study *st, const struct wr_figure *f,
                        struct wr_judgement *ret)
{
    double all = wr_study_saved(st, "burst", "slow_mb");
    double after = wr_study_saved(st, "burst", "slow_after_mb");
    double flush = wr_study_saved(st, "burst", "flush_s");
    double direct = wr_study_saved(st, "hdd", "fast_after_mb") /
                    wr_study_saved(st, "hdd", "fast_mb");

    (void)f;
    if (!(all > 0) || isnan(direct)) {
        wr_judge_unseen(ret, "the runs of Fig. 9 were not traced");
        return;
    }
    wr_judge(ret, after > AFTER * all,
             "through the burst buffer %.0f of %.0f MB reach the HDD after the "
             "end of the run, in %.1f s",
             after, all, flush);
    wr_judge(ret, direct < AFTER, "of checkpoints to the HDD itself %.0f %% do",
             direct * 100);
}

static json_t *lines(const struct wr_study *st)
{
    static const struct {
        const char *to, *key, *title, *name;
    } rows[] = {
        {"hdd", "fast_written", "checkpoints to HDD", "written to HDD"},
        {"burst", "fast_written", "burst buffer", "written to Optane"},
        {"burst", "slow_written", "burst buffer", "flushed to HDD"},
    };
    json_t *charts = json_array();

    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_cell_job job = wr_study_saving(st, rows[k].to);

        wr_study_add_line(charts, &(struct wr_study_line){
                                      wr_study_cell(st, &job), rows[k].title,
                                      rows[k].name, rows[k].key, true});
    }
    return charts;
}

const struct wr_figure wr_figure_fig10 = {
    .id = "fig10",
    .title = "Fig. 10: writes over time",
    .question = "When do checkpoints reach the disk, with and without a burst "
                "buffer?",
    .conclusion = "Optane takes checkpoints at once; the copy to HDD comes "
                  "later, and flushing goes on after the end of the program",
    .unit = "MB",
    .x = "checkpoints",
    .add = fig10_add,
    .judge = fig10_judge,
    .lines = lines,
};
