/* probe_tables.c - tables of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/probe_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "result/stats.h"
#include "record/view_say.h"

#define MB         1e6
#define POINTS_MAX 256 /* saturation points of a record; no probe has more */

const struct wr_probe_percentile wr_probe_percentiles[WR_PROBE_PERCENTILES] = {
    {"latency_us.p50", "p50"},     {"latency_us.p95", "p95"},
    {"latency_us.p99", "p99"},     {"latency_us.p999", "p99.9"},
    {"latency_us.max", "longest"},
};

char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf)
{
    snprintf(buf, WR_VIEW_NAME, "%s%s%s",
             c->record_count > 1 ? c->records[c->v[k].record].label : "",
             c->record_count > 1 ? ": " : "",
             wr_get_text(c->v[k].json, "name"));
    return buf;
}

char *wr_probe_block(const json_t *test, char *buf, size_t cap)
{
    double block = wr_get_number(test, "block");

    if (block > 0)
        return wr_format_binary(buf, cap, block);
    snprintf(buf, cap, "mix of sizes");
    return buf;
}

/* --- tests --- */

enum wr_probe_kind wr_probe_kind_of(const json_t *test)
{
    const char *op = wr_get_text(test, "op");

    if (!strcmp(op, "files") || !strcmp(op, "create"))
        return WR_PROBE_KIND_FILES;
    if (!strcmp(op, "sync"))
        return WR_PROBE_KIND_SYNC;
    if (strcmp(wr_get_text(test, "pattern"), "random"))
        return WR_PROBE_KIND_SEQ;
    return wr_get_number(test, "block") > 0 ? WR_PROBE_KIND_RANDOM
                                            : WR_PROBE_KIND_MIX;
}

double wr_probe_result(const struct wr_case *row, const char *path)
{
    double v = wr_get_number(wr_get_object(row->json, "result"), path);

    return isnan(v) ? wr_case_median(row, path) : v;
}

/* What the tests of one kind may differ in. */
enum { OP, BLOCK, ACCESS, WORKERS, DEPTH, FIELDS };
static const char *const fields[FIELDS] = {"op", "block", "direct", "workers",
                                           "depth"};

/* The first bits are those of the fields. */
enum {
    RECORD = 1u << FIELDS,
    RANGES = RECORD << 1, /* rates in bytes, with requests in flight */
    FILE_TESTS = RECORD << 2,
    SYNCS = RECORD << 3,
};

const struct wr_column wr_probe_test_columns[] = {
    {.head = "record",
     .help = "of several records",
     .side = '<',
     .only = RECORD},
    {.head = "op", .help = "what is done", .side = '<', .only = 1u << OP},
    {.head = "size",
     .help = "bytes of one request",
     .side = '<',
     .only = 1u << BLOCK},
    {.head = "access",
     .help = "past the page cache (direct) or through it (buffered)",
     .side = '<',
     .only = 1u << ACCESS},
    {.head = "workers",
     .help = "threads (--threads)",
     .side = '>',
     .only = 1u << WORKERS},
    {.head = "depth",
     .help = "requests in flight; 4x8: 8 for each of 4 threads",
     .side = '>',
     .only = 1u << DEPTH},
    {.head = "files/s",
     .help = "files per second, median of the passes",
     .side = '>',
     .only = FILE_TESTS},
    {.head = "syncs/s",
     .help = "writes and syncs per second, median of the passes",
     .side = '>',
     .only = SYNCS},
    {.head = "MB/s",
     .help = "bytes per second, 10^6, median of the passes",
     .side = '>',
     .only = RANGES},
    {.head = "IOPS",
     .help = "requests per second, median of the passes",
     .side = '+',
     .only = RANGES},
    {.head = "+-",
     .help = "half of the passes are within this of the median",
     .side = '>'},
    {.head = "MB/s", .side = '>', .only = FILE_TESTS},
    {.head = "p50",
     .help = "latency: half of all requests (files) take no longer",
     .side = '>'},
    {.head = "p95", .help = "95 % take no longer", .side = '+'},
    {.head = "p99", .help = "99 % take no longer", .side = '>'},
    {.head = "p99.9", .help = "99.9 % take no longer", .side = '+'},
    {.head = "open",
     .help = "median time to open or create a file",
     .side = '>',
     .only = FILE_TESTS},
    {.head = "data",
     .help = "... to read or write its data",
     .side = '>',
     .only = FILE_TESTS},
    {.head = "close",
     .help = "... to close it",
     .side = '>',
     .only = FILE_TESTS},
    {.head = "CPU s/GB",
     .help = "CPU seconds per 10^9 bytes; on wide terminals",
     .side = '+'},
    {.head = NULL}};

