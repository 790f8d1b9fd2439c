/* bench.c - records of weir bench as sections of a report, and what they mean.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records that can be compared are one experiment, and a section each. */
#include "report/view.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/emu_url.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"
#include "report/batches.h"
#include "report/bench_tables.h"
#include "report/experiment.h"
#include "report/say.h"
#include "report/view_monitor.h"
#include "result/get.h"
#include "result/stats.h"

#define MB            1e6
#define NAMED_MAX     3    /* cases that a warning names */
#define COLD_RESIDENT 0.02 /* more in the page cache is not cold */
#define EACH_MAX      3    /* cases that are explained each */
#define NOT_COLD      0.01 /* more in the page cache is not cold */
#define NOTES_MAX     3
#define PLACES_MAX    4             /* devices in a sentence */
#define PAIRS_MAX     ((size_t)512) /* cases that are looked through in pairs */

/* What sentences tell of a case: the run whose rate is the median, and what
 * follows from it. */
#define FACTS(V)                                                               \
    V(BENCH, run, FIRST, .flags = WR_SAY_OPEN)                                 \
    V(TEXT, but, FIRST) /* in front of what limits it */                       \
    V(FLAG, unlimited, FIRST)                                                  \
    V(REAL, waited, FIRST) /* parts of the workers' time */                    \
    V(REAL, worked, FIRST)                                                     \
    V(REAL, decoded, FIRST)                                                    \
    V(REAL, resized, FIRST)                                                    \
    V(REAL, idle, FIRST)                                                       \
    V(REAL, consumer_waited, FIRST)                                            \
    V(REAL, of_read, FIRST) /* of what is possible */                          \
    V(REAL, of_slot, FIRST)                                                    \
    V(REAL, of_decode, FIRST)                                                  \
    V(REAL, could, FIRST)     /* times as much from storage */                 \
    V(FLAG, unchecked, FIRST) /* what was in the page cache */                 \
    V(REAL, not_cold, FIRST)  /* so much was */                                \
    V(REAL, cold, FIRST)                                                       \
    V(FLAG, tiered, FIRST)                                                     \
    V(REAL, found, FIRST) /* part of the samples */                            \
    V(TEXT, meanwhile, FIRST)

#define WR_TYPE_BENCH struct wr_bench_values
#define WR_KIND_BENCH .kind = WR_VAL_GROUP, .of = &wr_bench_vals

struct bench_facts {
    FACTS(WR_VAL_MEMBER)
};
#define THIS struct bench_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

/* Each is a line of what a command prints. */
static const struct wr_sentence words[] = {
    {"[{but}]Storage-bound: the workers waited for data {waited:0%} of their "
     "time and worked on it {worked:0%}.",
     .when = "verdict=storage-bound"},
    {"Plain reads of the same ranges ({read_limit_threads:0} "
     "thread{read_limit_threads:plural}) reach {read_limit_per_s:0} samples/s: "
     "this is {of_read:2} of that.",
     .when = "verdict=storage-bound of_read>0 read_limit_per_s>0"},
    {"Plain reads that fill memory of the size of two batches, as this does, "
     "reach {slot_limit_per_s:0}: this is {of_slot:2} of that.",
     .when = "verdict=storage-bound of_slot>0 slot_limit_per_s>0"},
    {"[{but}]Decode-bound: the workers decoded {decoded:0%} of their time, "
     "resized {resized:0%}, and waited for data {waited:0%}.",
     .when = "verdict=decode-bound"},
    {"Decoding alone, from memory, reaches {decode_limit_per_s:0} samples/s on "
     "{in_force.threads:0} thread{in_force.threads:plural}: this is "
     "{of_decode:2} of that.",
     .when = "verdict=decode-bound of_decode>0 decode_limit_per_s>0"},
    {"Storage could deliver {could:1} times as much: more cores, smaller "
     "pictures or decoded tensors help, faster storage does not.",
     .when = "verdict=decode-bound could>1"},
    {"[{but}]Convert-bound: the workers converted or copied tensors "
     "{worked:0%} of their time, and waited for data {waited:0%}.",
     .when = "verdict=convert-bound"},
    {"Converting alone, from memory, reaches {decode_limit_per_s:0} samples/s "
     "on {in_force.threads:0} thread{in_force.threads:plural}: this is "
     "{of_decode:2} of that.",
     .when = "verdict=convert-bound of_decode>0 decode_limit_per_s>0"},
    {"Storage could deliver {could:1} times as much: more cores, a smaller "
     "type, or tensors stored in the type and layout that are asked for help, "
     "faster storage does not.",
     .when = "verdict=convert-bound could>1"},
    {"[{but}]Consumer-bound: the consumer waited {consumer_waited:1%} of its "
     "time; the pipeline was ahead and idle {idle:0%}.",
     .when = "verdict=consumer-bound"},
    {"[{but}]Too few batches to say what limits it.", .when = "unlimited"},
    {.text = "{meanwhile}"},
    {"Cold cache: it could not be checked here.", .when = "unchecked"},
    {.text = "Not cold: up to {not_cold:0%} of the data were still in the page "
             "cache (in use by another program?)."},
    {.text = "Cold cache: {cold:1%} of the data were resident before the runs, "
             "at most. What lies below the kernel (the disk's or the host's "
             "cache) is not dropped."},
    {"Tiers: {found:1%} of the samples were found ({cache.ram_hits:0} in "
     "memory, {cache.dir_hits:0} in folders, {cache.misses:0} not); they hold "
     "{cache.ram_bytes:bytes} in memory, {cache.dir_bytes:bytes} in folders.",
     .when = "tiered"},
    {.text = "A tier takes nothing more: {cache_error}"},
    {"{cache.damaged:0} entries of a folder were damaged; their samples were "
     "read from the data set.",
     .when = "cache.damaged>0"},
    {"Last epoch: {last_epoch_per_s:0} samples/s.",
     .when = "last_epoch_per_s>0"},
    {.text = "Chosen: {tuning}", .lines = true},
    {.text = NULL}};

