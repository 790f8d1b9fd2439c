/* plan_tables.c - a plan: its tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/plan_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/top.h"
#include "result/get.h"
#include "record/plan_words.h"
#include "record/view_say.h"

#define WORTH     1.02 /* a gain from which a change stands out */
#define NO_CHANGE 0.02 /* a gain below that is what simulations differ by */
#define FACTS_MAX 300  /* that are compared */

enum { SAVED = 1, OTHERS = 2, HOW = 4 };

static const struct wr_column epoch_columns[] = {
    {.head = "epoch", .side = '>'},
    {.head = "time", .help = "of the epoch, everything included", .side = '>'},
    {.head = "steps", .side = '+'},
    {.head = "samples/s", .help = "of all nodes", .side = '>'},
    {.head = "AU",
     .help = "part of the time in which the accelerators compute",
     .side = '>'},
    {.head = "computing",
     .help = "mean of the accelerators, as the columns behind it",
     .side = '+'},
    {.head = "for data",
     .help = "waiting: the input is late, cores wait for bytes",
     .side = '>'},
    {.head = "for cores",
     .help = "waiting: the input is late, cores are short",
     .side = '>'},
    {.head = "for others",
     .help = "waiting for the slowest accelerator, and for the all-reduce",
     .side = '>',
     .only = OTHERS},
    {.head = "for saves",
     .help = "waiting for checkpoints",
     .side = '>',
     .only = SAVED},
    {.head = NULL}};

static const struct wr_column limit_columns[] = {
    {.head = "limit",
     .help = "what could not do more, the tightest first",
     .side = '<'},
    {.head = "samples/s",
     .help = "at most, if nothing else held it up",
     .side = '>'},
    {.head = "of it used", .help = "by the plan as it is", .side = '>'},
    {.head = NULL}};

static const struct wr_column change_columns[] = {
    {.head = "change", .side = '<'},
    {.head = "what", .side = '<'},
    {.head = "gain",
     .help = "samples/s with it over samples/s without",
     .side = '>'},
    {.head = "samples/s", .help = "with it", .side = '>'},
    {.head = "AU", .help = "of the accelerators, with it", .side = '>'},
    {.head = "epoch", .help = "time of an epoch with it", .side = '+'},
    {.head = "how",
     .help = "a command or a setting that does it",
     .side = '<',
     .only = HOW},
    {.head = NULL}};

static const struct wr_column capacity_columns[] = {
    {.head = "accelerators", .help = "per node, that were tried", .side = '>'},
    {.head = "AU", .help = "that they reach", .side = '>'},
    {.head = "samples/s", .help = "of all nodes", .side = '>'},
    {.head = "fed", .help = "whether AU reaches the target", .side = '<'},
    {.head = NULL}};

static const struct wr_column scale_columns[] = {
    {.head = "nodes", .side = '>'},
    {.head = "samples/s", .help = "of all of them", .side = '>'},
    {.head = "AU", .help = "of the accelerators", .side = '>'},
    {.head = "of linear",
     .help = "samples/s over those of the first row times the nodes",
     .side = '>'},
    {.head = "knee",
     .help = "the last row that is within 95 % of linear",
     .side = '<'},
    {.head = NULL}};

static const struct wr_column fact_columns[] = {
    {.head = "number", .side = '<'},
    {.head = "value", .side = '<'},
    {.head = "assumed",
     .help = "'assumed': it was neither given nor measured",
     .side = '<'},
    {.head = "source", .help = "where it comes from", .side = '<'},
    {.head = NULL}};

const struct wr_columns wr_plan_columns[] = {{"epochs", epoch_columns},
                                             {"limits", limit_columns},
                                             {"what-if", change_columns},
                                             {"accelerators", capacity_columns},
                                             {"nodes", scale_columns},
                                             {"assumptions", fact_columns},
                                             {NULL, NULL}};

static bool any(const json_t *list, const char *path)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (wr_get_number(json_array_get(list, i), path) > 0)
            return true;
    return false;
}

static void part_cell(struct wr_doc_table *t, const json_t *epoch,
                      const char *key)
{
    double seconds = wr_get_number(wr_get_object(epoch, "parts"), key);

    if (seconds == 0)
        wr_doc_shown(t, 0, "0");
    else
        wr_say_time_cell(t, seconds);
}

void wr_plan_epoch_table(struct wr_doc_section *s, const char *title,
                         const json_t *j)
{
    const json_t *list = wr_get_list(j, "result.epochs");
    unsigned which = (any(list, "parts.saves") ? SAVED : 0) |
                     (any(list, "parts.others") ? OTHERS : 0);
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table_of(s, title, epoch_columns, which);
    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *o = json_array_get(list, i);

        wr_doc_number(t, (double)i + 1, 0);
        wr_say_time_cell(t, wr_get_number(o, "seconds"));
        wr_doc_number(t, wr_get_number(o, "steps"), 0);
        wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
        wr_doc_percent(t,
                       100 * wr_get_number(o, "parts.computing") /
                           wr_get_number(o, "seconds"),
                       1);
        part_cell(t, o, "computing");
        part_cell(t, o, "storage");
        part_cell(t, o, "cores");
        if (which & OTHERS)
            part_cell(t, o, "others");
        if (which & SAVED)
            part_cell(t, o, "saves");
    }
    wr_view_cut(s, "epochs", json_array_size(list));
}

