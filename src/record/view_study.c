/* view_study.c - records of weir study as sections of a report.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It knows nothing of single figures: a figure is charts of bars, charts over
 * time, a table, what the paper says and whether that holds. Whatever of it is
 * there is shown. */
#include "record/view_study.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "result/get.h"
#include "record/study_figure.h"
#include "record/view_say.h"

#define FIGURES_MAX 64
#define NAMED_MAX   3 /* in a sentence */

#define HOLDS  "holds"
#define DIFFER "does not hold"

/* Verdicts of one study. */
struct count {
    size_t judged, holds, differ, unseen, calibrated;
};

static struct count count_verdicts(const json_t *figures)
{
    struct count c = {0};

    for (size_t i = 0; i < json_array_size(figures) && i < FIGURES_MAX; i++) {
        const json_t *f = json_array_get(figures, i);
        const char *verdict = wr_get_text(f, "verdict");

        if (!*verdict)
            continue;
        c.judged++;
        if (!strcmp(verdict, HOLDS)) {
            c.holds++;
            c.calibrated += wr_get_true(f, "calibration");
        } else if (!strcmp(verdict, DIFFER)) {
            c.differ++;
        } else {
            c.unseen++;
        }
    }
    return c;
}

/* "What does not hold: Fig. 5: ...; Fig. 7: ...". */
static void say_what_differs(struct wr_doc *d, const json_t *figures)
{
    char text[2 * WR_VIEW_NAME] = "";
    size_t told = 0;

    for (size_t i = 0; i < json_array_size(figures) && i < FIGURES_MAX; i++) {
        const json_t *f = json_array_get(figures, i);

        if (strcmp(wr_get_text(f, "verdict"), DIFFER) || told++ >= NAMED_MAX)
            continue;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.120s",
                 *text ? "; " : "", wr_get_text(f, "title"));
    }
    if (told)
        wr_doc_summary(d, "What does not hold: %s%s.", text,
                       told > NAMED_MAX ? "; and more" : "");
}

static void say_how(struct wr_doc *d, const json_t *j)
{
    double seconds = wr_get_number(j, "seconds");
    double repeat = wr_get_number(j, "repeat");
    double warm_up = wr_get_number(j, "warm_up_runs");
    double cores = wr_get_number(j, "host.cores");
    const char *mode = wr_get_text(j, "mode");
    char text[WR_VIEW_NAME] = "", time[32];

    if (repeat > warm_up && warm_up >= 0)
        wr_say(text, sizeof(text), "medians of %.0f run%s", repeat - warm_up,
               repeat - warm_up == 1 ? "" : "s");
    if (*mode)
        wr_say(text, sizeof(text), "mode %s", mode);
    if (seconds > 0)
        wr_say(text, sizeof(text), "in %s",
               wr_say_time(seconds, time, sizeof(time)));
    if (cores > 0)
        wr_say(text, sizeof(text), "on %.0f core%s", cores,
               cores == 1 ? "" : "s");
    if (*text)
        wr_doc_summary(d, "Measured here: %s.", text);
}

static void summarize(struct wr_doc *d, const json_t *j, size_t room)
{
    const json_t *figures = wr_get_list(j, "figures");
    const struct count c = count_verdicts(figures);
    char time[32];

    if (!c.judged)
        return;
    wr_doc_summary(d,
                   "Of %zu conclusion%s of the paper %zu hold%s here, %zu do%s "
                   "not, and %zu cannot be seen on this machine.",
                   c.judged, c.judged == 1 ? "" : "s", c.holds,
                   c.holds == 1 ? "s" : "", c.differ, c.differ == 1 ? "es" : "",
                   c.unseen);
    if (c.calibrated && room > 2)
        wr_doc_summary(d,
                       "%zu of those that hold %s calibration: the emulated "
                       "devices were fitted to the paper's numbers.",
                       c.calibrated, c.calibrated == 1 ? "is" : "are");
    if (room > 1)
        say_what_differs(d, figures);
    if (room > 3)
        say_how(d, j);
    wr_doc_headline(d, "conclusions hold", "%zu of %zu", c.holds, c.judged);
    if (room < 4)
        return;
    wr_doc_headline(d, "do not hold", "%zu", c.differ);
    wr_doc_headline(d, "cannot be seen here", "%zu", c.unseen);
    if (wr_get_number(j, "seconds") > 0)
        wr_doc_headline(
            d, "for all of it", "%s",
            wr_say_time(wr_get_number(j, "seconds"), time, sizeof(time)));
}

/* One study is summed up; of several each has its own sections. */
static void study_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    if (n == 1)
        summarize(d, r->json, room);
    else
        wr_doc_summary(d, "%zu studies.", n);
}

