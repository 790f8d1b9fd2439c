/* view_ckpt.c - records of weir ckpt bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view_ckpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "result/get.h"
#include "record/view_monitor.h"
#include "record/view_say.h"

#define WAYS_MAX 8 /* in a sentence */

static const char *const keys[] = {"way", NULL};
static const struct wr_cases_spec ways = {.rows = "cases", .keys = keys};

/* Times in the table and the chart of levels. */
static const struct {
    const char *key, *name;
} levels[] = {
    {"result.stall_s", "stall"},
    {"result.fast_s", "on the fast tier"},
    {"result.slow_s", "on the slow tier"},
    {"result.verified_s", "verified"},
};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

static char *row_name(const struct wr_cases *c, size_t k, char *buf)
{
    snprintf(buf, WR_VIEW_NAME, "%s%s%s",
             c->record_count > 1 ? c->records[c->v[k].record].label : "",
             c->record_count > 1 ? ": " : "",
             wr_get_text(c->v[k].json, "name"));
    return buf;
}

/* Whether any case has a number there: most benches do not verify. */
static bool has_any(const struct wr_cases *c, const char *key)
{
    for (size_t k = 0; k < c->count; k++)
        if (isfinite(wr_get_number(c->v[k].json, key)))
            return true;
    return false;
}

static void level_chart(struct wr_doc_section *s, const struct wr_cases *c)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "How long a save takes",
        .x = "way of saving",
        .y = "seconds",
        .note = "Medians. Training stands still for the stall alone.",
        .log_y = true};
    struct wr_doc_chart *chart = wr_doc_chart(s, &spec);
    char name[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count; k++)
        wr_doc_label(chart, "%s", row_name(c, k, name));
    for (size_t i = 0; i < LEVELS; i++) {
        struct wr_doc_series *series;

        if (!has_any(c, levels[i].key))
            continue;
        series = wr_doc_series(chart, levels[i].name);
        for (size_t k = 0; k < c->count; k++)
            wr_doc_value(series, wr_get_number(c->v[k].json, levels[i].key));
    }
}

static void save_chart(struct wr_doc_section *s, const struct wr_cases *c)
{
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "The stall of each save",
                                           .x = "when (s)",
                                           .y = "stall (s)",
                                           .log_y = true};
    struct wr_doc_chart *chart = wr_doc_chart(s, &spec);
    char name[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count; k++) {
        struct wr_doc_series *series = wr_doc_series(chart,
                                                     row_name(c, k, name));

        for (size_t i = 0; i < wr_case_runs(&c->v[k]); i++) {
            const json_t *run = wr_case_run(&c->v[k], i);

            wr_doc_point(series, wr_get_number(run, "at_s"),
                         wr_get_number(run, "stall_s"));
        }
    }
}

static double stall_of(const struct wr_cases *c, size_t record, const char *way)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->v[i].record == record &&
            !strcmp(wr_get_text(c->v[i].json, "way"), way))
            return wr_get_number(c->v[i].json, "result.stall_s");
    return NAN;
}

enum { VERIFIED = 1 };

const struct wr_column wr_ckpt_case_columns[] = {
    {.head = "way", .help = "the way of saving: see --ways", .side = '<'},
    {.head = "stall",
     .help = "how long training stops: the duration of weir_ckpt_save",
     .side = '>'},
    {.head = "on fast",
     .help = "from the call until the step is durable on the fast tier",
     .side = '>'},
    {.head = "on slow", .help = "and on the slow tier", .side = '>'},
    {.head = "verified",
     .help = "and read back from there",
     .side = '>',
     .only = VERIFIED},
    {.head = "stall at",
     .help = "bytes of the state divided by the stall",
     .side = '>'},
    {.head = "drain at",
     .help = "rate of the copy from the fast tier to the slow one",
     .side = '>'},
    {.head = "restore",
     .help = "rate of reading the newest step back, checked",
     .side = '>'},
    {.head = "less stall",
     .help = "times, against saving to the slow tier directly",
     .side = '>'},
    {.head = NULL}};

