/* probe.c - records of weir probe as sections of a report, and what they mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/probe_tables.h"
#include "report/say.h"
#include "report/sizes.h"
#include "report/view_monitor.h"
#include "result/get.h"

#define MB                1e6
#define ACCELERATOR_PER_S 1000.0 /* an example that is easy to multiply */
#define CHECKPOINT_BYTES  1e9
#define WORTH             1.2  /* gains below that are not worth a word */
#define NOT_COLD          0.01 /* more in the page cache is not cold */
#define RECORDS_MAX       4    /* about which all is said */

/* What sentences tell of a record. */
#define FACTS(V)                                                               \
    V(TEXT, path, FIRST)                                                       \
    V(COUNT, file_bytes, FIRST)                                                \
    V(COUNT, small_files, FIRST)                                               \
    V(COUNT, passes, FIRST)                                                    \
    V(REAL, seconds, FIRST)                                                    \
    V(TEXT, engine, FIRST)                                                     \
    V(FLAG, untold, FIRST)  /* how much was in the page cache */               \
    V(FLAG, dropped, FIRST) /* what was */                                     \
    V(REAL, warm, FIRST)    /* part that was, if it is too much */             \
    V(REAL, cold, FIRST)    /* if not */                                       \
    V(TEXT, direct, FIRST)                                                     \
    V(TEXT, below, FIRST) /* signs of a cache there */                         \
    V(TEXT, sizes, FIRST) /* what the sizes are those of */                    \
    V(REAL, mean, FIRST)  /* bytes of a sample */                              \
    V(REAL, files, FIRST) /* samples/s as files */                             \
    V(TEXT, state, FIRST)                                                      \
    V(COUNT, readers, FIRST)                                                   \
    V(REAL, gain, FIRST)  /* times what one reader gets */                     \
    V(REAL, mixed, FIRST) /* samples/s in big files */                         \
    V(COUNT, in_flight, FIRST)                                                 \
    V(REAL, packed, FIRST) /* samples/s in order */                            \
    V(REAL, packed_bytes, FIRST)                                               \
    V(REAL, packing, FIRST) /* times what files give, if it is worth it */     \
    V(FLAG, no_packing, FIRST)                                                 \
    V(REAL, need, FIRST) /* bytes/s of an accelerator */                       \
    V(REAL, fed, FIRST)  /* accelerators */                                    \
    V(REAL, fed_part, FIRST)                                                   \
    V(REAL, depth_gain, FIRST)                                                 \
    V(COUNT, depth, FIRST)                                                     \
    V(FLAG, no_depth, FIRST)                                                   \
    V(REAL, save_s, FIRST)                                                     \
    V(REAL, sync_p50, FIRST)                                                   \
    V(REAL, sync_p99, FIRST)

struct probe_facts {
    FACTS(WR_VAL_MEMBER)
};
#define THIS struct probe_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

static const struct wr_sentence described[] = {
    {.text = "{path}, file of {file_bytes:size}, {small_files:0} small files, "
             "{passes:0} passes of {seconds:g} s, {engine}",
     .fact = "Path",
     .whole = true},
    {.text = NULL}};

static const struct wr_sentence engine[] = {
    {.text = "{engine}", .fact = "Engine"}, {.text = NULL}};

static const struct wr_sentence cache[] = {
    {.text = "dropped before every read, but the kernel does not tell what was "
             "resident before a read; {direct}",
     .when = "untold dropped",
     .fact = "Cache"},
    {.text = "unknown: the kernel does not tell what was resident before a "
             "read; {direct}",
     .when = "untold !dropped",
     .fact = "Cache"},
    {.text = "not cold: up to {warm:1%} was resident before a read; {direct}",
     .fact = "Cache"},
    {.text = "cold: at most {cold:1%} was resident before any read, as the "
             "kernel says; {direct}",
     .fact = "Cache"},
    {.text =
         "Something below the kernel caches: {below}. Data written long ago "
         "may be read far more slowly; probe an old file with --file.",
     .warning = true},
    {.text = NULL}};

static const struct wr_sentence samples[] = {
    {.text = "Samples as single files (sizes of {sizes}, {mean:bytes} on "
             "average): {files:count} samples/s from {state} files by "
             "{readers:0} reader{readers:plural}[, {gain:1}x of what one "
             "gets]."},
    {.text = NULL}};

