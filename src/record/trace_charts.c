/* trace_charts.c - charts of a traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/trace_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/view.h"

#define LANES_MAX  64
#define LEVELS_MAX 64
#define BAND_PART  0.02 /* of the run that a phase with a name has at least */
#define BANDS_MAX  500
#define ROW_MAX    1000 /* cells of a row */
#define SIZES_MAX  32
#define CALLS_MAX  8

/* --- over time --- */

/* Epochs, or if there are none, the long phases. */
static void bands(struct wr_doc_chart *c, const json_t *j)
{
    const json_t *epochs = wr_get_list(j, "epochs");
    const json_t *list = json_array_size(epochs) > 1 ? epochs
                                                     : wr_get_list(j, "phases");
    double least = list == epochs ? 0
                                  : BAND_PART * wr_get_number(j, "run.seconds");
    char name[WR_VIEW_NAME];

    for (size_t i = 0; i < json_array_size(list) && i < BANDS_MAX; i++) {
        const json_t *o = json_array_get(list, i);
        double from = wr_get_number(o, "from_s"), to = wr_get_number(o, "to_s");

        snprintf(name, sizeof(name), "%.40s", wr_get_text(o, "kind"));
        if (list == epochs)
            snprintf(name, sizeof(name), "epoch %zu", i + 1);
        if (to - from > least)
            wr_doc_band(c, from, to, name);
    }
}

static void draw(struct wr_doc_chart *c, const json_t *j, const char *key,
                 const char *name, double unit)
{
    const json_t *over = wr_get_object(j, "over_time");
    const json_t *at = wr_get_list(over, "at_s"), *v = wr_get_list(over, key);
    size_t n = WR_MIN(json_array_size(at), json_array_size(v));
    struct wr_doc_series *s = wr_doc_series(c, name);

    for (size_t i = 0; i < n && i < WR_VIEW_SERIES_POINTS; i++)
        wr_doc_point(s, wr_get_at(at, i), wr_get_at(v, i) / unit);
}

static bool has_time(const json_t *j)
{
    return json_array_size(wr_get_list(j, "over_time.at_s")) > 1;
}

void wr_trace_rate_chart(struct wr_doc_section *s, const json_t *j)
{
    struct wr_doc_chart *c;

    if (!has_time(j))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                                    .title = "I/O over time",
                                                    .x = "time (s)",
                                                    .y = "MB/s"});
    draw(c, j, "read_bytes_per_s", "read", 1e6);
    draw(c, j, "written_bytes_per_s", "written", 1e6);
    bands(c, j);
}

void wr_trace_calls_chart(struct wr_doc_section *s, const json_t *j)
{
    struct wr_doc_chart *c;

    if (!has_time(j))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                                    .title = "Calls over time",
                                                    .x = "time (s)",
                                                    .y = "calls/s"});
    draw(c, j, "reads_per_s", "reads of the data set", 1);
    draw(c, j, "metadata_per_s", "metadata calls (open, stat, close, ...)", 1);
    bands(c, j);
}

/* --- maps --- */

static void row(struct wr_doc_chart *c, const char *name, const json_t *cells,
                double step)
{
    struct wr_doc_series *s = wr_doc_series(c, name);

    for (size_t i = 0; i < json_array_size(cells) && i < ROW_MAX; i++)
        wr_doc_point(s, (double)i * step, wr_get_at(cells, i));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* "worker 1234", "rank 2 main 17/18", "git 12". */
static char *lane_name(const json_t *o, char *buf, size_t cap)
{
    double pid = wr_get_number(o, "pid"), tid = wr_get_number(o, "tid");
    double rank = wr_get_number(o, "rank");
    const char *job = wr_get_text(o, "job");
    const char *program = base_name(wr_get_text(o, "program"));
    char thread[40] = "", of[60] = "";

    if (rank >= 0)
        snprintf(of, sizeof(of), "rank %.0f ", rank);
    if (tid != pid)
        snprintf(thread, sizeof(thread), "/%.0f", tid);
    snprintf(buf, cap, "%s%.20s %.0f%s", of,
             !strcmp(job, "other") && *program ? program : job, pid, thread);
    return buf;
}

void wr_trace_lanes_chart(struct wr_doc_section *s, const json_t *j)
{
    const json_t *list = wr_get_list(j, "lanes.list");
    double step = wr_get_number(j, "lanes.bin_s");
    double threads = wr_get_number(j, "lanes.threads");
    size_t n = WR_MIN(json_array_size(list), (size_t)LANES_MAX);
    char name[WR_VIEW_NAME], note[WR_VIEW_NAME];
    struct wr_doc_chart *c;

    if (!n || !(step > 0))
        return;
    snprintf(note, sizeof(note),
             "%zu of %.0f threads, those with most time in calls on files: the "
             "darker, the more of the time. Drag to zoom, double-click to see "
             "all.",
             n, fmax((double)n, threads));
    c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_HEAT,
                                       .title = "Processes and threads",
                                       .x = "time (s)",
                                       .y = "in calls (%)",
                                       .note = note,
                                       .most = 100});
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);

        row(c, lane_name(o, name, sizeof(name)), wr_get_list(o, "busy"), step);
    }
    bands(c, j);
}

