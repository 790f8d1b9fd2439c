/* view_bench.c - records of weir bench as sections of a report.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records that can be compared are one experiment, and a section each. */
#include "record/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "record/batches.h"
#include "record/bench_charts.h"
#include "record/bench_say.h"
#include "record/bench_tables.h"
#include "record/bench_words.h"
#include "result/get.h"
#include "record/sizes.h"
#include "result/stats.h"
#include "record/view_monitor.h"

#define MB            1e6
#define NAMED_MAX     3    /* cases that a warning names */
#define COLD_RESIDENT 0.02 /* more in the page cache is not cold */

/* The first of its runs that was starved. */
static const struct wr_cores_values *starved_cores(const struct wr_case *row)
{
    for (size_t i = 0; i < row->list.count; i++)
        if (wr_bench_run(row, i)->cores.starved)
            return &wr_bench_run(row, i)->cores;
    return NULL;
}

/* One sentence for all cases: who had the cores while they were measured. What
 * was measured then is not what the machine can do. */
static void warn_starved(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    char rows[64] = "", text[WR_VIEW_NAME];
    const struct wr_cores_values *first = NULL;
    size_t count = 0;

    for (size_t k = 0; k < c->count; k++) {
        const struct wr_cores_values *cores = wr_bench_is_starved(&c->v[k])
                                                  ? starved_cores(&c->v[k])
                                                  : NULL;

        first = first ? first : cores;
        count += cores != NULL;
    }
    if (!first)
        return;
    if (c->count > 1)
        snprintf(rows, sizeof(rows), " (in %zu of %zu cases)", count, c->count);
    wr_doc_note(v->s, true,
                "Starved: %s%s. The figures are too low, and the limit cannot "
                "be determined: measure again on an idle machine.",
                wr_cores_text(first, text, sizeof(text)), rows);
}

/* Cases of which `is_so` is true, in one warning: "a, b and 3 more: ...". */
static void warn_of(struct wr_doc_section *s, const struct wr_cases *c,
                    bool (*is_so)(const struct wr_case *), const char *what)
{
    char names[2 * WR_VIEW_NAME] = "", label[WR_VIEW_NAME];
    size_t count = 0;

    for (size_t k = 0; k < c->count; k++) {
        if (!is_so(&c->v[k]))
            continue;
        if (count++ < NAMED_MAX)
            snprintf(names + strlen(names), sizeof(names) - strlen(names),
                     "%s%.150s", *names ? "; " : "",
                     wr_cases_name(c, k, "all", label, sizeof(label)));
    }
    if (count > NAMED_MAX)
        snprintf(names, sizeof(names), "%zu of %zu cases", count, c->count);
    if (count)
        wr_doc_note(s, true, "%s: %s", names, what);
}

static bool has_bad(const struct wr_case *row)
{
    return wr_bench_case(row)->bad_count > 0;
}

static bool was_not_cold(const struct wr_case *row)
{
    double v[WR_CASE_RUNS_MAX];
    size_t n = wr_stats_sort(v, WR_BENCH_NUMBERS(row, resident, v));

    return !strcmp(wr_get_text(row->settings, "page_cache"), "cold") &&
           wr_stats_quantile(v, n, 1) > COLD_RESIDENT;
}

static bool ran_once(const struct wr_case *row)
{
    return row->list.count < 2;
}

/* What a reader must know before the numbers. */
static void warn(struct wr_scope *v)
{
    warn_of(v->s, &v->c, has_bad, "some samples could not be read.");
    warn_of(v->s, &v->c, was_not_cold,
            "a part of the data was in the page cache before a cold run.");
    warn_of(v->s, &v->c, ran_once, "only one run counts: no spread.");
}

/* What took the batches, if it was emulated, with the source of its times. */
static void describe_accelerator(struct wr_doc_section *s, const json_t *record)
{
    const json_t *a = wr_get_object(record, "accelerator");
    double step_ms = wr_get_number(a, "step_ms");

    if (step_ms > 0)
        wr_doc_fact(s, "Accelerator", "%s (emulated), %g ms a batch; %s",
                    wr_get_text(a, "name"), step_ms, wr_get_text(a, "source"));
}

/* Without the device that is emulated: the title says it. */
static const char *plain_url(const char *url)
{
    const char *rest = strncmp(url, "emu:", 4) ? NULL : strchr(url + 4, ':');

    return rest ? rest + 1 : url;
}

