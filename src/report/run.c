/* run.c - records of weir run as sections of a report: fed or not, and why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "report/view_monitor.h"
#include "report/run_tables.h"
#include "report/say.h"
#include "report/train_tables.h"
#include "report/view_monitor.h"
#include "result/get.h"
#include "result/run.h"

#define RUNS_MAX    24     /* that have a section of their own */
#define CACHED      0.1    /* of the bytes from the page cache: a warning */
#define MEMORY_RULE 5.0    /* times its memory: a data set that cannot stay */
#define SEEN        0.0005 /* a share below is not told */
#define NOMINAL     0.05   /* bytes that differ by more from nominal ones */

/* What sentences have beside the values of a run. */
#define FACTS(V)                                                               \
    V(RUN, run, FIRST, .flags = WR_SAY_OPEN)                                   \
    V(TEXT, who, FIRST) /* "8 accelerators of unet3d_a100" */                  \
    V(FLAG, searched, FIRST)                                                   \
    V(FLAG, meets, FIRST)                                                      \
    V(FLAG, slow, FIRST) /* the machine, as the self-test says */              \
    V(REAL, too_long, FIRST)                                                   \
    V(REAL, target, FIRST)                                                     \
    V(TEXT, limit, FIRST)                                                      \
    V(TEXT, parts, FIRST) /* where the time went */                            \
    V(REAL, asked, FIRST)                                                      \
    V(REAL, asked_samples, FIRST)                                              \
    V(REAL, nominal, FIRST) /* if it is far from what was read */              \
    V(REAL, cached, FIRST)  /* if that is much */                              \
    V(REAL, hardly_cached, FIRST)                                              \
    V(REAL, small_data, FIRST)                                                 \
    V(REAL, memory, FIRST)                                                     \
    V(REAL, first_batch, FIRST)                                                \
    V(TEXT, meanwhile, FIRST)

#define WR_TYPE_RUN struct wr_run_values
#define WR_KIND_RUN .kind = WR_VAL_GROUP, .of = &wr_run_vals

struct run_facts {
    FACTS(WR_VAL_MEMBER)
    char who_text[WR_VIEW_NAME], parts_text[WR_VIEW_NAME],
        meanwhile_text[WR_VIEW_NAME];
};
#define THIS struct run_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

#define ABOUT_MACHINE                                                          \
    " What follows is about the machine, not about the storage: run fewer "    \
    "accelerators here, or more ranks."

static const struct wr_sentence warnings[] = {
    {"This machine is too slow to emulate it: <without any reading AU is "
     "{selftest.au:1%}|a step takes {too_long:time} too long>." ABOUT_MACHINE,
     .when = "slow", .warning = true},
    {"This machine is too slow to emulate it: the self-test "
     "failed." ABOUT_MACHINE,
     .when = "slow !selftest.au !too_long", .warning = true},
    {"{cached:0%} of the bytes may have come from the page cache[: the data "
     "set ({small_data:bytes}) is smaller than 5 x memory ({memory:bytes})].",
     .warning = true},
    {"Nothing was read (--no-io): this is the emulation alone.",
     .when = "config.no_io", .warning = true},
    {NULL}};

static const struct wr_sentence described[] = {
    {"{who}[: {config.title}]", .fact = "Emulated"},
    {"[{config.data}: ]<{config.format}|{config.samples:number} samples in "
     "{config.files:0} files|{demand.sample_bytes:bytes} "
     "each|{demand.dataset_bytes:bytes} in all>",
     .fact = "Data"},
    {"{config.step_s:time} of computing[ ({config.step_law})], "
     "{config.batch:0} samples",
     .when = "config.step_s>0", .fact = "A step"},
    {"{demand.bytes_per_s:bytes}/s and {demand.samples_per_s:number} samples/s "
     "of each accelerator",
     .when = "demand.bytes_per_s>0", .fact = "Demand"},
    {"<ranks {config.ranks:0}|consume {config.consume}|order {config.order}|"
     "access {config.access}|read type {config.read_type}|compat "
     "{config.compat}|scale {config.scale:g}|threads {config.threads:0}|"
     "prefetch {config.prefetch:0}|depth {config.depth:0}|cache "
     "{config.cache}>",
     .fact = "Settings"},
    {"{bad_count:0} samples could not be read.", .when = "bad_count>0",
     .warning = true},
    {NULL}};

