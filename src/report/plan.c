/* plan.c - records of weir plan as sections of a report, and what they mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/plan_charts.h"
#include "report/plan_tables.h"
#include "report/say.h"
#include "result/get.h"
#include "result/plan.h"

#define PLANS_MAX 24    /* that have sections of their own */
#define SEEN      0.01  /* a share of the time below is not told */
#define DIFFERENT 0.05  /* a last epoch that differs by more is told too */
#define GAIN      1.005 /* a change that brings less is none */
#define NAMED_MAX 8

/* What sentences tell of a plan, and what follows from it. */
#define FACTS(V)                                                               \
    V(PLAN, plan, FIRST, .flags = WR_SAY_OPEN)                                 \
    V(TEXT, who, FIRST)     /* "32 V100", "the accelerators": of all nodes */  \
    V(TEXT, subject, FIRST) /* the same, where a sentence begins */            \
    V(TEXT, s, FIRST)       /* of what one does: it "trains" */                \
    V(TEXT, wait, FIRST)    /* "they wait" */                                  \
    V(REAL, many_nodes, FIRST)                                                 \
    V(FLAG, partial, FIRST)                                                    \
    V(REAL, all_s, FIRST) /* of several epochs */                              \
    V(TEXT, lumped_because, FIRST)                                             \
    V(TEXT, each, FIRST)    /* "each" epoch, if there are several */           \
    V(REAL, epoch_s, FIRST) /* of the first one */                             \
    V(TEXT, waits, FIRST)                                                      \
    V(REAL, last_s, FIRST) /* if it differs */                                 \
    V(TEXT, last_waits, FIRST)                                                 \
    V(TEXT, limit, FIRST) /* the tightest, and the next one */                 \
    V(REAL, limit_per_s, FIRST)                                                \
    V(TEXT, next_limit, FIRST)                                                 \
    V(REAL, next_per_s, FIRST)                                                 \
    V(FLAG, busy, FIRST)  /* the accelerators are the tightest */              \
    V(FLAG, tried, FIRST) /* what if ... */                                    \
    V(TEXT, best, FIRST)                                                       \
    V(REAL, best_gain, FIRST)                                                  \
    V(REAL, needed_per_s, FIRST)                                               \
    V(TEXT, needs, FIRST)                                                      \
    V(TEXT, fed, FIRST) /* "V100 per node" */                                  \
    V(FLAG, one_fed, FIRST)                                                    \
    V(TEXT, at_least, FIRST)  /* ">= ", if more were not tried */              \
    V(TEXT, ordinal, FIRST)   /* of one more than that, */                     \
    V(REAL, next_busy, FIRST) /* and the utilization with it */                \
    V(REAL, knee_nodes, FIRST)                                                 \
    V(REAL, last_nodes, FIRST)                                                 \
    V(REAL, of_linear, FIRST) /* of the last point; not if it is the knee */   \
    V(TEXT, mtbf, FIRST)                                                       \
    V(TEXT, seen, FIRST) /* each ends as a sentence */                         \
    V(TEXT, because, FIRST)                                                    \
    V(TEXT, cure, FIRST)                                                       \
    V(REAL, loading_s, FIRST)                                                  \
    V(TEXT, made_from, FIRST)                                                  \
    V(TEXT, assumed, FIRST)

#define WR_TYPE_PLAN struct wr_plan_values
#define WR_KIND_PLAN .kind = WR_VAL_GROUP, .of = &wr_plan_vals

#define TEXTS_MAX 16

struct plan_facts {
    FACTS(WR_VAL_MEMBER)
    char texts[TEXTS_MAX][WR_VIEW_NAME + 4];
    size_t text_count;
};
#define THIS struct plan_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

static const struct wr_sentence explained[] = {
    {.text = "{seen}[ {because}]"},
    {"{because}", .when = "!seen"},
    {.text = "What would remove it: {cure}"},
    {NULL}};

static const struct wr_sentence causes[] = {
    {"{explain.cause}[ ({explain.sure:0%} sure)]", .fact = "Cause"},
    {"{explain.period:0} batches", .when = "explain.period>0",
     .fact = "Period"},
    {"{loading_s:time} of a worker", .when = "loading_s>0",
     .fact = "Loading a batch"},
    {"{explain.workers_needed:0}", .when = "explain.workers_needed>0",
     .fact = "Workers needed"},
    {NULL}};

