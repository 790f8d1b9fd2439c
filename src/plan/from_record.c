/* from_record.c - what records of measurements say of a plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each command's record is read by the tables of its values; what is not known
 * is not said. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "measure/probe_fit.h"
#include "plan/from.h"
#include "result/bench.h"
#include "result/ckpt.h"
#include "result/get.h"
#include "result/head.h"
#include "result/probe.h"
#include "result/run.h"
#include "result/train.h"

#define TESTS_MAX 4096
#define CACHED    0.99 /* part of the data in the page cache: all of it */
#define FEWER     0.9  /* reads for each sample: several share one */

/* A record that is being read. */
struct source {
    const struct wr_plan_record *r;
    struct wr_view_record read; /* owned: its values */
    char name[200];
    struct wr_plan_saying who; /* measured, by that name */
};

#define SAY(d, who, list, err)                                                 \
    wr_plan_say_all(d, who, list, WR_ARRAY_LEN(list), err)

/* --- what several of them have --- */

static bool is_emulated(const char *url)
{
    struct wr_device_profile p;

    return wr_plan_emulated(url, &p, NULL) > 0;
}

static int say_emulated(struct wr_plan_draft *d,
                        const struct wr_plan_saying *who, enum wr_plan_key key,
                        const char *url, weir_err *err)
{
    struct wr_device_profile p;
    int r = wr_plan_emulated(url, &p, err);

    return r > 0 ? wr_plan_say_profile(d, who, key, &p, err) : r;
}

/* Deviation over mean of the stored samples: each bin at its mean size, and
 * inside a bin as if evenly spread. */
static double sizes_cv(const struct wr_list *sizes)
{
    double n = 0, sum = 0, squares = 0, mean;

    for (size_t k = 0; k < sizes->count; k++) {
        const struct wr_sizes_values *bin = wr_list_at(sizes, k);
        double m = bin->bytes / bin->count, width = bin->to - bin->from;

        if (!(bin->count > 0) || !isfinite(m) || !isfinite(width))
            continue;
        n += bin->count;
        sum += bin->bytes;
        squares += bin->count *
                   (m * m + (bin->count > 1 ? width * width / 48 : 0));
    }
    mean = sum / n;
    if (!(n > 1) || !(mean > 0) || sizes->count < 2)
        return 0;
    return sqrt(WR_MAX(squares / n - mean * mean, 0)) / mean;
}

