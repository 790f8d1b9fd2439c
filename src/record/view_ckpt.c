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

static void level_chart(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "How long a save takes",
        .x = "way of saving",
        .y = "seconds",
        .note = "Medians. Training stands still for the stall alone.",
        .log_y = true};
    struct wr_doc_chart *chart = wr_doc_chart(v->s, &spec);
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

static void save_chart(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "The stall of each save",
                                           .x = "when (s)",
                                           .y = "stall (s)",
                                           .log_y = true};
    struct wr_doc_chart *chart = wr_doc_chart(v->s, &spec);
    char name[WR_VIEW_NAME];

    for (size_t k = 0; k < c->count; k++) {
        struct wr_doc_series *series = wr_doc_series(chart,
                                                     row_name(c, k, name));

        for (size_t i = 0; i < c->v[k].list.count; i++) {
            const struct wr_ckpt_save_values *save = wr_list_at(&c->v[k].list,
                                                                i);

            wr_doc_point(series, save->at_s, save->stall_s);
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
    {RESULT(verified_s), .show = WR_SHOW_TIME, .only = VERIFIED,
     .if_any = true},
    {RESULT(stall_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(drain_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(restore_bytes_per_s), .show = WR_SHOW_RATE},
    {.head = "less stall",
     .help = "times, against saving to the slow tier directly",
     .side = '>',
     .number = less_stall,
     .digits = 1},
    {.head = NULL}};

static const struct wr_table_rule case_table = {
    .title = "Ways of saving", .rows = "ways", .columns = wr_ckpt_case_columns};

/* "4.0 times less", or more: a burst buffer need not be the faster one. */
static char *ratio_text(double of, double than, char *buf, size_t cap)
{
    double more = than > of ? than / of : of / than;

    snprintf(buf, cap, "%.*f times %s", more < 10 ? 1 : 0, more,
             than >= of ? "less" : "longer");
    return buf;
}

/* What the ways come to, of each record. */
static void verdict(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;

    for (size_t r = 0; r < c->record_count; r++) {
        double slow = stall_of(c, r, "slow"), burst = stall_of(c, r, "burst");
        double async = stall_of(c, r, "async");
        double copy = wr_get_number(c->records[r].json, "memcpy_s");
        const char *of = c->record_count > 1 ? c->records[r].label : "";
        char a[64], b[64] = "";

        if (async > 0)
            ratio_text(async, slow, b, sizeof(b));
        if (burst > 0 && slow > 0)
            wr_doc_note(v->s, false,
                        "%s%sCompared with saving to the slow tier, training "
                        "stalls %s through the burst buffer%s%s%s.",
                        of, *of ? ": " : "",
                        ratio_text(burst, slow, a, sizeof(a)),
                        *b ? ", and " : "", b,
                        *b ? " with an asynchronous snapshot" : "");
        if (async > 0 && copy > 0)
            wr_doc_note(v->s, false,
                        "%s%sAn asynchronous save stalls %.2f times as long as "
                        "one memcpy of the same bytes.",
                        of, *of ? ": " : "", async / copy);
    }
}

static void print_copy(struct wr_scope *v)
{
    char copy[32];

    wr_doc_note(v->s, false, "one memcpy of it: %s",
                wr_format_ns(copy, sizeof(copy),
                             1e9 * wr_get_number(v->r->json, "memcpy_s")));
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

static void describe(struct wr_scope *v)
{
    char size[32], copy[32], ranks[32];

    for (size_t i = 0; i < v->n; i++) {
        const json_t *j = v->r[i].json;

        wr_doc_fact(
            v->s, v->n > 1 ? v->r[i].label : "State",
            "%s, %.0f tensors, %s%s; one memcpy of it takes %s; fast: %s, "
            "slow: %s",
            wr_get_text(j, "like"), fmax(0, wr_get_number(j, "tensors")),
            wr_format_bytes(size, sizeof(size),
                            fmax(0, wr_get_number(j, "bytes"))),
            ranks_text(&v->r[i].cases, ranks, sizeof(ranks)),
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

static void say_nothing_saved(struct wr_scope *v)
{
    wr_doc_note(v->s, true, "Nothing was saved.");
}

static double bytes_of(const struct wr_view_record *r)
{
    return fmax(0, wr_get_number(r->json, "bytes"));
}

/* The records of states as large as that of record i into g, if it is the first
 * of them. False when memory is short. */
static bool same_size(struct wr_view_group *g, const struct wr_view_record *r,
                      size_t n, size_t i)
{
    char size[32];

    for (size_t k = 0; k < i; k++)
        if (bytes_of(&r[k]) == bytes_of(&r[i]))
            return true;
    g->records = calloc(n, sizeof(*g->records));
    for (size_t k = i; g->records && k < n; k++)
        if (bytes_of(&r[k]) == bytes_of(&r[i]))
            g->records[g->count++] = r[k];
    snprintf(g->title, sizeof(g->title), "Checkpoints%s%s",
             g->count < n ? " of " : "",
             g->count < n ? wr_format_bytes(size, sizeof(size), bytes_of(&r[i]))
                          : "");
    return g->records;
}

/* The times of states of different sizes do not belong in one chart. */
static struct wr_view_group *by_size(const struct wr_view_record *r, size_t n,
                                     size_t *ret_count)
{
    struct wr_view_group *g = calloc(n + 1, sizeof(*g));
    size_t count = 0;

    for (size_t i = 0; g && i < n; i++) {
        if (!same_size(&g[count], r, n, i)) {
            wr_view_groups_free(g, count);
            return NULL;
        }
        count += g[count].count > 0;
    }
    *ret_count = count;
    return g;
}

static const struct wr_section sections[] = {
    {.of = WR_OF_GROUP,
     .items =
         (const struct wr_item[]){
             {.show = wr_show_host},
             {.show = wr_show_starved},
             {.show = describe},
             {.show = verdict},
             {.show = level_chart, .only = WR_IF_ROWS},
             {.show = save_chart, .only = WR_IF_ROWS},
             {.show = say_nothing_saved, .only = WR_IF_NO_ROWS},
             {.show = wr_show_monitor},
             {.table = &case_table, .only = WR_IF_ROWS},
             {.show = wr_show_monitor_tables},
             {.show = NULL}}},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = (const struct wr_item[]){{.show = wr_show_starved},
                                       {.show = print_copy},
                                       {.table = &case_table},
                                       {.show = NULL}}},
    {.items = (const struct wr_item[]){{.show = verdict}, {.show = NULL}}},
    {.items = NULL}};

const struct wr_view wr_view_ckpt = {.command = "ckpt",
                                     .summarize = ckpt_summarize,
                                     .rows = &wr_ckpt_spec,
                                     .groups = by_size,
                                     .sections = sections,
                                     .printed = printed};
