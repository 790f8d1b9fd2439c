/* train.c - records of weir train as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "record/train_charts.h"
#include "record/train_words.h"
#include "record/view.h"
#include "record/view_monitor.h"
#include "record/view_say.h"
#include "result/get.h"

static bool same(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

/* Whether all have trained the same network on the same number of samples. */
static bool train_are_comparable(const struct wr_view_record *r, size_t n)
{
    static const char *const keys[] = {"dataset.samples", "network.width",
                                       "network.classes"};

    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++)
            if (!same(wr_get(r[0].json, keys[k]), wr_get(r[i].json, keys[k])))
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

#define RUNS_MAX 24 /* that have a section of their own */
#define ROWS_MAX 200

static double result(const json_t *record, const char *key)
{
    char path[64];

    snprintf(path, sizeof(path), "result.%s", key);
    return wr_get_number(record, path);
}

/* Of the time of the run without validating. */
static double percent(const json_t *record, const char *key)
{
    double validated = result(record, "validate_s");
    double seconds = result(record, "seconds") -
                     (validated > 0 ? validated : 0);

    return seconds > 0 ? 100 * result(record, key) / seconds : NAN;
}

/* --- the top of the page --- */

static bool say_compared(struct wr_doc *d, const json_t *j)
{
    double full = wr_get_number(j, "compare.full.images_per_s");
    double alone = wr_get_number(j, "compare.synthetic.images_per_s");
    double input = wr_get_number(j, "compare.input.images_per_s");
    double cost = wr_get_number(j, "compare.cost.median");
    char a[32], b[32], c[32];

    if (!(full > 0) || !(alone > 0))
        return false;
    if (isnan(cost))
        cost = 1 - full / alone;
    wr_doc_summary(d,
                   "Training runs at %s images/s, computing alone at %s, the "
                   "input alone at %s: the input costs %.0f %%.",
                   wr_say_number(full, a, sizeof(a)),
                   wr_say_number(alone, b, sizeof(b)),
                   wr_say_number(input, c, sizeof(c)), fmax(0, 100 * cost));
    wr_doc_headline(d, "cost of the input", "%.0f %%", fmax(0, 100 * cost));
    return true;
}

/* "waiting for input takes 16.6 % of the time, saving 1.4 %". */
static void add_shares(const json_t *j, char *text, size_t cap)
{
    double wait = percent(j, "wait_s"), save = percent(j, "save_s");
    const char *limit = wr_get_text(j, "result.limit");

    if (wait >= 0)
        wr_say(text, cap, "waiting for input takes %.1f %% of the time", wait);
    if (save > 0)
        wr_say(text, cap, "saving %.1f %%", save);
    if (*limit && strcmp(limit, "unknown"))
        wr_say(text, cap, "%s limits it", limit);
}

static bool say_rate(struct wr_doc *d, const json_t *j)
{
    double rate = result(j, "samples_per_s"), wait = percent(j, "wait_s");
    char a[32], text[WR_VIEW_NAME] = "";

    if (!(rate > 0))
        return false;
    add_shares(j, text, sizeof(text));
    wr_doc_summary(d, "%s %s images/s%s%s.",
                   wr_get_object(j, "compare") ? "This run:"
                                               : "Training runs at",
                   wr_say_number(rate, a, sizeof(a)), *text ? "; " : "", text);
    wr_doc_headline(d, "images/s trained", "%s", a);
    if (wait >= 0)
        wr_doc_headline(d, "of the time goes to waiting for input", "%.1f %%",
                        wait);
    return true;
}

static bool say_learned(struct wr_doc *d, const json_t *j)
{
    double first = result(j, "loss_first"), last = result(j, "loss_last");
    double done = result(j, "iterations"), right = result(j, "accuracy");
    double chance = result(j, "chance");
    char a[32], b[32], text[WR_VIEW_NAME] = "";

    if (isnan(first) || isnan(last))
        return false;
    if (right >= 0)
        snprintf(text, sizeof(text),
                 "; of the held-out pictures it has %.1f %% right",
                 100 * right);
    if (right >= 0 && chance > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 " (by chance %.1f %%)", 100 * chance);
    wr_doc_summary(d, "The loss went from %s to %s in %.0f iterations%s.",
                   wr_say_number(first, a, sizeof(a)),
                   wr_say_number(last, b, sizeof(b)), fmax(0, done), text);
    if (right >= 0)
        wr_doc_headline(d, "of held-out pictures right", "%.1f %%",
                        100 * right);
    else
        wr_doc_headline(d, "loss at the end", "%s", b);
    return true;
}