void wr_plan_limit_table(struct wr_doc_section *s, const char *title,
                         const json_t *j)
{
    const json_t *list = wr_get_list(j, "bounds.limits");
    double now = wr_get_number(j, "result.samples_per_s");
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table_of(s, title, limit_columns, 0);
    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *o = json_array_get(list, i);
        double most = wr_get_number(o, "samples_per_s");

        wr_doc_cell(t, "%s", wr_plan_limit_name(wr_get_text(o, "resource")));
        wr_doc_number(t, most, 1);
        wr_doc_percent(t, 100 * now / most, 0);
    }
}

size_t wr_plan_changes(const json_t *j, const json_t **ret, size_t cap)
{
    const json_t *list = wr_get_list(j, "what_if");
    double gains[WR_PLAN_CHANGES];
    struct wr_top top = {ret, gains, sizeof(*ret),
                         WR_MIN(cap, (size_t)WR_PLAN_CHANGES), 0};

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i), **at;
        double gain = wr_get_number(o, "gain");

        at = isnan(gain) ? NULL : wr_top_add(&top, gain);
        if (at)
            *at = o;
    }
    return top.count;
}

/* Whether a change makes a difference. */
static bool matters(const json_t *change)
{
    return fabs(wr_get_number(change, "gain") - 1) >= NO_CHANGE;
}

static void change_row(struct wr_doc_table *t, const json_t *o, unsigned which)
{
    double gain = wr_get_number(o, "gain");

    wr_doc_cell(t, "%s", wr_get_text(o, "name"));
    wr_doc_cell(t, "%s", wr_get_text(o, "what"));
    wr_doc_shown(t, gain, "%.2fx", gain);
    wr_doc_tone(t, gain >= WORTH       ? WR_DOC_GOOD
                   : gain <= 1 / WORTH ? WR_DOC_BAD
                                       : WR_DOC_PLAIN);
    wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
    wr_doc_percent(t, 100 * wr_get_number(o, "utilization"), 1);
    wr_say_time_cell(t, wr_get_number(o, "epoch_s"));
    if (which & HOW)
        wr_doc_cell(t, "%s", wr_get_text(o, "how"));
}

/* Those that change nothing are named in one sentence. */
static void say_same(struct wr_doc_section *s, const json_t *const *list,
                     size_t n)
{
    char names[400];
    size_t at = 0;

    *names = '\0';
    for (size_t i = 0; i < n; i++)
        if (!matters(list[i]) && at < sizeof(names))
            at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.40s",
                                   at ? ", " : "",
                                   wr_get_text(list[i], "name"));
    if (at)
        wr_doc_note(s, false, "Tried, and no difference: %s.", names);
}

void wr_plan_change_table(struct wr_doc_section *s, const char *title,
                          const json_t *j)
{
    const json_t *list[WR_PLAN_CHANGES];
    size_t n = wr_plan_changes(j, list, WR_PLAN_CHANGES), rows = 0;
    struct wr_doc_table *t = NULL;
    unsigned which = 0;

    for (size_t i = 0; i < n; i++)
        if (matters(list[i])) {
            which |= *wr_get_text(list[i], "how") ? HOW : 0;
            rows++;
        }
    if (rows)
        t = wr_doc_table_of(s, title, change_columns, which);
    for (size_t i = 0; i < n; i++)
        if (matters(list[i]))
            change_row(t, list[i], which);
    say_same(s, list, n);
}

void wr_plan_capacity_table(struct wr_doc_section *s, const char *title,
                            const json_t *j)
{
    const json_t *list = wr_get_list(j, "capacity.points");
    double target = wr_get_number(j, "capacity.target");
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table_of(s, title, capacity_columns, 0);
    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *o = json_array_get(list, i);
        double busy = wr_get_number(o, "utilization");

        wr_doc_number(t, wr_get_number(o, "accelerators"), 0);
        wr_doc_percent(t, 100 * busy, 1);
        wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
        wr_doc_cell(t, "%s", busy >= target ? "yes" : "no");
        wr_doc_tone(t, busy >= target ? WR_DOC_GOOD : WR_DOC_BAD);
    }
}

