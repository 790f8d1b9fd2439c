/* plan.c - records of weir plan as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"
#include "record/plan_charts.h"
#include "record/plan_tables.h"
#include "record/plan_words.h"
#include "record/view_say.h"

#define PLANS_MAX 24 /* that have sections of their own */
#define WORDS     (3 * WR_VIEW_NAME)

/* A sentence about a record, as plan_words.h has them. */
typedef char *words_of(const json_t *record, char *buf, size_t cap);

/* --- the top of the page --- */

static bool is_plan(const json_t *j)
{
    return wr_get_number(j, "result.samples_per_s") >= 0;
}

static void headlines(struct wr_doc *d, const json_t *j)
{
    double rate = wr_get_number(j, "result.samples_per_s");
    double busy = wr_get_number(j, "result.utilization");
    double most = wr_get_number(j, "capacity.accelerators");
    double lost = wr_get_number(j, "explain.lost_share");
    double period = wr_get_number(j, "explain.period");
    char text[32];

    if (rate >= 0)
        wr_doc_headline(d, "samples per second", "%s",
                        wr_say_number(rate, text, sizeof(text)));
    if (busy >= 0)
        wr_doc_headline(d, "of the time the accelerators compute", "%.1f %%",
                        100 * busy);
    if (most >= 0)
        wr_doc_headline(
            d, most == 1 ? "accelerator can be fed" : "accelerators can be fed",
            "%s%s", wr_get_true(j, "capacity.unlimited") ? ">= " : "",
            wr_say_number(most, text, sizeof(text)));
    if (lost >= 0)
        wr_doc_headline(d, "of the time seen is lost to stalls", "%.1f %%",
                        100 * lost);
    if (period >= 1)
        wr_doc_headline(d, "batches from stall to stall", "%s",
                        wr_say_number(period, text, sizeof(text)));
}

static size_t sum_up(struct wr_doc *d, const json_t *j, words_of *words,
                     size_t room)
{
    char text[WORDS];

    if (!room || !*words(j, text, sizeof(text)))
        return 0;
    wr_doc_summary(d, "%s", text);
    return 1;
}

/* The explanation of what was seen comes first, if somebody asked for it. */
static void summarize_one(struct wr_doc *d, const json_t *j, size_t room)
{
    static words_of *const words[] = {wr_plan_seen,       wr_plan_cure,
                                      wr_plan_say_answer, wr_plan_waits,
                                      wr_plan_bottleneck, wr_plan_best};

    headlines(d, j);
    for (size_t i = 0; i < WR_ARRAY_LEN(words); i++)
        room -= sum_up(d, j, words[i], room);
}

static void plan_summarize(struct wr_doc *d, const struct wr_view_record *r,
                           size_t n, size_t room)
{
    char text[WORDS];

    if (n == 1 && room) {
        summarize_one(d, r->json, room);
        return;
    }
    for (size_t i = 0; i < n && i < room; i++) {
        double rate = wr_get_number(r[i].json, "result.samples_per_s");
        char label[WR_VIEW_NAME], number[32];

        if (!*wr_plan_say_answer(r[i].json, text, sizeof(text)))
            continue;
        wr_doc_summary(d, "%s: %s", r[i].label, text);
        snprintf(label, sizeof(label), "samples per second: %.200s",
                 r[i].label);
        wr_doc_headline(d, label, "%s",
                        wr_say_number(rate, number, sizeof(number)));
    }
}

/* --- what both the command and a report say --- */

static void say(struct wr_doc_section *s, const json_t *j,
                words_of *const *words, size_t n)
{
    char text[WORDS];

    for (size_t i = 0; i < n; i++)
        if (*words[i](j, text, sizeof(text)))
            wr_doc_note(s, false, "%s", text);
}

static void say_explained(struct wr_doc_section *s, const json_t *j)
{
    static words_of *const words[] = {wr_plan_seen, wr_plan_cure};

    say(s, j, words, WR_ARRAY_LEN(words));
}

static void say_result(struct wr_doc_section *s, const json_t *j)
{
    static words_of *const words[] = {wr_plan_say_answer, wr_plan_waits,
                                      wr_plan_bottleneck};

    say(s, j, words, WR_ARRAY_LEN(words));
}