static void judge(struct wr_doc_section *s, const json_t *f)
{
    const char *question = wr_get_text(f, "question");
    const char *says = wr_get_text(f, "conclusion");
    const char *verdict = wr_get_text(f, "verdict");
    bool holds = !strcmp(verdict, HOLDS);
    bool fitted = holds && wr_get_true(f, "calibration");

    if (*question)
        wr_doc_lead(s, "%s", question);
    if (*says)
        wr_doc_claim(s, "The paper: %s%s", says, wr_say_stop(says));
    if (!*verdict)
        return;
    wr_doc_verdict(s,
                   holds                      ? WR_DOC_GOOD
                   : !strcmp(verdict, DIFFER) ? WR_DOC_BAD
                                              : WR_DOC_PLAIN,
                   fitted ? "holds, by calibration" : verdict, "%s%s",
                   wr_get_text(f, "why"), wr_say_stop(wr_get_text(f, "why")));
}

static void figure(struct wr_doc *d, const struct wr_view_record *r,
                   const json_t *f, bool many)
{
    const char *name = wr_get_text(f, "title");
    char title[2 * WR_VIEW_NAME];
    struct wr_doc_section *s;

    if (!*name)
        name = wr_get_text(f, "id");
    snprintf(title, sizeof(title), "%s%s%s", many ? r->label : "",
             many ? ": " : "", *name ? name : "A figure without a name");
    s = wr_doc_section(d, title);
    judge(s, f);
    if (json_is_false(wr_get(f, "complete")))
        wr_doc_note(s, true, "Some of it is not measured yet.");
    wr_study_figure(d, s, f);
}

/* What the study ran with, as facts. */
static void describe_one(struct wr_doc_section *s, const json_t *record)
{
    /* Iterating is not const in jansson, but changes nothing. */
    json_t *o = (json_t *)(uintptr_t)wr_get_object(record, "data");
    double ratio = wr_get_number(record, "control.ratio");
    char shown[WR_VIEW_NAME], name[WR_VIEW_NAME];
    size_t looked = 0;
    const char *key;
    json_t *value;

    json_object_foreach(o, key, value)
    {
        if (looked++ >= FIGURES_MAX ||
            !*wr_get_shown(value, shown, sizeof(shown)))
            continue;
        snprintf(name, sizeof(name), "%s", key);
        for (char *p = name; *p; p++)
            *p = *p == '_' ? ' ' : *p;
        wr_doc_fact(s, name, "%s", shown);
    }
    if (ratio > 0)
        wr_doc_fact(s, "side by side", "%.3f of the same alone%s", ratio,
                    wr_get_true(record, "control.alone")
                        ? "; so all ran one after the other"
                        : "");
}

static void describe(struct wr_doc *d, const struct wr_view_record *r, size_t n)
{
    struct wr_doc_section *s = wr_doc_section(d, "How the study was made");

    wr_view_host(s, r);
    wr_view_starved(s, r, n);
    for (size_t i = 0; i < n; i++)
        describe_one(s, r[i].json);
}

static void study_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *list = wr_get_list(r[i].json, "figures");
        size_t count = json_array_size(list);

        for (size_t k = 0; k < count && k < FIGURES_MAX; k++)
            if (json_is_object(json_array_get(list, k)))
                figure(d, &r[i], json_array_get(list, k), n > 1);
        if (!count)
            wr_doc_note(wr_doc_section(d, "Study"), true,
                        "%s: No figure was measured.", r[i].label);
    }
    describe(d, r, n);
}

const struct wr_column wr_study_verdict_columns[] = {
    {.head = "figure", .side = '<'},
    {.head = "verdict",
     .help =
         "'holds', 'does not hold' or 'cannot be seen here'; '(calibration)' "
         "where the emulated devices were fitted to the paper's numbers, or a "
         "number is an assumption, so that agreement confirms nothing",
     .side = '<'},
    {.head = "title", .side = '<'},
    {.head = NULL}};

static void study_result(struct wr_doc *d, const struct wr_view_record *r)
{
    const json_t *list = wr_get_list(r->json, "figures");
    struct wr_doc_table *t = wr_doc_table_of(wr_doc_section(d, ""), "",
                                             wr_study_verdict_columns, 0);

    for (size_t k = 0; k < json_array_size(list) && k < FIGURES_MAX; k++) {
        const json_t *f = json_array_get(list, k);

        wr_doc_cell(t, "%s", wr_get_text(f, "id"));
        wr_doc_cell(t, "%s%s", wr_get_text(f, "verdict"),
                    wr_get_true(f, "calibration") ? " (calibration)" : "");
        wr_doc_cell(t, "%s", wr_get_text(f, "title"));
    }
    for (size_t k = 0; k < json_array_size(list) && k < FIGURES_MAX; k++)
        figure(d, r, json_array_get(list, k), false);
}

const struct wr_view wr_view_study = {.command = "study",
                                      .summarize = study_summarize,
                                      .build = study_build,
                                      .result = study_result,
                                      .numbers = true};