static bool say_saves(struct wr_doc *d, const json_t *j)
{
    double saves = result(j, "saves"), stall = result(j, "save_s");
    char a[32], b[32];

    if (!(saves > 0) || !(stall >= 0))
        return false;
    wr_doc_summary(d, "%.0f save%s stopped training for %s each, %s at most.",
                   saves, saves == 1 ? "" : "s",
                   wr_say_time(stall / saves, a, sizeof(a)),
                   wr_say_time(result(j, "save_max_s"), b, sizeof(b)));
    return true;
}

/* The fastest and the slowest, by what tells them apart. */
static void say_several(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    char names[RUNS_MAX][WR_VIEW_NAME], a[32], b[32];
    size_t best = 0, worst = 0;

    train_names(r, n, names);
    for (size_t i = 1; i < n; i++) {
        double v = result(r[i].json, "samples_per_s");

        if (v > result(r[best].json, "samples_per_s"))
            best = i;
        if (v < result(r[worst].json, "samples_per_s"))
            worst = i;
    }
    wr_say_number(result(r[best].json, "samples_per_s"), a, sizeof(a));
    wr_say_number(result(r[worst].json, "samples_per_s"), b, sizeof(b));
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
    static bool (*const say[])(struct wr_doc *, const json_t *) = {
        say_compared, say_rate, say_learned, say_saves};

    if (n > 1) {
        say_several(d, r, WR_MIN(n, (size_t)RUNS_MAX));
        return;
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(say) && room; i++)
        room -= say[i](d, r->json);
}

/* --- sections --- */

/* What was asked for, as far as it matters; 0 is no limit, or none of it. */
static void describe_settings(struct wr_doc_section *s, const json_t *settings)
{
    static const char *const keys[] = {
        "iterations",      "epochs",        "batch", "threads", "depth",
        "prefetch",        "decode",        "order", "holdout", "engine",
        "compute_threads", "learning_rate", "ckpt",  "slow",    "save_every",
        "level",           "synthetic",     "width",
    };
    const struct wr_case row = {.settings = settings};
    char text[2 * WR_VIEW_NAME] = "";

    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++) {
        const json_t *v = json_object_get(settings, keys[i]);
        bool none = json_is_false(v) || wr_get_number(settings, keys[i]) == 0;

        if (!none || !strcmp(keys[i], "prefetch"))
            wr_case_setting(&row, keys[i], text, sizeof(text));
    }
    if (*text)
        wr_doc_fact(s, "Settings", "%s", text);
}

static void describe(struct wr_doc_section *s, const json_t *j)
{
    const json_t *ds = wr_get_object(j, "dataset");
    const json_t *net = wr_get_object(j, "network");
    double bytes = wr_get_number(ds, "bytes");
    double weights = wr_get_number(net, "parameters");
    char size[64];

    if (ds)
        wr_doc_fact(s, "Data set", "%s (%s), %.0f samples, %s",
                    wr_get_text(ds, "url"), wr_get_text(ds, "format"),
                    fmax(0, wr_get_number(ds, "samples")),
                    wr_format_bytes(size, sizeof(size), fmax(0, bytes)));
    if (weights > 0) /* else none were needed */
        snprintf(size, sizeof(size), ", %.1f million weights", weights / 1e6);
    if (net)
        wr_doc_fact(s, "Network", "%s, width %g%s", wr_get_text(net, "name"),
                    fmax(0, wr_get_number(net, "width")),
                    weights > 0 ? size : "");
    if (*wr_get_text(j, "accelerator.name"))
        wr_doc_fact(s, "Accelerator", "%s%s%s",
                    wr_get_text(j, "accelerator.name"),
                    *wr_get_text(j, "accelerator.source") ? ": " : "",
                    wr_get_text(j, "accelerator.source"));
    describe_settings(s, wr_get_object(j, "settings"));
    if (result(j, "resumed_at") > 0)
        wr_doc_note(s, false, "Resumed at iteration %.0f.",
                    result(j, "resumed_at"));
    if (wr_get_number(j, "bad_count") > 0)
        wr_doc_note(s, true, "%.0f samples could not be read.",
                    wr_get_number(j, "bad_count"));
}

