/* view_monitor.c - what the machine did meanwhile, as charts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view_monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"
#include "record/points.h"
#include "result/stats.h"

#define MB         1e6
#define APART_MAX  8 /* so many records have charts of their own */
#define DISKS_MAX  8
#define BANDS_MAX  60   /* runs that are bands; of more, cases are */
#define LEAST_PART 0.01 /* of the highest that a line must reach to be drawn */

/* One line of a chart: a column of a table of the record. */
struct column {
    const json_t *table;
    const char *key;  /* of the column; t_s stands beside it */
    const char *name; /* in the chart */
    double unit;
};

static bool has_values(const struct column *c)
{
    const json_t *list = wr_get_list(c->table, c->key);

    for (size_t i = 0; i < json_array_size(list); i++)
        if (wr_get_at(list, i) != 0 && !isnan(wr_get_at(list, i)))
            return true;
    return false;
}

static void draw(struct wr_doc *d, struct wr_doc_chart *chart,
                 const struct column *c, size_t limit)
{
    const json_t *t = wr_get_list(c->table, "t_s");
    const json_t *v = wr_get_list(c->table, c->key);
    size_t n = WR_MIN(json_array_size(t), json_array_size(v));
    struct wr_points p = {0};

    for (size_t i = 0; i < n; i++)
        wr_points_add(&p, wr_get_at(t, i), wr_get_at(v, i) / c->unit, false);
    wr_points_draw(&p, d, wr_doc_series(chart, c->name), limit);
    wr_points_done(&p);
}

/* The columns that have anything in them, as one chart; NULL for none. */
static struct wr_doc_chart *chart_of(struct wr_doc *d, struct wr_doc_section *s,
                                     const struct wr_doc_chart_spec *spec,
                                     const struct column *columns, size_t n)
{
    struct wr_doc_chart *chart = NULL;
    size_t limit = wr_view_share(WR_MAX(n, (size_t)1) * APART_MAX);

    for (size_t i = 0; i < n; i++) {
        if (!has_values(&columns[i]))
            continue;
        if (!chart)
            chart = wr_doc_chart(s, spec);
        draw(d, chart, &columns[i], limit);
    }
    return chart;
}

static double highest(const json_t *table, const char *key)
{
    const json_t *list = wr_get_list(table, key);
    double max = NAN;

    for (size_t i = 0; i < json_array_size(list); i++)
        max = fmax(max, wr_get_at(list, i));
    return max;
}

/* Where a run of a record lies on the axis of its monitor. */
static bool run_ends(const json_t *run, double *ret_from, double *ret_to)
{
    double stall = wr_get_number(run, "stall_s");

    *ret_from = wr_get_number(run, "start_s");
    *ret_to = *ret_from + wr_get_number(run, "seconds");
    if (isnan(*ret_from)) { /* a save: until it was safe */
        *ret_from = wr_get_number(run, "at_s");
        *ret_to = *ret_from + fmax(stall, wr_get_number(run, "slow_s"));
    }
    return isfinite(*ret_from) && isfinite(*ret_to);
}

/* Runs of a record as bands; of very many, one a case. */
static void add_bands(struct wr_doc_chart *chart, const struct wr_cases *rows,
                      size_t record)
{
    struct wr_cases one = *rows;
    char name[WR_VIEW_NAME];
    size_t runs = 0;

    one.record_count = 1; /* the title names the record */
    for (size_t k = 0; k < rows->count; k++)
        runs += rows->v[k].record == record ? json_array_size(rows->v[k].runs)
                                            : 0;
    for (size_t k = 0; k < rows->count; k++) {
        const struct wr_case *row = &rows->v[k];
        double from, to, begin = INFINITY, end = -INFINITY;

        if (row->record != record)
            continue;
        snprintf(name, sizeof(name), "%s", wr_get_text(row->json, "name"));
        if (!*name)
            wr_cases_name(&one, k, "run", name, sizeof(name));
        for (size_t i = 0; i < json_array_size(row->runs); i++) {
            if (!run_ends(json_array_get(row->runs, i), &from, &to))
                continue;
            begin = fmin(begin, from);
            end = fmax(end, to);
            if (runs <= BANDS_MAX)
                wr_doc_band(chart, from, to, name);
        }
        if (runs > BANDS_MAX)
            wr_doc_band(chart, begin, end, name);
    }
}

