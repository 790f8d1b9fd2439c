/* study.c - records of weir study as sections of a report.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It knows nothing of single figures: a figure is charts of bars, charts over
 * time, a table, what the paper says and whether that holds. Whatever of it is
 * there is shown. */
#include "report/study.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc.h"
#include "report/points.h"
#include "report/view.h"
#include "report/say.h"
#include "result/get.h"
#include "result/study.h"

/* --- the charts and the table of a figure --- */

#define PARTS_MAX  32 /* charts of a figure */
#define SERIES_MAX 16
#define LABELS_MAX 64
#define ROWS_MAX   500
#define FAR_APART  3. /* times, from which on parts have axes of their own */
#define LIMITS_MAX 8  /* that are told apart in a note */

static size_t count_of(const json_t *list, size_t most)
{
    return WR_MIN(json_array_size(list), most);
}

static enum wr_doc_role role_of(const json_t *series)
{
    const char *role = wr_get_text(series, "role");

    return !strcmp(role, "reference") ? WR_DOC_REFERENCE
           : !strcmp(role, "ceiling") ? WR_DOC_CEILING
                                      : WR_DOC_MEASURED;
}

/* A number, or a median with its spread; null for none. */
static void add_value(struct wr_doc_series *to, const json_t *v)
{
    if (json_is_number(v))
        wr_doc_value(to, json_number_value(v));
    else
        wr_doc_value_range(to, wr_get_number(v, "median"),
                           wr_get_number(v, "low"), wr_get_number(v, "high"));
}

static void add_series(struct wr_doc_chart *c, const json_t *series,
                       size_t labels)
{
    const json_t *values = wr_get_list(series, "values");
    struct wr_doc_series *to = wr_doc_series(c, wr_get_text(series, "name"));

    wr_doc_series_is(to, role_of(series));
    for (size_t k = 0; k < labels; k++)
        add_value(to, json_array_get(values, k));
}

/* "cores at 4, 8" for each limit that the values of a series name. */
static void add_limits(char *note, size_t cap, const json_t *series,
                       const json_t *labels)
{
    const json_t *values = wr_get_list(series, "values");
    size_t n = count_of(values, count_of(labels, LABELS_MAX)), told = 0;
    char at[WR_VIEW_NAME], shown[64];

    for (size_t i = 0; i < n && told < LIMITS_MAX; i++) {
        const char *limit = wr_get_text(json_array_get(values, i), "limit");
        bool before = false;

        for (size_t k = 0; k < i; k++)
            before |= !strcmp(wr_get_text(json_array_get(values, k), "limit"),
                              limit);
        if (!*limit || before)
            continue;
        *at = '\0';
        for (size_t k = i; k < n; k++)
            if (!strcmp(wr_get_text(json_array_get(values, k), "limit"), limit))
                wr_say(at, sizeof(at), "%s",
                       wr_get_shown(json_array_get(labels, k), shown,
                                    sizeof(shown)));
        snprintf(note + strlen(note), cap - strlen(note), "%s%s at %s",
                 told++ ? "; " : "", limit, at);
    }
}

static size_t count_measured(const json_t *list)
{
    size_t n = 0;

    for (size_t i = 0; i < count_of(list, SERIES_MAX); i++)
        n += role_of(json_array_get(list, i)) == WR_DOC_MEASURED;
    return n;
}

/* What limited each measured series: "Limited by cores at 4, 8." */
static void limits_note(char *note, size_t cap, const json_t *part)
{
    const json_t *list = wr_get_list(part, "series");
    bool many = count_measured(list) > 1;
    char limits[2 * WR_VIEW_NAME];

    for (size_t i = 0; i < count_of(list, SERIES_MAX); i++) {
        const json_t *series = json_array_get(list, i);

        *limits = '\0';
        if (role_of(series) == WR_DOC_MEASURED)
            add_limits(limits, sizeof(limits), series,
                       wr_get_list(part, "labels"));
        if (*limits)
            snprintf(note + strlen(note), cap - strlen(note),
                     "%s%s%simited by %s.", *note ? " " : "",
                     many ? wr_get_text(series, "name") : "",
                     many ? ": l" : "L", limits);
    }
}

