/* view_monitor.c - what the machine did meanwhile: charts, tables, a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/view_monitor.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/chart.h"
#include "result/get.h"
#include "report/points.h"
#include "result/stats.h"

#define MB         1e6
#define APART_MAX  8 /* so many records have charts of their own */
#define DISKS_MAX  8
#define BANDS_MAX  60   /* runs that are bands; of more, cases are */
#define ROWS_MIN   5    /* of a sentence; fewer tell nothing */
#define TOLD_BYTES 1e6  /* a second; less is not worth a word */
#define LEAST_PART 0.01 /* of the highest that a line must reach to be drawn */

/* One line of a chart: a column of a table of the record. */
struct column {
    const json_t *table;
    struct wr_chart_series is;
};

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

static double column_most(const struct column *c)
{
    return highest(c->table, c->is.key) / c->is.unit;
}

/* The columns of I/O: of the disks, or of this process where no disk was
 * watched. Returns how many. */
static size_t io_columns(const json_t *record, struct column *c,
                         char (*names)[96])
{
    static const struct wr_chart_series of_disk[] = {
        {"read_bytes_per_s", "read", MB}, {"write_bytes_per_s", "write", MB}};
    const json_t *disks = wr_get_list(record, "monitor.disks");
    const json_t *machine = wr_get_object(record, "monitor.machine");
    size_t count = WR_MIN(json_array_size(disks), (size_t)DISKS_MAX), n = 0;
    bool any = false;

    for (size_t i = 0; i < 2 * count; i++) {
        const json_t *disk = json_array_get(disks, i / 2);

        snprintf(names[n], sizeof(names[n]), "%s %s", wr_get_text(disk, "name"),
                 of_disk[i % 2].name);
        c[n] = (struct column){disk, of_disk[i % 2]};
        c[n].is.name = names[n];
        any |= column_most(&c[n++]) > 0;
    }
    if (any)
        return n;
    c[0] = (struct column){
        machine, {"device_read_bytes_per_s", "this process, read", MB}};
    c[1] = (struct column){
        machine, {"device_write_bytes_per_s", "this process, write", MB}};
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
        most = fmax(most, column_most(&c[i]));
    return most;
}

static void io_of_one(struct wr_scope *v, size_t record, double most)
{
    const struct wr_view_record *r = &v->r[record];
    struct column c[2 * DISKS_MAX + 2];
    char names[2 * DISKS_MAX][96], title[WR_VIEW_NAME];
    size_t n = io_columns(r->json, c, names), kept = 0;
    double own = io_most(r->json);
    struct wr_doc_chart *chart = NULL;
    const struct wr_chart_rule rule = {
        .is = {.kind = WR_DOC_AREA,
               .title = title,
               .x = "seconds",
               .y = "MB/s",
               .note = "Bands are runs. The table of runs or passes says when "
                       "each began.",
               .most = most},
        .x = "t_s",
        .gaps = true,
        .if_any = true};

    /* The disk below an emulated device tells nothing of it. */
    if (wr_view_is_emulated(r->json))
        return;
    snprintf(title, sizeof(title), "I/O over time%s%s", v->n > 1 ? ": " : "",
             v->n > 1 ? r->label : "");
    /* What hardly lifts a line from the axis is left to the table. */
    for (size_t i = 0; i < n; i++)
        if (column_most(&c[i]) > LEAST_PART * own)
            c[kept++] = c[i];
    for (size_t i = 0; i < kept; i++)
        wr_chart_column(v, &rule, c[i].table, &c[i].is,
                        wr_view_share(kept * APART_MAX), &chart);
    add_bands(chart, &v->c, record);
}

static const struct wr_chart_rule cpu_chart = {
    .is = {WR_DOC_LINES, "CPU over time", "seconds", "cores busy"},
    .columns = "monitor.machine",
    .x = "t_s",
    .gaps = true,
    .if_any = true,
    .series = WR_SERIES({"cpu_process_cores", "this process", 1},
                        {"cpu_machine_cores", "whole machine", 1},
                        {"cpu_iowait_cores", "waiting for storage", 1})};

static const struct wr_chart_rule memory_chart = {
    .is = {WR_DOC_LINES, "Memory over time", "seconds", "MB"},
    .columns = "monitor.machine",
    .x = "t_s",
    .gaps = true,
    .if_any = true,
    .series = WR_SERIES({"rss_bytes", "this process", MB},
                        {"page_cache_bytes", "page cache of the machine", MB},
                        {"dirty_bytes", "of it not yet written", MB})};

