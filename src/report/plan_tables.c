/* plan_tables.c - a plan: its tables, and what changes bring.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/plan_tables.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "base/top.h"
#include "report/say.h"
#include "result/get.h"

#define WORTH       1.02 /* a gain from which a change stands out */
#define NO_CHANGE   0.02 /* a gain below that is what simulations differ by */
#define LINEAR      0.95 /* of linear scaling: the knee is within it */
#define FACTS_MAX   300  /* that are compared */
#define CHANGES_MAX 64   /* of what-if that are shown, */
#define CHANGE_BARS 16   /* and drawn */

const char *wr_plan_limit_name(const char *resource)
{
    static const char *const names[][2] = {
        {"accelerators", "the accelerators"},
        {"bandwidth", "the bandwidth of the storage"},
        {"requests", "the requests that the storage answers"},
        {"opens", "the rate of opening files"},
        {"client", "the network or client of a node"},
        {"in flight", "the reads that the loader keeps in flight"},
        {"in_flight", "the reads that the loader keeps in flight"},
        {"cores", "the cores that decode"}};

    int k = wr_named_index(WR_NAMED(names), resource);

    return k < 0 ? resource : names[k][1];
}

bool wr_plan_is_partial(const struct wr_plan_values *p)
{
    return p->result.steps < p->result.steps_all && p->result.epoch_s > 0;
}

double wr_plan_linear_part(const struct wr_list *scale, size_t k)
{
    const struct wr_plan_scale_values *a = scale->v, *b = wr_list_at(scale, k);

    return b->samples_per_s / a->samples_per_s / (b->nodes / a->nodes);
}

size_t wr_plan_knee(const struct wr_list *scale)
{
    size_t knee = 0;

    if (scale->count < 2)
        return SIZE_MAX;
    /* Each row that is shown asks for it. */
    for (size_t i = 1; i < WR_MIN(scale->count, (size_t)WR_VIEW_ROWS); i++)
        if (wr_plan_linear_part(scale, i) >= LINEAR)
            knee = i;
    return knee;
}

static const struct wr_plan_values *plan_of(const struct wr_row *r)
{
    return r->row->values;
}

/* --- cells --- */

static double computing_share(const struct wr_row *r)
{
    const struct wr_plan_epoch_values *e = r->run;

    return 100 * e->parts.computing / e->seconds;
}

static void part_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    double seconds = wr_number_at(r->run, c->at);

    if (seconds == 0)
        wr_doc_shown(t, 0, "0");
    else
        wr_say_time_cell(t, seconds);
}

static const char *limit_cell(const struct wr_column *c, const struct wr_row *r,
                              char *buf, size_t cap)
{
    return wr_plan_limit_name(wr_text_at(r->run, c->at));
}

static double used_share(const struct wr_row *r)
{
    const struct wr_plan_limit_values *limit = r->run;

    return 100 * plan_of(r)->result.samples_per_s / limit->samples_per_s;
}

static void gain_cell(struct wr_doc_table *t, const struct wr_column *c,
                      const struct wr_row *r)
{
    double gain = wr_number_at(r->run, c->at);

    wr_doc_shown(t, gain, "%.2fx", gain);
    wr_doc_tone(t, gain >= WORTH       ? WR_DOC_GOOD
                   : gain <= 1 / WORTH ? WR_DOC_BAD
                                       : WR_DOC_PLAIN);
}

static void fed_cell(struct wr_doc_table *t, const struct wr_column *c,
                     const struct wr_row *r)
{
    const struct wr_plan_capacity_point_values *point = r->run;
    bool fed = point->utilization >= plan_of(r)->capacity.target;

    wr_doc_cell(t, "%s", fed ? "yes" : "no");
    wr_doc_tone(t, fed ? WR_DOC_GOOD : WR_DOC_BAD);
}

static double linear_share(const struct wr_row *r)
{
    return 100 * wr_plan_linear_part(&plan_of(r)->scale, r->i);
}

static bool is_knee(const struct wr_row *r)
{
    return r->i == wr_plan_knee(&plan_of(r)->scale);
}

static const char *knee_cell(const struct wr_column *c, const struct wr_row *r,
                             char *buf, size_t cap)
{
    return is_knee(r) ? "knee" : "";
}