static const struct wr_sentence doubts[] = {
    {"This machine is too slow to emulate it: the figures are about the "
     "machine, not about the storage.",
     .when = "slow"},
    {NULL}};

/* At most one of them. */
static const struct wr_sentence answers[] = {
    {"Not even one accelerator of this kind can be fed (AU >= "
     "{search.target:g4%}).",
     .when = "searched search.most<1"},
    {"{search.most:number} accelerator{search.most:plural} of this kind can be "
     "fed (AU >= {search.target:g4%})[{limit}].",
     .when = "searched search.most>0"},
    {"AU {result.au:1%} of {who} without any I/O.",
     .when = "!searched config.no_io"},
    {"AU {result.au:1%} of {who}; no target is set.",
     .when = "!searched !config.no_io !target"},
    {"AU {result.au:1%}, target {target:g4%}: this machine is too slow to tell "
     "whether the storage feeds {who}.",
     .when = "!searched !config.no_io slow !meets"},
    {"AU {result.au:1%}, target {target:g4%}: no, this storage does not feed "
     "{who}.",
     .when = "!searched !config.no_io !slow !meets"},
    {"AU {result.au:1%}, target {target:g4%}: yes, this storage feeds {who}.",
     .when = "!searched !config.no_io meets"},
    {NULL}};

static const struct wr_sentence reasons[] = {
    {"With {config.accelerators:number} "
     "accelerator{config.accelerators:plural}: of {result.seconds:time}, "
     "{parts}.",
     .when = "searched"},
    {"Of {result.seconds:time}, {parts}.", .when = "!searched"},
    {"They were given {result.bytes_per_s:bytes}/s of the {asked:bytes}/s that "
     "they take if they never wait[ ({result.samples_per_s:number} of "
     "{asked_samples:number} samples/s)][; by the sizes of the samples it "
     "would be {nominal:bytes}/s].",
     .when = "!config.no_io asked>0"},
    {NULL}};

static const struct wr_sentence reads[] = {
    {"{reads.count:number} reads[: <mostly of {reads.usual_bytes:size}|mean "
     "{reads.mean_bytes:size}|{reads.sequential:0%} "
     "sequential|{reads.consecutive:0%} consecutive>][; latency <p50 "
     "{reads.p50_us:us}|p95 {reads.p95_us:us}|p99 {reads.p99_us:us}|longest "
     "{reads.max_us:us}>][; one was in flight {reads.io_share:0%} of the "
     "time].",
     .when = "reads.count>0"},
    {"{batches.stalls:number} of {batches.steps:number} steps waited for their "
     "batch longer than 1 % of a step[; waits: <p50 "
     "{batches.wait_p50_ms:ms}|p95 {batches.wait_p95_ms:ms}|p99 "
     "{batches.wait_p99_ms:ms}|longest {batches.wait_max_ms:ms}>].",
     .when = "batches.steps>0"},
    {.text =
         "It took <{result.cpu_s_per_gb:g3} CPU seconds per "
         "GB|{result.peak_bytes:bytes} of memory|{first_batch:time} until the "
         "first batch>."},
    {.text =
         "{hardly_cached:1%} of the bytes may have come from the page cache."},
    {.text = "{meanwhile}"},
    {NULL}};

static const struct wr_sentence *const sentences[] = {
    warnings, described, answers, reasons, reads, doubts, NULL};

/* --- facts --- */

static double above_0(double x)
{
    return x > 0 ? x : NAN;
}

static bool run_meets(const struct wr_run_values *run)
{
    return isnan(run->result.meets) ? run->result.au >= run->config.au_target
                                    : run->result.meets == 1;
}

static const char *limit_text(const char *limit)
{
    static const char *const limits[][2] = {
        {"storage", "; for more the storage is too slow"},
        {"cpu", "; for more this machine has too few cores"},
        {"data", "; for more the data set is too small"},
        {"asked", "; more were not tried"}};

    for (size_t i = 0; i < WR_ARRAY_LEN(limits); i++)
        if (!strcmp(limit, limits[i][0]))
            return limits[i][1];
    return "";
}