static void case_table(struct wr_doc_section *s, const char *title,
                       const struct wr_cases *c)
{
    bool verified = has_any(c, "result.verified_s");
    struct wr_doc_table *t = wr_doc_table_of(s, title, wr_ckpt_case_columns,
                                             verified ? VERIFIED : 0);
    char name[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count; k++) {
        const json_t *res = wr_get_object(c->v[k].json, "result");

        wr_doc_cell(t, "%s", row_name(c, k, name));
        for (size_t i = 0; i < LEVELS - !verified; i++)
            wr_say_time_cell(t, wr_get_number(c->v[k].json, levels[i].key));
        wr_say_rate_cell(t, wr_get_number(res, "stall_bytes_per_s"));
        wr_say_rate_cell(t, wr_get_number(res, "drain_bytes_per_s"));
        wr_say_rate_cell(t, wr_get_number(res, "restore_bytes_per_s"));
        wr_doc_number(t,
                      stall_of(c, c->v[k].record, "slow") /
                          wr_get_number(res, "stall_s"),
                      1);
    }
}

/* "4.0 times less", or more: a burst buffer need not be the faster one. */
static char *ratio_text(double of, double than, char *buf, size_t cap)
{
    double more = than > of ? than / of : of / than;

    snprintf(buf, cap, "%.*f times %s", more < 10 ? 1 : 0, more,
             than >= of ? "less" : "longer");
    return buf;
}

/* What the ways come to, of each record. */
static void verdict(struct wr_doc_section *s, const struct wr_cases *c)
{
    for (size_t r = 0; r < c->record_count; r++) {
        double slow = stall_of(c, r, "slow"), burst = stall_of(c, r, "burst");
        double async = stall_of(c, r, "async");
        double copy = wr_get_number(c->records[r].json, "memcpy_s");
        const char *of = c->record_count > 1 ? c->records[r].label : "";
        char a[64], b[64] = "";

        if (async > 0)
            ratio_text(async, slow, b, sizeof(b));
        if (burst > 0 && slow > 0)
            wr_doc_note(s, false,
                        "%s%sCompared with saving to the slow tier, training "
                        "stalls %s through the burst buffer%s%s%s.",
                        of, *of ? ": " : "",
                        ratio_text(burst, slow, a, sizeof(a)),
                        *b ? ", and " : "", b,
                        *b ? " with an asynchronous snapshot" : "");
        if (async > 0 && copy > 0)
            wr_doc_note(s, false,
                        "%s%sAn asynchronous save stalls %.2f times as long as "
                        "one memcpy of the same bytes.",
                        of, *of ? ": " : "", async / copy);
    }
}

static void ckpt_result(struct wr_doc *d, const struct wr_view_record *r)
{
    struct wr_doc_section *s = wr_doc_section(d, "");
    struct wr_cases c;
    char copy[32];

    wr_cases_init(&c, r, 1, &ways);
    wr_view_starved(s, r, 1);
    wr_doc_note(s, false, "one memcpy of it: %s",
                wr_format_ns(copy, sizeof(copy),
                             1e9 * wr_get_number(r->json, "memcpy_s")));
    case_table(s, "", &c);
    verdict(wr_doc_section(d, ""), &c);
    wr_cases_done(&c);
}

/* " of 4 ranks", or nothing. */
static char *ranks_text(const json_t *record, char *buf, size_t cap)
{
    const json_t *first = json_array_get(wr_get_list(record, "cases"), 0);
    size_t n = json_array_size(wr_get_list(first, "ranks"));

    *buf = '\0';
    if (n > 1)
        snprintf(buf, cap, " of %zu ranks", n);
    return buf;
}

static void describe(struct wr_doc_section *s, const struct wr_view_record *r,
                     size_t n)
{
    char size[32], copy[32], ranks[32];

    wr_view_host(s, r);
    wr_view_starved(s, r, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *j = r[i].json;

        wr_doc_fact(
            s, n > 1 ? r[i].label : "State",
            "%s, %.0f tensors, %s%s; one memcpy of it takes %s; fast: %s, "
            "slow: %s",
            wr_get_text(j, "like"), fmax(0, wr_get_number(j, "tensors")),
            wr_format_bytes(size, sizeof(size),
                            fmax(0, wr_get_number(j, "bytes"))),
            ranks_text(j, ranks, sizeof(ranks)),
            wr_format_ns(copy, sizeof(copy),
                         fmax(0, wr_get_number(j, "memcpy_s") * 1e9)),
            wr_get_text(j, "fast"), wr_get_text(j, "slow"));
    }
}

