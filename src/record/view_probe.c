/* view_probe.c - records of weir probe as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/pivot.h"
#include "record/probe_say.h"
#include "record/probe_tables.h"
#include "record/sizes.h"
#include "record/view_monitor.h"

#define MB         1e6
#define KINDS_MAX  8    /* of random reads that have a chart */
#define APART_MAX  4    /* so many records have charts of their own */
#define NOT_COLD   0.01 /* more in the page cache is not cold */
#define POINTS_MAX 256  /* saturation points of a record; no probe has more */

static bool is_op(const struct wr_case *row, const char *op)
{
    return !strcmp(wr_probe_test_of(row)->op, op);
}

static bool is_pattern(const struct wr_case *row, const char *pattern)
{
    return !strcmp(wr_probe_test_of(row)->pattern, pattern);
}

static const char *record_of(const struct wr_cases *c, size_t k)
{
    return c->records[c->v[k].record].label;
}

/* Medians of the tests that `wanted` takes, a series a record. */
static void rate_chart(struct wr_doc *d, struct wr_doc_section *s,
                       const struct wr_cases *c, const char *title,
                       bool (*wanted)(const struct wr_case *))
{
    bool files = !strcmp(title, "Small files and syncs");
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                           .title = title,
                                           .x = "",
                                           .y = files ? "per second" : "MB/s",
                                           .note = "Medians of the passes."};
    struct wr_pivot p = {0};

    for (size_t k = 0; k < c->count; k++)
        if (wanted(&c->v[k]))
            wr_pivot_add(&p, record_of(c, k), wr_probe_test_of(&c->v[k])->name,
                         NAN,
                         files ? wr_probe_median(&c->v[k])->ops_per_s
                               : wr_probe_median(&c->v[k])->bytes_per_s / MB);
    wr_pivot_draw(&p, d, s, &spec);
}

static bool is_sequential(const struct wr_case *row)
{
    return is_pattern(row, "sequential") &&
           (is_op(row, "read") || is_op(row, "write"));
}

static bool is_small(const struct wr_case *row)
{
    return is_op(row, "files") || is_op(row, "create") || is_op(row, "sync");
}

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
    if (!is_op(row, "read") || !is_pattern(row, "random") ||
        !(wr_probe_test_of(row)->depth > 0))
        return buf;
    if (workers > 1)
        snprintf(many, sizeof(many), ", %.0f workers", fmin(workers, 1e9));
    snprintf(buf, cap, "%s%s%s",
             wr_probe_block(wr_probe_test_of(row)->block, block, sizeof(block)),
             wr_probe_test_of(row)->direct ? ", direct" : "", many);
    return buf;
}