/* The rank that all others wait for waits least itself; -1: not known. */
static double slowest_rank(const struct wr_list *ranks)
{
    double least = INFINITY, slowest = -1;

    for (size_t i = 0; i < ranks->count; i++) {
        const struct wr_run_rank_values *rank = wr_list_at(ranks, i);

        if (!(rank->barrier_s < least))
            continue;
        least = rank->barrier_s;
        slowest = rank->rank;
    }
    return ranks->count > 1 ? slowest : -1;
}

/* Whether the input was short of cores, not of bytes. */
static bool is_decoding(const struct wr_run_values *run)
{
    const char *verdict = wr_text_at(&run->input.verdict, 0);

    return !strcmp(verdict, "decode-bound") ||
           !strcmp(verdict, "convert-bound");
}

/* What stands in parentheses behind a part of the time. */
static void part_detail(const struct wr_run_values *run, const char *key,
                        char *buf, size_t cap)
{
    double p99 = run->reads.p99_us / 1e6, rank = slowest_rank(&run->ranks);
    char text[32];

    *buf = '\0';
    if (!strcmp(key, "read") && is_decoding(run))
        snprintf(buf, cap, " (decoding: the cores, not the storage)");
    else if (!strcmp(key, "read") && p99 > 0)
        snprintf(buf, cap, " (p99 of a read %s)",
                 wr_say_time(p99, text, sizeof(text)));
    if (!strcmp(key, "barrier") && rank >= 0)
        snprintf(buf, cap, " (rank %.0f)", rank);
}

/* "81.0 % went to computing, 12.0 % to waiting for input" */
static void list_parts(const struct wr_run_values *run, char *buf, size_t cap)
{
    char detail[64];

    *buf = '\0';
    for (const struct wr_chart_series *p = wr_run_parts; p->key; p++) {
        double share = wr_vals_number(&wr_run_vals, run, p->key);

        if (!(share >= SEEN))
            continue;
        part_detail(run, strchr(p->key, '.') + 1, detail, sizeof(detail));
        wr_say(buf, cap, "%.1f %% %s %s%s", 100 * share,
               *buf ? "to" : "went to", p->name, detail);
    }
}

static void cache_facts(struct run_facts *f, const json_t *j)
{
    double found = wr_get_number(j, "dataset.bytes"); /* what is there */
    double data = found > 0 ? found : f->run.demand.dataset_bytes;
    double memory = wr_get_number(j, "host.memory_bytes");
    double resident = f->run.result.resident;

    if (resident < CACHED)
        f->hardly_cached = resident;
    /* An emulated device takes its time from there, too. */
    if (resident >= CACHED && !wr_view_is_emulated(j))
        f->cached = fmin(resident, 1);
    if (data > 0 && memory > 0 && data < MEMORY_RULE * memory) {
        f->small_data = data;
        f->memory = memory;
    }
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    const struct wr_view_record *r = &c->records[record];
    const struct wr_run_values *run = wr_run_values_of(r);
    double n = run->config.accelerators, got = run->result.bytes_per_s;
    double from = fmax(0, wr_known_or(run->start_s, 0));
    const char *workload = wr_text_at(&run->config.workload, 0);
    char count[32] = "the";
    struct run_facts *f = ret;

    wr_vals_clear(&facts, f);
    f->run = *run;
    if (n >= 0)
        wr_say_number(n, count, sizeof(count));
    snprintf(f->who_text, sizeof(f->who_text), "%s accelerator%s%s%s", count,
             n == 1 ? "" : "s", *workload ? " of " : "", workload);
    f->who = f->who_text;
    f->searched = wr_get_object(r->json, "search") != NULL;
    f->meets = run_meets(run);
    f->slow = json_is_false(wr_get(r->json, "selftest.ok"));
    f->too_long = run->selftest.overhead_us / 1e6;
    f->target = above_0(run->config.au_target);
    f->limit = limit_text(wr_text_at(&run->search.limit, 0));
    list_parts(run, f->parts_text, sizeof(f->parts_text));
    f->parts = f->parts_text;
    f->asked = n * run->demand.bytes_per_s;
    f->asked_samples = above_0(n * run->demand.samples_per_s);
    if (fabs(run->result.nominal_bytes_per_s - got) > NOMINAL * got)
        f->nominal = run->result.nominal_bytes_per_s;
    cache_facts(f, r->json);
    f->first_batch = run->result.first_batch_ms / 1e3;
    wr_meanwhile(r->json, from, from + run->result.seconds, f->meanwhile_text,
                 sizeof(f->meanwhile_text));
    f->meanwhile = f->meanwhile_text;
}

