/* table1.c - Table I: what each device reads and writes at most.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The paper's numbers are IOR's, on a file of 5 GB. The profiles of the emulated
 * devices have them as their bandwidths, so agreement shows that the emulation
 * works and nothing else. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "storage/device.h"

#define TOLERANCE        0.05
#define LEAST_S          0.2
#define LEAST_BYTES      (UINT64_C(32) << 20) /* of a file that tells */
#define DISK_BYTES_PER_S 500e6                /* about */
#define HEADROOM         1.1 /* the place behind a device has to be faster */

/* MB/s, as the paper states them. */
static const struct {
    const char *device;
    double read, write;
} paper[] = {{"hdd", 163.00, 133.14},
             {"ssd", 280.55, 195.05},
             {"optane", 1603.06, 511.78},
             {"lustre", 1968.618, 991.914}};

/* Long enough to write the file once, and no longer. */
static double seconds_of(const struct wr_study *st, const char *device)
{
    struct wr_device_profile p = {.write_bytes_per_s = DISK_BYTES_PER_S};
    double whole;

    (void)wr_device_profile_find(device, &p, NULL);
    whole = (double)st->scale.probe_bytes / p.write_bytes_per_s;
    return WR_MIN(st->scale.probe_s, WR_MAX(whole, LEAST_S));
}

static void add(struct wr_study *st, const struct wr_figure *f)
{
    const char *device;

    for (size_t k = 0; (device = wr_study_place(k)); k++) {
        struct wr_cell_job job = {.kind = WR_CELL_PROBE,
                                  .bytes = st->scale.probe_bytes,
                                  .seconds = seconds_of(st, device)};

        snprintf(job.device, sizeof(job.device), "%s", device);
        wr_study_measure(st, f, WR_AT("read", "here", device), &job, "read");
        wr_study_measure(st, f, WR_AT("write", "here", device), &job, "write");
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(paper); k++) {
        wr_study_know(st, f, WR_AT("read", "paper (IOR)", paper[k].device),
                      WR_POINT_REFERENCE, paper[k].read);
        wr_study_know(st, f, WR_AT("write", "paper (IOR)", paper[k].device),
                      WR_POINT_REFERENCE, paper[k].write);
    }
}

/* Numbers that agree are counted; the others are told one by one. */
struct agreement {
    size_t count, all;
    double worst; /* deviation of those that agree */
};

static void judge_one(const struct wr_study *st, const struct wr_figure *f,
                      const struct wr_point_at *at, double stated,
                      struct wr_judgement *j)
{
    double here = wr_study_value(st, f, at);
    double disk = wr_study_value(st, f, WR_AT(at->part, "here", "disk"));

    if (isnan(here))
        wr_judge_unseen(j, "%s %s was not measured", at->label, at->part);
    else if (here < stated && disk < HEADROOM * stated)
        wr_judge_unseen(j,
                        "%s %ss %.0f of %.0f MB/s, because the disk behind it "
                        "%ss only %.0f",
                        at->label, at->part, here, stated, at->part, disk);
    else if (st->scale.probe_bytes < LEAST_BYTES)
        wr_judge_unseen(j,
                        "%s %ss %.0f of %.0f MB/s: a seek and a sync weigh too "
                        "much in a file of %u MB",
                        at->label, at->part, here, stated,
                        (unsigned)(st->scale.probe_bytes / 1000000));
    else
        wr_judge_fails(j, "%s %ss %.0f MB/s, the paper states %.0f", at->label,
                       at->part, here, stated);
}

static void compare(const struct wr_study *st, const struct wr_figure *f,
                    const struct wr_point_at *at, double stated,
                    struct agreement *a)
{
    double off = fabs(wr_study_value(st, f, at) / stated - 1);

    a->all++;
    if (off <= TOLERANCE) {
        a->count++;
        a->worst = WR_MAX(a->worst, off);
    }
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    struct agreement a = {0};

    for (size_t k = 0; k < 2 * WR_ARRAY_LEN(paper); k++) {
        double stated = k % 2 ? paper[k / 2].write : paper[k / 2].read;
        struct wr_point_at at = {k % 2 ? "write" : "read", "here",
                                 paper[k / 2].device};
        size_t before = a.count;

        compare(st, f, &at, stated, &a);
        if (a.count == before)
            judge_one(st, f, &at, stated, ret);
    }
    if (a.count)
        wr_judge_holds(
            ret, "%zu of %zu bandwidths are within %.1f %% of the paper's",
            a.count, a.all, a.worst * 100);
}

static json_t *row_of(const struct wr_study *st, const struct wr_figure *f,
                      const char *device)
{
    json_t *row = json_array();

    json_array_append_new(
        row, json_string(strcmp(device, "disk") ? device : "this disk"));
    for (unsigned i = 0; i < 4; i++) {
        double v = wr_study_value(st, f,
                                  WR_AT(i % 2 ? "write" : "read",
                                        i < 2 ? "here" : "paper (IOR)",
                                        device));

        json_array_append_new(row, isfinite(v) ? json_real(v) : json_null());
    }
    return row;
}

static json_t *table(const struct wr_study *st, const struct wr_figure *f)
{
    json_t *rows = json_array();
    const char *device;

    for (size_t k = 0; (device = wr_study_place(k)); k++)
        json_array_append_new(rows, row_of(st, f, device));
    return json_pack("{s:s, s:o}", "columns",
                     "<device|>read MB/s|>write MB/s|>paper's read|"
                     ">paper's write",
                     "rows", rows);
}

const struct wr_figure wr_figure_table1 = {
    .id = "table1",
    .title = "Table I: bandwidth of each device",
    .question = "How fast does each device read and write one big file?",
    .conclusion = "HDD 163 and 133 MB/s, SSD 281 and 195, Optane 1,603 and "
                  "512, Lustre 1,969 and 992 (IOR, 5 GB)",
    .unit = "MB/s",
    .x = "device",
    .calibration = true,
    .add = add,
    .judge = judge,
    .table = table,
};
