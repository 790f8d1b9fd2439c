/* view_run.c - records of weir run as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/run_charts.h"
#include "record/run_tables.h"
#include "record/run_words.h"
#include "record/train_charts.h"
#include "record/view_monitor.h"
#include "record/view_say.h"
#include "result/run.h"

#define RUNS_MAX 24 /* that have a section of their own */

/* --- the top of the page --- */

static void headline(struct wr_doc *d, const json_t *j)
{
    double au = wr_get_number(j, "result.au");
    double most = wr_get_number(j, "search.most");
    double rate = wr_get_number(j, "result.bytes_per_s");
    char text[32];

    if (most >= 0)
        wr_doc_headline(d, "accelerators can be fed", "%s",
                        wr_say_number(most, text, sizeof(text)));
    if (isfinite(au))
        wr_doc_headline(d,
                        wr_run_meets(j) ? "AU, which reaches the target"
                                        : "AU, which misses the target",
                        "%.1f %%", 100 * au);
    if (rate > 0)
        wr_doc_headline(d, "read", "%s/s",
                        wr_format_bytes(text, sizeof(text), rate));
}

static bool say_doubt(struct wr_doc *d, const json_t *j)
{
    if (!json_is_false(wr_get(j, "selftest.ok")))
        return false;
    wr_doc_summary(d, "This machine is too slow to emulate it: the figures are "
                      "about the machine, not about the storage.");
    return true;
}

static bool say(struct wr_doc *d, const json_t *j,
                char *(*words)(const json_t *, char *, size_t))
{
    char text[2 * WR_VIEW_NAME];

    if (!*words(j, text, sizeof(text)))
        return false;
    wr_doc_summary(d, "%s", text);
    return true;
}

static void summarize_one(struct wr_doc *d, const json_t *j, size_t room)
{
    static char *(*const words[])(const json_t *, char *, size_t) = {
        wr_run_answer, wr_run_loss, wr_run_demand};

    headline(d, j);
    room -= say_doubt(d, j);
    for (size_t i = 0; i < WR_ARRAY_LEN(words) && room; i++)
        room -= say(d, j, words[i]);
}

static void run_summarize(struct wr_doc *d, const struct wr_view_record *r,
                          size_t n, size_t room)
{
    char text[2 * WR_VIEW_NAME];

    if (n == 1 && room) {
        summarize_one(d, r->json, room);
        return;
    }
    for (size_t i = 0; i < n && i < room; i++)
        if (*wr_run_answer(r[i].json, text, sizeof(text)))
            wr_doc_summary(d, "%s: %s", r[i].label, text);
}

/* --- sections --- */

static void describe_data(struct wr_doc_section *s, const json_t *j)
{
    double bytes = wr_get_number(j, "demand.dataset_bytes");
    double one = wr_get_number(j, "demand.sample_bytes");
    char a[32], b[32], n[32], text[2 * WR_VIEW_NAME] = "";

    if (*wr_get_text(j, "config.format"))
        wr_say(text, sizeof(text), "%s", wr_get_text(j, "config.format"));
    if (wr_get_number(j, "config.samples") > 0)
        wr_say(text, sizeof(text), "%s samples in %.0f files",
               wr_say_number(wr_get_number(j, "config.samples"), n, sizeof(n)),
               fmax(0, wr_get_number(j, "config.files")));
    if (one > 0)
        wr_say(text, sizeof(text), "%s each",
               wr_format_bytes(a, sizeof(a), one));
    if (bytes > 0)
        wr_say(text, sizeof(text), "%s in all",
               wr_format_bytes(b, sizeof(b), bytes));
    if (*wr_get_text(j, "config.data") || *text)
        wr_doc_fact(s, "Data", "%s%s%s", wr_get_text(j, "config.data"),
                    *text ? ": " : "", text);
}

static void describe_step(struct wr_doc_section *s, const json_t *j)
{
    double rate = wr_get_number(j, "demand.bytes_per_s");
    double step = wr_get_number(j, "config.step_s");
    char a[32], b[32];

    if (step > 0)
        wr_doc_fact(s, "A step", "%s of computing (%s), %.0f samples",
                    wr_say_time(step, a, sizeof(a)),
                    wr_get_text(j, "config.step_law"),
                    fmax(0, wr_get_number(j, "config.batch")));
    if (rate > 0)
        wr_doc_fact(s, "Demand", "%s/s and %s samples/s of each accelerator",
                    wr_format_bytes(a, sizeof(a), rate),
                    wr_say_number(wr_get_number(j, "demand.samples_per_s"), b,
                                  sizeof(b)));
}