/* Random reads of all kinds of one record, or of one kind of all records. */
static void depth_chart(struct wr_doc *d, struct wr_doc_section *s,
                        const struct wr_cases *c, bool bytes, const char *only)
{
    char title[WR_VIEW_NAME], kind[WR_VIEW_NAME], at[32];
    struct wr_doc_chart_spec spec = {.kind = WR_DOC_LINES,
                                     .title = title,
                                     .x = "requests in flight of each worker",
                                     .y = bytes ? "MB/s" : "reads per second",
                                     .note = "Medians of the passes.",
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
        wr_pivot_add(&p, only ? record_of(c, k) : kind, at, depth,
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
static void depth_charts(struct wr_scope *v)
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

/* Percentiles of each test: a chart a record, or the p99 of all records. */
static void latency_charts(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    char title[WR_VIEW_NAME];
    struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                     .title = title,
                                     .x = "",
                                     .y = "microseconds",
                                     .note = "Medians of the passes.",
                                     .log_y = true};
    bool apart = c->record_count <= APART_MAX;
    struct wr_pivot p = {0};

    for (size_t r = 0; r < (apart ? c->record_count : 1); r++) {
        for (size_t k = 0; k < c->count; k++) {
            const char *test = wr_probe_test_of(&c->v[k])->name;

            for (size_t i = 0; apart && i < WR_PROBE_PERCENTILES; i++)
                if (c->v[k].record == r)
                    wr_pivot_add(&p, wr_probe_percentiles[i].name, test, NAN,
                                 wr_number_at(c->v[k].median,
                                              wr_probe_percentiles[i].at));
            if (!apart)
                wr_pivot_add(&p, record_of(c, k), test, NAN,
                             wr_probe_median(&c->v[k])->latency_us.p99);
        }
        snprintf(title, sizeof(title), "Latency%s%s%s",
                 apart ? "" : ", 99th percentile",
                 apart && c->record_count > 1 ? ": " : "",
                 apart && c->record_count > 1 ? c->records[r].label : "");
        wr_pivot_draw(&p, v->d, v->s, &spec);
    }
}

/* Where the time of a small file goes. */
static void parts_chart(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
#define AT(step) offsetof(struct wr_probe_run_values, step.p50)
    static const struct {
        size_t at;
        const char *name;
    } parts[] = {{AT(open_us), "open"},
                 {AT(transfer_us), "read or write"},
                 {AT(close_us), "close"}};
#undef AT
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the time of a small file goes",
        .x = "",
        .y = "microseconds (p50)"};
    char name[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < WR_ARRAY_LEN(parts); i++)
            if (is_op(&c->v[k], "files") || is_op(&c->v[k], "create"))
                wr_pivot_add(&p, parts[i].name, wr_probe_name(c, k, name), NAN,
                             wr_number_at(c->v[k].median, parts[i].at));
    wr_pivot_draw(&p, v->d, v->s, &spec);
}

/* Each pass as a part of the median: a cache below the kernel shows here. */
static void pass_charts(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    char title[WR_VIEW_NAME], pass[32];
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = title,
        .x = "",
        .y = "% of the median pass",
        .note = "A first pass that is slower than the others tells of a cache "
                "below the kernel."};
    struct wr_pivot p = {0};

    for (size_t r = 0; r < c->record_count && r < APART_MAX; r++) {
        for (size_t k = 0; k < c->count; k++) {
            double median = wr_probe_median(&c->v[k])->ops_per_s;

            if (c->v[k].record != r || c->v[k].list.count < 2)
                continue;
            for (size_t i = 0; i < c->v[k].list.count; i++) {
                snprintf(pass, sizeof(pass), "pass %zu", i + 1);
                wr_pivot_add(&p, pass, wr_probe_test_of(&c->v[k])->name, NAN,
                             100 * wr_probe_run_of(&c->v[k], i)->ops_per_s /
                                 median);
            }
        }
        snprintf(title, sizeof(title), "Passes side by side%s%s",
                 c->record_count > 1 ? ": " : "",
                 c->record_count > 1 ? c->records[r].label : "");
        wr_pivot_draw(&p, v->d, v->s, &spec);
    }
}

/* How the cache was kept out of one record, and whether that held. */
static void cache_fact(struct wr_doc_section *s, const struct wr_view_record *r,
                       const char *of)
{
    const json_t *cache = wr_get_object(r->json, "cache");
    double resident = wr_get_number(cache, "resident");
    const char *direct = wr_get_true(cache, "direct")
                             ? "direct requests pass the page cache"
                             : "no direct requests here";
    char key[WR_VIEW_NAME];

    snprintf(key, sizeof(key), "%s%sCache", of, *of ? ", " : "");
    if (resident < 0)
        wr_doc_fact(
            s, key,
            "%s the kernel does not tell what was resident before a read; %s",
            wr_get_true(cache, "dropped") ? "dropped before every read, but"
                                          : "unknown:",
            direct);
    else if (resident > NOT_COLD)
        wr_doc_fact(s, key,
                    "not cold: up to %.1f %% was resident before a read; %s",
                    100 * resident, direct);
    else if (resident >= 0)
        wr_doc_fact(s, key,
                    "cold: at most %.1f %% was resident before any read, as "
                    "the kernel says; %s",
                    100 * resident, direct);
    if (wr_get_true(cache, "below"))
        wr_doc_note(s, true,
                    "%s%sSomething below the kernel caches: %s. Data written "
                    "long ago may be read far more slowly; probe an old file "
                    "with --file.",
                    of, *of ? ": " : "", wr_get_text(cache, "signs"));
}