static const struct wr_sentence *const sentences[] = {words, NULL};

/* --- facts --- */

/* Of the workers' time. */
static void share_facts(struct bench_facts *f)
{
    const struct wr_input_values *t = &f->run.times;
    double wait = fmax(0, t->storage_wait_s) + fmax(0, t->submit_s);
    double decode = fmax(0, t->decode_s), resample = fmax(0, t->resample_s);
    double sum = wait + decode + resample + fmax(0, t->idle_s);
    double all = t->consumer_wait_s + t->consumer_busy_s;

    sum = sum > 0 ? sum : INFINITY;
    f->waited = wait / sum;
    f->worked = (decode + resample) / sum;
    f->decoded = decode / sum;
    f->resized = resample / sum;
    f->idle = fmax(0, t->idle_s) / sum;
    f->consumer_waited = all > 0 ? t->consumer_wait_s / all : 0;
}

/* Cold is what was measured, not what was asked for. */
static void cold_facts(struct bench_facts *f, const struct wr_case *row)
{
    const struct wr_bench_values *first = wr_bench_case(row)->runs.v;
    double worst = 0;

    if (strcmp(wr_get_text(row->settings, "page_cache"), "cold"))
        return;
    for (size_t i = 0; i < row->list.count; i++)
        worst = fmax(worst, wr_bench_run(row, i)->resident);
    f->unchecked = isnan(first->resident);
    if (!f->unchecked && worst > NOT_COLD)
        f->not_cold = worst;
    else if (!f->unchecked)
        f->cold = worst;
}

/* What the tiers did. */
static void tier_facts(struct bench_facts *f, const struct wr_case *row)
{
    struct wr_tier_values *c = &f->run.cache;
    double hits;

    f->tiered = *wr_get_text(row->settings, "cache");
    c->ram_hits = fmax(0, c->ram_hits);
    c->dir_hits = fmax(0, c->dir_hits);
    c->misses = fmax(0, c->misses);
    c->ram_bytes = fmax(0, c->ram_bytes);
    c->dir_bytes = fmax(0, c->dir_bytes);
    hits = c->ram_hits + c->dir_hits;
    f->found = hits / fmax(1, hits + c->misses);
}

/* What limits a case, in words; NULL when that is not known. */
static const char *limit_of(const char *verdict)
{
    static const struct {
        const char *verdict, *word;
    } limits[] = {{"storage-bound", "storage"},
                  {"decode-bound", "decoding"},
                  {"convert-bound", "converting"},
                  {"consumer-bound", "the consumer"}};
    int k = wr_named_index(WR_NAMED(limits), verdict);

    return k < 0 ? NULL : limits[k].word;
}

