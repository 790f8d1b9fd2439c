/* scaling.c - strong scaling over threads: what Fig. 4 and Fig. 5 share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define COLD       0.01 /* part of the files in the page cache, at most */
#define PER_THREAD 16   /* pictures, at least */

/* Section VII: "HDD 1.65x, 1.95x, 2.3x", Lustre 7.8x with 8 threads. */
static const struct {
    const char *device;
    unsigned threads;
    double speedup;
} stated[] = {
    {"hdd", 2, 1.65}, {"hdd", 4, 1.95}, {"hdd", 8, 2.3}, {"lustre", 8, 7.8}};

static struct wr_cell_job job_of(const struct wr_study *st, const char *device,
                                 unsigned threads, bool read_only)
{
    struct wr_cell_job job = {.kind = WR_CELL_FEED,
                              .data = "imagenet",
                              .threads = threads,
                              .batch = st->scale.batch,
                              .prefetch = 1,
                              .samples = st->scale.images,
                              .read_only = read_only};

    snprintf(job.device, sizeof(job.device), "%s", device);
    return job;
}

void wr_scaling_add(struct wr_study *st, const struct wr_figure *f,
                    bool read_only)
{
    const struct wr_scale_list *threads = &st->scale.threads;
    const char *device;
    char label[24];

    for (size_t d = 0; (device = wr_study_place(d)); d++)
        for (size_t k = 0; k < threads->count; k++) {
            struct wr_cell_job job = job_of(st, device, threads->v[k],
                                            read_only);

            snprintf(label, sizeof(label), "%u", threads->v[k]);
            wr_study_measure(st, f,
                             &(struct wr_point_at){device, "here", label}, &job,
                             "value");
        }
}

const struct wr_cell *wr_scaling_cell(const struct wr_study *st,
                                      const char *device, unsigned threads,
                                      bool read_only)
{
    struct wr_cell_job job = job_of(st, device, threads, read_only);

    return wr_study_cell(st, &job);
}

double wr_scaling_rate(const struct wr_study *st, const char *device,
                       unsigned threads, bool read_only)
{
    return wr_cell_spread(wr_scaling_cell(st, device, threads, read_only),
                          "value")
        .median;
}

double wr_scaling_speedup(const struct wr_study *st, const char *device,
                          unsigned threads, bool read_only)
{
    return wr_scaling_rate(st, device, threads, read_only) /
           wr_scaling_rate(st, device, 1, read_only);
}

double wr_scaling_stated(const char *device, unsigned threads)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(stated); k++)
        if (!strcmp(stated[k].device, device) && stated[k].threads == threads)
            return stated[k].speedup;
    return NAN;
}

void wr_scaling_reference(struct wr_study *st, const struct wr_figure *f,
                          const char *device, bool read_only)
{
    const struct wr_scale_list *threads = &st->scale.threads;
    double one = wr_scaling_rate(st, device, 1, read_only);
    char label[24];

    for (size_t k = 0; k < threads->count; k++) {
        double s = wr_scaling_stated(device, threads->v[k]);

        if (isnan(s) || isnan(one))
            continue;
        snprintf(label, sizeof(label), "%u", threads->v[k]);
        wr_study_know(
            st, f,
            &(struct wr_point_at){device, "paper's scaling of 1 thread", label},
            WR_POINT_REFERENCE, s * one);
    }
}

void wr_scaling_note_cold(const struct wr_study *st, bool read_only,
                          struct wr_judgement *j)
{
    double most = 0;

    for (size_t k = 0; k < st->scale.threads.count; k++) {
        struct wr_spread s = wr_cell_spread(
            wr_scaling_cell(st, "disk", st->scale.threads.v[k], read_only),
            "resident");

        if (s.count && (s.low < 0 || s.high > most))
            most = s.low < 0 ? 1 : s.high;
    }
    if (most > COLD)
        wr_judge_unseen(j, "the files on the real disk could not be made cold: "
                           "'disk' is partly the page cache");
}

bool wr_scaling_few(const struct wr_study *st, unsigned threads)
{
    return st->scale.images < (uint64_t)PER_THREAD * threads;
}