/* The highest value of a part. */
static double part_most(const json_t *part)
{
    const json_t *list = wr_get_list(part, "series");
    double most = 0;

    for (size_t i = 0; i < count_of(list, SERIES_MAX); i++) {
        const json_t *values = wr_get_list(json_array_get(list, i), "values");

        for (size_t k = 0; k < count_of(values, LABELS_MAX); k++) {
            const json_t *v = json_array_get(values, k);

            most = fmax(most, json_number_value(v));
            most = fmax(most, wr_get_number(v, "median"));
            most = fmax(most, wr_get_number(v, "high"));
        }
    }
    return most;
}

/* What the axes of all parts reach, so that devices can be compared by eye; 0
 * when that would leave nothing to see of one of them. */
static double shared_most(const json_t *parts)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < count_of(parts, PARTS_MAX); i++) {
        double v = part_most(json_array_get(parts, i));

        least = fmin(least, v > 0 ? v : INFINITY);
        most = fmax(most, v);
    }
    return most <= FAR_APART * least ? most : 0;
}

/* The name of an axis: "s" alone would puzzle. */
static const char *axis(const json_t *o, const char *key)
{
    const char *unit = wr_get_text(o, key);

    return strcmp(unit, "s") ? unit : "seconds";
}

static void bars(struct wr_doc_section *s, const json_t *figure,
                 const json_t *part, double most)
{
    const json_t *labels = wr_get_list(part, "labels");
    const json_t *list = wr_get_list(part, "series");
    size_t n = count_of(labels, LABELS_MAX);
    const char *title = wr_get_text(part, "title");
    char note[4 * WR_VIEW_NAME] = "", shown[WR_VIEW_NAME];
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = *title ? title : wr_get_text(figure, "title"),
        .x = axis(figure, "x"),
        .y = axis(figure, "unit"),
        .note = note,
        .most = most};
    struct wr_doc_chart *c;

    snprintf(note, sizeof(note), "%s", wr_get_text(part, "note"));
    limits_note(note, sizeof(note), part);
    c = wr_doc_chart(s, &spec);
    for (size_t k = 0; k < n; k++)
        wr_doc_label(
            c, "%s",
            wr_get_shown(json_array_get(labels, k), shown, sizeof(shown)));
    for (size_t i = 0; i < count_of(list, SERIES_MAX); i++)
        add_series(c, json_array_get(list, i), n);
}

static void add_line(struct wr_doc *d, struct wr_doc_chart *c,
                     const json_t *series, size_t limit)
{
    const json_t *x = wr_get_list(series, "x"), *y = wr_get_list(series, "y");
    struct wr_points p = {0};
    struct wr_doc_series *to = wr_doc_series(c, wr_get_text(series, "name"));

    wr_doc_series_is(to, role_of(series));
    for (size_t k = 0; k < WR_MIN(json_array_size(x), json_array_size(y)); k++)
        wr_points_add(&p, wr_get_at(x, k), wr_get_at(y, k), false);
    wr_points_draw(&p, d, to, limit);
    wr_points_done(&p);
}

/* The highest of all charts over time that have the same axis. */
static double highest(const json_t *charts, const char *y)
{
    double most = 0;

    for (size_t i = 0; i < count_of(charts, PARTS_MAX); i++) {
        const json_t *c = json_array_get(charts, i);
        const json_t *list = wr_get_list(c, "series");

        if (strcmp(wr_get_text(c, "y"), y))
            continue;
        for (size_t k = 0; k < count_of(list, SERIES_MAX); k++) {
            const json_t *v = wr_get_list(json_array_get(list, k), "y");

            for (size_t j = 0; j < json_array_size(v); j++)
                most = fmax(most, wr_get_at(v, j));
        }
    }
    return most;
}