static const struct wr_sentence packing[] = {
    {.text = "The same samples packed into big files: {mixed:count} samples/s "
             "in random order with {in_flight:0} requests in flight."},
    {.text = "Read in order, big files give {packed:count} samples/s "
             "({packed_bytes:bytes}/s)."},
    {.text = "Packing single files into shards (weir convert) can give up to "
             "{packing:1}x here."},
    {.text = "Packing single files into shards gains little here.",
     .when = "no_packing"},
    {.text = "An accelerator that takes 1000 samples/s needs {need:bytes}/s: "
             "single files feed {fed:0} of them."},
    {.text = "An accelerator that takes 1000 samples/s needs {need:bytes}/s: "
             "single files feed it {fed_part:0%} of the time, unless they come "
             "from a cache."},
    {.text = NULL}};

static const struct wr_sentence depth[] = {
    {.text =
         "Depth pays: random reads of 128 KiB gain {depth_gain:1}x from one "
         "in flight to {depth:0} (weir bench --depth)."},
    {.text = "Depth does not pay: one request in flight is as fast as many.",
     .when = "no_depth"},
    {.text = NULL}};

static const struct wr_sentence writes[] = {
    {.text = "A checkpoint of 1 GB takes {save_s:s} to write."},
    {.text = "A sync takes {sync_p50:us}, one in a hundred longer than "
             "{sync_p99:us}."},
    {.text = NULL}};

static const struct wr_sentence *const sentences[] = {
    described, engine, cache, samples, packing, depth, writes, NULL};

/* --- facts --- */

static double ops_of(const struct wr_case *row)
{
    return WR_PROBE_RESULT(row, ops_per_s);
}

/* The fastest test of a record, kind and operation; `alone`: of one worker. */
static const struct wr_case *fastest(const struct wr_cases *c, size_t record,
                                     enum wr_probe_kind kind, const char *op,
                                     bool alone)
{
    const struct wr_case *best = NULL;
    double most = 0;

    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];
        const struct wr_probe_test_values *test = wr_probe_test_of(row);
        double rate = WR_PROBE_RESULT(row, bytes_per_s);

        if (row->record != record || wr_probe_kind_of(row) != kind ||
            strcmp(test->op, op) || (alone && test->workers != 1) ||
            !(rate > most))
            continue;
        best = row;
        most = rate;
    }
    return best;
}

/* Mean size of the samples that the probe stands for. */
static double sample_bytes(const json_t *record)
{
    const json_t *parts = wr_get_list(record, "sizes.parts");
    double sum = 0;

    for (size_t k = 0; k < json_array_size(parts); k++) {
        const json_t *part = json_array_get(parts, k);

        sum += wr_get_number(part, "bytes") * wr_get_number(part, "share");
    }
    return sum;
}

static void cache_facts(struct probe_facts *f, const json_t *record)
{
    const json_t *o = wr_get_object(record, "cache");
    double resident = wr_get_number(o, "resident");

    f->untold = resident < 0;
    f->dropped = wr_get_true(o, "dropped");
    f->warm = resident > NOT_COLD ? resident : NAN;
    f->cold = resident <= NOT_COLD ? resident : NAN;
    f->direct = wr_get_true(o, "direct") ? "direct requests pass the page cache"
                                         : "no direct requests here";
    f->below = wr_get_true(o, "below") ? wr_get_text(o, "signs") : "";
    f->state = f->untold ? "dropped" : f->warm > 0 ? "cached" : "cold";
}

static void file_facts(struct probe_facts *f, const struct wr_cases *c,
                       size_t record)
{
    const struct wr_case *many = fastest(c, record, WR_PROBE_KIND_FILES,
                                         "files", /* alone= */ false);
    const struct wr_case *lone = fastest(c, record, WR_PROBE_KIND_FILES,
                                         "files", /* alone= */ true);
    double fed;

    if (!many)
        return;
    f->files = ops_of(many);
    f->readers = wr_probe_test_of(many)->workers;
    if (lone && f->readers > 1)
        f->gain = f->files / ops_of(lone);
    if (!(f->mean > 0))
        return;
    fed = f->files / ACCELERATOR_PER_S;
    f->need = f->mean * ACCELERATOR_PER_S;
    f->fed = fed >= 1 ? floor(fed) : NAN;
    f->fed_part = fed < 1 ? fed : NAN;
}

static void packing_facts(struct probe_facts *f, const struct wr_cases *c,
                          size_t record)
{
    const struct wr_case *mix = fastest(c, record, WR_PROBE_KIND_MIX, "read",
                                        /* alone= */ false);
    const struct wr_case *seq = fastest(c, record, WR_PROBE_KIND_SEQ, "read",
                                        /* alone= */ false);

    if (mix) {
        f->mixed = ops_of(mix);
        f->in_flight = wr_probe_test_of(mix)->workers *
                       wr_probe_test_of(mix)->depth;
    }
    if (!seq || !(f->mean > 0))
        return;
    f->packed_bytes = WR_PROBE_RESULT(seq, bytes_per_s);
    f->packed = f->packed_bytes / f->mean;
    if (f->packed > WORTH * f->files)
        f->packing = f->packed / f->files;
    else
        f->no_packing = f->files >= 0;
}