static void describe(struct wr_scope *v)
{
    char size[32];

    for (size_t i = 0; i < v->n && i < APART_MAX; i++) {
        const json_t *j = v->r[i].json;

        wr_doc_fact(v->s, v->n > 1 ? v->r[i].label : "Path",
                    "%s, file of %s, %.0f small files, %.0f passes of %g s, %s",
                    wr_get_text(j, "path"),
                    wr_format_binary(size, sizeof(size),
                                     fmax(0, wr_get_number(j, "file_bytes"))),
                    fmax(0, wr_get_number(j, "small_files")),
                    fmax(0, wr_get_number(j, "passes")),
                    fmax(0, wr_get_number(j, "seconds")),
                    wr_get_text(j, "engine"));
        cache_fact(v->s, &v->r[i], v->n > 1 ? v->r[i].label : "");
    }
    if (!v->c.count)
        wr_doc_note(v->s, true, "No test was run.");
}

static void probe_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    struct wr_cases c;

    wr_cases_init(&c, r, n, &wr_probe_spec);
    wr_probe_say(d, &c, room);
    wr_cases_done(&c);
}

static void sequential_rates(struct wr_scope *v)
{
    rate_chart(v->d, v->s, &v->c, "Sequential reads and writes", is_sequential);
}

static void small_rates(struct wr_scope *v)
{
    rate_chart(v->d, v->s, &v->c, "Small files and syncs", is_small);
}

static void sizes(struct wr_scope *v)
{
    wr_sizes_draw(v->d, v->s, &v->c, "sizes.parts");
}

static void sizes_table(struct wr_scope *v)
{
    wr_sizes_table(v->s, &v->c, "sizes.parts");
}

static void print_engine(struct wr_scope *v)
{
    wr_doc_fact(v->s, "Engine", "%s", wr_get_text(v->r->json, "engine"));
}

/* Of a probe that read. */
static void print_cache(struct wr_scope *v)
{
    for (size_t k = 0; k < v->c.count; k++)
        if (wr_get_object(v->c.v[k].json, "result") &&
            (is_op(&v->c.v[k], "read") || is_op(&v->c.v[k], "files"))) {
            cache_fact(v->s, v->r, "");
            return;
        }
}

static const struct wr_section sections[] = {
    {.title = "Storage probe",
     .items = (const struct wr_item[]){{.show = wr_show_host},
                                       {.show = wr_show_starved},
                                       {.show = describe},
                                       {.show = wr_probe_skipped},
                                       {.show = wr_probe_words},
                                       {.show = sequential_rates},
                                       {.show = depth_charts},
                                       {.show = small_rates},
                                       {.show = parts_chart},
                                       {.show = latency_charts},
                                       {.show = pass_charts},
                                       {.show = sizes},
                                       {.show = wr_show_monitor},
                                       {.show = wr_probe_test_tables,
                                        .only = WR_IF_ROWS},
                                       {.table = &wr_probe_pass_table,
                                        .only = WR_IF_ROWS},
                                       {.show = wr_probe_depth_table},
                                       {.show = sizes_table},
                                       {.show = wr_show_monitor_tables},
                                       {.show = NULL}}},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = (const struct wr_item[]){{.show = print_engine},
                                       {.show = wr_show_starved},
                                       {.show = print_cache},
                                       {.show = wr_probe_skipped},
                                       {.show = wr_probe_test_tables},
                                       {.show = wr_probe_depth_table},
                                       {.show = NULL}}},
    {.title = "What it means",
     .items = (const struct wr_item[]){{.show = wr_probe_words},
                                       {.show = NULL}}},
    {.items = NULL}};

const struct wr_view wr_view_probe = {.command = "probe",
                                      .summarize = probe_summarize,
                                      .rows = &wr_probe_spec,
                                      .sections = sections,
                                      .printed = printed};
