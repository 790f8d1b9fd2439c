/* fig10.c - Fig. 10: writes over time, to HDD and through the burst buffer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The runs are those of Fig. 9; the emulated devices count their bytes. */
#include "study/figure.h"

#include <math.h>

#include "base/mem.h"

#define AFTER 0.05 /* of all bytes, at least, come after the end of the run */

static double number(const struct wr_study *st, const char *to, const char *key)
{
    struct wr_cell_job job = wr_study_saving(st, to);

    return wr_cell_spread(wr_study_cell(st, &job), key).median;
}

/* What reached the HDD, of checkpoints to it and through the burst buffer. */
static void add(struct wr_study *st, const struct wr_figure *f)
{
    static const struct {
        const char *to, *label, *all, *after;
    } rows[] = {{"hdd", "to hdd", "fast_mb", "fast_after_mb"},
                {"burst", "burst buffer", "slow_mb", "slow_after_mb"}};

    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_cell_job job = wr_study_saving(st, rows[k].to);

        wr_study_measure(
            st, f,
            &(struct wr_point_at){"written to the HDD", "all", rows[k].label},
            &job, rows[k].all);
        wr_study_measure(st, f,
                         &(struct wr_point_at){"written to the HDD",
                                               "after the end of the run",
                                               rows[k].label},
                         &job, rows[k].after);
    }
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    double all = number(st, "burst", "slow_mb");
    double after = number(st, "burst", "slow_after_mb");
    double flush = number(st, "burst", "flush_s");
    double direct = number(st, "hdd", "fast_after_mb") /
                    number(st, "hdd", "fast_mb");

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
    .add = add,
    .judge = judge,
    .lines = lines,
};
