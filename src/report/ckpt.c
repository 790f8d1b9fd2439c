/* ckpt.c - records of weir ckpt bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/ckpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/chart.h"
#include "report/say.h"
#include "report/view_monitor.h"
#include "result/ckpt.h"
#include "result/get.h"

#define WAYS_MAX 8 /* in a sentence */

/* What sentences tell of a record. */
#define FACTS(V)                                                               \
    V(TEXT, like, FIRST)                                                       \
    V(COUNT, tensors, FIRST)                                                   \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, memcpy_s, FIRST)                                                   \
    V(TEXT, fast, FIRST)                                                       \
    V(TEXT, slow, FIRST)                                                       \
    V(COUNT, rank_count, FIRST) /* if there are several */                     \
    V(TEXT, by_burst, FIRST)    /* "4.0 times less" than slow */               \
    V(TEXT, by_async, FIRST)                                                   \
    V(REAL, copies, FIRST) /* stalls of async, in memcpy */                    \
    V(TEXT, stalls, FIRST) /* of each way */

struct ckpt_facts {
    FACTS(WR_VAL_MEMBER)
    char by_burst_text[64], by_async_text[64], stalls_text[WR_VIEW_NAME];
};
#define THIS struct ckpt_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

static const struct wr_sentence state[] = {
    {.text = "{like}, {tensors:0} tensors, {bytes:bytes}[ of {rank_count:0} "
             "ranks]; one memcpy of it takes {memcpy_s:s}; fast: {fast}, slow: "
             "{slow}",
     .fact = "State",
     .whole = true},
    {.text = NULL}};

static const struct wr_sentence copy[] = {
    {.text = "one memcpy of it: {memcpy_s:s}"}, {.text = NULL}};

static const struct wr_sentence verdict[] = {
    {.text =
         "Compared with saving to the slow tier, training stalls {by_burst} "
         "through the burst buffer[, and {by_async} with an asynchronous "
         "snapshot]."},
    {.text =
         "An asynchronous save stalls {copies:2} times as long as one memcpy "
         "of the same bytes."},
    {.text = NULL}};

static const struct wr_sentence nothing[] = {
    {.text = "Nothing was saved.", .warning = true}, {.text = NULL}};

static const struct wr_sentence summary[] = {
    {.text = "Training stands still for a save: {stalls}."}, {.text = NULL}};

static const struct wr_sentence *const sentences[] = {state,   copy,    verdict,
                                                      nothing, summary, NULL};

static const char *way_label(const struct wr_row *r, char *buf, size_t cap)
{
    const char *record = wr_chart_records(r, buf, cap);

    snprintf(buf, cap, "%s%s%s", record, *record ? ": " : "",
             wr_ckpt_case(r->row)->name);
    return buf;
}

static const struct wr_chart_rule level_chart = {
    .is = {WR_DOC_BARS, "How long a save takes", "way of saving", "seconds",
           "Medians. Training stands still for the stall alone.",
           .log_y = true},
    .from = WR_FROM_CASE,
    .of = &wr_ckpt_case_vals,
    .series = WR_SERIES({"result.stall_s", "stall", 1},
                        {"result.fast_s", "on the fast tier", 1},
                        {"result.slow_s", "on the slow tier", 1},
                        {"result.verified_s", "verified", 1}),
    .if_any = true, /* most benches do not verify */
    .label = way_label};

static const struct wr_chart_rule save_chart = {
    .is = {WR_DOC_POINTS, "The stall of each save", "when (s)", "stall (s)",
           .log_y = true},
    .from = WR_FROM_RUN,
    .of = &wr_ckpt_save_vals,
    .series = WR_SERIES({"stall_s", "", 1}),
    .label = way_label,
    .x = "at_s"};

static const char *name_cell(const struct wr_column *col,
                             const struct wr_row *r, char *buf, size_t cap)
{
    return way_label(r, buf, cap);
}

static double first_stall(const struct wr_view_record *r, const char *way)
{
    for (size_t i = 0; i < r->cases.count; i++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&r->cases, i);

        if (!strcmp(v->way, way))
            return v->result.stall_s;
    }
    return NAN;
}

static double less_stall(const struct wr_row *r)
{
    return first_stall(&r->c->records[r->row->record], "slow") /
           wr_ckpt_case(r->row)->result.stall_s;
}

#define RESULT(member)                                                         \
    .side = '>', WR_COLUMN(CASE, wr_ckpt_case_vals,                            \
                           struct wr_ckpt_case_values, result.member)