static void depth_facts(struct probe_facts *f, const struct wr_cases *c,
                        size_t record)
{
    const struct wr_case *deep = NULL, *lone = NULL;
    bool tried = false; /* more than one in flight */

    for (size_t k = 0; k < c->count; k++) {
        const struct wr_case *row = &c->v[k];
        const struct wr_probe_test_values *test = wr_probe_test_of(row);

        if (row->record != record ||
            wr_probe_kind_of(row) != WR_PROBE_KIND_RANDOM ||
            test->block != 128 * 1024 || !test->direct || test->workers != 1 ||
            !(ops_of(row) > 0))
            continue;
        tried |= test->depth > 1;
        lone = test->depth == 1 ? row : lone;
        deep = !deep || ops_of(row) > ops_of(deep) ? row : deep;
    }
    if (!lone || !tried)
        return;
    f->no_depth = !(ops_of(deep) > WORTH * ops_of(lone));
    if (f->no_depth)
        return;
    f->depth_gain = ops_of(deep) / ops_of(lone);
    f->depth = wr_probe_test_of(deep)->depth;
}

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    const json_t *j = c->records[record].json;
    const struct wr_case *out = fastest(c, record, WR_PROBE_KIND_SEQ, "write",
                                        /* alone= */ false);
    const struct wr_case *sync = fastest(c, record, WR_PROBE_KIND_SYNC, "sync",
                                         /* alone= */ false);
    struct probe_facts *f = ret;

    wr_vals_clear(&facts, f);
    f->path = wr_get_text(j, "path");
    f->file_bytes = wr_get_number(j, "file_bytes");
    f->small_files = wr_get_number(j, "small_files");
    f->passes = wr_get_number(j, "passes");
    f->seconds = wr_get_number(j, "seconds");
    f->engine = wr_get_text(j, "engine");
    f->sizes = wr_get_text(j, "sizes.name");
    f->mean = sample_bytes(j);
    cache_facts(f, j);
    file_facts(f, c, record);
    packing_facts(f, c, record);
    depth_facts(f, c, record);
    if (out)
        f->save_s = CHECKPOINT_BYTES / WR_PROBE_RESULT(out, bytes_per_s);
    if (sync) {
        f->sync_p50 = WR_PROBE_RESULT(sync, latency_us.p50);
        f->sync_p99 = WR_PROBE_RESULT(sync, latency_us.p99);
    }
}

/* --- the top of the page --- */

/* The test of all records of an operation with the highest rate. */
static const struct wr_case *best_of(const struct wr_cases *c, const char *op,
                                     size_t rate)
{
    const struct wr_case *best = NULL;
    double most = 0;

    for (size_t k = 0; k < c->count; k++) {
        double v = strcmp(wr_probe_test_of(&c->v[k])->op, op)
                       ? NAN
                       : wr_number_at(c->v[k].median, rate);

        if (v > most)
            best = &c->v[k];
        most = fmax(most, v);
    }
    return best;
}

#define AT(member) offsetof(struct wr_probe_run_values, member)

/* "1,234 MB/s" and its test; nothing of no test. */
static void say_rate(const struct wr_cases *c, const struct wr_case *test,
                     char *rate, char *text)
{
    char name[WR_VIEW_NAME];

    *rate = *text = '\0';
    if (!test)
        return;
    wr_say_number(wr_probe_median(test)->bytes_per_s / MB, rate, 32);
    snprintf(text, 2 * WR_VIEW_NAME, "up to %s MB/s (%s)", rate,
             wr_probe_name(c, (size_t)(test - c->v), name));
}

static bool say_bandwidth(struct wr_doc *d, const struct wr_cases *c,
                          size_t room)
{
    char read[32], write[32], in[2 * WR_VIEW_NAME], out[2 * WR_VIEW_NAME];

    say_rate(c, best_of(c, "read", AT(bytes_per_s)), read, in);
    say_rate(c, best_of(c, "write", AT(bytes_per_s)), write, out);
    if (*in)
        wr_doc_headline(d, "fastest read", "%s MB/s", read);
    if (*out && room > 2)
        wr_doc_headline(d, "fastest write", "%s MB/s", write);
    if (*in || *out)
        wr_doc_summary(d, "The storage %s%s%s%s%s.", *in ? "reads " : "", in,
                       *in && *out ? " and " : "", *out ? "writes " : "", out);
    return *in || *out;
}

