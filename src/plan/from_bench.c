/* from_bench.c - what a record of weir bench says of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"
#include "result/bench.h"
#include "result/get.h"

/* One case of the record, and its run whose rate is the median. */
struct bench_case {
    struct wr_view_record record;
    struct wr_cases all; /* owned */
    const json_t *settings;
    const struct wr_bench_values *run;
    size_t number; /* from 1 */
};

/* --- choosing --- */

static void bench_case_done(struct bench_case *b)
{
    wr_cases_done(&b->all);
    wr_view_record_done(&b->record);
}

static double rate_of(const struct wr_case *c)
{
    return wr_bench_case(c)->result.samples_per_s;
}

static int choose(const struct wr_plan_record *r, struct bench_case *b,
                  weir_err *err)
{
    const struct wr_case *best = NULL;

    *b = (struct bench_case){.record = {.json = r->json}};
    if (!wr_view_record_read(&b->record))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_cases_init(&b->all, &b->record, 1, &wr_bench_spec);
    if (b->all.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < b->all.count; k++) {
        const struct wr_case *c = &b->all.v[k];

        if (r->wanted_case ? k + 1 != r->wanted_case
                           : best && !(rate_of(c) > rate_of(best)))
            continue;
        best = c;
        b->number = k + 1;
    }
    if (r->wanted_case && !best)
        return wr_fail(err, WEIR_EINVAL, "'%s': it has %zu cases, not %zu",
                       r->name, b->all.count, r->wanted_case);
    b->run = best ? wr_bench_middle(best) : NULL;
    if (!best || isnan(b->run->samples_per_s))
        return wr_fail(err, WEIR_EINVAL, "'%s': no run is in it", r->name);
    b->settings = best->settings;
    return 0;
}

/* --- what records of several commands have --- */

/* Deviation over mean of the stored samples: each bin at its mean size, and
 * inside a bin as if evenly spread. */
static double sizes_cv(const json_t *sizes)
{
    double n = 0, sum = 0, squares = 0, mean;
    const json_t *bin;
    size_t k;

    json_array_foreach(sizes, k, bin)
    {
        double count = wr_get_number(bin, "count");
        double bytes = wr_get_number(bin, "bytes"), m = bytes / count;
        double width = wr_get_number(bin, "to") - wr_get_number(bin, "from");

        if (!(count > 0) || !isfinite(m) || !isfinite(width))
            continue;
        n += count;
        sum += bytes;
        squares += count * (m * m + (count > 1 ? width * width / 48 : 0));
    }
    mean = sum / n;
    if (!(n > 1) || !(mean > 0) || json_array_size(sizes) < 2)
        return 0;
    return sqrt(WR_MAX(squares / n - mean * mean, 0)) / mean;
}

static int say_storage(struct wr_plan_draft *d,
                       const struct wr_plan_saying *who, const char *url,
                       weir_err *err)
{
    struct wr_device_profile p;
    int r;

    if (d->facts[WR_PLAN_K_STORAGE].known &&
        d->facts[WR_PLAN_K_STORAGE].rank == WR_PLAN_GIVEN)
        return 0; /* a profile file that is gone now is not needed */
    r = wr_plan_emulated(url, &p, err);
    return r > 0 ? wr_plan_say_profile(d, who, WR_PLAN_K_STORAGE, &p, err) : r;
}

int wr_plan_from_dataset(struct wr_plan_draft *d,
                         const struct wr_plan_record *r, weir_err *err)
{
    const json_t *set = wr_get_object(r->json, "dataset");
    double samples = wr_get_number(set, "samples");
    double files = wr_get_number(set, "files");
    double bytes = wr_get_number(set, "bytes");
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res;

    snprintf(source, sizeof(source), "'%.150s'", r->name);
    res = wr_plan_say(d, &who, WR_PLAN_K_CORES,
                      wr_get_number(r->json, "host.cores"), err);
    if (res < 0 || !set)
        return res;
    res = wr_plan_say(d, &who, WR_PLAN_K_SAMPLES, samples, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_BYTES, bytes / samples, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_BYTES_CV,
                          sizes_cv(wr_get_list(set, "sizes")), err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_PER_OBJECT,
                          WR_MAX(round(samples / files), 1), err);
    if (res == 0)
        res = say_storage(d, &who, wr_get_text(set, "url"), err);
    return res;
}

/* --- the case --- */