const struct wr_column wr_ckpt_case_columns[] = {
    {"way", "the way of saving: see --ways", '<', .text = name_cell},
    {RESULT(stall_s), .show = WR_SHOW_TIME},
    {RESULT(fast_s), .show = WR_SHOW_TIME},
    {RESULT(slow_s), .show = WR_SHOW_TIME},
    {RESULT(verified_s), .show = WR_SHOW_TIME, .if_any = true},
    {RESULT(stall_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(drain_bytes_per_s), .show = WR_SHOW_RATE},
    {RESULT(restore_bytes_per_s), .show = WR_SHOW_RATE},
    {"less stall", "times, against saving to the slow tier directly", '>',
     .number = less_stall, .digits = 1},
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

/* "burst 1.2 s; slow 4 s" */
static void list_stalls(const struct wr_view_record *r, char *buf, size_t cap)
{
    char time[32];

    *buf = '\0';
    for (size_t i = 0; i < r->cases.count && i < WAYS_MAX; i++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&r->cases, i);

        if (v->result.stall_s > 0)
            snprintf(buf + strlen(buf), cap - strlen(buf), "%s%s %s",
                     *buf ? "; " : "", v->name,
                     wr_say_time(v->result.stall_s, time, sizeof(time)));
    }
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    const struct wr_view_record *r = &c->records[record];
    double slow = first_stall(r, "slow"), burst = first_stall(r, "burst");
    double async = first_stall(r, "async");
    const struct wr_ckpt_case_values *first = r->cases.v;
    struct ckpt_facts *f = ret;

    wr_vals_read(&facts, r->json, f);
    f->rank_count = r->cases.count && first->ranks.count > 1
                        ? (double)first->ranks.count
                        : NAN;
    f->by_burst = f->by_async = "";
    if (burst > 0 && slow > 0)
        f->by_burst = ratio_text(burst, slow, f->by_burst_text, 64);
    if (async > 0)
        f->by_async = ratio_text(async, slow, f->by_async_text, 64);
    f->copies = async > 0 && f->memcpy_s > 0 ? async / f->memcpy_s : NAN;
    list_stalls(r, f->stalls_text, sizeof(f->stalls_text));
    f->stalls = f->stalls_text;
}

/* How long training stands still in each way of one record, and the ratio of
 * the longest (direct to the slow tier) to the shortest. */
static void ckpt_summarize(struct wr_doc *d, const struct wr_view_record *r,
                           size_t n, size_t room)
{
    double slow = first_stall(r, "slow"), least = INFINITY;
    const struct wr_cases c = {.records = r, .record_count = n};
    struct ckpt_facts f;
    char time[32];
    const char *best = "";

    for (size_t i = 0; i < r->cases.count && i < WAYS_MAX; i++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&r->cases, i);

        if (v->result.stall_s > 0 && v->result.stall_s < least) {
            best = v->name;
            least = v->result.stall_s;
        }
    }
    find_facts(&c, 0, &f);
    if (!wr_sentences_top(d, n > 1 ? r->label : "", summary, &facts, &f, 1))
        return;
    if (slow > least)
        wr_doc_headline(d, "shorter stall than saving direct to slow", "%sx",
                        wr_say_number(slow / least, time, 32));
    if (room < 3)
        return;
    wr_doc_headline(d, best, "%s", wr_say_time(least, time, sizeof(time)));
    if (slow > 0)
        wr_doc_headline(d, "direct to slow", "%s",
                        wr_say_time(slow, time, sizeof(time)));
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
     .items = WR_ITEMS(
         {.show = wr_show_host}, {.show = wr_show_starved}, {.say = {state}},
         {.say = {nothing}, .only = WR_IF_NO_ROWS}, {.say = {verdict}},
         {.chart = &level_chart, .only = WR_IF_ROWS},
         {.chart = &save_chart, .only = WR_IF_ROWS}, {.show = wr_show_monitor},
         {.table = &case_table, .only = WR_IF_ROWS},
         {.show = wr_show_monitor_tables})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.show = wr_show_starved}, {.say = {copy}},
                       {.table = &case_table})},
    {.items = WR_ITEMS({.say = {verdict}})},
    {.items = NULL}};

const struct wr_view wr_view_ckpt = {.command = "ckpt",
                                     .summarize = ckpt_summarize,
                                     .rows = &wr_ckpt_spec,
                                     .groups = by_size,
                                     .sections = sections,
                                     .printed = printed,
                                     .facts = &facts,
                                     .find_facts = find_facts,
                                     .sentences = sentences};