static const struct wr_sentence described[] = {
    {"<nodes {config.nodes:0}|accelerators per node {config.accelerators:0}|"
     "model {config.model}|batch {config.batch:0}|workers {config.workers:0}|"
     "prefetch {config.prefetch:0}|style {config.style}|storage "
     "{config.storage}>",
     .fact = "Planned"},
    {"{made_from}", .fact = "Made from"},
    {NULL}};

static const struct wr_sentence answer[] = {
    {.text = "{subject}[ on {many_nodes:number} nodes] train[{s}] at "
             "{result.samples_per_s:number} samples/s[ and compute[{s}] "
             "{result.utilization:1%} of the time]."},
    {NULL}};

static const struct wr_sentence reasons[] = {
    {"Of {each} epoch of {epoch_s:time} {wait} {waits}.", .when = "!last_s"},
    {.text = "Of the first epoch of {epoch_s:time} {wait} {waits}; of the last "
             "one of {last_s:time} {last_waits}."},
    {"The accelerators are the limit ({limit_per_s:number} samples/s at most): "
     "feeding them is not.[ The next limit is {next_limit} "
     "({next_per_s:number}).]",
     .when = "busy"},
    {"The bottleneck is {limit} ({limit_per_s:number} samples/s at most)[; the "
     "next one behind it: {next_limit} ({next_per_s:number})].",
     .when = "!busy"},
    {NULL}};

static const struct wr_sentence bests[] = {
    {.text =
         "What would help most: {best} ({best_gain:g3} times the samples/s)."},
    {"No change that was tried makes it faster.", .when = "tried !best_gain"},
    {NULL}};

static const struct wr_sentence simulated[] = {
    {"All {config.epochs:number} epochs take {all_s:time}.",
     .when = "!partial"},
    {"[All {config.epochs:number} epochs take {all_s:time}. ]The first "
     "{result.steps:number} of {result.steps_all:number} steps were "
     "simulated.",
     .when = "partial"},
    {"What is alike was simulated as one: {lumped_because}",
     .when = "result.lumped"},
    {"What is alike was simulated as one.",
     .when = "result.lumped !lumped_because"},
    {NULL}};

static const struct wr_sentence needed[] = {
    {.text =
         "To train at {needed_per_s:number} samples/s without waiting, {who} "
         "need[{s}] {needs}."},
    {"So as never to wait, {who} need[{s}] {needs}.", .when = "!needed_per_s"},
    {"Not even one accelerator of this kind computes {capacity.target:g4%} of "
     "the time.",
     .when = "capacity.accelerators<1"},
    {"This storage feeds at least {capacity.accelerators:number} {fed}: more "
     "were not tried.",
     .when = "capacity.accelerators>0 capacity.unlimited capacity.target"},
    {"This storage feeds {capacity.accelerators:number} {fed}; the {ordinal} "
     "drops the utilization below {capacity.target:g4%} (to {next_busy:1%}).",
     .when = "capacity.accelerators>0 !capacity.unlimited"},
    {"This storage feeds {capacity.accelerators:number} {fed} at a utilization "
     "of {capacity.target:g4%} or more.",
     .when = "capacity.accelerators>0 !capacity.unlimited !next_busy"},
    {"It scales linearly up to {knee_nodes:number} nodes: more were not tried.",
     .when = "!of_linear"},
    {.text = "It scales linearly up to {knee_nodes:number} "
             "node{knee_nodes:plural}; {last_nodes:number} nodes reach "
             "{of_linear:g3%} of that."},
    {"{result.saves.count:number} checkpoint{result.saves.count:plural}, each "
     "stops training for {result.saves.stall_s:time}[; <safe on the slow tier "
     "after {result.saves.durable_s:time}|{result.saves.blocked:number} waited "
     "for the one before>].",
     .when = "result.saves.count>0"},
    {"Save every {saving.young_s:time} by Young or {saving.daly_s:time} by "
     "Daly[ (a failure every {mtbf})][; the plan saves every "
     "{saving.chosen_s:time}].",
     .when = "saving.young_s>0"},
    {.text = "A failure costs {saving.lost_s:time}[, {saving.restore_s:time} "
             "of it to restore]; saves and failures take {saving.waste:g3%} of "
             "the time[ ({saving.waste_best:g3%} with Daly's interval)]."},
    {NULL}};

static const struct wr_sentence assumed[] = {
    {.text = "Assumed, neither given nor measured: {assumed}."}, {NULL}};