/* The columns of I/O: of the disks, or of this process where no disk was
 * watched. Returns how many. */
static size_t io_columns(const json_t *record, struct column *c,
                         char (*names)[96])
{
    const json_t *disks = wr_get_list(record, "monitor.disks");
    const json_t *machine = wr_get_object(record, "monitor.machine");
    size_t count = WR_MIN(json_array_size(disks), (size_t)DISKS_MAX), n = 0;
    bool any = false;

    for (size_t i = 0; i < count; i++)
        for (int w = 0; w < 2; w++) {
            const json_t *disk = json_array_get(disks, i);

            snprintf(names[n], sizeof(names[n]), "%s %s",
                     wr_get_text(disk, "name"), w ? "write" : "read");
            c[n] = (struct column){disk,
                                   w ? "write_bytes_per_s" : "read_bytes_per_s",
                                   names[n], MB};
            any |= has_values(&c[n++]);
        }
    if (any)
        return n;
    c[0] = (struct column){machine, "device_read_bytes_per_s",
                           "this process, read", MB};
    c[1] = (struct column){machine, "device_write_bytes_per_s",
                           "this process, write", MB};
    return 2;
}

/* The highest rate of a record. */
static double io_most(const json_t *record)
{
    struct column c[2 * DISKS_MAX + 2];
    char names[2 * DISKS_MAX][96];
    size_t n = io_columns(record, c, names);
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, highest(c[i].table, c[i].key) / c[i].unit);
    return most;
}

static void io_of_one(struct wr_doc *d, struct wr_doc_section *s,
                      const struct wr_cases *rows, size_t record, double most)
{
    const struct wr_view_record *r = &rows->records[record];
    bool many = rows->record_count > 1;
    struct column c[2 * DISKS_MAX + 2];
    char names[2 * DISKS_MAX][96], title[WR_VIEW_NAME];
    size_t n = io_columns(r->json, c, names), kept = 0;
    double own = io_most(r->json);
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_AREA,
        .title = title,
        .x = "seconds",
        .y = "MB/s",
        .note = "Bands are runs. The table of runs or passes says when each "
                "began.",
        .most = most};

    /* The disk below an emulated device tells nothing of it. */
    if (wr_view_is_emulated(r->json))
        return;
    snprintf(title, sizeof(title), "I/O over time%s%s", many ? ": " : "",
             many ? *r->label ? r->label : r->path : "");
    /* What hardly lifts a line from the axis is left to the table. */
    for (size_t i = 0; i < n; i++)
        if (highest(c[i].table, c[i].key) / c[i].unit > LEAST_PART * own)
            c[kept++] = c[i];
    add_bands(chart_of(d, s, &spec, c, kept), rows, record);
}

static void cpu_of_one(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_cases *rows)
{
    const json_t *m = wr_get_object(rows->records->json, "monitor.machine");
    const struct column c[] = {
        {m, "cpu_process_cores", "this process", 1},
        {m, "cpu_machine_cores", "whole machine", 1},
        {m, "cpu_iowait_cores", "waiting for storage", 1},
    };
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_LINES,
                                           .title = "CPU over time",
                                           .x = "seconds",
                                           .y = "cores busy"};

    add_bands(chart_of(d, s, &spec, c, WR_ARRAY_LEN(c)), rows, 0);
}

static void memory_of_one(struct wr_doc *d, struct wr_doc_section *s,
                          const struct wr_view_record *r)
{
    const json_t *m = wr_get_object(r->json, "monitor.machine");
    const struct column c[] = {
        {m, "rss_bytes", "this process", MB},
        {m, "page_cache_bytes", "page cache of the machine", MB},
        {m, "dirty_bytes", "of it not yet written", MB},
    };
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_LINES,
                                           .title = "Memory over time",
                                           .x = "seconds",
                                           .y = "MB"};

    chart_of(d, s, &spec, c, WR_ARRAY_LEN(c));
}

/* Beside other records I/O is enough. */
static void of_one(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_cases *rows)
{
    io_of_one(d, s, rows, 0, 0);
    if (!rows->records->alone)
        return;
    cpu_of_one(d, s, rows);
    memory_of_one(d, s, rows->records);
}