void wr_trace_heat_chart(struct wr_doc_section *s, const json_t *j)
{
    const json_t *levels = wr_get_list(j, "read_heat.levels");
    double step = wr_get_number(j, "read_heat.bin_s");
    size_t n = WR_MIN(json_array_size(levels), (size_t)LEVELS_MAX);
    char name[WR_VIEW_NAME], below[32];
    struct wr_doc_chart *c;

    if (!n || !(step > 0))
        return;
    c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){
               .kind = WR_DOC_HEAT,
               .title = "Time of reads over time",
               .x = "time (s)",
               .y = "reads",
               .note = "Rows are times of one read, the slow ones on top; the "
                       "darker, the more reads (logarithmic). Drag to zoom, "
                       "double-click to see all.",
               .log_y = true});
    for (size_t i = n; i--;) {
        const json_t *o = json_array_get(levels, i);

        snprintf(name, sizeof(name), "below %s",
                 wr_format_ns(below, sizeof(below),
                              fmax(0, wr_get_number(o, "below_s") * 1e9)));
        row(c, name, wr_get_list(o, "reads"), step);
    }
    bands(c, j);
}

/* --- requests --- */

void wr_trace_latency_chart(struct wr_doc_section *s, const json_t *j)
{
    const json_t *list = wr_get_list(j, "latencies");
    struct wr_doc_chart *c = NULL;

    for (size_t i = 0; i < json_array_size(list) && i < CALLS_MAX; i++) {
        const json_t *o = json_array_get(list, i);
        const json_t *below = wr_get_list(o, "below");
        struct wr_doc_series *line;

        if (!json_array_size(below))
            continue;
        if (!c)
            c = wr_doc_chart(
                s, &(struct wr_doc_chart_spec){
                       .kind = WR_DOC_LINES,
                       .title = "Calls by their time",
                       .x = "time of a call (ms)",
                       .y = "calls",
                       .note = "Calls between half of a time and the time.",
                       .log_x = true,
                       .log_y = true});
        line = wr_doc_series(c, wr_get_text(o, "call"));
        for (size_t k = 0; k < json_array_size(below) && k < ROW_MAX; k++) {
            const json_t *pair = json_array_get(below, k);

            wr_doc_point(line, wr_get_at(pair, 0) * 1e3, wr_get_at(pair, 1));
        }
    }
}

static double sum_of(const json_t *list, const char *key)
{
    double sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        sum += fmax(0, wr_get_number(json_array_get(list, i), key));
    return sum;
}

void wr_trace_sizes_chart(struct wr_doc_section *s, const json_t *j,
                          const char *key, const char *title)
{
    static const char *const keys[][2] = {{"seconds", "of their time"},
                                          {"count", "of requests"},
                                          {"bytes", "of bytes"}};
    const json_t *list = wr_get_list(j, key);
    size_t n = WR_MIN(json_array_size(list), (size_t)SIZES_MAX);
    struct wr_doc_chart *c;
    char text[32];

    if (!(sum_of(list, "count") > 0))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                                    .title = title,
                                                    .x = "size, up to",
                                                    .y = "share (%)"});
    for (size_t i = 0; i < n; i++) {
        double to = wr_get_number(json_array_get(list, i), "to_bytes");

        if (to > 0)
            wr_doc_label(c, "%s", wr_format_binary(text, sizeof(text), to));
        else
            wr_doc_label(c, "more");
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++) {
        struct wr_doc_series *bars = wr_doc_series(c, keys[k][1]);
        double sum = sum_of(list, keys[k][0]);

        for (size_t i = 0; i < n; i++)
            wr_doc_value(
                bars,
                100 * wr_get_number(json_array_get(list, i), keys[k][0]) / sum);
    }
}
