/* train.c - records of weir train as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/say.h"
#include "report/train_tables.h"
#include "report/view_monitor.h"
#include "result/get.h"
#include "result/train.h"

#define RUNS_MAX          24  /* that have a section of their own */
#define VALIDATIONS_SHOWN 20  /* rows of their table, the last ones */
#define UNEVEN            1.2 /* times its share: a class is told to be common */
#define LATE              0.02  /* of the time: the first batch took long */
#define SEEN              0.005 /* a cost below that is none */
#define NOISE             0.1   /* rounds that differ by more tell nothing */

/* What sentences have beside the values of a run of training. */
#define FACTS(V)                                                               \
    V(GROUP(train), train, FIRST, .flags = WR_SAY_OPEN)                        \
    V(TEXT, url, FIRST)                                                        \
    V(TEXT, format, FIRST)                                                     \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, weights, FIRST) /* in millions */                                  \
    V(TEXT, asked, FIRST)   /* settings */                                     \
    V(FLAG, compared, FIRST)                                                   \
    V(FLAG, nothing_left, FIRST)                                               \
    V(REAL, cost, FIRST)   /* of the input */                                  \
    V(TEXT, told, FIRST)   /* that it costs something, nothing, ... */         \
    V(TEXT, spread, FIRST) /* what the rounds say of it */                     \
    V(TEXT, cost_reason, FIRST)                                                \
    V(REAL, waited, FIRST) /* parts of the time without validating */          \
    V(REAL, saved, FIRST)                                                      \
    V(TEXT, limit, FIRST)                                                      \
    V(REAL, stall, FIRST)                                                      \
    V(REAL, common, FIRST)                                                     \
    V(REAL, wait, FIRST) /* parts of the time after the first batch */         \
    V(REAL, save, FIRST)                                                       \
    V(REAL, saving, FIRST)                                                     \
    V(FLAG, alone, FIRST) /* the input */                                      \
    V(FLAG, snapshot, FIRST)                                                   \
    V(TEXT, late, FIRST)                                                       \
    V(TEXT, input_reason, FIRST)                                               \
    V(TEXT, unfetched, FIRST)                                                  \
    V(TEXT, meanwhile, FIRST)

struct train_facts {
    FACTS(WR_VAL_MEMBER)
    char asked_text[2 * WR_VIEW_NAME], told_text[96], spread_text[96],
        meanwhile_text[WR_VIEW_NAME];
};
#define THIS struct train_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

/* --- sentences --- */

static const struct wr_sentence described[] = {
    {"{url} ({format}), {samples:0} samples, {bytes:bytes}",
     .fact = "Data set"},
    {"{network.name}, width {network.width:g}[, {weights:1} million weights]",
     .fact = "Network"},
    {"{accelerator.name}[: {accelerator.source}]", .fact = "Accelerator"},
    {"{asked}", .fact = "Settings"},
    {"Resumed at iteration {result.resumed_at:0}.",
     .when = "result.resumed_at>0"},
    {"{bad_count:0} samples could not be read.", .when = "bad_count>0",
     .warning = true},
    {NULL}};

static const struct wr_sentence left[] = {
    {"Nothing was left to do: all {result.iterations:0} iterations had been "
     "done (more: --epochs or --iterations).",
     .when = "nothing_left"},
    {"Resumed after iteration {result.resumed_at:0}.",
     .when = "!nothing_left result.resumed_at>0"},
    {NULL}};

static const struct wr_sentence input_cost[] = {
    {.text = "{told} ({spread} of {compare.iterations:0} "
             "iteration{compare.iterations:plural}): "
             "{compare.full.images_per_s:number} images/s with it, "
             "{compare.synthetic.images_per_s:number} without; alone it "
             "delivers {compare.input.images_per_s:number} images/s."},
    {.text = "{cost_reason}"},
    {NULL}};