/* Small charts with the same axis, one a record. */
static void of_several(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_cases *rows)
{
    double most = 0;

    for (size_t i = 0; i < rows->record_count && i < APART_MAX; i++)
        most = fmax(most, io_most(rows->records[i].json));
    for (size_t i = 0; i < rows->record_count && i < APART_MAX; i++)
        io_of_one(d, s, rows, i, most);
    if (rows->record_count > APART_MAX)
        wr_doc_note(s, false,
                    "I/O over time is drawn of the first %d records only.",
                    APART_MAX);
}

/* Mean of a column; the rows stand for equal times. */
static double mean(const json_t *table, const char *key)
{
    const json_t *list = wr_get_list(table, key);
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!isnan(wr_get_at(list, i))) {
            sum += wr_get_at(list, i);
            n++;
        }
    return n ? sum / (double)n : NAN;
}

static void disk_table(struct wr_doc_section *s, const struct wr_cases *rows)
{
    struct wr_doc_table *t = NULL;
    size_t lines = 0;

    for (size_t i = 0; i < rows->record_count; i++) {
        const json_t *disks = wr_get_list(rows->records[i].json,
                                          "monitor.disks");

        for (size_t k = 0; k < json_array_size(disks); k++) {
            const json_t *disk = json_array_get(disks, k);

            if (lines++ >= WR_VIEW_ROWS)
                return;
            if (!t)
                t = wr_doc_table(s, "Disks, mean over the whole time",
                                 "<record|<disk|>reads/s|>read MB/s|"
                                 ">writes/s|>write MB/s|>queue|>busy %");
            wr_doc_fold(t);
            wr_doc_cell(t, "%s", rows->records[i].label);
            wr_doc_cell(t, "%s", wr_get_text(disk, "name"));
            wr_doc_number(t, mean(disk, "reads_per_s"), 1);
            wr_doc_number(t, mean(disk, "read_bytes_per_s") / MB, 1);
            wr_doc_number(t, mean(disk, "writes_per_s"), 1);
            wr_doc_number(t, mean(disk, "write_bytes_per_s") / MB, 1);
            wr_doc_number(t, mean(disk, "queue"), 2);
            wr_doc_number(t, 100 * mean(disk, "busy"), 1);
        }
    }
}

static void machine_table(struct wr_doc_section *s, const struct wr_cases *rows)
{
    struct wr_doc_table *t = wr_doc_table(
        s, "The machine",
        "<record|>process cores|>machine cores|>waiting cores|>peak MB|"
        ">faults/s|>watching CPU s");

    wr_doc_fold(t);
    for (size_t i = 0; i < rows->record_count && i < WR_VIEW_ROWS; i++) {
        const json_t *j = rows->records[i].json;
        const json_t *m = wr_get_object(j, "monitor.machine");

        wr_doc_cell(t, "%s", rows->records[i].label);
        wr_doc_number(t, mean(m, "cpu_process_cores"), 2);
        wr_doc_number(t, mean(m, "cpu_machine_cores"), 2);
        wr_doc_number(t, mean(m, "cpu_iowait_cores"), 2);
        wr_doc_number(t, highest(m, "rss_bytes") / MB, 0);
        wr_doc_number(t, mean(m, "major_faults_per_s"), 1);
        wr_doc_number(t, wr_get_number(j, "monitor.cpu_s"), 3);
    }
}

static size_t count_watched(const struct wr_cases *rows)
{
    size_t watched = 0;

    for (size_t i = 0; i < rows->record_count; i++)
        watched += wr_get_object(rows->records[i].json, "monitor") != NULL;
    return watched;
}

void wr_view_monitor(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_cases *rows)
{
    size_t watched = count_watched(rows);

    if (!watched)
        return;
    if (watched < rows->record_count)
        wr_doc_note(s, false, "%zu of %zu records were watched.", watched,
                    rows->record_count);
    if (rows->record_count == 1)
        of_one(d, s, rows);
    else
        of_several(d, s, rows);
}

void wr_view_monitor_tables(struct wr_doc_section *s,
                            const struct wr_cases *rows)
{
    if (!count_watched(rows))
        return;
    disk_table(s, rows);
    machine_table(s, rows);
}

void wr_show_monitor(struct wr_scope *v)
{
    wr_view_monitor(v->d, v->s, &v->c);
}

void wr_show_monitor_tables(struct wr_scope *v)
{
    wr_view_monitor_tables(v->s, &v->c);
}
