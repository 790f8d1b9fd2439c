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
#define BANDS_MAX  ((size_t)500)
#define ROW_MAX    1000 /* cells of a row */
#define SIZES_MAX  32
#define CALLS_MAX  ((size_t)8)

/* --- over time --- */

/* Epochs, or if there are none, the long phases. */
static void bands(struct wr_doc_chart *c, const struct wr_trace_values *v)
{
    double least = BAND_PART * v->run.seconds;
    char name[WR_VIEW_NAME];

    for (size_t i = 0; i < WR_MIN(v->epochs.count, BANDS_MAX); i++) {
        const struct wr_trace_epoch_values *e = wr_list_at(&v->epochs, i);

        snprintf(name, sizeof(name), "epoch %zu", i + 1);
        if (v->epochs.count > 1 && e->to_s > e->from_s)
            wr_doc_band(c, e->from_s, e->to_s, name);
    }
    for (size_t i = 0; i < WR_MIN(v->phases.count, BANDS_MAX); i++) {
        const struct wr_trace_phase_values *p = wr_list_at(&v->phases, i);

        snprintf(name, sizeof(name), "%.40s", p->kind);
        if (v->epochs.count < 2 && p->to_s - p->from_s > least)
            wr_doc_band(c, p->from_s, p->to_s, name);
    }
}

static void draw(struct wr_doc_chart *c, const json_t *at, const json_t *v,
                 const char *name, double unit)
{
    size_t n = WR_MIN(json_array_size(at), json_array_size(v));
    struct wr_doc_series *s = wr_doc_series(c, name);

    for (size_t i = 0; i < n && i < WR_VIEW_SERIES_POINTS; i++)
        wr_doc_point(s, wr_get_at(at, i), wr_get_at(v, i) / unit);
}

static bool has_time(const struct wr_trace_values *v)
{
    return json_array_size(v->over_time.at_s) > 1;
}

void wr_trace_rate_chart(struct wr_doc_section *s,
                         const struct wr_trace_values *v)
{
    const struct wr_trace_time_values *o = &v->over_time;
    struct wr_doc_chart *c;

    if (!has_time(v))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                                    .title = "I/O over time",
                                                    .x = "time (s)",
                                                    .y = "MB/s"});
    draw(c, o->at_s, o->read_bytes_per_s, "read", 1e6);
    draw(c, o->at_s, o->written_bytes_per_s, "written", 1e6);
    bands(c, v);
}

void wr_trace_calls_chart(struct wr_doc_section *s,
                          const struct wr_trace_values *v)
{
    const struct wr_trace_time_values *o = &v->over_time;
    struct wr_doc_chart *c;

    if (!has_time(v))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                                    .title = "Calls over time",
                                                    .x = "time (s)",
                                                    .y = "calls/s"});
    draw(c, o->at_s, o->reads_per_s, "reads of the data set", 1);
    draw(c, o->at_s, o->metadata_per_s,
         "metadata calls (open, stat, close, ...)", 1);
    bands(c, v);
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
static char *lane_name(const struct wr_trace_lane_values *l, char *buf,
                       size_t cap)
{
    const char *program = base_name(l->program);
    char thread[40] = "", of[60] = "";

    if (l->rank >= 0)
        snprintf(of, sizeof(of), "rank %.0f ", l->rank);
    if (l->tid != l->pid)
        snprintf(thread, sizeof(thread), "/%.0f", l->tid);
    snprintf(buf, cap, "%s%.20s %.0f%s", of,
             !strcmp(l->job, "other") && *program ? program : l->job, l->pid,
             thread);
    return buf;
}

void wr_trace_lanes_chart(struct wr_doc_section *s,
                          const struct wr_trace_values *v)
{
    double step = v->lanes.bin_s, threads = v->lanes.threads;
    size_t n = WR_MIN(v->lanes.list.count, (size_t)LANES_MAX);
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
        const struct wr_trace_lane_values *l = wr_list_at(&v->lanes.list, i);

        row(c, lane_name(l, name, sizeof(name)), l->busy, step);
    }
    bands(c, v);
}

void wr_trace_heat_chart(struct wr_doc_section *s,
                         const struct wr_trace_values *v)
{
    const struct wr_list *levels = &v->read_heat.levels;
    double step = v->read_heat.bin_s;
    size_t n = WR_MIN(levels->count, (size_t)LEVELS_MAX);
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
        const struct wr_trace_level_values *l = wr_list_at(levels, i);

        snprintf(name, sizeof(name), "below %s",
                 wr_format_ns(below, sizeof(below), fmax(0, l->below_s * 1e9)));
        row(c, name, l->reads, step);
    }
    bands(c, v);
}

/* --- requests --- */

char *wr_trace_size_text(const struct wr_trace_size_values *v, char *buf,
                         size_t cap)
{
    if (v->to_bytes > 0)
        return wr_format_binary(buf, cap, v->to_bytes);
    snprintf(buf, cap, "more");
    return buf;
}

void wr_trace_latency_chart(struct wr_doc_section *s,
                            const struct wr_trace_values *v)
{
    struct wr_doc_chart *c = NULL;

    for (size_t i = 0; i < WR_MIN(v->latencies.count, CALLS_MAX); i++) {
        const struct wr_trace_latency_values *o = wr_list_at(&v->latencies, i);
        struct wr_doc_series *line;

        if (!json_array_size(o->below))
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
        line = wr_doc_series(c, o->call);
        for (size_t k = 0; k < json_array_size(o->below) && k < ROW_MAX; k++) {
            const json_t *pair = json_array_get(o->below, k);

            wr_doc_point(line, wr_get_at(pair, 0) * 1e3, wr_get_at(pair, 1));
        }
    }
}

double wr_trace_sum(const struct wr_list *l, size_t at)
{
    double sum = 0;

    for (size_t i = 0; i < l->count; i++)
        sum += fmax(0, wr_number_at(wr_list_at(l, i), at));
    return sum;
}

void wr_trace_sizes_chart(struct wr_doc_section *s, const struct wr_list *sizes,
                          const char *title)
{
    static const struct {
        size_t at;
        const char *name;
    } shares[] = {
        {offsetof(struct wr_trace_size_values, seconds), "of their time"},
        {offsetof(struct wr_trace_size_values, count), "of requests"},
        {offsetof(struct wr_trace_size_values, bytes), "of bytes"}};
    size_t n = WR_MIN(sizes->count, (size_t)SIZES_MAX);
    struct wr_doc_chart *c;
    char text[32];

    if (!(wr_trace_sum(sizes, shares[1].at) > 0))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                                    .title = title,
                                                    .x = "size, up to",
                                                    .y = "share (%)"});
    for (size_t i = 0; i < n; i++)
        wr_doc_label(
            c, "%s",
            wr_trace_size_text(wr_list_at(sizes, i), text, sizeof(text)));
    for (size_t k = 0; k < WR_ARRAY_LEN(shares); k++) {
        struct wr_doc_series *bars = wr_doc_series(c, shares[k].name);
        double sum = wr_trace_sum(sizes, shares[k].at);

        for (size_t i = 0; i < n; i++)
            wr_doc_value(
                bars,
                100 * wr_number_at(wr_list_at(sizes, i), shares[k].at) / sum);
    }
}
