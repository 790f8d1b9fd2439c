/* baseline.c - what the storage of a traced program can give.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/baseline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "result/get.h"
#include "result/record.h"

#define STREAM_BLOCK (1 << 20) /* requests from here on show the bandwidth */

int wr_trace_probe_load(const char *path, json_t **ret, weir_err *err)
{
    json_t *record;
    int r = wr_record_load(path, &record, err);

    if (r < 0)
        return r;
    if (strcmp(wr_get_text(record, "command"), "probe") != 0 ||
        !wr_get_list(record, "tests")) {
        r = wr_fail(err, WEIR_EFORMAT, "'%s': no record of weir probe", path);
        json_decref(record);
        return r;
    }
    *ret = record;
    return 0;
}

/* How far apart two sizes of requests are, as a factor. */
static double apart(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log2(a / b)) : INFINITY;
}

/* The best rate of each sort of test; of random reads those whose size is
 * nearest to the program's. */
static void take_probe(const json_t *probe, double request,
                       struct wr_trace_baseline *b)
{
    const json_t *tests = wr_get_list(probe, "tests");
    double nearest = INFINITY;

    for (size_t k = 0; k < json_array_size(tests); k++) {
        const json_t *t = json_array_get(tests, k);
        const char *op = wr_get_text(t, "op");
        double block = wr_get_number(t, "block"), far = apart(block, request);
        double bytes = wr_get_number(t, "result.bytes_per_s");
        double ops = wr_get_number(t, "result.ops_per_s");

        if (!strcmp(op, "files") && isfinite(ops))
            b->files_rate = fmax(b->files_rate, ops);
        if (strcmp(op, "read") != 0 || !isfinite(bytes))
            continue;
        if (!strcmp(wr_get_text(t, "pattern"), "sequential")) {
            if (block >= STREAM_BLOCK)
                b->sequential_rate = fmax(b->sequential_rate, bytes);
        } else if (far < nearest) {
            nearest = far;
            b->random_rate = bytes;
        } else if (far == nearest) {
            b->random_rate = fmax(b->random_rate, bytes);
        }
    }
    snprintf(b->source, sizeof(b->source), "weir probe of ");
    wr_text_show(wr_get_text(probe, "path"), /* controls= */ true,
                 b->source + strlen(b->source),
                 sizeof(b->source) - strlen(b->source));
}

/* The mean of how busy a disk was from `from` to `to`, in seconds; < 0: nothing
 * is known. */
static double busy_of(const json_t *disk, double from, double to)
{
    const json_t *times = wr_get_list(disk, "t_s");
    const json_t *busy = wr_get_list(disk, "busy");
    double sum = 0;
    unsigned n = 0;

    for (size_t k = 0; k < json_array_size(times); k++) {
        double t = wr_get_at(times, k), v = wr_get_at(busy, k);

        if (!(t >= from && t <= to) || !isfinite(v))
            continue;
        sum += v;
        n++;
    }
    return n ? sum / n : -1;
}

/* The disk that was busiest while the data set was read. */
static void take_monitor(const struct wr_trace_analysis *a,
                         struct wr_trace_baseline *b)
{
    const char *text = wr_trace_file_info(a->file)->monitor;
    json_t *all = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *disks = wr_get_list(all, "monitor.disks");

    for (size_t k = 0; k < json_array_size(disks); k++) {
        const json_t *d = json_array_get(disks, k);
        double busy = busy_of(d, (double)a->first_set_ns * 1e-9,
                              (double)a->last_set_ns * 1e-9);

        if (busy <= b->utilisation)
            continue;
        b->utilisation = busy;
        snprintf(b->source, sizeof(b->source), "how busy disk %.40s was",
                 wr_get_text(d, "name"));
    }
    json_decref(all);
}

int wr_trace_judge(struct wr_trace_analysis *a, const json_t *probe,
                   struct wr_trace_findings *ret, weir_err *err)
{
    a->baseline = (struct wr_trace_baseline){.utilisation = -1};
    if (probe)
        take_probe(probe,
                   (double)a->set_bytes / (double)WR_MAX(1, a->set_reads),
                   &a->baseline);
    else if (a->set_counted && a->first_set_ns < a->last_set_ns)
        take_monitor(a, &a->baseline);
    return wr_trace_findings_of(a, ret, err);
}