static void describe_settings(struct wr_doc_section *s, const json_t *j)
{
    static const char *const keys[][2] = {
        {"ranks", "ranks"},         {"consume", "consume"},
        {"order", "order"},         {"access", "access"},
        {"read_type", "read type"}, {"compat", "compat"},
        {"scale", "scale"},         {"threads", "threads"},
        {"prefetch", "prefetch"},   {"depth", "depth"},
        {"cache", "cache"}};
    const json_t *config = wr_get_object(j, "config");
    char text[2 * WR_VIEW_NAME] = "", shown[WR_VIEW_NAME];

    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++)
        if (*wr_get_shown(wr_get(config, keys[i][0]), shown, sizeof(shown)))
            wr_say(text, sizeof(text), "%s %s", keys[i][1], shown);
    if (*text)
        wr_doc_fact(s, "Settings", "%s", text);
}

static void describe(struct wr_scope *v)
{
    struct wr_doc_section *s = v->s;
    const json_t *j = v->r->json;
    const char *title = wr_get_text(j, "config.title");
    char who[WR_VIEW_NAME];

    wr_doc_fact(s, "Emulated", "%s%s%s", wr_run_who(j, who, sizeof(who)),
                *title ? ": " : "", title);
    describe_data(s, j);
    describe_step(s, j);
    describe_settings(s, j);
    if (wr_get_number(j, "bad_count") > 0)
        wr_doc_note(s, true, "%.0f samples could not be read.",
                    wr_get_number(j, "bad_count"));
}

static void saves(struct wr_scope *v)
{
    wr_train_saves(v->s, v->r->json);
}

/* Several runs: first what tells them apart. */
static void list_runs(struct wr_scope *v)
{
    struct wr_doc_table *t = wr_doc_table(
        v->s, "Runs", "<run|<workload|>accelerators|>AU|>target|<fed|>read");

    for (size_t i = 0; i < v->n; i++) {
        const json_t *j = v->r[i].json;
        bool meets = wr_run_meets(j);

        wr_doc_cell(t, "%s", v->r[i].label);
        wr_doc_cell(t, "%s", wr_get_text(j, "config.workload"));
        wr_doc_number(t, wr_get_number(j, "config.accelerators"), 0);
        wr_doc_percent(t, 100 * wr_get_number(j, "result.au"), 1);
        wr_doc_percent(t, 100 * wr_get_number(j, "config.au_target"), 0);
        wr_doc_cell(t, "%s", meets ? "yes" : "no");
        wr_doc_tone(t, meets ? WR_DOC_GOOD : WR_DOC_BAD);
        wr_say_rate_cell(t, wr_get_number(j, "result.bytes_per_s"));
    }
}

static const struct wr_section sections[] = {
    {.title = "Runs of workloads",
     .only = WR_IF_SEVERAL,
     .items = (const struct wr_item[]){{.show = list_runs},
                                       {.show = wr_run_search_chart},
                                       {.show = wr_run_loss_chart},
                                       {.show = wr_run_au_chart},
                                       {.show = wr_run_read_charts},
                                       {.show = NULL}}},
    {.title = "Workload",
     .of = WR_OF_EACH,
     .items =
         (const struct wr_item[]){
             {.show = wr_show_host},
             {.show = wr_run_warnings},
             {.show = wr_show_starved},
             {.show = describe},
             {.show = wr_run_says, .only = WR_IF_BESIDE},
             {.show = wr_run_reads},
             {.show = wr_run_search_chart, .only = WR_IF_ONE},
             {.show = wr_run_loss_chart, .only = WR_IF_ONE},
             {.show = wr_run_au_chart, .only = WR_IF_ONE},
             {.show = wr_run_step_chart},
             {.show = wr_run_flow_chart},
             {.show = wr_run_read_charts, .only = WR_IF_ONE},
             {.show = wr_run_rank_chart},
             {.show = saves},
             {.show = wr_show_monitor},
             {.show = wr_run_search_table},
             {.table = &wr_run_epoch_table},
             {.show = wr_run_seed_table},
             {.table = &wr_run_rank_table},
             {.table = &wr_run_save_table},
             {.table = &wr_run_restore_table},
             {.show = wr_show_monitor_tables},
             {.show = NULL}}},
    {.items = NULL}};

/* Sections without a title keep the order: in each, sentences come first. */
static const struct wr_section printed[] = {
    {.items = (const struct wr_item[]){{.show = wr_run_warnings},
                                       {.show = wr_show_starved},
                                       {.show = wr_run_says},
                                       {.show = wr_run_search_table},
                                       {.table = &wr_run_epoch_table},
                                       {.show = NULL}}},
    {.items = (const struct wr_item[]){{.show = wr_run_reads},
                                       {.show = wr_run_seed_table},
                                       {.table = &wr_run_rank_table},
                                       {.table = &wr_run_save_table},
                                       {.table = &wr_run_restore_table},
                                       {.show = wr_show_bad},
                                       {.show = NULL}}},
    {.items = NULL}};

const struct wr_view wr_view_run = {.command = "run",
                                    .summarize = run_summarize,
                                    .rows = &wr_run_spec,
                                    .sections = sections,
                                    .printed = printed,
                                    .most = RUNS_MAX};