/* How good it became, what limits it, and what the machine did. */
static const struct wr_sentence answers[] = {
    {"Held-out accuracy {result.accuracy:1%} of {result.held_out:0} "
     "sample{result.held_out:plural} (chance: {result.chance:1%}[; always the "
     "most common class: {common:1%}]), loss {result.held_out_loss:g3}.",
     .when = "result.held_out>0"},
    {"Computing limits: the input cost {wait:1%} of the time[{late}][, saving "
     "{saving:1%}].",
     .when = "result.limit=compute"},
    {"Input alone: {result.samples_per_s:1} images/s; {input_reason}.",
     .when = "result.limit=input alone"},
    {"The input limits: training waited for it {wait:0%} of the time; "
     "{input_reason}[{unfetched}].",
     .when = "result.limit=input !alone"},
    {"Saving limits: training stood still {save:0%} of the time; saving less "
     "often (--save-every) or a fast tier holds it less.",
     .when = "result.limit=saving snapshot"},
    {"Saving limits: training stood still {save:0%} of the time; --level "
     "snapshot or a fast tier holds it less.",
     .when = "result.limit=saving !snapshot"},
    {.text = "{meanwhile}"},
    {.text = "Digest of the weights: {result.weights_digest}"},
    {NULL}};

static const struct wr_sentence summary[] = {
    {"Training runs at {compare.full.images_per_s:number} images/s, computing "
     "alone at {compare.synthetic.images_per_s:number}[, the input alone at "
     "{compare.input.images_per_s:number}]: the input costs {cost:0%}.",
     .when = "cost"},
    {"This run: {result.samples_per_s:number} images/s[; <waiting for input "
     "takes {waited:1%} of the time|saving {saved:1%}|{limit} limits it>].",
     .when = "compared result.samples_per_s>0"},
    {"Training runs at {result.samples_per_s:number} images/s[; <waiting for "
     "input takes {waited:1%} of the time|saving {saved:1%}|{limit} limits "
     "it>].",
     .when = "!compared result.samples_per_s>0"},
    {.text = "The loss went from {result.loss_first:number} to "
             "{result.loss_last:number} in {result.iterations:0} "
             "iterations[; of the held-out pictures it has "
             "{result.accuracy:1%} right[ (by chance {result.chance:1%})]]."},
    {"{result.saves:0} save{result.saves:plural} stopped training for "
     "{stall:time} each, {result.save_max_s:time} at most.",
     .when = "result.saves>0"},
    {NULL}};

static const struct wr_sentence *const sentences[] = {
    described, left, input_cost, answers, summary, NULL};

/* --- facts --- */

static bool is_word(const char *text, const char *word)
{
    return !strcmp(wr_text_at(&text, 0), word);
}

/* What was asked for, as far as it matters; 0 is no limit, or none of it. */
static void list_settings(const json_t *settings, char *buf, size_t cap)
{
    static const char *const keys[] = {
        "iterations",      "epochs",        "batch", "threads", "depth",
        "prefetch",        "decode",        "order", "holdout", "engine",
        "compute_threads", "learning_rate", "ckpt",  "slow",    "save_every",
        "level",           "synthetic",     "width",
    };
    const struct wr_case row = {.settings = settings};

    *buf = '\0';
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++) {
        const json_t *v = json_object_get(settings, keys[i]);
        bool none = json_is_false(v) || wr_get_number(settings, keys[i]) == 0;

        if (!none || !strcmp(keys[i], "prefetch"))
            wr_case_setting(&row, keys[i], buf, cap);
    }
}

/* Why the input was late, from what its workers did. */
static const char *input_reason(const struct wr_train_values *t)
{
    static const char *const reasons[][2] = {
        {"storage-bound", "the storage is too slow for it"},
        {"decode-bound", "decoding takes the cores"},
        {"convert-bound", "converting tensors takes the cores"}};

    for (size_t i = 0; i < WR_ARRAY_LEN(reasons); i++)
        if (is_word(t->input.verdict, reasons[i][0]))
            return reasons[i][1];
    return is_word(t->accelerator.name, "cpu")
               ? "it shares the cores with computing"
               : "its workers had little to do";
}

