/* probe_tables.c - tables and charts of a probe, and names of its tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/probe_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/pivot.h"
#include "report/say.h"
#include "result/get.h"
#include "result/stats.h"

#define MB         1e6
#define KINDS_MAX  8   /* of random reads that have a chart */
#define APART_MAX  4   /* so many records have charts of their own */
#define POINTS_MAX 256 /* saturation points of a record; no probe has more */

char *wr_probe_name(const struct wr_cases *c, size_t k, char *buf)
{
    snprintf(buf, WR_VIEW_NAME, "%s%s%s",
             c->record_count > 1 ? c->records[c->v[k].record].label : "",
             c->record_count > 1 ? ": " : "", wr_probe_test_of(&c->v[k])->name);
    return buf;
}

static char *block_text(double bytes, char *buf, size_t cap)
{
    if (bytes > 0)
        return wr_format_binary(buf, cap, bytes);
    snprintf(buf, cap, "mix of sizes");
    return buf;
}

/* --- tests --- */

enum wr_probe_kind wr_probe_kind_of(const struct wr_case *row)
{
    const struct wr_probe_test_values *v = wr_probe_test_of(row);

    if (!strcmp(v->op, "files") || !strcmp(v->op, "create"))
        return WR_PROBE_KIND_FILES;
    if (!strcmp(v->op, "sync"))
        return WR_PROBE_KIND_SYNC;
    if (strcmp(v->pattern, "random"))
        return WR_PROBE_KIND_SEQ;
    return v->block > 0 ? WR_PROBE_KIND_RANDOM : WR_PROBE_KIND_MIX;
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
static double spread_of(const struct wr_row *r)
{
    double v[WR_CASE_RUNS_MAX], median = wr_probe_median(r->row)->ops_per_s;
    size_t n = wr_case_numbers(
        r->row, offsetof(struct wr_probe_run_values, ops_per_s), v);

    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - median);
    return n > 1 ? 100 * wr_stats_median(v, n) / median : NAN;
}

static const char *access_of(bool direct)
{
    return direct ? "direct" : "buffered";
}

static char *field_text(const struct wr_case *row, unsigned f, char *buf,
                        size_t cap)
{
    const struct wr_probe_test_values *v = wr_probe_test_of(row);

    if (f == OP)
        snprintf(buf, cap, "%s", strcmp(v->op, "files") ? v->op : "read");
    else if (f == BLOCK)
        block_text(v->block, buf, cap);
    else if (f == ACCESS)
        snprintf(buf, cap, "%s", access_of(v->direct));
    else if (f == DEPTH && v->workers > 1) /* of so many workers each */
        snprintf(buf, cap, "%.0fx%.0f", v->workers, v->depth);
    else
        wr_get_shown(json_object_get(row->json, fields[f]), buf, cap);
    return buf;
}

static const char *field_cell(const struct wr_column *c, const struct wr_row *r,
                              char *buf, size_t cap)
{
    unsigned f = 0;

    while (c->only != 1u << f)
        f++;
    return field_text(r->row, f, buf, cap);
}

static void mb_cell(struct wr_doc_table *t, const struct wr_column *c,
                    const struct wr_row *r)
{
    rate_cell(t, WR_PROBE_RESULT(r->row, bytes_per_s) / MB);
}

static void ops_cell(struct wr_doc_table *t, const struct wr_column *c,
                     const struct wr_row *r)
{
    double ops = WR_PROBE_RESULT(r->row, ops_per_s);

    wr_doc_number(t, ops, ops < 99.5 ? 1 : 0);
}

/* A time of WR_PROBE_STEPS, which lie alike in results and in runs. */
static void step_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    size_t in_run = c->at -
                    offsetof(struct wr_probe_test_values, result.latency_us) +
                    offsetof(struct wr_probe_run_values, latency_us);

    time_cell(t, wr_known_or(wr_number_at(r->row->values, c->at),
                             wr_number_at(r->row->median, in_run)));
}

