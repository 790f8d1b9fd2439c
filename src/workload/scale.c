/* scale.c - the same workload with less data and fewer steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "workload/derive.h"
#include "workload/workload.h"

#define MIN_STEPS 2

/* Part of `n`, at least `least`, never more than there is. */
static uint64_t part_of(uint64_t n, double factor, double least)
{
    double part = WR_MAX(ceil((double)n * factor), least);

    return part < (double)n ? (uint64_t)part : n;
}

/* Files for `samples`: whole ones while they last. */
static uint64_t files_for(const struct wr_workload *w, uint64_t samples,
                          uint64_t files, uint64_t world)
{
    uint64_t each = w->dataset.samples_per_file;
    uint64_t need = samples / each + !!(samples % each);

    /* Where ranks share no file, all need as many. */
    if (w->reader.access == WR_WL_ACCESS_MULTI)
        need += (world - need % world) % world;
    return WR_MIN(files, need);
}

static void scale_data(struct wr_workload *w, const struct wr_derived *d,
                       double factor)
{
    double sharing = w->reader.access == WR_WL_ACCESS_SAME ? 1
                                                           : (double)d->world;
    uint64_t steps = w->train.steps >= 0 && w->reader.read_type != WR_WL_MEMORY
                         ? WR_MAX((uint64_t)w->train.steps, (uint64_t)MIN_STEPS)
                         : MIN_STEPS;
    uint64_t samples = part_of(d->samples_train, factor,
                               (double)steps * (double)w->reader.batch *
                                   sharing);
    uint64_t eval = part_of(d->samples_eval, factor,
                            (double)w->reader.batch_eval * sharing);

    w->dataset.files_train = files_for(w, samples, w->dataset.files_train,
                                       d->world);
    w->dataset.files_eval = files_for(w, eval, w->dataset.files_eval, d->world);
    if (w->dataset.files_train && w->dataset.samples_per_file > 1) {
        uint64_t files = w->dataset.files_train;
        uint64_t each = samples / files + !!(samples % files);

        w->dataset.samples_per_file = WR_MIN(w->dataset.samples_per_file,
                                             WR_MAX(each, UINT64_C(1)));
    }
    w->dataset.subfolders_train = WR_MIN(w->dataset.subfolders_train,
                                         w->dataset.files_train);
    w->dataset.subfolders_eval = WR_MIN(w->dataset.subfolders_eval,
                                        w->dataset.files_eval);
}

int wr_workload_scale(struct wr_workload *w, double factor, uint64_t world,
                      weir_err *err)
{
    struct wr_derived before, after;
    int r;

    if (!(factor > 0 && factor <= 1))
        return wr_fail(err, WEIR_EINVAL,
                       "a scale of %g: it is over 0, and 1 at most", factor);
    r = wr_workload_derive(w, world, 0, &before, err);
    if (r < 0 || factor == 1)
        return r;
    if (w->train.steps >= 0)
        w->train.steps = (int64_t)part_of((uint64_t)w->train.steps, factor,
                                          MIN_STEPS);
    scale_data(w, &before, factor);
    r = wr_workload_derive(w, world, 0, &after, err);
    if (r < 0 || w->checkpoint.steps_between <= 0 || !before.steps)
        return r;
    /* As many checkpoints in an epoch as before. */
    w->checkpoint.steps_between = (int64_t)WR_MAX(
        (double)w->checkpoint.steps_between * (double)after.steps /
            (double)before.steps,
        1.0);
    return 0;
}