static void over_time(struct wr_doc *d, struct wr_doc_section *s,
                      const json_t *charts, const json_t *lines)
{
    const json_t *list = wr_get_list(lines, "series");
    const json_t *bands = wr_get_list(lines, "bands");
    size_t n = count_of(list, SERIES_MAX);
    double most = highest(charts, wr_get_text(lines, "y"));
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_AREA,
                                           .title = wr_get_text(lines, "title"),
                                           .x = axis(lines, "x"),
                                           .y = axis(lines, "y"),
                                           .note = wr_get_text(lines, "note"),
                                           .most = most};
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);

    for (size_t i = 0; i < n; i++)
        add_line(d, c, json_array_get(list, i), wr_view_share(n * PARTS_MAX));
    for (size_t i = 0; i < count_of(bands, LABELS_MAX); i++) {
        const json_t *b = json_array_get(bands, i);

        wr_doc_band(c, wr_get_number(b, "from"), wr_get_number(b, "to"),
                    wr_get_text(b, "name"));
    }
}

static void add_cell(struct wr_doc_table *t, const json_t *v)
{
    char shown[WR_VIEW_NAME];
    double number = json_is_number(v) ? json_number_value(v) : NAN;

    if (json_is_number(v) || json_is_null(v))
        wr_doc_number(t, number,
                      number == rint(number) ? 0
                      : fabs(number) < 10    ? 2
                                             : 1);
    else
        wr_doc_cell(t, "%s", wr_get_shown(v, shown, sizeof(shown)));
}

static void table(struct wr_doc_section *s, const json_t *figure)
{
    const char *columns = wr_get_text(figure, "table.columns");
    const json_t *rows = wr_get_list(figure, "table.rows");
    const char *title = wr_get_text(figure, "table.title");
    struct wr_doc_table *t;
    size_t width = 1;

    if (!*columns || !json_array_size(rows))
        return;
    for (const char *p = columns; (p = strchr(p, '|')); p++)
        width++;
    t = wr_doc_table(s, *title ? title : wr_get_text(figure, "title"), columns);
    for (size_t i = 0; i < count_of(rows, ROWS_MAX); i++)
        for (size_t k = 0; k < width; k++)
            add_cell(t, json_array_get(json_array_get(rows, i), k));
}

/* `parts` as grouped bars with whiskers, paper and here side by side; `lines`
 * over time with runs as bands; `table` as a table. Bears any JSON. */
static void study_figure(struct wr_doc *d, struct wr_doc_section *s,
                         const json_t *figure)
{
    const json_t *parts = wr_get_list(figure, "parts");
    const json_t *lines = wr_get_list(figure, "lines");

    table(s, figure);
    for (size_t i = 0; i < count_of(parts, PARTS_MAX); i++)
        bars(s, figure, json_array_get(parts, i), shared_most(parts));
    for (size_t i = 0; i < count_of(lines, PARTS_MAX); i++)
        over_time(d, s, lines, json_array_get(lines, i));
}

/* --- the study --- */

#define FIGURES_MAX 64
#define NAMED_MAX   3 /* in a sentence */

#define HOLDS  "holds"
#define DIFFER "does not hold"

/* Verdicts of one study. */
struct count {
    size_t judged, holds, differ, unseen, calibrated;
    char differing[2 * WR_VIEW_NAME]; /* "Fig. 5: ...; Fig. 7: ..." */
};

static void count_verdict(struct count *c,
                          const struct wr_study_figure_values *f)
{
    if (!*f->verdict)
        return;
    c->judged++;
    if (!strcmp(f->verdict, HOLDS)) {
        c->holds++;
        c->calibrated += f->calibration;
    } else if (strcmp(f->verdict, DIFFER)) {
        c->unseen++;
    } else if (c->differ++ < NAMED_MAX) {
        snprintf(c->differing + strlen(c->differing),
                 sizeof(c->differing) - strlen(c->differing), "%s%.120s",
                 *c->differing ? "; " : "", f->title);
    }
}

static void say_how(struct wr_doc *d, const struct wr_study_values *v)
{
    double runs = v->repeat - v->warm_up_runs;
    double cores = wr_get_number(v->host, "cores");
    char text[WR_VIEW_NAME] = "", time[32];

    if (runs > 0 && v->warm_up_runs >= 0)
        wr_say(text, sizeof(text), "medians of %.0f run%s", runs,
               runs == 1 ? "" : "s");
    if (*v->mode)
        wr_say(text, sizeof(text), "mode %s", v->mode);
    if (v->seconds > 0)
        wr_say(text, sizeof(text), "in %s",
               wr_say_time(v->seconds, time, sizeof(time)));
    if (cores > 0)
        wr_say(text, sizeof(text), "on %.0f core%s", cores,
               cores == 1 ? "" : "s");
    if (*text)
        wr_doc_summary(d, "Measured here: %s.", text);
}