/* A record may have it as a number. */
static const char *value_cell(const struct wr_column *c, const struct wr_row *r,
                              char *buf, size_t cap)
{
    const json_t *fact = json_array_get(wr_get_list(r->row->json, "facts"),
                                        r->i);

    return wr_get_shown(wr_get(fact, "value"), buf, cap);
}

static void assumed_cell(struct wr_doc_table *t, const struct wr_column *c,
                         const struct wr_row *r)
{
    const struct wr_plan_fact_values *fact = r->run;

    wr_doc_cell(t, "%s", fact->assumed ? "assumed" : "");
    wr_doc_tone(t, fact->assumed ? WR_DOC_BAD : WR_DOC_PLAIN);
}

static void ratio_cell(struct wr_doc_table *t, const struct wr_column *c,
                       const struct wr_row *r)
{
    const struct wr_plan_values *first = r->c->records[0].cases.v;
    double ratio = plan_of(r)->result.samples_per_s /
                   first->result.samples_per_s;
    char text[32] = "-";

    if (isfinite(ratio))
        snprintf(text, sizeof(text), "%.2fx", ratio);
    wr_doc_shown(t, ratio, "%s", text);
}

/* Of the last epoch, all of it. */
static double last_epoch_s(const struct wr_row *r)
{
    const struct wr_plan_values *p = plan_of(r);
    const struct wr_list *epochs = &p->result.epochs;
    const struct wr_plan_epoch_values *last = wr_list_at(
        epochs, epochs->count ? epochs->count - 1 : 0);

    return wr_plan_is_partial(p) ? p->result.epoch_s : last->seconds;
}

static const char *bottleneck_cell(const struct wr_column *c,
                                   const struct wr_row *r, char *buf,
                                   size_t cap)
{
    const struct wr_plan_limit_values *first = plan_of(r)->bounds.limits.v;

    return wr_plan_limit_name(first->resource);
}

/* --- tables --- */

#define OF_RUN(table, member)                                                  \
    WR_COLUMN(RUN, wr_plan_##table##_vals, struct wr_plan_##table##_values,    \
              member)
#define EPOCH(member)  OF_RUN(epoch, member)
#define LIMIT(member)  OF_RUN(limit, member)
#define CHANGE(member) OF_RUN(change, member)
#define POINT(member)  OF_RUN(capacity_point, member)
#define SCALE(member)  OF_RUN(scale, member)
#define FACT(member)   OF_RUN(fact, member)
#define PLAN(member)                                                           \
    WR_COLUMN(CASE, wr_plan_vals, struct wr_plan_values, member)
#define TIME    .show = WR_SHOW_TIME
#define PERCENT .show = WR_SHOW_PERCENT

enum { HOW = 1 };

static const struct wr_column epoch_columns[] = {
    {"epoch", .side = '>', .number = wr_cell_place},
    {"time", "of the epoch, everything included", '>', EPOCH(seconds), TIME},
    {"steps", .side = '+', EPOCH(steps)},
    {"samples/s", "of all nodes", '>', EPOCH(samples_per_s)},
    {"AU", "part of the time in which the accelerators compute", '>',
     .number = computing_share, .digits = 1, PERCENT},
    {"computing", "mean of the accelerators, as the columns behind it", '+',
     EPOCH(parts.computing), .cell = part_cell},
    {"for data", "waiting: the input is late, cores wait for bytes", '>',
     EPOCH(parts.storage), .cell = part_cell},
    {"for cores", "waiting: the input is late, cores are short", '>',
     EPOCH(parts.cores), .cell = part_cell},
    {"for others",
     "waiting for the slowest accelerator, and for the all-reduce", '>',
     .if_any = true, EPOCH(parts.others), .cell = part_cell},
    {"for saves", "waiting for checkpoints", '>', .if_any = true,
     EPOCH(parts.saves), .cell = part_cell},
    {.head = NULL}};

static const struct wr_column limit_columns[] = {
    {"limit", "what could not do more, the tightest first", '<',
     LIMIT(resource), .text = limit_cell},
    {"samples/s", "at most, if nothing else held it up", '>',
     LIMIT(samples_per_s)},
    {"of it used", "by the plan as it is", '>', .number = used_share, PERCENT},
    {.head = NULL}};