/* Beside other records I/O is enough. */
static void of_one(struct wr_scope *v)
{
    io_of_one(v, 0, 0);
    if (!v->r->alone)
        return;
    add_bands(wr_chart_draw(v, &cpu_chart), &v->c, 0);
    wr_chart_draw(v, &memory_chart);
}

/* Small charts with the same axis, one a record. */
static void of_several(struct wr_scope *v)
{
    double most = 0;

    for (size_t i = 0; i < v->n && i < APART_MAX; i++)
        most = fmax(most, io_most(v->r[i].json));
    for (size_t i = 0; i < v->n && i < APART_MAX; i++)
        io_of_one(v, i, most);
    if (v->n > APART_MAX)
        wr_doc_note(v->s, false,
                    "I/O over time is drawn of the first %d records only.",
                    APART_MAX);
}

/* --- tables --- */

/* Rows first <= i < end of a span of time. */
struct row_span {
    size_t first, end;
};

static struct row_span span_of(const json_t *table, double from_s, double to_s)
{
    const json_t *t = wr_get_list(table, "t_s");
    struct row_span span = {0, json_array_size(t)};

    while (span.first < span.end && !(wr_get_at(t, span.first) > from_s))
        span.first++;
    while (span.end > span.first && !(wr_get_at(t, span.end - 1) <= to_s))
        span.end--;
    return span;
}

/* Mean of a column; the rows stand for equal times. */
static double mean_of(const json_t *table, const char *key,
                      struct row_span span)
{
    const json_t *list = wr_get_list(table, key);
    double sum = 0;
    size_t n = 0;

    span.end = WR_MIN(span.end, json_array_size(list));
    for (size_t i = span.first; i < span.end; i++) {
        double x = wr_get_at(list, i);

        if (!isnan(x)) {
            sum += x;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

static double mean(const struct wr_column *c, const struct wr_row *r)
{
    return mean_of(r->run, c->key, (struct row_span){0, SIZE_MAX});
}

static void mean_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    wr_doc_number(t, mean(c, r), c->digits);
}

static void mean_mb_cell(struct wr_doc_table *t, const struct wr_column *c,
                         const struct wr_row *r)
{
    wr_doc_number(t, mean(c, r) / MB, c->digits);
}

static void mean_percent_cell(struct wr_doc_table *t, const struct wr_column *c,
                              const struct wr_row *r)
{
    wr_doc_number(t, 100 * mean(c, r), c->digits);
}

static const char *record_cell(const struct wr_column *c,
                               const struct wr_row *r, char *buf, size_t cap)
{
    return r->c->records[r->k].label;
}

static const char *disk_cell(const struct wr_column *c, const struct wr_row *r,
                             char *buf, size_t cap)
{
    return wr_get_text(r->run, "name");
}

static double peak_mb(const struct wr_row *r)
{
    return highest(r->run, "rss_bytes") / MB;
}

static double watching_s(const struct wr_row *r)
{
    return wr_get_number(r->c->records[r->k].json, "monitor.cpu_s");
}

enum { DISKS = 1, MACHINE = 2 };
#define MEAN(key_, digits_)                                                    \
    .key = (key_), .cell = mean_cell, .digits = (digits_)

const struct wr_column wr_monitor_columns[] = {
    {.head = "record", .side = '<', .text = record_cell},
    {.head = "disk", .side = '<', .only = DISKS, .text = disk_cell},
    {"reads/s", "and writes/s: requests that the disk completed", '>', DISKS,
     MEAN("reads_per_s", 1)},
    {.head = "read MB/s",
     .side = '>',
     .only = DISKS,
     .key = "read_bytes_per_s",
     .cell = mean_mb_cell,
     .digits = 1},
    {.head = "writes/s", .side = '>', .only = DISKS, MEAN("writes_per_s", 1)},
    {.head = "write MB/s",
     .side = '>',
     .only = DISKS,
     .key = "write_bytes_per_s",
     .cell = mean_mb_cell,
     .digits = 1},
    {"queue", "requests in flight at the disk, mean", '>', DISKS,
     MEAN("queue", 2)},
    {"busy %", "part of the time with a request in flight", '>', DISKS,
     .key = "busy", .cell = mean_percent_cell, .digits = 1},
    {"process cores", "cores that this process used, mean", '>', MACHINE,
     MEAN("cpu_process_cores", 2)},
    {"machine cores", "cores that all processes used", '>', MACHINE,
     MEAN("cpu_machine_cores", 2)},
    {"waiting cores", "cores idle while a request was in flight", '>', MACHINE,
     MEAN("cpu_iowait_cores", 2)},
    {.head = "peak MB", .side = '>', .only = MACHINE, .number = peak_mb},
    {"faults/s", "page faults that read from storage", '>', MACHINE,
     MEAN("major_faults_per_s", 1)},
    {"watching CPU s", "CPU time that the watching itself took", '>', MACHINE,
     .number = watching_s, .digits = 3},
    {.head = NULL}};

static void add_row(struct wr_doc_table *t, unsigned which,
                    const struct wr_cases *rows, size_t record,
                    const json_t *of)
{
    wr_cells(t, wr_monitor_columns, which,
             &(struct wr_row){.c = rows, .k = record, .run = of});
}

static void disk_table(struct wr_doc_section *s, const struct wr_cases *rows)
{
    struct wr_doc_table *t = NULL;
    size_t lines = 0;

    for (size_t i = 0; i < rows->record_count; i++) {
        const json_t *disks = wr_get_list(rows->records[i].json,
                                          "monitor.disks");

        for (size_t k = 0; k < json_array_size(disks); k++) {
            if (lines++ >= WR_VIEW_ROWS)
                return;
            if (!t)
                t = wr_doc_table_of(s, "Disks, mean over the whole time",
                                    wr_monitor_columns, DISKS);
            wr_doc_fold(t);
            add_row(t, DISKS, rows, i, json_array_get(disks, k));
        }
    }
}

static void machine_table(struct wr_doc_section *s, const struct wr_cases *rows)
{
    struct wr_doc_table *t = wr_doc_table_of(s, "The machine",
                                             wr_monitor_columns, MACHINE);

    wr_doc_fold(t);
    for (size_t i = 0; i < rows->record_count && i < WR_VIEW_ROWS; i++)
        add_row(t, MACHINE, rows, i,
                wr_get_object(rows->records[i].json, "monitor.machine"));
}

static size_t count_watched(const struct wr_cases *rows)
{
    size_t watched = 0;

    for (size_t i = 0; i < rows->record_count; i++)
        watched += wr_get_object(rows->records[i].json, "monitor") != NULL;
    return watched;
}

void wr_show_monitor(struct wr_scope *v)
{
    size_t watched = count_watched(&v->c);

    if (!watched)
        return;
    if (watched < v->n)
        wr_doc_note(v->s, false, "%zu of %zu records were watched.", watched,
                    v->n);
    if (v->n == 1)
        of_one(v);
    else
        of_several(v);
}

void wr_show_monitor_tables(struct wr_scope *v)
{
    if (!count_watched(&v->c))
        return;
    disk_table(v->s, &v->c);
    machine_table(v->s, &v->c);
}

/* --- a sentence --- */

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t cap,
                                                         const char *fmt, ...)
{
    size_t used = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + used, cap - used, fmt, ap);
    va_end(ap);
}