static void summarize(struct wr_doc *d, const struct wr_study_values *v,
                      size_t room)
{
    struct count c = {0};
    char time[32];

    for (size_t i = 0; i < WR_MIN(v->figures.count, (size_t)FIGURES_MAX); i++)
        count_verdict(&c, wr_list_at(&v->figures, i));
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
    if (c.differ && room > 1)
        wr_doc_summary(d, "What does not hold: %s%s.", c.differing,
                       c.differ > NAMED_MAX ? "; and more" : "");
    if (room > 3)
        say_how(d, v);
    wr_doc_headline(d, "conclusions hold", "%zu of %zu", c.holds, c.judged);
    if (room < 4)
        return;
    wr_doc_headline(d, "do not hold", "%zu", c.differ);
    wr_doc_headline(d, "cannot be seen here", "%zu", c.unseen);
    if (v->seconds > 0)
        wr_doc_headline(d, "for all of it", "%s",
                        wr_say_time(v->seconds, time, sizeof(time)));
}

/* One study is summed up; of several each has its own sections. */
static void study_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    if (n == 1)
        summarize(d, r->cases.v, room);
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
    study_figure(d, s, f);
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

static void describe_all(struct wr_scope *v)
{
    for (size_t i = 0; i < v->n; i++)
        describe_one(v->s, v->r[i].json);
}

static void study_figures(struct wr_doc *d, const struct wr_view_record *r,
                          bool many)
{
    const json_t *list = wr_get_list(r->json, "figures");

    for (size_t k = 0; k < count_of(list, FIGURES_MAX); k++)
        if (json_is_object(json_array_get(list, k)))
            figure(d, r, json_array_get(list, k), many);
}

static void show_figures(struct wr_scope *v)
{
    study_figures(v->d, v->r, false);
}

/* Each figure is a section. */
static void study_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        study_figures(d, &r[i], n > 1);
        if (!json_array_size(wr_get_list(r[i].json, "figures")))
            wr_doc_note(wr_doc_section(d, "Study"), true,
                        "%s: No figure was measured.", r[i].label);
    }
}

static const char *verdict_cell(const struct wr_column *c,
                                const struct wr_row *r, char *buf, size_t cap)
{
    const struct wr_study_figure_values *f = r->run;

    snprintf(buf, cap, "%s%s", f->verdict,
             f->calibration ? " (calibration)" : "");
    return buf;
}

#define FIGURE(member)                                                         \
    WR_COLUMN(RUN, wr_study_figure_vals, struct wr_study_figure_values, member)

const struct wr_column wr_study_verdict_columns[] = {
    {.head = "figure", .side = '<', FIGURE(id)},
    {"verdict",
     "'holds', 'does not hold' or 'cannot be seen here'; '(calibration)' "
     "where the emulated devices were fitted to the paper's numbers, or a "
     "number is an assumption, so that agreement confirms nothing",
     '<', .text = verdict_cell},
    {.head = "title", .side = '<', FIGURE(title)},
    {.head = NULL}};

static const struct wr_table_rule verdict_table = {
    .rows = "figures",
    .columns = wr_study_verdict_columns,
    .list = offsetof(struct wr_study_values, figures)};

static const struct wr_section sections[] = {
    {.title = "How the study was made",
     .plain = true,
     .items = WR_ITEMS({.show = wr_show_host}, {.show = wr_show_starved},
                       {.show = describe_all})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.table = &verdict_table}, {.show = show_figures})},
    {.items = NULL}};

const struct wr_view wr_view_study = {.command = "study",
                                      .summarize = study_summarize,
                                      .rows = &wr_study_spec,
                                      .build = study_build,
                                      .sections = sections,
                                      .printed = printed,
                                      .numbers = true};