static void cpu_cell(struct wr_doc_table *t, const struct wr_column *c,
                     const struct wr_row *r)
{
    double cpu = wr_probe_test_of(r->row)->result.cpu_s_per_gb;

    wr_doc_number(t, cpu, cpu < 1 ? 3 : 2);
}

static const char *name_cell(const struct wr_column *c, const struct wr_row *r,
                             char *buf, size_t cap)
{
    return wr_probe_name(r->c, r->k, buf);
}

#define STEP(member)                                                           \
    WR_COLUMN(CASE, wr_probe_test_vals, struct wr_probe_test_values,           \
              result.member),                                                  \
        .cell = step_cell
#define RUN(member)                                                            \
    WR_COLUMN(RUN, wr_probe_run_vals, struct wr_probe_run_values, member)

const struct wr_column wr_probe_test_columns[] = {
    {"record", "of several records", '<', RECORD, .text = wr_cell_record},
    {"op", "what is done", '<', 1u << OP, .text = field_cell},
    {"size", "bytes of one request", '<', 1u << BLOCK, .text = field_cell},
    {"access", "past the page cache (direct) or through it (buffered)", '<',
     1u << ACCESS, .text = field_cell},
    {"workers", "threads (--threads)", '>', 1u << WORKERS, .text = field_cell},
    {"depth", "requests in flight; 4x8: 8 for each of 4 threads", '>',
     1u << DEPTH, .text = field_cell},
    {"files/s", "files per second, median of the passes", '>', FILE_TESTS,
     .cell = ops_cell},
    {"syncs/s", "writes and syncs per second, median of the passes", '>', SYNCS,
     .cell = ops_cell},
    {"MB/s", "bytes per second, 10^6, median of the passes", '>', RANGES,
     .cell = mb_cell},
    {"IOPS", "requests per second, median of the passes", '+', RANGES,
     .cell = ops_cell},
    {"+-", "half of the passes are within this of the median", '>',
     .number = spread_of, .show = WR_SHOW_PERCENT},
    {.head = "MB/s", .side = '>', .only = FILE_TESTS, .cell = mb_cell},
    {.side = '>', STEP(latency_us.p50)},
    {.side = '+', STEP(latency_us.p95)},
    {.side = '>', STEP(latency_us.p99)},
    {.side = '+', STEP(latency_us.p999)},
    {"open", "median time to open or create a file", '>', FILE_TESTS,
     STEP(open_us.p50)},
    {"data", "... to read or write its data", '>', FILE_TESTS,
     STEP(transfer_us.p50)},
    {"close", "... to close it", '>', FILE_TESTS, STEP(close_us.p50)},
    {"CPU s/GB", "CPU seconds per 10^9 bytes; on wide terminals", '+',
     .cell = cpu_cell},
    {.head = NULL}};

/* The tests of one kind that were run. */
struct kind_of_tests {
    const struct wr_cases *c;
    enum wr_probe_kind kind;
    size_t first, count;
    unsigned differ, shown; /* bits of fields; what does not is in the title */
};