void wr_plan_scale_table(struct wr_doc_section *s, const char *title,
                         const json_t *j)
{
    const json_t *list = wr_get_list(j, "scale");
    const json_t *first = json_array_get(list, 0);
    size_t knee = wr_plan_knee(j);
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table_of(s, title, scale_columns, 0);
    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *o = json_array_get(list, i);
        double linear = wr_get_number(first, "samples_per_s") /
                        wr_get_number(first, "nodes") *
                        wr_get_number(o, "nodes");

        wr_doc_number(t, wr_get_number(o, "nodes"), 0);
        wr_doc_number(t, wr_get_number(o, "samples_per_s"), 1);
        wr_doc_percent(t, 100 * wr_get_number(o, "utilization"), 1);
        wr_doc_percent(t, 100 * wr_get_number(o, "samples_per_s") / linear, 1);
        wr_doc_cell(t, "%s", i == knee ? "knee" : "");
    }
}

void wr_plan_fact_table(struct wr_doc_section *s, const char *title,
                        const json_t *j)
{
    const json_t *list = wr_get_list(j, "facts");
    char shown[WR_VIEW_NAME];
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table_of(s, title, fact_columns, 0);
    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *f = json_array_get(list, i);
        bool assumed = wr_get_true(f, "assumed");

        wr_doc_cell(t, "%s", wr_get_text(f, "key"));
        wr_doc_cell(t, "%s",
                    wr_get_shown(wr_get(f, "value"), shown, sizeof(shown)));
        wr_doc_cell(t, "%s", assumed ? "assumed" : "");
        wr_doc_tone(t, assumed ? WR_DOC_BAD : WR_DOC_PLAIN);
        wr_doc_cell(t, "%s", wr_get_text(f, "source"));
    }
}

/* --- several --- */

static void ratio_cell(struct wr_doc_table *t, double ratio)
{
    char text[32] = "-";

    if (isfinite(ratio))
        snprintf(text, sizeof(text), "%.2fx", ratio);
    wr_doc_shown(t, ratio, "%s", text);
}

/* Of the last epoch, all of it. */
static double epoch_s(const json_t *j)
{
    const json_t *list = wr_get_list(j, "result.epochs");
    size_t n = json_array_size(list);

    if (wr_plan_is_partial(j))
        return wr_get_number(j, "result.epoch_s");
    return wr_get_number(json_array_get(list, n ? n - 1 : 0), "seconds");
}

void wr_plan_side_table(struct wr_doc_section *s,
                        const struct wr_view_record *r, size_t n)
{
    double first = wr_get_number(r[0].json, "result.samples_per_s");
    struct wr_doc_table *t = wr_doc_table(
        s, "Plans", "<plan|>samples/s|>of the first|>AU|>epoch|<bottleneck");

    for (size_t i = 0; i < n; i++) {
        const json_t *j = r[i].json;
        const json_t *limit = json_array_get(wr_get_list(j, "bounds.limits"),
                                             0);
        double rate = wr_get_number(j, "result.samples_per_s");

        wr_doc_cell(t, "%s", r[i].label);
        wr_doc_number(t, rate, 1);
        ratio_cell(t, rate / first);
        wr_doc_percent(t, 100 * wr_get_number(j, "result.utilization"), 1);
        wr_say_time_cell(t, epoch_s(j));
        wr_doc_cell(t, "%s",
                    wr_plan_limit_name(wr_get_text(limit, "resource")));
    }
}

/* The value of a fact as text; "" if the record has none of that name. */
static char *fact_of(const json_t *j, const char *key, char *buf, size_t cap)
{
    const json_t *list = wr_get_list(j, "facts");

    *buf = '\0';
    for (size_t i = 0; i < json_array_size(list) && i < FACTS_MAX; i++)
        if (!strcmp(wr_get_text(json_array_get(list, i), "key"), key))
            return wr_get_shown(wr_get(json_array_get(list, i), "value"), buf,
                                cap);
    return buf;
}

static bool is_same(const struct wr_view_record *r, size_t n, const char *key)
{
    char a[WR_VIEW_NAME], b[WR_VIEW_NAME];

    fact_of(r[0].json, key, a, sizeof(a));
    for (size_t i = 1; i < n; i++)
        if (strcmp(a, fact_of(r[i].json, key, b, sizeof(b))))
            return false;
    return true;
}

void wr_plan_differ_table(struct wr_doc_section *s,
                          const struct wr_view_record *r, size_t n)
{
    const json_t *list = wr_get_list(r[0].json, "facts");
    struct wr_doc_table *t = NULL;
    char shown[WR_VIEW_NAME];

    for (size_t i = 0; i < json_array_size(list) && i < FACTS_MAX; i++) {
        const char *key = wr_get_text(json_array_get(list, i), "key");

        if (!*key || is_same(r, n, key))
            continue;
        if (!t)
            t = wr_doc_table(s, "What differs in the plans",
                             "<number|<plan|<value");
        for (size_t k = 0; k < n; k++) {
            wr_doc_cell(t, "%s", k ? "" : key);
            wr_doc_cell(t, "%s", r[k].label);
            wr_doc_cell(t, "%s", fact_of(r[k].json, key, shown, sizeof(shown)));
        }
    }
}