static struct bench_facts find_facts(const struct wr_cases *c, size_t k,
                                     char meanwhile[WR_VIEW_NAME])
{
    const struct wr_case *row = &c->v[k];
    const struct wr_bench_result_values *result = &wr_bench_case(row)->result;
    double from;
    struct bench_facts f;

    wr_vals_clear(&facts, &f);
    f.run = *wr_bench_middle(row);
    f.but = result->starved ? "Starved; apart from that: " : "";
    f.unlimited = !limit_of(f.run.verdict);
    f.of_read = result->of_read_limit;
    f.of_slot = result->of_slot_limit;
    f.of_decode = result->of_decode_limit;
    f.could = f.run.read_limit_per_s / f.run.samples_per_s;
    share_facts(&f);
    cold_facts(&f, row);
    tier_facts(&f, row);
    from = f.run.start_s;
    wr_meanwhile(c->records[row->record].json, from, from + f.run.seconds,
                 meanwhile, WR_VIEW_NAME);
    f.meanwhile = meanwhile;
    return f;
}

/* As a note; printed, in a section with a line for each sentence. */
static void say_case(struct wr_scope *v, size_t k)
{
    char text[WR_SAY_BYTES], heading[WR_VIEW_NAME], meanwhile[WR_VIEW_NAME];
    char all[4 * WR_SAY_BYTES] = "";
    const struct bench_facts f = find_facts(&v->c, k, meanwhile);

    wr_bench_heading(&v->c, k, heading, sizeof(heading));
    if (v->brief) {
        wr_sentences(wr_doc_section(v->d, heading), "", words, &facts, &f);
        return;
    }
    for (const struct wr_sentence *s = words; s->text; s++)
        if (wr_sentence(s, &facts, &f, text, sizeof(text)))
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
                     *all ? " " : "", text);
    for (char *at = all; (at = strchr(at, '\n'));)
        *at = ' ';
    wr_doc_note(v->s, false, "%s: %s", heading, all);
}

/* What limits the cases, what the machine did meanwhile and what the tiers
 * did: of a few cases each, of a sweep the last and the fastest. */
static void say_cases(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    double most = 0;
    size_t best = 0;

    for (size_t k = 0; k < c->count; k++) {
        double rate = wr_bench_median(&c->v[k])->samples_per_s;

        if (rate > most)
            best = k;
        most = fmax(most, rate);
    }
    for (size_t k = 0; k < c->count; k++)
        if (c->count <= EACH_MAX || k == best || k + 1 == c->count)
            say_case(v, k);
}

/* --- warnings --- */

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

/* --- prefetching --- */

/* Whether two rows have the same settings but for the prefetch. */
static bool twins(const struct wr_case *a, const struct wr_case *b)
{
    json_t *x = json_copy((json_t *)(uintptr_t)a->settings);
    json_t *y = json_copy((json_t *)(uintptr_t)b->settings);
    bool same;

    json_object_del(x, "prefetch");
    json_object_del(y, "prefetch");
    same = a->record == b->record && x && y && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

/* A run time without prefetching and its twin with it. */
struct case_pair {
    size_t off, on; /* cases */
    double off_s, on_s;
};

/* The pairs of an experiment, at most `cap`. */
static size_t find_pairs(const struct wr_cases *c, struct case_pair *ret,
                         size_t cap)
{
    size_t n = 0, cases = WR_MIN(c->count, PAIRS_MAX);

    for (size_t k = 0; k < cases; k++) {
        if (wr_bench_setting(&c->v[k], "prefetch") != 0)
            continue;
        for (size_t i = 0; i < cases && n < cap; i++) {
            struct case_pair p = {k, i, wr_bench_median(&c->v[k])->seconds,
                                  wr_bench_median(&c->v[i])->seconds};

            if (wr_bench_setting(&c->v[i], "prefetch") >= 1 && p.off_s > 0 &&
                p.on_s > 0 && twins(&c->v[k], &c->v[i]))
                ret[n++] = p;
        }
    }
    return n;
}

static void say_prefetch_pairs(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    struct case_pair pairs[NOTES_MAX];
    size_t n = find_pairs(c, pairs, NOTES_MAX);
    char label[WR_VIEW_NAME];

    for (size_t i = 0; i < n; i++) {
        const struct case_pair *p = &pairs[i];

        wr_cases_label(c, p->off, "prefetch", label, sizeof(label));
        wr_doc_note(v->s, false,
                    "%s%sPrefetch %.0f instead of none: %.2f s instead of "
                    "%.2f s (%.0f %% %s).",
                    label, *label ? ": " : "",
                    wr_bench_setting(&c->v[p->on], "prefetch"), p->on_s,
                    p->off_s, fabs(1 - p->on_s / p->off_s) * 100,
                    p->on_s <= p->off_s ? "less" : "more");
    }
}

/* --- the top of the page --- */

/* The fastest case of all that read alone, or that did not. */
struct best_case {
    const struct wr_cases *part;
    size_t row;
    double rate;
};

static struct best_case fastest(const struct wr_cases *p, size_t n, bool read)
{
    struct best_case b = {.rate = 0};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p[i].count; k++) {
            const struct wr_case *row = &p[i].v[k];
            double rate = read ? wr_bench_median(row)->bytes_per_s
                               : wr_bench_median(row)->samples_per_s;

            if (wr_bench_is_read(&p[i]) == read && rate > b.rate)
                b = (struct best_case){&p[i], k, rate};
        }
    return b;
}