static void save_table(struct wr_doc_section *s, const json_t *j)
{
    static const char *const keys[] = {"t_s",    "stall_s", "blocked_s",
                                       "fast_s", "slow_s",  "verified_s"};
    const json_t *list = wr_get_list(j, "saves");
    struct wr_doc_table *t;

    if (!json_array_size(list))
        return;
    t = wr_doc_table(s, "Saves",
                     ">iteration|>MB|>began s|>stall s|>for earlier saves s|"
                     ">fast s|>slow s|>verified s");
    for (size_t i = 0; i < json_array_size(list) && i < ROWS_MAX; i++) {
        const json_t *o = json_array_get(list, i);

        wr_doc_number(t, wr_get_number(o, "step"), 0);
        wr_doc_number(t, wr_get_number(o, "bytes") / 1e6, 1);
        for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++)
            wr_doc_number(t, wr_get_number(o, keys[k]), 3);
    }
}

static void one_run(struct wr_doc *d, const struct wr_view_record *r, bool many)
{
    static const struct wr_cases_spec none = {.rows = "none"};
    char title[WR_VIEW_NAME];
    struct wr_doc_section *s;
    struct wr_cases c;

    snprintf(title, sizeof(title), "Training%s%s", many ? ": " : "",
             many ? r->label : "");
    s = wr_view_section(d, title, r, 1);
    wr_view_host(s, r);
    if (wr_train_needs_cores(r->json))
        wr_view_starved(s, r, 1);
    describe(s, r->json);
    wr_train_cost(s, r->json);
    wr_train_words(s, r->json);
    wr_train_compared(s, r->json);
    wr_train_loss(d, s, r, 1);
    wr_train_accuracy(s, r->json);
    if (!many)
        wr_train_parts(s, r, 1);
    wr_train_iterations(d, s, r->json);
    wr_train_saves(s, r->json);
    wr_cases_init(&c, r, 1, &none);
    wr_view_monitor(d, s, &c);
    wr_train_run_table(s, "The run", r->json);
    save_table(s, r->json);
    wr_view_monitor_tables(s, &c);
    wr_cases_done(&c);
}

/* Several runs that can be compared: first what tells them apart. */
static void side_by_side(struct wr_doc *d, const struct wr_view_record *r,
                         size_t n)
{
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                           .title = "Images per second",
                                           .x = "",
                                           .y = "images/s"};
    struct wr_doc_section *s = wr_view_section(d, "Runs of training", r, n);
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);
    struct wr_doc_series *to = wr_doc_series(c, "images/s");

    for (size_t i = 0; i < n; i++) {
        wr_doc_label(c, "%s", r[i].label);
        wr_doc_value(to, result(r[i].json, "samples_per_s"));
    }
    wr_train_parts(s, r, n);
    wr_train_loss(d, s, r, n);
}

static void train_build(struct wr_doc *d, const struct wr_view_record *r,
                        size_t n)
{
    size_t count = WR_MIN(n, (size_t)RUNS_MAX);
    struct wr_view_record named[RUNS_MAX];
    char names[RUNS_MAX][WR_VIEW_NAME];

    if (n > 1)
        train_names(r, count, names);
    for (size_t i = 0; i < count; i++) {
        named[i] = r[i];
        if (n > 1)
            named[i].label = names[i];
    }
    if (n > 1 && train_are_comparable(named, count))
        side_by_side(d, named, count);
    for (size_t i = 0; i < count; i++)
        one_run(d, &named[i], n > 1);
}

/* --- what the command prints --- */

static void train_result(struct wr_doc *d, const struct wr_view_record *r)
{
    const json_t *j = r->json;
    struct wr_doc_section *s = wr_doc_section(d, "");
    double done = result(j, "iterations"), from = result(j, "resumed_at");

    if (wr_train_needs_cores(j))
        wr_view_starved(s, r, 1);
    if (wr_get_object(j, "compare")) {
        wr_train_compared(s, j);
        wr_train_cost(wr_doc_section(d, ""), j);
        return;
    }
    if (done == from)
        wr_doc_note(s, false,
                    "Nothing was left to do: all %.0f iterations had been done "
                    "(more: --epochs or --iterations).",
                    done);
    else if (from > 0)
        wr_doc_note(s, false, "Resumed after iteration %.0f.", from);
    wr_train_run_table(s, "", j);
    wr_train_validation_table(s, "", j);
    wr_train_save_table(s, "", j);
    wr_train_words(wr_doc_section(d, ""), j);
    wr_view_bad(d, j);
}

const struct wr_view wr_view_train = {.command = "train",
                                      .summarize = train_summarize,
                                      .build = train_build,
                                      .result = train_result};