static size_t summarize(struct wr_doc *d, const struct wr_cases *c,
                        size_t record, const struct wr_sentence *list)
{
    const char *label = c->record_count > 1 ? c->records[record].label : "";
    struct probe_facts f;

    find_facts(c, record, &f);
    return wr_sentences_top(d, label, list, &facts, &f, 1);
}

/* Best read and write, what small files give, whether depth pays. */
static void probe_summarize(struct wr_doc *d, const struct wr_view_record *r,
                            size_t n, size_t room)
{
    const struct wr_case *files;
    size_t said = 0;
    char rate[32];
    struct wr_cases c;

    wr_cases_init(&c, r, n, &wr_probe_spec);
    said += say_bandwidth(d, &c, room);
    if (said < room)
        said += summarize(d, &c, 0, depth);
    files = best_of(&c, "files", AT(ops_per_s));
    if (files && said < room) {
        summarize(d, &c, files->record, samples);
        wr_doc_headline(d, "small files a second", "%s",
                        wr_say_number(ops_of(files), rate, sizeof(rate)));
    }
    wr_cases_done(&c);
}

/* --- sections --- */

static bool has_read(const struct wr_scope *v)
{
    for (size_t k = 0; k < v->c.count; k++) {
        const char *op = wr_probe_test_of(&v->c.v[k])->op;

        if (wr_get_object(v->c.v[k].json, "result") &&
            (!strcmp(op, "read") || !strcmp(op, "files")))
            return true;
    }
    return false;
}

static void say_nothing_run(struct wr_scope *v)
{
    wr_doc_note(v->s, true, "No test was run.");
}

/* What could not be run, a note for each reason. */
static void say_skipped(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    const char *last = "";

    for (size_t k = 0; k < c->count && k < WR_VIEW_ROWS; k++) {
        const char *why = wr_probe_test_of(&c->v[k])->skipped;
        char name[WR_VIEW_NAME], others[32] = "";
        size_t more = 0;

        if (!*why || !strcmp(why, last))
            continue;
        last = why;
        for (size_t i = k + 1; i < c->count; i++)
            more += !strcmp(wr_probe_test_of(&c->v[i])->skipped, why);
        if (more)
            snprintf(others, sizeof(others), " and %zu more", more);
        wr_doc_note(v->s, true, "Not run: %s%s: %s%s",
                    wr_probe_name(c, k, name), others, why,
                    json_is_false(
                        wr_get(c->records[c->v[k].record].json, "cache.direct"))
                        ? " (--access buffered runs them)"
                        : "");
    }
}

static void draw_sizes(struct wr_scope *v)
{
    wr_sizes_draw(v->d, v->s, &v->c, "sizes.parts");
}

static void list_sizes(struct wr_scope *v)
{
    wr_sizes_table(v->s, &v->c, "sizes.parts");
}

static const struct wr_section sections[] = {
    {.title = "Storage probe",
     .items = WR_ITEMS(
         {.show = wr_show_host}, {.show = wr_show_starved},
         {.say = {described, cache}},
         {.show = say_nothing_run, .only = WR_IF_NO_ROWS},
         {.show = say_skipped}, {.say = {samples, packing, depth, writes}},
         {.chart = &wr_probe_sequential_chart}, {.show = wr_probe_depth_charts},
         {.chart = &wr_probe_small_chart}, {.chart = &wr_probe_parts_chart},
         {.chart = &wr_probe_latency_chart, .is_needed = wr_probe_is_few},
         {.chart = &wr_probe_p99_chart, .is_needed = wr_probe_is_many},
         {.chart = &wr_probe_pass_chart}, {.show = draw_sizes},
         {.show = wr_show_monitor},
         {.show = wr_probe_test_tables, .only = WR_IF_ROWS},
         {.table = &wr_probe_pass_table, .only = WR_IF_ROWS},
         {.show = wr_probe_depth_table}, {.show = list_sizes},
         {.show = wr_show_monitor_tables})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.say = {engine}}, {.show = wr_show_starved},
                       {.say = {cache}, .is_needed = has_read},
                       {.show = say_skipped}, {.show = wr_probe_test_tables},
                       {.show = wr_probe_depth_table})},
    {.title = "What it means",
     .items = WR_ITEMS({.say = {samples, packing, depth, writes}})},
    {.items = NULL}};

const struct wr_view wr_view_probe = {.command = "probe",
                                      .summarize = probe_summarize,
                                      .rows = &wr_probe_spec,
                                      .sections = sections,
                                      .printed = printed,
                                      .facts = &facts,
                                      .find_facts = find_facts,
                                      .sentences = sentences,
                                      .told = RECORDS_MAX};