/* " (4 threads, cold)", or nothing. */
static char *in_brackets(const struct best_case *b, char *buf, size_t cap)
{
    char label[WR_VIEW_NAME - 4];

    wr_cases_label(b->part, b->row, NULL, label, sizeof(label));
    snprintf(buf, cap, "%s%s%s", *label ? " (" : "", label, *label ? ")" : "");
    return buf;
}

static size_t say_pipeline(struct wr_doc *d, const struct wr_cases *p, size_t n,
                           size_t room)
{
    struct best_case b = fastest(p, n, /* read= */ false);
    char label[WR_VIEW_NAME], rate[32];
    const struct wr_bench_result_values *result;
    const char *limit;

    if (!b.part)
        return 0;
    result = &wr_bench_case(&b.part->v[b.row])->result;
    limit = result->starved ? NULL : limit_of(result->verdict);
    wr_say_number(b.rate, rate, sizeof(rate));
    wr_doc_summary(d, "The pipeline delivers up to %s samples/s%s%s%s.", rate,
                   in_brackets(&b, label, sizeof(label)),
                   limit ? "; what limits it is " : "", limit ? limit : "");
    wr_doc_headline(d, "samples/s fed, at best", "%s", rate);
    if (limit && room > 2)
        wr_doc_headline(d, "limits it", "%s", limit);
    if (result->starved)
        wr_doc_summary(d, "Other programs had the cores then: it is too low.");
    return 1;
}

static size_t say_read(struct wr_doc *d, const struct wr_cases *p, size_t n,
                       size_t room)
{
    struct best_case b = fastest(p, n, /* read= */ true);
    char label[WR_VIEW_NAME], rate[32];

    if (!b.part)
        return 0;
    wr_say_number(b.rate / MB, rate, sizeof(rate));
    wr_doc_summary(d, "Reading alone reaches %s MB/s%s.", rate,
                   in_brackets(&b, label, sizeof(label)));
    wr_doc_headline(d, "reading alone", "%s MB/s", rate);
    return 1;
}

static size_t say_prefetch(struct wr_doc *d, const struct wr_cases *p, size_t n,
                           size_t room)
{
    struct case_pair best = {0}, pairs[NOTES_MAX];
    double change;

    for (size_t i = 0; i < n; i++) {
        size_t found = find_pairs(&p[i], pairs, NOTES_MAX);

        for (size_t k = 0; k < found; k++)
            if (!(best.on_s > 0) ||
                pairs[k].off_s / pairs[k].on_s > best.off_s / best.on_s)
                best = pairs[k];
    }
    if (!(best.on_s > 0))
        return 0;
    change = 100 * (1 - best.on_s / best.off_s);
    wr_doc_summary(d,
                   "Prefetching makes a run %.0f %% %s: %.2f s instead of "
                   "%.2f s.",
                   fabs(change), change >= 0 ? "shorter" : "longer", best.on_s,
                   best.off_s);
    wr_doc_headline(d, "run time by prefetching", "%s%.0f %%",
                    change >= 0 ? "\u2212" : "+", fabs(change));
    return 1;
}