/* Figures that stand out, by what they are. */
static const struct wr_sentence headlines[] = {
    {"{result.samples_per_s:number}", .fact = "samples per second"},
    {"{result.utilization:1%}", .fact = "of the time the accelerators compute"},
    {"[{at_least}]{capacity.accelerators:number}", .when = "one_fed",
     .fact = "accelerator can be fed"},
    {"[{at_least}]{capacity.accelerators:number}", .when = "!one_fed",
     .fact = "accelerators can be fed"},
    {"{explain.lost_share:1%}", .fact = "of the time seen is lost to stalls"},
    {"{explain.period:number}", .when = "explain.period>0",
     .fact = "batches from stall to stall"},
    {NULL}};

static const struct wr_sentence *const sentences[] = {
    explained, causes, described, answer,    reasons, bests,
    simulated, needed, assumed,   headlines, NULL};

/* --- facts --- */

/* Room for a text of them. */
static char *new_text(struct plan_facts *f)
{
    char *text = f->texts[f->text_count++];

    *text = '\0';
    return text;
}

/* A text that ends as a sentence; "" stays. */
static const char *stopped(struct plan_facts *f, const char *text)
{
    char *to = new_text(f);

    snprintf(to, sizeof(*f->texts), "%.*s%s", WR_VIEW_NAME, text,
             wr_say_stop(text));
    return to;
}

static double above_0(double x)
{
    return x > 0 ? x : NAN;
}

/* ", x" of a list in buf becomes " and x" if it is the last. */
static void end_list(char *buf)
{
    char *last = NULL;

    for (char *p = buf; (p = strstr(p, ", ")); p++)
        last = p;
    if (last && strlen(buf) + 4 < WR_VIEW_NAME) {
        memmove(last + 5, last + 2, strlen(last + 2) + 1);
        memcpy(last, " and ", 5);
    }
}

static void who_facts(struct plan_facts *f)
{
    const struct wr_plan_config_values *c = &f->plan.config;
    double nodes = c->nodes >= 1 ? c->nodes : 1, n = c->accelerators * nodes;
    bool named = !strchr(c->accelerator, '=') && /* as "ms=218" is */
                 strcmp(c->accelerator, "none");
    const char *name = named ? c->accelerator : "";
    char count[32] = "the", *who = new_text(f), *subject = new_text(f);
    char *fed = new_text(f);

    if (n >= 1)
        wr_say_number(n, count, sizeof(count));
    if (*name)
        snprintf(who, WR_VIEW_NAME, "%s %.60s", count, name);
    else
        snprintf(who, WR_VIEW_NAME, "%s accelerator%s", count,
                 n == 1 ? "" : "s");
    snprintf(subject, WR_VIEW_NAME, "%s%s", *who == 't' ? "T" : "",
             who + (*who == 't'));
    if (!*name)
        name = f->plan.capacity.accelerators == 1 ? "accelerator"
                                                  : "accelerators";
    snprintf(fed, WR_VIEW_NAME, "%.60s%s", name, nodes > 1 ? " per node" : "");
    f->who = who;
    f->subject = subject;
    f->fed = fed;
    f->s = n == 1 ? "s" : "";
    f->wait = n == 1 ? "it waits" : "they wait";
    f->many_nodes = nodes > 1 ? nodes : NAN;
}

/* What the accelerators wait for in an epoch of `whole_s`, of which `epoch` may be
 * a part. */
static const char *list_waits(struct plan_facts *f,
                              const struct wr_plan_epoch_values *epoch,
                              double whole_s)
{
    static const char *const waits[][2] = {
        {"storage", "for the storage"},
        {"cores", "for cores that decode"},
        {"others", "for the slowest of them and the all-reduce"},
        {"saves", "for checkpoints"}};
    char time[32], *buf = new_text(f);

    for (size_t i = 0; i < WR_ARRAY_LEN(waits); i++) {
        double share = wr_vals_number(&wr_plan_parts_vals, &epoch->parts,
                                      waits[i][0]) /
                       epoch->seconds;

        if (share >= SEEN)
            wr_say(buf, WR_VIEW_NAME, "%s %s (%.0f %%)",
                   wr_say_time(share * whole_s, time, sizeof(time)),
                   waits[i][1], 100 * share);
    }
    end_list(buf);
    return *buf ? buf : "for nothing";
}