/* Why the input costs something, where the numbers tell. */
static const char *cost_reason(const struct wr_train_values *t)
{
    if (t->compare.input.images_per_s < t->compare.synthetic.images_per_s)
        return "Alone it delivers less than computing takes: 'weir bench' says "
               "what limits it.";
    if (!(t->input.prefetch > 0))
        return "It is fast enough, but nothing is prefetched: --prefetch 1.";
    if (is_word(t->accelerator.name, "cpu"))
        return "It is fast enough alone: what it costs is the cores that it "
               "shares with computing.";
    return "It is fast enough on average, but batches come too late now and "
           "then: a larger --prefetch may help.";
}

static void cost_facts(struct train_facts *f)
{
    const struct wr_train_compare_values *c = &f->train.compare;
    double cost = c->cost.median, min = c->cost.min, max = c->cost.max;
    /* What is smaller than what the rounds differ by cannot be told from
     * none. */
    bool seen = cost >= SEEN && (min > 0 || max == min);

    if (c->full.images_per_s > 0 && c->synthetic.images_per_s > 0)
        f->cost = fmax(0, wr_known_or(cost, 1 - c->full.images_per_s /
                                                    c->synthetic.images_per_s));
    if (isnan(cost))
        return;
    f->told = fabs(cost) < NOISE && cost < SEEN && max - min < NOISE
                  ? "The input pipeline costs nothing that can be seen here"
                  : "What the input pipeline costs cannot be told, the times "
                    "differ too much";
    if (seen) {
        snprintf(f->told_text, sizeof(f->told_text),
                 "The input pipeline costs %.1f %% of the training time",
                 100 * cost);
        f->told = f->told_text;
        f->cost_reason = cost_reason(&f->train);
    }
    if (c->rounds > 1)
        snprintf(f->spread_text, sizeof(f->spread_text),
                 "%.1f to %.1f %% in %.0f rounds", 100 * min, 100 * max,
                 c->rounds);
    else
        snprintf(f->spread_text, sizeof(f->spread_text), "%.1f %% in one round",
                 100 * cost);
    f->spread = f->spread_text;
}

/* What the time went for, with validating and without. */
static void time_facts(struct train_facts *f)
{
    const struct wr_train_result_values *r = &f->train.result;
    double trained = r->seconds - fmax(0, r->validate_s);
    double first = fmax(0, r->first_wait_s), waited = r->wait_s - first;
    double all = waited + r->step_s + r->save_s;

    if (trained > 0)
        f->waited = r->wait_s / trained;
    if (r->save_s > 0 && trained > 0)
        f->saved = r->save_s / trained;
    f->wait = all > 0 ? fmax(0, waited / all) : 0;
    f->save = all > 0 ? r->save_s / all : 0;
    if (r->saves > 0) {
        f->saving = f->save;
        f->stall = r->save_s / r->saves;
    }
    if (first > LATE * r->seconds)
        f->late = " after the first batch";
    if (!is_word(r->limit, "unknown"))
        f->limit = r->limit;
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    const json_t *j = c->records[record].json;
    const struct wr_train_values *t = wr_train_values_of(&c->records[record]);
    double from = t->start_s;
    struct train_facts *f = ret;

    wr_vals_clear(&facts, f);
    f->train = *t;
    f->url = wr_get_text(j, "dataset.url");
    f->format = wr_get_text(j, "dataset.format");
    f->samples = wr_get_number(j, "dataset.samples");
    f->bytes = wr_get_number(j, "dataset.bytes");
    if (t->network.parameters > 0) /* else none were needed */
        f->weights = t->network.parameters / 1e6;
    list_settings(t->settings, f->asked_text, sizeof(f->asked_text));
    f->asked = f->asked_text;
    f->compared = wr_get_object(j, "compare") != NULL;
    f->nothing_left = t->result.iterations == t->result.resumed_at;
    cost_facts(f);
    time_facts(f);
    if (t->result.most_common > UNEVEN * t->result.chance)
        f->common = t->result.most_common;
    f->alone = is_word(t->accelerator.name, "none");
    f->snapshot = is_word(wr_get_text(j, "settings.level"), "snapshot");
    f->input_reason = input_reason(t);
    if (!(t->input.prefetch > 0))
        f->unfetched = ", and nothing is prefetched (--prefetch 1)";
    wr_meanwhile(j, from, from + t->result.seconds, f->meanwhile_text,
                 sizeof(f->meanwhile_text));
    f->meanwhile = f->meanwhile_text;
}