/* The data set, its sizes, the storage if that is emulated, and the cores. */
static int say_dataset(struct wr_plan_draft *d, const struct source *s,
                       weir_err *err)
{
    const struct wr_plan_fact *storage = &d->facts[WR_PLAN_K_STORAGE];
    const json_t *set = wr_get_object(s->r->json, "dataset");
    struct wr_dataset_values v;
    int r = wr_plan_say(d, &s->who, WR_PLAN_K_CORES,
                        wr_get_number(s->r->json, "host.cores"), err);

    if (r < 0 || !set)
        return r;
    r = wr_vals_read(&wr_dataset_vals, set, &v)
            ? SAY(d, &s->who,
                  ((const struct wr_plan_said[]){
                      {WR_PLAN_K_SAMPLES, v.samples},
                      {WR_PLAN_K_BYTES, v.bytes / v.samples},
                      {WR_PLAN_K_BYTES_CV, sizes_cv(&v.sizes)},
                      {WR_PLAN_K_PER_OBJECT,
                       WR_MAX(round(v.samples / v.files), 1)}}),
                  err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_vals_done(&wr_dataset_vals, &v);
    /* A profile file that is gone now is not needed if one was given. */
    if (r == 0 && !(storage->known && storage->rank == WR_PLAN_GIVEN))
        r = say_emulated(d, &s->who, WR_PLAN_K_STORAGE, v.url, err);
    return r;
}

/* The data was in the page cache: the storage is memory, unless another input
 * knows better. */
static int guess_memory(struct wr_plan_draft *d, const struct source *s,
                        weir_err *err)
{
    struct wr_device_profile p;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_ASSUMED};

    wr_plan_memory_profile(&p);
    snprintf(source, sizeof(source), "'%.100s': the data was in the page cache",
             s->r->name);
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

static double is_in_order(const char *order)
{
    return *order ? strcmp(order, "shuffle") != 0 : NAN;
}

/* --- bench --- */

/* One case of the record, and its run whose rate is the median. */
struct bench_case {
    struct wr_cases all; /* owned */
    const json_t *settings;
    const struct wr_bench_values *run;
    size_t number; /* from 1 */
};

static double rate_of(const struct wr_case *c)
{
    return wr_bench_case(c)->result.samples_per_s;
}

static int choose_case(const struct source *s, struct bench_case *b,
                       weir_err *err)
{
    const size_t wanted = s->r->wanted_case;
    const struct wr_case *best = NULL;

    wr_cases_init(&b->all, &s->read, 1, &wr_bench_spec);
    if (b->all.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < b->all.count; k++) {
        const struct wr_case *c = &b->all.v[k];

        if (wanted ? k + 1 != wanted : best && !(rate_of(c) > rate_of(best)))
            continue;
        best = c;
        b->number = k + 1;
    }
    if (wanted && !best)
        return wr_fail(err, WEIR_EINVAL, "'%s': it has %zu cases, not %zu",
                       s->r->name, b->all.count, wanted);
    b->run = best ? wr_bench_middle(best) : NULL;
    if (!best || isnan(b->run->samples_per_s))
        return wr_fail(err, WEIR_EINVAL, "'%s': no run is in it", s->r->name);
    b->settings = best->settings;
    return 0;
}

/* Whether nothing else changes what a sample costs. */
static bool same_but_decode(const json_t *a, const json_t *b)
{
    static const char *const cost[] = {"page_cache", "stages", "width",
                                       "height",     "dtype",  "resize",
                                       "crop",       "order"};

    for (size_t k = 0; k < WR_ARRAY_LEN(cost); k++) {
        const json_t *x = wr_get(a, cost[k]), *y = wr_get(b, cost[k]);

        if ((x || y) && !json_equal(x, y))
            return false;
    }
    return true;
}

/* A case of the same with the fast decoder tells what that would take. */
static double fast_cpu(const struct bench_case *b)
{
    if (strcmp(wr_get_text(b->settings, "decode"), "exact") != 0)
        return NAN;
    for (size_t k = 0; k < b->all.count; k++) {
        const struct wr_case *c = &b->all.v[k];

        if (!strcmp(wr_get_text(c->settings, "decode"), "fast") &&
            same_but_decode(b->settings, c->settings))
            return wr_bench_middle(c)->cpu_s_per_1000 / 1000;
    }
    return NAN;
}

/* The settings that were in force; reads that serve several samples, samples
 * that are read into their place, and what a stored tensor would be. */
static int say_case(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct bench_case *b, weir_err *err)
{
    const struct wr_bench_values *run = b->run;
    const char *order = wr_get_text(b->settings, "order");
    double slots = run->slot_limit_per_s;
    bool shared = run->requests > 0 && run->requests < FEWER * run->samples;
    double pixels = wr_get_number(b->settings, "width") *
                    wr_get_number(b->settings, "height") *
                    wr_get_number(b->settings, "channels");
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_WORKERS, run->in_force.threads},
        {WR_PLAN_K_DEPTH, run->in_force.depth},
        {WR_PLAN_K_PREFETCH, run->in_force.prefetch},
        {WR_PLAN_K_BATCH, wr_get_number(b->settings, "batch")},
        {WR_PLAN_K_SEQUENTIAL, is_in_order(order)},
        {WR_PLAN_K_SHUFFLED, strcmp(order, "block") ? NAN : 1},
        {WR_PLAN_K_UNIT, shared ? round(run->bytes / run->requests) : NAN},
        {WR_PLAN_K_IN_PLACE, slots > 0},
        {WR_PLAN_K_TENSOR_BYTES, slots > 0 ? NAN : pixels},
        {WR_PLAN_K_CPU, run->cpu_s_per_1000 / 1000},
        {WR_PLAN_K_CPU_FAST, fast_cpu(b)}};

    return SAY(d, who, list, err);
}

/* A real device: from memory if the pages were there, else by what plain reads
 * reached, which is a guess at its bandwidth and nothing more. */