static bool is_in(const struct kind_of_tests *g, size_t k)
{
    const struct wr_case *row = &g->c->v[k];

    return wr_probe_kind_of(row) == g->kind &&
           wr_get_object(row->json, "result");
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
    const struct wr_case *test = &g->c->v[g->first];
    char text[64], alike[256] = "";

    for (unsigned f = BLOCK; f < FIELDS && g->kind <= WR_PROBE_KIND_MIX; f++) {
        bool one = wr_probe_test_of(test)->workers == 1;

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

void wr_probe_test_tables(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    char title[WR_VIEW_NAME];

    for (unsigned kind = 0; kind < WR_PROBE_KINDS; kind++) {
        struct kind_of_tests g = {.c = c, .kind = (enum wr_probe_kind)kind};
        struct wr_doc_table *t;
        unsigned shown;

        look_at(&g);
        if (!g.count)
            continue;
        shown = g.shown | (kind == WR_PROBE_KIND_FILES  ? FILE_TESTS
                           : kind == WR_PROBE_KIND_SYNC ? SYNCS
                                                        : RANGES);
        t = wr_doc_table_of(v->s, title_of(&g, title, sizeof(title)),
                            wr_probe_test_columns, shown);
        for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++)
            if (is_in(&g, k))
                wr_cells(t, wr_probe_test_columns, shown,
                         &(struct wr_row){c, k, 0, &c->v[k], NULL});
    }
    wr_view_cut(v->s, "tests", c->count + c->left_out);
}

const struct wr_column wr_probe_pass_columns[] = {
    {"test", "operation, block size, depth, with the page cache or without",
     '<', .text = name_cell},
    {"pass", "number of the pass", '>', .number = wr_cell_place},
    {.side = '>', RUN(start_s)},
    {.side = '>', RUN(seconds)},
    {.side = '>', RUN(bytes_per_s)},
    {.side = '>', RUN(ops_per_s)},
    {"p50 us", "time of a request in microseconds; p99: percentile", '>',
     RUN(latency_us.p50)},
    {"p99 us", "", '>', RUN(latency_us.p99)},
    {.side = '>', RUN(resident)},
    {.head = NULL}};

const struct wr_table_rule wr_probe_pass_table = {
    "Passes", "passes", wr_probe_pass_columns,
    offsetof(struct wr_probe_test_values, runs), .fold = true};

const struct wr_column wr_probe_depth_columns[] = {
    {"record", "of several records", '<', .only = RECORD},
    {"what", "pattern and operation", '<', .only = 0},
    {"size", "bytes of one request", '<', .only = 0},
    {"access", "past the page cache (direct) or through it (buffered)", '<',
     .only = 0},
    {"workers", "threads", '>', .only = 0},
    {"depth", "the depth that suffices; '>=': more was not tried", '>',
     .only = 0},
    {"MB/s", "bytes per second there, 10^6", '>', .only = 0},
    {"IOPS", "requests per second there", '>', .only = 0},
    {.head = NULL}};

void wr_probe_depth_table(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
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
                t = wr_doc_table_of(v->s,
                                    "Saturation: depth beyond which nothing is "
                                    "gained (>=: not reached)",
                                    wr_probe_depth_columns, which);
            if (which)
                wr_doc_cell(t, "%s", c->records[r].label);
            wr_doc_cell(t, "%s %s", wr_get_text(o, "pattern"),
                        wr_get_text(o, "op"));
            wr_doc_cell(
                t, "%s",
                block_text(wr_get_number(o, "block"), text, sizeof(text)));
            wr_doc_cell(t, "%s", access_of(wr_get_true(o, "direct")));
            wr_doc_number(t, wr_get_number(o, "workers"), 0);
            wr_doc_shown(t, depth, "%s%.0f",
                         wr_get_true(o, "reached") ? "" : ">= ", depth);
            rate_cell(t, wr_get_number(o, "bytes_per_s") / MB);
            wr_doc_number(t, ops, ops < 99.5 ? 1 : 0);
        }
    }
}

/* --- charts --- */

static bool is_op(const struct wr_case *row, const char *op)
{
    return !strcmp(wr_probe_test_of(row)->op, op);
}

static bool is_sequential(const struct wr_case *row)
{
    return !strcmp(wr_probe_test_of(row)->pattern, "sequential") &&
           (is_op(row, "read") || is_op(row, "write"));
}

static bool is_of_files(const struct wr_case *row)
{
    return is_op(row, "files") || is_op(row, "create");
}

static bool is_small(const struct wr_case *row)
{
    return is_of_files(row) || is_op(row, "sync");
}

static bool has_passes(const struct wr_case *row)
{
    return row->list.count > 1;
}

static const char *test_label(const struct wr_row *r, char *buf, size_t cap)
{
    return wr_probe_test_of(r->row)->name;
}

