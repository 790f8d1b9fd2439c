/* fig5.c - Fig. 5: strong scaling when files are read and nothing else.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/scaling.h"

#include <math.h>

#define TOLERANCE 0.10

static void add(struct wr_study *st, const struct wr_figure *f)
{
    wr_scaling_add(st, f, /* read_only= */ true);
}

static void finish(struct wr_study *st, const struct wr_figure *f)
{
    wr_scaling_reference(st, f, "hdd", /* read_only= */ true);
    wr_scaling_reference(st, f, "lustre", /* read_only= */ true);
}

static void judge_one(const struct wr_study *st, const char *device,
                      unsigned threads, struct wr_judgement *j)
{
    double stated = wr_scaling_stated(device, threads);
    double here = wr_scaling_speedup(st, device, threads, true);

    if (isnan(here))
        wr_judge_unseen(j, "%s with %u threads was not measured", device,
                        threads);
    else if (wr_scaling_few(st, threads))
        wr_judge_unseen(j, "%u pictures are too few for %u threads",
                        (unsigned)st->scale.images, threads);
    else
        wr_judge(j, fabs(here / stated - 1) <= TOLERANCE,
                 "%s %.2fx with %u threads (paper %.2fx)", device, here,
                 threads, stated);
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    (void)f;
    judge_one(st, "hdd", 2, ret);
    judge_one(st, "hdd", 4, ret);
    judge_one(st, "hdd", 8, ret);
    judge_one(st, "lustre", 8, ret);
    wr_scaling_note_cold(st, /* read_only= */ true, ret);
}

const struct wr_figure wr_figure_fig5 = {
    .id = "fig5",
    .title = "Fig. 5: reading files, by threads",
    .question = "How much faster are small files read by more threads, when "
                "nothing is decoded?",
    .conclusion = "HDD reaches 1.65x, 1.95x and 2.3x with 2, 4 and 8 threads, "
                  "Lustre 7.8x with 8 (the paper does not say of which of Fig. "
                  "4 and 5)",
    .unit = "images/s",
    .x = "threads",
    .calibration = true,
    .add = add,
    .finish = finish,
    .judge = judge,
};