static void epoch_facts(struct plan_facts *f)
{
    const struct wr_plan_result_values *r = &f->plan.result;
    size_t n = r->epochs.count;
    const struct wr_plan_epoch_values *first = r->epochs.v,
                                      *last = first + (n ? n - 1 : 0);

    f->partial = wr_plan_is_partial(&f->plan);
    if (f->plan.config.epochs > 1)
        f->all_s = above_0(r->train_s);
    if (!(first->seconds > 0))
        return;
    f->each = n > 1 ? "each" : "an";
    f->epoch_s = f->partial ? r->epoch_s : first->seconds;
    f->waits = list_waits(f, first, f->epoch_s);
    if (f->partial || !(last->seconds > 0) ||
        fabs(first->seconds - last->seconds) <= DIFFERENT * first->seconds)
        return;
    f->last_s = last->seconds;
    f->last_waits = list_waits(f, last, last->seconds);
}

static void limit_facts(struct plan_facts *f)
{
    const struct wr_list *list = &f->plan.bounds.limits;
    size_t found = 0;

    for (size_t i = 0; i < list->count && found < 2; i++) {
        const struct wr_plan_limit_values *o = wr_list_at(list, i);

        if (!(o->samples_per_s >= 0) || !*o->resource)
            continue;
        *(found ? &f->next_limit : &f->limit) = wr_plan_limit_name(o->resource);
        *(found ? &f->next_per_s : &f->limit_per_s) = o->samples_per_s;
        f->busy |= !found++ && !strcmp(o->resource, "accelerators");
    }
}

static void change_facts(struct plan_facts *f)
{
    const struct wr_list *list = &f->plan.what_if;

    f->tried = list->count > 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct wr_plan_change_values *o = wr_list_at(list, i);

        if (!(o->gain > (isnan(f->best_gain) ? GAIN : f->best_gain)))
            continue;
        f->best = *o->what ? o->what : o->name;
        f->best_gain = o->gain;
    }
}

static void need_facts(struct plan_facts *f)
{
    const struct wr_plan_demand_values *d = &f->plan.demand;
    char n[32], *text = new_text(f);

    if (d->bytes_per_s > 0)
        wr_say(text, WR_VIEW_NAME, "%s/s",
               wr_format_three(n, sizeof(n), d->bytes_per_s));
    if (d->opens_per_s > 0)
        wr_say(text, WR_VIEW_NAME, "%s file%s/s",
               wr_say_number(d->opens_per_s, n, sizeof(n)),
               d->opens_per_s == 1 ? "" : "s");
    if (d->cores > 0)
        wr_say(text, WR_VIEW_NAME, "%s core%s of decoding",
               wr_say_number(d->cores, n, sizeof(n)), d->cores == 1 ? "" : "s");
    end_list(text);
    f->needs = text;
    f->needed_per_s = above_0(d->samples_per_s);
}

/* "1st", "22nd", "113th". */
static const char *ordinal(struct plan_facts *f, double v)
{
    int two = (int)fmod(fmin(v, 1e9), 100), one = two % 10;
    const char *end = two > 10 && two < 14 ? "th"
                      : one == 1           ? "st"
                      : one == 2           ? "nd"
                      : one == 3           ? "rd"
                                           : "th";
    char *text = new_text(f);

    wr_say_number(v, text, WR_VIEW_NAME);
    return strcat(text, end);
}

static void capacity_facts(struct plan_facts *f)
{
    const struct wr_plan_capacity_values *c = &f->plan.capacity;
    const struct wr_list *scale = &f->plan.scale;
    const struct wr_plan_scale_values *points = scale->v;
    size_t knee = wr_plan_knee(scale), n = scale->count;

    for (size_t i = c->points.count; i-- > 0;) {
        const struct wr_plan_capacity_point_values *o = wr_list_at(&c->points,
                                                                   i);

        if (o->accelerators == c->accelerators + 1)
            f->next_busy = o->utilization;
    }
    f->one_fed = c->accelerators == 1;
    f->at_least = c->unlimited ? ">= " : "";
    if (c->accelerators >= 0)
        f->ordinal = ordinal(f, c->accelerators + 1);
    if (knee == SIZE_MAX || !(wr_plan_linear_part(scale, n - 1) >= 0))
        return;
    f->knee_nodes = points[knee].nodes;
    f->last_nodes = wr_known_or(points[n - 1].nodes, 0);
    if (knee + 1 < n)
        f->of_linear = wr_plan_linear_part(scale, n - 1);
}