static int guess_device(struct wr_plan_draft *d, const struct source *s,
                        const struct bench_case *b, weir_err *err)
{
    double limit = b->run->read_limit_per_s;
    double threads = b->run->read_limit_threads;
    struct wr_device_profile p = {.name = "read limit",
                                  .title = "what plain reads reached"};
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_ASSUMED};

    if (d->facts[WR_PLAN_K_STORAGE].known)
        return 0;
    if (b->run->resident >= CACHED ||
        !strcmp(wr_get_text(b->settings, "page_cache"), "warm"))
        return guess_memory(d, s, err);
    if (!(limit > 0))
        return 0;
    p.read_bytes_per_s = limit * d->plan.data.bytes.mean;
    p.write_bytes_per_s = p.read_bytes_per_s;
    p.channels = threads >= 1 && threads <= WR_DEVICE_MAX_CHANNELS
                     ? (unsigned)threads
                     : 1;
    p.read_latency_us = WR_MIN(p.channels / limit * 1e6, WR_DEVICE_MAX_US);
    snprintf(source, sizeof(source),
             "'%.100s': what plain reads reached; a record of weir probe says "
             "more",
             s->r->name);
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

static int say_accelerator(struct wr_plan_draft *d,
                           const struct wr_plan_saying *who,
                           const json_t *record, double batch, weir_err *err)
{
    struct wr_accelerator_values a;
    int r;

    (void)wr_vals_read(&wr_accelerator_vals,
                       wr_get_object(record, "accelerator"), &a);
    if (!(a.step_ms > 0))
        return 0;
    r = wr_plan_say_text(d, who, WR_PLAN_K_ACCELERATOR, a.name, err);
    if (r <= 0)
        return r;
    if (a.fixed_ms >= 0 && a.per_sample_ms >= 0) {
        d->fixed_s = a.fixed_ms / 1e3;
        d->per_sample_s = a.per_sample_ms / 1e3;
        d->batch_of_step = a.per_sample_ms > 0 ? batch : 0;
    }
    return wr_plan_say(d, who, WR_PLAN_K_STEP, a.step_ms / 1e3, err);
}

static int say_chosen(struct wr_plan_draft *d, const struct source *s,
                      const struct bench_case *b, weir_err *err)
{
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int r;

    snprintf(source, sizeof(source), "'%.120s'", s->r->name);
    if (b->all.count > 1)
        snprintf(source, sizeof(source), "'%.100s', case %zu of %zu",
                 s->r->name, b->number, b->all.count);
    r = say_case(d, &who, b, err);
    if (r == 0)
        r = guess_device(d, s, b, err);
    return r < 0 ? r
                 : say_accelerator(d, &who, s->r->json,
                                   wr_get_number(b->settings, "batch"), err);
}

static int from_bench(struct wr_plan_draft *d, const struct source *s,
                      weir_err *err)
{
    struct bench_case b = {.number = 0};
    int r = choose_case(s, &b, err);

    if (r == 0)
        r = say_dataset(d, s, err);
    if (r == 0)
        r = say_chosen(d, s, &b, err);
    wr_cases_done(&b.all);
    return r;
}

/* --- probe --- */

/* The tests of a record as the fit wants them: one pass each, whose requests all
 * took the median. What a single number cannot tell (a write cache) is left at
 * "none". */
struct probe_tests {
    struct wr_probe_test *tests;     /* owned */
    struct wr_probe_result *results; /* owned */
    struct wr_probe_run *runs;       /* owned: one a test */
    struct wr_hist *hists;           /* owned: two a test */
    size_t count;
};

static void tests_done(struct probe_tests *t)
{
    free(t->tests);
    free(t->results);
    free(t->runs);
    free(t->hists);
}

static bool take_op(const char *word, enum wr_probe_op *ret)
{
    static const struct {
        const char *word;
        enum wr_probe_op op;
    } ops[] = {{"read", WR_PROBE_READ},
               {"write", WR_PROBE_WRITE},
               {"files", WR_PROBE_FILES},
               {"create", WR_PROBE_CREATE},
               {"sync", WR_PROBE_SYNC}};
    int k = wr_named_index(WR_NAMED(ops), word);

    if (k >= 0)
        *ret = ops[k].op;
    return k >= 0;
}

static void add_us(struct wr_hist *h, double us)
{
    if (us > 0 && us < 1e12)
        wr_hist_add(h, (uint64_t)(us * 1e3));
}

static unsigned small_count(double x)
{
    return x >= 1 && x <= 1 << 20 ? (unsigned)x : 1;
}

