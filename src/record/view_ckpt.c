/* view_ckpt.c - records of weir ckpt bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view_ckpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "record/view_monitor.h"
#include "record/view_say.h"
#include "result/ckpt.h"
#include "result/get.h"

#define WAYS_MAX 8 /* in a sentence */

#define AT(member) offsetof(struct wr_ckpt_case_values, result.member)

/* Times in the chart of levels. */
static const struct {
    size_t at;
    const char *name;
} levels[] = {
    {AT(stall_s), "stall"},
    {AT(fast_s), "on the fast tier"},
    {AT(slow_s), "on the slow tier"},
    {AT(verified_s), "verified"},
};
#define LEVELS (sizeof(levels) / sizeof(levels[0]))

static char *row_name(const struct wr_cases *c, size_t k, char *buf)
{
    snprintf(buf, WR_VIEW_NAME, "%s%s%s",
             c->record_count > 1 ? c->records[c->v[k].record].label : "",
             c->record_count > 1 ? ": " : "", wr_ckpt_case(&c->v[k])->name);
    return buf;
}

/* Whether any case has a number there: most benches do not verify. */
static bool has_any(const struct wr_cases *c, size_t at)
{
    for (size_t k = 0; k < c->count; k++)
        if (isfinite(wr_number_at(c->v[k].values, at)))
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

        if (!has_any(c, levels[i].at))
            continue;
        series = wr_doc_series(chart, levels[i].name);
        for (size_t k = 0; k < c->count; k++)
            wr_doc_value(series, wr_number_at(c->v[k].values, levels[i].at));
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

        for (size_t i = 0; i < c->v[k].list.count; i++) {
            const struct wr_ckpt_save_values *v = wr_list_at(&c->v[k].list, i);

            wr_doc_point(series, v->at_s, v->stall_s);
        }
    }
}

static double stall_of(const struct wr_cases *c, size_t record, const char *way)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->v[i].record == record &&
            !strcmp(wr_ckpt_case(&c->v[i])->way, way))
            return wr_ckpt_case(&c->v[i])->result.stall_s;
    return NAN;
}

static const char *name_cell(const struct wr_column *col,
                             const struct wr_row *r, char *buf, size_t cap)
{
    return row_name(r->c, r->k, buf);
}

static double less_stall(const struct wr_row *r)
{
    return stall_of(r->c, r->row->record, "slow") /
           wr_ckpt_case(r->row)->result.stall_s;
}

enum { VERIFIED = 1 };

#define RESULT(member)                                                         \
    .side = '>', WR_COLUMN(CASE, wr_ckpt_case_vals,                            \
                           struct wr_ckpt_case_values, result.member)

const struct wr_column wr_ckpt_case_columns[] = {
    {.head = "way",
     .help = "the way of saving: see --ways",
     .side = '<',
     .text = name_cell},
    {RESULT(stall_s), .show = WR_SHOW_TIME},
    {RESULT(fast_s), .show = WR_SHOW_TIME},
    {RESULT(slow_s), .show = WR_SHOW_TIME},
    {RESULT(verified_s), .show = WR_SHOW_TIME, .only = VERIFIED},
    {RESULT(stall_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(drain_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(restore_bytes_per_s), .show = WR_SHOW_RATE},
    {.head = "less stall",
     .help = "times, against saving to the slow tier directly",
     .side = '>',
     .number = less_stall,
     .digits = 1},
    {.head = NULL}};

static void case_table(struct wr_doc_section *s, const char *title,
                       const struct wr_cases *c)
{
    unsigned shown = has_any(c, AT(verified_s)) ? VERIFIED : 0;
    struct wr_doc_table *t = wr_doc_table_of(s, title, wr_ckpt_case_columns,
                                             shown);

    for (size_t k = 0; k < c->count; k++)
        wr_cells(t, wr_ckpt_case_columns, shown,
                 &(struct wr_row){c, k, 0, &c->v[k], NULL});
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

    wr_cases_init(&c, r, 1, &wr_ckpt_spec);
    wr_view_starved(s, r, 1);
    wr_doc_note(s, false, "one memcpy of it: %s",
                wr_format_ns(copy, sizeof(copy),
                             1e9 * wr_get_number(r->json, "memcpy_s")));
    case_table(s, "", &c);
    verdict(wr_doc_section(d, ""), &c);
    wr_cases_done(&c);
}

/* " of 4 ranks", or nothing. */
static char *ranks_text(const struct wr_list *cases, char *buf, size_t cap)
{
    const struct wr_ckpt_case_values *first = cases->v;
    size_t n = cases->count ? first->ranks.count : 0;

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
            ranks_text(&r[i].cases, ranks, sizeof(ranks)),
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
    double slow = NAN, least = INFINITY;
    char text[WR_VIEW_NAME] = "", time[32];
    const char *best = "";

    for (size_t i = 0; i < r->cases.count && i < WAYS_MAX; i++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&r->cases, i);
        double stall = v->result.stall_s;

        if (!(stall > 0))
            continue;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %s",
                 *text ? "; " : "", v->name,
                 wr_say_time(stall, time, sizeof(time)));
        if (!strcmp(v->way, "slow"))
            slow = stall;
        if (stall < least)
            best = v->name;
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

    wr_cases_init(&c, r, n, &wr_ckpt_spec);
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