static void say_saves(struct wr_doc_section *s, const json_t *j)
{
    const json_t *saves = wr_get_object(j, "result.saves");
    double count = wr_get_number(saves, "count");
    double durable = wr_get_number(saves, "durable_s");
    double blocked = wr_get_number(saves, "blocked");
    static words_of *const words[] = {wr_plan_saves, wr_plan_fails};
    char a[32], b[32], n[32], more[WR_VIEW_NAME] = "";

    if (durable > 0)
        wr_say(more, sizeof(more), "safe on the slow tier after %s",
               wr_say_time(durable, b, sizeof(b)));
    if (blocked > 0)
        wr_say(more, sizeof(more), "%s waited for the one before",
               wr_say_number(blocked, n, sizeof(n)));
    if (count > 0)
        wr_doc_note(
            s, false, "%s checkpoint%s, each stops training for %s%s%s.",
            wr_say_number(count, n, sizeof(n)), count == 1 ? "" : "s",
            wr_say_time(fmax(0, wr_get_number(saves, "stall_s")), a, sizeof(a)),
            *more ? "; " : "", more);
    say(s, j, words, WR_ARRAY_LEN(words));
}

static void say_simulated(struct wr_doc_section *s, const json_t *j)
{
    const char *why = wr_get_text(j, "result.lumped_why");
    static words_of *const words[] = {wr_plan_part};

    say(s, j, words, WR_ARRAY_LEN(words));
    if (wr_get_true(j, "result.lumped"))
        wr_doc_note(s, false, "What is alike was simulated as one%s%s%s",
                    *why ? ": " : "", why, *why ? wr_say_stop(why) : ".");
}

static void say_assumed(struct wr_doc_section *s, const json_t *j)
{
    char text[WORDS];

    if (*wr_plan_assumed(j, text, sizeof(text)))
        wr_doc_note(s, false, "%s", text);
}

static void say_need(struct wr_doc_section *s, const json_t *j)
{
    static words_of *const words[] = {wr_plan_demand, wr_plan_say_capacity,
                                      wr_plan_scales};

    say(s, j, words, WR_ARRAY_LEN(words));
}

/* --- sections --- */

static struct wr_doc_section *section(struct wr_doc *d, const char *title,
                                      const struct wr_view_record *r, bool many)
{
    char text[WR_VIEW_NAME];

    snprintf(text, sizeof(text), "%s%s%.200s", title, many ? ": " : "",
             many ? r->label : "");
    return wr_doc_section(d, text);
}

static void describe(struct wr_doc_section *s, const json_t *j)
{
    static const char *const keys[][2] = {
        {"nodes", "nodes"},     {"accelerators", "accelerators per node"},
        {"model", "model"},     {"batch", "batch"},
        {"workers", "workers"}, {"prefetch", "prefetch"},
        {"style", "style"},     {"storage", "storage"}};
    const json_t *inputs = wr_get_list(j, "inputs");
    char text[WR_VIEW_NAME] = "", shown[WR_VIEW_NAME];

    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++)
        if (*wr_get_shown(wr_get(wr_get_object(j, "config"), keys[i][0]), shown,
                          sizeof(shown)))
            wr_say(text, sizeof(text), "%s %.80s", keys[i][1], shown);
    if (*text)
        wr_doc_fact(s, "Planned", "%s", text);
    *text = '\0';
    for (size_t i = 0; i < json_array_size(inputs) && i < PLANS_MAX; i++) {
        const json_t *o = json_array_get(inputs, i);
        const char *kind = wr_get_text(o, "kind");

        wr_say(text, sizeof(text), "%.120s%s%.40s%s", wr_get_text(o, "path"),
               *kind ? " (" : "", kind, *kind ? ")" : "");
    }
    if (*text)
        wr_doc_fact(s, "Made from", "%s", text);
}

/* Why batches took the time that they took. */
static void explained(struct wr_doc *d, const struct wr_view_record *r,
                      bool many)
{
    const json_t *e = wr_get_object(r->json, "explain");
    double sure = wr_get_number(e, "sure");
    double load = wr_get_number(e, "load_ms") / 1e3;
    double workers = wr_get_number(e, "workers_needed");
    struct wr_doc_section *s;
    char a[32], trust[32] = "";

    if (!e)
        return;
    if (sure >= 0 && sure <= 1)
        snprintf(trust, sizeof(trust), " (%.0f %% sure)", 100 * sure);
    s = section(d, "What was seen, and why", r, many);
    if (!is_plan(r->json))
        wr_view_host(s, r);
    if (*wr_get_text(e, "cause"))
        wr_doc_fact(s, "Cause", "%s%s", wr_get_text(e, "cause"), trust);
    if (wr_get_number(e, "period") >= 1)
        wr_doc_fact(s, "Period", "%.0f batches", wr_get_number(e, "period"));
    if (load > 0)
        wr_doc_fact(s, "Loading a batch", "%s of a worker",
                    wr_say_time(load, a, sizeof(a)));
    if (workers >= 1)
        wr_doc_fact(s, "Workers needed", "%.0f", workers);
    if (!r->alone) /* else the top of the page says it */
        say_explained(s, r->json);
    wr_plan_batch_chart(d, s, r->json);
}