/* Not if it was skipped or is none. */
static void take_test(struct probe_tests *t,
                      const struct wr_probe_test_values *v)
{
    struct wr_probe_test *test = &t->tests[t->count];
    struct wr_probe_result *result = &t->results[t->count];
    struct wr_probe_run *run = &t->runs[t->count];
    double ops = v->result.ops_per_s, bytes = v->result.bytes_per_s;

    if (!take_op(v->op, &test->op) || !(ops > 0) || !(bytes >= 0) ||
        !(v->block >= 0 && v->block <= 0x1p40))
        return;
    test->pattern = strcmp(v->pattern, "random") ? WR_PROBE_SEQUENTIAL
                                                 : WR_PROBE_RANDOM;
    test->block = (uint64_t)v->block;
    test->depth = small_count(v->depth);
    test->workers = small_count(v->workers);
    test->direct = v->direct;
    run->latency = &t->hists[2 * t->count];
    run->open = &t->hists[2 * t->count + 1];
    add_us(run->latency, v->result.latency_us.p50);
    add_us(run->open, v->result.open_us.p50);
    run->v.bytes_per_s = result->v.bytes_per_s = bytes;
    run->v.ops_per_s = result->v.ops_per_s = ops;
    result->runs = run;
    result->run_count = 1;
    t->count++;
}

static int take_tests(const struct source *s, struct probe_tests *t,
                      weir_err *err)
{
    const struct wr_list *list = &s->read.cases;
    size_t n = list->count;

    if (n > TESTS_MAX)
        return wr_fail(err, WEIR_ELIMIT, "'%s': over %d tests", s->r->name,
                       TESTS_MAX);
    t->tests = calloc(n + 1, sizeof(*t->tests));
    t->results = calloc(n + 1, sizeof(*t->results));
    t->runs = calloc(n + 1, sizeof(*t->runs));
    t->hists = calloc(2 * n + 1, sizeof(*t->hists));
    if (!t->tests || !t->results || !t->runs || !t->hists)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++)
        take_test(t, wr_list_at(list, k));
    return 0;
}

static int fit_profile(const struct source *s, struct wr_device_profile *ret,
                       weir_err *err)
{
    struct probe_tests t = {0};
    int r = take_tests(s, &t, err);

    if (r == 0) {
        r = wr_probe_fit(
            &(struct wr_probe_plan){.tests = t.tests, .test_count = t.count},
            &(struct wr_probe_report){.results = t.results, .count = t.count},
            ret, err);
        r = r < 0 ? wr_fail_prefix(err, r, "'%s'", s->r->name) : 0;
    }
    tests_done(&t);
    return r;
}

static int from_probe(struct wr_plan_draft *d, const struct source *s,
                      weir_err *err)
{
    struct wr_device_profile p;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int r = wr_plan_emulated(wr_get_text(s->r->json, "path"), &p, err);

    snprintf(source, sizeof(source), r ? "'%.120s'" : "fitted to '%.120s'",
             s->r->name);
    if (r == 0)
        r = fit_profile(s, &p, err);
    return r < 0 ? r : wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

/* --- ckpt bench --- */

/* Nothing of it is known if that way was not measured. */
static struct wr_ckpt_result_values saves_of(const struct source *s,
                                             const char *way)
{
    struct wr_ckpt_result_values none;

    for (size_t k = 0; k < s->read.cases.count; k++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&s->read.cases, k);

        if (!strcmp(v->way, way))
            return v->result;
    }
    wr_vals_clear(&wr_ckpt_result_vals, &none);
    return none;
}

static double device_rate(double x)
{
    return WR_MIN(WR_MAX(x, WR_DEVICE_MIN_RATE), WR_DEVICE_MAX_RATE);
}

/* A tier that is emulated, or by what it reached: no more than a bandwidth.
 * `place` and its way have the same name in the record: "slow", "fast". */