/* The case of a record with the fewest or the most threads. */
static const struct wr_case *at_threads(const struct wr_cases *c, size_t record,
                                        bool most)
{
    const struct wr_case *found = NULL;

    for (size_t k = 0; k < c->count; k++) {
        double v = wr_bench_setting(&c->v[k], "threads");
        double best = found ? wr_bench_setting(found, "threads") : NAN;

        if (c->v[k].record == record && v > 0 &&
            (!found || (most ? v > best : v < best)))
            found = &c->v[k];
    }
    return found;
}

/* "8 threads read 2.3 times as fast as 1 on hdd, 7.8 times on lustre". */
static size_t say_threads(struct wr_doc *d, const struct wr_cases *p, size_t n,
                          size_t room)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_cases *c = &p[i];
        const struct wr_case *few = at_threads(c, 0, false);
        const struct wr_case *many = at_threads(c, 0, true);
        char text[WR_VIEW_NAME] = "";

        if (c->varying_count != 1 || !wr_cases_varies(c, "threads") || !few)
            continue;
        for (size_t r = 0; r < c->record_count && r < PLACES_MAX; r++) {
            const struct wr_case *a = at_threads(c, r, false);
            const struct wr_case *b = at_threads(c, r, true);
            double ratio = a && b ? wr_bench_median(b)->samples_per_s /
                                        wr_bench_median(a)->samples_per_s
                                  : NAN;
            const char *on = c->record_count > 1 ? c->records[r].label : "";

            if (isfinite(ratio))
                wr_say(text, sizeof(text), "%.1f times%s%s", ratio,
                       *on ? " on " : "", on);
        }
        if (!*text)
            continue;
        wr_doc_summary(d, "%.0f threads against %.0f: %s.",
                       wr_bench_setting(many, "threads"),
                       wr_bench_setting(few, "threads"), text);
        return 1;
    }
    return 0;
}

/* --- sections --- */

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
    struct wr_emu_url emu;

    return wr_emu_url(url, &emu) ? emu.inner : url;
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

static struct wr_view_group *bench_groups(const struct wr_view_record *r,
                                          size_t n, size_t *ret_count)
{
    return wr_experiments(r, n, &wr_bench_spec, ret_count);
}

static void bench_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    static size_t (*const say[])(struct wr_doc *, const struct wr_cases *,
                                 size_t, size_t) = {say_pipeline, say_prefetch,
                                                    say_read, say_threads};
    size_t count = 0;
    struct wr_view_group *g = bench_groups(r, n, &count);
    struct wr_cases *parts = calloc(count + 1, sizeof(*parts));

    if (!g || !parts)
        wr_doc_fail(d);
    for (size_t i = 0; g && parts && i < count; i++)
        wr_cases_init(&parts[i], g[i].records, g[i].count, &wr_bench_spec);
    for (size_t i = 0; g && parts && i < WR_ARRAY_LEN(say) && room; i++)
        room -= say[i](d, parts, count, room);
    for (size_t i = 0; parts && i < count; i++)
        wr_cases_done(&parts[i]);
    free(parts);
    wr_view_groups_free(g, count);
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
         {.show = warn}, {.show = say_prefetch_pairs}, {.show = say_cases},
         {.show = wr_bench_rates},
         {.chart = &wr_bench_prefetch_chart,
          .is_needed = wr_bench_has_prefetch},
         {.chart = &wr_bench_stage_chart, .is_needed = wr_bench_is_worked},
         {.show = wr_batches_draw}, {.show = wr_show_monitor},
         {.table = &wr_bench_case_table, .only = WR_IF_ROWS},
         {.table = &wr_bench_run_table, .only = WR_IF_ROWS},
         {.table = &wr_bench_rank_table}, {.show = wr_show_monitor_tables})},
    {.title = "The data",
     .plain = true,
     .items = WR_ITEMS({.show = wr_bench_data_table})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.show = warn_starved}, {.show = print_common},
                       {.table = &wr_bench_case_table})},
    {.items = WR_ITEMS({.show = list_digests})},
    {.items = WR_ITEMS({.show = say_cases},
                       {.show = wr_show_bad, .only = WR_IF_ROWS})},
    {.items = NULL}};

const struct wr_view wr_view_bench = {.command = "bench",
                                      .summarize = bench_summarize,
                                      .rows = &wr_bench_spec,
                                      .groups = bench_groups,
                                      .sections = sections,
                                      .printed = printed,
                                      .facts = &facts,
                                      .sentences = sentences};