/* The settings that were in force. */
static int say_loader(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                      const struct bench_case *b, weir_err *err)
{
    const struct {
        enum wr_plan_key key;
        double value;
    } of_run[] = {{WR_PLAN_K_WORKERS, b->run->in_force.threads},
                  {WR_PLAN_K_DEPTH, b->run->in_force.depth},
                  {WR_PLAN_K_PREFETCH, b->run->in_force.prefetch}};
    const char *order = wr_get_text(b->settings, "order");
    int r = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(of_run) && r == 0; k++)
        r = wr_plan_say(d, who, of_run[k].key, of_run[k].value, err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_BATCH,
                        wr_get_number(b->settings, "batch"), err);
    if (r == 0 && *order)
        r = wr_plan_say(d, who, WR_PLAN_K_SEQUENTIAL,
                        strcmp(order, "shuffle") != 0, err);
    if (r == 0 && !strcmp(order, "block"))
        r = wr_plan_say(d, who, WR_PLAN_K_SHUFFLED, 1, err);
    return r;
}

/* Reads that serve several samples, samples that are read into their place, and
 * what a stored tensor would be. */
static int say_shape(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     const struct bench_case *b, weir_err *err)
{
    double requests = b->run->requests;
    double samples = b->run->samples;
    double slots = b->run->slot_limit_per_s;
    double pixels = wr_get_number(b->settings, "width") *
                    wr_get_number(b->settings, "height") *
                    wr_get_number(b->settings, "channels");
    int r = 0;

    if (requests > 0 && requests < 0.9 * samples)
        r = wr_plan_say(d, who, WR_PLAN_K_UNIT, round(b->run->bytes / requests),
                        err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_IN_PLACE, slots > 0, err);
    if (r == 0 && !(slots > 0))
        r = wr_plan_say(d, who, WR_PLAN_K_TENSOR_BYTES, pixels, err);
    return r;
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

/* A real device: from memory if the pages were there, else by what plain reads
 * reached, which is a guess at its bandwidth and nothing more. */
static int guess_storage(struct wr_plan_draft *d,
                         const struct wr_plan_record *r,
                         const struct bench_case *b, weir_err *err)
{
    double limit = b->run->read_limit_per_s;
    double threads = b->run->read_limit_threads;
    double resident = b->run->resident;
    struct wr_device_profile p = {.name = "read limit",
                                  .title = "what plain reads reached"};
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_ASSUMED};

    if (d->facts[WR_PLAN_K_STORAGE].known)
        return 0;
    if (resident >= 0.99 ||
        !strcmp(wr_get_text(b->settings, "page_cache"), "warm")) {
        wr_plan_memory_profile(&p);
        snprintf(source, sizeof(source),
                 "'%.100s': the data was in the page cache", r->name);
        return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
    }
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
             r->name);
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

static int say_accelerator(struct wr_plan_draft *d,
                           const struct wr_plan_saying *who,
                           const struct wr_plan_record *r, double batch,
                           weir_err *err)
{
    const json_t *a = wr_get_object(r->json, "accelerator");
    double ms = wr_get_number(a, "step_ms");
    double fixed = wr_get_number(a, "fixed_ms");
    double each = wr_get_number(a, "per_sample_ms");
    int res;

    if (!(ms > 0))
        return 0;
    res = wr_plan_say_text(d, who, WR_PLAN_K_ACCELERATOR,
                           wr_get_text(a, "name"), err);
    if (res <= 0)
        return res;
    if (fixed >= 0 && each >= 0) {
        d->fixed_s = fixed / 1e3;
        d->per_sample_s = each / 1e3;
        d->batch_of_step = each > 0 ? batch : 0;
    }
    return wr_plan_say(d, who, WR_PLAN_K_STEP, ms / 1e3, err);
}

static int say_case(struct wr_plan_draft *d, const struct wr_plan_record *r,
                    const struct bench_case *b, weir_err *err)
{
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res;

    snprintf(source, sizeof(source), "'%.120s'", r->name);
    if (b->all.count > 1)
        snprintf(source, sizeof(source), "'%.100s', case %zu of %zu", r->name,
                 b->number, b->all.count);
    res = say_loader(d, &who, b, err);
    if (res == 0)
        res = say_shape(d, &who, b, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_CPU, b->run->cpu_s_per_1000 / 1000,
                          err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_CPU_FAST, fast_cpu(b), err);
    if (res == 0)
        res = guess_storage(d, r, b, err);
    if (res == 0)
        res = say_accelerator(d, &who, r, wr_get_number(b->settings, "batch"),
                              err);
    return res;
}

int wr_plan_from_bench(struct wr_plan_draft *d, const struct wr_plan_record *r,
                       weir_err *err)
{
    struct bench_case b;
    int res = choose(r, &b, err);

    if (res == 0)
        res = wr_plan_from_dataset(d, r, err);
    if (res == 0)
        res = say_case(d, r, &b, err);
    bench_case_done(&b);
    return res;
}