static int say_tier(struct wr_plan_draft *d, const struct source *s,
                    const char *place, double bytes, weir_err *err)
{
    const struct wr_ckpt_result_values v = saves_of(s, place);
    enum wr_plan_key key = !strcmp(place, "slow") ? WR_PLAN_K_SLOW
                                                  : WR_PLAN_K_FAST;
    double written = bytes / v.stall_s, read = v.restore_bytes_per_s;
    struct wr_device_profile p;
    int r = wr_plan_emulated(wr_get_text(s->r->json, place), &p, err);

    if (r == 0 && v.stall_s > 0 && bytes > 0) {
        p = (struct wr_device_profile){
            .name = "measured",
            .title = "by what saving and restoring reached",
            .write_bytes_per_s = device_rate(written),
            .read_bytes_per_s = device_rate(read > 0 ? read : written)};
        r = 1;
    }
    return r > 0 ? wr_plan_say_profile(d, &s->who, key, &p, err) : r;
}

static int from_ckpt(struct wr_plan_draft *d, const struct source *s,
                     weir_err *err)
{
    double bytes = wr_get_number(s->r->json, "bytes");
    double stall = saves_of(s, "async").stall_s; /* what a snapshot took */
    double copy_s = stall > 0 ? stall : wr_get_number(s->r->json, "memcpy_s");
    const struct wr_plan_said list[] = {{WR_PLAN_K_STATE, bytes},
                                        {WR_PLAN_K_COPY, bytes / copy_s}};
    int r = SAY(d, &s->who, list, err);

    if (r == 0)
        r = say_tier(d, s, "slow", bytes, err);
    return r < 0 ? r : say_tier(d, s, "fast", bytes, err);
}

/* --- train --- */

/* What the workers were busy for each sample counts as CPU time, which it is
 * unless others had the cores. */
static int say_busy(struct wr_plan_draft *d, const struct source *s,
                    const struct wr_train_values *v, weir_err *err)
{
    const struct wr_input_values *t = &v->input.times;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};

    snprintf(source, sizeof(source), "'%.100s': time of the workers%s",
             s->r->name,
             wr_get_true(s->r->json, "cores.starved")
                 ? ", too long: other programs had the cores"
                 : "");
    return wr_plan_say(
        d, &who, WR_PLAN_K_CPU,
        (t->decode_s + t->resample_s + t->submit_s) / v->result.samples, err);
}

/* The way of saving, by the tiers and the level that was waited for. */
static int say_way(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                   bool two_tiers, const char *level, weir_err *err)
{
    enum wr_plan_way way = !strcmp(level, "snapshot") ? WR_PLAN_ASYNC
                           : two_tiers && strcmp(level, "slow") != 0
                               ? WR_PLAN_BURST
                               : WR_PLAN_DIRECT;
    static const char *const names[] = {"none", "direct", "burst", "async"};
    int r = wr_plan_say_text(d, who, WR_PLAN_K_SAVES, names[way], err);

    if (r > 0) {
        d->plan.save.way = way;
        r = 0;
    }
    return r;
}

static int say_saves(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     const struct wr_train_values *v, weir_err *err)
{
    const char *fast = wr_get_text(v->settings, "ckpt");
    const char *slow = wr_get_text(v->settings, "slow");
    double every = wr_get_number(v->settings, "save_every");
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_EVERY, every}, {WR_PLAN_K_STATE, v->network.state_bytes}};
    struct wr_device_profile p;
    int r;

    if (!*fast || !(every > 0))
        return 0;
    r = say_way(d, who, *slow != '\0', wr_get_text(v->settings, "level"), err);
    if (r == 0)
        r = SAY(d, who, list, err);
    if (r == 0 && wr_plan_emulated(*slow ? slow : fast, &p, NULL) > 0)
        r = wr_plan_say_profile(d, who, WR_PLAN_K_SLOW, &p, err);
    if (r == 0 && *slow && wr_plan_emulated(fast, &p, NULL) > 0)
        r = wr_plan_say_profile(d, who, WR_PLAN_K_FAST, &p, err);
    return r;
}

/* The step: as it was emulated, or as it was computed here. */
static int say_step(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct wr_train_values *v, weir_err *err)
{
    double done = v->result.iterations - v->result.resumed_at;
    double s = v->accelerator.step_ms > 0 ? v->accelerator.step_ms / 1e3
                                          : v->result.step_s / done;
    int r;

    if (!(s > 0))
        return 0;
    r = wr_plan_say_text(d, who, WR_PLAN_K_ACCELERATOR, v->accelerator.name,
                         err);
    if (r <= 0)
        return r;
    d->fixed_s = d->per_sample_s = 0;
    return wr_plan_say(d, who, WR_PLAN_K_STEP, s, err);
}