static const struct wr_column change_columns[] = {
    {"change", .side = '<', CHANGE(name)},
    {"what", .side = '<', CHANGE(what)},
    {"gain", "samples/s with it over samples/s without", '>', CHANGE(gain),
     .cell = gain_cell},
    {"samples/s", "with it", '>', CHANGE(samples_per_s)},
    {"AU", "of the accelerators, with it", '>', CHANGE(utilization), PERCENT},
    {"epoch", "time of an epoch with it", '+', CHANGE(epoch_s), TIME},
    {"how", "a command or a setting that does it", '<', HOW, CHANGE(how)},
    {.head = NULL}};

static const struct wr_column capacity_columns[] = {
    {"accelerators", "per node, that were tried", '>', POINT(accelerators)},
    {"AU", "that they reach", '>', POINT(utilization), PERCENT},
    {"samples/s", "of all nodes", '>', POINT(samples_per_s)},
    {"fed", "whether AU reaches the target", '<', .cell = fed_cell},
    {.head = NULL}};

static const struct wr_column scale_columns[] = {
    {"nodes", .side = '>', SCALE(nodes)},
    {"samples/s", "of all of them", '>', SCALE(samples_per_s)},
    {"AU", "of the accelerators", '>', SCALE(utilization), PERCENT},
    {"of linear", "samples/s over those of the first row times the nodes", '>',
     .number = linear_share, .digits = 1, PERCENT},
    {"knee", "the last row that is within 95 % of linear", '<',
     .text = knee_cell},
    {.head = NULL}};

static const struct wr_column fact_columns[] = {
    {"number", .side = '<', FACT(key)},
    {"value", .side = '<', .text = value_cell},
    {"assumed", "'assumed': it was neither given nor measured", '<',
     .cell = assumed_cell},
    {"source", "where it comes from", '<', FACT(source)},
    {.head = NULL}};

const struct wr_columns wr_plan_columns[] = {{"epochs", epoch_columns},
                                             {"limits", limit_columns},
                                             {"what-if", change_columns},
                                             {"accelerators", capacity_columns},
                                             {"nodes", scale_columns},
                                             {"assumptions", fact_columns},
                                             {NULL, NULL}};

static const struct wr_column side_columns[] = {
    {"plan", .side = '<', .text = wr_cell_record},
    {"samples/s", .side = '>', PLAN(result.samples_per_s)},
    {"of the first", .side = '>', .cell = ratio_cell},
    {"AU", .side = '>', PLAN(result.utilization), PERCENT},
    {"epoch", .side = '>', .number = last_epoch_s, TIME},
    {"bottleneck", .side = '<', .text = bottleneck_cell},
    {.head = NULL}};

const struct wr_table_rule wr_plan_epoch_table = {
    "Epochs", "epochs", epoch_columns,
    offsetof(struct wr_plan_values, result.epochs), .least = 1};

const struct wr_table_rule wr_plan_part_table = {
    "Epochs, as far as they were simulated",
    "epochs",
    epoch_columns,
    offsetof(struct wr_plan_values, result.epochs),
    .least = 1,
    .printed = "As far as it was simulated"};

const struct wr_table_rule wr_plan_limit_table = {
    "Limits", "limits", limit_columns,
    offsetof(struct wr_plan_values, bounds.limits), .least = 1};

const struct wr_table_rule wr_plan_capacity_table = {
    "Accelerators per node", "points", capacity_columns,
    offsetof(struct wr_plan_values, capacity.points), .least = 1};

const struct wr_table_rule wr_plan_scale_table = {
    "Nodes", "points", scale_columns, offsetof(struct wr_plan_values, scale),
    .least = 1};

const struct wr_table_rule wr_plan_fact_table = {
    "Numbers and their sources",
    "numbers",
    fact_columns,
    offsetof(struct wr_plan_values, facts),
    .least = 1,
    .printed = "Numbers and their sources"};

const struct wr_table_rule wr_plan_side_table = {
    .title = "Plans", .rows = "plans", .columns = side_columns};

/* --- changes --- */

/* The largest gain first. */
struct change_list {
    const struct wr_plan_change_values *v[CHANGES_MAX];
    size_t count;
};

static struct change_list sort_changes(const struct wr_plan_values *p,
                                       size_t cap)
{
    struct change_list l;
    double gains[CHANGES_MAX];
    struct wr_top top = {l.v, gains, sizeof(*l.v), cap, 0};

    for (size_t i = 0; i < p->what_if.count; i++) {
        const struct wr_plan_change_values *o = wr_list_at(&p->what_if, i),
                                           **at;

        at = isnan(o->gain) ? NULL : wr_top_add(&top, o->gain);
        if (at)
            *at = o;
    }
    l.count = top.count;
    return l;
}

