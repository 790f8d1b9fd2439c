/* fig4.c - Fig. 4: strong scaling of the whole input pipeline.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pictures are read, decoded, resized and batched. On a machine with fewer cores
 * than the paper's eight the cores end the scaling, not the devices: the ceiling
 * min(device, threads x decode, cores x decode) stands beside each number, and
 * nothing is claimed where it was the cores. */
#include "study/scaling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ALMOST_DOUBLE 1.6
#define FLAT          1.35 /* 8 threads over 4; the paper's are 2.3 / 1.95 */

/* MB/s of Table I. */
static const struct {
    const char *device;
    double read;
} table1[] = {{"hdd", 163.00},
              {"ssd", 280.55},
              {"optane", 1603.06},
              {"lustre", 1968.618}};

static void add(struct wr_study *st, const struct wr_figure *f)
{
    wr_scaling_add(st, f, /* read_only= */ false);
}

/* Pictures per second that one core decodes: of one thread on the fastest
 * device, so that threads do not share a core. */
static double decode_rate(const struct wr_study *st)
{
    return wr_cell_spread(wr_scaling_cell(st, "optane", 1, false),
                          "decode_per_s")
        .median;
}

struct ceiling {
    double rate;
    const char *limit; /* "device", "threads", "cores"; "": not known */
};

static struct ceiling ceiling_of(const struct wr_study *st, const char *device,
                                 unsigned threads)
{
    double decode = decode_rate(st);
    double read = wr_scaling_rate(st, device, threads, true);
    double cpu = decode * WR_MIN(threads, st->cores);

    if (isnan(cpu) || isnan(read)) /* one of them alone tells nothing */
        return (struct ceiling){NAN, ""};
    if (read < cpu)
        return (struct ceiling){read, "device"};
    return (struct ceiling){cpu, threads > st->cores ? "cores" : "threads"};
}

static void finish_one(struct wr_study *st, const struct wr_figure *f,
                       const char *device, unsigned threads)
{
    struct ceiling c = ceiling_of(st, device, threads);
    char label[24];

    snprintf(label, sizeof(label), "%u", threads);
    for (size_t k = 0; k < st->point_count; k++) {
        struct wr_point *p = &st->points[k];

        if (p->figure == f && p->cell && !strcmp(p->part, device) &&
            !strcmp(p->label, label))
            snprintf(p->limit, sizeof(p->limit), "%s", c.limit);
    }
    if (!isnan(c.rate))
        wr_study_know(st, f, &(struct wr_point_at){device, "ceiling", label},
                      WR_POINT_CEILING, c.rate);
}

static void finish(struct wr_study *st, const struct wr_figure *f)
{
    const char *device;

    wr_scaling_reference(st, f, "hdd", /* read_only= */ false);
    for (size_t d = 0; (device = wr_study_place(d)); d++)
        for (size_t k = 0; k < st->scale.threads.count; k++)
            finish_one(st, f, device, st->scale.threads.v[k]);
}

/* "From one to two threads almost double on most devices." */
static void judge_doubling(const struct wr_study *st, struct wr_judgement *j)
{
    static const char *const devices[] = {"ssd", "optane", "lustre"};
    double s[WR_ARRAY_LEN(devices)];
    size_t doubled = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(devices); k++) {
        s[k] = wr_scaling_speedup(st, devices[k], 2, false);
        if (isnan(s[k])) {
            wr_judge_unseen(j, "1 and 2 threads were not measured");
            return;
        }
        doubled += s[k] >= ALMOST_DOUBLE;
    }
    if (st->cores < 2)
        wr_judge_unseen(j, "one core cannot decode for two threads");
    else
        wr_judge(j, 2 * doubled > WR_ARRAY_LEN(devices),
                 "2 threads give %.2fx on SSD, %.2fx on Optane, %.2fx on "
                 "Lustre",
                 s[0], s[1], s[2]);
}

/* "On HDD it soon flattens when there are more than four threads." */
static void judge_flat(const struct wr_study *st, struct wr_judgement *j)
{
    double more = wr_scaling_rate(st, "hdd", 8, false) /
                  wr_scaling_rate(st, "hdd", 4, false);

    if (isnan(more))
        wr_judge_unseen(j, "HDD was not measured with 4 and 8 threads");
    else if (!strcmp(ceiling_of(st, "hdd", 8).limit, "cores"))
        wr_judge_unseen(j, "on HDD the cores end the scaling");
    else
        wr_judge(j, more <= FLAT, "HDD gains %.2fx from 4 to 8 threads", more);
}

/* "Lustre scales best": where cores limit, reading alone has to tell. */
static void judge_best(const struct wr_study *st, struct wr_judgement *j)
{
    bool cores = !strcmp(ceiling_of(st, "lustre", 8).limit, "cores");
    double lustre = wr_scaling_speedup(st, "lustre", 8, cores), best = 0;
    const char *device;

    for (size_t k = 0; (device = wr_study_device(k)); k++)
        if (strcmp(device, "lustre"))
            best = WR_MAX(best, wr_scaling_speedup(st, device, 8, cores));
    if (isnan(lustre) || !(best > 0))
        wr_judge_unseen(j, "that Lustre scales best cannot be seen: %s",
                        cores ? "the cores limit it, and reading alone (fig5) "
                                "was not measured"
                              : "8 threads were not measured");
    else
        wr_judge(j, lustre >= best,
                 "Lustre scales %.1fx to 8 threads%s, the next %.1fx", lustre,
                 cores ? " (reading alone, for here the cores limit it)" : "",
                 best);
}

/* "Unfavorable against IOR." */
static void judge_ior(const struct wr_study *st, struct wr_judgement *j)
{
    unsigned most = st->scale.threads.v[st->scale.threads.count - 1];
    size_t below = 0, known = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(table1); k++) {
        double v = wr_cell_spread(
                       wr_scaling_cell(st, table1[k].device, most, false),
                       "bytes_per_s")
                       .median /
                   1e6;

        known += !isnan(v);
        below += v < table1[k].read;
    }
    if (known)
        wr_judge(j, below == known,
                 "%zu of %zu devices stay below the bandwidth of Table I",
                 below, known);
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    (void)f;
    if (wr_scaling_few(st, 8)) {
        wr_judge_unseen(ret, "%u pictures are too few for 8 threads",
                        (unsigned)st->scale.images);
        return;
    }
    judge_doubling(st, ret);
    judge_flat(st, ret);
    judge_best(st, ret);
    judge_ior(st, ret);
    wr_scaling_note_cold(st, /* read_only= */ false, ret);
}

const struct wr_figure wr_figure_fig4 = {
    .id = "fig4",
    .title = "Fig. 4: the input pipeline, by threads",
    .question = "How much faster are pictures read, decoded, resized and "
                "batched by more threads?",
    .conclusion = "two threads almost double the rate on most devices, HDD "
                  "flattens beyond four, Lustre scales best, and all stay "
                  "below IOR",
    .unit = "images/s",
    .x = "threads",
    .add = add,
    .finish = finish,
    .judge = judge,
};