/* --- what runs are called --- */

static bool same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

/* Whether all have trained the same network on the same number of samples. */
static bool are_comparable(const struct wr_scope *v)
{
    static const char *const keys[] = {"dataset.samples", "network.width",
                                       "network.classes"};

    for (size_t i = 1; i < v->n; i++)
        for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++)
            if (!same(wr_get(v->r[0].json, keys[k]),
                      wr_get(v->r[i].json, keys[k])))
                return false;
    return true;
}

static bool differs(const struct wr_view_record *r, size_t n, const char *key)
{
    const json_t *first = wr_get_object(r[0].json, "settings");

    for (size_t i = 1; i < n; i++)
        if (!same(json_object_get(first, key),
                  json_object_get(wr_get_object(r[i].json, "settings"), key)))
            return true;
    return false;
}

/* Appends a setting that differs to the name of each. */
static void add_setting(const struct wr_view_record *r, size_t n,
                        const char *key, char (*names)[WR_VIEW_NAME])
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_case row = {
            .settings = wr_get_object(r[i].json, "settings")};

        wr_case_setting(&row, key, names[i], WR_VIEW_NAME);
    }
}

static void add_accelerators(const struct wr_view_record *r, size_t n,
                             char (*names)[WR_VIEW_NAME])
{
    const char *first = wr_get_text(r[0].json, "accelerator.name");
    bool differ = false;

    for (size_t i = 1; i < n; i++)
        differ |= strcmp(first, wr_get_text(r[i].json, "accelerator.name"));
    for (size_t i = 0; i < n && differ; i++)
        snprintf(names[i], WR_VIEW_NAME, "%s",
                 wr_get_text(r[i].json, "accelerator.name"));
}

/* What differs among their settings, or the record's label where that does not
 * tell each from all others. */
static void train_names(const struct wr_view_record *r, size_t n,
                        char (*names)[WR_VIEW_NAME])
{
    /* Iterating is not const in jansson, but changes nothing. */
    json_t *settings = (json_t *)(uintptr_t)wr_get_object(r[0].json,
                                                          "settings");
    bool unique = true;
    const char *key;
    json_t *value;

    for (size_t i = 0; i < n; i++)
        names[i][0] = '\0';
    add_accelerators(r, n, names);
    json_object_foreach(settings, key, value) if (differs(r, n, key))
        add_setting(r, n, key, names);
    for (size_t i = 0; i < n; i++) {
        unique &= names[i][0] != '\0';
        for (size_t k = 0; k < i; k++)
            unique &= strcmp(names[i], names[k]) != 0;
    }
    for (size_t i = 0; i < n && !unique; i++)
        snprintf(names[i], WR_VIEW_NAME, "%s", r[i].label);
}

/* --- the top of the page --- */

static void headlines(struct wr_doc *d, const struct train_facts *f)
{
    const struct wr_train_result_values *r = &f->train.result;
    char text[32];

    if (f->cost >= 0)
        wr_doc_headline(d, "cost of the input", "%.0f %%", 100 * f->cost);
    if (r->samples_per_s > 0)
        wr_doc_headline(d, "images/s trained", "%s",
                        wr_say_number(r->samples_per_s, text, sizeof(text)));
    if (r->samples_per_s > 0 && f->waited >= 0)
        wr_doc_headline(d, "of the time goes to waiting for input", "%.1f %%",
                        100 * f->waited);
    if (isnan(r->loss_first) || isnan(r->loss_last))
        return;
    if (r->accuracy >= 0)
        wr_doc_headline(d, "of held-out pictures right", "%.1f %%",
                        100 * r->accuracy);
    else
        wr_doc_headline(d, "loss at the end", "%s",
                        wr_say_number(r->loss_last, text, sizeof(text)));
}

static double rate_of(const struct wr_view_record *r)
{
    return wr_train_values_of(r)->result.samples_per_s;
}