/* Whether a change makes a difference. */
static bool matters(const struct wr_plan_change_values *change)
{
    return fabs(change->gain - 1) >= NO_CHANGE;
}

/* Those that change nothing are named in one sentence. */
static void say_same(struct wr_doc_section *s, const struct change_list *l)
{
    char names[400] = "";

    for (size_t i = 0; i < l->count; i++)
        if (!matters(l->v[i]))
            wr_say(names, sizeof(names), "%.40s", l->v[i]->name);
    if (*names)
        wr_doc_note(s, false, "Tried, and no difference: %s.", names);
}

void wr_plan_change_table(struct wr_scope *v)
{
    const struct change_list l = sort_changes(v->c.v->values, CHANGES_MAX);
    struct wr_doc_table *t = NULL;
    unsigned which = 0;
    bool any = false;

    for (size_t i = 0; i < l.count; i++)
        if (matters(l.v[i])) {
            which |= *wr_text_at(&l.v[i]->how, 0) ? HOW : 0;
            any = true;
        }
    if (any)
        t = wr_doc_table_of(v->s,
                            v->brief ? "What if, one change at a time"
                                     : "Changes, one at a time",
                            change_columns, which);
    for (size_t i = 0; i < l.count; i++)
        if (matters(l.v[i]))
            wr_cells(t, change_columns, which,
                     &(struct wr_row){&v->c, 0, i, v->c.v, l.v[i]});
    say_same(v->s, &l);
}

void wr_plan_change_chart(struct wr_scope *v)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "What if: samples per second with each change",
        .x = "",
        .y = "samples/s",
        .note = "One change at a time, the largest gain first."};
    const struct wr_plan_values *p = v->c.v->values;
    const struct change_list l = sort_changes(p, CHANGE_BARS);
    struct wr_doc_series *now, *then;
    struct wr_doc_chart *c;

    if (!l.count)
        return;
    c = wr_doc_chart(v->s, &spec);
    then = wr_doc_series(c, "changed");
    now = wr_doc_series(c, "now");
    wr_doc_series_is(now, WR_DOC_REFERENCE);
    wr_doc_label(c, "as it is");
    wr_doc_value(now, p->result.samples_per_s);
    wr_doc_value(then, NAN);
    for (size_t i = 0; i < l.count; i++) {
        wr_doc_label(c, "%.80s", *l.v[i]->what ? l.v[i]->what : l.v[i]->name);
        wr_doc_value(then, l.v[i]->samples_per_s);
    }
}

/* --- what differs in several --- */

/* NULL: the record has none of that name. */
static const json_t *fact_of(const json_t *j, const char *key)
{
    const json_t *list = wr_get_list(j, "facts");

    for (size_t i = 0; i < json_array_size(list) && i < FACTS_MAX; i++)
        if (!strcmp(wr_get_text(json_array_get(list, i), "key"), key))
            return wr_get(json_array_get(list, i), "value");
    return NULL;
}

static bool is_same(const struct wr_scope *v, const char *key)
{
    const json_t *first = fact_of(v->r->json, key);

    for (size_t i = 1; i < v->n; i++) {
        const json_t *other = fact_of(v->r[i].json, key);

        if (first != other && !json_equal(first, other))
            return false;
    }
    return true;
}

void wr_plan_differ_table(struct wr_scope *v)
{
    const json_t *list = wr_get_list(v->r->json, "facts");
    struct wr_doc_table *t = NULL;
    char shown[WR_VIEW_NAME];

    for (size_t i = 0; i < json_array_size(list) && i < FACTS_MAX; i++) {
        const char *key = wr_get_text(json_array_get(list, i), "key");

        if (!*key || is_same(v, key))
            continue;
        if (!t)
            t = wr_doc_table(v->s, "What differs in the plans",
                             "<number|<plan|<value");
        for (size_t k = 0; k < v->n; k++) {
            wr_doc_cell(t, "%s", k ? "" : key);
            wr_doc_cell(t, "%s", v->r[k].label);
            wr_doc_cell(
                t, "%s",
                wr_get_shown(fact_of(v->r[k].json, key), shown, sizeof(shown)));
        }
    }
}