static void save_facts(struct plan_facts *f)
{
    struct wr_plan_saves_values *saves = &f->plan.result.saves;
    struct wr_plan_saving_values *s = &f->plan.saving;
    char *mtbf = new_text(f);

    saves->stall_s = fmax(0, saves->stall_s);
    saves->durable_s = above_0(saves->durable_s);
    saves->blocked = above_0(saves->blocked);
    s->chosen_s = above_0(s->chosen_s);
    s->restore_s = above_0(s->restore_s);
    if (!(s->waste_best < 0.99 * s->waste))
        s->waste_best = NAN;
    if (s->mtbf_s >= 2 * 86400.0) /* failures are days and weeks apart */
        snprintf(mtbf, WR_VIEW_NAME, "%.3g days", s->mtbf_s / 86400);
    else if (s->mtbf_s > 0)
        wr_say_time(s->mtbf_s, mtbf, WR_VIEW_NAME);
    f->mtbf = mtbf;
}

/* What was seen, what it was made from, and what was assumed. */
static void source_facts(struct plan_facts *f)
{
    struct wr_plan_explain_values *e = &f->plan.explain;
    char *inputs = new_text(f), *names = new_text(f);
    size_t n = 0;

    f->seen = stopped(f, e->what);
    f->because = stopped(f, e->why);
    f->cure = stopped(f, e->change);
    f->loading_s = e->load_ms / 1e3;
    if (!(e->sure <= 1))
        e->sure = NAN;
    for (size_t i = 0; i < WR_MIN(f->plan.inputs.count, (size_t)PLANS_MAX);
         i++) {
        const struct wr_plan_input_values *o = wr_list_at(&f->plan.inputs, i);
        const char *kind = wr_text_at(&o->kind, 0);

        wr_say(inputs, WR_VIEW_NAME, "%.120s%s%.40s%s", wr_text_at(&o->path, 0),
               *kind ? " (" : "", kind, *kind ? ")" : "");
    }
    for (size_t i = 0; i < f->plan.facts.count; i++) {
        const struct wr_plan_fact_values *o = wr_list_at(&f->plan.facts, i);

        if (o->assumed && n++ < NAMED_MAX)
            wr_say(names, WR_VIEW_NAME, "%.40s", o->key);
    }
    if (n > NAMED_MAX)
        wr_say(names, WR_VIEW_NAME, "...");
    f->made_from = inputs;
    f->assumed = names;
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    struct plan_facts *f = ret;

    wr_vals_clear(&facts, f);
    f->text_count = 0;
    f->plan = *(const struct wr_plan_values *)c->records[record].cases.v;
    who_facts(f);
    epoch_facts(f);
    limit_facts(f);
    change_facts(f);
    need_facts(f);
    capacity_facts(f);
    save_facts(f);
    source_facts(f);
    if (f->plan.result.lumped)
        f->lumped_because = stopped(f, f->plan.result.lumped_why);
}

/* --- the top of the page --- */

/* The explanation of what was seen comes first, if somebody asked for it. */
static void plan_summarize(struct wr_doc *d, const struct wr_view_record *r,
                           size_t n, size_t room)
{
    static const struct wr_sentence *const lists[] = {explained, answer,
                                                      reasons, bests};
    const struct wr_cases c = {.records = r, .record_count = n};
    char label[WR_VIEW_NAME], text[32];
    struct plan_facts f;

    for (size_t i = 0; i < n && i < room; i++) {
        find_facts(&c, i, &f);
        if (n == 1) {
            for (const struct wr_sentence *s = headlines; s->text; s++)
                if (wr_sentence(s, &facts, &f, text, sizeof(text)))
                    wr_doc_headline(d, s->fact, "%s", text);
            for (size_t k = 0; k < WR_ARRAY_LEN(lists); k++)
                room -= wr_sentences_top(d, "", lists[k], &facts, &f, room);
        } else if (wr_sentences_top(d, r[i].label, answer, &facts, &f, 1)) {
            snprintf(label, sizeof(label), "samples per second: %.200s",
                     r[i].label);
            wr_doc_headline(
                d, label, "%s",
                wr_say_number(f.plan.result.samples_per_s, text, sizeof(text)));
        }
    }
}

/* --- sections --- */

static bool is_explained(const struct wr_scope *v)
{
    return wr_get_object(v->r->json, "explain");
}

static bool is_planned(const struct wr_scope *v)
{
    const struct wr_plan_values *p = v->c.v->values;

    return p->result.samples_per_s >= 0 || !is_explained(v);
}

