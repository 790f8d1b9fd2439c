/* view_monitor.c - what the machine did meanwhile, as charts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view_monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/get.h"
#include "record/points.h"
#include "record/stats.h"

#define MB         1e6
#define APART_MAX  4  /* so many records have charts of their own */
#define SERIES_MAX 12 /* lines in one chart that can be told apart */
#define DISKS_MAX  8

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

/* The columns that have anything in them, as one chart. */
static void chart_of(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_doc_chart_spec *spec,
                     const struct column *columns, size_t n)
{
    struct wr_doc_chart *chart = NULL;
    size_t limit = wr_view_share(n * APART_MAX);

    for (size_t i = 0; i < n; i++) {
        if (!has_values(&columns[i]))
            continue;
        if (!chart)
            chart = wr_doc_chart(s, spec);
        draw(d, chart, &columns[i], limit);
    }
}

static void io_of_one(struct wr_doc *d, struct wr_doc_section *s,
                      const struct wr_view_record *r, const char *title)
{
    const json_t *disks = wr_get_list(r->json, "monitor.disks");
    const json_t *machine = wr_get_object(r->json, "monitor.machine");
    size_t count = WR_MIN(json_array_size(disks), (size_t)DISKS_MAX), n = 0;
    struct column c[2 * DISKS_MAX + 2];
    char names[2 * DISKS_MAX][96];
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_AREA,
        .title = title,
        .x = "seconds",
        .y = "MB/s",
        .note = "When each run began is in "
                "the table of runs or passes."};

    for (size_t i = 0; i < count; i++)
        for (int w = 0; w < 2; w++) {
            const json_t *disk = json_array_get(disks, i);

            snprintf(names[n], sizeof(names[n]), "%s %s",
                     wr_get_text(disk, "name"), w ? "write" : "read");
            c[n] = (struct column){disk,
                                   w ? "write_bytes_per_s" : "read_bytes_per_s",
                                   names[n], MB};
            n++;
        }
    c[n++] = (struct column){machine, "device_read_bytes_per_s",
                             "this process, read", MB};
    c[n++] = (struct column){machine, "device_write_bytes_per_s",
                             "this process, write", MB};
    chart_of(d, s, &spec, c, n);
}

static void cpu_of_one(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_view_record *r, const char *title)
{
    const json_t *m = wr_get_object(r->json, "monitor.machine");
    const struct column c[] = {
        {m, "cpu_process_cores", "this process", 1},
        {m, "cpu_machine_cores", "whole machine", 1},
        {m, "cpu_iowait_cores", "waiting for storage", 1},
    };
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_LINES,
                                           .title = title,
                                           .x = "seconds",
                                           .y = "cores busy"};

    chart_of(d, s, &spec, c, WR_ARRAY_LEN(c));
}

static void memory_of_one(struct wr_doc *d, struct wr_doc_section *s,
                          const struct wr_view_record *r, const char *title)
{
    const json_t *m = wr_get_object(r->json, "monitor.machine");
    const struct column c[] = {
        {m, "rss_bytes", "this process", MB},
        {m, "page_cache_bytes", "page cache of the machine", MB},
        {m, "dirty_bytes", "of it not yet written", MB},
    };
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES, .title = title, .x = "seconds", .y = "MB"};

    chart_of(d, s, &spec, c, WR_ARRAY_LEN(c));
}

/* Charts of each record by itself. */
static void apart(struct wr_doc *d, struct wr_doc_section *s,
                  const struct wr_cases *rows)
{
    char title[WR_VIEW_NAME];

    for (size_t i = 0; i < rows->record_count; i++) {
        const struct wr_view_record *r = &rows->records[i];
        const char *of = rows->record_count > 1 ? ": " : "";
        const char *label = rows->record_count > 1 ? r->label : "";

        snprintf(title, sizeof(title), "I/O over time%s%s", of, label);
        io_of_one(d, s, r, title);
        snprintf(title, sizeof(title), "CPU over time%s%s", of, label);
        cpu_of_one(d, s, r, title);
        snprintf(title, sizeof(title), "Memory over time%s%s", of, label);
        memory_of_one(d, s, r, title);
    }
}

/* One line a record, of the column of the machine's table, a dozen a chart. */
static void together(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_cases *rows,
                     const struct wr_doc_chart_spec *spec,
                     const struct column *column)
{
    struct wr_doc_chart *chart = NULL;
    size_t limit = wr_view_share(rows->record_count), drawn = 0;

    for (size_t i = 0; i < rows->record_count; i++) {
        struct column c = *column;

        c.table = wr_get_object(rows->records[i].json, "monitor.machine");
        c.name = rows->records[i].label;
        if (!has_values(&c))
            continue;
        if (drawn++ % SERIES_MAX == 0)
            chart = wr_doc_chart(s, spec);
        draw(d, chart, &c, limit);
    }
}

static void all_together(struct wr_doc *d, struct wr_doc_section *s,
                         const struct wr_cases *rows)
{
    static const struct {
        const char *title, *y;
        struct column c;
    } charts[] = {
        {"Reads over time",
         "MB/s",
         {.key = "device_read_bytes_per_s", .unit = MB}},
        {"Writes over time",
         "MB/s",
         {.key = "device_write_bytes_per_s", .unit = MB}},
        {"CPU over time",
         "cores busy by this process",
         {.key = "cpu_process_cores", .unit = 1}},
        {"Memory over time",
         "MB of this process",
         {.key = "rss_bytes", .unit = MB}},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(charts); i++) {
        const struct wr_doc_chart_spec spec = {.kind = WR_DOC_LINES,
                                               .title = charts[i].title,
                                               .x = "seconds",
                                               .y = charts[i].y};

        together(d, s, rows, &spec, &charts[i].c);
    }
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

static double highest(const json_t *table, const char *key)
{
    const json_t *list = wr_get_list(table, key);
    double max = NAN;

    for (size_t i = 0; i < json_array_size(list); i++)
        max = fmax(max, wr_get_at(list, i));
    return max;
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

void wr_view_monitor(struct wr_doc *d, const char *title,
                     const struct wr_cases *rows)
{
    struct wr_doc_section *s;
    size_t watched = 0;

    for (size_t i = 0; i < rows->record_count; i++)
        watched += wr_get_object(rows->records[i].json, "monitor") != NULL;
    if (!watched)
        return;
    s = wr_view_section(d, title, rows->records, rows->record_count);
    if (watched < rows->record_count)
        wr_doc_note(s, false, "%zu of %zu records were watched.", watched,
                    rows->record_count);
    if (rows->record_count <= APART_MAX)
        apart(d, s, rows);
    else
        all_together(d, s, rows);
    disk_table(s, rows);
    machine_table(s, rows);
}