static void describe_data(struct wr_doc_section *s, const json_t *record)
{
    const json_t *ds = wr_get_object(record, "dataset");
    double step = wr_get_number(record, "consumer_ms");
    char bytes[32];

    wr_doc_fact(s, "Data set", "%s (%s), %.0f samples, %s",
                plain_url(wr_get_text(ds, "url")), wr_get_text(ds, "format"),
                fmax(0, wr_get_number(ds, "samples")),
                wr_format_bytes(bytes, sizeof(bytes),
                                fmax(0, wr_get_number(ds, "bytes"))));
    if (wr_get_object(record, "accelerator"))
        describe_accelerator(s, record);
    else if (step > 0) /* of an older weir */
        wr_doc_fact(s, "Consumer", "%g ms of work a batch", step);
}

static void describe(struct wr_scope *v)
{
    char common[WR_VIEW_NAME];

    describe_data(v->s, v->r->json);
    if (*wr_bench_common(&v->c, common, sizeof(common)))
        wr_doc_fact(v->s, "In all cases", "%s", common);
    if (!v->c.count)
        wr_doc_note(v->s, true, "No case was measured.");
}

/* The data of all experiments, once. */
static void list_data(struct wr_scope *v)
{
    struct wr_doc_table *t = wr_doc_table(
        v->s, "Data sets",
        "<record|<data set|<format|>samples|>MB|>files|>consumer ms");

    wr_doc_fold(t);
    for (size_t i = 0; i < v->n && i < WR_VIEW_ROWS; i++) {
        const json_t *ds = wr_get_object(v->r[i].json, "dataset");

        wr_doc_cell(t, "%s", v->r[i].label);
        wr_doc_cell(t, "%s", wr_get_text(ds, "url"));
        wr_doc_cell(t, "%s", wr_get_text(ds, "format"));
        wr_doc_number(t, wr_get_number(ds, "samples"), 0);
        wr_doc_number(t, wr_get_number(ds, "bytes") / MB, 1);
        wr_doc_number(t, wr_get_number(ds, "files"), 0);
        wr_doc_number(t, wr_get_number(v->r[i].json, "consumer_ms"), 1);
    }
    wr_sizes_draw(v->d, v->s, &v->c, "dataset.sizes");
    wr_sizes_table(v->s, &v->c, "dataset.sizes");
}

static struct wr_view_group *bench_groups(const struct wr_view_record *r,
                                          size_t n, size_t *ret_count)
{
    return wr_experiments(r, n, &wr_bench_spec, ret_count);
}

static void bench_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    size_t count = 0;
    struct wr_view_group *e = bench_groups(r, n, &count);

    if (!e)
        wr_doc_fail(d);
    else
        wr_bench_say(d, e, count, room);
    wr_view_groups_free(e, count);
}

static void print_common(struct wr_scope *v)
{
    char common[WR_VIEW_NAME];

    if (*wr_bench_common(&v->c, common, sizeof(common)))
        wr_doc_note(v->s, false, "%s", common);
}

static void list_digests(struct wr_scope *v)
{
    for (size_t k = 0; k < v->c.count; k++) {
        const char *digest = wr_bench_middle(&v->c.v[k])->digest;

        if (*digest)
            wr_doc_note(v->s, false, "digest %s%s", digest,
                        v->c.count > 1 ? " (in the order of the table)" : "");
    }
}

static const struct wr_section sections[] = {
    {.of = WR_OF_GROUP,
     .items = WR_ITEMS(
         {.show = wr_show_host}, {.show = describe}, {.show = warn_starved},
         {.show = warn}, {.show = wr_bench_prefetch_notes},
         {.show = wr_bench_words}, {.show = wr_bench_rates},
         {.show = wr_bench_prefetch}, {.show = wr_bench_stages},
         {.show = wr_batches_draw}, {.show = wr_show_monitor},
         {.table = &wr_bench_case_table, .only = WR_IF_ROWS},
         {.table = &wr_bench_run_table, .only = WR_IF_ROWS},
         {.table = &wr_bench_rank_table}, {.show = wr_show_monitor_tables})},
    {.title = "The data",
     .plain = true,
     .items = WR_ITEMS({.show = list_data})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.show = warn_starved}, {.show = print_common},
                       {.table = &wr_bench_case_table})},
    {.items = WR_ITEMS({.show = list_digests})},
    {.items = WR_ITEMS({.show = wr_bench_words},
                       {.show = wr_show_bad, .only = WR_IF_ROWS})},
    {.items = NULL}};

const struct wr_view wr_view_bench = {.command = "bench",
                                      .summarize = bench_summarize,
                                      .rows = &wr_bench_spec,
                                      .groups = bench_groups,
                                      .sections = sections,
                                      .printed = printed};
