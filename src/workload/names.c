/* names.c - names and shapes of the files of a data set, as DLIO has them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "workload/choices.h"
#include "workload/derive.h"

#define SIDE_STREAM UINT64_C(0x73696465)

static int digits(uint64_t n)
{
    return snprintf(NULL, 0, "%" PRIu64, n);
}

/* The end of a file's name: weir's own formats have the usual one. */
static const char *ending(const struct wr_workload *w)
{
    if (w->dataset.format == WR_WL_TENSOR)
        return "wt"; /* by which its readers know it */
    return wr_choice_name(wr_wl_formats, (int)w->dataset.format);
}

int wr_workload_file_name(const struct wr_workload *w, bool eval, uint64_t i,
                          char *buf, size_t cap)
{
    uint64_t files = eval ? w->dataset.files_eval : w->dataset.files_train;
    uint64_t folders = eval ? w->dataset.subfolders_eval
                            : w->dataset.subfolders_train;
    char folder[32] = "";

    if (folders > 1)
        snprintf(folder, sizeof(folder), "%0*" PRIu64 "/", digits(folders),
                 i % folders);
    return snprintf(buf, cap, "%s/%s%s_%0*" PRIu64 "_of_%" PRIu64 ".%s",
                    eval ? "valid" : "train", folder, w->dataset.file_prefix,
                    digits(files), i, files, ending(w));
}

/* One side: the root of the length, which varies as the length does. */
static uint64_t draw_side(const struct wr_workload *w, uint64_t seed,
                          uint64_t k)
{
    double mean = sqrt(w->dataset.record_bytes);
    struct wr_wl_time law = {WR_WL_NORMAL, mean,
                             w->dataset.record_stdev / (2 * mean)};

    if (law.b <= 0)
        return (uint64_t)WR_MAX(mean, 1.0);
    /* The law takes the sign away; DLIO makes a side of 1 of a negative one. */
    return (uint64_t)WR_MAX(wr_wl_time_draw(&law, seed, SIDE_STREAM, k), 1.0);
}

void wr_workload_sides(const struct wr_workload *w, uint64_t seed, uint64_t i,
                       struct wr_wl_dims *ret)
{
    if (w->dataset.record_dims.count) {
        *ret = w->dataset.record_dims;
        return;
    }
    *ret = (struct wr_wl_dims){
        .count = 2,
        .dim = {draw_side(w, seed, 2 * i), draw_side(w, seed, 2 * i + 1)},
    };
}
