/* trace_charts.c - charts of a traced program, and its requests by size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/trace_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/chart.h"
#include "report/columns.h"
#include "result/get.h"
#include "result/trace.h"

#define LANES_MAX  ((size_t)64)
#define LEVELS_MAX ((size_t)64)
#define BAND_PART  0.02 /* of the run that a phase with a name has at least */
#define BANDS_MAX  ((size_t)500)
#define ROW_MAX    1000 /* cells of a row */
#define SIZES_MAX  ((size_t)32)
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

static const struct wr_chart_rule rate_chart = {
    .is = {.kind = WR_DOC_AREA,
           .title = "I/O over time",
           .x = "time (s)",
           .y = "MB/s"},
    .columns = "over_time",
    .x = "at_s",
    .series = WR_SERIES({"read_bytes_per_s", "read", 1e6},
                        {"written_bytes_per_s", "written", 1e6})};

static const struct wr_chart_rule calls_chart = {
    .is = {.kind = WR_DOC_AREA,
           .title = "Calls over time",
           .x = "time (s)",
           .y = "calls/s"},
    .columns = "over_time",
    .x = "at_s",
    .series = WR_SERIES(
        {"reads_per_s", "reads of the data set", 1},
        {"metadata_per_s", "metadata calls (open, stat, close, ...)", 1})};