/* --- the top of the page --- */

static void headline(struct wr_doc *d, const struct run_facts *f)
{
    char text[32];

    if (f->run.search.most >= 0)
        wr_doc_headline(d, "accelerators can be fed", "%s",
                        wr_say_number(f->run.search.most, text, sizeof(text)));
    if (isfinite(f->run.result.au))
        wr_doc_headline(d,
                        f->meets ? "AU, which reaches the target"
                                 : "AU, which misses the target",
                        "%.1f %%", 100 * f->run.result.au);
    if (f->run.result.bytes_per_s > 0)
        wr_doc_headline(
            d, "read", "%s/s",
            wr_format_bytes(text, sizeof(text), f->run.result.bytes_per_s));
}

static void run_summarize(struct wr_doc *d, const struct wr_view_record *r,
                          size_t n, size_t room)
{
    static const struct wr_sentence *const lists[] = {doubts, answers, reasons};
    struct wr_cases c;

    wr_cases_init(&c, r, n, &wr_run_spec);
    for (size_t i = 0; i < n && i < room; i++) {
        struct run_facts f;

        find_facts(&c, i, &f);
        if (n > 1) {
            wr_sentences_top(d, r[i].label, answers, &facts, &f, 1);
            continue;
        }
        headline(d, &f);
        for (size_t k = 0; k < WR_ARRAY_LEN(lists); k++)
            room -= wr_sentences_top(d, "", lists[k], &facts, &f, room);
    }
    wr_cases_done(&c);
}

/* --- sections --- */

/* Several runs: first what tells them apart. */
static void list_runs(struct wr_scope *v)
{
    struct wr_doc_table *t = wr_doc_table(
        v->s, "Runs", "<run|<workload|>accelerators|>AU|>target|<fed|>read");

    for (size_t i = 0; i < v->n; i++) {
        const json_t *j = v->r[i].json;
        bool meets = run_meets(wr_run_values_of(&v->r[i]));

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
     .items = WR_ITEMS({.show = list_runs}, {.show = wr_run_search_chart},
                       {.chart = &wr_run_loss_chart},
                       {.chart = &wr_run_au_chart},
                       {.show = wr_run_read_charts})},
    {.title = "Workload",
     .of = WR_OF_EACH,
     .items = WR_ITEMS(
         {.show = wr_show_host}, {.say = {warnings}}, {.show = wr_show_starved},
         {.say = {described}},
         {.say = {answers, reasons}, .only = WR_IF_BESIDE}, {.say = {reads}},
         {.show = wr_run_search_chart, .only = WR_IF_ONE},
         {.chart = &wr_run_loss_chart, .only = WR_IF_ONE},
         {.chart = &wr_run_au_chart, .only = WR_IF_ONE},
         {.chart = &wr_run_step_chart}, {.show = wr_run_flow_chart},
         {.show = wr_run_read_charts, .only = WR_IF_ONE},
         {.chart = &wr_run_rank_chart}, {.show = wr_train_saves},
         {.show = wr_show_monitor}, {.show = wr_run_search_table},
         {.table = &wr_run_epoch_table}, {.show = wr_run_seed_table},
         {.table = &wr_run_rank_table}, {.table = &wr_run_save_table},
         {.table = &wr_run_restore_table}, {.show = wr_show_monitor_tables})},
    {.items = NULL}};

/* Sections without a title keep the order: in each, sentences come first. */
static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.say = {warnings}}, {.show = wr_show_starved},
                       {.say = {answers, reasons}},
                       {.show = wr_run_search_table},
                       {.table = &wr_run_epoch_table})},
    {.items = WR_ITEMS(
         {.say = {reads}}, {.show = wr_run_seed_table},
         {.table = &wr_run_rank_table}, {.table = &wr_run_save_table},
         {.table = &wr_run_restore_table}, {.show = wr_show_bad})},
    {.items = NULL}};

const struct wr_view wr_view_run = {.command = "run",
                                    .summarize = run_summarize,
                                    .rows = &wr_run_spec,
                                    .sections = sections,
                                    .printed = printed,
                                    .facts = &facts,
                                    .find_facts = find_facts,
                                    .sentences = sentences,
                                    .most = RUNS_MAX};