static void say_disk(const json_t *disk, struct row_span span, char *buf,
                     size_t cap)
{
    double read = mean_of(disk, "read_bytes_per_s", span);
    double write = mean_of(disk, "write_bytes_per_s", span);

    if (!(read >= TOLD_BYTES || write >= TOLD_BYTES))
        return;
    append(buf, cap, "disk %s", wr_get_text(disk, "name"));
    if (read >= TOLD_BYTES)
        append(buf, cap, " read %.*f MB/s,", read < 1e7, read / 1e6);
    if (write >= TOLD_BYTES)
        append(buf, cap, " wrote %.*f MB/s,", write < 1e7, write / 1e6);
    append(buf, cap, " %.0f %% busy; ", 100 * mean_of(disk, "busy", span));
}

bool wr_meanwhile(const json_t *record, double from_s, double to_s, char *buf,
                  size_t cap)
{
    const json_t *m = wr_get_object(record, "monitor.machine");
    const json_t *disks = wr_get_list(record, "monitor.disks");
    const json_t *pages = wr_get_list(m, "page_cache_bytes");
    struct row_span span = span_of(m, from_s, to_s);
    double busy = mean_of(m, "cpu_machine_cores", span), grown;
    char bytes[32];

    *buf = '\0';
    if (span.end - span.first < ROWS_MIN || isnan(busy))
        return false;
    append(buf, cap, "Meanwhile: ");
    for (size_t k = 0; k < json_array_size(disks); k++)
        say_disk(json_array_get(disks, k), span, buf, cap);
    append(buf, cap, "%.1f of %.0f cores busy, %.1f of them by this program",
           busy, fmax(0, wr_get_number(record, "host.cores")),
           mean_of(m, "cpu_process_cores", span));
    grown = wr_get_at(pages, span.end - 1) - wr_get_at(pages, span.first);
    if (fabs(grown) >= 1e7)
        append(buf, cap, "; page cache %c%s", grown < 0 ? '-' : '+',
               wr_format_bytes(bytes, sizeof(bytes), fabs(grown)));
    append(buf, cap, ".");
    return true;
}