static void one_plan(struct wr_doc *d, const struct wr_view_record *r,
                     bool many)
{
    const json_t *j = r->json;
    struct wr_doc_section *s = section(d, "Plan", r, many);

    wr_view_host(s, r);
    describe(s, j);
    if (!r->alone)
        say_result(s, j);
    say_simulated(s, j);
    if (!many)
        wr_plan_life(d, s, r, 1);
    wr_plan_epoch_chart(s, j);
    wr_plan_limit_chart(s, j);
    wr_plan_step_chart(d, s, j);
    wr_plan_epoch_table(s,
                        wr_plan_is_partial(j)
                            ? "Epochs, as far as they were simulated"
                            : "Epochs",
                        j);
    wr_plan_limit_table(s, "Limits", j);
    if (json_array_size(wr_get_list(j, "what_if"))) {
        s = section(d, "What if", r, many);
        wr_plan_change_chart(s, j);
        wr_plan_change_table(s, "Changes, one at a time", j);
    }
    s = section(d, "What it takes", r, many);
    say_need(s, j);
    say_saves(s, j);
    if (!many) {
        wr_plan_capacity_chart(s, r, 1);
        wr_plan_scale_chart(s, r, 1);
    }
    wr_plan_capacity_table(s, "Accelerators per node", j);
    wr_plan_scale_table(s, "Nodes", j);
    s = section(d, "Numbers it is made of", r, many);
    say_assumed(s, j);
    wr_plan_fact_table(s, "Numbers and their sources", j);
}

/* Plans are computed, not measured: the same description gives the same
 * numbers, so any difference is one. */
static void side_by_side(struct wr_doc *d, const struct wr_view_record *r,
                         size_t n)
{
    struct wr_doc_section *s = wr_doc_section(d, "Plans side by side");

    wr_doc_note(s, false,
                "Plans are computed, not measured: there is no noise, every "
                "difference comes from what differs in them.");
    wr_plan_rate_chart(s, r, n);
    wr_plan_capacity_chart(s, r, n);
    wr_plan_scale_chart(s, r, n);
    wr_plan_life(d, s, r, n);
    wr_plan_side_table(s, r, n);
    wr_plan_differ_table(s, r, n);
}

static void plan_build(struct wr_doc *d, const struct wr_view_record *r,
                       size_t n)
{
    size_t count = WR_MIN(n, (size_t)PLANS_MAX);

    if (n > 1)
        side_by_side(d, r, count);
    for (size_t i = 0; i < count; i++) {
        explained(d, &r[i], n > 1);
        if (is_plan(r[i].json) || !wr_get_object(r[i].json, "explain"))
            one_plan(d, &r[i], n > 1);
    }
}

/* --- what the command prints --- */

/* Sections without a title keep the order: in each, sentences come first. */
static void plan_result(struct wr_doc *d, const struct wr_view_record *r)
{
    const json_t *j = r->json;
    struct wr_doc_section *s = wr_doc_section(d, "");

    say_explained(s, j);
    wr_plan_batch_chart(d, s, j);
    s = wr_doc_section(d, "");
    say_result(s, j);
    say_simulated(s, j);
    wr_plan_life(d, s, r, 1);
    wr_plan_epoch_table(
        s, wr_plan_is_partial(j) ? "As far as it was simulated" : "", j);
    s = wr_doc_section(d, "");
    wr_plan_change_table(s, "What if, one change at a time", j);
    s = wr_doc_section(d, "");
    say_need(s, j);
    say_saves(s, j);
    wr_plan_scale_table(s, "", j);
    s = wr_doc_section(d, "");
    say_assumed(s, j);
    wr_plan_fact_table(s, "Numbers and their sources", j);
}

const struct wr_view wr_view_plan = {.command = "plan",
                                     .summarize = plan_summarize,
                                     .build = plan_build,
                                     .result = plan_result};