/* How long training stands still in each way of one record, and the ratio of
 * the longest (direct to the slow tier) to the shortest. */
static void ckpt_summarize(struct wr_doc *d, const struct wr_view_record *r,
                           size_t n, size_t room)
{
    const json_t *list = wr_get_list(r->json, "cases");
    double slow = NAN, least = INFINITY;
    char text[WR_VIEW_NAME] = "", time[32];
    const char *best = "";

    for (size_t i = 0; i < json_array_size(list) && i < WAYS_MAX; i++) {
        const json_t *way = json_array_get(list, i);
        double stall = wr_get_number(way, "result.stall_s");

        if (!(stall > 0))
            continue;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %s",
                 *text ? "; " : "", wr_get_text(way, "name"),
                 wr_say_time(stall, time, sizeof(time)));
        if (!strcmp(wr_get_text(way, "way"), "slow"))
            slow = stall;
        if (stall < least)
            best = wr_get_text(way, "name");
        least = fmin(least, stall);
    }
    if (!*text)
        return;
    wr_doc_summary(d, "%s%sTraining stands still for a save: %s.",
                   n > 1 ? r->label : "", n > 1 ? ": " : "", text);
    if (slow > least)
        wr_doc_headline(d, "shorter stall than saving direct to slow", "%sx",
                        wr_say_number(slow / least, time, 32));
    if (room < 3 || !(least < INFINITY))
        return;
    wr_doc_headline(d, best, "%s", wr_say_time(least, time, sizeof(time)));
    if (slow > 0)
        wr_doc_headline(d, "direct to slow", "%s",
                        wr_say_time(slow, time, sizeof(time)));
}

/* Records of one size of state. */
static void one_size(struct wr_doc *d, const char *title,
                     const struct wr_view_record *r, size_t n)
{
    struct wr_doc_section *s = wr_view_section(d, title, r, n);
    struct wr_cases c;

    wr_cases_init(&c, r, n, &ways);
    if (c.failed)
        wr_doc_fail(d);
    describe(s, r, n);
    verdict(s, &c);
    if (c.count) {
        level_chart(s, &c);
        save_chart(s, &c);
    } else {
        wr_doc_note(s, true, "Nothing was saved.");
    }
    wr_view_monitor(d, s, &c);
    if (c.count)
        case_table(s, "Ways of saving", &c);
    wr_view_monitor_tables(s, &c);
    wr_cases_done(&c);
}

static double bytes_of(const struct wr_view_record *r)
{
    return fmax(0, wr_get_number(r->json, "bytes"));
}

/* The times of states of different sizes do not belong in one chart. */
static void ckpt_build(struct wr_doc *d, const struct wr_view_record *r,
                       size_t n)
{
    struct wr_view_record *some = calloc(n, sizeof(*some));
    char title[WR_VIEW_NAME], size[32];

    for (size_t i = 0; some && i < n; i++) {
        size_t count = 0, before = 0;

        for (size_t k = 0; k < i; k++)
            before += bytes_of(&r[k]) == bytes_of(&r[i]);
        for (size_t k = i; k < n && !before; k++)
            if (bytes_of(&r[k]) == bytes_of(&r[i]))
                some[count++] = r[k];
        snprintf(
            title, sizeof(title), "Checkpoints%s%s", count < n ? " of " : "",
            count < n ? wr_format_bytes(size, sizeof(size), bytes_of(&r[i]))
                      : "");
        if (count)
            one_size(d, title, some, count);
    }
    if (!some)
        wr_doc_fail(d);
    free(some);
}

const struct wr_view wr_view_ckpt = {.command = "ckpt",
                                     .summarize = ckpt_summarize,
                                     .build = ckpt_build,
                                     .result = ckpt_result};