/* The section of the plan has it, if there is one. */
static bool is_not_planned(const struct wr_scope *v)
{
    return !is_planned(v);
}

static bool has_changes(const struct wr_scope *v)
{
    const struct wr_plan_values *p = v->c.v->values;

    return is_planned(v) && p->what_if.count;
}

static bool is_partial(const struct wr_scope *v)
{
    return wr_plan_is_partial(v->c.v->values);
}

static bool is_whole(const struct wr_scope *v)
{
    return !is_partial(v);
}

/* The same description gives the same numbers, so any difference is one. */
static void say_computed(struct wr_scope *v)
{
    wr_doc_note(v->s, false,
                "Plans are computed, not measured: there is no noise, every "
                "difference comes from what differs in them.");
}

static const struct wr_section sections[] = {
    {.title = "Plans side by side",
     .plain = true,
     .only = WR_IF_SEVERAL,
     .items = WR_ITEMS({.show = say_computed}, {.chart = &wr_plan_rate_chart},
                       {.chart = &wr_plan_capacity_chart},
                       {.show = wr_plan_scale_chart}, {.show = wr_plan_life},
                       {.table = &wr_plan_side_table},
                       {.show = wr_plan_differ_table})},
    {.title = "What was seen, and why",
     .plain = true,
     .of = WR_OF_EACH,
     .is_needed = is_explained,
     .items = WR_ITEMS({.show = wr_show_host, .is_needed = is_not_planned},
                       {.say = {causes}},
                       {.say = {explained}, .only = WR_IF_BESIDE},
                       {.show = wr_plan_batch_chart})},
    {.title = "Plan",
     .plain = true,
     .of = WR_OF_EACH,
     .is_needed = is_planned,
     .items = WR_ITEMS(
         {.show = wr_show_host}, {.say = {described}},
         {.say = {answer, reasons}, .only = WR_IF_BESIDE}, {.say = {simulated}},
         {.show = wr_plan_life, .only = WR_IF_ONE},
         {.chart = &wr_plan_epoch_chart, .is_needed = is_whole},
         {.chart = &wr_plan_part_chart, .is_needed = is_partial},
         {.show = wr_plan_limit_chart}, {.show = wr_plan_step_chart},
         {.table = &wr_plan_epoch_table, .is_needed = is_whole},
         {.table = &wr_plan_part_table, .is_needed = is_partial},
         {.table = &wr_plan_limit_table})},
    {.title = "What if",
     .plain = true,
     .of = WR_OF_EACH,
     .is_needed = has_changes,
     .items = WR_ITEMS({.show = wr_plan_change_chart},
                       {.show = wr_plan_change_table})},
    {.title = "What it takes",
     .plain = true,
     .of = WR_OF_EACH,
     .is_needed = is_planned,
     .items = WR_ITEMS({.say = {needed}},
                       {.chart = &wr_plan_capacity_chart, .only = WR_IF_ONE},
                       {.show = wr_plan_scale_chart, .only = WR_IF_ONE},
                       {.table = &wr_plan_capacity_table},
                       {.table = &wr_plan_scale_table})},
    {.title = "Numbers it is made of",
     .plain = true,
     .of = WR_OF_EACH,
     .is_needed = is_planned,
     .items = WR_ITEMS({.say = {assumed}}, {.table = &wr_plan_fact_table})},
    {.items = NULL}};

/* Sections without a title keep the order: in each, sentences come first. */
static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.say = {explained}}, {.show = wr_plan_batch_chart})},
    {.items = WR_ITEMS(
         {.say = {answer, reasons, simulated}}, {.show = wr_plan_life},
         {.table = &wr_plan_epoch_table, .is_needed = is_whole},
         {.table = &wr_plan_part_table, .is_needed = is_partial})},
    {.items = WR_ITEMS({.show = wr_plan_change_table})},
    {.items = WR_ITEMS({.say = {needed}}, {.table = &wr_plan_scale_table})},
    {.items = WR_ITEMS({.say = {assumed}}, {.table = &wr_plan_fact_table})},
    {.items = NULL}};

const struct wr_view wr_view_plan = {.command = "plan",
                                     .summarize = plan_summarize,
                                     .rows = &wr_plan_spec,
                                     .sections = sections,
                                     .printed = printed,
                                     .facts = &facts,
                                     .find_facts = find_facts,
                                     .sentences = sentences,
                                     .most = PLANS_MAX};