static const char *record_test_label(const struct wr_row *r, char *buf,
                                     size_t cap)
{
    return wr_probe_name(r->c, r->k, buf);
}

const struct wr_chart_rule wr_probe_sequential_chart = {
    .is = {WR_DOC_BARS, "Sequential reads and writes", "", "MB/s",
           "Medians of the passes."},
    .from = WR_FROM_MEDIAN,
    .of = &wr_probe_run_vals,
    .series = WR_SERIES({"bytes_per_s", "MB/s", MB}),
    .wanted = is_sequential,
    .label = test_label,
    .by = wr_chart_record};

const struct wr_chart_rule wr_probe_small_chart = {
    .is = {WR_DOC_BARS, "Small files and syncs", "", "per second",
           "Medians of the passes."},
    .from = WR_FROM_MEDIAN,
    .of = &wr_probe_run_vals,
    .series = WR_SERIES({"ops_per_s", "per second", 1}),
    .wanted = is_small,
    .label = test_label,
    .by = wr_chart_record};

/* Where the time of a small file goes. */
const struct wr_chart_rule wr_probe_parts_chart = {
    .is = {WR_DOC_STACKED, "Where the time of a small file goes", "",
           "microseconds (p50)"},
    .from = WR_FROM_MEDIAN,
    .of = &wr_probe_run_vals,
    .series = WR_SERIES({"open_us.p50", "open", 1},
                        {"transfer_us.p50", "read or write", 1},
                        {"close_us.p50", "close", 1}),
    .wanted = is_of_files,
    .label = record_test_label};

/* Percentiles of each test: a chart a record, or the p99 of all records. */
const struct wr_chart_rule wr_probe_latency_chart = {
    .is = {WR_DOC_BARS, "Latency", "", "microseconds", "Medians of the passes.",
           .log_y = true},
    .from = WR_FROM_MEDIAN,
    .of = &wr_probe_run_vals,
    .series = WR_SERIES(
        {"latency_us.p50", "p50", 1}, {"latency_us.p95", "p95", 1},
        {"latency_us.p99", "p99", 1}, {"latency_us.p999", "p99.9", 1},
        {"latency_us.max", "longest", 1}),
    .label = test_label,
    .apart = true};

const struct wr_chart_rule wr_probe_p99_chart = {
    .is = {WR_DOC_BARS, "Latency, 99th percentile", "", "microseconds",
           "Medians of the passes.", .log_y = true},
    .from = WR_FROM_MEDIAN,
    .of = &wr_probe_run_vals,
    .series = WR_SERIES({"latency_us.p99", "p99", 1}),
    .label = test_label,
    .by = wr_chart_record};

bool wr_probe_is_few(const struct wr_scope *v)
{
    return v->n <= APART_MAX;
}

bool wr_probe_is_many(const struct wr_scope *v)
{
    return v->n > APART_MAX;
}

/* Each pass as a part of the median: a cache below the kernel shows here. */
static double percent_of_median(const struct wr_row *r)
{
    const struct wr_probe_run_values *pass = r->run;

    return r->row->record < APART_MAX
               ? 100 * pass->ops_per_s / wr_probe_median(r->row)->ops_per_s
               : NAN;
}

static const char *pass_name(const struct wr_row *r, char *buf, size_t cap)
{
    snprintf(buf, cap, "pass %zu", r->i + 1);
    return buf;
}

const struct wr_chart_rule wr_probe_pass_chart = {
    .is = {WR_DOC_BARS, "Passes side by side", "", "% of the median pass",
           "A first pass that is slower than the others tells of a "
           "cache below the kernel."},
    .from = WR_FROM_RUN,
    .number = percent_of_median,
    .series = WR_SERIES({"", "", 1}),
    .wanted = has_passes,
    .label = test_label,
    .by = pass_name,
    .apart = true};

/* Whether the record names this test as the one where more depth gained
 * nothing: not where no more was tried. */