static int from_train(struct wr_plan_draft *d, const struct source *s,
                      weir_err *err)
{
    const struct wr_train_values *v = wr_train_values_of(&s->read);
    double epochs = wr_get_number(v->settings, "epochs");
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_BATCH, wr_get_number(v->settings, "batch")},
        {WR_PLAN_K_WORKERS, v->input.threads},
        {WR_PLAN_K_PREFETCH, v->input.prefetch},
        {WR_PLAN_K_DEPTH, wr_get_number(v->settings, "depth")},
        {WR_PLAN_K_EPOCHS, epochs > 0 ? epochs : NAN}, /* 0: no limit */
        {WR_PLAN_K_SEQUENTIAL, is_in_order(wr_get_text(v->settings, "order"))}};
    int r = say_dataset(d, s, err);

    if (r == 0)
        r = SAY(d, &s->who, list, err);
    if (r == 0)
        r = say_busy(d, s, v, err);
    if (r == 0)
        r = say_step(d, &s->who, v, err);
    return r < 0 ? r : say_saves(d, &s->who, v, err);
}

/* --- run --- */

static int say_run_saves(struct wr_plan_draft *d,
                         const struct wr_plan_saying *who,
                         const struct wr_run_values *v, weir_err *err)
{
    /* Behind the last one is one of which nothing is known. */
    const struct wr_run_save_values *saves = v->saves.v;
    double every = v->saves.count ? saves[1].step - saves[0].step : NAN;
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_STATE, saves[0].bytes},
        {WR_PLAN_K_EVERY, every >= 1 ? every : NAN}};

    return SAY(d, who, list, err);
}

static int from_run(struct wr_plan_draft *d, const struct source *s,
                    weir_err *err)
{
    const struct wr_run_values *v = wr_run_values_of(&s->read);
    const struct wr_run_config_values *c = &v->config;
    const struct wr_run_result_values *res = &v->result;
    double reads = v->reads.count;
    bool shared = reads > 0 && reads < FEWER * res->samples;
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_BATCH, c->batch},
        {WR_PLAN_K_WORKERS_EACH, c->threads},
        {WR_PLAN_K_PREFETCH, c->prefetch},
        {WR_PLAN_K_DEPTH, c->depth},
        {WR_PLAN_K_EPOCHS, c->epochs},
        {WR_PLAN_K_STEP, c->step_s},
        {WR_PLAN_K_GPUS, c->accelerators / WR_MAX(c->ranks, 1)},
        {WR_PLAN_K_CPU, res->cpu_s_per_gb / 1e9 * res->bytes / res->samples},
        {WR_PLAN_K_SEQUENTIAL, c->order && !strcmp(c->order, "sequential")},
        {WR_PLAN_K_UNIT, shared ? round(v->reads.mean_bytes) : NAN}};
    int r = say_dataset(d, s, err);

    if (r == 0)
        r = SAY(d, &s->who, list, err);
    if (r == 0 && !d->facts[WR_PLAN_K_STORAGE].known &&
        !is_emulated(c->data ? c->data : "") && res->resident >= CACHED)
        r = guess_memory(d, s, err);
    return r < 0 ? r : say_run_saves(d, &s->who, v, err);
}

/* --- any --- */

int wr_plan_from_record(struct wr_plan_draft *d, const struct wr_plan_record *r,
                        weir_err *err)
{
    static const struct {
        const char *command;
        int (*take)(struct wr_plan_draft *, const struct source *, weir_err *);
    } takers[] = {{"bench", from_bench},
                  {"probe", from_probe},
                  {"ckpt", from_ckpt},
                  {"train", from_train},
                  {"run", from_run}};
    const char *command = wr_get_text(r->json, "command");
    int k = wr_named_index(WR_NAMED(takers), command), res;
    struct source s = {.r = r, .read = {.json = r->json}};

    if (k < 0)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a record of 'weir %.40s' says nothing of a plan: "
                       "bench, probe, ckpt bench, train and run do",
                       r->name, command);
    if (!wr_view_record_read(&s.read))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    snprintf(s.name, sizeof(s.name), "'%.150s'", r->name);
    s.who = (struct wr_plan_saying){s.name, WR_PLAN_MEASURED};
    res = takers[k].take(d, &s, err);
    wr_view_record_done(&s.read);
    return res;
}