/* Three digits and a unit: "4.21us", "118us", "12.3ms". */
static void time_cell(struct wr_doc_table *t, double us)
{
    static const struct {
        double us;
        const char *unit;
    } units[] = {{1e6, "s"}, {1e3, "ms"}, {1, "us"}, {1e-3, "ns"}};
    size_t k = 0;
    double v;

    while (k + 1 < WR_ARRAY_LEN(units) && us < 0.9995 * units[k].us)
        k++;
    v = us / units[k].us;
    if (isnan(us))
        wr_doc_number(t, NAN, 0);
    else
        wr_doc_shown(t, us, "%.*f%s",
                     v < 9.995   ? 2
                     : v < 99.95 ? 1
                                 : 0,
                     v, units[k].unit);
}

static void rate_cell(struct wr_doc_table *t, double mb)
{
    wr_doc_number(t, mb, mb < 9.95 ? 2 : mb < 99.5 ? 1 : 0);
}

/* Half of the passes are within so much of the median, in percent. */
static double spread_of(const struct wr_case *row)
{
    double v[WR_CASE_RUNS_MAX], off[WR_CASE_RUNS_MAX], median;
    size_t n = wr_case_values(row, "ops_per_s", v);

    median = wr_stats_median(v, n);
    for (size_t i = 0; i < n; i++)
        off[i] = fabs(v[i] - median);
    return n > 1 ? 100 * wr_stats_median(off, n) / median : NAN;
}

static char *field_text(const json_t *test, unsigned f, char *buf, size_t cap)
{
    double workers = wr_get_number(test, "workers");

    if (f == OP)
        snprintf(buf, cap, "%s",
                 strcmp(wr_get_text(test, "op"), "files")
                     ? wr_get_text(test, "op")
                     : "read");
    else if (f == BLOCK)
        wr_probe_block(test, buf, cap);
    else if (f == ACCESS)
        snprintf(buf, cap, "%s",
                 wr_get_true(test, "direct") ? "direct" : "buffered");
    else if (f == DEPTH && workers > 1) /* of so many workers each */
        snprintf(buf, cap, "%.0fx%.0f", workers, wr_get_number(test, "depth"));
    else
        wr_get_shown(json_object_get(test, fields[f]), buf, cap);
    return buf;
}

/* The tests of one kind that were run. */
struct kind_of_tests {
    const struct wr_cases *c;
    enum wr_probe_kind kind;
    size_t first, count;
    unsigned differ, shown; /* bits of fields; what does not is in the title */
};

static bool is_in(const struct kind_of_tests *g, size_t k)
{
    const json_t *test = g->c->v[k].json;

    return wr_probe_kind_of(test) == g->kind && wr_get_object(test, "result");
}

static void look_at(struct kind_of_tests *g)
{
    for (size_t k = 0; k < g->c->count; k++) {
        if (!is_in(g, k))
            continue;
        if (!g->count++)
            g->first = k;
        for (unsigned f = 0; f < FIELDS; f++) {
            const json_t *a = json_object_get(g->c->v[k].json, fields[f]);
            const json_t *b = json_object_get(g->c->v[g->first].json,
                                              fields[f]);

            g->differ |= a && b && json_equal(a, b) ? 0 : 1u << f;
        }
    }
    g->shown = g->differ | (g->kind <= WR_PROBE_KIND_MIX ? 1u << DEPTH : 0);
    /* Elsewhere the workers stand before the depth. */
    g->shown &= ~(1u << WORKERS);
    if (g->kind == WR_PROBE_KIND_FILES)
        g->shown |= 1u << WORKERS;
    if (g->c->record_count > 1)
        g->shown |= RECORD;
}