/* The fastest and the slowest, by what tells them apart. */
static void say_several(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    char names[RUNS_MAX][WR_VIEW_NAME], a[32], b[32];
    size_t best = 0, worst = 0;

    train_names(r, n, names);
    for (size_t i = 1; i < n; i++) {
        if (rate_of(&r[i]) > rate_of(&r[best]))
            best = i;
        if (rate_of(&r[i]) < rate_of(&r[worst]))
            worst = i;
    }
    wr_say_number(rate_of(&r[best]), a, sizeof(a));
    wr_say_number(rate_of(&r[worst]), b, sizeof(b));
    wr_doc_summary(d,
                   "Of %zu runs of training the fastest has %s images/s (%s), "
                   "the slowest %s (%s).",
                   n, a, names[best], b, names[worst]);
    wr_doc_headline(d, "images per second in the fastest run", "%s", a);
    wr_doc_headline(d, "in the slowest", "%s", b);
}

static void train_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    const struct wr_cases c = {.records = r, .record_count = n};
    struct train_facts f;

    if (n > 1) {
        say_several(d, r, WR_MIN(n, (size_t)RUNS_MAX));
        return;
    }
    find_facts(&c, 0, &f);
    wr_sentences_top(d, "", summary, &facts, &f, room);
    headlines(d, &f);
}

/* --- sections --- */

/* Whether what other programs had was taken from it: an emulated accelerator
 * computes nothing, and needs no cores as long as its input is in time. */
static bool needs_cores(const struct wr_scope *v)
{
    const struct wr_train_values *t = wr_train_values_of(v->r);

    return isnan(t->accelerator.fixed_ms) ||
           !is_word(t->result.limit, "compute");
}

static bool has_run(const struct wr_scope *v)
{
    const struct wr_train_result_values *r = &wr_train_values_of(v->r)->result;

    return r->iterations > fmax(0, r->resumed_at);
}

static bool has_saved(const struct wr_scope *v)
{
    return wr_train_values_of(v->r)->result.saves > 0;
}

static bool is_compared(const struct wr_scope *v)
{
    return wr_get_object(v->r->json, "compare") != NULL;
}

static bool is_alone(const struct wr_scope *v)
{
    return !is_compared(v);
}

static const struct wr_section sections[] = {
    {"Runs of training", .only = WR_IF_SEVERAL, .is_needed = are_comparable,
     .items = WR_ITEMS({.chart = &wr_train_rate_chart},
                       {.chart = &wr_train_parts_chart},
                       {.show = wr_train_loss})},
    {"Training", .of = WR_OF_EACH,
     .items = WR_ITEMS({.show = wr_show_host},
                       {.show = wr_show_starved, .is_needed = needs_cores},
                       {.say = {described, input_cost, answers}},
                       {.show = wr_train_compared, .is_needed = is_compared},
                       {.show = wr_train_loss}, {.show = wr_train_accuracy},
                       {.chart = &wr_train_parts_chart, .only = WR_IF_ONE},
                       {.show = wr_train_iterations}, {.show = wr_train_saves},
                       {.show = wr_show_monitor},
                       {.table = &wr_train_run_table, .is_needed = has_run},
                       {.table = &wr_train_save_table},
                       {.show = wr_show_monitor_tables})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.is_needed = is_compared,
     .items = WR_ITEMS({.show = wr_show_starved, .is_needed = needs_cores},
                       {.show = wr_train_compared})},
    {.is_needed = is_compared, .items = WR_ITEMS({.say = {input_cost}})},
    {.is_needed = is_alone,
     .items = WR_ITEMS(
         {.show = wr_show_starved, .is_needed = needs_cores}, {.say = {left}},
         {.table = &wr_train_run_table, .is_needed = has_run},
         {.show = wr_train_validation_table},
         {.table = &wr_train_saving_table, .is_needed = has_saved})},
    {.is_needed = is_alone,
     .items = WR_ITEMS({.say = {answers}}, {.show = wr_show_bad})},
    {.items = NULL}};

const struct wr_view wr_view_train = {.command = "train",
                                      .summarize = train_summarize,
                                      .rows = &wr_train_spec,
                                      .sections = sections,
                                      .printed = printed,
                                      .facts = &facts,
                                      .find_facts = find_facts,
                                      .sentences = sentences,
                                      .name_records = train_names,
                                      .most = RUNS_MAX};