static bool is_saturation(const struct wr_cases *c, const struct wr_case *row)
{
    const json_t *list = wr_get_list(c->records[row->record].json,
                                     "saturation");

    for (size_t i = 0; i < json_array_size(list) && i < POINTS_MAX; i++) {
        const json_t *o = json_array_get(list, i);
        bool same = wr_get_true(o, "reached");

        for (const char *const *k = wr_probe_spec.keys; *k; k++) {
            const json_t *a = wr_get(o, *k), *b = wr_get(row->json, *k);

            same &= a && b && json_equal(a, b);
        }
        if (same)
            return true;
    }
    return false;
}

/* "4 KiB, direct, 8 workers" of a random read by depth; "" of other tests. */
static char *depth_kind(const struct wr_case *row, char *buf, size_t cap)
{
    double workers = wr_probe_test_of(row)->workers;
    char block[32], many[32] = "";

    *buf = '\0';
    if (!is_op(row, "read") ||
        strcmp(wr_probe_test_of(row)->pattern, "random") ||
        !(wr_probe_test_of(row)->depth > 0))
        return buf;
    if (workers > 1)
        snprintf(many, sizeof(many), ", %.0f workers", fmin(workers, 1e9));
    snprintf(buf, cap, "%s%s%s",
             block_text(wr_probe_test_of(row)->block, block, sizeof(block)),
             wr_probe_test_of(row)->direct ? ", direct" : "", many);
    return buf;
}

/* Random reads of all kinds of one record, or of one kind of all records. */
static void depth_chart(struct wr_doc *d, struct wr_doc_section *s,
                        const struct wr_cases *c, bool bytes, const char *only)
{
    char title[WR_VIEW_NAME], kind[WR_VIEW_NAME], at[32];
    struct wr_doc_chart_spec spec = {WR_DOC_LINES,
                                     title,
                                     "requests in flight of each worker",
                                     bytes ? "MB/s" : "reads per second",
                                     "Medians of the passes.",
                                     .log_x = true,
                                     .log_y = true};
    struct wr_pivot p = {0};

    snprintf(title, sizeof(title), "Random reads by depth: %s",
             only    ? only
             : bytes ? "bandwidth"
                     : "requests");
    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];
        double depth = wr_probe_test_of(row)->depth;

        if (!*depth_kind(row, kind, sizeof(kind)) ||
            (only && strcmp(only, kind)))
            continue;
        snprintf(at, sizeof(at), "%.0f", depth);
        wr_pivot_add(&p, only ? c->records[row->record].label : kind, at, depth,
                     bytes ? wr_probe_median(row)->bytes_per_s / MB
                           : wr_probe_median(row)->ops_per_s);
        if (!is_saturation(c, row))
            continue;
        wr_pivot_mark(&p);
        spec.note = "Medians of the passes. Marked: beyond this depth nothing "
                    "is gained.";
    }
    wr_pivot_draw(&p, d, s, &spec);
}

/* Of one record requests and bandwidth; of several a chart for each kind, in
 * which only records differ. */
void wr_probe_depth_charts(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    char kinds[KINDS_MAX][WR_VIEW_NAME], kind[WR_VIEW_NAME];
    size_t n = 0;

    if (c->record_count == 1) {
        depth_chart(v->d, v->s, c, /* bytes= */ false, NULL);
        depth_chart(v->d, v->s, c, /* bytes= */ true, NULL);
        return;
    }
    for (size_t k = 0; k < c->count && n < KINDS_MAX; k++) {
        size_t i = 0;

        depth_kind(&c->v[k], kind, sizeof(kind));
        while (i < n && strcmp(kinds[i], kind))
            i++;
        if (i < n || !*kind)
            continue;
        snprintf(kinds[n++], sizeof(kinds[0]), "%s", kind);
        depth_chart(v->d, v->s, c, /* bytes= */ false, kind);
    }
}