/* "Random reads: direct, 1 worker" - what all its tests have alike. */
static char *title_of(const struct kind_of_tests *g, char *buf, size_t cap)
{
    static const char *const titles[WR_PROBE_KINDS] = {
        [WR_PROBE_KIND_SEQ] = "Sequential",
        [WR_PROBE_KIND_RANDOM] = "Random reads",
        [WR_PROBE_KIND_MIX] = "Random reads of the sizes of samples",
        [WR_PROBE_KIND_FILES] = "Small files: open, read or write, close",
        [WR_PROBE_KIND_SYNC] = "A write of 4 KiB, then a sync",
    };
    const json_t *test = g->c->v[g->first].json;
    char text[64], alike[256] = "";

    for (unsigned f = BLOCK; f < FIELDS && g->kind <= WR_PROBE_KIND_MIX; f++) {
        bool one = wr_get_number(test, "workers") == 1;

        if ((g->differ | g->shown) >> f & 1 ||
            (f == BLOCK && g->kind == WR_PROBE_KIND_MIX))
            continue;
        wr_say(alike, sizeof(alike), "%s%s",
               field_text(test, f, text, sizeof(text)),
               f == BLOCK     ? " requests"
               : f != WORKERS ? ""
               : one          ? " worker"
                              : " workers");
    }
    snprintf(buf, cap, "%s%s%s", titles[g->kind], *alike ? ": " : "", alike);
    return buf;
}

static void add_test(struct wr_doc_table *t, const struct kind_of_tests *g,
                     const struct wr_case *row)
{
    static const char *const quantiles[] = {"latency_us.p50", "latency_us.p95",
                                            "latency_us.p99",
                                            "latency_us.p999"};
    static const char *const steps[] = {"open_us.p50", "transfer_us.p50",
                                        "close_us.p50"};
    double ops = wr_probe_result(row, "ops_per_s"), cpu;
    double mb = wr_probe_result(row, "bytes_per_s") / MB;
    char text[64];

    if (g->shown & RECORD)
        wr_doc_cell(t, "%s", g->c->records[row->record].label);
    for (unsigned f = 0; f < FIELDS; f++)
        if (g->shown >> f & 1)
            wr_doc_cell(t, "%s", field_text(row->json, f, text, sizeof(text)));
    if (g->kind <= WR_PROBE_KIND_MIX)
        rate_cell(t, mb);
    wr_doc_number(t, ops, ops < 99.5 ? 1 : 0);
    wr_doc_percent(t, spread_of(row), 0);
    if (g->kind == WR_PROBE_KIND_FILES)
        rate_cell(t, mb);
    for (size_t i = 0; i < WR_ARRAY_LEN(quantiles); i++)
        time_cell(t, wr_probe_result(row, quantiles[i]));
    for (size_t i = 0; i < 3 && g->kind == WR_PROBE_KIND_FILES; i++)
        time_cell(t, wr_probe_result(row, steps[i]));
    cpu = wr_get_number(row->json, "result.cpu_s_per_gb");
    wr_doc_number(t, cpu, cpu < 1 ? 3 : 2);
}

void wr_probe_test_tables(struct wr_doc_section *s, const struct wr_cases *c)
{
    char title[WR_VIEW_NAME];

    for (unsigned kind = 0; kind < WR_PROBE_KINDS; kind++) {
        struct kind_of_tests g = {.c = c, .kind = (enum wr_probe_kind)kind};
        struct wr_doc_table *t;

        look_at(&g);
        if (!g.count)
            continue;
        t = wr_doc_table_of(s, title_of(&g, title, sizeof(title)),
                            wr_probe_test_columns,
                            g.shown | (kind == WR_PROBE_KIND_FILES  ? FILE_TESTS
                                       : kind == WR_PROBE_KIND_SYNC ? SYNCS
                                                                    : RANGES));
        for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++)
            if (is_in(&g, k))
                add_test(t, &g, &c->v[k]);
    }
    wr_view_cut(s, "tests", c->count + c->left_out);
}

void wr_probe_skipped(struct wr_doc_section *s, const struct wr_cases *c)
{
    const char *last = "";

    for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++) {
        const char *why = wr_get_text(c->v[k].json, "skipped");
        char name[WR_VIEW_NAME], others[32] = "";
        size_t more = 0;

        if (!*why || !strcmp(why, last))
            continue;
        last = why;
        for (size_t i = k + 1; i < c->count; i++)
            more += !strcmp(wr_get_text(c->v[i].json, "skipped"), why);
        if (more)
            snprintf(others, sizeof(others), " and %zu more", more);
        wr_doc_note(s, true, "Not run: %s%s: %s%s", wr_probe_name(c, k, name),
                    others, why,
                    json_is_false(
                        wr_get(c->records[c->v[k].record].json, "cache.direct"))
                        ? " (--access buffered runs them)"
                        : "");
    }
}