static void rate_charts(struct wr_scope *v)
{
    const struct wr_chart_rule *const rules[] = {&rate_chart, &calls_chart};

    if (json_array_size(wr_trace_values_of(v->r)->over_time.at_s) < 2)
        return;
    for (size_t i = 0; i < WR_ARRAY_LEN(rules); i++) {
        struct wr_doc_chart *c = wr_chart_draw(v, rules[i]);

        if (c)
            bands(c, wr_trace_values_of(v->r));
    }
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

static void lanes_chart(struct wr_scope *scope)
{
    const struct wr_trace_values *v = wr_trace_values_of(scope->r);
    double step = v->lanes.bin_s, threads = v->lanes.threads;
    size_t n = WR_MIN(v->lanes.list.count, LANES_MAX);
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
        scope->s, &(struct wr_doc_chart_spec){.kind = WR_DOC_HEAT,
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

void wr_trace_time_charts(struct wr_scope *v)
{
    rate_charts(v);
    lanes_chart(v);
}

static void heat_chart(struct wr_scope *scope)
{
    const struct wr_trace_values *v = wr_trace_values_of(scope->r);
    const struct wr_list *levels = &v->read_heat.levels;
    double step = v->read_heat.bin_s;
    size_t n = WR_MIN(levels->count, LEVELS_MAX);
    char name[WR_VIEW_NAME], below[32];
    struct wr_doc_chart *c;

    if (!n || !(step > 0))
        return;
    c = wr_doc_chart(
        scope->s,
        &(struct wr_doc_chart_spec){
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

static void latency_chart(struct wr_scope *v)
{
    const struct wr_list *l = &wr_trace_values_of(v->r)->latencies;
    struct wr_doc_chart *c = NULL;

    for (size_t i = 0; i < WR_MIN(l->count, CALLS_MAX); i++) {
        const struct wr_trace_latency_values *o = wr_list_at(l, i);
        struct wr_doc_series *line;

        if (!json_array_size(o->below))
            continue;
        if (!c)
            c = wr_doc_chart(
                v->s, &(struct wr_doc_chart_spec){
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

/* "4 KiB", "more". */
static char *size_text(const struct wr_trace_size_values *v, char *buf,
                       size_t cap)
{
    if (v->to_bytes > 0)
        return wr_format_binary(buf, cap, v->to_bytes);
    snprintf(buf, cap, "more");
    return buf;
}

/* The numbers at `at` of all in the list that are above 0. */
static double sum_of(const struct wr_list *l, size_t at)
{
    double sum = 0;

    for (size_t i = 0; i < l->count; i++)
        sum += fmax(0, wr_number_at(wr_list_at(l, i), at));
    return sum;
}

static const char *size_edge(const struct wr_column *c, const struct wr_row *r,
                             char *buf, size_t cap)
{
    return size_text(r->run, buf, cap);
}

#define SIZE(member)                                                           \
    WR_COLUMN(RUN, wr_trace_size_vals, struct wr_trace_size_values, member)
#define SIZE_AT(member) offsetof(struct wr_trace_size_values, member)

/* Of all in the table, in percent. */
static double size_count_share(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return 100 * v->count / sum_of(&r->row->list, SIZE_AT(count));
}

static double size_time_share(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return 100 * v->seconds / sum_of(&r->row->list, SIZE_AT(seconds));
}

static double size_rate(const struct wr_row *r)
{
    const struct wr_trace_size_values *v = r->run;

    return v->bytes / v->seconds;
}

static const struct wr_column size_columns[] = {
    {"up to", NULL, '>', .text = size_edge},
    {"requests", NULL, '>', SIZE(count)},
    {"of them", NULL, '>', .number = size_count_share, .digits = 1,
     .show = WR_SHOW_PERCENT},
    {"bytes", NULL, '>', SIZE(bytes), .show = WR_SHOW_BYTES},
    {"time", NULL, '>', SIZE(seconds), .show = WR_SHOW_TIME},
    {"of it", NULL, '>', .number = size_time_share, .digits = 1,
     .show = WR_SHOW_PERCENT},
    {"each", NULL, '>', .number = size_rate, .show = WR_SHOW_RATE},
    {.head = NULL}};

/* Without the sizes that nothing has. */
static void size_table(struct wr_doc_section *s, const char *title,
                       const struct wr_list *l)
{
    const struct wr_case of = {.list = *l};
    struct wr_doc_table *t;

    if (!(sum_of(l, SIZE_AT(count)) > 0))
        return;
    t = wr_doc_table_of(s, title, size_columns, 0);
    for (size_t i = 0; i < l->count && i < WR_VIEW_ROWS; i++) {
        const struct wr_trace_size_values *v = wr_list_at(l, i);

        if (v->count > 0)
            wr_cells(t, size_columns, 0,
                     &(struct wr_row){.i = i, .row = &of, .run = v});
    }
}

void wr_trace_size_tables(struct wr_scope *v)
{
    const struct wr_trace_values *of = wr_trace_values_of(v->r);

    size_table(v->s, "Reads of the data set by size", &of->read_sizes);
    size_table(v->s, "Writes by size", &of->write_sizes);
}

static void size_chart(struct wr_doc_section *s, const char *title,
                       const struct wr_list *sizes)
{
    static const struct {
        size_t at;
        const char *name;
    } parts[] = {{SIZE_AT(seconds), "of their time"},
                 {SIZE_AT(count), "of requests"},
                 {SIZE_AT(bytes), "of bytes"}};
    size_t n = WR_MIN(sizes->count, SIZES_MAX);
    struct wr_doc_chart *c;
    char text[32];

    if (!(sum_of(sizes, SIZE_AT(count)) > 0))
        return;
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                                    .title = title,
                                                    .x = "size, up to",
                                                    .y = "share (%)"});
    for (size_t i = 0; i < n; i++)
        wr_doc_label(c, "%s",
                     size_text(wr_list_at(sizes, i), text, sizeof(text)));
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        struct wr_doc_series *bars = wr_doc_series(c, parts[k].name);
        double sum = sum_of(sizes, parts[k].at);

        for (size_t i = 0; i < n; i++)
            wr_doc_value(bars,
                         100 * wr_number_at(wr_list_at(sizes, i), parts[k].at) /
                             sum);
    }
}

void wr_trace_request_charts(struct wr_scope *v)
{
    const struct wr_trace_values *of = wr_trace_values_of(v->r);

    heat_chart(v);
    latency_chart(v);
    size_chart(v->s, "Sizes of reads of the data set", &of->read_sizes);
    size_chart(v->s, "Sizes of writes", &of->write_sizes);
}