const struct wr_column wr_probe_pass_columns[] = {
    {.head = "test",
     .help = "operation, block size, depth, with the page cache or without",
     .side = '<'},
    {.head = "pass", .help = "number of the pass", .side = '>'},
    {.head = "began s",
     .help = "when it began, on the time axis of the charts",
     .side = '>'},
    {.head = "seconds", .help = "how long it took", .side = '>'},
    {.head = "MB/s", .help = "bytes per second, 10^6", .side = '>'},
    {.head = "per second", .help = "requests, files or syncs", .side = '>'},
    {.head = "p50 us",
     .help = "time of a request in microseconds; p99: percentile",
     .side = '>'},
    {.head = "p99 us", .side = '>'},
    {.head = "in cache %",
     .help = "part of the data in the page cache before the pass",
     .side = '>'},
    {.head = NULL}};

void wr_probe_pass_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = wr_doc_table_of(s, "Passes", wr_probe_pass_columns,
                                             0);
    char name[WR_VIEW_NAME];
    size_t rows = 0;

    wr_doc_fold(t);
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < wr_case_runs(&c->v[k]); i++) {
            const json_t *run = wr_case_run(&c->v[k], i);
            double resident = wr_get_number(run, "resident");

            if (rows++ >= WR_VIEW_ROWS)
                continue;
            wr_doc_cell(t, "%s", wr_probe_name(c, k, name));
            wr_doc_number(t, (double)(i + 1), 0);
            wr_doc_number(t, wr_get_number(run, "start_s"), 1);
            wr_doc_number(t, wr_get_number(run, "seconds"), 3);
            wr_doc_number(t, wr_get_number(run, "bytes_per_s") / MB, 1);
            wr_doc_number(t, wr_get_number(run, "ops_per_s"), 1);
            wr_doc_number(t, wr_get_number(run, "latency_us.p50"), 1);
            wr_doc_number(t, wr_get_number(run, "latency_us.p99"), 1);
            wr_doc_number(t, resident >= 0 ? 100 * resident : NAN, 1);
        }
    wr_view_cut(s, "passes", rows);
}

const struct wr_column wr_probe_depth_columns[] = {
    {.head = "record",
     .help = "of several records",
     .side = '<',
     .only = RECORD},
    {.head = "what", .help = "pattern and operation", .side = '<'},
    {.head = "size", .help = "bytes of one request", .side = '<'},
    {.head = "access",
     .help = "past the page cache (direct) or through it (buffered)",
     .side = '<'},
    {.head = "workers", .help = "threads", .side = '>'},
    {.head = "depth",
     .help = "the depth that suffices; '>=': more was not tried",
     .side = '>'},
    {.head = "MB/s", .help = "bytes per second there, 10^6", .side = '>'},
    {.head = "IOPS", .help = "requests per second there", .side = '>'},
    {.head = NULL}};

void wr_probe_depth_table(struct wr_doc_section *s, const struct wr_cases *c)
{
    struct wr_doc_table *t = NULL;
    unsigned which = c->record_count > 1 ? RECORD : 0;
    size_t rows = 0;
    char text[64];

    for (size_t r = 0; r < c->record_count; r++) {
        const json_t *list = wr_get_list(c->records[r].json, "saturation");

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *o = json_array_get(list, i);
            double depth = wr_get_number(o, "depth");
            double ops = wr_get_number(o, "ops_per_s");

            if (rows++ >= POINTS_MAX)
                return;
            if (!t)
                t = wr_doc_table_of(s,
                                    "Saturation: depth beyond which nothing is "
                                    "gained (>=: not reached)",
                                    wr_probe_depth_columns, which);
            if (which)
                wr_doc_cell(t, "%s", c->records[r].label);
            wr_doc_cell(t, "%s %s", wr_get_text(o, "pattern"),
                        wr_get_text(o, "op"));
            wr_doc_cell(t, "%s", wr_probe_block(o, text, sizeof(text)));
            wr_doc_cell(t, "%s", field_text(o, ACCESS, text, sizeof(text)));
            wr_doc_number(t, wr_get_number(o, "workers"), 0);
            wr_doc_shown(t, depth, "%s%.0f",
                         wr_get_true(o, "reached") ? "" : ">= ", depth);
            rate_cell(t, wr_get_number(o, "bytes_per_s") / MB);
            wr_doc_number(t, ops, ops < 99.5 ? 1 : 0);
        }
    }
}
